// hooks.lock.json: what was installed here, from where, pinned to what. In a project it came with the repository: data of a stranger.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { textOf } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { nonce } from '../state/nonce.js'
import { readPlain } from '../state/plain-file.js'
import { isPluginName } from './plugin-name.js'
import { PluginProblem } from './plugin-problem.js'

const SOURCE_KINDS = ['folder', 'git', 'npm', 'archive'] as const

export interface LockEntry {
  /** As parseSource takes it; a path in the project begins with `./`. */
  readonly source: string
  readonly kind: (typeof SOURCE_KINDS)[number]
  /** Of git: the tag, branch or commit that was asked for. Of npm: the range. */
  readonly ref?: string
  /** The folder in the source. */
  readonly path?: string
  /** `NAME@CATALOG`, if it was found there. */
  readonly catalog?: string
  /** Of git: what the ref was. */
  readonly commit?: string
  /** Of git: the ref was a tag, which is not expected to move. */
  readonly tag?: true
  /** Of npm: what the range was. */
  readonly version?: string
  /** Of the installed files: see FileTree.integrity. */
  readonly integrity: string
  /** ISO 8601. */
  readonly installed: string
}

export type Lock = ReadonlyMap<string, LockEntry>

/** Raised when older programs cannot read what is written. */
const FORMAT = 1
const MOST_BYTES = 4 * 1024 * 1024

const TEXTS = ['ref', 'path', 'catalog', 'commit', 'version'] as const

/** Empty where there is none. Throws for one that is not ours, and for one that a newer version wrote. */
export function readLock(path: string): Lock {
  let text: string
  try {
    const read = readPlain(path, MOST_BYTES)
    if ('problem' in read) throw broken(path, read.problem)
    text = read.text
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return new Map()
    throw error instanceof PluginProblem ? error : broken(path, `cannot be read: ${textOf(error)}`)
  }
  return parsed(path, text)
}

function parsed(path: string, text: string): Lock {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw broken(path, 'is not valid JSON')
  }
  if (!isObject(value) || !isObject(value.plugins)) throw broken(path, 'is no lock file of Carabiner')
  if (typeof value.carabiner === 'number' && value.carabiner > FORMAT) {
    throw new PluginProblem(
      'LOCK_INVALID',
      `${path} was written by a newer version of Carabiner`,
      'Update this one.',
    )
  }
  if (value.carabiner !== FORMAT) throw broken(path, 'does not begin with "carabiner": 1')
  return new Map(
    Object.entries(value.plugins).map(([name, entry]) => {
      if (!isPluginName(name))
        throw broken(path, `has ${JSON.stringify(name.slice(0, 100))}, which is no name of a plugin`)
      return [name, entryOf(path, name, entry)]
    }),
  )
}

function entryOf(path: string, name: string, value: unknown): LockEntry {
  const wrong = (what: string) => broken(path, `says of ${name} ${what}`)
  if (!isObject(value)) throw wrong('nothing that can be read')
  const { source, kind, integrity, installed } = value
  const known = SOURCE_KINDS.find((one) => one === kind)
  if (typeof source !== 'string' || known === undefined) throw wrong('no source')
  if (typeof integrity !== 'string' || !/^sha256-[A-Za-z0-9+/]{43}=$/.test(integrity))
    throw wrong('no integrity')
  const texts = TEXTS.filter((key) => value[key] !== undefined).map((key) => {
    if (typeof value[key] !== 'string') throw wrong(`a ${key} that is no text`)
    return [key, value[key]]
  })
  return {
    source,
    kind: known,
    ...Object.fromEntries(texts),
    ...(value.tag === true && { tag: true }),
    integrity,
    installed: typeof installed === 'string' ? installed : '',
  }
}

/** Whole or not at all, and on the disk when it returns. An empty one is removed. */
export function writeLock(path: string, lock: Lock): void {
  if (lock.size === 0) {
    rmSync(path, { force: true })
    return
  }
  const plugins = Object.fromEntries([...lock].sort(([a], [b]) => (a < b ? -1 : 1)))
  const text = `${JSON.stringify({ carabiner: FORMAT, plugins }, null, 2)}\n`
  const draft = `${path}.${nonce()}.tmp`
  try {
    const fd = openSync(draft, 'wx', 0o644)
    try {
      writeFileSync(fd, text)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** What a killed process may leave beside the file. */
export function isLockDraft(name: string): boolean {
  return /^hooks\.lock\.json\.[0-9a-f]{16}\.tmp$/.test(name)
}

function broken(path: string, what: string): PluginProblem {
  return new PluginProblem(
    'LOCK_INVALID',
    `${path} ${what}`,
    'Restore it from version control; or remove it, and what is installed stays, but cannot be updated.',
  )
}
