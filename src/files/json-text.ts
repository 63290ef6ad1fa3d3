// The text of a JSON file, with comments and trailing commas allowed, and the line of every value. jsonc-parser is not
// used because it recurses: 20 KB of brackets overflow its stack.

/** The path of a value, linked from the value upwards: cheap to extend, and rarely walked. Null is the top of the file. */
export type JsonPath = { readonly parent: JsonPath; readonly key: string | number } | null

export function under(parent: JsonPath, key: string | number): JsonPath {
  return { parent, key }
}

export type Parsed =
  | { readonly value: unknown }
  | { readonly problem: string; readonly line: number; readonly endsEarly?: true }

/** A key that appears twice in one object. JSON.parse silently keeps the last one. */
export interface DoubleKey {
  readonly key: string
  /** The line of the one that is lost. */
  readonly line: number
}

/** The position of a value in `JsonText.text`, which has no byte order mark. */
export interface Spot {
  readonly at: number
  /** The position after its last character. */
  readonly end: number
  /** The position of its key, in an object. */
  readonly keyAt: number | undefined
  /** The position of the comma after it, including a trailing one. */
  readonly comma: number | undefined
  /** Values of an object or list, by key or index. For a duplicate key, the last one, as in JSON.parse. */
  readonly inside: ReadonlyMap<string | number, Spot> | undefined
}

/** One text. Finding positions takes time, so it happens on first use and the result is kept. */
export class JsonText {
  readonly text: string
  #survey: Survey | undefined
  #lineStarts: readonly number[] | undefined

  constructor(text: string) {
    this.text = text.startsWith('\uFEFF') ? text.slice(1) : text
  }

  parse(): Parsed {
    try {
      return { value: JSON.parse(this.text) }
    } catch {
      return this.#parsePlain()
    }
  }

  /** The line of the value at the path, counted from 1. Without such a value, the line of the nearest one around it. */
  lineOf(path: JsonPath): number {
    return this.#lineAt(find(this.#surveyed().root, path)?.at ?? 0)
  }

  /** The position of the value at the path, if there is one. */
  spotOf(path: JsonPath): Spot | undefined {
    if (path === null) return this.#surveyed().root
    return this.spotOf(path.parent)?.inside?.get(path.key)
  }

  doubleKeys(): readonly DoubleKey[] {
    return this.#surveyed().doubles.map(({ key, at }) => ({ key, line: this.#lineAt(at) }))
  }

  #parsePlain(): Parsed {
    try {
      return { value: JSON.parse(plainJson(this.text)) }
    } catch {
      const at = this.#surveyed().brokenAt ?? 0
      const found = /^[^\s]{1,20}/.exec(this.text.slice(at, at + 20))?.[0]
      const problem = found ? `unexpected ${JSON.stringify(found)}` : 'the text ends too early'
      return { problem, line: this.#lineAt(at), ...(!found && { endsEarly: true }) }
    }
  }

  #surveyed(): Survey {
    this.#survey ??= survey(this.text)
    return this.#survey
  }

  #lineAt(at: number): number {
    this.#lineStarts ??= [0, ...Array.from(this.text.matchAll(/\n/g), ({ index }) => index + 1)]
    let low = 0
    let high = this.#lineStarts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lineStarts[middle] as number) <= at) low = middle
      else high = middle
    }
    return low + 1
  }
}

// ---- tokens ---------------------------------------------------------------------------------------------------

