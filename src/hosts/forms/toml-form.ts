// Our entries in a TOML file, each a table of its own at the end. Everything else in it stays exactly as it is.

import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { textOf } from '../../core/base/errors.js'
import type { Entry, Form, FormCommand, FormPlace, IsOut } from '../host-setup.js'
import { SetupProblem } from '../setup-problem.js'

export interface TomlTables {
  /** The tables to add. */
  readonly tables: (entries: readonly Entry[], at: FormPlace) => readonly TomlTable[]
  readonly isOut: (table: FoundTable, isOut: IsOut) => boolean
  readonly commands: (table: TomlTable) => readonly FormCommand[]
}

export interface TomlTable {
  /** With its brackets. */
  readonly header: string
  readonly values: Readonly<Record<string, unknown>>
}

/** One that stands in a text. */
export interface FoundTable extends TomlTable {
  /** A comment above it says that setup wrote it. */
  readonly isMarked: boolean
}

export function tomlForm({ tables, isOut: isTableOut, commands }: TomlTables): Form {
  return {
    put: (text = '', entries, at) => {
      valuesIn(text, at.file)
      const added = tables(entries, at)
      const isOld = ({ header }: Block) => added.some((table) => table.header === header && !isList(header))
      const kept = textWithout(blocksIn(text), isOld)
      return checked(withBlocks(kept, added.map(blockText)), at.file)
    },
    take: (text, file, isOut) => {
      valuesIn(text, file)
      const blocks = blocksIn(text)
      const isGone = (block: Block) => isTableOut(tableOf(block), isOut)
      const rest = textWithout(blocks, isGone)
      if (hasCommand(orNothing(rest), isOut))
        throw new SetupProblem(
          `${file} has hooks of Carabiner in a form that setup cannot remove`,
          'Remove them by hand: look for "carabiner" in it.',
        )
      if (!blocks.some(isGone)) return text
      // The empty line that setup put before its tables.
      const last = blocks.at(-1)
      const isLast = last !== undefined && textWithout([last], isGone) === ''
      return checked(isLast ? rest.replace(/(?<=\n)\r?\n$/, '') : rest, file)
    },
    isBare: (text) => text.trim() === '',
    commands: (text) => {
      let line = 1
      return blocksIn(text).flatMap((block) => {
        const at = line + linesBefore(block)
        line += block.text.split('\n').length - 1
        return commands(tableOf(block)).map((one) => ({ ...one, line: at }))
      })
    },
    isSame: (a, b) => isDeepStrictEqual(orNothing(a), orNothing(b)),
  }
}

/** Comments above the header. */
function linesBefore({ text }: Block): number {
  return text.split('\n').findIndex((line) => !/^[ \t]*#/.test(line))
}

/** Comments after a block are the user's: they stay. */
function textWithout(blocks: readonly Block[], isGone: (block: Block) => boolean): string {
  return blocks
    .map((block) => {
      if (!isGone(block)) return block.text
      const after = block.text.slice(block.end)
      return after.includes('#') ? after.replace(/^(?:[ \t]*\r?\n)+/, '') : ''
    })
    .join('')
}

/** Whether a handler that is out stands anywhere in the values. */
function hasCommand(values: unknown, isOut: IsOut): boolean {
  if (typeof values !== 'object' || values === null) return false
  if ('command' in values && typeof values.command === 'string' && isOut(values)) return true
  return Object.values(values).some((one) => hasCommand(one, isOut))
}

/** `[[name]]`, of which there may be several. */
function isList(header: string): boolean {
  return header.startsWith('[[')
}

function blockText({ header, values }: TomlTable): string {
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  return `${[OURS, header, ...lines].join('\n')}\n`
}

const OURS = '# Written by carabiner setup.'

/** Adds blocks at the end, after an empty line. */
function withBlocks(text: string, blocks: readonly string[]): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  return text + gap + blocks.join('\n').replaceAll('\n', eol)
}

// ---- reading --------------------------------------------------------------------------------------------------

/** Throws a SetupProblem. */
function valuesIn(text: string, file: string): unknown {
  try {
    return parsed(text)
  } catch (error) {
    throw new SetupProblem(
      `${file}${lineOf(error)} is not valid TOML: ${firstLine(error)}`,
      'Correct it first.',
    )
  }
}

