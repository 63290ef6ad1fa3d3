// A session's state as it is read back: every field is checked, unknown ones are dropped, missing ones are as at the start.

import { isAbsolute } from 'node:path'
import {
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  ERROR_CODES,
} from '../../core/base/errors.js'
import { frozenCopy } from '../../core/base/json.js'
import type { Injection, Message } from '../../core/hooks/outcome.js'
import { FRESH_STATE, type SessionState, type Skill } from '../../core/session/session-store.js'
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

const injection: Reader<Injection> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    text: text(fields.text, `${where}.text`),
    role: oneOf('system', 'user', 'assistant')(fields.role, `${where}.role`),
    ephemeral: flag(fields.ephemeral, `${where}.ephemeral`),
    source: text(fields.source, `${where}.source`),
    ...(fields.appendToLastToolResult === true && { appendToLastToolResult: true }),
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
  }
}

/** A code of a later version: what it says counts, and whoever says it came late. */
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

/** A reader for every key: one that is added to the state and forgotten here does not compile. */
const STATE: { readonly [K in keyof SessionState]-?: Reader<SessionState[K]> } = {
  turn: count,
  announced: flag,
  turnTokens: count,
  stopsInRow: count,
  stopsTotal: count,
  onceRan: listOf(text),
  pending: (value, where) => readFields(value, where, PENDING, FRESH_STATE.pending),
  ephemeral: listOf(injection),
  agents: listOf(text),
  skills: listOf(skill),
}

const PENDING = {
  injections: listOf(injection),
  messages: listOf(message),
  diagnostics: listOf(diagnostic),
}

/** Throws an Error that names the first field that is wrong. */
export function storedState(value: unknown): SessionState {
  return readFields(value, 'the state', STATE, FRESH_STATE)
}
