// The payload of an event: reading it, which event it is of, and an example of one.

import { closeSync, openSync } from 'node:fs'
import { readInputBytes, readWhole } from '../../author/hook-process.js'
import { textOf } from '../../core/base/errors.js'
import { inexactNumber } from '../../core/base/exact-numbers.js'
import { type Data, frozenCopy, isObject } from '../../core/base/json.js'
import { parseJson } from '../../core/base/strict-json.js'
import { nearest } from '../../core/base/text.js'
import type { FieldType } from '../../core/events/catalogue.js'
import { type EventKind, knownEvents, resolveEvent } from '../../core/events/events.js'
import { canonicalPayload, InvalidHookInput, TOOL_INPUT_NAMES } from '../../hosts/payload.js'
import { isTerminal } from '../print/terminal.js'
import { Refusal, usage } from '../refusal.js'

export type Payload = { readonly [key: string]: unknown }

const STDIN = 0

interface InputOptions {
  /** Text in place of the standard input of the process. */
  readonly stdin?: string | undefined
  /** Bounds the wait for standard input, which its sender may never close. */
  readonly seconds?: number | undefined
}

/** What was sent. */
interface Sent {
  /** Undefined for an empty input. */
  readonly payload?: Payload
  /** The path of a number that is not kept as it was sent. */
  readonly inexact?: string | undefined
}

export async function readPayload(file: string | undefined, options: InputOptions): Promise<Sent> {
  const isInput = file === undefined || file === '-'
  const what = isInput ? 'standard input' : file
  const text = (isInput ? await inputText(options) : decoded(readFile(file), what)).trim()
  if (text === '') return {}
  const payload = parsed(text, what)
  return { payload, inexact: inexactIn(text, payload) }
}

/** Some hosts send a tool's input as JSON in a string. One that is not JSON is refused later. */
function inexactIn(text: string, payload: Payload): string | undefined {
  const inputs = TOOL_INPUT_NAMES.map((name) => payload[name]).filter((input) => typeof input === 'string')
  return inexactNumber(text) ?? inputs.map((input) => inexactNumber(input)).find((path) => path !== undefined)
}

/** Hooks would judge, and a person approve, another call than the one that runs. */
export function checkExact(event: string, path: string | undefined): void {
  if (path === undefined || resolveEvent(event).deny !== 'block') return
  throw new Refusal(
    'PAYLOAD_INVALID',
    `${path} is a number that cannot be kept exactly: hooks would judge a different number than the tool gets`,
    { hint: 'Send it as a string, or with fewer digits.' },
  )
}

export async function inputText({ stdin, seconds }: InputOptions): Promise<string> {
  if (stdin !== undefined) return stdin
  if (isTerminal(STDIN)) throw nothingPiped()
  return decoded(await readInput(seconds), 'standard input')
}

/** Waiting for somebody to type JSON would look like a hang. */
function nothingPiped(): Refusal {
  return usage(
    'No payload: standard input is a terminal',
    `Pipe it, or name a file: echo '{"tool_name":"Bash","tool_input":{"command":"ls"}}' | carabiner fire PreToolUse`,
  )
}

function decoded(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw notJson(what, 'it is not UTF-8')
  }
}

function parsed(text: string, what: string): Payload {
  const value = parseJson(text, (problem, kind) =>
    kind === 'broken'
      ? notJson(what, problem)
      : new Refusal('PAYLOAD_INVALID', `The payload from ${what} is refused: ${problem}`, HINTS[kind]),
  )
  if (isObject(value)) return frozenCopy(value, 'the payload') as Payload
  throw new Refusal('PAYLOAD_INVALID', `The payload from ${what} must be a JSON object`, {
    hint: `Wrap it: {"hook_event_name":"PreToolUse", …}`,
  })
}

const HINTS = { repeated: { hint: 'Send each key once.' }, 'too deep': {} } as const

/** Quotes nothing of the payload: the message reaches agents and logs. */
function notJson(what: string, why: string): Refusal {
  return new Refusal('PAYLOAD_NOT_JSON', `The payload from ${what} cannot be read as JSON: ${why}`, {
    hint: 'Send one JSON object in UTF-8, and nothing else.',
  })
}

