// Remarks on a review for the person who decides. They cover common risks only: no remark does not mean no risk.

import { basename } from 'node:path'
import { bashOnly } from '../effects/shell/bash-only.js'
import { readShell } from '../effects/shell/shell-reading.js'
import { inReadingOrder, type RankedFile, type Review, type ReviewedFile } from './review.js'
import { RISK_KINDS, type RiskKind, RULES } from './risk-rules.js'
import { isExecutable, type UnitHook } from './unit.js'

export interface RiskNote {
  readonly kind: RiskKind
  /** The hook's name or the file's path, as found. Sanitize it before showing it. */
  readonly where: string
  readonly line?: number
  /** A sentence of ours. Text from outside is in quotes. */
  readonly text: string
}

/** Longer lines are checked only up to here. */
const LONGEST_LINE = 4000
const MOST_TEXT = 4 * 1024 * 1024
/** The most lines reported for one kind in one file. */
const MOST_LINES = 3

/** The worst first. Within one kind: hooks, then files in reading order, then programs. */
export function risksOf(review: Review): readonly RiskNote[] {
  let left = MOST_TEXT
  const inFiles = inReadingOrder(review).flatMap(({ file, part }): readonly RiskNote[] => {
    const inName = aboutName(file.path)
    if (file.link !== undefined) return inName
    if (!file.isText)
      return [...inName, note('binary', file.path, 'It is not text, so it cannot be reviewed here.')]
    if (file.text === undefined || file.text.length > left) {
      return [...inName, note('unseen', file.path, 'It is too large to be shown here.')]
    }
    left -= file.text.length
    return [...inName, ...inFile(file, file.text, part)]
  })
  const unseen = review.unseen.map((text) => note('unseen', review.unit.name, text))
  const notes = [...inHooks(review), ...unseen, ...inFiles, ...aboutPrograms(review)]
  return RISK_KINDS.flatMap((kind) => notes.filter((one) => one.kind === kind))
}

function inHooks({ unit, notes }: Review): readonly RiskNote[] {
  return unit.hooks.flatMap((hook) => {
    const text = [hook.command, ...(hook.args ?? [])].join(' ')
    const found = inText(hook.name, text, 'command').map(({ line: _, ...rest }) => rest)
    const unseen = notes.filter((one) => one.hook === hook.name)
    return [...found, ...unseen.map((one) => note('unseen', hook.name, one.text)), ...bashIn(hook)]
  })
}

/** A gate that sh cannot read blocks everything or nothing. */
function bashIn({ name, command, args, shell }: UnitHook): readonly RiskNote[] {
  const only = args === undefined && (shell ?? 'sh') === 'sh' ? bashOnly(command) : undefined
  if (only === undefined) return []
  const text = `It uses ${JSON.stringify(only)}, which is bash, but sh runs it: its author should write "shell": "bash".`
  return [note('bash-syntax', name, text)]
}

/** The languages whose rules and comments differ. */
type Language = 'command' | 'shell' | 'slashes' | 'other'

/** Prose and data contain no commands, unless something names the file: `sh notes.txt` runs it. */
function inFile(file: ReviewedFile, text: string, part: RankedFile['part']): readonly RiskNote[] {
  const found = inText(file.path, text, languageOf(file, text))
  return isDocument(file) && part !== 'named' ? found.filter(({ kind }) => kind === 'hidden-text') : found
}

function inText(where: string, text: string, language: Language): readonly RiskNote[] {
  const lines = text.split('\n')
  const isShell = language === 'command' || language === 'shell'
  let run: readonly string[] | undefined
  return RULES.flatMap((rule) => {
    if ((rule.isShell && !isShell) || (rule.isCommand && language !== 'command')) return []
    const found: RiskNote[] = []
    for (let i = 0; i < lines.length && found.length < MOST_LINES; i++) {
      const line = lines[i] as string
      if (rule.kind !== 'hidden-text' && COMMENTS[language].test(line)) continue
      if (!rule.pattern.test(line.slice(0, LONGEST_LINE))) continue
      if (rule.isRun) run ??= withoutPatterns(text).split('\n')
      if (rule.isRun && !rule.pattern.test((run?.[i] ?? '').slice(0, LONGEST_LINE))) continue
      found.push({ ...note(rule.kind, where, rule.text), line: i + 1 })
    }
    return found
  }).concat(longLines(where, lines))
}

