// Turns a fired call into a test case, without secrets and without details of this machine.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { isObject, type Json, sameJson } from '../../core/base/json.js'
import { resolveEvent } from '../../core/events/events.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { userHome } from '../../files/homes.js'
import { type JsonPath, JsonText, type Spot, under } from '../../files/json-text.js'
import { placeWhole, readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { type Edit, edited, type Layout, layoutOf, prepended } from '../../hosts/forms/json-edit.js'
import { writtenData } from '../../store/redaction.js'
import type { Payload } from '../fire/payload.js'
import { oneLine, placeOf } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { CASES_SCHEMA } from '../schema/address.js'
import { casesIn } from './case-file.js'
import { type Folders, withFolders, withStandIns } from './case-stage.js'
import { type Expectation, type Miss, missesOf } from './expectation.js'
import { pluginOf } from './find-cases.js'

export interface Call {
  readonly event: string
  readonly payload: Payload
  readonly outcome: Outcome
  readonly project: string
}

export interface Recorded {
  readonly file: string
  readonly name: string
  readonly line: number
  /** False if the file already has a case for this call, which is left as it is. */
  readonly isNew: boolean
  /** How the outcome differs from that case, and what a case recorded now would expect. */
  readonly changed?: { readonly misses: readonly Miss[]; readonly expect: Expectation }
}

const MOST_BYTES = 4 * 1024 * 1024

/** Throws if the file does not contain cases, or cannot be written. Nothing else in it changes. */
export function recordCase(file: string, call: Call): Recorded {
  const path = resolve(file)
  const folders = foldersOf(path, call.project)
  const made = caseOf(call, folders)
  const text = textIn(path)
  const before = text === undefined ? undefined : checked(path, text)
  const known = before?.cases.findIndex((one) => isSameCall(one, made)) ?? -1
  if (before && known >= 0) {
    const line = before.lineOf(known)
    const old = casesIn(path, before.json.text).cases.find((one) => one.line === line)
    const misses = old ? missesOf(withFolders(old.expect, folders), call.outcome) : []
    return {
      file: path,
      name: nameIn(before.cases[known], made.name),
      line,
      isNew: false,
      ...(misses.length > 0 && {
        changed: { misses: written(misses, folders), expect: made.expect },
      }),
    }
  }
  const after = before ? withCase(before, made) : fresh(made)
  write(path, after)
  return { file: path, name: made.name, line: lineOfLast(after), isNew: true }
}

export function recordedLines({ file, name, line, isNew, changed }: Recorded): readonly string[] {
  const where = `${JSON.stringify(name)} in ${file}:${line}`
  if (isNew) return [`recorded as ${where}`]
  if (!changed) return [`already recorded as ${where}, and nothing has changed`]
  return [
    `already recorded as ${where}, which expects something else`,
    ...changed.misses.map(({ what, expected, received }) => `  ${what}: ${expected} before, ${received} now`),
    `next if that is right, change it there to "expect": ${JSON.stringify(changed.expect)}`,
  ]
}

// ---- the case -------------------------------------------------------------------------------------------------

interface MadeCase {
  readonly name: string
  readonly event: string
  readonly payload: Payload
  readonly expect: Expectation
}

/** Fields of a single session or call: the test has its own. */
const OF_THE_SESSION: ReadonlySet<string> = new Set([
  'session_id',
  'transcript_path',
  'agent_transcript_path',
  'timestamp',
  'prompt_id',
  'turn_id',
  'parent_turn_id',
  'tool_use_id',
  'hook_event_name',
])

function foldersOf(file: string, project: string): Folders {
  const plugin = pluginOf(file)
  return { project: resolve(project), home: userHome(), ...(plugin !== undefined && { plugin }) }
}

/** Also replaces real paths: a hook may print either form. */
function withoutFolders<T>(value: T, folders: Folders): T {
  const real = Object.fromEntries(Object.entries(folders).map(([name, folder]) => [name, realOf(folder)]))
  return withStandIns(withStandIns(value, folders), real)
}

function caseOf({ event, payload, outcome, project }: Call, folders: Folders): MadeCase {
  const kept = Object.entries(payload).filter(
    ([key, value]) =>
      !OF_THE_SESSION.has(key) &&
      !(key === 'cwd' && typeof value === 'string' && realOf(value) === realOf(resolve(project))) &&
      !(key === 'permission_mode' && value === 'default'),
  )
  const { name } = resolveEvent(event)
  const made = written({ payload: Object.fromEntries(kept), expect: expectationOf(outcome) }, folders)
  return {
    name: nameOf(name, made.payload, outcome),
    event: name,
    payload: made.payload,
    expect: shortened(made.expect),
  }
}

/** Before anything is cut: half a secret may look like none. */
function written<T>(value: T, folders: Folders): T {
  return writtenData(withoutFolders(value, folders) as Json) as T
}

/** `deny Bash: git push --force` */
function nameOf(event: string, payload: Payload, { action }: Outcome): string {
  const { name, matcher } = resolveEvent(event)
  const about = matcher === null ? undefined : payload[matcher]
  const input = isObject(payload.tool_input) ? payload.tool_input : payload
  const words = ['command', 'file_path', 'url', 'pattern', 'prompt'].map((key) => input[key])
  const detail = words.find((word) => typeof word === 'string')
  const subject = typeof about === 'string' && about !== '' ? about : name
  return `${action} ${subject}${typeof detail === 'string' ? `: ${oneLine(detail, 60)}` : ''}`
}

function expectationOf(outcome: Outcome): Expectation {
  const { action, reason, permission, injections, messages, hooks, response } = outcome
  const changed = [...new Set(hooks.flatMap((trace) => trace.changed ?? []))]
  const failed = hooks.filter(({ status }) => status === 'failed').map(({ name }) => name)
  // A message about a skipped hook is not the plugin's.
  const skipped = hooks.filter(({ status }) => status === 'skipped').map(({ name }) => name)
  const said = messages.filter(({ source }) => !skipped.includes(source))
  return {
    action,
    ...(reason !== undefined && { reason }),
    ...(permission !== undefined && { permission }),
    ...(injections.length > 0 && { context: injections.map(({ text }) => text) }),
    // The text of a failure has paths and codes; only the failure itself matters.
    ...(said.length > 0 && failed.length === 0 && { messages: said.map(({ text }) => text) }),
    ...(changed.length > 0 && { modified: pick(outcome.data, changed) }),
    ...(response !== undefined && { response }),
    ...(failed.length > 0 && { failed }),
  }
}

/** Long texts are expected by their beginning: the rest is most likely to change. */
const LONGEST_TEXT = 200

function shortened(expect: Expectation): Expectation {
  const texts = (['reason', 'context', 'messages'] as const).filter((key) => expect[key] !== undefined)
  return { ...expect, ...Object.fromEntries(texts.map((key) => [key, beginning(expect[key])])) }
}

function beginning(text: unknown): unknown {
  if (Array.isArray(text)) return text.map(beginning)
  if (typeof text !== 'string') return text
  return text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT).replace(/[\uD800-\uDBFF]$/, '') : text
}

