// A tar archive as a tree, from a file or an address: files, folders and symbolic links, as ustar, pax and GNU write them.

import { gunzipSync } from 'node:zlib'
import { textOf } from '../../core/base/errors.js'
import { visibleName } from '../../core/base/text.js'
import { readPlainBytes } from '../../files/plain-file.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree, pathOfBytes } from './file-tree.js'
import { MOST_BYTES, MOST_ENTRIES, tooLarge } from './limits.js'
import { NO_ZIP } from './source.js'

/*
 * Written by hand on purpose: a library would interpret odd entries (a link, two sizes, three names), and we would have
 * to check the result. Here anything odd is refused.
 */

const BLOCK = 512
/** Headers, padding and long names come on top of the contents. */
const MOST_UNPACKED = MOST_BYTES + 4 * BLOCK * MOST_ENTRIES
/** The largest header with a long name or attributes. */
const MOST_HEAD = 64 * 1024

/** Names for entry types that are refused. */
const KINDS: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a named pipe',
  S: 'a sparse file',
}

/** The limit applies to the output, whatever the archive says about its size. */
function gunzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(undefined, MOST_BYTES)
    throw broken('is incomplete or not gzip')
  }
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** Attributes that headers give to the next entry. */
interface Attributes {
  path?: string
  link?: string
  size?: number
}

function readTar(bytes: Buffer, tree: FileTree): void {
  let next: Attributes = {}
  let heads = 0
  let at = 0
  for (; at + BLOCK <= bytes.length; ) {
    const head = bytes.subarray(at, at + BLOCK)
    if (head.every((byte) => byte === 0)) return
    if (++heads > 4 * MOST_ENTRIES) throw broken('has too many headers')
    checkSum(head)
    const type = String.fromCharCode(head[156] || 0x30)
    const size = isAbout(type) ? sizeIn(head) : (next.size ?? sizeIn(head))
    const start = at + BLOCK
    if (start + size > bytes.length) throw broken('ends too early')
    const content = bytes.subarray(start, start + size)
    at = start + Math.ceil(size / BLOCK) * BLOCK
    if (isAbout(type)) {
      next = { ...next, ...attributesOf(type, content) }
      continue
    }
    const path = next.path ?? nameIn(head)
    if (type === '2') tree.addLink(path, next.link ?? targetIn(head))
    else addEntry(tree, type, path, head, content)
    next = {}
  }
  if (heads === 0) throw broken('is not a tar archive')
}

/** A header about the next entry, or about all entries. */
function isAbout(type: string): boolean {
  return type === 'L' || type === 'K' || type === 'x' || type === 'g'
}

function addEntry(tree: FileTree, type: string, path: string, head: Buffer, content: Buffer): void {
  const isFile = type === '0' || type === '7'
  if (type === '5' || (isFile && path.endsWith('/'))) tree.addFolder(path)
  else if (!isFile) tree.refuse(path, KINDS[type] ?? `an entry of unknown type (${JSON.stringify(type)})`)
  else tree.addFile(path, content, (numberIn(head, 100, 8) & 0o111) !== 0)
}

function attributesOf(type: string, content: Buffer): Attributes {
  if (content.length > MOST_HEAD) throw broken('has a header that is too long')
  if (type === 'K') return { link: pathOfBytes(upToNul(content)) }
  if (type === 'L') return { path: pathOfBytes(upToNul(content)) }
  return paxAttributes(content, type === 'g')
}

/** Records of `length key=value\n`. */
function paxAttributes(content: Buffer, isForAll: boolean): Attributes {
  const found: Attributes = {}
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const length = space < 0 ? Number.NaN : Number(content.toString('latin1', at, space))
    const end = at + length
    if (!Number.isInteger(length) || end <= space || end > content.length || content[end - 1] !== 0x0a) {
      throw broken('has malformed attributes')
    }
    const record = content.subarray(space + 1, end - 1)
    const sign = record.indexOf(0x3d)
    const key = record.toString('latin1', 0, Math.max(0, sign))
    const value = record.subarray(sign + 1)
    if (key.startsWith('GNU.sparse.')) throw broken('contains a sparse file')
    if (isForAll && /^(?:path|linkpath|size)$/.test(key))
      throw broken('gives the same path or size to all files')
    if (key === 'path') found.path = pathOfBytes(value)
    if (key === 'linkpath') found.link = pathOfBytes(value)
    if (key === 'size') found.size = wholeNumber(value.toString('latin1'), 10)
    at = end
  }
  return found
}

