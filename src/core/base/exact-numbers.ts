// Numbers that change when they are read: JSON has any number of digits, and a program keeps about 17 of them.

import { closingQuote } from './json.js'
import { cutText, visibleName } from './text.js'

/** A call is not judged digit by digit for longer than this. */
const LONGEST = 1000
const LONGEST_PATH = 200

/**
 * The path of the first number that would be written differently from how it was read (`9007199254740993`, `1e400`,
 * `-0`, more than 17 digits). `1.0` and `1e2` are the same numbers as `1` and `100`. The text must be valid JSON.
 */
export function inexactNumber(text: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = closingQuote(text, at)
    else if (isNumberStart(text.charCodeAt(at))) {
      const end = endOfNumber(text, at)
      if (!isExact(text.slice(at, end))) return pathTo(text, at)
      at = end - 1
    }
  }
  return undefined
}

function isExact(written: string): boolean {
  if (written.length > LONGEST) return false
  const value = Number(written)
  // Most numbers are written as they would be again.
  if (String(value) === written) return true
  return Number.isFinite(value) && !Object.is(value, -0) && decimalOf(written) === decimalOf(String(value))
}

/** One text for each number: `1.50`, `15e-1` and `1.5` are `15e-1`. */
function decimalOf(written: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(written) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  return kept === '' ? '0' : `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

// ---- the text -------------------------------------------------------------------------------------------------

const [MINUS, ZERO, NINE] = [0x2d, 0x30, 0x39] as const

function isNumberStart(char: number): boolean {
  return char === MINUS || (char >= ZERO && char <= NINE)
}

function endOfNumber(text: string, from: number): number {
  let end = from
  while (end < text.length && '+-.eE0123456789'.includes(text[end] as string)) end++
  return end
}

/** `tool_input.limits[2]` */
function pathTo(text: string, place: number): string {
  const path: (string | number)[] = []
  for (let at = 0; at < place; at++) {
    const char = text[at] as string
    if (char === '[') path.push(0)
    else if (char === '{') path.push('')
    else if (char === ']' || char === '}') path.pop()
    else if (char === ',' && typeof path.at(-1) === 'number') path.push((path.pop() as number) + 1)
    else if (char === '"') {
      const end = closingQuote(text, at)
      if (isKey(text, end)) path.splice(-1, 1, String(JSON.parse(text.slice(at, end + 1))))
      at = end
    }
  }
  const words = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${visibleName(step)}`))
  const whole = words.join('').replace(/^\./, '')
  return whole.length > LONGEST_PATH ? cutText(whole, LONGEST_PATH, '…') : whole
}

function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (' \n\r\t'.includes(text[at] ?? 'x')) at++
  return text[at] === ':'
}
