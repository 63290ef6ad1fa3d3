// Reads a repository's current branch and the folder of its files from the disk, without starting git.

import { dirname, join, resolve } from 'node:path'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { isFolder, kindOf } from '../paths/on-disk.js'

const MAX_BYTES = 1024 * 1024

/** Undefined if there is no repository, no branch, or no commit on it yet. Then nothing needs protection. */
export function branchAt(folder: string, gitDir?: string): string | undefined {
  const found = gitDir === undefined ? gitDirAbove(folder) : followed(resolve(folder, gitDir))
  const head = found && textOf(join(found, 'HEAD'))
  const branch = head && /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]
  return found && branch && isBorn(found, branch) ? branch : undefined
}

export type Head = { readonly branch: string } | { readonly commit: string }

/** The current branch or commit, even if the branch has no commit yet. Undefined outside a repository, or if its files are unreadable. */
export function headOf(folder: string): Head | undefined {
  const found = gitDirAbove(folder)
  const [head = ''] = (found && textOf(join(found, 'HEAD'))?.split('\n', 1)) || []
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]
  if (branch) return { branch }
  return /^[0-9a-f]{40,64}$/.test(head) ? { commit: head } : undefined
}

/** Whether the branch has a commit. A worktree's folder says where the rest of the repository is. */
function isBorn(gitDir: string, branch: string): boolean {
  const common = textOf(join(gitDir, 'commondir'))
  const folder = common ? resolve(gitDir, common) : gitDir
  if (textOf(join(folder, 'refs', 'heads', branch)) !== undefined) return true
  if (isFolder(join(folder, 'reftable'))) return true
  return textOf(join(folder, 'packed-refs'))?.includes(` refs/heads/${branch}\n`) ?? false
}

/** The top of the repository that the folder is in, or the folder itself outside one. */
export function topOf(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (kindOf(join(folder, '.git')) !== undefined) return folder
    if (dirname(folder) === folder) return start
  }
}

function gitDirAbove(start: string): string | undefined {
  for (let folder = realOf(start); ; folder = dirname(folder)) {
    const found = followed(join(folder, '.git'))
    if (found !== undefined) return found
    if (dirname(folder) === folder) return undefined
  }
}

/** `path` is a folder, or a file that says where the folder of a worktree or submodule is. */
function followed(path: string): string | undefined {
  const what = kindOf(path)
  if (what === 'folder') return path
  const target = what === 'file' && /^gitdir: (.+)$/.exec(textOf(path) ?? '')?.[1]
  return target ? resolve(dirname(path), target) : undefined
}

/** Undefined if there is no such file or it cannot be read. */
function textOf(path: string): string | undefined {
  try {
    const found = readPlain(realOf(path), MAX_BYTES)
    return 'text' in found ? found.text.trimEnd().concat(path.endsWith('packed-refs') ? '\n' : '') : undefined
  } catch {
    return undefined
  }
}
