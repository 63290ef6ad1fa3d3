// Integrity: the hash of a plugin's files, against a catalogue's promise, an earlier install, and what is on disk.
// npm itself checks the tarball against its registry.

import { existsSync } from 'node:fs'
import { visibleName } from '../core/base/text.js'
import type { Resolved } from './catalog/resolve.js'
import type { LockEntry } from './lock-file.js'
import { PluginProblem } from './plugin-problem.js'
import { type Accepted, isSameOrigin } from './sources/accepted-source.js'
import type { Fetched } from './sources/fetch-source.js'
import { readFolderTree } from './sources/folder-source.js'

/** Undefined if there is nothing, or nothing that could have been installed. */
export function integrityAt(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined
  try {
    return readFolderTree(folder).integrity()
  } catch (error) {
    if (error instanceof PluginProblem) return undefined
    throw error
  }
}

/** A catalogue whose promise does not hold is refused, whichever side is at fault. */
export function checkPromises(
  { commit, integrity, catalog = 'The source' }: Resolved,
  { tree, ...fetched }: Fetched,
): void {
  const who = visibleName(catalog)
  if (commit !== undefined && fetched.commit !== commit) {
    throw new PluginProblem(
      'MISMATCH',
      `${who} says commit ${visibleName(commit)}, but it is ${fetched.commit ?? 'no git'}; nothing was installed`,
      MISMATCH,
    )
  }
  if (integrity === undefined) return
  const found = tree.integrity()
  if (found === integrity) return
  throw new PluginProblem(
    'MISMATCH',
    `${who} says ${visibleName(integrity)}, but its files are ${found}; nothing was installed`,
    MISMATCH,
  )
}

const MISMATCH =
  'Bring the catalogue up to date with carabiner catalog update; if it stays so, ask whoever keeps it.'

/** A version published on npm never changes. */
export function checkSameBytes(name: string, known: Accepted, entry: LockEntry): void {
  const isSame = known.kind === 'npm' && known.version === entry.version && isSameOrigin(known, entry)
  if (!isSame || known.path !== entry.path || known.integrity === entry.integrity) return
  throw new PluginProblem(
    'MISMATCH',
    `The registry now serves other bytes under the same version, ${visibleName(entry.version ?? '')} of ${name}: it was ${known.integrity} when you installed it, and is ${entry.integrity} now`,
    'A version that was published does not change by itself: ask whoever published it. Who wants it all the same uninstalls it and installs it anew.',
  )
}
