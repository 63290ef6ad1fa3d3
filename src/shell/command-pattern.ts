// A pattern over what a command runs: `git *`, `rm:*`, `npm test`, as in the permission rules of Claude Code.

import type { ShellReading } from './shell-reading.js'
import { OPEN } from './shell-word.js'
import type { SimpleCommand } from './simple-command.js'
import { fits, mayFit, type Pieces, piecesOf } from './wildcard.js'

/** Longer patterns are not compared: they match. */
const LONGEST_PATTERN = 1024

/** Whether the pattern matches one of the commands, or one that cannot be seen: more often, never less. */
export type CommandPattern = (reading: ShellReading) => boolean

export function commandPattern(pattern: string): CommandPattern {
  const text = unescaped(pattern).trim().replace(/\s+/g, ' ').replace(/:\*$/, ' *')
  if (text === '' || text.length > LONGEST_PATTERN || text.includes(OPEN)) return () => true
  const matches = commandMatcher(text)
  const beyondName = !NAME_ONLY.test(text)
  const lines = /[&|;]/.test(text) ? formsOf(text) : undefined
  return ({ commands, unknown, beyond, expands, heredoc, source }) => {
    // As observed: Claude Code looks no further where the shell expands, and not at all into what is beyond it.
    if (unknown || beyond || heredoc || (beyondName && expands)) return true
    for (const command of commands) if (matches(command)) return true
    return lines?.some((form) => fits(form, inOneLine(source))) ?? false
  }
}

/** Parentheses and backslashes of a rule have a backslash before them. In this order: `\\(` is `\(`. */
function unescaped(pattern: string): string {
  return pattern.replace(/\\([()])/g, '$1').replaceAll('\\\\', '\\')
}

/** Says nothing about arguments, so that what the shell expands cannot matter. */
const NAME_ONLY = /^(?:[^\s*\\]+ ?\*|\*)$/

/** `git *` is `git` alone, too. */
function formsOf(text: string): readonly Pieces[] {
  const forms = [piecesOf(text)]
  if (text.endsWith(' *')) forms.push(piecesOf(text.slice(0, -2)))
  return forms
}

function commandMatcher(text: string): (command: SimpleCommand) => boolean {
  const forms = formsOf(text)
  // Most commands begin in another way, and need not be written out for that to be seen.
  const [head = ''] = (forms[0]?.[0] ?? '').split(' ')
  const anyOf = NAME_ONLY.test(text) && text.endsWith(' *') ? head : undefined
  return (command) => {
    if (command.name === anyOf) return true
    return command.beginsWith(head) && fitsCommand(forms, command)
  }
}

function fitsCommand(forms: readonly Pieces[], command: SimpleCommand): boolean {
  const { name, program, shape, source } = command
  const test = command.dynamic ? mayFit : fits
  if (forms.some((form) => test(form, shape))) return true
  if (name !== program) {
    const bare = name + shape.slice(program.length)
    if (forms.some((form) => test(form, bare))) return true
  }
  if (source === undefined || source === shape) return false
  // Quotes, assignments and redirections in a pattern are those of the text.
  const line = inOneLine(source)
  return line !== shape && forms.some((form) => fits(form, line))
}

function inOneLine(source: string): string {
  const line = source.trim()
  return /[^\S ]| {2}/.test(line) ? line.replace(/\s+/g, ' ') : line
}
