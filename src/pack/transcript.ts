// The transcript of a session as its host writes it: JSON lines, of which only the end is read.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { isObject } from '../core/base/json.js'

/** Does not wait for the writer of a pipe, becomes nobody's terminal. */
const OPEN = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

export interface Tail {
  /** Whole lines. */
  readonly lines: readonly string[]
  /** Whether there was more before them. */
  readonly cut: boolean
}

/** Undefined where there is none: a new session has not written one yet. Throws where it cannot be read. */
export function transcriptTail(path: string | undefined, maxBytes: number): Tail | undefined {
  const place = path?.startsWith('~/') ? join(homedir(), path.slice(2)) : path
  // What a relative path is relative to, no host says.
  if (!place || !isAbsolute(place)) return undefined
  let fd: number
  try {
    fd = openSync(place, OPEN)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error('the transcript is no plain file')
    return linesOf(endOf(fd, stats.size, maxBytes), stats.size > maxBytes)
  } finally {
    closeSync(fd)
  }
}

function endOf(fd: number, size: number, maxBytes: number): Buffer {
  const bytes = Buffer.alloc(Math.min(size, maxBytes))
  const start = size - bytes.length
  let length = 0
  for (let read = 1; read > 0 && length < bytes.length; length += read) {
    read = readSync(fd, bytes, length, bytes.length - length, start + length)
  }
  return bytes.subarray(0, length)
}

/** The first line of a tail is only the end of one. */
function linesOf(bytes: Buffer, cut: boolean): Tail {
  const lines = bytes.toString('utf8').split('\n')
  return { lines: (cut ? lines.slice(1) : lines).filter((line) => line.trim() !== ''), cut }
}

// ---- what was said --------------------------------------------------------------------------------------------

export interface Said {
  readonly by: 'user' | 'assistant'
  readonly text: string
}

export interface Conversation {
  readonly said: readonly Said[]
  /** Files that tools were told to write, the last first, each once. */
  readonly files: readonly string[]
}

/** Whatever the host's shape, as far as it is one of those that are known; the rest is passed over. */
export function conversationIn(lines: readonly string[]): Conversation {
  const said: Said[] = []
  const files = new Set<string>()
  for (const line of lines) {
    const message = messageIn(line)
    if (!message) continue
    const text = textIn(message.content)
    if (text !== '') said.push({ by: message.by, text })
    for (const file of writtenIn(message.content)) {
      files.delete(file)
      files.add(file)
    }
  }
  return { said, files: [...files].toReversed() }
}

/** Claude Code has it in `message`, Codex in `payload`, others at the top. */
function messageIn(line: string): { readonly by: Said['by']; readonly content: unknown } | undefined {
  const entry = parsed(line)
  if (!isObject(entry) || entry.isMeta === true) return undefined
  const inner = isObject(entry.message) ? entry.message : isObject(entry.payload) ? entry.payload : entry
  const by = inner.role ?? entry.type
  if (by !== 'user' && by !== 'assistant') return undefined
  return { by, content: inner.content }
}

const TEXTS: readonly unknown[] = ['text', 'input_text', 'output_text']

function textIn(content: unknown): string {
  if (typeof content === 'string') return content.trim()
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part: unknown) =>
      isObject(part) && TEXTS.includes(part.type) && typeof part.text === 'string' ? [part.text] : [],
    )
    .join('\n')
    .trim()
}

const WRITERS = /write|edit|create|replace|patch/i
const PATHS = ['file_path', 'filePath', 'notebook_path', 'path']

function writtenIn(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown) => {
    if (!isObject(part) || part.type !== 'tool_use' || !WRITERS.test(String(part.name))) return []
    const { input } = part
    if (!isObject(input)) return []
    const path = PATHS.map((key) => input[key]).find((value) => typeof value === 'string')
    return path === undefined ? [] : [path as string]
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The host may just be writing this line.
    return undefined
  }
}
