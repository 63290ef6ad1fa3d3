// Patterns for names, hosts, branches and programs: `*` stands for any text and `?` for one character.

export type TextTest = (text: string, ignoreCase: boolean) => boolean

/** Never backtracks further than to the last star, so a pattern cannot take exponential time. */
export function textPattern(pattern: string): TextTest {
  const lower = pattern.toLowerCase()
  if (!/[*?]/.test(pattern))
    return (text, ignoreCase) => (ignoreCase ? text.toLowerCase() === lower : text === pattern)
  return (text, ignoreCase) => (ignoreCase ? matches(lower, text.toLowerCase()) : matches(pattern, text))
}

function matches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    const char = pattern[p]
    if (char === '*') {
      star = p++
      resume = t
    } else if (char === '?' || (char !== undefined && char === text[t])) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** Whether it may match a text that begins so. */
export function mayContinue(pattern: string, begins: string): boolean {
  const star = pattern.indexOf('*')
  const head = star < 0 ? pattern : pattern.slice(0, star)
  if (begins.length > head.length && star < 0) return false
  const length = Math.min(head.length, begins.length)
  return matches(head.slice(0, length), begins.slice(0, length))
}

/** Whether it matches every text that begins so. */
export function mustContinue(pattern: string, begins: string): boolean {
  return pattern.endsWith('*') && matches(pattern, begins)
}

/** `a{b,c}` as `ab` and `ac`. Undefined if there are more than `most`, or a brace has no partner. */
export function alternatives(pattern: string, most: number): readonly string[] | undefined {
  const open = pattern.lastIndexOf('{')
  if (open < 0) return pattern.includes('}') ? undefined : [pattern]
  const close = pattern.indexOf('}', open)
  if (close < 0) return undefined
  const [before, after] = [pattern.slice(0, open), pattern.slice(close + 1)]
  const found: string[] = []
  for (const choice of pattern.slice(open + 1, close).split(',')) {
    const more = alternatives(before + choice + after, most - found.length)
    if (!more || found.length + more.length > most) return undefined
    found.push(...more)
  }
  return found
}
