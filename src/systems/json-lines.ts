// JSON objects that stand on lines of their own in a text, among whatever else a program prints.

/** Where an object may begin. */
interface Opening {
  readonly at: number
  /** Only spaces, commas, brackets and other objects stand before it on its line. */
  readonly isClean: boolean
}

interface Span {
  readonly start: number
  readonly end: number
}

/** How often a character is parsed at most, if objects stand inside others that turn out to be none. */
const PATIENCE = 16

/** The outermost objects, as they are written. Takes linear time. */
export function objectsIn(text: string): readonly string[] {
  const objects: string[] = []
  let patience = PATIENCE * text.length
  let after = 0
  /** The end of the outermost span that was no object. */
  let noneBefore = 0
  // An outer span comes before those in it.
  for (const { start, end } of spansIn(text).sort((a, b) => a.start - b.start || b.end - a.end)) {
    const isInside = start < noneBefore
    if (start < after || (isInside && end - start > patience)) continue
    const one = text.slice(start, end)
    if (isJson(one)) {
      objects.push(one)
      after = end
    } else if (isInside) patience -= one.length
    else noneBefore = end
  }
  return objects
}

/** The text without those objects. */
export function textAround(text: string): string {
  let rest = ''
  let after = 0
  for (const one of objectsIn(text)) {
    const start = text.indexOf(one, after)
    rest += text.slice(after, start)
    after = start + one.length
  }
  return rest + text.slice(after)
}

/** An object begins with a key, or is empty. */
const BEGINNING = /^\{\s*["}]/

function isJson(text: string): boolean {
  if (!BEGINNING.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A string of JSON ends on its line, so that a line with half a string is none of JSON's. */
const LINE = /[^\r\n]+/g
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}]|[^\s"{}]+|"/g

/** From each brace to the one that closes it, where both stand at the edge of a line. */
function spansIn(text: string): Span[] {
  const spans: Span[] = []
  let open: Opening[] = []
  for (const line of text.matchAll(LINE)) {
    let isClean = true
    for (const token of line[0].matchAll(TOKEN)) {
      const at = line.index + token.index
      if (token[0] === '{') {
        open.push({ at, isClean })
        isClean = false
      } else if (token[0] === '}') {
        const opening = open.pop()
        isClean = opening?.isClean ?? false
        if (opening?.isClean && ENDS.test(line[0].slice(token.index + 1))) {
          spans.push({ start: opening.at, end: at + 1 })
        }
      } else if (token[0] === '"') {
        open = []
        break
      } else if (!BETWEEN.test(token[0])) isClean = false
    }
  }
  return spans
}

/** What may stand between objects: they may be items of a list. */
const BETWEEN = /^[[\],;]+$/

/** Nothing follows on the line, or the next object. */
const ENDS = /^[\s[\],;]*(?:\{|$)/
