// Registers hooks in Claude Code's settings, and removes them again: first a plan that can be shown, then the change.

import { basename, dirname, join } from 'node:path'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { isDead, userSettingsFolder } from '../own-command.js'
import {
  deleteSettings,
  missingAbove,
  readSettings,
  replaceSettings,
  type SettingsFile,
  type SettingsPlace,
} from '../settings-file.js'
import { digestOf, type Installed, SetupRecord } from '../setup-record.js'
import type { Entry } from './entries.js'
import { freshText, saysTheSame, withEntries, withoutEntries } from './settings-text.js'

export function userSettings(env: NodeJS.ProcessEnv = callerEnv()): SettingsPlace {
  const home = userHome()
  const folder = userSettingsFolder(home, env)
  return { path: join(folder, 'settings.json'), within: env.CLAUDE_CONFIG_DIR ? [home, folder] : [home] }
}

export function projectSettings(projectDir: string): SettingsPlace {
  return { path: join(projectDir, '.claude', 'settings.json'), within: [projectDir] }
}

/** The place of a file that setup changed, according to its record. */
export function recordedSettings(path: string): SettingsPlace {
  const folder = dirname(path)
  return { path, within: [basename(folder) === '.claude' ? dirname(folder) : folder] }
}

export interface Plan {
  readonly file: SettingsFile
  /** The new text of the file; undefined if the file is to be deleted. */
  readonly after: string | undefined
  /** The same without our entries. */
  readonly base: string | undefined
  readonly installed: Installed | undefined
  readonly changes: boolean
}

/** Reads only. Throws a SetupProblem if the settings must not be changed. */
export function planInstall(place: SettingsPlace, entries: readonly Entry[]): Plan {
  const known = knownAbout(place)
  const { file, base } = known
  const after = base === undefined ? freshText(entries) : withEntries(base, entries, file.path)
  return { ...known, after, changes: file.text === undefined || !saysTheSame(file.text, after) }
}

/** Reads only. Throws a SetupProblem if the settings must not be changed. */
export function planRemove(place: SettingsPlace): Plan {
  const known = knownAbout(place)
  return { ...known, after: known.base, changes: known.file.text !== known.base }
}

/** Removes standard hooks whose program is gone, and nothing else. Reads only. */
export function planPrune(place: SettingsPlace): Plan {
  const known = knownAbout(place)
  const { text, path } = known.file
  const pruned = text === undefined ? undefined : withoutEntries(text, path, isDead)
  if (text === undefined || pruned === text) return { ...known, after: text, changes: false }
  // If nothing of ours is left, restore the original bytes, as after a full removal.
  const after = pruned === withoutEntries(text, path) ? known.base : pruned
  return { ...known, after, changes: true }
}

/** Returns where the previous text is kept, if there was any. Undefined if the file changed meanwhile: plan again. */
export async function carryOut(
  shown: Plan,
  planAgain: () => Plan,
): Promise<{ readonly backup: string | undefined } | undefined> {
  const record = new SetupRecord(shown.file.real)
  return record.alone((save) => {
    const plan = planAgain()
    if (!isSamePlan(plan, shown)) return undefined
    const { file, after, base, installed } = plan
    const backup = file.text === undefined ? undefined : record.keep(file.text)
    // Only a removal leaves the file without our entries.
    if (after === base) {
      if (after === undefined) deleteSettings(file, installed?.folders ?? [])
      else replaceSettings(file, after)
      save(null)
    } else if (after !== undefined) {
      // Saved first, so that after a crash in between both the old and the new text lead back to the original.
      save(recordOf(plan, after))
      replaceSettings(file, after)
    }
    return { backup }
  })
}

function isSamePlan(a: Plan, b: Plan): boolean {
  return a.file.real === b.file.real && a.file.text === b.file.text && a.after === b.after
}

function recordOf({ file, base, installed }: Plan, after: string): Installed {
  return {
    file: file.path,
    original: base ?? null,
    written: [after, ...(file.text === undefined ? [] : [file.text])].map(digestOf),
    folders: [...(base === undefined ? (installed?.folders ?? []) : []), ...missingAbove(file.real)],
  }
}

function knownAbout(place: SettingsPlace): Pick<Plan, 'file' | 'base' | 'installed'> {
  const file = readSettings(place)
  const installed = new SetupRecord(file.real).load()
  return { file, installed, base: baseOf(file, installed) }
}

/** The file without our entries: the original bytes, unless somebody else changed it since. */
function baseOf({ text, path }: SettingsFile, installed: Installed | undefined): string | undefined {
  if (text === undefined) return undefined
  if (installed?.written.includes(digestOf(text))) return installed.original ?? undefined
  const rest = withoutEntries(text, path)
  // The file was created for our entries, and nobody else has added anything.
  return installed?.original === null && /^\s*\{\s*\}\s*$/.test(rest) ? undefined : rest
}
