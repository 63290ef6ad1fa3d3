// A hooks.test.json: what a case is, and every mistake in a file of cases, with its line.

import { dirname, isAbsolute, normalize, resolve, sep } from 'node:path'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { frozenCopy, isObject } from '../../core/base/json.js'
import { didYouMean, nearest, shown } from '../../core/base/text.js'
import { knownEvents, nearMissOf, resolveEvent } from '../../core/events/events.js'
import { loadsCode } from '../../effects/shell/loading-variables.js'
import { type JsonPath, JsonText, under } from '../../files/json-text.js'
import { readPlain } from '../../files/plain-file.js'
import type { Payload } from '../fire/payload.js'
import { EXPECTATION, type Expectation, type Field, type Fields } from './expectation.js'

/** An event, and what the hooks should decide. */
export interface TestCase {
  readonly name: string
  readonly file: string
  readonly line: number
  readonly event: string
  readonly payload: Payload
  readonly expect: Expectation
  /** Files of the project it runs in, by path. */
  readonly files: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  /** Seconds. */
  readonly timeout: number
  /** Why it is skipped. */
  readonly skip: string | undefined
}

interface CaseFile {
  readonly cases: readonly TestCase[]
  /** Cases run one after another, because their hooks write into their own folder. */
  readonly sequential: boolean
  readonly problems: readonly Diagnostic[]
}

const MOST_BYTES = 4 * 1024 * 1024
const DEFAULT_TIMEOUT = 60
const LONGEST_TIMEOUT = 600

export const FILE: Fields = {
  $schema: ['a text', isText],
  description: ['a text', isText],
  sequential: ['true or false', isFlag],
  cases: ['a list of cases', Array.isArray],
}

export const CASE: Fields = {
  name: ['a text that is not empty', isWord],
  event: ['the name of an event', isWord],
  payload: ['an object', isObject],
  payloadFile: ['the path of a file of JSON, from the folder of this one', isWord],
  expect: ['an object that says what is decided', isObject],
  files: ['an object of texts, by path in the project', isTexts],
  env: ['an object of texts, by the name of the variable', isTexts],
  timeout: [
    `seconds, above 0 and at most ${LONGEST_TIMEOUT}`,
    (value) => typeof value === 'number' && value > 0 && value <= LONGEST_TIMEOUT,
  ],
  skip: ['true, false, or a text that says why', (value) => isFlag(value) || isWord(value)],
} satisfies Record<string, Field>

/** Never throws: mistakes are problems, and the other cases are returned. */
export function readCaseFile(file: string): CaseFile {
  try {
    const read = readPlain(file, MOST_BYTES)
    return 'problem' in read
      ? broken(file, 1, `the file ${read.problem}; put cases into a plain file of at most 4 MiB`)
      : casesIn(file, read.text)
  } catch (error) {
    return broken(file, 1, `the file cannot be read: ${textOf(error)}`)
  }
}

function broken(file: string, line: number, text: string): CaseFile {
  return { cases: [], sequential: false, problems: [{ code: 'config-invalid', file, line, text }] }
}

export function casesIn(file: string, text: string): CaseFile {
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed) return broken(file, parsed.line, `this is not valid JSON: ${parsed.problem}`)
  const value = frozenCopy(parsed.value, 'the file')
  if (!isObject(value)) return broken(file, 1, `expected { "cases": [ … ] }, got ${shown(value)}`)
  const reader = new CaseReader(file, json)
  for (const { key, line } of json.doubleKeys()) {
    reader.sayAt(line, `${shown(key)} appears twice in one object, and this one would be ignored`)
  }
  if (!reader.check(value, null, FILE)) return { cases: [], sequential: false, problems: reader.problems }
  if (value.cases === undefined) reader.say(null, 'expected "cases", a list of cases')
  const list = (value.cases ?? []) as readonly unknown[]
  const cases: TestCase[] = []
  for (const [i, one] of list.entries()) {
    if (reader.problems.length >= MOST_PROBLEMS) {
      reader.say(under(CASES, i), `there are ${MOST_PROBLEMS} mistakes before this case: correct them first`)
      break
    }
    const read = caseOf(one, i, file, reader)
    if (read) cases.push(read)
  }
  return { cases, sequential: value.sequential === true, problems: reader.problems }
}

const CASES = under(null, 'cases')

const MOST_PROBLEMS = 100

function caseOf(value: unknown, index: number, file: string, reader: CaseReader): TestCase | undefined {
  const at = under(CASES, index)
  const before = reader.problems.length
  const one = writtenIn(value, at, reader)
  if (!one) return undefined
  checkMeant(one, at, reader)
  const payload = payloadOf(one, at, file, reader)
  if (reader.problems.length > before || !payload) return undefined
  const { event, expect, files = {}, env = {}, timeout = DEFAULT_TIMEOUT, skip = false } = one
  return {
    name: nameOf(one, index),
    file,
    line: reader.lineOf(at),
    event,
    payload,
    expect,
    files,
    env,
    timeout,
    skip: skip === false ? undefined : skip === true ? 'the case says so' : skip,
  }
}

/** Undefined if a field has the wrong type. */
function writtenIn(value: unknown, at: At, reader: CaseReader): Written | undefined {
  if (!isObject(value)) {
    reader.say(at, `a case must be an object, got ${shown(value)}`)
    return undefined
  }
  const before = reader.problems.length
  reader.check(value, at, CASE)
  for (const key of ['event', 'expect']) {
    if (value[key] === undefined) reader.say(at, `the case has no ${JSON.stringify(key)}`)
  }
  return reader.problems.length > before ? undefined : (value as unknown as Written)
}

