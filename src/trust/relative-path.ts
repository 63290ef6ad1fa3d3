// A relative path in a command, and whether it leads somewhere from one folder and nowhere from another.

import { readdirSync } from 'node:fs'
import { RE2JS } from 're2js'
import { pathAt, typeAt } from './file-reading.js'
import type { Piece } from './word-pieces.js'

export interface RelativePath {
  /** As people read it. */
  readonly text: string
  /** The part before the first wildcard, up to its last slash. Empty for the folder itself. */
  readonly head: string
  /** Matches names in `head`. Undefined if `head` is the whole path. */
  readonly names: ((name: string) => boolean) | undefined
  /** A name without a slash or an extension counts only if it is a file: it may be an ordinary word. */
  readonly isLoose: boolean
}

/** Undefined if the word is an option, or starts with a root, a home or something unknown. */
export function relativePath(pieces: readonly Piece[], isLoose: boolean): RelativePath | undefined {
  const at = pieces.findIndex(({ kind }) => kind !== 'known')
  const known = textOf(at < 0 ? pieces : pieces.slice(0, at))
  const all = textOf(pieces)
  if (/^[-/~]/.test(all) || /[\0\n]|:\/\//.test(known)) return undefined
  if (at < 0) return isEmpty(known) ? undefined : { text: known, head: known, names: undefined, isLoose }
  const head = known.slice(0, known.lastIndexOf('/') + 1)
  if (pieces.some(({ kind }) => kind === 'open'))
    return isEmpty(head) ? undefined : { text: head, head, names: undefined, isLoose }
  const rest = [{ text: known.slice(head.length), kind: 'known' as const }, ...pieces.slice(at)]
  return { text: all, head, names: namesOf(rest), isLoose: false }
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('')
}

/** `.`, `./` and `..` exist everywhere. */
function isEmpty(path: string): boolean {
  return path.split('/').every((name) => name === '' || name === '.' || name === '..')
}

/** For the first name with a wildcard. What follows it is not looked at. In linear time: a stranger chose the wildcards. */
function namesOf(pieces: readonly Piece[]): NonNullable<RelativePath['names']> {
  let pattern = ''
  for (const { text, kind } of pieces) {
    const [name = ''] = text.split('/', 1)
    if (kind === 'known') pattern += name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    else if (text === '?' || text.startsWith('[')) pattern += '.'
    else if (!pattern.endsWith('.*')) pattern += '.*'
    if (kind === 'known' && name !== text) break
  }
  const whole = RE2JS.compile(pattern, RE2JS.DOTALL)
  const isHidden = pattern.startsWith('\\.')
  return (name) => (isHidden || !name.startsWith('.')) && whole.matches(name)
}

/** Whether it finds something in the project, but nothing in the folder where a hook starts. */
export function isLost(path: RelativePath, projectDir: string, cwd: string): boolean {
  return leadsSomewhere(path, projectDir, path.isLoose) && !leadsSomewhere(path, cwd, false)
}

function leadsSomewhere({ head, names }: RelativePath, folder: string, isLoose: boolean): boolean {
  const at = pathAt(folder, head)
  if (names) return namesIn(at).some(names)
  const type = typeAt(at)
  if (type !== 'folder') return type !== undefined
  if (isLoose && !head.includes('/')) return false
  // A shell finds nothing in an empty folder.
  return namesIn(at).length > 0
}

/** Empty if it cannot be read: a shell finds nothing in it, either. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

// ---- in longer texts --------------------------------------------------------------------------------------------

const IN_TEXT = /(?<![\w@%+./~$}\\\0-])(?:(?:[\w@%+.-]+\/)+[\w@%+.-]*|[\w@%+-][\w.@%+-]*\.[A-Za-z]\w{0,5})/g

/** Everything in a text that looks like a path, or like a name with an extension. */
export function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(IN_TEXT)].map(([path]) => path)
}

/** Calls that open or run a file, in the languages that hooks are written in. */
const OPENS =
  /\b(?:open\w*|exec\w*|spawn\w*|fork|system|p?open|run\w*|call|check_(?:call|output)|exists\w*|is_?file|is_?dir|(?:access|stat)(?:Sync)?|readFile\w*|read_?dir\w*|file_get_contents|require\w*|import\w*|include\w*|Path|path\.(?:join|resolve)|glob|File\.\w+|IO\.\w+)\s*\(|\b(?:import|from|require\w*|include\w*|load|do)\s+["']|\b(?:Test|Join|Resolve)-Path\b|\b(?:Get-Content|Start-Process|Import-Module|Invoke-\w+|gc|cat|sh|bash|python3?|node|pwsh)\s|^\s*[.&]\s/

const HOLDS = /^\s*(?:(?:const|let|var|my)\s+)?[$@]?\w+\s*=\s*[rb]?(["'`])[^"'`]*\1\s*$/

/** Paths in code of another language, if the statement opens or runs something, or only keeps a path for that. */
export function pathsInProgram(code: string): readonly string[] {
  const isOpening = OPENS.test(code)
  const statements = isOpening ? code.split(/[;\n{}]/) : []
  return statements
    .filter((one) => OPENS.test(one) || HOLDS.test(one))
    .flatMap((one) => [...pathsIn(one), ...[...one.matchAll(QUOTED_NAME)].map(([, , name = '']) => name)])
}

/** A whole text in quotes that could be the name of a file. */
const QUOTED_NAME = /(["'`])([\w@%+-][\w@%+.-]*)\1/g

// ---- before anything is parsed ----------------------------------------------------------------------------------

/** Paths that start with a folder of ours, up to the next item of a list such as PATH. */
const WHOLE = /\$\{?(?:CLAUDE|AMPLIFIER)_\w+\}?\/[^\s;&|()<>:,=]*/g

/** Whether the text might mention a path in the project. Cheap, and never false where parsing finds one. */
export function mayMention(text: string, projectDir: string): boolean {
  const plain = text.replace(/["'\\]/g, '').replace(WHOLE, '')
  // The shell may build a path from these, and make looks for its file here.
  if (/[*?[{$`]|\.\.|\bmake\b/.test(plain)) return true
  const names = namesIn(projectDir)
  return names.length === 0 || names.some((name) => plain.includes(name))
}
