// Reads and writes a folder on this machine as a tree. Swapping in a link while it is read has no effect.

import { closeSync, fchmodSync, fsyncSync, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ifThere } from '../../files/if-there.js'
import { readFolder } from '../../trust/folder-reading.js'
import { isExecutable } from '../../trust/unit.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree } from './file-tree.js'

/** Whether there is such a folder. A path through a link does not count. */
export function isFolderIn(folder: string, path: string): boolean {
  const names = path.split('/')
  return names.every((_, i) => {
    const step = join(folder, ...names.slice(0, i + 1))
    return ifThere(() => lstatSync(step))?.isDirectory() ?? false
  })
}

/** Links are replaced by the files they lead to, which may be anywhere in `source`. */
export function readFolderTree(folder: string, source = folder): FileTree {
  const tree = new FileTree()
  const { files, problems } = readFolder(folder, {
    follow: source,
    take: (file, bytes) => tree.addFile(file.path, bytes, isExecutable(file)),
  })
  const [first, ...more] = problems
  if (first === undefined) {
    for (const { path, link } of files) if (link !== undefined) tree.addLink(path, link)
    return tree.below('') ?? tree
  }
  const others = more.length > 0 ? ` (and ${more.length} more)` : ''
  throw new PluginProblem(
    'UNSAFE_ENTRY',
    `${first}${others}`,
    'A plugin may only contain files, folders and links to them.',
  )
}

/** Writes new files with plain modes and syncs them to disk. The folder must not exist. */
export function writeTree(tree: FileTree, folder: string): void {
  mkdirSync(folder)
  const made = new Set([folder])
  for (const [path, { bytes, isExecutable }] of tree.files) {
    const file = join(folder, path)
    makeFolders(dirname(file), made)
    // "wx" fails if anything is there, so nothing is followed or overwritten.
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
