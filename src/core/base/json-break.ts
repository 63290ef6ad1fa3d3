// Where a text stops being JSON: the parser of the language hardly ever says, and quotes the text.

/** Blanks, then the beginning of a text, a value that is one token, or a mark. */
const TOKEN = /[ \t\r\n]*(?:(")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y
const ESCAPE = /["\\/bfnrt]|u[\da-fA-F]{4}/y
const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [34, 92, 32]

/** What may come next. `first…` may also be the end of what was just opened. */
type Next = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'comma'

export interface JsonBreak {
  /** Of the first token that may not stand there; of a text that is JSON, its length. */
  readonly at: number
  /** `end`: it goes on where the text ends. `after`: the one document was over. */
  readonly kind: 'end' | 'after' | 'odd'
}

export function breakOf(text: string): JsonBreak {
  const open: string[] = []
  let next: Next | undefined = 'value'
  for (let at = 0; ; ) {
    const start = at + blanksAt(text, at)
    if (start === text.length) return { at: start, kind: 'end' }
    if (next === 'comma' && open.length === 0) return { at: start, kind: 'after' }
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)
    at = token?.[1] === undefined ? TOKEN.lastIndex : stringEnd(text, TOKEN.lastIndex)
    if (at > text.length) return { at: start, kind: 'end' }
    next = token && at > start ? after(next, token, open) : undefined
    if (next === undefined) return { at: start, kind: 'odd' }
  }
}

function blanksAt(text: string, at: number): number {
  let end = at
  while (end < text.length && ' \t\r\n'.includes(text.charAt(end))) end++
  return end - at
}

/** By hand: an expression for a text of some megabytes takes too much memory. Beyond the end where it has none; 0 where it is wrong. */
function stringEnd(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) return i + 1
    if (char < FIRST_PRINTABLE) return 0
    if (char !== BACKSLASH) continue
    ESCAPE.lastIndex = i + 1
    if (!ESCAPE.test(text)) return i + 1 === text.length ? text.length + 1 : 0
    i = ESCAPE.lastIndex - 1
  }
  return text.length + 1
}

/** Undefined where the token may not stand there. */
function after(next: Next, [, string, word, mark]: RegExpExecArray, open: string[]): Next | undefined {
  const isKey = next === 'key' || next === 'firstKey'
  if (string !== undefined && isKey) return 'colon'
  const isValue = next === 'value' || next === 'firstValue'
  if (string !== undefined || word !== undefined) return isValue ? 'comma' : undefined
  if (mark === ':') return next === 'colon' ? 'value' : undefined
  if (mark === '{' || mark === '[') {
    if (!isValue) return undefined
    open.push(mark)
    return mark === '{' ? 'firstKey' : 'firstValue'
  }
  const inside = open.at(-1)
  if (mark === ',') {
    if (next !== 'comma' || inside === undefined) return undefined
    return inside === '{' ? 'key' : 'value'
  }
  const mayEnd = next === 'comma' || next === (mark === '}' ? 'firstKey' : 'firstValue')
  if (!mayEnd || inside !== (mark === '}' ? '{' : '[')) return undefined
  open.pop()
  return 'comma'
}