async function readInput(seconds?: number): Promise<Buffer> {
  try {
    return await readInputBytes(seconds)
  } catch (error) {
    throw unreadable('standard input', error)
  }
}

function readFile(file: string): Buffer {
  let fd: number | undefined
  try {
    fd = openSync(file, 'r')
    return readWhole(fd)
  } catch (error) {
    throw unreadable(file, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function unreadable(what: string, error: unknown): Refusal {
  return new Refusal('PAYLOAD_UNREADABLE', `The payload cannot be read from ${what}: ${textOf(error)}`, {
    hint: 'Check the path and its permissions, or pipe the payload; if it takes long to produce, write it to a file first.',
  })
}

// ---- the event ------------------------------------------------------------------------------------------------

/** The payload under the names that hooks read, whoever sent it. */
export function readAsSent(payload: Payload, named?: string): Payload {
  try {
    return canonicalPayload(payload as Data, named)
  } catch (error) {
    if (error instanceof InvalidHookInput) throw new Refusal('PAYLOAD_INVALID', error.message)
    throw error
  }
}

/** The event of a call. The command line and the payload may use different names for it. */
export function eventOf(command: string, named: string | undefined, payload: Payload): string {
  const carried = payload.hook_event_name
  if (carried !== undefined && carried !== null && typeof carried !== 'string') {
    throw new Refusal('PAYLOAD_INVALID', 'hook_event_name must be a string')
  }
  if (named && carried && resolveEvent(named).name !== resolveEvent(carried).name) {
    throw usage(
      `The command line says ${named}, the payload's hook_event_name says ${carried}`,
      'Leave out EVENT, or send the payload of that event.',
    )
  }
  const event = named || carried
  if (event) return event
  if (command === 'fire') {
    throw new Refusal(
      'PAYLOAD_INVALID',
      'Which event? The payload has no hook_event_name, and no EVENT was given',
      {
        hint: 'For example: carabiner fire PreToolUse',
      },
    )
  }
  throw usage('Which event? No EVENT was given', `For example: carabiner ${command} PreToolUse --tool Bash`)
}

/** The event that a misspelt name most likely means. */
export function nearEvent(name: string): string | undefined {
  if (!resolveEvent(name).custom) return undefined
  return nearest(
    name,
    knownEvents().flatMap((known) => [known.name, ...known.aliases]),
  )
}

// ---- an example ------------------------------------------------------------------------------------------------

const BY_TYPE: Readonly<Record<FieldType, unknown>> = {
  string: '…',
  number: 0,
  boolean: true,
  object: {},
  list: [],
  json: 'ok',
}

const BY_FIELD: Readonly<Record<string, unknown>> = {
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_response: { stdout: 'ok' },
  prompt: 'Hello',
  source: 'startup',
  file_path: '/tmp/file.txt',
}

/** Inputs of Claude Code's tools. */
const BY_TOOL: Readonly<Record<string, unknown>> = {
  Bash: BY_FIELD.tool_input,
  Read: { file_path: '/tmp/file.txt' },
  Write: { file_path: '/tmp/file.txt', content: 'Hello' },
  Edit: { file_path: '/tmp/file.txt', old_string: 'Hello', new_string: 'Bye' },
  WebFetch: { url: 'https://example.com/', prompt: 'Hello' },
}

/** Tools with an example of their own. */
export const EXAMPLE_TOOLS = Object.keys(BY_TOOL)

/** A payload with the required fields, as JSON. */
export function examplePayload({ required }: EventKind, tool: unknown = 'Bash'): string {
  const input = { tool_input: Object.hasOwn(BY_TOOL, String(tool)) ? BY_TOOL[String(tool)] : {} }
  const fields = Object.entries(required).map(([field, type]) => [field, exampleOf(field, type)])
  const payload = Object.fromEntries(fields)
  return JSON.stringify('tool_input' in payload ? { ...payload, ...input } : payload)
}

function exampleOf(field: string, type: FieldType): unknown {
  return Object.hasOwn(BY_FIELD, field) ? BY_FIELD[field] : BY_TYPE[type]
}