// ---- fields of a header ---------------------------------------------------------------------------------------

function checkSum(head: Buffer): void {
  let sum = 0
  for (const [i, byte] of head.entries()) sum += i >= 148 && i < 156 ? 0x20 : byte
  if (numberIn(head, 148, 8) !== sum) throw broken('is damaged or not a tar archive')
}

function sizeIn(head: Buffer): number {
  return numberIn(head, 124, 12)
}

/** Octal digits. A size too large for them is over every limit here anyway. */
function numberIn(head: Buffer, at: number, length: number): number {
  const text = upToNul(head.subarray(at, at + length))
    .toString('latin1')
    .trim()
  return text === '' ? 0 : wholeNumber(text, 8)
}

function wholeNumber(text: string, base: 8 | 10): number {
  const isNumber = base === 8 ? /^[0-7]{1,12}$/ : /^\d{1,12}$/
  if (!isNumber.test(text)) throw broken('has a malformed number')
  return Number.parseInt(text, base)
}

function nameIn(head: Buffer): string {
  const name = upToNul(head.subarray(0, 100))
  const isUstar = head.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isUstar ? upToNul(head.subarray(345, 500)) : Buffer.alloc(0)
  return pathOfBytes(prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]))
}

function targetIn(head: Buffer): string {
  return pathOfBytes(upToNul(head.subarray(157, 257)))
}

function upToNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

function broken(what: string): PluginProblem {
  return new PluginProblem(
    'ARCHIVE_INVALID',
    `The archive ${what}`,
    'Download it again, or rebuild it with tar.',
  )
}

// ---- from a file or an address --------------------------------------------------------------------------------

export const MOST_PACKED_BYTES = 64 * 1024 * 1024
const DOWNLOAD_MS = 180_000

export function readArchive(bytes: Buffer): FileTree {
  if (isZip(bytes)) throw new PluginProblem('ARCHIVE_INVALID', 'The archive is a zip archive', NO_ZIP)
  const tree = new FileTree()
  readTar(isGzip(bytes) ? gunzipped(bytes) : bytes, tree)
  return tree
}

function isZip(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b
}

/** `place` is an absolute path or an address. */
export async function fetchArchive(place: string): Promise<FileTree> {
  return readArchive(/^https?:/i.test(place) ? await downloaded(place) : fileAt(place))
}

function fileAt(path: string): Buffer {
  let read: ReturnType<typeof readPlainBytes>
  try {
    read = readPlainBytes(path, MOST_PACKED_BYTES)
  } catch (error) {
    read = { problem: `cannot be read: ${textOf(error)}` }
  }
  if ('problem' in read) throw new PluginProblem('SOURCE_NOT_FOUND', `${visibleName(path)} ${read.problem}`)
  return read.bytes
}

async function downloaded(address: string): Promise<Buffer> {
  const signal = AbortSignal.timeout(DOWNLOAD_MS)
  try {
    return await bodyOf(await responseOf(address, signal), address)
  } catch (error) {
    if (error instanceof PluginProblem) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new PluginProblem('FETCH_FAILED', `Cannot fetch ${visibleName(address)}: ${textOf(cause)}`)
  }
}

/** Follows redirects here, so that each one is checked. */
async function responseOf(address: string, signal: AbortSignal): Promise<Response> {
  const { leadsOn, MOST_REDIRECTS, redirectIn } = await import('./redirect.js')
  let url = new URL(address)
  for (let n = 0; n <= MOST_REDIRECTS; n++) {
    const response = await fetch(url, { redirect: 'manual', signal, credentials: 'omit' })
    if (response.ok) return response
    await response.body?.cancel()
    const next = await redirectIn(response, url, address)
    if (!next) throw new PluginProblem('FETCH_FAILED', `${visibleName(address)} answered ${response.status}`)
    url = next
  }
  throw leadsOn(address)
}

async function bodyOf(response: Response, address: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MOST_PACKED_BYTES) {
      throw new PluginProblem(
        'TOO_LARGE',
        `${visibleName(address)} is larger than ${MOST_PACKED_BYTES / 1024 / 1024} MiB`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