/** The last check: unless the host can read the new text, it is not written. */
function checked(text: string, file: string): string {
  try {
    parsed(text)
    return text
  } catch (error) {
    const problem = `${file} has hooks in a form that setup cannot add to: ${firstLine(error)}`
    throw new SetupProblem(problem, 'Write them as tables with a header of their own, then run it again.')
  }
}

function lineOf(error: unknown): string {
  const { line } = error as { readonly line?: unknown }
  return typeof line === 'number' ? `:${line}` : ''
}

function firstLine(error: unknown): string {
  return textOf(error).split('\n')[0] ?? ''
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  // TOML has integers of 64 bits, which a number cannot hold.
  return parse(withoutMark(text), { integersAsBigInt: 'asNeeded' })
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
}

/** Undefined if it is not valid TOML. */
export function tomlValues(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parsed(text)
  } catch {
    return undefined
  }
}

function orNothing(text: string): unknown {
  return tomlValues(text) ?? text
}

/** A table as it stands in the text: its header, what follows, and comments right above it. */
interface Block {
  /** Empty for what stands before the first one. */
  readonly header: string
  readonly text: string
  /** Where its last key ends. Only comments and blank lines follow. */
  readonly end: number
}

/** Joined, the blocks are the text. */
function blocksIn(text: string): readonly Block[] {
  const blocks: { header: string; lines: string[]; keys: number }[] = [{ header: '', lines: [], keys: 0 }]
  let quotes: string | undefined
  for (const line of text.split(/(?<=\n)/)) {
    const block = blocks.at(-1) as (typeof blocks)[number]
    const header = quotes === undefined ? HEADER.exec(line)?.[1] : undefined
    if (header === undefined) {
      block.lines.push(line)
      if (quotes !== undefined || /^[ \t]*[^ \t\r\n#]/.test(line)) block.keys = block.lines.length
      quotes = quotesAfter(line, quotes)
    } else {
      const lines = [...block.lines.splice(commentsAt(block.lines)), line]
      blocks.push({ header, lines, keys: lines.length })
    }
  }
  return blocks.map(({ header, lines, keys }) => ({
    header,
    text: lines.join(''),
    end: lines.slice(0, keys).join('').length,
  }))
}

const HEADER = /^[ \t]*(\[\[?(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'[\]#])+\]\]?)[ \t]*(?:#.*)?\r?\n?$/

/** Where comments begin that have no blank line after them: with our own, if it is among them. */
function commentsAt(lines: readonly string[]): number {
  let at = lines.length
  while (at > 0 && /^[ \t]*#/.test(lines[at - 1] ?? '')) at--
  const own = lines.findLastIndex((line, i) => i >= at && line.startsWith(OURS))
  return own < 0 ? at : own
}

/** The quotes of a string of several lines that is open after this line. */
function quotesAfter(line: string, open: string | undefined): string | undefined {
  let quotes = open
  for (let at = 0; at < line.length; ) {
    const token = quotes === undefined ? OUTSIDE : quotes === '"""' ? IN_BASIC : IN_LITERAL
    token.lastIndex = at
    const [found = ''] = token.exec(line) ?? []
    if (quotes !== undefined) {
      if (found.startsWith(quotes)) quotes = undefined
    } else if (found.startsWith('#')) return undefined
    else if (found === '"""' || found === "'''") quotes = found
    at += found.length || 1
  }
  return quotes
}

/** Quotes that open a long string, whole short strings, comments, and everything else. */
const OUTSIDE = /"""|'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#.*|[^"'#]+|["']/y
/** A long string may end with two quotes of its own. */
const IN_BASIC = /\\[\s\S]|"{1,5}|[^"\\]+/y
const IN_LITERAL = /'{1,5}|[^']+/y

function tableOf({ header, text }: Block): FoundTable {
  const values = header === '' ? {} : innermost(orNothing(text), header)
  return { header, values, isMarked: text.startsWith(OURS) }
}

/** The only table in what one block says. */
function innermost(values: unknown, header: string): TomlTable['values'] {
  let at = values
  for (let depth = 0; depth < header.length; depth++) {
    const inner = Array.isArray(at) ? at[0] : at
    if (typeof inner !== 'object' || inner === null) return {}
    const [only, ...more] = Object.values(inner)
    const isTable = typeof only === 'object' && only !== null && more.length === 0
    if (!isTable || (Array.isArray(only) && typeof only[0] !== 'object')) return inner as TomlTable['values']
    at = only
  }
  return {}
}
