// TOML as JSON, with every value on its own line, so that a diagnostic names the line of the TOML file. Reads tables, lists
// of tables, strings, numbers, booleans, lists and inline tables: as much as the hook files of agents hold. smol-toml is not
// used because it does not say on which line a value is.

import type { Placed } from './placed.js'

/** A value, the line it begins on, and where it stands. */
interface Node extends Pick<Placed, 'startAt' | 'lastKeyAt' | 'at' | 'end' | 'isBlock'> {
  readonly line: number
  readonly value: string | readonly Node[] | Table
}

type Table = Map<string, Node>

class TomlProblem extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

export function jsonOfToml(text: string): Partial<Record<'json' | 'problem', string> & { line: number }> {
  try {
    return { json: printed(new Toml(text).read()) }
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error
    return { problem: `is not TOML that can be read here: ${error.message}`, line: error.line }
  }
}

/** The same values, with their positions in the text. Undefined if it cannot be read here. */
export function placedToml(text: string): Placed | undefined {
  try {
    return placed({ ...SPREAD, line: 1, value: new Toml(text).read() })
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error
    return undefined
  }
}

function placed({ line: _, value, ...where }: Node): Placed {
  if (typeof value === 'string') return { ...where, value: JSON.parse(value) }
  if (value instanceof Map) {
    const pairs = new Map([...value].map(([key, node]) => [key, placed(node)]))
    return { ...where, value: Object.fromEntries([...pairs].map(([key, one]) => [key, one.value])), pairs }
  }
  const items = value.map(placed)
  return { ...where, value: items.map((one) => one.value), items }
}

/** A table that several lines fill has no position of its own. */
const SPREAD = { startAt: undefined, at: -1, end: -1, isBlock: true } as const

/** The deepest nesting that is read. Deeper files are refused, because reading them needs stack. */
const DEEPEST = 100

