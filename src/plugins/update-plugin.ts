// Updating: fetch the same source again and compare. A tag or source that moved is not an update.

import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { visibleName } from '../core/base/text.js'
import type { Difference } from '../trust/review.js'
import { type ResolveCatalog, type Resolved, resolveSource } from './catalog/resolve.js'
import { originFor, type PreparedPlugin, preparePlugin } from './install-plugin.js'
import { checkSameBytes } from './integrity.js'
import { type LockEntry, readLock } from './lock-file.js'
import { PluginProblem } from './plugin-problem.js'
import {
  type Accepted,
  acceptedSource,
  type FoundSource,
  findSource,
  isSameOrigin,
  SourceProblem,
} from './sources/accepted-source.js'
import { FileTree } from './sources/file-tree.js'
import { readFolderTree } from './sources/folder-source.js'
import { lockedSource, parseSource } from './sources/source.js'
import { isThere, lockPath, pluginsDir, type Target } from './target.js'

export interface UpdateOptions {
  readonly acceptMoved?: boolean
  readonly resolveCatalog?: ResolveCatalog | undefined
  /** Called before anything is fetched. May throw to prevent the fetch. Default: only an accepted source is fetched. */
  readonly mayFetch?: (source: FoundSource) => Promise<void>
  /** Wraps the fetch, to show progress. */
  readonly showing?: (fetch: () => Promise<PreparedPlugin>) => Promise<PreparedPlugin>
}

export interface Update {
  readonly name: string
  readonly before: LockEntry
  readonly source: FoundSource
  readonly prepared: PreparedPlugin
  /** The integrity of the files there now. Undefined if there are none. */
  readonly current: string | undefined
  /** Somebody changed the files after they were installed. */
  readonly isModified: boolean
  /** The changes that the update would make. Empty: nothing to do. */
  readonly differences: readonly Difference[]
}

/** Fetches and compares, but changes nothing. The caller must call `prepared.staged.remove()`. */
export async function prepareUpdate(
  name: string,
  target: Target,
  options: UpdateOptions = {},
): Promise<Update> {
  const before = readLock(lockPath(target)).get(name)
  if (!before) throw notLocked(name)
  const resolved = await resolveEntry(before, target, options.resolveCatalog)
  const accepted = acceptedSource(target, name)
  const source = findSource(accepted, originFor(resolved, target))
  // A catalog may point anywhere, because the user added it.
  const isForeign = source.state !== 'accepted' && resolved.catalog === undefined
  const foreign = isForeign ? await import('./sources/foreign-source.js') : undefined
  refuse(source, foreign?.foreignByName(resolved.source, target.base))
  await (options.mayFetch ?? onlyAccepted)(source)
  refuse(source, await foreign?.foreignByAddress(resolved.source))
  const fetch = () => preparePlugin(resolved, target, name)
  const prepared = await (options.showing ?? ((work) => work()))(fetch)
  try {
    const known = [before, ...(accepted && isSameOrigin(accepted, prepared.entry) ? [accepted] : [])]
    for (const one of known) {
      checkNotMoved(name, one, prepared, options.acceptMoved ?? false)
      if (!resolved.manifest) checkSameBytes(name, one, prepared.entry)
    }
    const folder = join(pluginsDir(target), name)
    // The folder may have been removed by hand.
    const current = isThere(folder) ? readFolderTree(folder) : undefined
    const integrity = current?.integrity()
    return {
      name,
      before,
      source,
      prepared,
      current: integrity,
      isModified: integrity !== undefined && integrity !== before.integrity,
      differences: differencesBetween(current ?? new FileTree(), prepared.fetched.tree),
    }
  } catch (error) {
    prepared.staged.remove()
    throw error
  }
}

async function resolveEntry(
  entry: LockEntry,
  target: Target,
  resolveCatalog: ResolveCatalog | undefined,
): Promise<Resolved> {
  return entry.catalog === undefined
    ? { source: lockedSource(entry, target.base) }
    : resolveSource(parseSource(entry.catalog), resolveCatalog)
}

async function onlyAccepted(source: FoundSource): Promise<void> {
  if (source.state !== 'accepted')
    throw new SourceProblem(
      'SOURCE_MOVED',
      'You have not accepted this source, so nothing was fetched',
      source,
    )
}

function refuse(source: FoundSource, why: string | undefined): void {
  if (why === undefined) return
  throw new SourceProblem(
    'SOURCE_REFUSED',
    `The project's lock file names a source that only you may choose, so nothing was fetched: ${why}`,
    source,
  )
}

function checkNotMoved(name: string, before: Accepted, { entry }: PreparedPlugin, isAccepted: boolean): void {
  if (isAccepted || before.commit === undefined) return
  // A catalog may name another tag or repository. That is a new source, not a moved tag.
  const isOther = entry.source !== before.source || entry.ref !== before.ref
  if (before.catalog !== undefined && isOther) return
  const isTagGone = before.tag === true && !entry.tag
  const isMoved = (before.tag === true || entry.tag === true) && entry.commit !== before.commit
  if (!isTagGone && !isMoved) return
  const now = isTagGone ? `is now a branch at ${entry.commit}` : `is now ${entry.commit}`
  throw new PluginProblem(
    'TAG_MOVED',
    `The tag ${visibleName(before.ref ?? '')} of ${name} has moved: it was ${visibleName(before.commit)} when you installed it, and ${now}`,
    'A published tag should never move: ask its publisher. --accept-moved updates anyway, after showing you what changed.',
  )
}

function notLocked(name: string): PluginProblem {
  return new PluginProblem(
    'NOT_INSTALLED',
    `Carabiner did not install ${visibleName(name)} here, so it does not know its source`,
    'Install it with carabiner install SOURCE.',
  )
}

// ---- what would be different ----------------------------------------------------------------------------------

const LONGEST_TEXT = 1024 * 1024

function differencesBetween(before: FileTree, after: FileTree): readonly Difference[] {
  const paths = [...new Set([...before.files.keys(), ...after.files.keys()])].sort()
  return paths.flatMap((path): Difference[] => {
    const [old, now] = [before.files.get(path), after.files.get(path)]
    const named = visibleName(path)
    const texts = { ...textOf('before', old?.bytes), ...textOf('after', now?.bytes) }
    if (!old) return [{ what: 'file-added', path, text: `${named} is new.`, ...texts }]
    if (!now) return [{ what: 'file-removed', path, text: `${named} is removed.`, ...texts }]
    if (!old.bytes.equals(now.bytes))
      return [{ what: 'file-changed', path, text: `${named} is changed.`, ...texts }]
    if (old.isExecutable === now.isExecutable) return []
    return [
      { what: 'mode-changed', path, text: `${named} becomes ${now.isExecutable ? '' : 'not '}executable.` },
    ]
  })
}

/** Empty for files that are not text or are too long to compare. */
function textOf<K extends string>(key: K, bytes: Buffer | undefined): { readonly [P in K]?: string } {
  const isText = bytes !== undefined && bytes.length <= LONGEST_TEXT && isUtf8(bytes) && !bytes.includes(0)
  return (isText ? { [key]: bytes.toString('utf8') } : {}) as { readonly [P in K]?: string }
}
