// JSON objects on lines of their own, among whatever else a program prints.

/** Where an object may begin. */
interface Opening {
  readonly at: number
  /** Only spaces, commas, brackets and other objects precede it on its line. */
  readonly isClean: boolean
}

interface Span {
  readonly start: number
  readonly end: number
}

/** The most often that a character is parsed, when objects are nested in text that turns out not to be an object. */
const PATIENCE = 16

/** A JSON object: its text, its position and its value. */
export interface Written {
  readonly at: number
  readonly text: string
  readonly value: { readonly [key: string]: unknown }
}

/** The outermost objects. Takes linear time, and so may leave out objects that are nested in other text: `leaveOut` is told. */
export function* objectsIn(text: string, leaveOut?: () => void): Generator<Written> {
  let patience = PATIENCE * text.length
  let after = 0
  /** The end of the outermost span that was not an object. */
  let noneBefore = 0
  // An outer span comes before those in it.
  const spans = spansIn(text).sort((a, b) => a.start - b.start || b.end - a.end)
  for (const [i, { start, end }] of spans.entries()) {
    // Innermost spans do not overlap, so they need no patience.
    const isInside = start < noneBefore && (spans[i + 1]?.start ?? end) < end
    if (start < after) continue
    if (isInside && end - start > patience) {
      leaveOut?.()
      continue
    }
    const one = text.slice(start, end)
    const value = parsed(one)
    if (value) {
      yield { at: start, text: one, value }
      after = end
    } else if (isInside) patience -= end - start
    else noneBefore = Math.max(noneBefore, end)
  }
}

/** The text without those objects. */
export function textAround(text: string): string {
  let rest = ''
  let after = 0
  for (const one of objectsIn(text)) {
    rest += text.slice(after, one.at)
    after = one.at + one.text.length
  }
  return rest + text.slice(after)
}

/** Whether there may be objects that were left out. */
export function hasUnread(text: string): boolean {
  let isLeftOut = false
  const leaveOut = () => {
    isLeftOut = true
  }
  for (const _ of objectsIn(text, leaveOut)) if (isLeftOut) break
  return isLeftOut
}

/** An object begins with a key, or is empty. */
const BEGINNING = /^\{\s*["}]/

function parsed(text: string): Written['value'] | undefined {
  if (!BEGINNING.test(text)) return undefined
  try {
    return JSON.parse(text) as Written['value']
  } catch {
    return undefined
  }
}

/** From each brace to its closing one, if both are at the edge of a line. */
function spansIn(text: string): Span[] {
  const spans: Span[] = []
  let open: Opening[] = []
  let isClean = true
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === '\n' || char === '\r') isClean = true
    else if (char === '{') {
      open.push({ at, isClean })
      isClean = false
    } else if (char === '}') {
      const opening = open.pop()
      isClean = opening?.isClean ?? false
      if (opening?.isClean && isEnd(text, at + 1)) spans.push({ start: opening.at, end: at + 1 })
    } else if (char === '"') {
      const { end, isWhole } = stringAt(text, at)
      // A line with an unterminated string is not JSON.
      if (!isWhole) open = []
      isClean = false
      at = end - 1
    } else isClean &&= isBetween(char)
  }
  return spans
}

/** The string that begins at `at`. It ends after its closing quote, or with its line. */
export function stringAt(text: string, at: number): { readonly end: number; readonly isWhole: boolean } {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '"') return { end: i + 1, isWhole: true }
    if (text[i] === '\\') i++
    if (text[i] === '\n' || text[i] === '\r') return { end: i, isWhole: false }
  }
  return { end: text.length, isWhole: false }
}

/** Characters allowed between objects, which may be items of a list. */
function isBetween(char: string): boolean {
  return ' ,;[]\t'.includes(char) || (char !== '{' && /\s/.test(char))
}

/** Whether nothing follows on the line, or only another object. */
function isEnd(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string
    if (char === '{' || char === '\n' || char === '\r') return true
    if (!isBetween(char)) return false
  }
  return true
}
