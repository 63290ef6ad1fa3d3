// Reads everything in a unit's folder, each file once: the hashed bytes are the ones that are copied or shown.

import { isUtf8 } from 'node:buffer'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { posix } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { quoted } from '../core/base/text.js'
import { exactLstatIfThere } from '../files/if-there.js'
import { moment, parseStamp, stampOf } from '../files/stamp.js'
import { isBelow, realOf } from '../files/within.js'
import { hashOfBytes, type Read, readFile } from './file-reading.js'
import type { TrustedFile, TrustedFolder } from './unit.js'

const MOST_FILES = 10_000
export const MOST_BYTES = 256 * 1024 * 1024
const DEEPEST = 64
/** The longest path below the folder, in bytes. */
const LONGEST_PATH = 1024
const MOST_PROBLEMS = 20

/**
 * Neither hashed nor copied: these are not part of a plugin, and change on their own. Compiled Python files could run
 * in place of the reviewed ones, so the copy has none.
 */
export const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.DS_Store', '__pycache__'])

interface FolderReading {
  /** Sorted by path. Empty folders do not count, as in git. */
  readonly files: readonly TrustedFile[]
  readonly folders: readonly TrustedFolder[]
  /** Sentences. If there are any, the reading is incomplete. */
  readonly problems: readonly string[]
}

interface FolderReadingOptions {
  /** If the root's path is inside this folder, its real path must be too. */
  readonly within?: string | undefined
  /** Links that lead out of the root and into this folder are read as the files they lead to. */
  readonly follow?: string
  /** Files that still have the stamp given here are neither read nor passed on. */
  readonly known?: ReadonlyMap<string, TrustedFile>
  /** Called with each file and its bytes, in any order. Its errors are rethrown. */
  readonly take?: (file: TrustedFile, bytes: Buffer) => void
}

/** Follows the root if it is a link, but no link below it. */
export function readFolder(root: string, options: FolderReadingOptions = {}): FolderReading {
  return new Reader(root, options).reading()
}

/** Thrown when a limit is reached. Nothing more is reported. */
class Enough extends Error {}

/** Wraps an error from `take`, to tell it from errors of the folder. */
class NotTaken extends Error {}

interface Link {
  readonly path: string
  /** Its real target, relative to the root. */
  readonly target: string
}

class Reader {
  readonly #root: string
  readonly #options: FolderReadingOptions
  readonly #files: TrustedFile[] = []
  readonly #folders: TrustedFolder[] = []
  readonly #links: Link[] = []
  readonly #problems: string[] = []
  /** Outside folders that links led to and that are being read now. */
  readonly #outside: string[] = []
  #entries = 0
  #bytes = 0
  #top: OpenFolder | undefined

  constructor(root: string, options: FolderReadingOptions) {
    this.#root = root
    this.#options = options
  }

  reading(): FolderReading {
    try {
      this.#read()
    } catch (error) {
      if (error instanceof NotTaken) throw error.cause
      // Any step may fail if the folder is moved or removed meanwhile.
      if (!(error instanceof Enough))
        this.#problems.push(`The folder cannot be read (${textOf(error)}); try again.`)
    }
    const byPath = (a: { readonly path: string }, b: { readonly path: string }) => (a.path < b.path ? -1 : 1)
    return {
      files: this.#files.sort(byPath),
      folders: this.#folders.sort(byPath),
      problems: this.#problems,
    }
  }

