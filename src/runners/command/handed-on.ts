// What hooks of a session hand on to later hooks of it: variables that they append to an environment file.

import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Diagnostic, textOf } from '../../core/errors.js'
import type { Origin } from '../../core/hook.js'
import { shown } from '../../core/text.js'
import { readEnvFile } from './env-file.js'

/** What one side of a session has handed on. */
interface Side {
  readonly folder: string
  readonly file: string
  variables: Readonly<Record<string, string>>
}

/** What a project's hook hands on never reaches a hook of the user. */
type SideName = 'user' | 'others'

/** These name what a hook works on, and are ours alone. */
const OURS = /^(?:AMPLIFIER_|CLAUDE_|PLUGIN_ROOT$)/
const MOST_SESSIONS = 1000
const LARGEST_FILE = 64 * 1024

export class HandedOn {
  readonly #sessions = new Map<string, Partial<Record<SideName, Side>>>()

  /** The file that a hook may append to. */
  fileFor(session: string, scope: Origin['scope']): string {
    const known = this.#sessions.get(session) ?? this.#opened(session)
    const name = sideOf(scope)
    const side = known[name] ?? newSide()
    known[name] = side
    return side.file
  }

  /** What earlier hooks handed on to a hook of this scope. */
  variablesFor(session: string | undefined, scope: Origin['scope']): Readonly<Record<string, string>> {
    const known = session === undefined ? undefined : this.#sessions.get(session)
    if (!known) return NOTHING
    if (sideOf(scope) === 'user') return known.user?.variables ?? NOTHING
    return { ...known.user?.variables, ...known.others?.variables }
  }

  /** Takes in what a hook wrote. Never runs any of it. */
  take(session: string, scope: Origin['scope'], note: (d: Diagnostic) => void): void {
    const side = this.#sessions.get(session)?.[sideOf(scope)]
    if (!side) return
    try {
      const { variables, skipped } = readEnvFile(textOfFile(side.file), (name) => process.env[name])
      side.variables = Object.fromEntries(Object.entries(variables).filter(([name]) => !OURS.test(name)))
      for (const line of skipped.slice(0, 3)) {
        note({
          code: 'malformed-field',
          text: `a line of its environment file is no assignment: ${shown(line)}`,
        })
      }
    } catch (error) {
      note({ code: 'host-failed', text: `its environment file cannot be read: ${textOf(error)}` })
    }
  }

  end(session: string): void {
    for (const side of Object.values(this.#sessions.get(session) ?? {})) {
      rmSync(side.folder, { recursive: true, force: true })
    }
    this.#sessions.delete(session)
  }

  close(): void {
    for (const session of [...this.#sessions.keys()]) this.end(session)
  }

  /** A host that never ends its sessions must not fill the disk. */
  #opened(session: string): Partial<Record<SideName, Side>> {
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size >= MOST_SESSIONS && oldest !== undefined) this.end(oldest)
    const sides = {}
    this.#sessions.set(session, sides)
    return sides
  }
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({})

function sideOf(scope: Origin['scope']): SideName {
  return scope === 'user' ? 'user' : 'others'
}

/** A hook may have put anything in its place: what is no plain file would hold us up, and a link leads elsewhere. */
function textOfFile(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error('it is no plain file')
    if (stats.size > LARGEST_FILE) throw new Error(`it is larger than ${LARGEST_FILE} bytes`)
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

function newSide(): Side {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-env-'))
  const file = join(folder, 'variables.sh')
  writeFileSync(file, '', { mode: 0o600 })
  return { folder, file, variables: NOTHING }
}
