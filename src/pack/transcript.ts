// The transcript that a host writes, in JSON lines: its end, the conversation in it, and exports of it.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isObject } from '../core/base/json.js'
import { redactedData, withoutSecrets } from '../core/base/secrets.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { userHome } from '../files/homes.js'
import { ifThere } from '../files/if-there.js'
import { nonce } from '../files/nonce.js'
import { removeIfThere } from '../files/plain-file.js'
import type { PackState } from './state.js'

/** Opening must not wait for the writer of a pipe, nor acquire a controlling terminal. */
const OPEN = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

interface Tail {
  readonly lines: readonly string[]
  /** Whether earlier lines were left out. */
  readonly cut: boolean
}

/** Undefined if there is none: a new session has not written one yet. Throws if it cannot be read. */
export function transcriptTail(path: string | undefined, maxBytes: number): Tail | undefined {
  const place = path?.startsWith('~/') ? join(userHome(), path.slice(2)) : path
  // Hosts do not say what a relative path would be relative to.
  if (!place || !isAbsolute(place)) return undefined
  const fd = ifThere(() => openSync(place, OPEN))
  if (fd === undefined) return undefined
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error('the transcript is not a regular file')
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

/** Drops the first line of a tail, which is only the end of a line. */
function linesOf(bytes: Buffer, cut: boolean): Tail {
  const lines = bytes.toString('utf8').split('\n')
  return { lines: (cut ? lines.slice(1) : lines).filter((line) => line.trim() !== ''), cut }
}

// ---- what was said --------------------------------------------------------------------------------------------

interface Said {
  readonly by: 'user' | 'assistant'
  readonly text: string
}

export interface Conversation {
  readonly said: readonly Said[]
  /** Files that tools were told to write, without duplicates, latest first. */
  readonly files: readonly string[]
}

/** Reads the formats of known hosts and skips other lines. */
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

/** Claude Code puts the message in `message`, Codex in `payload`, others at the top level. */
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
    // The host may still be writing this line.
    return undefined
  }
}

// ---- exports: the newest transcripts from before a compaction, without secrets ---------------------------------

const MOST_EXPORTS = 10
const MAX_EXPORTED = 32 * 1024 * 1024
const EXPORT = /^\d{15}-[\w-]{0,64}\.jsonl$/

const FOLDER = 'transcripts'

/** Returns the path of the export. Undefined if the pack may not keep anything. Throws if it cannot be written. */
export function exportTranscript(
  state: PackState,
  tail: Tail,
  session: string,
  now: number,
): string | undefined {
  const folder = state.place(FOLDER)
  if (folder === undefined) return undefined
  makePrivate(folder)
  // The name sorts by age, and is valid whatever the id contains.
  const name = `${String(now).padStart(15, '0')}-${session.replace(/[^\w-]/g, '_').slice(0, 64)}.jsonl`
  const path = join(folder, name)
  const draft = `${path}.${nonce()}.tmp`
  try {
    writeExport(draft, tail)
    renameSync(draft, path)
  } catch (error) {
    removeIfThere(draft)
    throw error
  }
  removeOldest(folder)
  return path
}

function writeExport(path: string, { lines, cut }: Tail): void {
  const fd = openSync(path, 'wx', 0o600)
  try {
    if (cut) writeFileSync(fd, `${JSON.stringify({ type: 'cut', note: 'earlier lines were left out' })}\n`)
    for (const line of lines) writeFileSync(fd, `${withoutSecretsIn(line)}\n`)
  } finally {
    closeSync(fd)
  }
}

/** Works on parsed data: keys tell which values are secret, and no text is cut inside an escape. */
function withoutSecretsIn(line: string): string {
  try {
    return JSON.stringify(redactedData(JSON.parse(line)))
  } catch {
    return JSON.stringify({ type: 'unreadable', text: withoutSecrets(line) })
  }
}

export function newestExport(state: PackState): string | undefined {
  const folder = state.place(FOLDER)
  const name = folder && exportsIn(folder).at(0)
  return folder && name ? join(folder, name) : undefined
}

/** Newest first. */
function exportsIn(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => EXPORT.test(name))
    .sort()
    .reverse()
}

function removeOldest(folder: string): void {
  let bytes = 0
  for (const [i, name] of exportsIn(folder).entries()) {
    const path = join(folder, name)
    bytes += ifThere(() => lstatSync(path))?.size ?? 0
    if (i > 0 && (i >= MOST_EXPORTS || bytes > MAX_EXPORTED)) removeIfThere(path)
  }
}
