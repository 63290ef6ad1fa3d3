// The file of a question, in a folder of its own. It is sealed, so that a person sees exactly what was asked.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { callDigest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { type Data, frozenCopy, isObject, type Json } from '../../core/base/json.js'
import { isPeople } from '../../core/events/result.js'
import type { Ask, Question } from '../../core/hooks/outcome.js'
import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { checkFormat, FIRST_FORMAT, NewerFormat } from '../../files/format.js'
import { nonce } from '../../files/nonce.js'
import { checkOwnFolder, readOwn } from '../../files/plain-file.js'
import type { Seal } from '../../files/seal.js'
import type { Pending } from '../approvals.js'

const FILE = 'question.json'
/** Calls may contain whole files. */
const MAX_BYTES = 4 * 1024 * 1024
/** The name of an unfinished folder. */
export const DRAFT = /^\.[0-9a-f]+\.new$/

/** Returns false if the id is taken. A folder appears with its question in it, or not at all. */
export function storeQuestion(folder: string, pending: Pending, seal: Seal): boolean {
  const fields = frozenCopy(pending, 'the question') as Data
  const content = JSON.stringify({ format: FIRST_FORMAT, pending: fields, seal: seal.of('question', fields) })
  const bytes = Buffer.byteLength(content)
  if (bytes > MAX_BYTES)
    throw new Error(`the call is too large to keep for a person: ${bytes} bytes, more than ${MAX_BYTES}`)
  const draft = join(dirname(folder), `.${nonce()}.new`)
  try {
    mkdirSync(draft, 0o700)
    writeFileSync(join(draft, FILE), content, { flag: 'wx', mode: 0o600 })
    renameSync(draft, folder)
    return true
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw new Error(`the question cannot be kept in ${folder}: ${textOf(error)}`, { cause: error })
  }
}

/** Undefined if there is none. Throws an Error that names the problem with it. */
export function readQuestion(folder: string, seal: Seal): Pending | undefined {
  const path = join(folder, FILE)
  try {
    checkOwnFolder(folder)
    const read = readOwn(path, MAX_BYTES)
    if ('problem' in read) throw new Error(read.problem)
    return checked(read.text, path, seal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (error instanceof NewerFormat) throw error
    throw new Error(`the question ${path} is not used: it ${textOf(error)}`, { cause: error })
  }
}

/** Whether a newer version of Carabiner asked the question in this folder. */
export function isNewer(folder: string): boolean {
  const path = join(folder, FILE)
  try {
    const read = readOwn(path, MAX_BYTES)
    if ('text' in read) checkFormat(parsed(read.text).format, path)
    return false
  } catch (error) {
    return error instanceof NewerFormat
  }
}

function checked(content: string, path: string, seal: Seal): Pending {
  const file = parsed(content)
  checkFormat(file.format, path)
  if (!isObject(file.pending) || typeof file.seal !== 'string')
    throw new Error('is not in a Carabiner format')
  if (!seal.isGenuine('question', file.pending as Data, file.seal))
    throw new Error('was changed since it was asked, or was not asked by Carabiner (its seal is wrong)')
  const read = readPending(file.pending, 'the question')
  if (read.id !== basename(dirname(path))) throw new Error('is in the folder of another question')
  return read
}

export function parsed(content: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(content)
    if (isObject(value)) return value
  } catch {}
  throw new Error('is not valid JSON')
}

/** Also of a question that another machine asked. */
export const readPending: Reader<Pending> = (value, where) => {
  const fields = fieldsOf(value, where)
  const raisedBy = fieldsOf(fields.raisedBy, `${where}.raisedBy`)
  return {
    id: text(fields.id, `${where}.id`),
    question: question(fields.question, `${where}.question`),
    project: text(fields.project, `${where}.project`),
    raisedBy: { pid: count(raisedBy.pid, `${where}.pid`), host: text(raisedBy.host, `${where}.host`) },
    asked: time(fields.asked, `${where}.asked`),
    expires: time(fields.expires, `${where}.expires`),
    ...optional('era', fields.era, count, where),
    ...(fields.answersOwnQuestions === true && { answersOwnQuestions: true }),
  }
}

const question: Reader<Question> = (value, where) => {
  const fields = fieldsOf(value, where)
  const of = <T>(key: string, read: Reader<T>) => read(fields[key], `${where}.${key}`)
  const read: Question = {
    id: of('id', text),
    event: of('event', text),
    session: of('session', text),
    ...optional('cwd', fields.cwd, text, where),
    digest: of('digest', text),
    binding: of('binding', text),
    call: of('call', data),
    asks: of('asks', listOf(ask)),
    options: of('options', listOf(text)),
    timeout: of('timeout', seconds),
    default: of('default', oneOf('allow', 'deny')),
    ...optional('people', fields.people, people, where),
    expires: of('expires', time),
  }
  if (callDigest(read.event, read.call) !== read.digest)
    throw new Error('shows a different call from the one it asks about')
  return read
}

const people: Reader<number> = (value, where) => {
  if (isPeople(value)) return value
  throw new Error(`is not valid: ${where} must be a number of people`)
}

const ask: Reader<Ask> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    hook: text(fields.hook, `${where}.hook`),
    prompt: text(fields.prompt, `${where}.prompt`),
    ...optional('reason', fields.reason, text, where),
  }
}

const data: Reader<Data> = (value, where) => fieldsOf(value, where) as { readonly [key: string]: Json }

const seconds: Reader<number> = (value, where) => {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new Error(`is not valid: ${where} must be a number of seconds`)
}

export const time: Reader<string> = (value, where) => {
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return value
  throw new Error(`is not valid: ${where} must be a time`)
}
