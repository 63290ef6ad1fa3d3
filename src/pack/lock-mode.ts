// Lock mode keeps the agent of a project from stopping, up to a number of times in one session.

import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { checkFormat, FIRST_FORMAT, NewerFormat } from '../files/format.js'
import { readPlain, removeIfThere } from '../files/plain-file.js'
import { type PackState, replaceFile } from './state.js'

export interface LockMode {
  /** Keeps the counts of this lock apart from those of an earlier one. */
  readonly id: string
  /** ISO-8601. */
  readonly since: string
  /** The goal that is repeated to the agent. */
  readonly message: string | undefined
}

/** `isNewer`: a newer version of Carabiner wrote it, so it must stay as it is. */
interface LockProblem {
  readonly problem: string
  readonly isNewer?: true
}

const MAX_BYTES = 16 * 1024

const FILE = 'lock.json'

/** Throws if it cannot be written. */
export function setLockMode(state: PackState, now: number, message: string | undefined): LockMode {
  const path = state.place(FILE)
  if (path === undefined) throw new Error(state.problems.join('; '))
  const since = new Date(now).toISOString()
  const lock: LockMode = { id: `${since}-${process.pid}`, since, message }
  const before = lockModeOf(state)
  if (before && 'problem' in before && before.isNewer) throw new Error(before.problem)
  replaceFile(path, `${JSON.stringify({ format: FIRST_FORMAT, ...lock })}\n`)
  return lock
}

/** Returns whether it was on. */
export function endLockMode(state: PackState): boolean {
  const path = state.place(FILE)
  return path !== undefined && removeIfThere(path)
}

/** Undefined if it is off. An unreadable file locks nothing, because its stops could not be counted. */
export function lockModeOf(state: PackState): LockMode | LockProblem | undefined {
  const path = state.place(FILE)
  if (path === undefined) return undefined
  const told = (what: string): LockProblem => ({
    problem: `${path} ${what}, so lock mode is off; remove the file with carabiner hook stop --unlock`,
  })
  try {
    const found = readPlain(path, MAX_BYTES)
    if ('problem' in found) return told(found.problem)
    const value: unknown = JSON.parse(found.text)
    if (isObject(value)) checkFormat(value.format)
    if (!isObject(value) || typeof value.id !== 'string') return told('is not a lock')
    const { id, since, message } = value
    return { id, since: String(since), message: typeof message === 'string' ? message : undefined }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (error instanceof NewerFormat) return { problem: `${path} ${error.message}`, isNewer: true }
    return told(error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read: ${textOf(error)}`)
  }
}

/** How often this lock has kept this session from stopping, including this time. Undefined if it could not be recorded. */
export function countStop(state: PackState, lock: LockMode, session: string): number | undefined {
  if (!state.append('lock', { lock: lock.id, session })) return undefined
  const all = state.recent('lock', Infinity)
  // Zero means that the log cannot be read, since one was just recorded.
  return all.filter((one) => one.lock === lock.id && one.session === session).length || undefined
}
