// Reading a zip archive into a tree: by its directory, each entry checked against its own head. What is odd is refused.

import { crc32, inflateRawSync } from 'node:zlib'
import { PluginProblem } from '../plugin-problem.js'
import { pathOfBytes } from './entry-path.js'
import { type FileTree, MOST_BYTES, MOST_FILE_BYTES, tooLarge } from './file-tree.js'

const [END, ENTRY, LOCAL] = [0x06054b50, 0x02014b50, 0x04034b50]
const [END_SIZE, ENTRY_SIZE, LOCAL_SIZE] = [22, 46, 30]
const LONGEST_COMMENT = 0xffff

/** An entry as the directory has it. */
interface Entry {
  readonly name: Buffer
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  /** 0 where it was made on a system without modes. */
  readonly mode: number
  readonly at: number
}

export function isZip(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b
}

export function readZip(bytes: Buffer, tree: FileTree): void {
  const end = findEnd(bytes)
  const [count, from] = [bytes.readUInt16LE(end + 10), bytes.readUInt32LE(end + 16)]
  if (bytes.readUInt16LE(end + 4) !== 0 || bytes.readUInt16LE(end + 8) !== count)
    throw broken('is in several parts')
  if (count === 0xffff || from === 0xffffffff) throw tooLarge(undefined, MOST_BYTES)
  let at = from
  for (let n = 0; n < count; n++) {
    if (at + ENTRY_SIZE > end || bytes.readUInt32LE(at) !== ENTRY)
      throw broken('has a directory that cannot be read')
    const entry = entryAt(bytes, at)
    at += ENTRY_SIZE + entry.name.length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
    add(tree, bytes, entry)
  }
}

/** From behind. Its comment reaches to the end of the file, and the directory to it: no second reading is possible. */
function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_SIZE - LONGEST_COMMENT)
  for (let at = bytes.length - END_SIZE; at >= first; at--) {
    if (bytes.readUInt32LE(at) !== END) continue
    const isLast = at + END_SIZE + bytes.readUInt16LE(at + 20) === bytes.length
    if (isLast && bytes.readUInt32LE(at + 16) + bytes.readUInt32LE(at + 12) === at) return at
  }
  throw broken('is not whole, or no zip')
}

function entryAt(bytes: Buffer, at: number): Entry {
  const nameEnd = at + ENTRY_SIZE + bytes.readUInt16LE(at + 28)
  if (nameEnd > bytes.length) throw broken('has a directory that cannot be read')
  const isUnix = [3, 19].includes(bytes.readUInt8(at + 5))
  return {
    name: bytes.subarray(at + ENTRY_SIZE, nameEnd),
    flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    packed: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    mode: isUnix ? bytes.readUInt16LE(at + 40) : 0,
    at: bytes.readUInt32LE(at + 42),
  }
}

const [TYPE, LINK, FOLDER, FILE] = [0o170000, 0o120000, 0o040000, 0o100000]

function add(tree: FileTree, bytes: Buffer, entry: Entry): void {
  const path = pathOfBytes(entry.name)
  const type = entry.mode & TYPE
  if (type === LINK) tree.refuse(path, 'a symbolic link')
  if (type !== 0 && type !== FOLDER && type !== FILE) tree.refuse(path, 'a device, a pipe or a socket')
  if (path.endsWith('/') || type === FOLDER) tree.addFolder(path)
  else tree.addFile(path, contentOf(bytes, entry, path, tree.room), (entry.mode & 0o111) !== 0)
}

const [ENCRYPTED, STORED, DEFLATED] = [0x1, 0, 8]

function contentOf(bytes: Buffer, entry: Entry, path: string, room: number): Buffer {
  if ((entry.flags & ENCRYPTED) !== 0) tellUnreadable(path, 'is encrypted')
  const packed = packedOf(bytes, entry, path)
  const content = unpacked(packed, entry.method, path, room)
  if (content.length !== entry.size || crc32(content) !== entry.crc) tellUnreadable(path, 'is damaged')
  return content
}

/** Its own head must give it the same name: who reads by the one must not get another file than who reads by the other. */
function packedOf(bytes: Buffer, { at, name, packed }: Entry, path: string): Buffer {
  if (at + LOCAL_SIZE > bytes.length || bytes.readUInt32LE(at) !== LOCAL)
    tellUnreadable(path, 'is not where the directory says')
  const nameEnd = at + LOCAL_SIZE + bytes.readUInt16LE(at + 26)
  if (!bytes.subarray(at + LOCAL_SIZE, nameEnd).equals(name)) tellUnreadable(path, 'has two names')
  const start = nameEnd + bytes.readUInt16LE(at + 28)
  if (start + packed > bytes.length) tellUnreadable(path, 'ends too early')
  return bytes.subarray(start, start + packed)
}

/** Stops by what comes out. */
function unpacked(packed: Buffer, method: number, path: string, room: number): Buffer {
  if (method === STORED) return packed
  if (method !== DEFLATED) tellUnreadable(path, `is packed in a way that is not known (${method})`)
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, room) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw room < MOST_FILE_BYTES ? tooLarge(undefined, MOST_BYTES) : tooLarge(path, MOST_FILE_BYTES)
    }
    return tellUnreadable(path, 'is damaged')
  }
}

function tellUnreadable(path: string, what: string): never {
  throw broken(`cannot be read: ${JSON.stringify(path.slice(0, 200))} ${what}`)
}

function broken(what: string): PluginProblem {
  return new PluginProblem('ARCHIVE_INVALID', `The archive ${what}`, 'Fetch it again, or pack it anew.')
}
