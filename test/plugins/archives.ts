// Archives made byte by byte, so that they can hold what no honest program packs.

import { crc32, deflateRawSync } from 'node:zlib'

export interface TarEntry {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  readonly type?: string
  readonly mode?: number
  readonly link?: string
  readonly prefix?: string
  /** What the head says of its size. */
  readonly size?: number
}

export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)])
}

function tarEntry({
  name,
  content = '',
  type = '0',
  mode = 0o644,
  link = '',
  prefix = '',
  size,
}: TarEntry): Buffer {
  const bytes = Buffer.from(content)
  const head = Buffer.alloc(512)
  Buffer.from(name).copy(head, 0, 0, 100)
  head.write(mode.toString(8).padStart(7, '0'), 100)
  head.write((size ?? bytes.length).toString(8).padStart(11, '0'), 124)
  head.write('        ', 148)
  head.write(type, 156, 'latin1')
  head.write(link, 157)
  head.write('ustar\u000000', 257)
  head.write(prefix, 345)
  const sum = head.reduce((all, byte) => all + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

/** The head of attributes before an entry, or before all. */
export function paxEntry(attributes: Readonly<Record<string, string>>, type: 'x' | 'g' = 'x'): TarEntry {
  const records = Object.entries(attributes).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`
    let length = Buffer.byteLength(rest)
    while (String(length).length + Buffer.byteLength(rest) !== length)
      length = String(length).length + Buffer.byteLength(rest)
    return `${length}${rest}`
  })
  return { name: 'PaxHeader', type, content: records.join('') }
}

export interface ZipEntry {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  /** Of Unix, with the type. */
  readonly mode?: number
  readonly isPacked?: boolean
  /** What the directory says of its size. */
  readonly size?: number
  /** The name in its own head. */
  readonly localName?: string
  readonly flags?: number
  readonly method?: number
}

export function zipOf(entries: readonly ZipEntry[], comment = ''): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const entry of entries) {
    const { mode = 0o100644, isPacked = true, flags = 0 } = entry
    const name = Buffer.from(entry.name)
    const localName = Buffer.from(entry.localName ?? entry.name)
    const content = Buffer.from(entry.content ?? '')
    const packed = isPacked ? deflateRawSync(content) : content
    const method = entry.method ?? (isPacked ? 8 : 0)
    const size = entry.size ?? content.length
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(flags, 6)
    local.writeUInt16LE(method, 8)
    local.writeUInt32LE(crc32(content), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(localName.length, 26)
    const head = Buffer.alloc(46)
    head.writeUInt32LE(0x02014b50, 0)
    head.writeUInt8(3, 5)
    head.writeUInt16LE(flags, 8)
    head.writeUInt16LE(method, 10)
    head.writeUInt32LE(crc32(content), 16)
    head.writeUInt32LE(packed.length, 20)
    head.writeUInt32LE(size, 24)
    head.writeUInt16LE(name.length, 28)
    head.writeUInt32LE((mode << 16) >>> 0, 38)
    head.writeUInt32LE(at, 42)
    locals.push(local, localName, packed)
    directory.push(head, name)
    at += local.length + localName.length + packed.length
  }
  const size = directory.reduce((all, part) => all + part.length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  end.writeUInt16LE(Buffer.byteLength(comment), 20)
  return Buffer.concat([...locals, ...directory, end, Buffer.from(comment)])
}
