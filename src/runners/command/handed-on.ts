// What hooks of a session hand on to later hooks of it: variables that they append to an environment file.

import { closeSync, constants, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { shown } from '../../core/base/text.js'
import type { Origin } from '../../core/hooks/hook.js'
import { type EnvFile, readEnvFile } from './env-file.js'

type Variables = Readonly<Record<string, string>>
type Note = (d: Diagnostic) => void
/** Where the files of a session stand, if they are to outlive this process. */
type FolderOf = (session: string, make?: boolean) => string

/** What a project's hook hands on never reaches a hook of the user. */
const FILES = { user: 'user.env', others: 'others.env' } as const

/** These name what a hook works on, and are ours alone. */
const OURS = /^(?:AMPLIFIER_|CLAUDE_|PLUGIN_ROOT$)/
const MOST_SESSIONS = 1000
const LARGEST_FILE = 64 * 1024
/** As a line that is no assignment, so that it is reported as one; it comes first, before others that are none. */
const TOO_LARGE = `(the file is larger than ${LARGEST_FILE} bytes; the rest of it does not count)`

export class HandedOn {
  readonly #folderOf: FolderOf | undefined
  /** Folders that go with this process, by session. */
  readonly #own = new Map<string, string>()

  constructor(folderOf?: FolderOf) {
    this.#folderOf = folderOf
  }

  /** A file that a hook may append to; undefined where none can be made, which is said. */
  fileFor(session: string, scope: Origin['scope'], note: Note): string | undefined {
    try {
      const file = join(this.#opened(session, note), FILES[sideOf(scope)])
      closeSync(openSync(file, CREATE, 0o600))
      return file
    } catch (error) {
      note({
        code: 'host-failed',
        text: `there is no environment file for it: ${textOf(error)}; what it wants to hand on is lost`,
      })
      return undefined
    }
  }

  /** What earlier hooks handed on to a hook of this scope. */
  variablesFor(session: string | undefined, scope: Origin['scope'], note: Note): Variables {
    const folder = session === undefined ? undefined : this.#folder(session)
    if (folder === undefined) return NOTHING
    const ofUser = variablesIn(join(folder, FILES.user), note)
    return sideOf(scope) === 'user' ? ofUser : { ...ofUser, ...variablesIn(join(folder, FILES.others), note) }
  }

  /** Says what of a file that a hook was given cannot be handed on. */
  check(file: string, note: Note): void {
    const found = read(file, note)
    if (found === ABSENT) {
      note({ code: 'host-failed', text: 'its environment file is gone, and with it what was handed on' })
    }
    for (const line of found.skipped.slice(0, 3)) {
      note({
        code: 'malformed-field',
        text: `a line of its environment file is no assignment: ${shown(line)}`,
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
      note({ code: 'host-failed', text: `the environment files of a session stay behind: ${textOf(error)}` })
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

  /** A host that never ends its sessions must not fill the disk. */
  #made(session: string, note: Note): string {
    const [oldest] = this.#own.keys()
    if (this.#own.size >= MOST_SESSIONS && oldest !== undefined) this.end(oldest, note)
    const folder = mkdtempSync(join(tmpdir(), 'carabiner-env-'))
    this.#own.set(session, folder)
    return folder
  }
}

const NOTHING: Variables = Object.freeze({})
const UNREAD: EnvFile = { variables: NOTHING, skipped: [] }
const ABSENT: EnvFile = { variables: NOTHING, skipped: [] }

function sideOf(scope: Origin['scope']): keyof typeof FILES {
  return scope === 'user' ? 'user' : 'others'
}

function variablesIn(file: string, note: Note): Variables {
  const { variables } = read(file, note)
  if (variables === NOTHING) return NOTHING
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !OURS.test(name)))
}

/** Never runs any of it. */
function read(file: string, note: Note): EnvFile {
  try {
    const text = textOfFile(file)
    return text === undefined ? ABSENT : readEnvFile(text, (name) => process.env[name])
  } catch (error) {
    note({ code: 'host-failed', text: `an environment file cannot be read: ${textOf(error)}` })
    return UNREAD
  }
}

/** A link leads elsewhere. */
const CREATE =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/** A hook may have put anything in its place: what is no plain file would hold us up. */
function textOfFile(path: string): string | undefined {
  const fd = opened(path)
  if (fd === undefined) return undefined
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error(`${path} is no plain file`)
    return readLines(fd, stats.size)
  } finally {
    closeSync(fd)
  }
}

/** Of a file that is too large the first lines count. */
function readLines(fd: number, size: number): string {
  const bytes = Buffer.allocUnsafe(Math.min(size, LARGEST_FILE))
  const text = bytes.toString('utf8', 0, readSync(fd, bytes))
  return size > LARGEST_FILE ? `${TOO_LARGE}\n${text.slice(0, text.lastIndexOf('\n') + 1)}` : text
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, READ)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
