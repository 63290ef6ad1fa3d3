// One top-level key of a YAML file, with the position of every value under it. Reads what configuration files use, and
// names what it does not read: nothing is guessed, because setup changes the text at these positions.

import { type Placed, Unread } from './placed.js'

export type PlacedYaml =
  | { readonly placed: Placed }
  | { readonly problem: string; readonly line: number }
  | undefined

class Odd extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Undefined if the file does not have the key. */
export function placedYaml(text: string, key: string): PlacedYaml {
  try {
    const at = keyAt(text, key)
    if (at === undefined) return undefined
    return { placed: new Yaml(text, at).only() }
  } catch (error) {
    if (!(error instanceof Odd)) throw error
    return { problem: error.message, line: text.slice(0, error.at).split('\n').length }
  }
}

/** Deeper lines belong to other keys, or are text between quotes or after `|`. */
function keyAt(text: string, key: string): number | undefined {
  let at = 0
  let base: number | undefined
  let found: number | undefined
  for (const line of text.split(/(?<=\n)/)) {
    const plain = line.replace(/^\uFEFF/, '').trimEnd()
    const indent = plain.search(/[^ ]|$/)
    const start = at + (line.startsWith('\uFEFF') ? 1 : 0) + indent
    at += line.length
    const rest = plain.slice(indent)
    if (rest === '' || rest.startsWith('#')) continue
    if (base === undefined && /^---(?:\s*#.*)?$/.test(plain)) continue
    if (base === undefined && /^[{[%&!]/.test(rest)) {
      if (text.includes(key)) throw new Odd(start, 'the file is not written as lines of KEY: VALUE')
      return undefined
    }
    base ??= indent
    if (indent === 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(rest)) throw new Odd(start, 'it has several documents')
    if (indent > base) continue
    const named = KEY.exec(rest)?.[1]
    if (named === undefined || unquoted(named) !== key) continue
    if (found !== undefined) throw new Odd(start, `${JSON.stringify(key)} is there twice`)
    found = start
  }
  return found
}

/** A key with its colon. Takes linear time. */
const KEY =
  /^("(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s\-?:,[\]{}#&*!|>'"%@`][^:#\n]*|-[^\s:#]+)[ \t]*:(?=\s|$)/
const DEEPEST = 50

class Yaml {
  readonly #text: string
  #at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  /** The value of the key here. */
  only(): Placed {
    const column = this.#column(this.#at)
    return this.#pair(column, 0)[1]
  }

  // ---- lines ----

  #column(at: number): number {
    const start = this.#text.lastIndexOf('\n', at - 1) + 1
    return at - start - (this.#text.startsWith('\uFEFF', start) ? 1 : 0)
  }

  #char(): string {
    return this.#text[this.#at] ?? ''
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    const end = this.#text.indexOf('\n', this.#at)
    return pattern.exec(this.#text.slice(this.#at, end < 0 ? undefined : end))
  }

  /** Blanks and a comment. Returns whether the line ends here. */
  #endsLine(): boolean {
    this.#at += this.#match(/^[ \t]*(?:(?<=[ \t])#.*)?\r?/)?.[0].length ?? 0
    return this.#char() === '\n' || this.#char() === ''
  }

  /** To the next text, over blank lines and comments. Returns its column, or -1 at the end. */
  #next(): number {
    for (;;) {
      this.#at += this.#match(/^[ \t]*(?:#.*)?\r?/)?.[0].length ?? 0
      if (this.#char() === '') return -1
      if (this.#char() !== '\n') break
      this.#at++
    }
    const column = this.#column(this.#at)
    if (this.#text.slice(this.#at - column, this.#at).includes('\t'))
      throw new Odd(this.#at, 'a tab is where spaces should be')
    return column
  }

  #isItem(): boolean {
    return this.#match(/^-(?:\s|$)/) !== null
  }

  // ---- blocks ----

  #block(column: number, parent: number, depth: number): Omit<Placed, 'startAt'> {
    if (depth > DEEPEST) throw new Odd(this.#at, 'it is nested too deeply')
    if (this.#isItem()) return this.#sequence(column, depth)
    if (this.#match(KEY)) return this.#mapping(column, depth)
    return this.#single(parent)
  }

  #sequence(column: number, depth: number): Omit<Placed, 'startAt'> {
    const at = this.#at
    const items: Placed[] = []
    for (let here = column; here === column && this.#isItem(); here = this.#next()) {
      const startAt = this.#at
      this.#at++
      const after = this.#at
      if (this.#endsLine()) items.push({ startAt, ...this.#below(column, column + 1, after, depth) })
      else items.push({ startAt, ...this.#block(this.#column(this.#at), column, depth + 1) })
    }
    const end = items.at(-1)?.end ?? at
    return { value: items.map(({ value }) => value), at, end, isBlock: true, items }
  }

  #mapping(column: number, depth: number): Omit<Placed, 'startAt'> {
    const at = this.#at
    const pairs = new Map<string, Placed>()
    let here = column
    while (here === column && !this.#isItem()) {
      const startAt = this.#at
      const [key, value] = this.#pair(column, depth)
      if (pairs.has(key)) throw new Odd(startAt, `${JSON.stringify(key)} is there twice`)
      pairs.set(key, value)
      here = this.#next()
    }
    if (here > column) throw new Odd(this.#at, 'it is indented more than the line above')
    const end = [...pairs.values()].at(-1)?.end ?? at
    return { value: valuesOf(pairs), at, end, isBlock: true, pairs }
  }

  #pair(column: number, depth: number): readonly [string, Placed] {
    const startAt = this.#at
    const found = this.#match(KEY)
    if (!found) throw new Odd(startAt, 'it is not KEY: VALUE')
    const key = unquoted(found[1] as string)
    this.#at += found[0].length
    const after = this.#at
    // A list may have the same indentation as its key.
    const value = this.#endsLine() ? this.#below(column, column, after, depth) : this.#single(column)
    return [key, { startAt, ...value }]
  }

  /** The value of a key or a dash with nothing after it. `lists`: the least indentation of a list. */
  #below(column: number, lists: number, after: number, depth: number): Omit<Placed, 'startAt'> {
    const here = this.#next()
    if (here > column || (here >= lists && here >= 0 && this.#isItem()))
      return this.#block(here, column, depth + 1)
    return { value: null, at: after, end: after, isBlock: false }
  }

  // ---- values on a line ----

  /** `parent`: the column of what it belongs to. A line below that is indented more would continue it. */
  #single(parent: number): Omit<Placed, 'startAt'> {
    const at = this.#at
    if (/[|>]/.test(this.#char())) return this.#literal(parent)
    if (/[&!%@`?]/.test(this.#char()) || this.#isItem())
      throw new Odd(at, `${JSON.stringify(this.#char())} begins something that is not read here`)
    const value = /["'[{]/.test(this.#char()) ? this.#flow(0) : this.#plain()
    const [, ...lines] = this.#text.slice(at, this.#at).split('\n')
    if (lines.some((line) => line.trim() !== '' && line.search(/[^ ]/) <= parent))
      throw new Odd(at, 'a line of the value is not indented')
    if (!this.#endsLine()) throw new Odd(this.#at, 'there is text after the value')
    const here = this.#next()
    if (here > parent) throw new Odd(this.#at, 'a value continues on the next line')
    return value
  }

  #plain(): Omit<Placed, 'startAt'> {
    const at = this.#at
    const line = this.#match(/^.*/)?.[0] ?? ''
    const text = line.replace(/[ \t]#.*$/, '').trimEnd()
    if (/:(?:\s|$)/.test(text)) throw new Odd(at, 'a value with ": " in it must be in quotes')
    this.#at += text.length
    return {
      value: text.startsWith('*') ? new Unread(text) : plainValue(text),
      at,
      end: this.#at,
      isBlock: false,
    }
  }

  /** Text after `|` or `>`. Nothing that setup changes is written so. */
  #literal(parent: number): Omit<Placed, 'startAt'> {
    const at = this.#at
    let end = at + (this.#match(/^.*/)?.[0].trimEnd().length ?? 0)
    for (;;) {
      const next = this.#text.indexOf('\n', this.#at)
      if (next < 0) {
        this.#at = this.#text.length
        break
      }
      this.#at = next + 1
      const line = this.#match(/^.*/)?.[0].trimEnd() ?? ''
      if (line === '') continue
      if (line.search(/[^ ]/) <= parent) break
      end = this.#at + line.length
    }
    if (this.#char() !== '') this.#at-- // The line break, so that the next line is read as one.
    return { value: new Unread(this.#text.slice(at, end)), at, end, isBlock: false }
  }

  #flow(depth: number): Omit<Placed, 'startAt'> {
    if (depth > DEEPEST) throw new Odd(this.#at, 'it is nested too deeply')
    const at = this.#at
    if (this.#char() === '[') return this.#flowList(depth)
    if (this.#char() === '{') return this.#flowMap(depth)
    const quoted = this.#match(/^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/)?.[0]
    if (quoted !== undefined) {
      this.#at += quoted.length
      return { value: unquotedAt(quoted, at), at, end: this.#at, isBlock: false }
    }
    if (/["']/.test(this.#char())) throw new Odd(at, 'a quoted value does not end on its line')
    const plain = this.#match(
      /^[^\s,[\]{}&*!|>%@`#](?:[^,[\]{}#:\r]|(?<=\S)#|:(?=[^\s,[\]{}]))*/,
    )?.[0].trimEnd()
    if (plain === undefined) throw new Odd(at, 'it is not a value that is read here')
    this.#at += plain.length
    return { value: plainValue(plain), at, end: this.#at, isBlock: false }
  }

  #flowList(depth: number): Omit<Placed, 'startAt'> {
    const at = this.#at
    const items: Placed[] = []
    this.#at++
    for (this.#next(); this.#char() !== ']'; this.#next()) {
      const startAt = this.#at
      items.push({ startAt, ...this.#flow(depth + 1) })
      this.#next()
      if (this.#char() !== ',') break
      this.#at++
    }
    this.#closes(']')
    return { value: items.map(({ value }) => value), at, end: this.#at, isBlock: false, items }
  }

  #flowMap(depth: number): Omit<Placed, 'startAt'> {
    const at = this.#at
    const pairs = new Map<string, Placed>()
    this.#at++
    for (this.#next(); this.#char() !== '}'; this.#next()) {
      const startAt = this.#at
      const key = String(this.#flow(depth + 1).value)
      this.#next()
      if (pairs.has(key)) throw new Odd(startAt, `${JSON.stringify(key)} is there twice`)
      this.#closes(':')
      this.#next()
      pairs.set(key, { startAt, ...this.#flow(depth + 1) })
      this.#next()
      if (this.#char() !== ',') break
      this.#at++
    }
    this.#closes('}')
    return { value: valuesOf(pairs), at, end: this.#at, isBlock: false, pairs }
  }

  #closes(char: string): void {
    if (this.#char() !== char) throw new Odd(this.#at, `expected ${char}`)
    this.#at++
  }
}

// ---- texts ----------------------------------------------------------------------------------------------------

function valuesOf(pairs: ReadonlyMap<string, Placed>): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...pairs].map(([key, { value }]) => [key, value]))
}

const ODD_NUMBER =
  /^(?:0x[\da-fA-F]+|0o[0-7]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|nan))$/i

function plainValue(text: string): unknown {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text)) return Number(text)
  return ODD_NUMBER.test(text) ? new Unread(text) : text
}

function unquoted(key: string): string {
  return /^["']/.test(key) ? unquotedAt(key, 0) : key.trimEnd()
}

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
}

function unquotedAt(text: string, at: number): string {
  const inner = text.slice(1, -1)
  if (text.startsWith("'")) return inner.replaceAll("''", "'")
  return inner.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/g,
    (found, byte?: string, unit?: string, letter = '') => {
      const hex = byte ?? unit
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      const meant = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
      if (meant === undefined) throw new Odd(at, `${JSON.stringify(found)} is not read here`)
      return meant
    },
  )
}