function pick(data: Outcome['data'], keys: readonly string[]): Record<string, Json> {
  return Object.fromEntries(keys.flatMap((key) => (data[key] === undefined ? [] : [[key, data[key]]])))
}

function isSameCall(one: unknown, made: MadeCase): boolean {
  if (!isObject(one) || typeof one.event !== 'string' || one.event === '') return false
  const payload = (one.payload ?? {}) as Json
  return resolveEvent(one.event).name === made.event && sameJson(payload, made.payload as Json)
}

function nameIn(one: unknown, otherwise: string): string {
  return isObject(one) && typeof one.name === 'string' ? one.name : otherwise
}

// ---- the file -------------------------------------------------------------------------------------------------

interface OpenFile {
  readonly json: JsonText
  readonly cases: readonly unknown[]
  lineOf(index: number): number
}

/** Undefined if there is no file yet. */
function textIn(path: string): string | undefined {
  try {
    const read = readPlain(path, MOST_BYTES)
    if ('text' in read) return read.text
    if (read.problem === 'is empty') return undefined
    throw new Error(`the file ${read.problem}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw notRecorded(path, textOf(error))
  }
}

/** A file without cases belongs to something else. */
function checked(path: string, text: string): OpenFile {
  const json = new JsonText(text)
  const parsed = json.parse()
  const value = 'value' in parsed ? parsed.value : undefined
  if (isObject(value) && Array.isArray(value.cases)) {
    return { json, cases: value.cases, lineOf: (index) => json.lineOf(under(CASES, index)) }
  }
  const [problem] = casesIn(path, text).problems
  throw notRecorded(path, problem ? `${placeOf(problem)} ${problem.text}` : 'expected { "cases": [ … ] }')
}

const CASES: JsonPath = under(null, 'cases')

function fresh(made: MadeCase): string {
  return `${JSON.stringify({ $schema: CASES_SCHEMA, cases: [made] }, null, 2)}\n`
}

function withCase({ json }: OpenFile, made: MadeCase): string {
  const [root, list] = [json.spotOf(null), json.spotOf(CASES)]
  if (!root || !list) throw new Error('the list of cases has no place')
  const layout = layoutOf(json.text, root)
  return edited(json.text, appendedItem(json.text, list, made, layout))
}

/** Appends to a list, after any comment on the last item. */
function appendedItem(text: string, list: Spot, item: unknown, layout: Layout): readonly Edit[] {
  const last = [...(list.inside?.values() ?? [])].at(-1)
  if (!last) return prepended(text, list, [item], layout)
  const indent = /\n([ \t]*)$/.exec(text.slice(0, last.at))?.[1]
  const comma: Edit[] = last.comma === undefined ? [{ at: last.end, end: last.end, text: ',' }] : []
  const trailing = last.comma === undefined ? '' : ','
  const at = text.slice(0, list.end - 1).trimEnd().length
  const written =
    indent === undefined
      ? ` ${JSON.stringify(item)}`
      : layout.eol + indent + JSON.stringify(item, null, layout.unit).replaceAll('\n', layout.eol + indent)
  return [...comma, { at, end: at, text: written + trailing }]
}

function lineOfLast(text: string): number {
  const json = new JsonText(text)
  const parsed = json.parse()
  const value = 'value' in parsed ? (parsed.value as { readonly cases: readonly unknown[] }) : { cases: [] }
  return json.lineOf(under(CASES, value.cases.length - 1))
}

/** Writes all of it or nothing. */
function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    placeWhole(path, (draft) => writeFileSync(draft, text, { flag: 'wx' }))
  } catch (error) {
    throw notRecorded(path, textOf(error))
  }
}

function notRecorded(path: string, why: string): Refusal {
  return new Refusal('NOT_RECORDED', `The case was not added to ${placeOf({ file: path })}: ${why}`, {
    hint: 'Name a hooks.test.json, or a file that does not exist yet.',
  })
}
