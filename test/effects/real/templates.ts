// Templates of commands, one a line.

import fc from 'fast-check'

export type Text = fc.Arbitrary<string>

/** `⏎` is a new line, and `§` a part that is filled in. */
export function lines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replaceAll('⏎', '\n'))
    .filter((line) => line !== '')
}

/** One of the lines. */
export function oneOf(text: string): Text {
  return fc.constantFrom(...lines(text))
}

/** Each `§` stands for one of the parts, in turn. */
export function filled(template: string, part: Text): Text {
  const count = template.split('§').length - 1
  return fc
    .array(part, { minLength: count, maxLength: count })
    .map((parts) => template.replace(/§/g, () => parts.shift() ?? ''))
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
