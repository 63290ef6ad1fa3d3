// Checks stored session states and grants. Drops unknown fields; missing fields of a state get their default.

import { isAbsolute } from 'node:path'
import {
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  ERROR_CODES,
} from '../../core/base/errors.js'
import { frozenCopy } from '../../core/base/json.js'
import { NO_COUNTS, type StoredCount, type StoredCounts } from '../../core/hooks/count.js'
import type { Message, WantedInjection } from '../../core/hooks/outcome.js'
import { FRESH_STATE, type SessionState, type Skill } from '../../core/session/session-store.js'
import type { Grant } from '../../core/verdict/approval.js'
import {
  count,
  fieldsOf,
  flag,
  listOf,
  oneOf,
  optional,
  type Reader,
  readFields,
  text,
} from '../../files/fields.js'

const injection: Reader<WantedInjection> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    text: text(fields.text, `${where}.text`),
    role: oneOf('system', 'user', 'assistant')(fields.role, `${where}.role`),
    ephemeral: flag(fields.ephemeral, `${where}.ephemeral`),
    source: text(fields.source, `${where}.source`),
    ...(fields.appendToLastToolResult === true && { appendToLastToolResult: true }),
    ...(fields.isRefusal === true && { isRefusal: true }),
  }
}

const message: Reader<Message> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    text: text(fields.text, `${where}.text`),
    level: oneOf('info', 'warning', 'error')(fields.level, `${where}.level`),
    source: text(fields.source, `${where}.source`),
  }
}

const diagnostic: Reader<Diagnostic> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    code: code(fields.code, `${where}.code`),
    text: text(fields.text, `${where}.text`),
    ...optional('file', fields.file, text, where),
    ...optional('line', fields.line, count, where),
    ...optional('hook', fields.hook, text, where),
    ...optional('todo', fields.todo, text, where),
  }
}

/** A later version may have written a code that is unknown here; its text still counts. */
const code: Reader<DiagnosticCode> = (value, where) => {
  const name = text(value, where)
  const isKnown = Object.hasOwn(DIAGNOSTIC_CODES, name) || Object.hasOwn(ERROR_CODES, name)
  return isKnown ? (name as DiagnosticCode) : 'late-failed'
}

const skill: Reader<Skill> = (value, where) => {
  const fields = fieldsOf(value, where)
  const directory = text(fields.directory, `${where}.directory`)
  if (!isAbsolute(directory)) throw new Error(`${where}.directory must be absolute`)
  return {
    name: text(fields.name, `${where}.name`),
    directory,
    hooks: frozenCopy(fields.hooks, `${where}.hooks`),
  }
}

/** Has a reader for every key, so a key that is added only to the state does not compile. */
const STATE: { readonly [K in keyof SessionState]-?: Reader<SessionState[K]> } = {
  turn: count,
  announced: flag,
  turnTokens: count,
  stopsInRow: count,
  stopsTotal: count,
  stopReason: text,
  stopsCut: listOf(text),
  onceRan: listOf(text),
  pending: (value, where) => readFields(value, where, PENDING, FRESH_STATE.pending),
  ephemeral: listOf(injection),
  agents: listOf(text),
  counts: (value, where) => readFields(value, where, COUNTS, NO_COUNTS),
  skills: listOf(skill),
  lost: text,
}

const PENDING = {
  injections: listOf(injection),
  messages: listOf(message),
  diagnostics: listOf(diagnostic),
}

const COUNTS = {
  list: listOf<StoredCount>((value, where) => readFields(value, where, COUNT, NOTHING)),
  calls: listOf(text),
  lost: ((value, where) => (value === null ? null : readFields(value, where, LOST, NEVER))) satisfies Reader<
    StoredCounts['lost']
  >,
}

const COUNT = { key: text, at: count, n: count }
const NOTHING: StoredCount = { key: '', at: 0, n: 0 }
const LOST = { minute: count, turn: count, why: text }
const NEVER = { minute: 0, turn: 0, why: '' }

/** Throws an Error that names the first invalid field. */
export function storedState(value: unknown): SessionState {
  return readFields(value, 'the state', STATE, FRESH_STATE)
}

// ---- grants ---------------------------------------------------------------------------------------------------

const KEYS = ['id', 'hook', 'event', 'tool', 'cwd', 'digest', 'created'] as const

/** A grant as stored. */
export interface StoredGrant extends Grant {
  /** The era of `expires`: see files/moment.ts. */
  readonly era?: number
  /** True if it counts only for stores of programs that answer their own questions. */
  readonly answersOwnQuestions?: boolean
  /** Covers the whole grant and the project. 0.1.0 wrote none. */
  readonly seal?: string
}

const grant: Reader<StoredGrant> = (value, where) => {
  const fields = fieldsOf(value, where)
  const read = KEYS.map((key) => [key, text(fields[key], `${where}.${key}`)])
  return {
    ...Object.fromEntries(read),
    ...optional('about', fields.about, text, where),
    ...optional('by', fields.by, text, where),
    ...optional('expires', fields.expires, text, where),
    ...optional('era', fields.era, count, where),
    ...optional('answersOwnQuestions', fields.answersOwnQuestions, flag, where),
    ...optional('seal', fields.seal, text, where),
  }
}

/** Throws an Error that names the first invalid field: half of a person's decision is not their decision. */
export function storedGrants(value: unknown): readonly StoredGrant[] {
  return listOf(grant)(value, 'the list of grants')
}
