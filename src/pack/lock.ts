// Lock mode: while a project is locked its agent does not stop, up to a number of times in one session.

import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { readPlain } from '../files/plain-file.js'
import { removeFile, replaceFile } from './kept-file.js'
import type { PackState } from './state.js'

export interface Lock {
  /** Counts of an earlier lock are not counts of this one. */
  readonly id: string
  /** ISO-8601. */
  readonly since: string
  /** What the agent is told to do. */
  readonly message: string | undefined
}

const MAX_BYTES = 16 * 1024

const FILE = 'lock.json'

/** Throws where it cannot be written. */
export function setLock(state: PackState, now: number, message: string | undefined): Lock {
  const path = state.place(FILE)
  if (path === undefined) throw new Error(state.problems.join('; '))
  const since = new Date(now).toISOString()
  const lock: Lock = { id: `${since}-${process.pid}`, since, message }
  replaceFile(path, `${JSON.stringify(lock)}\n`)
  return lock
}

/** Answers whether there was one. */
export function removeLock(state: PackState): boolean {
  const path = state.place(FILE)
  return path !== undefined && removeFile(path)
}

/** Undefined where the project is not locked. A lock that cannot be read is none: it could never be counted. */
export function lockOf(state: PackState): Lock | { readonly problem: string } | undefined {
  const path = state.place(FILE)
  if (path === undefined) return undefined
  const told = (what: string) => ({
    problem: `${path} ${what}, so nothing is locked; carabiner hook stop --unlock removes it`,
  })
  try {
    const found = readPlain(path, MAX_BYTES)
    if ('problem' in found) return told(found.problem)
    const value: unknown = JSON.parse(found.text)
    if (!isObject(value) || typeof value.id !== 'string') return told('is not a lock')
    const { id, since, message } = value
    return { id, since: String(since), message: typeof message === 'string' ? message : undefined }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return told(error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read: ${textOf(error)}`)
  }
}

/** How often this session was kept from stopping by this lock, this time included; undefined where it could not be noted. */
export function countStop(state: PackState, lock: Lock, session: string): number | undefined {
  if (!state.append('lock', { lock: lock.id, session })) return undefined
  const all = state.recent('lock', Infinity)
  // At least the one that was just noted is there, or the log cannot be read.
  return all.filter((one) => one.lock === lock.id && one.session === session).length || undefined
}
