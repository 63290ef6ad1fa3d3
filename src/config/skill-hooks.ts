// The hooks in the front matter of a SKILL.md, as JSON. Reads the YAML that such files use, and names the parts it refuses.

/*
 * A YAML library would add 50 ms to every event. Anything unsupported is reported with its line: nothing is guessed, and
 * no hook is lost silently.
 */

type Scalar = string | number | boolean | null

type Node =
  | { readonly line: number; readonly value: Scalar }
  | { readonly line: number; readonly items: readonly Node[] }
  | { readonly line: number; readonly entries: readonly (readonly [key: string, node: Node])[] }

interface Line {
  /** Counted from 1. */
  readonly number: number
  readonly indent: number
  readonly text: string
  /** Including trailing spaces. */
  readonly whole: string
}

class Odd extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** JSON with each value on the same line as in SKILL.md, a problem with unreadable hooks, or both. Undefined without hooks. */
export function hooksInSkill(
  raw: string,
): { readonly json?: string; readonly problem?: string; readonly line?: number } | undefined {
  // The file may be UTF-16 that was read as UTF-8.
  const text = raw.replace(/^[\uFEFF\uFFFD]+|\0/g, '')
  const lines = text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  const start = lines.findIndex((line) => line.trim() !== '')
  if (!MARKER.test(lines[start] ?? '')) return undefined
  const end = endOf(lines, start)
  const head = lines.slice(0, end ?? lines.length)
  if (!MENTIONED.test(unescaped(head.join('\n')))) return inSecond(lines, head.length)
  try {
    if (text.length !== raw.replace(/^\uFEFF/, '').length) throw new Odd(1, 'the file is not UTF-8')
    if (end === undefined) throw new Odd(head.length, 'no line "---" ends the front matter')
    const at = head.findIndex((line) => HOOKS.test(line))
    const odd = oddLine(head, start)
    if (at < 0) return odd ? problemOf(odd) : inSecond(lines, end)
    if (head.slice(at + 1).some((line) => HOOKS.test(line))) throw new Odd(at + 1, '"hooks" appears twice')
    const after = head.findIndex((line, i) => i > at && /^[^\s#-]/.test(line))
    const node = new Reader(head.slice(0, after < 0 ? head.length : after), at).root()
    return { json: new Writer().text(node), ...(odd && problemOf(odd)) }
  } catch (error) {
    if (!(error instanceof Odd)) throw error
    return problemOf(error)
  }
}

function problemOf({ line, message }: Odd): { readonly problem: string; readonly line: number } {
  const todo = 'write the hooks as in Claude Code’s documentation, or put them in hooks/hooks.json'
  return { problem: `has hooks that cannot be read: ${message}; ${todo}`, line }
}

const MARKER = /^---(?:\s|$)/
const HOOKS = /^(?:hooks|"hooks"|'hooks')\s*:(?:\s|$)/
const MENTIONED = /\bhooks?\b/i

/** The line after the front matter. */
function endOf(lines: readonly string[], start: number): number | undefined {
  for (const marker of [MARKER, /^\.\.\.\s*$/]) {
    const end = lines.findIndex((line, i) => i > start && marker.test(line))
    if (end >= 0) return end
  }
  return undefined
}

/** The text as YAML reads it between double quotes. */
function unescaped(text: string): string {
  return text
    .replace(/\\\n\s*/g, '')
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8}))/gi, (found, ...hex: string[]) => {
      const code = Number.parseInt(hex[0] ?? hex[1] ?? hex[2] ?? '', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : found
    })
}

