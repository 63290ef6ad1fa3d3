// What a test would run that this user has not trusted as it is now: hooks, and what cases bring with them. It runs, and it is said before.

import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { hooksDirOf } from '../../config/discovery.js'
import { visible, visibleName } from '../../core/base/text.js'
import { isBelow, realOf } from '../../files/within.js'
import type { Unit } from '../../trust/unit.js'
import { findUnits } from '../plugins/trust-units.js'
import { grouped, shortPath, some } from '../print/lines.js'
import { projectFolder } from '../sources.js'
import type { Subject } from './find-cases.js'

export interface Unreviewed {
  readonly name: string
  /** The folder or file. */
  readonly path: string
  readonly state: 'untrusted' | 'modified'
}

export async function unreviewed(subjects: readonly Subject[]): Promise<readonly Unreviewed[]> {
  const found: Unreviewed[] = []
  for (const [project, those] of grouped(subjects, projectOf)) {
    const folders = those.flatMap(({ plugin, plugins = [] }) => [...(plugin ? [plugin] : []), ...plugins])
    const outside = folders.filter((folder) => dirname(folder) !== realOf(hooksDirOf(project)))
    const places = { project, plugin: outside, config: [], 'pre-trusted': undefined }
    const { units, store } = await findUnits(places, undefined)
    const isMeant = ({ kind, path }: Unit) =>
      kind === 'folder' ? folders.includes(realOf(path)) : those.some((one) => one.project !== undefined)
    for (const unit of [...units.keys()].filter(isMeant)) {
      const { state } = store.standingOf(unit)
      if (state !== 'trusted') found.push({ name: unit.name, path: unit.path, state })
    }
    // Files and variables of a case reach hooks that are trusted, too.
    const folderUnits = [...units.keys()].filter(({ kind }) => kind === 'folder').map(({ path }) => path)
    const reviewed = [hooksDirOf(homedir()), ...folderUnits].map(realOf)
    for (const file of new Set(those.map((one) => realOf(one.file)))) {
      const isPart = reviewed.some((folder) => isBelow(file, folder))
      if (!isPart) found.push({ name: 'cases', path: file, state: 'untrusted' })
    }
  }
  return found
}

/** Under which it may have been trusted. */
function projectOf({ plugin, project }: Subject): string {
  const above = plugin === undefined ? project : dirname(dirname(dirname(plugin)))
  const isInstalled =
    above !== undefined && (plugin === undefined || realOf(hooksDirOf(above)) === dirname(plugin))
  return isInstalled ? above : projectFolder({ project: undefined })
}

/** One line, whatever there is to say. */
export function unreviewedLine(those: readonly Unreviewed[]): string {
  const list = those.map(
    ({ name, path, state }) => `${visibleName(name)} from ${visible(shortPath(path))} (${state})`,
  )
  return `carabiner: running what you have not trusted: ${some(list)}; it runs as you, without your variables and settings`
}
