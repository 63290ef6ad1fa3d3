// Where the shell runs what the parser of it leaves as text, or reads in another way.

import type { ArithmeticWord, SyntaxNode } from 'unbash'
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
      // `${x@P}` expands the value once more.
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
      // Two words are no number: bash takes them for a command.
      return /\s/.test(knownText(node)) ? unread(node.value) : undefined
    case 'BraceExpansion':
    case 'ExtendedGlob':
      return node.parts ? undefined : notTakenApart(node.text)
    case 'HereDocDelimiter':
      // No expansion, but where it ends depends on what would be one.
      return notTakenApart(node.text)
    case 'HereDocBody':
      // Quotes in a `${ }` are none here, unlike in a word.
      return node.parts && isBefore('${', "'", node.text) ? notTakenApart(node.text) : undefined
    case 'Assignment':
      return runsLater(node) ? later(node.text) : undefined
    default:
      return undefined
  }
}

/** For a sentence. */
export function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}…` : text
}

/** `$[1` without an end, `x=($(rm y))z`: what is not escaped is more than text to bash. */
function leftAsText(text: string, meant: RegExp): string | undefined {
  return meant.test(text.replace(/\\./gs, '')) ? unread(text) : undefined
}

/** Arithmetic expands the subscripts in the values that it meets: `x='a[$(rm y)]'; ((x))`. */
function inSubscript(text: string): string | undefined {
  const hides = isBefore('[', '$(', text) || isBefore('[', '`', text)
  return hides ? `arithmetic may run what ${short(text)} says` : undefined
}

/** `((` begins arithmetic, too: bash reads what is none once more, and then sees other here-documents. */
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
  return `only the shell knows what ${short(text)} runs`
}

function knownText({ value, parts }: ArithmeticWord): string {
  if (!parts) return value
  return parts.map((part) => (part.type === 'Literal' ? part.value : '')).join('')
}

/** In one go, however often each of them stands there. */
function isBefore(first: string, then: string, text: string): boolean {
  const at = text.indexOf(first)
  return at >= 0 && text.includes(then, at)
}
