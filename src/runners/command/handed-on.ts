// Variables that a session's hooks pass on to later hooks, by appending to an environment file.

import { closeSync, constants, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { byteLength, shown } from '../../core/base/text.js'
import type { HookMode, Origin } from '../../core/hooks/hook.js'
import { callerEnv } from '../../files/caller.js'
import { ifThere, lstatIfThere } from '../../files/if-there.js'
import { parentFor } from '../program/environment.js'

type Variables = Readonly<Record<string, string>>
type Env = Readonly<Record<string, string | undefined>>
type Note = (d: Diagnostic) => void

/** The hook that gets the variables. */
interface Asker {
  readonly scope: Origin['scope']
  readonly isGuard: boolean
  readonly projectDir: string
}

/** The folder for a session's files, if they must outlive this process. */
type FolderOf = (session: string, make?: boolean) => string

/** Variables reach later hooks of the same side and of those below it. None reach the company's: the user can write these files. */
const FILES = { company: 'company.env', user: 'user.env', others: 'others.env' } as const
/** Nobody reads what hooks in shadow mode write. */
const SHADOW_FILE = 'shadow.env'

/** These name what a hook works on, and are ours alone. */
const OURS = /^(?:AMPLIFIER_|CLAUDE_|PLUGIN_ROOT$)/
const MOST_SESSIONS = 1000
const LARGEST_FILE = 64 * 1024
/** Added as a line that is not an assignment, so that it is reported like one. */
const TOO_LARGE = `(the file is larger than ${LARGEST_FILE} bytes; the rest of it was ignored)`

export class HandedOn {
  readonly #folderOf: FolderOf | undefined
  /** Folders that are removed with this process, by session. */
  readonly #own = new Map<string, string>()

  constructor(folderOf?: FolderOf) {
    this.#folderOf = folderOf
  }

  /** The file that a hook may append to. Undefined, with a note, if it cannot be created. */
  fileFor(
    session: string,
    { scope, mode }: { readonly scope: Origin['scope']; readonly mode?: HookMode | undefined },
    note: Note,
  ): string | undefined {
    try {
      const name = mode === 'shadow' ? SHADOW_FILE : FILES[sideOf(scope)]
      const file = join(this.#opened(session, note), name)
      closeSync(openSync(file, CREATE, 0o600))
      return file
    } catch (error) {
      note({
        code: 'host-failed',
        text: `its environment file cannot be created: ${textOf(error)}; variables that it wants to pass on are lost`,
      })
      return undefined
    }
  }

  /** Variables that earlier hooks passed on to hooks of this scope. */
  variablesFor(session: string | undefined, asker: Asker, note: Note): Variables {
    const { scope, projectDir } = asker
    const folder = session === undefined ? undefined : this.#folder(session)
    if (folder === undefined || scope === 'company') return NOTHING
    const of = (side: keyof typeof FILES, writer: Pick<Asker, 'scope'>) =>
      variablesIn(join(folder, FILES[side]), note, () => parentFor(writer, projectDir))
    const ofCompany = of('company', { scope: 'company' })
    const ofUser = { ...ofCompany, ...of('user', { scope: 'user' }) }
    if (sideOf(scope) === 'user') return ofUser
    return { ...ofUser, ...of('others', asker) }
  }

  /** Reports the lines of a hook's file that cannot be passed on. */
  check(file: string, note: Note): void {
    const found = read(file, note)
    if (found === ABSENT) {
      note({ code: 'host-failed', text: 'its environment file is gone, so the variables in it are lost' })
    }
    for (const line of found.skipped.slice(0, 3)) {
      note({
        code: 'malformed-field',
        text: `a line of its environment file is not an assignment: ${shown(line)}`,
      })
    }
  }

  end(session: string, note: Note): void {
    const folder = this.#own.get(session)
    this.#own.delete(session)
    if (folder === undefined) return
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      note({
        code: 'host-failed',
        text: `the environment files of a session could not be removed: ${textOf(error)}`,
      })
    }
  }

  close(note: Note): void {
    for (const session of [...this.#own.keys()]) this.end(session, note)
  }

  #folder(session: string): string | undefined {
    return this.#folderOf ? this.#folderOf(session) : this.#own.get(session)
  }

  #opened(session: string, note: Note): string {
    if (this.#folderOf) return this.#folderOf(session, true)
    return this.#own.get(session) ?? this.#made(session, note)
  }

  /** An embedder that never ends its sessions must not fill the disk. */
  #made(session: string, note: Note): string {
    const [oldest] = this.#own.keys()
    if (this.#own.size >= MOST_SESSIONS && oldest !== undefined) this.end(oldest, note)
    const folder = mkdtempSync(join(callerEnv().TMPDIR || tmpdir(), 'carabiner-env-'))
    this.#own.set(session, folder)
    return folder
  }
}

const NOTHING: Variables = Object.freeze({})
const UNREAD: EnvFile = { variables: NOTHING, skipped: [] }
const ABSENT: EnvFile = { variables: NOTHING, skipped: [] }

function sideOf(scope: Origin['scope']): keyof typeof FILES {
  return scope === 'company' || scope === 'user' ? scope : 'others'
}

/** `parent` returns the environment of the hook that wrote the file. */
function variablesIn(file: string, note: Note, parent: () => Env): Variables {
  const { variables } = read(file, note, parent)
  if (variables === NOTHING) return NOTHING
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !OURS.test(name)))
}

