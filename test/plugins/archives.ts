// Archives made byte by byte, so that they can hold what no honest program packs.

export interface TarEntry {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  readonly type?: string
  readonly mode?: number
  readonly link?: string
  readonly prefix?: string
  /** The size that the header claims. */
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

/** A header with attributes for the next entry, or for all. */
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

/** The first bytes of a zip archive, which are all that anybody looks at. */
export const ZIP = Buffer.from('PK\u0003\u0004 and so on', 'latin1')
