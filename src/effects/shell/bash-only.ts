// Syntax that only bash understands. Where sh is dash, such a script exits with 2, which reads as a block, or misbehaves.

import type { Command, ParameterExpansionPart, SyntaxNode } from 'unbash'
import { readShell } from './shell-reading.js'

/** The first piece of a script that only bash understands. Undefined if there is none, or if it cannot be read. */
export function bashOnly(text: string): string | undefined {
  let found: { readonly pos: number; readonly what: string } | undefined
  readShell(text, (node, source) => {
    // Any other text is a script for another shell: bash -c '…'.
    const what = source === text ? onlyInBash(node, source) : undefined
    if (what !== undefined && (found === undefined || node.pos < found.pos)) found = { pos: node.pos, what }
  })
  return found?.what
}

const COMPOUND: Readonly<Partial<Record<SyntaxNode['type'], string>>> = {
  TestCommand: '[[ … ]]',
  ArithmeticCommand: '(( … ))',
  ArithmeticFor: 'for (( … ))',
  Select: 'select',
  Coproc: 'coproc',
  HereString: '<<<',
  AnsiCQuoted: "$'…'",
  LocaleString: '$"…"',
}

function onlyInBash(node: SyntaxNode, source: string): string | undefined {
  switch (node.type) {
    case 'ProcessSubstitution':
      return `${node.operator}( … )`
    case 'Pipeline':
      return node.operators.includes('|&') ? '|&' : undefined
    case 'ParameterExpansion':
      return isBashExpansion(node) ? node.text.slice(0, 40) : undefined
    case 'Function':
      return source.startsWith('function', node.pos) ? 'function' : undefined
    case 'Command':
      return inCommand(node)
    default:
      return COMPOUND[node.type]
  }
}

function isBashExpansion({ index, prefix, operation }: ParameterExpansionPart): boolean {
  if (index !== undefined || prefix === '!') return true
  return operation !== undefined && operation.type !== 'Default' && operation.type !== 'Remove'
}

const BUILTINS = /^(?:source|declare|typeset|shopt|mapfile|readarray|let)$/

/** Arguments of sh builtins that only bash understands. */
const WORDS: Readonly<Record<string, RegExp>> = {
  '[': /^==$/,
  test: /^==$/,
  set: /^pipefail$/,
  trap: /^ERR$/,
  export: /^-f$/,
}

function inCommand({ name, args, prefix, redirects }: Command): string | undefined {
  const program = name?.value ?? ''
  if (BUILTINS.test(program)) return program
  const both = redirects.find(({ operator }) => operator.startsWith('&>'))
  if (both) return both.operator
  for (const one of prefix) {
    if (one.type !== 'Assignment') continue
    if (one.value.type === 'ArrayValue') return `${one.name}=( … )`
    if (one.append || one.index) return `${one.name}${one.append ? '+=' : '[…]='}`
  }
  const odd = Object.hasOwn(WORDS, program) ? WORDS[program] : undefined
  const word = args.find((arg) => arg.type === 'Word' && odd?.test(arg.value))
  return word === undefined ? undefined : `${program} … ${word.text}`
}