/** A top-level line that YAML might read as a different key than it seems, such as an escaped "hooks". */
function oddLine(head: readonly string[], start: number): Odd | undefined {
  if (!/^---\s*(?:#.*)?$/.test(head[start] ?? '')) return new Odd(start + 1, 'there is text after "---"')
  let isFirst = true
  for (const [i, line] of head.entries()) {
    if (i <= start || /^\s*(?:#|$)/.test(line)) continue
    if (isFirst && line.startsWith(' ')) return new Odd(i + 1, 'the first key is indented')
    isFirst = false
    if (/^hooks?\s*:/i.test(line.replace(/["']/g, '')) && !HOOKS.test(line))
      return new Odd(i + 1, `${said(line)} is not "hooks:"`)
    if (!PLAIN_LINE.test(line)) return new Odd(i + 1, `${said(line)} is not KEY: VALUE`)
  }
  return undefined
}

/** `key:`, part of a value, an item of a list, or the end of a list in brackets. */
const PLAIN_LINE = /^(?: |[A-Za-z_][\w. -]*:(?:\s|$)|(?:"[^"\\]*"|'[^']*') *:(?:\s|$)|-\s|[\]}]\s*$)/

function said(line: string): string {
  return JSON.stringify(line.slice(0, 60))
}

/** Finds hooks in a second document right after the first one. No agent reads it. */
function inSecond(lines: readonly string[], end: number): ReturnType<typeof problemOf> | undefined {
  const next = endOf(lines, end)
  const second = lines.slice(0, next ?? 0)
  const at = second.findIndex((line, i) => i > end && HOOKS.test(unescaped(line)))
  if (at < 0 || oddLine([...second.slice(0, end), '---', ...second.slice(end + 1)], end)) return undefined
  return problemOf(new Odd(at + 1, 'they are in a second document, after the front matter'))
}

/** `key:`, `"key":`, `'key':` and the rest of the line. Takes linear time, as everything here must: the text is untrusted. */
const KEY =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\-?:,[\]{}#&*!|>'"%@`](?:[^:#]*[^:#\s])?|-[^\s:#]+)\s*:(?:\s+(.*))?$/

const DEEPEST = 20

class Reader {
  readonly #lines: Line[]
  #at: number

  constructor(lines: readonly string[], at: number) {
    this.#lines = lines.map((line, i) => {
      const text = line.trimEnd()
      const indent = text.search(/[^ ]|$/)
      return { number: i + 1, indent, text: text.slice(indent), whole: line.slice(indent) }
    })
    this.#at = at
  }

  root(): Node {
    return this.#mapping(0, 0)
  }

  /** The next line that is neither blank nor a comment. */
  #next(): Line | undefined {
    while (this.#at < this.#lines.length && /^\s*(?:#|$)/.test(this.#lines[this.#at]?.text ?? '')) this.#at++
    const line = this.#lines[this.#at]
    if (line && /^\s/.test(line.text))
      throw new Odd(line.number, 'a tab or another character is where spaces should be')
    return line
  }

  #node(indent: number, depth: number): Node {
    const line = this.#next() as Line
    if (depth > DEEPEST) throw new Odd(line.number, 'it is nested too deeply')
    if (isItem(line)) return this.#sequence(indent, depth)
    if (KEY.test(line.text)) return this.#mapping(indent, depth)
    this.#at++
    return this.#single(line.text, line)
  }

  #mapping(indent: number, depth: number): Node {
    const entries = new Map<string, Node>()
    const first = this.#next() as Line
    for (let line = this.#next(); line && line.indent >= indent; line = this.#next()) {
      const [, key, rest = ''] = KEY.exec(line.text) ?? []
      if (line.indent > indent) throw new Odd(line.number, 'it is indented more than the line above')
      if (key === undefined) {
        if (isItem(line)) break
        throw new Odd(line.number, `${said(line.text)} is not KEY: VALUE`)
      }
      const name = String(scalarOf(key, line.number))
      if (entries.has(name)) throw new Odd(line.number, `${JSON.stringify(name)} appears twice`)
      this.#at++
      entries.set(name, this.#value(rest, line, indent, depth))
    }
    return { line: first.number, entries: [...entries] }
  }

  #sequence(indent: number, depth: number): Node {
    const items: Node[] = []
    const first = this.#next() as Line
    for (let line = this.#next(); line && line.indent === indent && isItem(line); line = this.#next()) {
      const rest = line.text.slice(1).trimStart()
      if (rest === '' || rest.startsWith('#')) {
        this.#at++
        items.push(this.#value('', line, indent, depth))
        continue
      }
      // The text after the dash is a line of its own, with that indentation.
      const inner = indent + line.text.length - rest.length
      this.#lines[this.#at] = { ...line, indent: inner, text: rest }
      if (/^[|>]/.test(rest)) {
        this.#at++
        items.push(this.#value(rest, line, indent, depth))
      } else items.push(this.#node(inner, depth + 1))
    }
    return { line: first.number, items }
  }

  /** `rest` is the text after a key or a dash. */
  #value(rest: string, line: Line, indent: number, depth: number): Node {
    if (/^[|>]/.test(rest)) return { line: line.number, value: this.#block(rest, line, indent) }
    if (rest !== '' && !rest.startsWith('#')) return this.#single(rest, line)
    const next = this.#next()
    const isDeeper = next !== undefined && next.indent > indent
    // A list may have the same indentation as its key.
    if (next && (isDeeper || (next.indent === indent && isItem(next) && !isItem(line))))
      return this.#node(next.indent, depth + 1)
    return { line: line.number, value: null }
  }

  #single(text: string, line: Line): Node {
    const next = this.#lines[this.#at]
    if (next && next.text !== '' && next.indent > line.indent && !next.text.startsWith('#'))
      throw new Odd(next.number, 'a value continues on the next line; write it after "|"')
    if (text === '{}') return { line: line.number, entries: [] }
    if (text === '[]') return { line: line.number, items: [] }
    return { line: line.number, value: scalarOf(text, line.number) }
  }

  /** `|` keeps line breaks, `>` turns them into spaces; `-` drops those at the end, `+` keeps all. */
  #block(header: string, line: Line, parent: number): string {
    const [, style, chomp = ''] = /^([|>])([+-]?)\s*(?:#.*)?$/.exec(header) ?? []
    if (style === undefined)
      throw new Odd(line.number, `${JSON.stringify(header)} is not supported; write "|"`)
    const texts: string[] = []
    let indent: number | undefined
    for (; this.#at < this.#lines.length; this.#at++) {
      const one = this.#lines[this.#at] as Line
      if (one.text === '') {
        texts.push('')
        continue
      }
      indent ??= one.indent
      if (one.indent < indent || one.indent <= parent) break
      texts.push(' '.repeat(one.indent - indent) + one.whole)
    }
    const used = texts.findLastIndex((one) => one !== '') + 1
    const body = texts.slice(0, used).join('\n')
    const blanks = texts.length - used
    const text = style === '|' ? body : folded(body)
    if (chomp === '-' || body === '') return text
    return text + '\n'.repeat(chomp === '+' ? blanks + 1 : 1)
  }
}

function isItem({ text }: Line): boolean {
  return /^-(?:\s|$)/.test(text)
}

/** Lines that begin with a space stay as they are. */
function folded(body: string): string {
  return body.replace(/(?<=^[^\s].*)\n(\n*)(?=[^\s])/gm, (_, blanks: string) =>
    blanks === '' ? ' ' : blanks,
  )
}

function scalarOf(raw: string, line: number): Scalar {
  const text = raw.trim()
  if (text.startsWith('"')) return doubleQuoted(text, line)
  if (text.startsWith("'")) {
    const [, inner] = /^'((?:[^']|'')*)'\s*(?:\s#.*)?$/.exec(text) ?? []
    if (inner === undefined) throw new Odd(line, 'a quoted value does not end on its line')
    return inner.replaceAll("''", "'")
  }
  if (/^[&*!%@`[\]{},]/.test(text)) {
    const todo = /^[[{]/.test(text) ? 'write it line by line' : 'put it in quotes'
    throw new Odd(line, `${said(text)} begins with ${text[0]}; ${todo}`)
  }
  const plain = text.replace(/\s#.*$/, '').trimEnd()
  if (/:(?:\s|$)/.test(plain)) throw new Odd(line, 'a value with ": " in it must be in quotes')
  return plainScalar(plain)
}

function plainScalar(text: string): Scalar {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text) ? Number(text) : text
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  '\\': '\\',
  '/': '/',
  ' ': ' ',
  e: '\x1b',
}

function doubleQuoted(text: string, line: number): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"\s*(?:\s#.*)?$/.exec(text) ?? []
  if (inner === undefined) throw new Odd(line, 'a quoted value does not end on its line')
  return inner.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/g, (found, byte, code, letter) => {
    const hex: string | undefined = byte ?? code
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    const meant = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
    if (meant === undefined) throw new Odd(line, `${JSON.stringify(found)} is not a known escape`)
    return meant
  })
}

/** Writes JSON that keeps every value on the line it came from. */
class Writer {
  #text = ''
  #line = 1

  text(node: Node): string {
    this.#write(node)
    return `${this.#text}\n`
  }

  #write(node: Node): void {
    this.#goTo(node.line)
    if ('value' in node) this.#text += JSON.stringify(node.value)
    else if ('items' in node) {
      this.#text += '['
      for (const [i, item] of node.items.entries()) {
        this.#goTo(item.line)
        if (i > 0) this.#text += ','
        this.#write(item)
      }
      this.#text += ']'
    } else {
      this.#text += '{'
      for (const [i, [key, value]] of node.entries.entries()) {
        if (i > 0) this.#text += ','
        this.#goTo('value' in value ? value.line : value.line - 1)
        this.#text += `${JSON.stringify(key)}:`
        this.#write(value)
      }
      this.#text += '}'
    }
  }

  #goTo(line: number): void {
    if (line <= this.#line) return
    this.#text += '\n'.repeat(line - this.#line)
    this.#line = line
  }
}
