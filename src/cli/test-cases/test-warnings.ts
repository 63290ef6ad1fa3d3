// What a test says before it runs anything: hooks and cases that this user has not trusted, and builds older than their source.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hooksDirOf } from '../../config/discovery.js'
import { visible, visibleName } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { readableNames } from '../../files/folder.js'
import { userHome } from '../../files/homes.js'
import { ifThere } from '../../files/if-there.js'
import { isBelow, realOf } from '../../files/within.js'
import type { Unit } from '../../trust/unit.js'
import { findUnits } from '../plugins/review.js'
import { fromHere, grouped, shortPath, some } from '../print/lines.js'
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
    const configs = those.flatMap(({ config }) => config?.file ?? [])
    const places = { project, plugin: outside, config: configs, 'pre-trusted': undefined }
    const { units, store } = await findUnits(places, undefined)
    const isMeant = ({ kind, path }: Unit) =>
      kind === 'folder'
        ? folders.includes(realOf(path))
        : configs.includes(realOf(path)) || those.some((one) => one.project !== undefined)
    for (const unit of [...units.keys()].filter(isMeant)) {
      const { state } = store.standingOf(unit)
      if (state !== 'trusted') found.push({ name: unit.name, path: unit.path, state })
    }
    // Files and variables of a case also reach trusted hooks.
    const folderUnits = [...units.keys()].filter(({ kind }) => kind === 'folder').map(({ path }) => path)
    const reviewed = [hooksDirOf(userHome()), ...folderUnits].map(realOf)
    for (const file of new Set(those.map((one) => realOf(one.file)))) {
      const isPart = reviewed.some((folder) => isBelow(file, folder))
      if (!isPart) found.push({ name: 'cases', path: file, state: 'untrusted' })
    }
  }
  return found
}

/** The project under which it may have been trusted. */
function projectOf({ plugin, project, config }: Subject): string {
  if (config) return config.project
  const above = plugin === undefined ? project : dirname(dirname(dirname(plugin)))
  const isInstalled =
    above !== undefined && (plugin === undefined || realOf(hooksDirOf(above)) === dirname(plugin))
  return isInstalled ? above : projectFolder({ project: undefined })
}

export function unreviewedLine(those: readonly Unreviewed[]): string {
  const list = those.map(
    ({ name, path, state }) => `${visibleName(name)} from ${visible(shortPath(path))} (${state})`,
  )
  return `carabiner: running what you have not trusted: ${some(list)}; it runs as you, without your variables and settings`
}

// ---- builds that are too old -----------------------------------------------------------------------------------

/** One line for each plugin whose source was changed after it was compiled. */
export function staleLines(subjects: readonly Subject[]): readonly string[] {
  const plugins = new Set(subjects.flatMap(({ plugin }) => plugin ?? []))
  return [...plugins].flatMap((plugin) => {
    const stale = namesIn(plugin).find((name) => isStale(plugin, name))
    if (stale === undefined) return []
    const old = visible(shortPath(join(plugin, compiledName(stale))))
    return [
      `carabiner: ${old} is older than ${visible(stale)}, but it is the file that runs; ${buildOf(plugin)}`,
    ]
  })
}

function namesIn(folder: string): readonly string[] {
  return readableNames(folder).filter((name) => /\.[mc]?ts$/.test(name) && !/\.d\.[mc]?ts$/.test(name))
}

function compiledName(source: string): string {
  return source.replace(/ts$/, 'js')
}

/** Milliseconds. Files of one checkout are closer together, in any order. */
const APART = 2000

function isStale(folder: string, source: string): boolean {
  const compiled = timeOf(join(folder, compiledName(source)))
  const written = timeOf(join(folder, source))
  return compiled !== undefined && written !== undefined && written > compiled + APART
}

function timeOf(path: string): number | undefined {
  return ifThere(() => statSync(path))?.mtimeMs
}

function buildOf(plugin: string): string {
  const folder = shellQuoted(visible(fromHere(plugin)))
  return hasBuild(plugin) ? `build it: npm --prefix ${folder} run build` : 'compile it first'
}

function hasBuild(plugin: string): boolean {
  const file = join(plugin, 'package.json')
  try {
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).scripts?.build !== undefined
  } catch {
    return false
  }
}
