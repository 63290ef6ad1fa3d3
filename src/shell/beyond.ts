// Syntax that Claude Code does not take apart, as observed: there its rules hold for every such command, whatever runs.

import type { Assignment, Command, ParsedScript, Redirect, SyntaxNode, Word, WordPart } from 'unbash'
import { isPlain } from './shell-word.js'

/** Wherever it stands, or only where it does not stand in a simple command that is all there is. */
export type Beyond = 'anywhere' | 'in company'

/** Whether the text alone says so: `a\ b`, a word cut by the end of a line, blanks that are none to bash, `=ls`, `~[x]`, `>&-`. */
export function isBeyondText(text: string, plain: boolean): boolean {
  // Of these no more can stand in plain text, and to look for a character is faster.
  if (plain && !text.includes('=') && !text.includes('&-')) return false
  return BEYOND_TEXT.test(text)
}

const BEYOND_TEXT =
  /\\[ \t]|[^ \t\n\\]\\\n|[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]|~\[|[<>]&-|(?:^|[\s;&|])=[A-Za-z_]/

export function beyondIn(node: SyntaxNode): Beyond | undefined {
  switch (node.type) {
    case 'SimpleExpansion':
      return node.text === '$HOME' ? undefined : 'in company'
    case 'CommandExpansion':
      return node.script && isAlone(node.script, isUnredirected) ? 'in company' : 'anywhere'
    case 'DoubleQuoted':
      return anywhere(node.parts.some((part) => part.type === 'SimpleExpansion' && part.text !== '$HOME'))
    case 'Assignment':
      return anywhere(isBeyondAssignment(node))
    case 'Redirect':
      return anywhere(isBeyondRedirect(node))
    case 'Subshell':
      return anywhere(node.body.commands.length > 1)
    case 'Word':
      return anywhere(isHalfBrace(node))
    default:
      return anywhere(BEYOND.has(node.type))
  }
}

/** Whether one simple command is all there is. */
export function isAlone(
  { commands }: ParsedScript,
  test: (command: Command) => boolean = () => true,
): boolean {
  const command = commands.length === 1 ? commands[0]?.command : undefined
  return command?.type === 'Command' && test(command)
}

/** Commands of the shell that are told what a variable is. */
export function isBeyondBuiltin(name: string, { args }: Command): boolean {
  if (name === 'unset') return args.some(({ text }) => !isPlain(text))
  return DECLARING.has(name) && args.some(({ text }) => /^[-+](?!x$)/.test(text))
}

const DECLARING: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'readonly'])

const BEYOND: ReadonlySet<SyntaxNode['type']> = new Set([
  'AnsiCQuoted',
  'ArithmeticCommand',
  'ArithmeticExpansion',
  'ArithmeticFor',
  'BraceExpansion',
  'BraceGroup',
  'Case',
  'ExtendedGlob',
  'Function',
  'LocaleString',
  'ParameterExpansion',
  'ProcessSubstitution',
  'Redirected',
  'Select',
])

function anywhere(found: boolean): Beyond | undefined {
  return found ? 'anywhere' : undefined
}

function isUnredirected({ redirects }: Command): boolean {
  return redirects.every(({ type }) => type !== 'Redirect')
}

function isBeyondAssignment({ name, value, index }: Assignment): boolean {
  return value.type === 'ArrayValue' || index !== undefined || name === 'IFS' || value.text.includes('~')
}

/** A file that is not known, and what is no file. */
function isBeyondRedirect({ operator, descriptor, target }: Redirect): boolean {
  if (operator === '<>' || descriptor?.type === 'FileDescriptorVariable') return true
  if (target === undefined) return true
  return target.parts?.some((part) => !isKnownFile(part)) ?? false
}

function isKnownFile(part: WordPart): boolean {
  if (part.type !== 'DoubleQuoted') return !EXPANDED.has(part.type)
  return part.parts.every(({ type, text }) => !EXPANDED.has(type) || text === '$HOME')
}

const EXPANDED: ReadonlySet<WordPart['type']> = new Set([
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ArithmeticExpansion',
])

/** `{"a"`: where a quote follows a brace, what is quoted is in doubt. */
function isHalfBrace({ parts = [] }: Word): boolean {
  const brace = parts.findIndex((part) => part.type === 'Literal' && part.text.includes('{'))
  if (brace < 0) return false
  return parts.slice(brace).some(({ type }) => type === 'SingleQuoted' || type === 'DoubleQuoted')
}
