// A folder that is held open: names are looked up in the very folder, whatever its path leads to by now.

import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, statSync } from 'node:fs'

const OPEN = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)

/*
 * Node has no openat. On Linux the path `/proc/self/fd/N/name` is the same: it starts at the open folder. Elsewhere the
 * path is used, and `isInPlace` tells whether it still leads to the open folder; between two such looks a fast attacker
 * could swap a folder there and back, and have a file from elsewhere reviewed, and copied as it was reviewed.
 */
export class OpenFolder {
  readonly #fd: number
  readonly #path: string
  readonly #base: string

  /** Throws if it is no folder, or a link. */
  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, OPEN)
    const { dev, ino, isFolder } = this.#identity()
    if (!isFolder) {
      closeSync(this.#fd)
      throw Object.assign(new Error(`${path} is no folder`), { code: 'ENOTDIR' })
    }
    this.#base = baseOf(this.#fd, dev, ino) ?? path
  }

  /** What leads to `name` in this folder; without a name, to the folder. */
  to(name?: string): string {
    return name === undefined ? this.#base : `${this.#base}/${name}`
  }

  /** Where it is now, without links. */
  realPath(): string {
    return realpathSync.native(this.#base)
  }

  isInPlace(): boolean {
    if (this.#base !== this.#path) return true
    const { dev, ino } = this.#identity()
    const now = lstatSync(this.#path, { bigint: true, throwIfNoEntry: false })
    return now?.dev === dev && now.ino === ino && realpathSync.native(this.#path) === this.#path
  }

  close(): void {
    closeSync(this.#fd)
  }

  #identity() {
    const stats = fstatSync(this.#fd, { bigint: true })
    return { dev: stats.dev, ino: stats.ino, isFolder: stats.isDirectory() }
  }
}

function baseOf(fd: number, dev: bigint, ino: bigint): string | undefined {
  if (process.platform !== 'linux') return undefined
  const base = `/proc/self/fd/${fd}`
  try {
    const stats = statSync(base, { bigint: true })
    return stats.dev === dev && stats.ino === ino ? base : undefined
  } catch {
    return undefined // no /proc here
  }
}
