// Patterns in rules: `*` in text, commands and paths. Matching time is bounded for every pattern.

import type { ShellReading } from './shell-reading.js'
import { nameOf, OPEN, type SimpleCommand } from './simple-command.js'

/** A pattern cut at its stars. `\*` is a literal star, `\\` a backslash. */
export type Pieces = readonly string[]

export function piecesOf(pattern: string): Pieces {
  const pieces = ['']
  for (let i = 0; i < pattern.length; i++) {
    const escaped = pattern[i] === '\\' && (pattern[i + 1] === '*' || pattern[i + 1] === '\\')
    if (escaped) i++
    if (!escaped && pattern[i] === '*') pieces.push('')
    else pieces[pieces.length - 1] += pattern[i] as string
  }
  return pieces
}

/** The first and the last piece have fixed places. For the others, the leftmost match is as good as any. */
export function fits(pieces: Pieces, text: string): boolean {
  const first = pieces[0] as string
  if (pieces.length === 1) return text === first
  const last = pieces[pieces.length - 1] as string
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let i = 1; i < pieces.length - 1; i++) {
    const piece = pieces[i] as string
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/** In pairs of characters. Beyond this the answer is yes. */
const MOST_STEPS = 1_000_000

/** Whether some text that `shape` can become fits. Both sides have gaps. One step for each pair of characters. */
export function mayFit(pieces: Pieces, shape: string): boolean {
  const pattern = pieces.join(OPEN)
  if (pattern.length * shape.length > MOST_STEPS) return true
  /** Which prefixes of the pattern can match the part of the shape read so far. */
  let reached = new Uint8Array(pattern.length + 1)
  reached[0] = 1
  withEmptyStars(reached, pattern)
  for (let i = 0; i < shape.length; i++) {
    const next = new Uint8Array(pattern.length + 1)
    const open = shape[i] === OPEN
    const within = shape[i] === WITHIN
    for (let j = 0; j <= pattern.length; j++) {
      if (!reached[j]) continue
      if (open) {
        next.fill(1, j)
        break
      }
      if (within) next.fill(1, j, endOfWord(pattern, j) + 1)
      if (pattern[j] === OPEN) next[j] = 1
      else if (pattern[j] === shape[i]) next[j + 1] = 1
    }
    withEmptyStars(next, pattern)
    reached = next
  }
  return reached[pattern.length] === 1
}

/** Stands for unknown text without a space. */
const WITHIN = '\u0001'

function endOfWord(pattern: string, from: number): number {
  const space = pattern.indexOf(' ', from)
  return space < 0 ? pattern.length : space
}

/** A star may match nothing. */
function withEmptyStars(reached: Uint8Array, pattern: string): void {
  for (let j = 0; j < pattern.length; j++) if (reached[j] && pattern[j] === OPEN) reached[j + 1] = 1
}

// ---- commands: `git *`, `rm:*`, `npm test`, as in Claude Code's permission rules ------------------------------

/** A longer pattern always matches. */
const LONGEST_PATTERN = 1024

/** Whether the pattern matches one of the commands, or one that cannot be seen. It may match too often, never too rarely. */
type CommandPattern = (reading: ShellReading) => boolean

export function commandPattern(pattern: string): CommandPattern {
  const text = ruleText(pattern)
  if (text === '' || text.length > LONGEST_PATTERN || text.includes(OPEN)) return () => true
  const matches = commandMatcher(text)
  const beyondName = !NAME_ONLY.test(text)
  const lines = /[&|;]/.test(text) ? formsOf(text) : undefined
  return ({ commands, unknown, beyond, expands, heredoc, source }) => {
    // As observed: Claude Code stops where the shell expands something, and skips syntax that it does not analyse.
    if (unknown || beyond || heredoc || (beyondName && expands)) return true
    // An alias puts its own words before others.
    for (const command of commands)
      if (matches(command) || (beyondName && command.name === 'alias')) return true
    return lines?.some((form) => fits(form, inOneLine(source))) ?? false
  }
}

/** Whether the pattern covers everything that runs, exactly as written: no other folder, variable, redirection or extra word. */
export function sureCommandPattern(pattern: string): CommandPattern {
  const text = ruleText(pattern)
  if (text === '' || text.length > LONGEST_PATTERN || text.includes(OPEN)) return () => false
  const forms = formsOf(text)
  return ({ commands, unknown, beyond, expands, heredoc }) => {
    if (unknown || beyond || expands || heredoc || commands.length === 0) return false
    return commands.every((one) => one.isBare && !one.dynamic && forms.some((form) => fits(form, one.shape)))
  }
}

/** In a rule, parentheses and backslashes are escaped with a backslash. The order matters: `\\(` is `\(`. */
function ruleText(pattern: string): string {
  const unescaped = pattern.replace(/\\([()])/g, '$1').replaceAll('\\\\', '\\')
  return unescaped.trim().replace(/\s+/g, ' ').replace(/:\*$/, ' *')
}

/** Such a pattern says nothing about arguments, so expansions cannot matter. */
const NAME_ONLY = /^(?:[^\s*\\]+ ?\*|\*)$/

/** `git *` also means `git` alone. */
function formTexts(text: string): readonly string[] {
  return text.endsWith(' *') ? [text, text.slice(0, -2)] : [text]
}

function formsOf(text: string): readonly Pieces[] {
  return formTexts(text).map(piecesOf)
}

function commandMatcher(text: string): (command: SimpleCommand) => boolean {
  const forms = formsOf(text)
  const loose = looseForms(text)
  // A `push` for `git push *`. Without it, a command fits in no way.
  const needed = (loose.at(-1) ?? []).slice(1).map((piece) => piece.trim())
  // Quotes, assignments and redirections in a pattern refer to the text as written.
  const asWritten = /["'=<>]/.test(text)
  // Most commands begin differently. This can be seen without writing them out.
  const [head = ''] = (forms[0]?.[0] ?? '').split(' ')
  const name = nameOf(head)
  const anyOf = NAME_ONLY.test(text) && text.endsWith(' *') ? name : undefined
  return (command) => {
    if (command.name === anyOf) return true
    if (!command.name.startsWith(name) && !command.beginsWith(head)) return false
    if (!command.dynamic && needed.some((word) => !command.says(word))) return false
    return fitsCommand(forms, command) || fitsLoosely(loose, command, asWritten)
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
  const line = inOneLine(source)
  return line !== shape && forms.some((form) => fits(form, line))
}

// Options before a subcommand differ from program to program, so any words may come between the words of a pattern. Both
// sides have two spaces between words, so that a gap always begins and ends at a whole word.

/** `git push *` as `git * push *`, with the program's name instead of its path. */
function looseForms(text: string): readonly Pieces[] {
  return formTexts(text).map((form) => {
    const [program = '', ...rest] = form.split(' ')
    return piecesOf([nameOf(program), ...rest].join(' * '))
  })
}

function fitsLoosely(forms: readonly Pieces[], command: SimpleCommand, asWritten: boolean): boolean {
  const [, ...rest] = command.shapes
  const isBehindOptions = rest[0]?.startsWith('-') === true
  const words = rest.map((word) => looseWord(word, isBehindOptions))
  const text = [command.name, ...words].join('  ')
  const test = command.dynamic ? mayFit : fits
  if (forms.some((form) => test(form, text))) return true
  if (!asWritten || command.source === undefined) return false
  const line = inOneLine(command.source).replaceAll(' ', '  ')
  return forms.some((form) => fits(form, line))
}

/** A blank inside a word does not separate words. */
const BLANK = '\t'

function looseWord(word: string, isBehindOptions: boolean): string {
  // After options, it may be the subcommand. In `git add *` it is not.
  if (word === OPEN) return isBehindOptions ? OPEN : BLANK
  // The value may be the word: `-c alias.p=push`.
  return word.replaceAll(' ', BLANK).replaceAll(OPEN, WITHIN).replaceAll('=', '=  ')
}

function inOneLine(source: string): string {
  const line = source.trim()
  return /[^\S ]| {2}/.test(line) ? line.replace(/\s+/g, ' ') : line
}

// ---- paths: `src/**` or `*.ts`, in gitignore's syntax, as in Claude Code's permission rules. Case does not matter

interface Places {
  /** Relative paths and patterns start here. */
  readonly cwd: string
  readonly home: string
  /** Follows links. With it, the folders that a pattern names may be links. */
  readonly realOf?: (path: string) => string
}

/** Whether the path matches. A path or place that cannot be judged matches. */
export type PathPattern = (path: string, places: Places) => boolean

/** Longer patterns and paths are not compared. */
export const LONGEST = 4096
const MOST_ALTERNATIVES = 64

/** Undefined for a pattern without a clear meaning. */
export function pathPattern(pattern: string): PathPattern | undefined {
  const text = pattern.trim().normalize('NFC')
  if (text === '' || text.startsWith('!') || text.length > LONGEST) return undefined
  const alternatives = alternativesOf(text)?.map(anchored)
  if (!alternatives) return undefined
  return (path, places) => {
    if (path.length > LONGEST || !isAbsolute(places.cwd) || !isAbsolute(places.home)) return true
    const parts = partsOf(resolved(path.normalize('NFC'), places))
    return alternatives.some((each) => each(parts, places))
  }
}

// ---- where a pattern begins -----------------------------------------------------------------------------------

type Parts = readonly string[]
type Anchored = (path: Parts, places: Places) => boolean

function anchored(pattern: string): Anchored {
  if (pattern.startsWith('//')) return below(partsOf(pattern), () => [[]])
  if (/^~(?:\/|$)/.test(pattern)) return below(partsOf(pattern.slice(1)), ({ home }) => [partsOf(home)])
  // Claude Code starts at the project, which may be the working folder or one above it.
  if (pattern.startsWith('/')) return below(partsOf(pattern), ({ cwd }) => foldersDownTo(partsOf(cwd)))
  const parts = partsOf(pattern)
  const [only] = parts
  // As observed: a pattern that starts with a star applies to any folder, even outside the project.
  if (pattern.startsWith('*')) return below(['**', ...parts], () => [[]])
  // A single name means files of that name at any depth.
  const anyDepth = parts.length === 1 && only !== '..'
  if (anyDepth) return below(['**', ...parts], ({ cwd }) => [partsOf(cwd)])
  return below(parts, ({ cwd }) => [partsOf(cwd)])
}

function below(pattern: Parts, startsOf: (places: Places) => readonly Parts[]): Anchored {
  const leadsUp = pattern.includes('..')
  const wild = pattern.findIndex((part) => /[*?[\\]/.test(part))
  const named = wild < 0 ? pattern : pattern.slice(0, wild)
  return (path, places) =>
    startsOf(places).some((start) => {
      const { realOf } = places
      if (realOf) {
        const real = partsOf(realOf(`/${[...start, ...named].join('/')}`))
        if (isBelow(path, real) && matchesParts(pattern.slice(named.length), path.slice(real.length)))
          return true
      }
      if (leadsUp) return matchesParts(normal([...start.map(quoted), ...pattern]), path)
      return isBelow(path, start) && matchesParts(pattern, path.slice(start.length))
    })
}

function isBelow(path: Parts, folder: Parts): boolean {
  return folder.every((part, i) => isSame(part, path[i] ?? ''))
}

function foldersDownTo(folder: Parts): readonly Parts[] {
  return [...folder.map((_, i) => folder.slice(0, i)), folder]
}

// ---- paths ------------------------------------------------------------------------------------------------------

function resolved(path: string, { cwd, home }: Places): string {
  if (/^~(?:\/|$)/.test(path)) return home + path.slice(1)
  return isAbsolute(path) ? path : `${cwd}/${path}`
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/')
}

/** Drops empty parts and `.`, and resolves `..`. */
function partsOf(path: string): Parts {
  return normal(path.split('/'))
}

function normal(parts: Parts): Parts {
  const result: string[] = []
  for (const part of parts) {
    if (part === '' || part === '.') continue
    if (part === '..' && result.length > 0 && result.at(-1) !== '..' && result.at(-1) !== '**') result.pop()
    else result.push(part)
  }
  return result
}

// ---- matching -----------------------------------------------------------------------------------------------------

/** Everything below a matching folder matches too. `**` is any number of folders. One step for each pair of parts. */
function matchesParts(pattern: Parts, path: Parts): boolean {
  let reached = withEmptyFolders(new Set([0]), pattern)
  for (const part of path) {
    if (reached.has(pattern.length)) return true
    const next = new Set<number>()
    for (const at of reached) {
      if (pattern[at] === '**') next.add(at)
      else if (matchesPart(pattern[at] as string, part)) next.add(at + 1)
    }
    if (next.size === 0) return false
    reached = withEmptyFolders(next, pattern)
  }
  return reached.has(pattern.length)
}

function withEmptyFolders(reached: Set<number>, pattern: Parts): Set<number> {
  for (const at of reached) if (pattern[at] === '**') reached.add(at + 1)
  return reached
}

/**
 * One name, with `*`, `?`, `[a-z]` and `\x`. Returns only to the last star, so the time is at most the product of both
 * lengths.
 */
function matchesPart(pattern: string, name: string): boolean {
  let p = 0
  let n = 0
  let star = -1
  let retry = 0
  while (n < name.length) {
    const token = tokenAt(pattern, p)
    if (token?.any) {
      star = p
      retry = n
      p += token.length
    } else if (token?.matches(name[n] as string)) {
      p += token.length
      n++
    } else if (star >= 0) {
      p = star + 1
      n = ++retry
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

interface Token {
  readonly length: number
  readonly any: boolean
  readonly matches: (char: string) => boolean
}

function tokenAt(pattern: string, at: number): Token | undefined {
  const char = pattern[at]
  if (char === undefined) return undefined
  if (char === '*') return { length: 1, any: true, matches: () => true }
  if (char === '?') return { length: 1, any: false, matches: () => true }
  const end = char === '[' ? pattern.indexOf(']', at + 2) : -1
  if (end > 0) return { length: end + 1 - at, any: false, matches: classOf(pattern.slice(at + 1, end)) }
  const escaped = char === '\\' && at + 1 < pattern.length
  const literal = escaped ? pattern[at + 1] : char
  return { length: escaped ? 2 : 1, any: false, matches: (c) => isSame(c, literal as string) }
}

function isSame(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase()
}

/** A letter matches if its lower or upper case does. */
function classOf(text: string): (char: string) => boolean {
  const negated = /^[!^]/.test(text)
  const chars = negated ? text.slice(1) : text
  const has = (char: string) => {
    let found = false
    for (let i = 0; i < chars.length; i++) {
      const from = chars[i] as string
      const to = chars[i + 1] === '-' && i + 2 < chars.length ? (chars[i + 2] as string) : from
      found ||= from <= char && char <= to
      if (to !== from) i += 2
    }
    return found !== negated
  }
  return (char) => has(char) || has(char.toLowerCase()) || has(char.toUpperCase())
}

function quoted(part: string): string {
  return part.replace(/[\\*?[]/g, '\\$&')
}

/** `*.{ts,js}` is two patterns. (Claude Code takes braces literally, and the rule then matches nothing.) */
export function alternativesOf(pattern: string): readonly string[] | undefined {
  let patterns = [pattern]
  for (;;) {
    const next = patterns.flatMap((text) => {
      const braces = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(text)
      if (!braces) return [text]
      const [, head, choices = '', tail] = braces
      return [...choices.split(',').map((choice) => head + choice + tail), text]
    })
    const all = [...new Set(next)]
    if (all.length > MOST_ALTERNATIVES) return undefined
    if (all.length === patterns.length) return all
    patterns = all
  }
}
