// hooks.lock.json: the installed plugins, where they came from, and what they are pinned to. A project's lock file is untrusted.

import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isObject } from '../core/base/json.js'
import { visible, visibleName } from '../core/base/text.js'
import { syncFolder } from '../files/folder.js'
import { nonce } from '../files/nonce.js'
import { placeWhole, readIfThere } from '../files/plain-file.js'
import { isPluginName } from './plugin-name.js'
import { PluginProblem } from './plugin-problem.js'
import { INTEGRITY } from './sources/file-tree.js'
import { isCatalogName } from './sources/source.js'

export const SOURCE_KINDS = ['folder', 'git', 'npm', 'archive'] as const

export interface LockEntry {
  /** In the form that parseSource reads. A path in the project begins with `./`. */
  readonly source: string
  readonly kind: (typeof SOURCE_KINDS)[number]
  /** For git, the tag, branch or commit that was asked for. For npm, the range. */
  readonly ref?: string
  /** The folder in the source. */
  readonly path?: string
  /** `NAME@CATALOG`, if it came from a catalog. */
  readonly catalog?: string
  /** The commit that a git ref pointed to. */
  readonly commit?: string
  /** The git ref was a tag, which is not expected to move. */
  readonly tag?: true
  /** The version that an npm range resolved to. */
  readonly version?: string
  /** The integrity of the installed files: see FileTree.integrity. */
  readonly integrity: string
  /** ISO 8601. */
  readonly installed: string
}

export type Lock = ReadonlyMap<string, LockEntry>

/** Raise it when older versions of Carabiner cannot read the new format. */
const FORMAT = 1
const MOST_BYTES = 4 * 1024 * 1024
const MOST_PLUGINS = 1000
/** The longest text of a field. */
const LONGEST_TEXT = 4096

const TEXTS = ['ref', 'path', 'catalog', 'commit', 'version'] as const

/** Empty if there is no file. Throws if the file is not ours or was written by a newer version. */
export function readLock(path: string): Lock {
  const read = readIfThere(path, MOST_BYTES)
  if (!read) return new Map()
  if ('problem' in read) throw broken(path, read.problem)
  return parsed(path, read.text)
}

function parsed(path: string, text: string): Lock {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw broken(path, 'is not valid JSON')
  }
  if (!isObject(value) || !isObject(value.plugins)) throw broken(path, 'is not a Carabiner lock file')
  if (typeof value.carabiner === 'number' && value.carabiner > FORMAT) {
    throw new PluginProblem(
      'LOCK_INVALID',
      `${visible(path)} was written by a newer version of Carabiner (format ${value.carabiner}; this one reads up to ${FORMAT})`,
      'Update Carabiner.',
    )
  }
  if (value.carabiner !== FORMAT) throw broken(path, 'does not begin with "carabiner": 1')
  const entries = Object.entries(value.plugins)
  if (entries.length > MOST_PLUGINS) throw broken(path, `has more than ${MOST_PLUGINS} plugins`)
  return new Map(
    entries.map(([name, entry]) => {
      if (!isPluginName(name))
        throw broken(path, `lists ${visibleName(name.slice(0, 100))}, which is not a valid plugin name`)
      return [name, entryOf(path, name, entry)]
    }),
  )
}

function entryOf(path: string, name: string, value: unknown): LockEntry {
  const wrong = (what: string) => broken(path, `has an entry for ${name} ${what}`)
  if (!isObject(value)) throw wrong('that is not an object')
  const { source, kind, integrity, installed } = value
  const known = SOURCE_KINDS.find((one) => one === kind)
  if (!isShort(source) || known === undefined) throw wrong('without a valid source')
  if (typeof integrity !== 'string' || !INTEGRITY.test(integrity)) throw wrong('without a valid integrity')
  const texts = TEXTS.filter((key) => value[key] !== undefined).map((key) => {
    if (!isShort(value[key]))
      throw wrong(`whose ${key} is not a string of at most ${LONGEST_TEXT} characters`)
    return [key, value[key]]
  })
  if (typeof value.catalog === 'string' && !isCatalogName(value.catalog))
    throw wrong('whose catalog is not NAME@CATALOG')
  return {
    source,
    kind: known,
    ...Object.fromEntries(texts),
    ...(value.tag === true && { tag: true }),
    integrity,
    installed: typeof installed === 'string' ? installed : '',
  }
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_TEXT
}

/** Writes the file atomically and syncs it to disk. An empty lock removes the file. A killed process leaves the draft behind. */
export function writeLock(path: string, lock: Lock, draft = `${path}.${nonce()}.tmp`): void {
  if (lock.size === 0) rmSync(path, { force: true })
  else placeWhole(path, (one) => writeDurably(one, textOfLock(lock)), draft)
  try {
    syncFolder(dirname(path))
  } catch {
    // The file is in place. Some file systems cannot sync a folder; the system then does it in its own time.
  }
}

function textOfLock(lock: Lock): string {
  const plugins = Object.fromEntries([...lock].sort(([a], [b]) => (a < b ? -1 : 1)))
  return `${JSON.stringify({ carabiner: FORMAT, plugins }, null, 2)}\n`
}

function writeDurably(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o644)
  try {
    writeFileSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function broken(path: string, what: string): PluginProblem {
  return new PluginProblem(
    'LOCK_INVALID',
    `${visible(path)} ${what}`,
    'Restore it from version control. Or remove it: installed plugins stay, but can no longer be updated.',
  )
}
