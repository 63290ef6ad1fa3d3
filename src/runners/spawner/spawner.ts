// Decides who starts a program: this process, or a helper whose starts do not take longer as this process grows.

import { type Start, startHere } from '../command/start.js'
import type { Helper } from './helper.js'
import { inherited } from './inherited.js'

/** A process that starts a program so long after its first one will start more. Others end before a helper pays. */
const LIVES_ON_MS = 1000
/** After a helper was lost, or none was found, programs start without one for this long. */
const RETRY_MS = 10_000
/** A helper that nobody used for so long ends. People think for minutes between two calls of an agent. */
const IDLE_MS = 600_000

/** One for all hooks of this process. */
let helper: { readonly process: Helper; readonly inherited: string } | undefined
let isStarting = false
/** Programs that cannot be a helper, such as a clip of another version. */
const useless = new Set<string>()
let firstAt: number | undefined
let retryAt = 0
let idle: NodeJS.Timeout | undefined

/** Starts programs through the helper if there is one, and otherwise from this process. */
export const startInHost: Start = (program, signal, began) => {
  const through = helperNow()
  return through ? startThrough(through)(program, signal, began) : startHere(program, signal, began)
}

/** A program whose start the helper has not confirmed is started from this process. */
export function startThrough(through: Helper): Start {
  return async (program, signal, began) => {
    try {
      return await through.start(program, signal, began)
    } catch (error) {
      // Its class is loaded late.
      if (!(error instanceof Error) || error.name !== 'NotBegun') throw error
      signal.throwIfAborted()
      return startHere(program, signal, began)
    }
  }
}

function helperNow(): Helper | undefined {
  const wanted = isWanted()
  if (helper && wanted && !helper.process.isLost && helper.inherited === inherited()) {
    idle?.refresh()
    return helper.process
  }
  endHelper()
  const now = performance.now()
  firstAt ??= now
  if (!isStarting && now - firstAt >= LIVES_ON_MS && now >= retryAt && wanted) {
    isStarting = true
    // No hook waits for it.
    setImmediate(startHelper)
  }
  return undefined
}

/** Elsewhere, a start does not take longer in a large process: macOS copies no memory maps. */
function isWanted(): boolean {
  const isPossible = process.platform === 'linux' && process.versions.bun === undefined
  return isPossible && process.env.CARABINER_SPAWNER !== 'off'
}

/** Loaded late, because most processes start too few programs. */
async function startHelper(): Promise<void> {
  try {
    const [{ helperCommands }, { Helper }] = await Promise.all([
      import('./helper-command.js'),
      import('./helper.js'),
    ])
    for (const command of helperCommands().filter(({ file }) => !useless.has(file))) {
      const before = inherited()
      if (before === undefined) return
      const one = new Helper(command)
      if (await one.ready) return use(one, before)
      // One that could not even start may do so later.
      if (one.pid !== undefined) useless.add(command.file)
    }
  } catch {
    // Programs start without one.
  } finally {
    retryAt = performance.now() + RETRY_MS
    isStarting = false
  }
}

function use(one: Helper, before: string): void {
  helper = { process: one, inherited: before }
  idle ??= setTimeout(endIfIdle, IDLE_MS).unref()
  idle.refresh()
}

function endIfIdle(): void {
  if (helper && !helper.process.isIdle) idle?.refresh()
  else endHelper()
}

function endHelper(): void {
  helper?.process.close()
  helper = undefined
}
