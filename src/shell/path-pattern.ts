// A pattern over paths, `src/**` or `*.ts`: gitignore's syntax, as in the permission rules of Claude Code. Neither looks
// at case: on many disks `SRC` is `src`. No files.

export interface Places {
  /** Where relative paths and patterns begin. */
  readonly cwd: string
  readonly home: string
}

/** Whether the path of a call is one of those; a path or place that cannot be judged is. */
export type PathPattern = (path: string, places: Places) => boolean

/** Longer patterns and paths are not compared. */
const LONGEST = 4096
const MOST_ALTERNATIVES = 64

/** Undefined for a pattern that nobody can tell the meaning of. */
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
  // Claude Code begins at the project, which may be the working folder or one above it.
  if (pattern.startsWith('/')) return below(partsOf(pattern), ({ cwd }) => foldersDownTo(partsOf(cwd)))
  const parts = partsOf(pattern)
  const [only] = parts
  // As observed: what begins with a star is for any folder, outside the project, too.
  if (pattern.startsWith('*')) return below(['**', ...parts], () => [[]])
  // A name alone stands for files of that name at any depth.
  const anyDepth = parts.length === 1 && only !== '..'
  if (anyDepth) return below(['**', ...parts], ({ cwd }) => [partsOf(cwd)])
  return below(parts, ({ cwd }) => [partsOf(cwd)])
}

function below(pattern: Parts, startsOf: (places: Places) => readonly Parts[]): Anchored {
  const leadsUp = pattern.includes('..')
  return (path, places) =>
    startsOf(places).some((start) => {
      if (leadsUp) return matchesParts(normal([...start.map(quoted), ...pattern]), path)
      if (start.some((part, i) => !isSame(part, path[i] ?? ''))) return false
      return matchesParts(pattern, path.slice(start.length))
    })
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

/** Without empty parts and `.`, and with `..` taken back. */
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

/** What is below a folder that matches does, too. `**` is any number of folders. One step for each pair of parts. */
function matchesParts(pattern: Parts, path: Parts): boolean {
  let reached = spread(new Set([0]), pattern)
  for (const part of path) {
    if (reached.has(pattern.length)) return true
    const next = new Set<number>()
    for (const at of reached) {
      if (pattern[at] === '**') next.add(at)
      else if (matchesPart(pattern[at] as string, part)) next.add(at + 1)
    }
    if (next.size === 0) return false
    reached = spread(next, pattern)
  }
  return reached.has(pattern.length)
}

function spread(reached: Set<number>, pattern: Parts): Set<number> {
  for (const at of reached) if (pattern[at] === '**') reached.add(at + 1)
  return reached
}

/** One name: `*`, `?`, `[a-z]`, `\x`. Goes back to the last star alone, so that it takes no more than length by length. */
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

/** A letter is in it if its small or its capital form is. */
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

/** `*.{ts,js}` is two patterns (Claude Code takes braces as they are, and the rule for none). */
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
