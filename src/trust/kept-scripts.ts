// Runs a reviewed command with its reviewed scripts when the project has changed or lost them.

import { inQuotes } from '../effects/shell/shell-quoted.js'
import { isThere, lostWords, otherLoads, scriptNow } from './changes.js'
import { pathAt } from './file-reading.js'
import { variablesOf } from './hook-reading.js'
import { mentionedPaths } from './mentioned-paths.js'
import { namedBy } from './named-files.js'
import { isLost } from './relative-path.js'
import type { TrustedFile, TrustRecord, UnitHook } from './unit.js'

type Line = Pick<UnitHook, 'command' | 'args'>

/**
 * The line that runs copies of the scripts; `place` makes a copy. Undefined unless it is certain that nothing else of the
 * project runs: the command has only plain words, and every script that changed is one of them, or belongs to another hook.
 */
export function withKeptScripts(
  record: TrustRecord,
  hook: UnitHook,
  cwd: string,
  place: (script: TrustedFile) => string | undefined,
): Line | undefined {
  const words = wordsOf(hook, record)
  if (!words || record.absent.some(isThere)) return undefined
  const own = new Set(words.map(({ path }) => path))
  const others = new Set(record.hooks.flatMap((one) => wordsOf(one, record)?.map(({ path }) => path) ?? []))
  if (strangers(record, cwd).some((path) => !own.has(path) && !others.has(path))) return undefined
  const copies = new Map<string, string>()
  for (const script of record.scripts.filter(({ path }) => own.has(path))) {
    const copy = place(script)
    if (copy === undefined) return undefined
    copies.set(script.path, copy)
  }
  return lineOf(hook, words, ({ path }) => copies.get(path ?? ''))
}

/** How to start a command in a folder where it does not find its reviewed scripts. */
export type Start =
  /** This line finds them. */
  | { readonly line: Line }
  /** The missing path. `mayPass`: the command may start nothing and still report success. */
  | { readonly lost: string; readonly mayPass: boolean }

/**
 * A line of plain words gets absolute paths. A command that changes folders starts in the project, as it was reviewed,
 * because a name means another file after a `cd`. Undefined if the command misses nothing.
 */
export function startElsewhere(record: TrustRecord, hook: UnitHook, cwd: string): Start | undefined {
  const { words, started, goes } = namedBy({ ...record, hooks: [hook] }, [])
  const mentioned = mentionedPaths(hook, record).filter((path) => isLost(path, record.projectDir, cwd))
  const missed = mentioned.map(({ text }) => text)
  const named = lostWords({ ...record, words }, cwd)
  const script = missed[0] ?? named.find((word) => started.includes(word))
  const lost = script ?? named[0]
  if (lost === undefined) return undefined
  const line = withWholePaths(record, hook, cwd, missed)
  if (line) return { line }
  if (goes && !hook.args && !goesBack(hook.command))
    return { line: { command: `cd ${inQuotes(record.projectDir)} || exit 2\n${hook.command}` } }
  return { lost, mayPass: script !== undefined }
}

/** Whether it may go to the folder of the session, which it reads from its input. */
function goesBack(command: string): boolean {
  return /\bcwd\b/.test(command)
}

/** Undefined if a shell might read the line differently, or something is missed that is not a word of it. */
function withWholePaths(
  record: TrustRecord,
  hook: UnitHook,
  cwd: string,
  missed: readonly string[],
): Line | undefined {
  const words = wordsOf(hook, record)
  const isReviewed = (path: string) => record.scripts.some((script) => script.path === path)
  const isMoved = ({ text, path }: LineWord) =>
    path !== undefined &&
    !text.startsWith('/') &&
    (missed.includes(text) || (isReviewed(path) && !isThere(pathAt(cwd, text))))
  const isWhole = missed.every((one) => words?.some((word) => word.text === one && isMoved(word)))
  if (!words?.some(isMoved) || !isWhole) return undefined
  return lineOf(hook, words, (word) => (isMoved(word) ? word.path : undefined))
}

/** `pathFor` returns the path that replaces a word. */
function lineOf(
  hook: UnitHook,
  words: readonly LineWord[],
  pathFor: (word: LineWord) => string | undefined,
): Line {
  const [program = '', ...rest] = words.map((word) => {
    const path = pathFor(word)
    if (path === undefined) return word.written
    return hook.args ? path : inQuotes(path)
  })
  return hook.args ? { command: program, args: rest } : { command: [program, ...rest].join(' ') }
}

/** Reviewed paths that have changed, or that mean something else in the folder where the hook starts. */
function strangers(record: TrustRecord, cwd: string): readonly string[] {
  const { scripts, words, projectDir } = record
  const changed = scripts.filter((script) => typeof scriptNow(script, false) === 'string')
  const moved = cwd === projectDir ? [] : words.filter((word) => isThere(pathAt(cwd, word)))
  return [
    ...changed.map(({ path }) => path),
    ...moved.map((word) => pathAt(projectDir, word)),
    // A copied script has no files beside it. Code in the command itself has no copy.
    ...otherLoads(record).map(({ script = '' }) => script),
  ]
}

interface LineWord {
  readonly written: string
  /** Without quotes, and with our variables filled in. */
  readonly text: string
  /** Undefined for a program that is looked up in `$PATH`. */
  readonly path: string | undefined
}

/** Undefined if a shell might read it differently. */
function wordsOf(hook: UnitHook, record: TrustRecord): readonly LineWord[] | undefined {
  const { command, args, shell } = hook
  if (shell === 'powershell' && !args) return undefined
  const words = args
    ? [command, ...args].map((written) => ({ written, text: filledIn(written, record) }))
    : plainWords(command, record)
  return words?.map(({ written, text }, i) => {
    const isFound = i === 0 && !text.includes('/')
    return { written, text, path: isFound ? undefined : pathAt(record.projectDir, text) }
  })
}

function filledIn(argument: string, record: TrustRecord): string {
  return argument.replace(/\$\{(\w+)\}/g, (whole, name: string) => folderOf(record, name) ?? whole)
}

// ---- words that every shell reads alike ------------------------------------------------------------------------

type PlainWord = Omit<LineWord, 'path'>

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

/** Undefined if the command has a character that plain words never have. */
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
      // A shell splits unquoted text.
      if (folder === undefined || (bare !== undefined && !/^[\w@%+:,./-]*$/.test(folder))) isPlain = false
      return folder ?? ''
    })
  })
  return isPlain ? text : undefined
}

function folderOf(record: TrustRecord, name: string): string | undefined {
  return variablesOf(record).find((variable) => variable.name === name)?.folder
}
