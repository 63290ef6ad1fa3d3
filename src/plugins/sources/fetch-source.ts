// Fetching a source: a tree of checked files, and what it is pinned to.

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

/** Returns the folder `path` of the source, if it has one. Uses the network only if the source is not on this machine. */
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

/** Most archives hold a single folder with everything in it. A plugin has several things at its top, or a file. */
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
    `There is no folder ${visibleName(path)} in it`,
    'Links are not followed.',
  )
}