/** Reads the file without running any of it. */
function read(file: string, note: Note, parent: () => Env = callerEnv): EnvFile {
  try {
    const text = textOfFile(file)
    if (text === undefined) return ABSENT
    const inherited = parent()
    return readEnvFile(text, (name) => inherited[name])
  } catch (error) {
    note({ code: 'host-failed', text: `an environment file cannot be read: ${textOf(error)}` })
    return UNREAD
  }
}

/** Does not follow links, which may lead anywhere. */
const CREATE =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/** A hook may have put anything in its place. A pipe or a device would block us. */
function textOfFile(path: string): string | undefined {
  const fd = opened(path)
  if (fd === undefined) return undefined
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`)
    return readLines(fd, stats.size)
  } finally {
    closeSync(fd)
  }
}

/** Reads only the first lines of a file that is too large. */
function readLines(fd: number, size: number): string {
  const bytes = Buffer.allocUnsafe(Math.min(size, LARGEST_FILE))
  const text = bytes.toString('utf8', 0, readSync(fd, bytes))
  return size > LARGEST_FILE ? `${TOO_LARGE}\n${text.slice(0, text.lastIndexOf('\n') + 1)}` : text
}

function opened(path: string): number | undefined {
  // Most hooks pass nothing on, and an error takes longer than this look.
  return lstatIfThere(path) && ifThere(() => openSync(path, READ))
}

// ---- the text of an environment file --------------------------------------------------------------------------

interface EnvFile {
  readonly variables: Readonly<Record<string, string>>
  /** Lines that only a shell could evaluate. */
  readonly skipped: readonly string[]
}

type Lookup = (name: string) => string | undefined

/** A name and a value in pieces: $'ansi', 'single', "double" or bare. Quotes may span lines. `export -p` prints `declare -x` in bash. */
const ASSIGNMENT =
  /^[ \t]*(?:(?:export|(?:declare|typeset)[ \t]+-x)[ \t]+)?([A-Za-z_]\w*)=((?:\$'(?:[^'\\]|\\[entr\\'"])*'|\$(?!')|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\$;&|<>()`])*)(?:[ \t]*;)?[ \t]*(?:(?<=[ \t;])#[^\n]*)?$/
const PIECE =
  /\$'((?:[^'\\]|\\[\s\S])*)'|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|((?:\$(?!')|[^'"\\$])+)/g
/** Double-quoted text stays: a shell still looks for commands in it. */
const LITERAL = /\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|("(?:[^"\\]|\\[\s\S])*")/g

