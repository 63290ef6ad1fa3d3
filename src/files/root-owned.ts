// Files that only root can change, so that an agent, which has the rights of its user, cannot.

import { type BigIntStats, chmodSync, chownSync, lstatSync, type Stats, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivate } from './folder.js'
import { placeWhole } from './plain-file.js'

/** Where they are. */
export const ROOT_FOLDER = '/etc/carabiner'

const ROOT = 0
const BY_OTHERS = 0o022

/** Throws unless root alone can change the file and the folder around it. */
export function checkRootOwned(path: string): void {
  for (const one of [dirname(path), path]) checkOwned(one)
}

/** A link has the rights of what it leads to, so nobody can rely on one. */
export function checkOwned(
  path: string,
  owner: number = ROOT,
  stats: Stats | BigIntStats = lstatSync(path),
): void {
  const name = () => (owner === ROOT ? 'root' : `user ${owner}`)
  if (Number(stats.uid) !== owner) throw new Error(`${path} belongs to user ${stats.uid}, not to ${name()}`)
  if (stats.isSymbolicLink()) throw new Error(`${path} is a link`)
  if ((Number(stats.mode) & BY_OTHERS) !== 0) throw new Error(`others than ${name()} may write to ${path}`)
}

/**
 * Throws unless root alone can change what this path leads to. It must have no links in it. A folder such as /tmp does not do:
 * nobody can move what root has there, but it is gone after a restart, and then anybody can put something in its place.
 */
export function checkRootsAlone(path: string): void {
  checkOwned(path)
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    checkOwned(folder)
    if (folder === dirname(folder)) return
  }
}

export interface RootFileOptions {
  /** Default 0o644: everybody may read it. */
  readonly mode?: number
  /** Who may read it beside root. */
  readonly group?: number
}

/** Needs the rights of root. Readers find the old file or the new one, never a part. */
export function writeRootOwned(
  path: string,
  content: string,
  { mode = 0o644, group }: RootFileOptions = {},
): void {
  if (makePrivate(dirname(path)) !== undefined) chmodSync(dirname(path), 0o755)
  placeWhole(path, (draft) => {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    if (group !== undefined) chownSync(draft, ROOT, group)
    // Whatever the mask of this process says.
    chmodSync(draft, mode)
  })
}