  #read(): void {
    let top: OpenFolder
    try {
      top = new OpenFolder(realpathSync.native(this.#root))
    } catch (error) {
      this.#problem(`The folder ${quoted(this.#root)} cannot be read (${textOf(error)}).`)
      return
    }
    this.#top = top
    try {
      this.#checkPlace(top)
      this.#folder(top, '', 0)
      this.#checkLinks()
    } finally {
      top.close()
    }
  }

  /** Checks the open folder, because its path may lead elsewhere by now. */
  #checkPlace(top: OpenFolder): void {
    const { within } = this.#options
    if (within === undefined || !isBelow(this.#root, within) || isBelow(top.realPath(), realOf(within)))
      return
    this.#problems.push(
      `The folder ${quoted(this.#root)} is a link to a place outside the project; put the folder itself there.`,
    )
    throw new Enough()
  }

  /** Each folder is open only while it is read. */
  #folder(folder: OpenFolder, path: string, depth: number): void {
    const seen = moment()
    const stats = lstatSync(folder.to('.'), { bigint: true })
    this.#folders.push({ path, stamp: stampOf(stats, seen) })
    for (const name of this.#namesIn(folder, path)) this.#entry(folder, name, posix.join(path, name), depth)
    if (!folder.isInPlace()) this.#problem(`${named(path)} was replaced while it was read; try again.`)
  }

  #namesIn(folder: OpenFolder, path: string): readonly string[] {
    const names: string[] = []
    try {
      // latin1 keeps one character per byte, which reveals names that are not UTF-8. Bun has no buffers here, Deno no default size.
      const entries = opendirSync(folder.to(), { encoding: 'latin1', bufferSize: 32 })
      try {
        for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
          const name = Buffer.from(entry.name, 'latin1')
          if (++this.#entries > MOST_FILES) {
            throw this.#enough(`It has more than ${MOST_FILES} files and folders.`)
          }
          // Deno decodes names anyway.
          const isExact = name.toString('latin1') === entry.name
          if (isExact && isUtf8(name)) names.push(name.toString('utf8'))
          else this.#problem(`${named(path)} has a file whose name is not UTF-8: ${inHex(name)}; rename it.`)
        }
      } finally {
        entries.closeSync()
      }
    } catch (error) {
      if (error instanceof Enough) throw error
      this.#problem(`${named(path)} cannot be read (${textOf(error)}).`)
    }
    return names.filter((name) => !LEFT_OUT.has(name)).sort()
  }

  #entry(folder: OpenFolder, name: string, path: string, depth: number): void {
    if (Buffer.byteLength(path) > LONGEST_PATH) {
      this.#problem(`${named(path)} has a path of more than ${LONGEST_PATH} bytes.`)
      return
    }
    const stats = statsOf(folder.to(name))
    if (!stats) this.#problem(`${named(path)} is gone, or cannot be read; try again.`)
    else if (stats.isDirectory()) this.#below(folder.to(name), path, depth + 1)
    else if (stats.isSymbolicLink()) this.#link(folder, name, path, stats)
    else if (stats.isFile()) this.#file(folder.to(name), path)
    else this.#problem(`${named(path)} is ${kindOf(stats)}, which cannot be copied; remove it.`)
  }

  #below(opened: string, path: string, depth: number): void {
    if (depth > DEEPEST) {
      this.#problem(`${named(path)} is more than ${DEEPEST} folders deep.`)
      return
    }
    let inner: OpenFolder
    try {
      inner = new OpenFolder(opened)
    } catch (error) {
      this.#problem(`${named(path)} cannot be read, or is no longer a folder (${textOf(error)}).`)
      return
    }
    try {
      this.#folder(inner, path, depth)
    } finally {
      inner.close()
    }
  }

  #file(at: string, path: string): void {
    const known = this.#options.known?.get(path)
    const stamp = known && parseStamp(known.stamp)
    const read: Read = readFile(at, { follow: false, limit: MOST_BYTES - this.#bytes, stamp })
    if (known && read === 'untouched') {
      this.#files.push(known)
      return
    }
    if (read === 'untouched' || 'problem' in read) {
      this.#problem(`${named(path)} ${read === 'untouched' ? 'cannot be read' : read.problem}.`)
      return
    }
    const { bytes, ...rest } = read
    const file: TrustedFile = { path, ...rest }
    this.#bytes += bytes.length
    this.#files.push(file)
    try {
      this.#options.take?.(file, bytes)
    } catch (cause) {
      throw new NotTaken('', { cause })
    }
  }

  /** Records a link by its real target, so that the copied link leads into the copy. */
  #link(folder: OpenFolder, name: string, path: string, stats: BigIntStats): void {
    const seen = moment()
    let target: string
    try {
      target = realpathSync.native(folder.to(name))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const why = code === 'ELOOP' ? 'is a link that leads to itself' : 'is a broken link'
      this.#problem(`${named(path)} ${why}; remove it.`)
      return
    }
    const root = (this.#top as OpenFolder).realPath()
    if (target !== root && !target.startsWith(`${root}/`)) {
      if (this.#followed(target, path)) return
      this.#problem(
        `${named(path)} is a link to a place outside, ${quoted(target)}; put the file itself there.`,
      )
      return
    }
    const inside = target.slice(root.length + 1)
    if (inside === '' || path.startsWith(`${inside}/`)) {
      this.#problem(`${named(path)} is a link to a folder that contains it, which never ends; remove it.`)
      return
    }
    const link = posix.relative(posix.dirname(path), inside)
    this.#links.push({ path, target: inside })
    this.#files.push({
      path,
      mode: 0o777,
      size: 0,
      sha256: hashOfBytes(link),
      link,
      stamp: stampOf(stats, seen),
    })
  }

  /** Reads the file or folder outside that a link leads to. False if it must not be followed there. */
  #followed(target: string, path: string): boolean {
    const { follow } = this.#options
    if (follow === undefined || !isBelow(target, realOf(follow))) return false
    if (target.split('/').some((name) => LEFT_OUT.has(name))) return false
    const root = (this.#top as OpenFolder).realPath()
    if ([root, ...this.#outside].some((open) => isBelow(open, target))) {
      this.#problem(`${named(path)} is a link to a folder that contains it, which never ends; remove it.`)
    } else if (statsOf(target)?.isDirectory()) {
      this.#outside.push(target)
      this.#below(target, path, path.split('/').length)
      this.#outside.pop()
    } else this.#file(target, path)
    return true
  }

  /** A link may only lead to something that was read, not to something left out or just added. */
  #checkLinks(): void {
    if (this.#links.length === 0) return
    const copied = new Set<string>()
    for (const { path } of this.#files.filter(({ link }) => link === undefined)) {
      for (let at = path; at !== '.' && !copied.has(at); at = posix.dirname(at)) copied.add(at)
    }
    for (const { path, target } of this.#links) {
      if (!copied.has(target)) {
        this.#problem(`${named(path)} is a link to ${named(target)}, which is not copied; remove it.`)
      }
    }
  }

  #problem(text: string): void {
    this.#problems.push(text)
    if (this.#problems.length >= MOST_PROBLEMS) throw new Enough()
  }

  #enough(text: string): Enough {
    this.#problems.push(`The folder ${quoted(this.#root)} is too large. ${text}`)
    return new Enough()
  }
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return exactLstatIfThere(path)
  } catch {
    return undefined
  }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a named pipe'
  if (stats.isSocket()) return 'a socket'
  return 'a device'
}

