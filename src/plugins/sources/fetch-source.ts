// Fetches a source: a tree of checked files, and the commit or version they are pinned to.

import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { visibleName } from '../../core/base/text.js'
import { PluginProblem } from '../plugin-problem.js'
import { withWorkFolder } from '../work-folder.js'
import { fetchArchive } from './archive.js'
import type { FileTree } from './file-tree.js'
import { isFolderIn, readFolderTree } from './folder-source.js'
import type { FetchableSource } from './source.js'

export interface Fetched {
  readonly tree: FileTree
  /** For git. */
  readonly commit?: string
  readonly isTag?: boolean
  /** For npm. */
  readonly version?: string
}

/** Returns only the source's `path`, if it has one. Uses the network only if the source is not on this machine. */
export async function fetchTree(source: FetchableSource): Promise<Fetched> {
  switch (source.kind) {
    case 'folder':
      return { tree: readFolderTree(folderOf(source.folder, source.path), source.folder) }
    case 'git':
      // Each kind of source loads its own code.
      return withWorkFolder(async (work) => (await import('./git-source.js')).fetchGit(source, work))
    case 'npm':
      return withWorkFolder(async (work) => {
        const { tree, version } = await (await import('./npm-source.js')).fetchNpm(source, work)
        return { tree: part(tree, source.path), version }
      })
    case 'archive':
      return { tree: part(await fetchArchive(source.place), source.path) }
  }
}

function folderOf(folder: string, path: string | undefined): string {
  if (!existsSync(folder)) throw new PluginProblem('SOURCE_NOT_FOUND', `There is no ${visibleName(folder)}`)
  if (path === undefined) return folder
  if (isFolderIn(folder, path)) return join(folder, path)
  throw noFolder(path)
}

/** Most archives wrap everything in a single folder. A plugin itself has several entries, or a file, at its top. */
function wrapperOf(tree: FileTree): string {
  const [only, ...others] = tree.top()
  const isPlugin = only === undefined || others.length > 0 || only.startsWith('.') || only === 'hooks'
  return isPlugin || tree.files.has(only) ? '' : only
}

function part(tree: FileTree, path = ''): FileTree {
  const found = tree.below(posix.join(wrapperOf(tree), path).replace(/^\.$/, ''))
  if (found) return found
  throw noFolder(path)
}

function noFolder(path: string): PluginProblem {
  return new PluginProblem(
    'NO_PLUGIN',
    `The source has no folder ${visibleName(path)}`,
    'Links are not followed.',
  )
}
