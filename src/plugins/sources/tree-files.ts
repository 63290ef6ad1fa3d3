// A tree written into a folder: new files alone, plain modes, on the disk before anybody relies on them.

import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FileTree } from './file-tree.js'

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
