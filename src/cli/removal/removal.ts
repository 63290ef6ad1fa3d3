// Removing Carabiner: all of it is taken out of settings and moved into a backup, or none.

import { renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { makePrivate } from '../../files/folder.js'
import { backupPrefix, dataHome } from '../../files/homes.js'
import { Mutex } from '../../files/mutex.js'
import { readSettings } from '../../hosts/settings-file.js'
import { carryOut, type Plan, planRemove } from '../../hosts/setup.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { findServices, killLine, stopService } from '../../service/socket/running-services.js'
import { isCode } from '../output.js'
import { shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { takeOut } from '../setup/mcp.js'
import { COMPLETE, createBackup, discard, moveAll, RECORDS, unwritten } from './backup.js'
import { type Found, findAll, isEmpty, type Settings } from './found.js'
import { restoreCommand, setupCommands } from './restore-script.js'

export interface Removed extends Found {
  /** The folder that everything was moved to, or the earlier texts of the settings if nothing was moved. */
  readonly backups: readonly string[]
  /** Brings it back, for a shell. Undefined if setup knows none of the removed hooks. */
  readonly restore: string | undefined
  /** What could not be cleaned up. */
  readonly notes: readonly string[]
}

/** Two at once would move parts of the same folders into two backups, so the second one waits, and looks again. */
export async function removeAll(found: Found, keepsState: boolean): Promise<Removed | 'already'> {
  const end = await takeMutex(`${backupPrefix()}lock`)
  try {
    const now = await findAll(keepsState)
    if (isEmpty(now)) return 'already'
    if (shapeOf(now) === shapeOf(found)) return await remove(now)
    throw new Refusal('NOT_REMOVED', 'What would be removed has changed since you saw it', {
      hint: 'Nothing was removed. Run the command again and review the list.',
    })
  } finally {
    end()
  }
}

function shapeOf({ settings, mcp, kept }: Found): string {
  const plans = settings.map(({ plan }) => [plan.file.path, plan.file.text])
  const servers = mcp.map(({ file }) => [file.path, file.text])
  return JSON.stringify([plans, servers, kept.map(({ folder, names }) => [folder, names])])
}

const LONGEST_WAIT_MS = 30_000
const LOOK_MS = 50

/** Takes the mutex in a folder of its own, and returns what gives it back. */
async function takeMutex(folder: string): Promise<() => void> {
  const mutex = new Mutex(folder)
  for (const until = performance.now() + LONGEST_WAIT_MS; ; await sleep(LOOK_MS)) {
    try {
      makePrivate(folder)
      if (mutex.tryTake()) break
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw unwritten(folder, error)
      continue // the one before has just removed it
    }
    if (performance.now() > until) {
      const hint = 'Nothing was removed. Try again when the other one has finished.'
      throw new Refusal('NOT_REMOVED', `Another carabiner remove is running: ${mutex.holder}`, { hint })
    }
  }
  return () => {
    // With the folder the mutex goes in one step, so that nobody can take it in between.
    const aside = `${folder}.${process.pid}`
    try {
      renameSync(folder, aside)
    } catch {
      return // the mutex ends with this process
    }
    discard(aside)
  }
}

/** Settings first: if one of them cannot be changed, its hooks still find what they need. All of it is done, or none. */
async function remove(found: Found): Promise<Removed> {
  const { settings, mcp, kept } = found
  const backup = kept.length === 0 ? undefined : createBackup(found)
  const undo: (() => unknown)[] = []
  const texts: string[] = []
  try {
    for (const one of settings) {
      const done = await carryOut(one.plan, () => planRemove(one.place))
      if (!done)
        throw new SetupProblem(
          `${one.place.path} was changed by another program in the meantime`,
          'Try again.',
        )
      undo.push(() => restore(one))
      if (done.backup !== undefined) texts.push(done.backup)
    }
    for (const one of mcp) {
      const { undo: back, backup: text } = await takeOut(one)
      undo.push(back)
      if (text !== undefined) texts.push(text)
    }
    if (backup !== undefined) moveAll(kept, backup, undo)
  } catch (error) {
    throw await undoAll(error, undo, found, backup)
  }
  const left = await removeService(found)
  if (backup === undefined)
    return { ...found, backups: texts, restore: setupCommands(found) || undefined, notes: left }
  const notes = [...left, ...removeRecords(), ...markComplete(backup)]
  for (const { folder } of kept.toReversed()) removeEmpty(folder)
  return { ...found, backups: [backup], restore: restoreCommand(backup), notes }
}

const PATIENCE_MS = 5000

/** After the settings, so that no agent starts it again. */
async function removeService({ service }: Found): Promise<readonly string[]> {
  if (service === undefined) return []
  const running = (await findServices(service)).filter(
    ({ state }) => state === 'running' || state === 'silent',
  )
  const stopped = await Promise.all(
    running.map((one) => one.state === 'running' && stopService(one, PATIENCE_MS)),
  )
  const notes = running
    .filter((_, i) => !stopped[i])
    .map((one) => `a service still runs. It ends when its calls are over; to end it now: ${killLine(one)}`)
  try {
    rmSync(service, { recursive: true, force: true })
    return notes
  } catch (error) {
    return [...notes, `${shortPath(service)} could not be removed: ${textOf(error)}. Remove it`]
  }
}

/** The backup has the records as they were before the hooks were taken out. */
function removeRecords(): readonly string[] {
  const folder = join(dataHome(), RECORDS)
  try {
    rmSync(folder, { recursive: true, force: true })
    return []
  } catch (error) {
    return [`${shortPath(folder)} could not be removed: ${textOf(error)}. Remove it; the backup has a copy`]
  }
}

/** Without the mark, the removal was cut short: see interruptedBackup(). */
function markComplete(backup: string): readonly string[] {
  try {
    writeFileSync(join(backup, COMPLETE), '', { mode: 0o600 })
    return []
  } catch (error) {
    return [`The backup could not be marked as complete: ${textOf(error)}`]
  }
}

// ---- undoing it -----------------------------------------------------------------------------------------------

/** Returns the error to report. */
async function undoAll(
  error: unknown,
  undo: readonly (() => unknown)[],
  { settings, mcp }: Found,
  backup: string | undefined,
): Promise<unknown> {
  const problems: unknown[] = []
  for (const step of undo.toReversed()) {
    try {
      await step()
    } catch (problem) {
      problems.push(problem)
    }
  }
  if (problems.length === 0) {
    if (backup !== undefined) discard(backup)
    return error
  }
  const paths = [...settings.map(({ place }) => place.path), ...mcp.map(({ file }) => file.path)]
  const files = [...new Set(paths)].map((path) => visible(shortPath(path))).join(', ')
  const rest = backup === undefined ? '' : ` To restore the rest: ${restoreCommand(backup)}`
  return new Refusal('NOT_REMOVED', `${textOf(error)}. This could not be undone: ${textOf(problems[0])}`, {
    hint: `Hooks, or carabiner mcp, may be missing in ${files}: nothing is guarded without them.${rest}`,
  })
}

/** With its record, so that it can be removed again. */
async function restore({ place, plan }: Settings): Promise<void> {
  const back: Plan = { ...plan, file: readSettings(place), after: plan.file.text }
  await carryOut(back, () => back)
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something of somebody else is in it.
  }
}
