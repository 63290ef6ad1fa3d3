// The private copies that run: written from the bytes that were hashed, named by the digest, read-only.

import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { makePrivate } from '../files/folder.js'
import { nonce } from '../files/nonce.js'
import { readFolder } from './folder-reading.js'
import { isExecutable, type TrustedFile } from './unit.js'

const MOST_TRIES = 8
/** For a file system; most allow 255. */
const LONGEST_NAME = 200

/** `<copies>/<digest>/<name>`; the name is the folder's own wherever it can be, since commands may say it. */
export function copyPath(copies: string, digest: string, path: string): string {
  const own = basename(path)
  const clean = /^[ -~]*$/.test(own) ? own : own.replace(/[\p{Cc}\p{Surrogate}]/gu, '-')
  const name =
    Buffer.byteLength(clean) > LONGEST_NAME ? [...clean].slice(0, LONGEST_NAME / 4).join('') : clean
  return join(copies, digest, name || 'unit')
}

/** A copy in the making. End it in any case. */
export class CopyDraft {
  readonly #path: string
  readonly #draft: string
  readonly #folders = new Set<string>()
  readonly #written: string[] = []

  /** `path`: where the copy will be. */
  constructor(path: string) {
    this.#path = path
    makePrivate(dirname(path))
    // Beside it: a folder that is read-only can be renamed, but not moved into another.
    this.#draft = join(dirname(path), `.${nonce()}.tmp`)
    mkdirSync(this.#draft, 0o700)
  }

  file({ path, mode }: TrustedFile, bytes: Buffer): void {
    const target = this.#target(path)
    writeFileSync(target, bytes, { flag: 'wx', mode: 0o600 })
    // After it was written: nobody's umask has a say.
    chmodSync(target, isExecutable({ mode }) ? 0o555 : 0o444)
    this.#written.push(target)
  }

  /** Puts it in its place, unless the very same is there. */
  publish(files: readonly TrustedFile[]): void {
    for (const { path, link } of files) if (link !== undefined) symlinkSync(link, this.#target(path))
    // A copy that lost its bytes in a power cut would still be trusted.
    for (const path of this.#written) sync(path)
    const folders = [this.#draft, ...this.#folders].sort().reverse()
    for (const folder of folders) {
      chmodSync(folder, 0o555)
      sync(folder)
    }
    this.#place(files)
    sync(dirname(this.#path))
  }

  /** What was not published is removed. */
  end(): void {
    try {
      removeTree(this.#draft)
      rmdirSync(dirname(this.#path))
    } catch {
      // A copy is in it, or somebody makes one there.
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
    throw new Error(`others write to ${this.#path} at the same time; try again`)
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

/** Whether exactly these files are there, read again. */
function isCopyOf(path: string, files: readonly TrustedFile[]): boolean {
  if (!isFolder(path)) return false
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

/** A folder itself, no link to one. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

const LEFT_OVER = /^\.[0-9a-f]+\.(?:tmp|gone)$/
const HOUR_MS = 60 * 60 * 1000

/** What killed processes left beside a copy. Nobody is at work on it for an hour. */
function removeLeftOvers(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => LEFT_OVER.test(one))) {
    const path = join(folder, name)
    if ((lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - HOUR_MS)
      removeTree(path)
  }
}

/** With the folder of its digest, if nothing else is in there. Never throws: a copy too many does no harm. */
export function removeCopy(path: string): void {
  try {
    moveAway(path)
    removeLeftOvers(dirname(path))
    rmdirSync(dirname(path))
  } catch {}
}

/** At one stroke, so that nobody finds half of it. */
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

/** Nothing can be removed from a read-only folder, but by root. */
function removeTree(path: string): void {
  if (isFolder(path)) makeWritable(path)
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
    // Some file systems cannot do this for a folder.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  } finally {
    closeSync(fd)
  }
}

/** What to do about a copy that cannot be written. */
export function copyFailure(copies: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  const todo =
    code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
      ? 'free some space, or set CARABINER_HOME to a folder that has it'
      : 'set CARABINER_HOME to a folder where this user may write'
  return new Error(`the copy cannot be written to ${copies}: ${textOf(error)}; ${todo}`, { cause: error })
}
