// The project as an agent hook may see it: regular files inside it, read-only, and never through a link that leads out.

import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, opendir, readlink, realpath, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { HookError } from '../../core/base/errors.js'

/** The model gets this message instead of a result. */
export class Refused extends Error {}

/** Folders that are too large to search. The model sees them only if it names them. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules'])

const MOST_ENTRIES = 50_000
const DEEPEST = 40

/** The files found, as paths relative to the project, with slashes. */
export interface FoundFiles {
  readonly files: readonly string[]
  /** Whether there were more files than the limit. */
  readonly cut: boolean
}

export class ProjectFolder {
  readonly #given: string
  readonly #root: string

  private constructor(given: string, root: string) {
    this.#given = given
    this.#root = root
  }

  static async at(projectDir: string): Promise<ProjectFolder> {
    try {
      return new ProjectFolder(resolve(projectDir), await realpath(projectDir))
    } catch (cause) {
      throw new HookError('HOOK_NOT_STARTED', `Cannot read the project ${JSON.stringify(projectDir)}`, {
        hint: 'Restart the agent in a folder that exists.',
        cause,
      })
    }
  }

  /** Calls back with the open file, and closes it. */
  async withFile<T>(path: string, use: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
    const real = await this.#locate(path)
    // Checked first: opening a device or a pipe may have effects.
    if (!(await lstat(real)).isFile()) throw new Refused(`${shownPath(path)} is not a regular file`)
    const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      const found = await file.stat()
      if (!found.isFile()) throw new Refused(`${shownPath(path)} is not a regular file`)
      if (!this.#holds(await placeOf(file, found, real))) throw outside(path)
      return await use(file, found.size)
    } finally {
      await file.close()
    }
  }

  /** Every regular file below, sorted by name. Does not follow links. Throws when the signal is aborted. */
  async filesBelow(from: string, signal: AbortSignal): Promise<FoundFiles> {
    const start = await this.#locate(from)
    if ((await lstat(start)).isFile()) return { files: [this.#name(start)], cut: false }
    const files: string[] = []
    const budget = { left: MOST_ENTRIES }
    const waiting: { readonly folder: string; readonly depth: number }[] = [{ folder: start, depth: 0 }]
    for (let next = waiting.shift(); next && budget.left > 0; next = waiting.shift()) {
      signal.throwIfAborted()
      const { folder, depth } = next
      const { files: here, folders } = await this.#list(folder, budget)
      files.push(...here.map((name) => this.#name(name)))
      if (depth < DEEPEST) waiting.push(...folders.map((one) => ({ folder: one, depth: depth + 1 })))
    }
    return { files: files.sort(), cut: budget.left <= 0 }
  }

  async #list(folder: string, budget: { left: number }) {
    const files: string[] = []
    const folders: string[] = []
    // If a link takes its place while we look, the result is dropped.
    if ((await realOrNothing(folder)) !== folder) return { files, folders }
    try {
      for await (const entry of await opendir(folder)) {
        if (budget.left-- <= 0) break
        const path = `${folder}${sep}${entry.name}`
        if (entry.isFile()) files.push(path)
        else if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) folders.push(path)
      }
    } catch (error) {
      if (!isSystemError(error)) throw error // An unreadable folder counts as empty.
    }
    return (await realOrNothing(folder)) === folder ? { files, folders } : { files: [], folders: [] }
  }

  /** Resolves the real path. Does not reveal whether something exists outside the project. */
  async #locate(path: string): Promise<string> {
    if (path.includes('\0')) throw new Refused('a path may not contain a NUL character')
    const full = resolve(this.#root, path)
    if (!isWithin(this.#root, full) && !isWithin(this.#given, full)) throw outside(path)
    const real = await realOrNothing(full)
    if (real === undefined) throw new Refused(`there is no ${shownPath(path)}`)
    if (!this.#holds(real)) throw outside(path)
    return real
  }

  #holds(real: string): boolean {
    return isWithin(this.#root, real)
  }

  #name(path: string): string {
    return relative(this.#root, path).split(sep).join('/')
  }
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
}

/** Where the open file really is, found by its descriptor if possible, so that a link changed in the meantime has no effect. */
async function placeOf(file: FileHandle, { dev, ino }: Stats, path: string): Promise<string> {
  try {
    return await readlink(`/proc/self/fd/${file.fd}`)
  } catch {
    const now = await realpath(path)
    const there = await stat(now)
    return there.dev === dev && there.ino === ino ? now : ''
  }
}

async function realOrNothing(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}

export function isSystemError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'
}

function outside(path: string): Refused {
  return new Refused(`${shownPath(path)} is outside the project, or leads out of it`)
}

/** Quotes names with control characters, because a line break would look like two names. */
export function shownPath(path: string): string {
  const short = path.length > 500 ? `${path.slice(0, 500)}…` : path
  return /[\p{Cc}"]/u.test(short) ? JSON.stringify(short) : short
}