/** Commands, arithmetic, defaults, and variables that only a running shell has. */
const FOREIGN = /`|\$(?:[(?!$#@*\d-]|\{(?![A-Za-z_]\w*\}))/

/** The limit for all values in bytes: a few lines of `A=$A$A` exceed what any system passes to a program. */
const LONGEST_TOTAL = 64 * 1024

/** Later lines see earlier ones. Replaces `$NAME`. Never runs a command: its line is skipped. */
export function readEnvFile(text: string, inherited: Lookup): EnvFile {
  const variables: Record<string, string> = Object.create(null)
  const skipped: string[] = []
  let room = LONGEST_TOTAL
  /** Counts what this line expands to, so that `$A$A$A…` is rejected before it is built. */
  let put = 0
  const lookup: Lookup = (name) => {
    const value = (Object.hasOwn(variables, name) ? variables[name] : inherited(name)) ?? ''
    put += value.length
    return put > room ? '' : value
  }
  for (const statement of statementsOf(text)) {
    if (/^\s*(?:#|$)/.test(statement)) continue
    const [, name, value = ''] = ASSIGNMENT.exec(statement) ?? []
    const foreign =
      value.includes('\0') || FOREIGN.test(value.replace(LITERAL, '$1').replace(/\\[\s\S]/g, ''))
    put = 0
    const given = foreign ? '' : resolved(value, lookup)
    const tooLong = put > room || byteLength(given) > room
    if (name === undefined || foreign || tooLong) skipped.push(statement.trim())
    else {
      room -= byteLength(given)
      variables[name] = given
    }
  }
  return { variables: { ...variables }, skipped }
}

/** A line that ends inside quotes or with a backslash continues. Each alternative begins differently, so that no text is read twice. */
const STATEMENT =
  /(?:\$'(?:[^'\\]|\\[\s\S])*'|\$(?!')|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|#[^\n]*|[^\n'"\\#$])+/y
const REST_OF_LINE = /[^\n]*/y

function statementsOf(given: string): readonly string[] {
  const text = given.replaceAll('\r\n', '\n')
  const statements: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOf(STATEMENT, text, at)
    // An unclosed quote: this line is not an assignment, but those after it may be.
    const whole = text[end] === '\n' || end === text.length ? end : endOf(REST_OF_LINE, text, end)
    statements.push(text.slice(at, whole))
    at = whole + 1
  }
  return statements
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function resolved(written: string, lookup: Lookup): string {
  const pieces = [...written.matchAll(PIECE)]
  return pieces
    .map(([, ansi, single, double, escaped, bare = ''], i) => {
      if (ansi !== undefined) return unescaped(ansi)
      if (single !== undefined) return single
      if (escaped !== undefined) return escaped === '\n' ? '' : escaped
      if (double !== undefined)
        return expanded(double, lookup)
          .replace(/\\(["\\$`])/g, '$1')
          .replace(/\\\n/g, '')
      return expanded(withHome(bare, i === 0, i === pieces.length - 1), lookup)
    })
    .join('')
}

/** `~/bin:~`: at the beginning of a value, or of a part of a list. */
function withHome(bare: string, first: boolean, last: boolean): string {
  return bare.replace(/(^|:)~(?=([/:]|$))/g, (whole, before: string, after: string) =>
    (before || first) && (after || last) ? `${before}\${HOME}` : whole,
  )
}

const ANSI: Readonly<Record<string, string>> = { e: '\u001b', n: '\n', t: '\t', r: '\r' }

/** Bash writes values with line breaks like this. */
function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, char: string) => ANSI[char] ?? char)
}

function expanded(text: string, lookup: Lookup): string {
  return text.replace(/(\\\$)|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (whole, escaped, braced, plain) =>
    escaped === undefined ? (lookup(braced ?? plain) ?? '') : whole,
  )
}
