// Files that only this user can have written: what others could have put there says nothing.

import { lstatSync, type Stats, statSync } from 'node:fs'
import { readPlain, type Text } from './plain-file.js'

const BY_OTHERS = 0o022

/** Throws where there is none; everything else that is wrong with it is its problem. */
export function readOwn(path: string, limit: number): Text {
  const problem = strangerIn(lstatSync(path))
  return problem === undefined ? readPlain(path, limit) : { problem }
}

/** Throws where the folder is not ours alone. A link to it is the user's business, where `follow` says so. */
export function checkOwnFolder(folder: string, { follow = false } = {}): void {
  const stats = follow ? statSync(folder) : lstatSync(folder)
  const problem = stats.isDirectory() ? strangerIn(stats) : 'is no folder'
  if (problem === undefined) return
  throw new Error(
    `${folder} ${problem}: what is in it may be anybody's, and is not used; remove it, or set CARABINER_HOME to a folder that only you can write`,
  )
}

/** On Windows nobody is told who owns what. */
function strangerIn(stats: Stats): string | undefined {
  const { uid, mode } = stats
  if (stats.isSymbolicLink()) return 'is a link'
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid()) return `belongs to another user (${uid})`
  if ((mode & BY_OTHERS) !== 0) return `can be written by others (mode ${(mode & 0o7777).toString(8)})`
  return undefined
}
