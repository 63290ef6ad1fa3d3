// The payload of an event: read whole from a file or standard input, and which event it is of.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { resolveEvent } from '../core/events.js'
import { frozenCopy, isObject } from '../core/json.js'
import { isCode } from './output.js'
import { Refusal, usage } from './refusal.js'
import { isTerminal } from './terminal.js'

export type Payload = { readonly [key: string]: unknown }

const STDIN = 0
/** No host sends more; a device that never ends would. */
const LARGEST = 64 * 1024 * 1024
const CHUNK = 64 * 1024

/** An empty input has no payload. `seconds` bound the wait for standard input, which its sender may never close. */
export async function readPayload(file: string | undefined, seconds?: number): Promise<Payload | undefined> {
  const stdin = file === undefined || file === '-'
  if (stdin && isTerminal(STDIN)) throw nothingPiped()
  const what = stdin ? 'standard input' : file
  const text = decoded(stdin ? await readInput(seconds) : readFile(file), what).trim()
  return text === '' ? undefined : parsed(text, what)
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
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw notJson(what, error instanceof Error ? error.message : String(error))
  }
  // What is nested without end would break whoever copies or prints it.
  if (isObject(value)) return frozenCopy(value, 'the payload') as Payload
  throw new Refusal('PAYLOAD_INVALID', `The payload from ${what} must be a JSON object`, {
    hint: `Wrap it: {"hook_event_name":"PreToolUse", …}`,
  })
}

function notJson(what: string, why: string): Refusal {
  return new Refusal('PAYLOAD_NOT_JSON', `The payload from ${what} is not JSON: ${why}`, {
    hint: 'Send one JSON object in UTF-8, and nothing else.',
  })
}

// ---- bytes ----------------------------------------------------------------------------------------------------

function readFile(file: string): Buffer {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch (error) {
    throw unreadable(file, error)
  }
  try {
    const chunks: Buffer[] = []
    readChunks(fd, chunks, file)
    return Buffer.concat(chunks)
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable(file, error)
  } finally {
    closeSync(fd)
  }
}

/** Synchronously, which spares the start of every stream; as a stream only where the input or the reader cannot wait. */
async function readInput(seconds?: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  if (seconds !== undefined && mayBlock()) {
    await inSeconds(seconds, readStream(chunks))
    return Buffer.concat(chunks)
  }
  try {
    readChunks(STDIN, chunks, 'standard input')
  } catch (error) {
    if (!isCode(error, 'EAGAIN')) throw error instanceof Refusal ? error : unreadable('standard input', error)
    await readStream(chunks)
  }
  return Buffer.concat(chunks)
}

async function readStream(chunks: Buffer[]): Promise<void> {
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer)
      checkSize(chunks, 'standard input')
    }
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable('standard input', error)
  }
}

/** A file has an end; a pipe has one when its sender says so. */
function mayBlock(): boolean {
  try {
    const stat = fstatSync(STDIN)
    return stat.isFIFO() || stat.isSocket()
  } catch {
    return false // closed: reading it says so
  }
}

async function inSeconds(seconds: number, reading: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const why = new Refusal('PAYLOAD_UNREADABLE', `The payload was not there within ${seconds} seconds`, {
      hint: 'Whoever sends it must close standard input after it.',
    })
    timer = setTimeout(() => reject(why), seconds * 1000)
  })
  try {
    await Promise.race([reading, late])
  } finally {
    clearTimeout(timer)
  }
}

function readChunks(fd: number, chunks: Buffer[], what: string): void {
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const length = readSync(fd, chunk)
    if (length === 0) return
    chunks.push(chunk.subarray(0, length))
    checkSize(chunks, what)
  }
}

function checkSize(chunks: readonly Buffer[], what: string): void {
  if (chunks.length * CHUNK <= LARGEST) return
  if (chunks.reduce((sum, { length }) => sum + length, 0) <= LARGEST) return
  throw new Refusal('PAYLOAD_UNREADABLE', `The payload from ${what} is larger than 64 MiB`, {
    hint: 'Send less: a payload is what hooks read, not a whole transcript.',
  })
}

function unreadable(what: string, error: unknown): Refusal {
  const why = error instanceof Error ? error.message : String(error)
  return new Refusal('PAYLOAD_UNREADABLE', `The payload cannot be read from ${what}: ${why}`, {
    hint: 'Check the path and its permissions, or pipe the payload.',
  })
}

// ---- the event ------------------------------------------------------------------------------------------------

/** The event that was named; two names for one event agree. */
export function eventOf(command: string, named: string | undefined, payload: Payload): string {
  const carried = payload.hook_event_name
  if (carried !== undefined && carried !== null && typeof carried !== 'string') {
    throw new Refusal('PAYLOAD_INVALID', 'hook_event_name must be a string')
  }
  if (named && carried && resolveEvent(named).name !== resolveEvent(carried).name) {
    throw usage(
      `The command line says ${named}, the payload's hook_event_name says ${carried}`,
      'Leave the EVENT out, or send the payload of that event.',
    )
  }
  const event = named || carried
  if (event) return event
  if (command === 'fire') {
    throw new Refusal(
      'PAYLOAD_INVALID',
      'Which event? The payload has no hook_event_name, and no EVENT was given',
      {
        hint: 'Name it, as in: carabiner fire PreToolUse',
      },
    )
  }
  throw usage(
    'Which event? No EVENT was given',
    `Name it, as in: carabiner ${command} PreToolUse --tool Bash`,
  )
}
