// One writer at a time, across processes: a mutex that dies with its owner and is never held by two.

import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../core/base/digest.js'
import { lstatIfThere } from './if-there.js'
import { nonce } from './nonce.js'
import { readPlain, removeIfThere } from './plain-file.js'
import { statOf } from './process.js'

/*
 * The mutex is a second name (a hard link) of a file that identifies its owner. Creating the link is atomic, fails if it
 * exists, and shows the owner from the first moment.
 *
 * A dead owner's link is removed only under a guard: another mutex, whose name contains the dead owner's id. An owner
 * never comes back. So while I hold the guard of P and the link is P's, nobody else removes it, and what I remove is
 * P's. A process that dies with a guard is a dead owner like any other, and its guard has another name. They died one
 * after another, so this ends.
 *
 * A stopped process is alive and keeps what it holds. Others wait for a limited time, and say so.
 */

const NAME = 'lock'
const GUARD = /^lock\.[0-9a-f]{16}$/

export class Mutex {
  readonly #folder: string
  readonly #path: string
  readonly #own: OwnerFile

  constructor(folder: string) {
    this.#folder = folder
    this.#path = join(folder, NAME)
    this.#own = new OwnerFile(folder)
  }

  /** Returns false while a living process holds it. Throws ENOENT if the folder does not exist. */
  tryTake(): boolean {
    return this.#take(this.#path)
  }