/** Finds values of the right type that still cannot be meant. */
function checkMeant({ event, expect, files = {}, env = {} }: Written, at: At, reader: CaseReader): void {
  const misspelt = slipOf(event)
  if (misspelt !== undefined) reader.say(under(at, 'event'), misspelt)
  for (const path of Object.keys(files).filter((one) => !isInside(one))) {
    reader.say(
      under(under(at, 'files'), path),
      `${shown(path)} must be a path inside the project, such as "src/a.ts"`,
    )
  }
  for (const name of Object.keys(env)) {
    const problem = variableProblem(name)
    if (problem !== undefined) reader.say(under(under(at, 'env'), name), `${shown(name)} ${problem}`)
  }
  reader.check(expect, under(at, 'expect'), EXPECTATION)
  if (Object.keys(expect).length === 0) {
    reader.say(under(at, 'expect'), 'expected at least one expectation, such as "action"')
  }
}

function variableProblem(name: string): string | undefined {
  if (isOfTheStage(name)) return 'is set for the case itself; {{home}} and {{project}} stand for its folders'
  if (loadsCode(name))
    return 'would make programs run other code than the hooks; carabiner test --env NAME passes on your own'
  return undefined
}

/** These would lead a case to the state of the user who runs it. */
export function isOfTheStage(variable: string): boolean {
  return /^(?:HOME|CARABINER_.*)$/s.test(variable)
}

/** A case with fields of the right types. */
interface Written {
  readonly name?: string
  readonly event: string
  readonly payload?: Payload
  readonly payloadFile?: string
  readonly expect: Expectation
  readonly files?: TestCase['files']
  readonly env?: TestCase['env']
  readonly timeout?: number
  readonly skip?: boolean | string
}

function nameOf({ name, event, expect }: Written, index: number): string {
  return name ?? `${index + 1}: ${[event, expect.action].filter(Boolean).join(' ')}`
}

/** A misspelt event counts as a custom one, which no hook stops. */
function slipOf(event: string): string | undefined {
  const meant = nearMissOf(event)
  if (meant) return `there is no event ${shown(event)}; did you mean ${meant}?`
  if (!resolveEvent(event).custom) return undefined
  const names = knownEvents().map(({ name }) => name)
  return nearest(event, names) && `there is no event ${shown(event)}${didYouMean(event, names)}`
}

// ---- the payload ----------------------------------------------------------------------------------------------

type At = Parameters<CaseReader['say']>[0]

function payloadOf(
  { event, payload, payloadFile }: Written,
  at: At,
  file: string,
  reader: CaseReader,
): Payload | undefined {
  if (payload && payloadFile !== undefined) {
    reader.say(under(at, 'payloadFile'), 'give payload or payloadFile, not both')
    return undefined
  }
  const place = under(at, payloadFile === undefined ? 'payload' : 'payloadFile')
  const read = payloadFile === undefined ? (payload ?? {}) : fromFile(resolve(dirname(file), payloadFile))
  if (typeof read === 'string') {
    reader.say(place, `${payloadFile}: ${read}`)
    return undefined
  }
  const { hook_event_name: carried } = read
  if (carried === undefined || (typeof carried === 'string' && isSameEvent(carried, event))) return read
  reader.say(place, `the payload is for ${shown(carried)}, the case for ${shown(event)}`)
  return undefined
}

function isSameEvent(a: string, b: string): boolean {
  return a !== '' && resolveEvent(a).name === resolveEvent(b).name
}

/** The payload, or what is wrong with it. */
function fromFile(path: string): Payload | string {
  try {
    const read = readPlain(path, MOST_BYTES)
    if ('problem' in read) return `it ${read.problem}`
    const parsed = new JsonText(read.text).parse()
    if ('problem' in parsed) return `line ${parsed.line} is not valid JSON: ${parsed.problem}`
    const value = frozenCopy(parsed.value, 'the payload')
    return isObject(value) ? value : `it must be a JSON object, got ${shown(value)}`
  } catch (error) {
    return textOf(error)
  }
}

// ---- kinds of values ------------------------------------------------------------------------------------------

function isInside(path: string): boolean {
  const plain = normalize(path)
  const leaves = isAbsolute(path) || plain === '..' || plain.startsWith(`..${sep}`)
  return !leaves && plain !== '.' && !plain.endsWith(sep) && !path.includes('\0') && !path.includes('\\')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isWord(value: unknown): boolean {
  return isText(value) && value.trim() !== '' && !value.includes('\0')
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((one) => isText(one) && !one.includes('\0'))
}

// ---- checking fields -------------------------------------------------------------------------------------------

class CaseReader {
  readonly problems: Diagnostic[] = []
  readonly #file: string
  readonly #json: JsonText

  constructor(file: string, json: JsonText) {
    this.#file = file
    this.#json = json
  }

  lineOf(at: JsonPath): number {
    return this.#json.lineOf(at)
  }

  say(at: JsonPath, text: string): void {
    this.sayAt(this.lineOf(at), text)
  }

  sayAt(line: number, text: string): void {
    this.problems.push({ code: 'config-invalid', file: this.#file, line, text })
  }

  /** False if something was wrong. An unknown key would be an expectation that is never checked. */
  check(value: object, at: JsonPath, fields: Fields): boolean {
    const before = this.problems.length
    for (const [key, one] of Object.entries(value)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined
      const where = under(at, key)
      if (!field) {
        const known = Object.keys(fields).filter((name) => name !== '$schema')
        const meant = didYouMean(key, known) || `; the keys are ${known.join(', ')}`
        this.say(where, `${shown(key)} is not a key here${meant}`)
      } else if (!field[1](one)) {
        this.say(where, `${shown(key)} must be ${field[0]}, got ${shown(one)}`)
      }
    }
    return this.problems.length === before
  }
}
