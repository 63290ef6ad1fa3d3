// A reviewed command with the scripts that were reviewed with it, where the project has others by now.

import { searchPath } from '../files/search-path.js'
import { inQuotes } from '../shell/shell-quoted.js'
import { pathAt, typeAt } from './file-reading.js'
import { variablesOf } from './hook-reading.js'
import { namedBy } from './named-files.js'
import type { TrustedFile, TrustRecord, UnitHook } from './unit.js'

type Line = Pick<UnitHook, 'command' | 'args'>

/**
 * The line that runs the copies; `place` makes one. Undefined unless it is certain that nothing else of the project runs:
 * the command is made of plain words, and every script that it names is one of them.
 */
export function withKeptScripts(
  record: TrustRecord,
  hook: UnitHook,
  cwd: string,
  place: (script: TrustedFile) => string | undefined,
): Line | undefined {
  const scripts = scriptsOf(record, hook, cwd)
  if (!scripts) return undefined
  const copies = new Map<string, string>()
  for (const script of scripts) {
    const copy = place(script)
    if (copy === undefined) return undefined
    copies.set(script.path, copy)
  }
  return hook.args ? inArguments(record, hook, copies) : inWords(record, hook, copies)
}

/** The scripts that this hook names. Undefined if it also names something that was not reviewed. */
function scriptsOf(record: TrustRecord, hook: UnitHook, cwd: string): readonly TrustedFile[] | undefined {
  const { files, absent, words } = namedBy(
    { ...record, hooks: [hook] },
    searchPath([record.projectDir]).folders,
  )
  const named = new Set([...files, ...absent])
  const scripts = record.scripts.filter(({ path }) => named.has(path))
  const known = new Set(scripts.map(({ path }) => path))
  const isNew = (path: string) => !known.has(path) && typeAt(path) !== undefined && typeAt(path) !== 'folder'
  if ([...named].some(isNew)) return undefined
  // Where the hook starts, a relative name may mean another file.
  const others = cwd === record.projectDir ? [] : words.map((word) => pathAt(record.projectDir, word))
  return others.every((path) => known.has(path)) ? scripts : undefined
}

function inArguments(
  record: TrustRecord,
  { command, args = [] }: UnitHook,
  copies: Copies,
): Line | undefined {
  const used = new Set<string>()
  const [program = '', ...rest] = [command, ...args].map((argument, i) => {
    const text = argument.replace(/\$\{(\w+)\}/g, (whole, name: string) => folderOf(record, name) ?? whole)
    return replaced(record, text, i === 0, copies, used) ?? argument
  })
  return used.size === copies.size ? { command: program, args: rest } : undefined
}

function inWords(record: TrustRecord, { command, shell }: UnitHook, copies: Copies): Line | undefined {
  if (shell === 'powershell') return undefined
  const words = plainWords(command, record)
  if (!words) return undefined
  const used = new Set<string>()
  const line = words.map(({ written, text }, i) => {
    const copy = replaced(record, text, i === 0, copies, used)
    return copy === undefined ? written : inQuotes(copy)
  })
  return used.size === copies.size ? { command: line.join(' ') } : undefined
}

type Copies = ReadonlyMap<string, string>

/** A first word without a slash is looked up in `$PATH`. */
function replaced(
  { projectDir }: TrustRecord,
  text: string,
  isFirst: boolean,
  copies: Copies,
  used: Set<string>,
): string | undefined {
  if (isFirst && !text.includes('/')) return undefined
  const path = pathAt(projectDir, text)
  const copy = copies.get(path)
  if (copy !== undefined) used.add(path)
  return copy
}

// ---- words that no shell reads differently ---------------------------------------------------------------------

interface PlainWord {
  readonly written: string
  /** Without quotes, and with our variables filled in. */
  readonly text: string
}

const VARIABLE = /\$(?:(\w+)|\{(\w+)\})/g
const PIECE = /[\w@%+:,./-]+|'[^'\n]*'|"(?:[^"$`\\\n!]|\$\w+|\$\{\w+\})*"|\$\w+|\$\{\w+\}/y

/** Undefined if the command has anything but words: operators, assignments, patterns, other variables, more than one line. */
function plainWords(command: string, record: TrustRecord): readonly PlainWord[] | undefined {
  const words: PlainWord[] = []
  for (const written of splitWords(command.trim()) ?? ['']) {
    const text = textOf(written, record)
    if (text === undefined || text === '') return undefined
    words.push({ written, text })
  }
  return words
}

/** Undefined if a character stands there that is in no plain word. */
function splitWords(command: string): readonly string[] | undefined {
  const words: string[] = []
  let word = ''
  for (let at = 0; at < command.length; ) {
    const blank = /[ \t]+/y
    blank.lastIndex = at
    if (blank.test(command)) {
      words.push(word)
      word = ''
      at = blank.lastIndex
      continue
    }
    PIECE.lastIndex = at
    const [piece] = PIECE.exec(command) ?? []
    if (piece === undefined) return undefined
    word += piece
    at += piece.length
  }
  return [...words, word]
}

function textOf(written: string, record: TrustRecord): string | undefined {
  let isPlain = true
  const text = written.replace(/'([^']*)'|"([^"]*)"|([^'"]+)/g, (_, single, double, bare) => {
    if (single !== undefined) return single
    return ((double ?? bare) as string).replace(VARIABLE, (_whole, a, b) => {
      const folder = folderOf(record, a ?? b)
      // A shell splits what is not in quotes.
      if (folder === undefined || (bare !== undefined && !/^[\w@%+:,./-]*$/.test(folder))) isPlain = false
      return folder ?? ''
    })
  })
  return isPlain ? text : undefined
}

function folderOf(record: TrustRecord, name: string): string | undefined {
  return variablesOf(record).find((variable) => variable.name === name)?.folder
}