class Toml {
  readonly #text: string
  #at = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
    if (text.startsWith('\uFEFF')) this.#at = 1
  }

  read(): Table {
    const root: Table = new Map()
    let table = root
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#takes('[[')) {
        const keys = this.#keys()
        this.#must(']]')
        table = this.#appended(root, keys)
      } else if (this.#takes('[')) {
        const keys = this.#keys()
        this.#must(']')
        table = this.#tableAt(root, keys)
      } else this.#pair(table)
      this.#endLine()
    }
    return root
  }

  #problem(message: string): TomlProblem {
    return new TomlProblem(message, this.#line)
  }

  // ---- tokens ----

  /** Blanks, line breaks and comments. */
  #skip(): void {
    for (;;) {
      const char = this.#text[this.#at]
      if (char === '\n') this.#line++
      else if (char === '#') {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end < 0 ? this.#text.length : end
        continue
      } else if (char !== ' ' && char !== '\t' && char !== '\r') return
      this.#at++
    }
  }

  #blanks(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at++
  }

  #endLine(): void {
    this.#blanks()
    const char = this.#text[this.#at]
    if (char !== undefined && char !== '\n' && char !== '#' && char !== '\r')
      throw this.#problem(`unexpected ${JSON.stringify(char)}`)
  }

  #takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false
    this.#at += token.length
    return true
  }

  #must(token: string): void {
    this.#blanks()
    if (!this.#takes(token)) throw this.#problem(`expected ${token}`)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    if (found === undefined) return undefined
    this.#at += found.length
    return found
  }

  // ---- keys and tables ----

  /** Where the last one begins. */
  #lastKeyAt = 0

  #keys(): readonly string[] {
    const keys: string[] = []
    do {
      this.#blanks()
      this.#lastKeyAt = this.#at
      const quote = this.#text[this.#at]
      keys.push(quote === '"' || quote === "'" ? this.#string() : this.#bareKey())
      this.#blanks()
    } while (this.#takes('.'))
    if (keys.length > DEEPEST) throw this.#problem('it is nested too deeply')
    return keys
  }

  #bareKey(): string {
    const key = this.#match(/[A-Za-z0-9_-]+/y)
    if (key === undefined) throw this.#problem('expected a key')
    return key
  }

  #pair(table: Table): void {
    const { line, keys, ...where } = this.#key()
    const last = keys.at(-1) as string
    const inner = this.#tableAt(table, keys.slice(0, -1))
    if (inner.has(last)) throw this.#problem(`${JSON.stringify(last)} is there twice`)
    inner.set(last, { line, ...this.#placedValue(0), ...where })
  }

  #key(): Pick<Node, 'line' | 'startAt' | 'lastKeyAt'> & { readonly keys: readonly string[] } {
    const [line, startAt] = [this.#line, this.#at]
    const keys = this.#keys()
    const lastKeyAt = this.#lastKeyAt
    this.#must('=')
    return { line, startAt, lastKeyAt, keys }
  }

  #tableAt(root: Table, keys: readonly string[], isBlock = true): Table {
    let table = root
    for (const key of keys) {
      const found = table.get(key)
      const value =
        found && (Array.isArray(found.value) ? (found.value.at(-1) as Node | undefined)?.value : found.value)
      if (value instanceof Map) table = value
      else if (found) throw this.#problem(`${JSON.stringify(key)} is not a table`)
      else {
        const fresh: Table = new Map()
        table.set(key, { ...SPREAD, isBlock, line: this.#line, value: fresh })
        table = fresh
      }
    }
    return table
  }

  #appended(root: Table, keys: readonly string[]): Table {
    const last = keys.at(-1) as string
    const around = this.#tableAt(root, keys.slice(0, -1))
    const fresh: Table = new Map()
    const node = { ...SPREAD, line: this.#line, value: fresh }
    const list = around.get(last)
    if (list === undefined) around.set(last, { ...SPREAD, line: this.#line, value: [node] })
    else if (Array.isArray(list.value)) around.set(last, { ...list, value: [...list.value, node] })
    else throw this.#problem(`${JSON.stringify(last)} is not a list of tables`)
    return fresh
  }

  // ---- values ----

  #placedValue(depth: number): Omit<Node, 'line'> {
    this.#blanks()
    const at = this.#at
    const value = this.#value(depth)
    return { startAt: at, at, end: this.#at, isBlock: false, value }
  }

  #value(depth: number): Node['value'] {
    if (depth > DEEPEST) throw this.#problem('it is nested too deeply')
    const char = this.#text[this.#at]
    if (char === '"' || char === "'") return JSON.stringify(this.#string())
    if (this.#takes('[')) return this.#list(depth)
    if (this.#takes('{')) return this.#inline(depth)
    const word = this.#match(/[A-Za-z0-9_+.:-]+/y)
    if (word === undefined) throw this.#problem('expected a value')
    if (word === 'true' || word === 'false') return word
    const number = word.replace(/^\+|_/g, '')
    // Dates and other numbers are nothing that a hook has.
    return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(number) ? number : JSON.stringify(word)
  }

  #list(depth: number): readonly Node[] {
    const items: Node[] = []
    for (this.#skip(); !this.#takes(']'); this.#skip()) {
      items.push({ line: this.#line, ...this.#placedValue(depth + 1) })
      this.#skip()
      if (this.#takes(',')) continue
      if (!this.#takes(']')) throw this.#problem('expected , or ]')
      break
    }
    return items
  }

  #inline(depth: number): Table {
    const table: Table = new Map()
    for (this.#skip(); !this.#takes('}'); this.#skip()) {
      const { line, keys, ...where } = this.#key()
      const inner = this.#tableAt(table, keys.slice(0, -1), false)
      inner.set(keys.at(-1) as string, { line, ...this.#placedValue(depth + 1), ...where })
      this.#skip()
      if (this.#takes(',')) continue
      if (!this.#takes('}')) throw this.#problem('expected , or }')
      break
    }
    return table
  }

  #string(): string {
    const isBasic = this.#text[this.#at] === '"'
    const quote = isBasic ? '"' : "'"
    if (this.#takes(quote.repeat(3))) return this.#longString(quote.repeat(3), isBasic)
    const found = this.#match(isBasic ? /"(?:[^"\\\n]|\\.)*"/y : /'[^'\n]*'/y)
    if (found === undefined) throw this.#problem('a string is not closed')
    return isBasic ? this.#unescaped(found.slice(1, -1)) : found.slice(1, -1)
  }

  #longString(quotes: string, isBasic: boolean): string {
    let end = this.#text.indexOf(quotes, this.#at)
    while (isBasic && end >= 0 && /(?:^|[^\\])(?:\\\\)*\\$/.test(this.#text.slice(this.#at, end)))
      end = this.#text.indexOf(quotes, end + 1)
    if (end < 0) throw this.#problem('a string is not closed')
    const text = this.#text.slice(this.#at, end).replaceAll('\r\n', '\n')
    this.#at = end + quotes.length
    const inner = isBasic
      ? this.#unescaped(text.replace(/^\n/, '').replace(/\\[ \t]*\n\s*/g, ''))
      : text.replace(/^\n/, '')
    this.#line += text.split('\n').length - 1
    return inner
  }

  #unescaped(text: string): string {
    return text.replace(/\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)/g, (_, code: string) => {
      if (/^[uU]./.test(code)) {
        const point = Number.parseInt(code.slice(1), 16)
        if (point > 0x10ffff) throw this.#problem('there is no such character')
        return String.fromCodePoint(point)
      }
      const plain = ESCAPES[code]
      if (plain === undefined) throw this.#problem(`\\${code} means nothing`)
      return plain
    })
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
  '"': '"',
  '\\': '\\',
}

// ---- JSON -----------------------------------------------------------------------------------------------------

/** Line breaks before a value put it on its line. A table that is continued further down stays where it began. */
function printed(root: Table): string {
  const pieces: string[] = []
  let line = 1
  const reach = (wanted: number) => {
    if (wanted <= line) return
    pieces.push('\n'.repeat(wanted - line))
    line = wanted
  }
  const print = (value: Node['value']) => {
    if (typeof value === 'string') pieces.push(value)
    else if (value instanceof Map) {
      pieces.push('{')
      let isFirst = true
      for (const [key, node] of value) {
        if (!isFirst) pieces.push(',')
        isFirst = false
        reach(node.line)
        pieces.push(`${JSON.stringify(key)}:`)
        print(node.value)
      }
      pieces.push('}')
    } else {
      pieces.push('[')
      for (const [i, node] of value.entries()) {
        if (i > 0) pieces.push(',')
        reach(node.line)
        print(node.value)
      }
      pieces.push(']')
    }
  }
  print(root)
  return `${pieces.join('')}\n`
}
