// A pattern over what a command runs: `git *`, `rm:*`, `npm test`, as in the permission rules of Claude Code.

import type { ShellReading, SimpleCommand } from './shell-reading.js'
import { OPEN } from './shell-word.js'
import { fits, mayFit, type Pieces, piecesOf } from './wildcard.js'

/** Longer patterns are not compared: they match. */
export const LONGEST_PATTERN = 1024

/** Whether the pattern matches one of the commands, or one that cannot be seen: more often, never less. */
export type CommandPattern = (reading: ShellReading) => boolean

export function commandPattern(pattern: string): CommandPattern {
  const text = pattern.trim().replace(/\s+/g, ' ').replace(/:\*$/, ' *')
  if (text === '' || text.length > LONGEST_PATTERN || text.includes(OPEN)) return () => true
  const forms = formsOf(text)
  const beyondName = !NAME_ONLY.test(text)
  const ofLines = /[&|;]/.test(text)
  return ({ commands, unknown, expands, heredoc, source }) => {
    // As observed: Claude Code looks no further where the shell expands.
    if (unknown || heredoc || (beyondName && expands)) return true
    if (commands.some((command) => forms.some((form) => matches(form, command)))) return true
    return ofLines && forms.some((form) => fits(form, inOneLine(source)))
  }
}

/** Says nothing about arguments, so that what the shell expands cannot matter. */
const NAME_ONLY = /^(?:[^\s*\\]+ ?\*|\*)$/

/** `git *` is `git` alone, too. */
function formsOf(text: string): readonly Pieces[] {
  const forms = [piecesOf(text)]
  if (text.endsWith(' *')) forms.push(piecesOf(text.slice(0, -2)))
  return forms
}

function matches(form: Pieces, { name, words, dynamic, shape, source }: SimpleCommand): boolean {
  const [program = ''] = words
  const test = dynamic ? mayFit : fits
  if (test(form, shape) || (name !== program && test(form, name + shape.slice(program.length)))) return true
  if (source === undefined || source === shape) return false
  // Quotes, assignments and redirections in a pattern are those of the text.
  return fits(form, inOneLine(source))
}

function inOneLine(source: string): string {
  return source.trim().replace(/\s+/g, ' ')
}
