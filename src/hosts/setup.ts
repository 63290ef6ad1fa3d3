// Registers hooks in the files of a host, and removes them again: first a plan that can be shown, then the change.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { callerEnv, callerPath } from '../files/caller.js'
import { userHome } from '../files/homes.js'
import { ifThere } from '../files/if-there.js'
import { isOurs } from './entries.js'
import { changedProblem } from './forms/own-file.js'
import type { Entry, Form, HostFile, HostSetup, IsOut } from './host-setup.js'
import { isDead } from './own-command.js'
import {
  deleteSettings,
  missingAbove,
  readSettings,
  replaceSettings,
  type SettingsFile,
  type SettingsPlace,
} from './settings-file.js'
import { digestOf, type Installed, SetupRecord } from './setup-record.js'

/** A file of a host, on this machine. */
export interface HostPlace extends SettingsPlace {
  readonly form: Form
}

/** The files for all projects of the user. */
export function userPlaces(setup: HostSetup, env: NodeJS.ProcessEnv = callerEnv()): readonly HostPlace[] {
  const home = userHome()
  const folder = userFolder(setup, env)
  const isNamed = setup.variable !== undefined && Boolean(env[setup.variable])
  return placesIn(folder, setup.files, isNamed ? [home, folder] : [home])
}

/** The folder of the user's settings. */
export function userFolder(
  { variable, folder, isVariableHome }: HostSetup,
  env: NodeJS.ProcessEnv = callerEnv(),
): string {
  const named = variable === undefined ? undefined : env[variable]
  if (!named) return join(userHome(), folder)
  return isVariableHome ? join(callerPath(named), folder) : callerPath(named)
}

/** The files for all users of a project. */
export function projectPlaces({ project }: HostSetup, projectDir: string): readonly HostPlace[] | undefined {
  return project && placesIn(join(projectDir, project.folder), project.files, [projectDir])
}

/** A file that setup once changed. Undefined if it is none of this host's. */
export function placeOf(setup: HostSetup, path: string): HostPlace | undefined {
  const user = userPlaces(setup).find((place) => place.path === path)
  if (user) return user
  for (const { name } of setup.project?.files ?? []) {
    const end = join('/', setup.project?.folder ?? '', name)
    const projectDir = path.endsWith(end) ? path.slice(0, -end.length) || '/' : undefined
    const places = projectDir === undefined ? undefined : projectPlaces(setup, projectDir)
    const place = places?.find((one) => one.path === path)
    if (place) return place
  }
  return undefined
}

function placesIn(
  folder: string,
  files: readonly HostFile[],
  within: readonly string[],
): readonly HostPlace[] {
  return files.map(({ name, form, mode }) => ({
    path: join(folder, name),
    within,
    form,
    ...(mode !== undefined && { mode }),
  }))
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

/** Reads only. Throws a SetupProblem if the settings must not be changed. `earlier`: see FormPlace. */
export function planInstall(
  place: HostPlace,
  entries: readonly Entry[],
  earlier: ReadonlyMap<string, string> = new Map(),
): Plan {
  const known = knownAbout(place)
  const { file, base } = known
  const after = place.form.put(base, entries, { file: file.path, earlier })
  return { ...known, after, changes: file.text === undefined || !place.form.isSame(file.text, after) }
}

/** Reads only. Throws a SetupProblem if the settings must not be changed. */
export function planRemove(place: HostPlace): Plan {
  const known = knownAbout(place)
  return { ...known, after: known.base, changes: known.file.text !== known.base }
}

/** Removes standard hooks whose program is gone, and nothing else. Reads only. */
export function planPrune(place: HostPlace): Plan {
  const known = knownAbout(place)
  const { text, path } = known.file
  const without = (isOut: IsOut) => (text === undefined ? undefined : place.form.take(text, path, isOut))
  const pruned = without(isDead)
  if (pruned === text) return { ...known, after: text, changes: false }
  // If nothing of ours is left, restore the original bytes, as after a full removal.
  return { ...known, after: pruned === without(isOurs) ? known.base : pruned, changes: true }
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

/** Gives a file back what it had before the plan was carried out, unless somebody has changed it since. */
export async function undo(plan: Plan): Promise<void> {
  const { file, after, installed } = plan
  await new SetupRecord(file.real).alone((save) => {
    if (ifThere(() => readFileSync(file.real, 'utf8')) !== after) return
    if (file.text === undefined)
      deleteSettings(file, after === undefined ? [] : recordOf(plan, after).folders)
    else replaceSettings(file, file.text)
    save(installed ?? null)
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

function knownAbout(place: HostPlace): Pick<Plan, 'file' | 'base' | 'installed'> {
  const file = readSettings(place)
  const installed = new SetupRecord(file.real).load()
  return { file, installed, base: baseOf(file, place.form, installed) }
}

/** The file without our entries: the original bytes, unless somebody else changed it since. */
function baseOf(
  { text, path }: SettingsFile,
  form: Form,
  installed: Installed | undefined,
): string | undefined {
  if (text === undefined) return undefined
  if (installed?.written.includes(digestOf(text))) return installed.original ?? undefined
  const rest = form.take(text, path, isOurs)
  if (form.isWhole && installed && rest === undefined) throw changedProblem(path)
  // The file was created for our entries, and nobody else has added anything.
  return rest !== undefined && installed?.original === null && form.isBare(rest) ? undefined : rest
}
