// Syntax in which more may run than the parser shows, and syntax that Claude Code does not analyse.

import type {
  ArithmeticWord,
  Assignment,
  Command,
  ParsedScript,
  Redirect,
  SyntaxNode,
  Word,
  WordPart,
} from 'unbash'
import { isPlain } from './simple-command.js'
import { runsLater } from './wrappers.js'

/** Why more may run than the children of the node show. */
export function hiddenIn(node: SyntaxNode, source: string): string | undefined {
  switch (node.type) {
    case 'Word':
      return node.parts ? undefined : (leftAsText(node.text, /\$[({[]|`|[<>]\(/) ?? inSubscript(node.value))
    case 'Literal':
      return leftAsText(node.text, /\$[({[]|`/) ?? inSubscript(node.value)
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return inSubscript(node.value)
    case 'CommandExpansion':
    case 'ArithmeticCommandExpansion':
    case 'ProcessSubstitution':
      return node.script ? readTwice(node.text) : unread(node.text)
    case 'Subshell':
      return readTwice(source.slice(node.pos, node.end))
    case 'ParameterExpansion':
      if (node.operation?.type === 'Unknown') return notTakenApart(node.text)
      // `${x@P}` expands the value again.
      if (node.operation?.type !== 'Transform' || /^[QEAaUuLKk]$/.test(node.operation.operand.text))
        return undefined
      return later(node.text)
    case 'ArithmeticExpansion':
      return node.expression ? undefined : notTakenApart(node.text)
    case 'ArithmeticCommand':
      return node.expression ? undefined : notTakenApart(node.body)
    case 'ArithmeticFor':
      if (node.initialize && node.test && node.update) return undefined
      return notTakenApart(source.slice(node.pos, node.body.pos))
    case 'ArithmeticWord':
      // Two words are not a number: bash reads them as a command.
      return /\s/.test(knownText(node)) ? unread(node.value) : undefined
    case 'BraceExpansion':
    case 'ExtendedGlob':
      return node.parts ? undefined : notTakenApart(node.text)
    case 'HereDocDelimiter':
      // Nothing is expanded here, but where the document ends depends on it.
      return notTakenApart(node.text)
    case 'HereDocBody':
      // Unlike in a word, quotes inside `${ }` have no meaning here.
      return node.parts && isBefore('${', "'", node.text) ? notTakenApart(node.text) : undefined
    case 'Assignment':
      return runsLater(node) ? later(node.text) : undefined
    default:
      return undefined
  }
}

export function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}…` : text
}

/** `$[1` without an end, `x=($(rm y))z`: to bash, such text is more than text unless it is escaped. */
function leftAsText(text: string, meant: RegExp): string | undefined {
  return meant.test(text.replace(/\\./gs, '')) ? unread(text) : undefined
}

/** Arithmetic expands subscripts in the values it reads: `x='a[$(rm y)]'; ((x))`. */
function inSubscript(text: string): string | undefined {
  const hides = isBefore('[', '$(', text) || isBefore('[', '`', text)
  return hides ? `arithmetic may run commands in ${short(text)}` : undefined
}

/** `((` may also begin arithmetic. If it turns out not to, bash reads it again and then finds other here-documents. */
function readTwice(text: string): string | undefined {
  return /^[$<>]?\(\(/.test(text) && text.includes('<<') ? unread(text) : undefined
}

function notTakenApart(text: string): string | undefined {
  return /[$`]|[<>]\(/.test(text) ? unread(text) : undefined
}

function unread(text: string): string {
  return `${short(text)} cannot be read`
}

function later(text: string): string {
  return `what ${short(text)} runs is only known at run time`
}

function knownText({ value, parts }: ArithmeticWord): string {
  if (!parts) return value
  return parts.map((part) => (part.type === 'Literal' ? part.value : '')).join('')
}

/** Linear time, however often either occurs. */
function isBefore(first: string, then: string, text: string): boolean {
  const at = text.indexOf(first)
  return at >= 0 && text.includes(then, at)
}

// ---- syntax that Claude Code does not analyse, as observed: its rules match every such command ----------------

/** Anywhere, or only if the script is more than one simple command. */
export type Beyond = 'anywhere' | 'in company'

/** Looks only at the text: `a\ b`, a word split by a line end, spaces that bash does not treat as spaces, `=ls`, `~[x]`, `>&-`. */
export function isBeyondText(text: string, plain: boolean): boolean {
  // Plain text can contain only these, and looking for a character is faster.
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

/** Whether the script is one simple command. */
export function isAlone(
  { commands }: ParsedScript,
  test: (command: Command) => boolean = () => true,
): boolean {
  const command = commands.length === 1 ? commands[0]?.command : undefined
  return command?.type === 'Command' && test(command)
}

/** Builtins that set attributes of a variable. */
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

/** Whether the target is unknown, or not a file at all. */
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

/** `{"a"`: after a brace it is unclear what is quoted. */
function isHalfBrace({ parts = [] }: Word): boolean {
  const brace = parts.findIndex((part) => part.type === 'Literal' && part.text.includes('{'))
  if (brace < 0) return false
  return parts.slice(brace).some(({ type }) => type === 'SingleQuoted' || type === 'DoubleQuoted')
}
