// Patterns as JavaScript reads them: their words in the linear engine's syntax, and how far they can run without it.

export function hasBackReference(source: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/.test(source)
}

// ---- JavaScript's syntax in that of the linear engine ---------------------------------------------------------

const SPACE =
  '\\t\\n\\x0b\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_A_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** Undefined where the linear engine has no word for it: lookaround, `[^\s\S]` and the like. */
export function linearSource(source: string): string | undefined {
  let linear = ''
  let inClass = false
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string
    const rest = source.slice(i)
    if (char === '\\') {
      const escaped = linearEscape(rest, inClass)
      if (escaped === undefined) return undefined
      linear += escaped.linear
      i += escaped.length - 1
    } else if (inClass) {
      if (char === ']') inClass = false
      linear += char === '[' ? '\\[' : char
    } else if (char === '[') {
      if (/^\[\^?\]/.test(rest)) return undefined
      inClass = true
      linear += char
    } else if (/^\(\?(?:<?[=!])/.test(rest)) return undefined
    else if (rest.startsWith('(?<')) {
      linear += '(?P<'
      i += 2
    } else linear += char === '.' ? NOT_A_LINE_END : char
  }
  return linear
}

/** One escape: what it is in the linear engine, and how many characters it took. */
function linearEscape(rest: string, inClass: boolean): { linear: string; length: number } | undefined {
  const char = rest[1] ?? ''
  const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(rest)
  if (code) return { linear: `\\x{${code[1] ?? code[2]}}`, length: code[0].length }
  const control = /^\\c([A-Za-z])/.exec(rest)?.[1]
  if (control) return { linear: `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`, length: 3 }
  if (char === 's') return { linear: inClass ? SPACE : `[${SPACE}]`, length: 2 }
  if (char === 'S') return inClass ? undefined : { linear: `[^${SPACE}]`, length: 2 }
  if (char === 'b' && inClass) return { linear: '\\x08', length: 2 }
  if (char === '0') return { linear: '\\x00', length: 2 }
  // A letter that JavaScript gives no meaning stands for itself; the linear engine gives some of them another.
  const meant = /[dDwWbBtnrvf]/.test(char) || !/[A-Za-z]/.test(char)
  return { linear: meant ? `\\${char}` : char, length: 2 }
}

// ---- how far native matching can run --------------------------------------------------------------------------

/**
 * Whether matching a value of at most `longest` characters can take too long. Errs on the side of yes: a quantified
 * group that itself has a choice, or too many choices in a row.
 */
export function runsAway(source: string, longest: number): boolean {
  const text = source
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(')
  const hasChoice = [false]
  const alternatives = [1]
  let ways = 1
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(text.slice(i))?.[0]
    if (char === '(') {
      hasChoice.push(false)
      alternatives.push(1)
    } else if (char === ')') {
      ways *= alternatives.pop() ?? 1
      const inner = hasChoice.pop() ?? false
      if (inner && /^[*+?{]/.test(text.slice(i + 1))) return true
      if (inner) hasChoice[hasChoice.length - 1] = true
    } else if (char === '|') {
      alternatives[alternatives.length - 1] = (alternatives.at(-1) ?? 1) + 1
      hasChoice[hasChoice.length - 1] = true
    } else if (quantifier) {
      ways *= Math.min(repetitions(quantifier), longest)
      hasChoice[hasChoice.length - 1] = true
      i += quantifier.length - 1
    }
  }
  return ways * (alternatives[0] ?? 1) > longest ** 2
}

function repetitions(quantifier: string): number {
  if (quantifier.startsWith('?')) return 2
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? []
  if (least !== undefined && !comma) return 1
  return most ? Number(most) - Number(least) + 1 : Infinity
}
