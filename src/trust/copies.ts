// Private copies of what runs: read-only, written from the bytes that were hashed, and named by their digest.

import { isUtf8 } from 'node:buffer'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { digest } from '../core/base/digest.js'
import { textOf } from '../core/base/errors.js'
import { inQuotes } from '../effects/shell/shell-quoted.js'
import { makePrivate } from '../files/folder.js'
import { lstatIfThere } from '../files/if-there.js'
import { nonce } from '../files/nonce.js'
import { placeWhole } from '../files/plain-file.js'
import type { Place } from '../runners/hook-spec.js'
import { readFile } from './file-reading.js'
import { LEFT_OUT, readFolder } from './folder-reading.js'
import { type CopyKey, isExecutable, type Standing, type TrustedFile, type TrustRecord } from './unit.js'

const MOST_TRIES = 8
/** In bytes. Most file systems allow 255. */
const LONGEST_NAME = 200

/** `<copies>/<digest>/<name>`. Keeps the folder's own name if possible, because commands may contain it. */
export function copyPath(copies: string, digest: string, path: string): string {
  const own = basename(path)
  const clean = /^[ -~]*$/.test(own) ? own : own.replace(/[\p{Cc}\p{Surrogate}]/gu, '-')
  const name =
    Buffer.byteLength(clean) > LONGEST_NAME ? [...clean].slice(0, LONGEST_NAME / 4).join('') : clean
  return join(copies, digest, name || 'unit')
}

/** A copy in the making. Always call `end()`. */
export class CopyDraft {
  readonly #path: string
  readonly #draft: string
  readonly #folders = new Set<string>()
  readonly #written: string[] = []

