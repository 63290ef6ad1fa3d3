// Updating: the same source once more, and what would be different. A tag that has moved is no update.

import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { visibleName } from '../core/visible.js'
import type { Difference } from '../trust/review.js'
import { FileTree } from './file-tree.js'
import { readFolderTree } from './folder-source.js'
import {
  type PreparedPlugin,
  preparePlugin,
  type ResolveCatalog,
  type Resolved,
  resolveSource,
} from './install-plugin.js'
import { type LockEntry, readLock } from './lock-file.js'
import { isThere } from './placing.js'
import { PluginProblem } from './plugin-problem.js'
import { parseSource, type Source } from './source.js'
import { lockPath, pluginsDir, type Target } from './target.js'

export interface UpdateOptions {
  readonly acceptMoved?: boolean
  readonly resolveCatalog?: ResolveCatalog | undefined
}

export interface Update {
  readonly name: string
  readonly before: LockEntry
  readonly prepared: PreparedPlugin
  /** The integrity of the files that are there now; undefined where there are none. */
  readonly current: string | undefined
  /** Somebody changed files since they were installed. */
  readonly isModified: boolean
  /** Between what is there and what would be; empty: there is nothing to do. */
  readonly differences: readonly Difference[]
}

/** Fetches, compares, changes nothing. Whoever gets it calls `prepared.staged.remove()`. */
export async function prepareUpdate(
  name: string,
  target: Target,
  options: UpdateOptions = {},
): Promise<Update> {
  const before = readLock(lockPath(target)).get(name)
  if (!before) throw notLocked(name)
  const resolved = await resolveEntry(before, target, options.resolveCatalog)
  const prepared = await preparePlugin(resolved, target, name)
  try {
    checkNotMoved(name, before, prepared, options.acceptMoved ?? false)
    const folder = join(pluginsDir(target), name)
    // Somebody may have removed it by hand.
    const current = isThere(folder) ? readFolderTree(folder) : undefined
    const integrity = current?.integrity()
    return {
      name,
      before,
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

/** What the lock file says may be a stranger's word: it is read as if somebody had typed it. */
async function resolveEntry(
  entry: LockEntry,
  target: Target,
  resolveCatalog: ResolveCatalog | undefined,
): Promise<Resolved> {
  if (entry.catalog !== undefined && resolveCatalog) {
    return resolveSource(parseSource(entry.catalog, { from: target.base }), resolveCatalog)
  }
  const { source, kind, ref, path } = entry
  const text = kind === 'npm' ? `${source}@${ref ?? 'latest'}` : source
  const again: Source = parseSource(text, { ref: kind === 'git' ? ref : undefined, path, from: target.base })
  // A repository that was given without a ref lies where a folder could lie.
  const same: Source =
    kind === 'git' && again.kind === 'folder'
      ? { kind, url: again.folder, ...(path !== undefined && { path }) }
      : again
  if (same.kind !== kind)
    throw new PluginProblem(
      'SOURCE_INVALID',
      `${visibleName(source)} is not what it was installed from any more: it was ${kind}`,
    )
  return {
    source: same as Resolved['source'],
    ...(entry.catalog !== undefined && { catalog: entry.catalog }),
  }
}

function checkNotMoved(
  name: string,
  before: LockEntry,
  { entry }: PreparedPlugin,
  isAccepted: boolean,
): void {
  if (isAccepted || before.commit === undefined) return
  // A catalogue may name another tag, or another repository: that one was never anything else.
  const isOther = entry.source !== before.source || entry.ref !== before.ref
  if (before.catalog !== undefined && isOther) return
  const isTagGone = before.tag === true && !entry.tag
  const isMoved = (before.tag === true || entry.tag === true) && entry.commit !== before.commit
  if (!isTagGone && !isMoved) return
  const now = isTagGone ? `is a branch at ${entry.commit} now` : `is ${entry.commit} now`
  throw new PluginProblem(
    'TAG_MOVED',
    `The tag ${visibleName(before.ref ?? '')} of ${name} has moved: it was ${visibleName(before.commit)} when you installed it, and ${now}`,
    'A tag that was published does not move by itself: ask whoever published it. --accept-moved takes it all the same, after you have seen what changed.',
  )
}

function notLocked(name: string): PluginProblem {
  return new PluginProblem(
    'NOT_INSTALLED',
    `${visibleName(name)} was not installed by Carabiner here, so nobody knows where it came from`,
    'carabiner install SOURCE installs it.',
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

/** Nothing of what is no text, or too long to compare. */
function textOf<K extends string>(key: K, bytes: Buffer | undefined): { readonly [P in K]?: string } {
  const isText = bytes !== undefined && bytes.length <= LONGEST_TEXT && isUtf8(bytes) && !bytes.includes(0)
  return (isText ? { [key]: bytes.toString('utf8') } : {}) as { readonly [P in K]?: string }
}