/** Strings, punctuation, comments, words. Takes linear time: an unclosed comment is the rest of the text. */
const TOKEN =
  /"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"?|[{}[\],:]|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|\/\*[\s\S]*|[^ \t\r\n{}[\],:"/]+|\//g

function isComment(token: string): boolean {
  return token.startsWith('//') || (token.startsWith('/*') && token.length > 3 && token.endsWith('*/'))
}

/** Removes comments. What is left is valid where a reader of JSON with comments would accept the text. */
export function withoutComments(text: string): string {
  return Array.from(text.matchAll(TOKEN), ([token]) => token)
    .filter((token) => !isComment(token))
    .join('\n')
}

/** Removes comments and trailing commas, so that JSON.parse alone decides what is valid. */
function plainJson(text: string): string {
  const pieces: string[] = []
  let before = ''
  let comma = -1
  for (const { 0: token } of text.matchAll(TOKEN)) {
    if (isComment(token)) continue
    if (comma >= 0 && (token === '}' || token === ']')) pieces[comma] = ' '
    comma = token === ',' && !['', '{', '[', ','].includes(before) ? pieces.length : -1
    pieces.push(token)
    before = token
  }
  // Joined by line breaks, which no string may contain, so that halves of a broken string do not form a valid one.
  return pieces.join('\n')
}

// ---- positions of values --------------------------------------------------------------------------------------

/** A spot that is not complete yet. */
interface Found extends Spot {
  end: number
  comma: number | undefined
  readonly inside: Map<string | number, Spot> | undefined
}

interface Survey {
  readonly root: Spot | undefined
  /** The position of the first character that is not allowed there. */
  readonly brokenAt: number | undefined
  readonly doubles: readonly { readonly key: string; readonly at: number }[]
}

/** An object or list that is not closed yet. */
interface Open {
  readonly spot: Found
  readonly inside: Map<string | number, Spot>
  readonly list: boolean
  key: string | number
  keyAt: number | undefined
  last: Found | undefined
  wants: 'key' | 'colon' | 'value' | 'comma'
}

/** Values inside deeper ones have no spots: a file full of brackets would take seconds, and nothing asks for them. */
const MOST_LEVELS = 500

/** Walks the whole text once. Nesting costs memory, not stack. */
function survey(text: string): Survey {
  const doubles: { key: string; at: number }[] = []
  const stack: Open[] = []
  let root: Spot | undefined
  /** Open brackets below the last level with spots. */
  let inner = 0
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    if (isComment(token)) continue
    const open = stack.at(-1)
    if (stack.length > MOST_LEVELS && (inner > 0 || levelOf(token) !== -1)) {
      inner += levelOf(token)
      continue
    }
    if (open && closes(open, token)) {
      open.spot.end = at + 1
      stack.pop()
    } else if (open && open.wants !== 'value') {
      if (!advance(open, token, at)) return { root, brokenAt: at, doubles }
    } else {
      if ((!open && root) || !isValue(token)) return { root, brokenAt: at, doubles }
      const inside = token === '{' || token === '[' ? new Map<string | number, Spot>() : undefined
      const spot: Found = { at, end: at + token.length, keyAt: open?.keyAt, comma: undefined, inside }
      if (open) {
        const lost = open.inside.get(open.key)
        if (lost) doubles.push({ key: String(open.key), at: lost.at })
        open.inside.set(open.key, spot)
        open.last = spot
        open.wants = 'comma'
      } else root = spot
      if (inside) stack.push(opened(spot, inside, token === '['))
    }
  }
  return { root, brokenAt: stack.length > 0 || !root ? text.length : undefined, doubles }
}

function levelOf(token: string): -1 | 0 | 1 {
  if (token === '{' || token === '[') return 1
  return token === '}' || token === ']' ? -1 : 0
}

/** The spot at the path, or the innermost one around it. */
function find(root: Spot | undefined, path: JsonPath): Spot | undefined {
  if (path === null) return root
  const around = find(root, path.parent)
  return around?.inside?.get(path.key) ?? around
}

function opened(spot: Found, inside: Map<string | number, Spot>, list: boolean): Open {
  return { spot, inside, list, key: 0, keyAt: undefined, last: undefined, wants: list ? 'value' : 'key' }
}

/** Also true after a trailing comma. */
function closes({ list, wants }: Open, token: string): boolean {
  return token === (list ? ']' : '}') && (wants === 'comma' || wants === (list ? 'value' : 'key'))
}

/** Returns false if the token is not allowed there. */
function advance(open: Open, token: string, at: number): boolean {
  if (open.wants === 'key') {
    if (!token.startsWith('"') || !isValue(token)) return false
    open.key = JSON.parse(token) as string
    open.keyAt = at
    open.wants = 'colon'
  } else if (open.wants === 'colon') {
    if (token !== ':') return false
    open.wants = 'value'
  } else {
    if (token !== ',') return false
    if (open.last) open.last.comma = at
    if (typeof open.key === 'number') open.key++
    open.wants = open.list ? 'value' : 'key'
  }
  return true
}

function isValue(token: string): boolean {
  if (token === '{' || token === '[') return true
  try {
    JSON.parse(token)
    return true
  } catch {
    return false
  }
}