  /** `path` is the final place of the copy. */
  constructor(path: string) {
    this.#path = path
    makePrivate(dirname(path))
    // A read-only folder can be renamed, but not moved to another folder. So the draft is beside the copy.
    this.#draft = join(dirname(path), `.${nonce()}.tmp`)
    mkdirSync(this.#draft, 0o700)
  }

  file({ path, mode }: TrustedFile, bytes: Buffer): void {
    const target = this.#target(path)
    writeFileSync(target, bytes, { flag: 'wx', mode: 0o600 })
    // Not part of opening the file, where the umask would apply.
    chmodSync(target, isExecutable({ mode }) ? 0o555 : 0o444)
    this.#written.push(target)
  }

  /** Puts the copy in place, unless the same copy is there already. */
  publish(files: readonly TrustedFile[]): void {
    for (const { path, link } of files) if (link !== undefined) symlinkSync(link, this.#target(path))
    // After a power cut, a copy that lost its bytes would still be trusted.
    for (const path of this.#written) sync(path)
    const folders = [this.#draft, ...this.#folders].sort().reverse()
    for (const folder of folders) {
      chmodSync(folder, 0o555)
      sync(folder)
    }
    this.#place(files)
    sync(dirname(this.#path))
  }

  /** Removes what was not published. */
  end(): void {
    try {
      removeTree(this.#draft)
      rmdirSync(dirname(this.#path))
    } catch {
      // it holds a copy, or another process is making one
    }
  }

  #place(files: readonly TrustedFile[]): void {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (isCopyOf(this.#path, files)) return
      moveAway(this.#path)
      try {
        renameSync(this.#draft, this.#path)
        return
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR') throw error
      }
    }
    throw new Error(`another process is writing to ${this.#path}; try again`)
  }

  #target(path: string): string {
    const parts = path.split('/')
    let folder = this.#draft
    for (const part of parts.slice(0, -1)) {
      folder = join(folder, part)
      if (this.#folders.has(folder)) continue
      mkdirSync(folder, 0o700)
      this.#folders.add(folder)
    }
    return join(folder, parts.at(-1) as string)
  }
}

/** Reads the copy again to see whether it is exactly these files. */
function isCopyOf(path: string, files: readonly TrustedFile[]): boolean {
  if (!isRealFolder(path)) return false
  const copy = readFolder(path)
  return (
    copy.problems.length === 0 &&
    copy.files.length === files.length &&
    copy.files.every((file, i) => isSameFile(file, files[i]))
  )
}

export function isSameFile(a: TrustedFile, b: TrustedFile | undefined): boolean {
  return (
    b !== undefined &&
    a.path === b.path &&
    a.sha256 === b.sha256 &&
    a.link === b.link &&
    isExecutable(a) === isExecutable(b)
  )
}

/** A link to a folder does not count. */
export function isRealFolder(path: string): boolean {
  return lstatIfThere(path)?.isDirectory() ?? false
}

const LEFT_OVER = /^\.[0-9a-f]+\.(?:tmp|gone)$/
const HOUR_MS = 60 * 60 * 1000

/** Removes what killed processes left beside a copy. No living process works on one for an hour. */
function removeLeftOvers(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => LEFT_OVER.test(one))) {
    const path = join(folder, name)
    if ((lstatIfThere(path)?.mtimeMs ?? Infinity) < Date.now() - HOUR_MS) removeTree(path)
  }
}

/** Also removes the digest's folder if it is empty. Never throws: a leftover copy does no harm. */
export function removeCopy(path: string): void {
  try {
    moveAway(path)
    removeLeftOvers(dirname(path))
    rmdirSync(dirname(path))
  } catch {}
}

/** One rename, so that no reader finds half of it. */
function moveAway(path: string): void {
  const gone = join(dirname(path), `.${nonce()}.gone`)
  try {
    renameSync(path, gone)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  removeTree(gone)
}

/**
 * Root can write to a read-only copy, so hooks that root runs may leave files there. Never throws: the comparison finds
 * whatever stays.
 */
export function removeAdded(copy: string, files: readonly TrustedFile[]): void {
  const known = new Set<string>()
  for (const { path } of files)
    for (let at = path; !known.has(at) && at !== '.'; at = dirname(at)) known.add(at)
  const clear = (folder: string) => {
    for (const entry of readdirSync(join(copy, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (LEFT_OUT.has(entry.name)) continue
      if (!known.has(path)) removeTree(join(copy, path))
      else if (entry.isDirectory()) clear(path)
    }
  }
  try {
    if (isRealFolder(copy)) clear('')
  } catch {}
}

/** Only root can remove files from a read-only folder. */
function removeTree(path: string): void {
  if (isRealFolder(path)) makeWritable(path)
  rmSync(path, { recursive: true, force: true })
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name))
  }
}

function sync(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } catch (error) {
    // Some file systems cannot sync a folder.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  } finally {
    closeSync(fd)
  }
}

/** Says what to do about a copy that cannot be written. */
export function copyFailure(copies: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  const todo =
    code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
      ? 'free some space, or set CARABINER_HOME to a folder that has it'
      : 'set CARABINER_HOME to a folder where this user may write'
  return new Error(`the copy cannot be written to ${copies}: ${textOf(error)}; ${todo}`, { cause: error })
}

// ---- the folder of programs: first in `$PATH`, so that hooks find the reviewed programs -----------------------

/** The same content may be trusted twice with different programs. Each gets its own folder. */
export function binPath(copies: string, { digest: of, programs }: CopyKey): string {
  return join(copies, `${of}.${digest({ ...programs }).slice(0, 16)}.bin`)
}

/** Makes the folder, or makes it again if it differs. */
export function makeBin(path: string, { programs }: TrustRecord): void {
  if (isBinOf(path, programs)) return
  makePrivate(join(path, '..'))
  try {
    placeWhole(path, (draft) => {
      mkdirSync(draft, 0o700)
      for (const [name, target] of Object.entries(programs)) {
        writeFileSync(join(draft, name), callOf(target), { mode: MODE, flag: 'wx' })
      }
      rmSync(path, { recursive: true, force: true })
    })
  } catch (error) {
    // Another process may have made the same folder.
    if (!isBinOf(path, programs)) throw error
  }
}

/** Read-only, to prevent accidental changes. */
const MODE = 0o500

/** A script rather than a link, because some programs, such as those of a venv, look for files beside themselves. */
function callOf(target: string): string {
  return `#!/bin/sh\nexec ${inQuotes(target)} "$@"\n`
}

function isBinOf(path: string, programs: TrustRecord['programs']): boolean {
  try {
    const names = readdirSync(path)
    return (
      names.length === Object.keys(programs).length &&
      names.every((name) => {
        const target = Object.hasOwn(programs, name) ? programs[name] : undefined
        return target !== undefined && isCallOf(join(path, name), target)
      })
    )
  } catch {
    return false
  }
}

function isCallOf(path: string, target: string): boolean {
  const stats = lstatSync(path)
  return stats.isFile() && (stats.mode & 0o777) === MODE && readFileSync(path, 'utf8') === callOf(target)
}

// ---- where a trusted hook runs --------------------------------------------------------------------------------

/** The place in the copy. Unchanged for a hooks file, which has no copy. */
export function runPlace(standing: Standing, place: Place): Place {
  if (standing.state !== 'trusted' || standing.copy === undefined) return place
  const { record, copy } = standing
  const moved = (path: string) => {
    if (path === record.path) return copy
    // The skill belongs to a plugin.
    if (path.startsWith(`${record.path}/`)) return copy + path.slice(record.path.length)
    return path === dirname(record.path) ? dirname(copy) : path
  }
  return {
    ...place,
    copy,
    hooksDir: moved(place.hooksDir),
    ...(place.plugin && { plugin: { ...place.plugin, root: moved(place.plugin.root) } }),
    ...(place.skillDir !== undefined && { skillDir: moved(place.skillDir) }),
  }
}

// ---- texts of trusted files that are not copied, so that the next review can show what changed ----------------

/** The largest file that can be shown, in bytes. */
export const LONGEST_TEXT = 1024 * 1024

/** The largest file that is kept, in bytes. */
const LONGEST_KEPT = 8 * 1024 * 1024

/** Ways in which scripts find files beside themselves. */
const BESIDE_ITSELF =
  /\$\{?0\b|BASH_SOURCE|__file__|__dirname|__filename|import\.meta|argv\[0\]|FindBin|PSScriptRoot|\.\.?\/|^\s*from\s+\.|\btry:\s+(?:import|from)\s/m

/** Whether a person can read it as text. */
export function isReadable(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

/** The text, if it is still what was trusted. */
export function textAt(path: string, { sha256 }: TrustedFile): string | undefined {
  const read = readFile(path, { follow: false, limit: LONGEST_TEXT })
  if (read === 'untouched' || 'problem' in read || read.sha256 !== sha256) return undefined
  return isReadable(read.bytes) ? read.bytes.toString('utf8') : undefined
}

export class KeptFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Skips files that are too large to review. A gate that runs one closes when the file changes. */
  keep({ sha256 }: TrustedFile, bytes: Buffer): void {
    if (bytes.length > LONGEST_KEPT) return
    const path = join(this.#folder, sha256)
    if (existsSync(path)) return
    makePrivate(this.#folder)
    const write = (draft: string) => {
      writeFileSync(draft, bytes, { flag: 'wx', mode: 0o600 })
      chmodSync(draft, 0o400)
    }
    placeWhole(path, write, join(this.#folder, `.${nonce()}.tmp`))
  }

  textOf(file: TrustedFile): string | undefined {
    return textAt(join(this.#folder, file.sha256), file)
  }

  /**
   * Writes the reviewed version of a script where it can run, and returns its path. The script keeps its name, because
   * programs may depend on it. Returns undefined if it was not kept, or may look for files beside itself: without those
   * it might let everything pass.
   */
  place(file: TrustedFile, folder: string): string | undefined {
    const bytes = this.runnable(file)
    if (!bytes) return undefined
    const path = join(folder, file.sha256.slice(0, 16), basename(file.path))
    if (isReviewed(path, file)) return path
    makePrivate(dirname(path))
    placeWhole(path, (draft) => {
      writeFileSync(draft, bytes, { flag: 'wx', mode: 0o600 })
      chmodSync(draft, isExecutable(file) ? 0o500 : 0o400)
    })
    return path
  }

  /** The bytes of a script that can run on its own. */
  runnable({ sha256 }: TrustedFile): Buffer | undefined {
    const read = readFile(join(this.#folder, sha256), { follow: false, limit: LONGEST_KEPT })
    if (read === 'untouched' || 'problem' in read || read.sha256 !== sha256) return undefined
    return isReadable(read.bytes) && !BESIDE_ITSELF.test(read.bytes.toString('utf8')) ? read.bytes : undefined
  }

  /** Removes the texts of a record, except those that other records need. */
  removeAllBut(old: TrustRecord, others: readonly TrustRecord[]): void {
    const used = new Set(others.flatMap(keptBy))
    for (const sha256 of keptBy(old))
      if (!used.has(sha256)) rmSync(join(this.#folder, sha256), { force: true })
  }
}

function isReviewed(path: string, file: TrustedFile): boolean {
  const read = readFile(path, { follow: false, limit: LONGEST_KEPT })
  return typeof read === 'object' && 'sha256' in read && isSameFile({ ...read, path: file.path }, file)
}

/** The folder for reviewed versions of scripts that are outside the copy. */
export function scriptsPath(copies: string, { digest: of }: Pick<CopyKey, 'digest'>): string {
  return join(copies, `${of}.scripts`)
}

function keptBy({ scripts, source }: TrustRecord): readonly string[] {
  return [...scripts, ...(source ? [source] : [])].map(({ sha256 }) => sha256)
}