/** A comment on its own line, but not `#!`. `//usr/bin/curl` is a comment in some languages and a program in every shell. */
const COMMENTS: Readonly<Record<Language, RegExp>> = {
  command: /^\s{0,200}#(?!!)/,
  shell: /^\s{0,200}#(?!!)/,
  slashes: /^\s{0,200}\/\/(?!\/{0,9}[\w.]{1,200}\/)/,
  other: /^\s{0,200}#(?!!)/,
}

function languageOf({ path }: ReviewedFile, text: string): Language {
  if (/\.(?:ba|z|k|da)?sh$/.test(path) || /^#!.{0,80}\b(?:ba|z|k|da|a)?sh\b/.test(text)) return 'shell'
  if (/\.(?:[cm]?[jt]s|[jt]sx|go|rs|php)$/i.test(path) || /^#!.{0,80}\b(?:node|bun|deno)\b/.test(text))
    return 'slashes'
  // A shell may run any file without the extension of another language.
  return /\.(?:py|rb|pl|lua|json|ya?ml|toml|css|html?)$/i.test(path) ? 'other' : 'shell'
}

function longLines(where: string, lines: readonly string[]): readonly RiskNote[] {
  const at = lines.findIndex((line) => line.length > LONGEST_LINE)
  if (at < 0) return []
  return [{ ...note('obfuscation', where, 'It has a line that is too long to read.'), line: at + 1 }]
}

/** Prose, and lists of hooks, which are shown separately. */
function isDocument(file: ReviewedFile): boolean {
  return !isExecutable(file) && /(?:\.(?:md|json|txt|rst)|(?:^|\/)LICENSE)$/i.test(file.path)
}

/** In a name every letter counts: it is never prose. */
function aboutName(path: string): readonly RiskNote[] {
  return RULES.filter(({ kind, pattern }) => kind === 'hidden-text' && pattern.test(path)).map(({ text }) =>
    note('hidden-text', path, text.replace(/^It /, 'Its name ')),
  )
}

function aboutPrograms({ unit, missing, inProject, skippedPath }: Review): readonly RiskNote[] {
  const own = new Set(inProject.map((path) => basename(path)))
  return [
    ...missing
      .filter((name) => !own.has(name))
      .map((name) =>
        note(
          'program',
          unit.name,
          `The program ${JSON.stringify(name)} is not on PATH. One that is installed later will run.`,
        ),
      ),
    ...inProject.map((path) =>
      note(
        'program',
        unit.name,
        `The program ${JSON.stringify(path)} is a link into the project, and is ignored.`,
      ),
    ),
    ...skippedPath.map((entry) =>
      note(
        'program',
        unit.name,
        `PATH has ${JSON.stringify(entry)}, a folder that the project can write to; programs in it are ignored.`,
      ),
    ),
  ]
}

function note(kind: RiskKind, where: string, text: string): RiskNote {
  return { kind, where, text }
}

// ---- quoted `case` patterns: they look like commands, but never run -------------------------------------------

interface Range {
  readonly pos: number
  readonly end: number
}

/** Replaces them with spaces, so that lines and columns stay the same. */
function withoutPatterns(text: string): string {
  const patterns: Range[] = []
  const quoted: Range[] = []
  readShell(text, (node, source) => {
    if (source !== text) return
    if (node.type === 'CaseItem') patterns.push(...node.pattern)
    if (node.type === 'SingleQuoted') quoted.push(node)
  })
  const inPattern = quoted.filter(({ pos, end }) => patterns.some((one) => one.pos <= pos && end <= one.end))
  return inPattern.reduce((left, { pos, end }) => {
    const blanks = text.slice(pos, end).replace(/[^\n]/g, ' ')
    return left.slice(0, pos) + blanks + left.slice(end)
  }, text)
}