function named(path: string): string {
  return path === '' ? 'The folder' : quoted(path)
}

function inHex(name: Buffer): string {
  return name
    .toString('latin1')
    .replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

// ---- a folder held open: names are looked up in that folder, even if its path leads elsewhere by now ----------

const OPEN = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)

/*
 * Node has no openat. On Linux, `/proc/self/fd/N/name` does the same: it starts at the open folder. Elsewhere the path
 * is used, and `isInPlace` tells whether it still leads to the open folder. Between two checks, a fast attacker could
 * swap a folder there and back. Then a file from elsewhere is reviewed, and copied as reviewed.
 */
export class OpenFolder {
  readonly #fd: number
  readonly #path: string
  readonly #base: string

  /** Throws for a link, or anything else that is not a folder. */
  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, OPEN)
    const { dev, ino, isFolder } = this.#identity()
    if (!isFolder) {
      closeSync(this.#fd)
      throw Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' })
    }
    this.#base = baseOf(this.#fd, dev, ino) ?? path
  }

  /** The path to `name` in this folder, or to the folder itself. */
  to(name?: string): string {
    return name === undefined ? this.#base : `${this.#base}/${name}`
  }

  /** Its current path, without links. */
  realPath(): string {
    return realpathSync.native(this.#base)
  }

  isInPlace(): boolean {
    if (this.#base !== this.#path) return true
    const { dev, ino } = this.#identity()
    const now = exactLstatIfThere(this.#path)
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
