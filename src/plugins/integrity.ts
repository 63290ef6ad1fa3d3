// Integrity: the hash of a plugin's files, compared with a catalog's promise, an earlier install and the files on disk.
// npm itself checks a tarball against its registry.

import { existsSync } from 'node:fs'
import { visibleName } from '../core/base/text.js'
import type { Resolved } from './catalog/resolve.js'
import type { LockEntry } from './lock-file.js'
import { PluginProblem } from './plugin-problem.js'
import { type Accepted, isSameOrigin } from './sources/accepted-source.js'
import type { Fetched } from './sources/fetch-source.js'
import { readFolderTree } from './sources/folder-source.js'

/** Undefined if the folder is missing, or holds something that could not have been installed. */
export function integrityAt(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined
  try {
    return readFolderTree(folder).integrity()
  } catch (error) {
    if (error instanceof PluginProblem) return undefined
    throw error
  }
}

/** A broken promise is refused, whether the catalog or the source is at fault. */
export function checkPromises(
  { commit, integrity, catalog = 'The source' }: Resolved,
  { tree, ...fetched }: Fetched,
): void {
  const who = visibleName(catalog)
  if (commit !== undefined && fetched.commit !== commit) {
    throw new PluginProblem(
      'MISMATCH',
      `${who} promises commit ${visibleName(commit)}, but ${fetched.commit === undefined ? 'the source is not git' : `the source is at ${fetched.commit}`}; nothing was installed`,
      MISMATCH,
    )
  }
  if (integrity === undefined) return
  const found = tree.integrity()
  if (found === integrity) return
  throw new PluginProblem(
    'MISMATCH',
    `${who} promises files with ${visibleName(integrity)}, but they have ${found}; nothing was installed`,
    MISMATCH,
  )
}

const MISMATCH =
  'Update the catalog with carabiner catalog update. If that does not help, ask its maintainer.'

/** A version published on npm must never change. */
export function checkSameBytes(name: string, known: Accepted, entry: LockEntry): void {
  const isSame = known.kind === 'npm' && known.version === entry.version && isSameOrigin(known, entry)
  if (!isSame || known.path !== entry.path || known.integrity === entry.integrity) return
  throw new PluginProblem(
    'MISMATCH',
    `The registry now serves different files as version ${visibleName(entry.version ?? '')} of ${name}: they had ${known.integrity} when you installed it and have ${entry.integrity} now`,
    'A published version should never change: ask its publisher. If you still want it, uninstall it and install it again.',
  )
}
