// A folder on this machine as a tree: read as trust reads it, so that nobody can lead it elsewhere meanwhile; no links.

import { closeSync, fchmodSync, fsyncSync, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readFolder } from '../../trust/folder-reading.js'
import { isExecutable } from '../../trust/unit.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree } from './file-tree.js'

/** Whether there is such a folder below; a link on the way to it is none. */
export function isFolderIn(folder: string, path: string): boolean {
  const names = path.split('/')
  return names.every((_, i) => {
    const step = join(folder, ...names.slice(0, i + 1))
    return lstatSync(step, { throwIfNoEntry: false })?.isDirectory() ?? false
  })
}

export function readFolderTree(folder: string): FileTree {
  const tree = new FileTree()
  const { files, problems } = readFolder(folder, {
    take: (file, bytes) => tree.addFile(file.path, bytes, isExecutable(file)),
  })
  const link = files.find((file) => file.link !== undefined)
  if (link) tree.refuse(link.path, 'a symbolic link')
  const [first, ...more] = problems
  if (first === undefined) return tree
  const others = more.length > 0 ? ` (and ${more.length} more)` : ''
  throw new PluginProblem(
    'UNSAFE_ENTRY',
    `${first}${others}`,
    'A plugin holds files and folders, nothing else.',
  )
}

// MERGED from src/plugins/sources/tree-files.ts: // A tree written into a folder: new files alone, plain modes, on the disk before anybody relies on them.
/** The folder must not be there. */
export function writeTree(tree: FileTree, folder: string): void {
  mkdirSync(folder)
  const made = new Set([folder])
  for (const [path, { bytes, isExecutable }] of tree.files) {
    const file = join(folder, path)
    makeFolders(dirname(file), made)
    // Fails where anything is: nothing is followed, nothing overwritten.
    const fd = openSync(file, 'wx', 0o600)
    try {
      writeFileSync(fd, bytes)
      fchmodSync(fd, isExecutable ? 0o755 : 0o644)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}

function makeFolders(folder: string, made: Set<string>): void {
  if (made.has(folder)) return
  makeFolders(dirname(folder), made)
  mkdirSync(folder, 0o755)
  made.add(folder)
}
