// The file by which a process is known in a folder: a lock is another name of it.

import { closeSync, fstatSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isDead, ownerOf, ownSelf } from './owner.js'
import { readPlain } from './plain-file.js'

const NAME = /^owner\.[0-9a-f]{16}$/
const LONGEST = 256

/** Of this thread, in every folder it has written to. */
const made = new Map<string, number>()

export class OwnFile {
  readonly path: string
  readonly #folder: string
  #swept = false

  constructor(folder: string) {
    this.#folder = folder
    this.path = join(folder, `owner.${ownSelf().id}`)
  }

  /** Undefined before it was made. */
  get inode(): number | undefined {
    return made.get(this.path)
  }

  /** Whole before anybody can find a lock that is it. It goes when the process ends. */
  make(): void {
    if (made.size === 0) process.once('exit', removeAll)
    const fd = openSync(this.path, 'w', 0o600)
    try {
      writeSync(fd, ownSelf().text)
      made.set(this.path, fstatSync(fd).ino)
    } finally {
      closeSync(fd)
    }
  }

  /** Removes those of processes that were killed: once, because every one of them has to be read. */
  sweep(names: readonly string[]): void {
    if (this.#swept) return
    this.#swept = true
    for (const path of names.filter((name) => NAME.test(name)).map((name) => join(this.#folder, name))) {
      if (path !== this.path && isLeft(path)) quietly(() => unlinkSync(path))
    }
  }
}

/** To be wrong about it costs its process another file. */
function isLeft(path: string): boolean {
  try {
    const read = readPlain(path, LONGEST)
    const owner = 'text' in read ? ownerOf(read.text) : undefined
    return owner !== undefined && isDead(owner, path)
  } catch {
    return false
  }
}

function removeAll(): void {
  for (const path of made.keys()) quietly(() => unlinkSync(path))
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}