  /** If only its age tells whether a mutex is in use, a process that was stopped for long may have lost it. */
  get isMine(): boolean {
    const inode = lstatIfThere(this.#path)?.ino
    return inode !== undefined && inode === this.#own.inode
  }

  release(): void {
    if (this.isMine) removeIfThere(this.#path)
    else this.#own.forget()
  }

  /** Removes what dead processes left in the folder. Only the holder may call it: then no guard protects the mutex itself. */
  sweep(names: readonly string[]): void {
    for (const path of names.filter((name) => GUARD.test(name)).map((name) => join(this.#folder, name))) {
      const owner = readOwner(path)
      if (owner && isDead(owner, path)) removeIfThere(path)
    }
    this.#own.sweep(names)
  }

  /** For messages. */
  get holder(): string {
    const owner = readOwner(this.#path)
    return owner
      ? `process ${owner.pid} holds ${this.#path}`
      : `other processes took ${this.#path} each time it was free`
  }

  #take(path: string): boolean {
    // The second try follows the removal of a dead owner's link; if that fails too, others are at work.
    for (let tries = 0; tries < 2; tries++) {
      if (this.#link(path)) return true
      const owner = readOwner(path)
      if (!owner) continue
      // A thread holds it once at a time, so a link of its own is one that it failed to remove earlier.
      if (owner.text === ownSelf().text) removeIfThere(path)
      else if (!isDead(owner, path) || !this.#bury(path, owner)) return false
    }
    return false
  }

  #link(path: string): boolean {
    try {
      linkSync(this.#own.path, path)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return false
      if (code !== 'ENOENT') throw error
    }
    // This process has no owner file here yet, or somebody removed it.
    this.#own.make()
    return false
  }

  /** Removes a dead owner's link. Returns false while another process does so. */
  #bury(path: string, dead: Owner): boolean {
    const guard = join(this.#folder, `${NAME}.${dead.id}`)
    if (!this.#take(guard)) return false
    try {
      if (readOwner(path)?.text === dead.text) removeIfThere(path)
      return true
    } finally {
      removeIfThere(guard)
    }
  }
}

const LONGEST_OWNER = 256

/** Returns undefined if the mutex is free. Throws for a file that no owner wrote, which is not ours to remove. */
function readOwner(path: string): Owner | undefined {
  try {
    const read = readPlain(path, LONGEST_OWNER)
    if ('text' in read) return ownerOf(read.text) ?? noOwner(path)
    // A power cut can leave the name without the content.
    return read.problem === 'is empty' ? UNKNOWN_OWNER : noOwner(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function noOwner(path: string): never {
  throw new Error(`${path} is not a lock of this version of Carabiner; remove it when no agent is running`)
}

// ---- the owner's file -----------------------------------------------------------------------------------------

const OWNER_FILE = /^owner\.[0-9a-f]{16}$/

/** The owner files of this thread, by path, with their inodes. */
const made = new Map<string, number>()

/** The file that identifies this process in a folder. The mutex is another name for it. */
class OwnerFile {
  readonly path: string
  readonly #folder: string
  #swept = false

  constructor(folder: string) {
    this.#folder = folder
    this.path = join(folder, `owner.${ownSelf().id}`)
  }

  /** Undefined before it exists. */
  get inode(): number | undefined {
    return made.get(this.path)
  }

  /** Writes the complete file before any mutex links to it. The file is removed when the process ends. */
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

  /** For a file that is not the one made here, such as a copy of it. The next attempt makes a new one. */
  forget(): void {
    made.delete(this.path)
    removeIfThere(this.path)
  }

  /** Removes those of killed processes. Runs only once, because it has to read every file. */
  sweep(names: readonly string[]): void {
    if (this.#swept) return
    this.#swept = true
    for (const path of names
      .filter((name) => OWNER_FILE.test(name))
      .map((name) => join(this.#folder, name))) {
      if (path !== this.path && isAbandoned(path)) quietly(() => unlinkSync(path))
    }
  }
}

/** If this is wrong, the owner only has to write another file. */
function isAbandoned(path: string): boolean {
  const read = quietly(() => readPlain(path, LONGEST_OWNER))
  const owner = read && 'text' in read ? ownerOf(read.text) : undefined
  return owner !== undefined && quietly(() => isDead(owner, path)) === true
}

function removeAll(): void {
  for (const path of made.keys()) quietly(() => unlinkSync(path))
}

// ---- the owner ------------------------------------------------------------------------------------------------

/** A process, identified by its number and start time, so that a reused number is not mistaken for it. */
interface Owner {
  /** The text in the owner's file. */
  readonly text: string
  readonly pid: number
  /** Ticks since the machine started; 0 if the system does not tell. */
  readonly start: string
  /** Machine, boot and process-id namespace. In another place, the number means another process. */
  readonly place: string
  /** Identifies one thread of one process. */
  readonly id: string
}

/** A process on another machine or in another container cannot be checked. After this time, it counts as dead. */
const UNKNOWN_MS = 60_000
/** Without a start time, the number may have been reused. No process holds a mutex this long. */
const NO_START_MS = 600_000

const OWNER = /^([1-9]\d{0,9})\.(\d{1,20})\.([0-9a-f]{8})\.([0-9a-f]{16})$/

/** Stands for an owner that is no longer known. No process is in its place, so the age decides. */
const UNKNOWN_OWNER: Owner = { text: '', pid: 0, start: '0', place: '', id: '0'.repeat(16) }

let self: Owner | undefined

/** This thread. */
export function ownSelf(): Owner {
  if (self) return self
  const [pid, start, place, id] = [process.pid, statOf(process.pid)?.start ?? '0', processPlace(), nonce()]
  self = { text: `${pid}.${start}.${place}.${id}`, pid, start, place, id }
  return self
}

/** Returns undefined for text that no owner wrote. */
export function ownerOf(text: string): Owner | undefined {
  const [, pid, start, place, id] = OWNER.exec(text) ?? []
  if (!pid || !start || !place || !id) return undefined
  return { text, pid: Number(pid), start, place, id }
}

/** `path` is the mutex that the owner holds. */
export function isDead(owner: Owner, path: string): boolean {
  const me = ownSelf()
  if (owner.place !== me.place) return ageOf(path) > UNKNOWN_MS
  if (!hasProcess(owner.pid)) return true
  const now = statOf(owner.pid)
  if (now && owner.start !== '0') return now.start !== owner.start || now.ended
  return ageOf(path) > NO_START_MS
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Where process numbers mean what they mean to us: this machine since its last start, and our namespace of them. */
export function processPlace(): string {
  const boot = quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) ?? hostname()
  const ids = quietly(() => readlinkSync('/proc/self/ns/pid')) ?? ''
  return sha256(`${boot}\n${ids}`).slice(0, 8)
}

/** Linking sets the inode's ctime, so this is the time since the mutex was taken. The file itself is older. */
function ageOf(path: string): number {
  const taken = lstatIfThere(path)?.ctimeMs
  return taken === undefined ? 0 : Date.now() - taken
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
