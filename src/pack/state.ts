// The pack's memory on disk: bounded logs of JSON lines in the user's state folder, without secrets, safe for concurrent writers.

import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { type Data, isObject } from '../core/base/json.js'
import { redactedData } from '../core/base/secrets.js'
import { cutText } from '../core/base/text.js'
import { timestamp } from '../core/base/time.js'
import { callerEnv, callerPath } from '../files/caller.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { checkFormat } from '../files/format.js'
import { stateHome, userHome } from '../files/homes.js'
import { ifThere } from '../files/if-there.js'
import { placeWhole, readPlainBytes, removeIfThere } from '../files/plain-file.js'
import { isInProject, isWithin } from '../files/within.js'

type LogName = 'metrics' | 'memory' | 'agents' | 'reflections' | 'lock'

/** Nothing here throws, because a guard must not fail when the disk is full. Failures are listed in `problems`. */
export interface PackState {
  /** For this project and this user. The first write creates it. */
  readonly folder: string
  /** The path for a file in the folder, which may not exist yet. Undefined if the pack may not keep anything. */
  place(name: string): string | undefined
  /** Adds one record with the current time. Returns whether it was written. */
  append(log: LogName, record: Data): boolean
  /** Newest first. */
  recent(log: LogName, most?: number): readonly Data[]
  /** Messages for the user. */
  readonly problems: readonly string[]
}

/** A line is a single write of at most this many bytes, which the system does not mix with other writes. */
const MAX_LINE = 4096
/** After this many bytes a log continues in a new file. Only the newest files are kept. */
const SEGMENT_BYTES = 256 * 1024
const SEGMENTS = 2
const NEWLINE = 10
/** The name carries the format: `metrics.00000001.jsonl` has format 1, `metrics.00000001.v2.jsonl` would have format 2. */
const SEGMENT = /^([a-z]+)\.(\d{8})(?:\.v([1-9]\d{0,5}))?\.jsonl$/

interface PackStateOptions {
  readonly projectDir: string
  readonly env?: NodeJS.ProcessEnv
  readonly now?: () => number
}

export function openState({ projectDir, env = callerEnv(), now = Date.now }: PackStateOptions): PackState {
  return new FilePackState(resolve(stateHome(env), 'pack'), callerPath(projectDir), now)
}

class FilePackState implements PackState {
  readonly folder: string
  readonly problems: string[] = []
  readonly #projectDir: string
  readonly #now: () => number
  #outside: boolean | undefined

  constructor(home: string, projectDir: string, now: () => number) {
    this.folder = join(home, projectFolder(projectDir))
    this.#projectDir = projectDir
    this.#now = now
  }

  place(name: string): string | undefined {
    return this.#isOutside() ? join(this.folder, name) : undefined
  }

  append(log: LogName, record: Data): boolean {
    return (
      this.#attempt('written', () => {
        if (!this.#isOutside()) return false
        const line = lineOf(timestamp(this.#now()), record)
        const path = join(this.folder, this.#segmentToWrite(log))
        if (!appended(path, line)) {
          makePrivate(this.folder)
          if (!appended(path, line)) throw new Error('the folder was removed again')
          this.#attempt('cleared', () => forgetProjects(dirname(this.folder), this.folder))
        }
        return true
      }) ?? false
    )
  }

  recent(log: LogName, most = 1000): readonly Data[] {
    const records = this.#attempt('read', () => {
      if (!this.#isOutside()) return []
      const segments = this.#segments(log).toReversed()
      const found: Data[] = []
      for (const name of segments) {
        if (found.length < most) found.push(...recordsIn(join(this.folder, name)).toReversed())
      }
      return found.slice(0, most)
    })
    return records ?? []
  }

  /** A project that can write to this folder could tell the model anything. */
  #isOutside(): boolean {
    if (this.#outside !== undefined) return this.#outside
    // True if the project is the user's whole home. isInProject() would find out too, but reads the disk, which is slower.
    const holdsHome = isWithin(userHome(), this.#projectDir)
    this.#outside = holdsHome || !isInProject(this.folder, this.#projectDir)
    if (!this.#outside) {
      this.problems.push(
        `the pack saves nothing, because ${this.folder} is inside the project; set CARABINER_HOME to a folder outside it`,
      )
    }
    return this.#outside
  }

  /** Sorted by age. No mutex is needed: writers that see the same newest file append to the same one. */
  #segments(log: LogName): readonly string[] {
    const names = namesIn(this.folder).filter((name) => SEGMENT.exec(name)?.[1] === log)
    for (const name of names) checkFormat(Number(SEGMENT.exec(name)?.[3] ?? 1), name)
    return names.sort()
  }

  #segmentToWrite(log: LogName): string {
    const segments = this.#segments(log)
    const newest = segments.at(-1)
    if (newest === undefined) return segmentName(log, 1)
    if (sizeOf(join(this.folder, newest)) < SEGMENT_BYTES) return newest
    for (const old of segments.slice(0, 1 - SEGMENTS)) removeIfThere(join(this.folder, old))
    return segmentName(log, Number(SEGMENT.exec(newest)?.[2]) + 1)
  }

  #attempt<R>(done: 'read' | 'written' | 'cleared', work: () => R): R | undefined {
    try {
      return work()
    } catch (error) {
      const problem = `the pack's memory in ${this.folder} cannot be ${done}: ${textOf(error)}`
      if (!this.problems.includes(problem)) this.problems.push(problem)
      return undefined
    }
  }
}

/** A readable name for each path. A digest would need a library that takes longer to load than everything else here. */
function projectFolder(projectDir: string): string {
  const name = encodeURIComponent(projectDir)
  // A file name has at most 255 bytes, and the end of a path says more than the beginning.
  return name.length <= 200 ? name : `${sum(projectDir)}-${name.slice(-160)}`
}

/** 64 bits, only to tell apart paths with the same last 160 letters. */
function sum(text: string): string {
  let [a, b] = [0x811c9dc5, 0x1b873593]
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b)
    b ^= b >>> 13
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0')
}

function segmentName(log: LogName, number: number): string {
  return `${log}.${String(number).padStart(8, '0')}.jsonl`
}

// ---- lines ----------------------------------------------------------------------------------------------------

/** Shortens the longest texts until the line fits. Removes secrets first, because half a secret is still a secret. */
function lineOf(time: string, record: Data): string {
  let fitted = redactedData(record)
  for (let most = MAX_LINE / 2; most >= 16; most /= 2) {
    const line = `${JSON.stringify({ time, ...fitted })}\n`
    if (Buffer.byteLength(line) <= MAX_LINE) return line
    fitted = shortened(fitted, most) as Data
  }
  return `${JSON.stringify({ time, cut: true })}\n`
}

function shortened(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length * 4 <= most ? value : cutText(value, most, '…')
  if (Array.isArray(value)) return value.slice(0, most / 8).map((one) => shortened(one, most))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one, most)]))
}

/** False if there is no folder to write in. */
function appended(path: string, line: string): boolean {
  const fd = opened(path)
  if (fd === undefined) return false
  try {
    const bytes = Buffer.from(endsWithLine(fd) ? line : `\n${line}`)
    const written = writeSync(fd, bytes)
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes could be written`)
    return true
  } finally {
    closeSync(fd)
  }
}

function opened(path: string): number | undefined {
  return ifThere(() => openSync(path, 'a+', 0o600))
}

/** A full disk may have cut the last line short. The next line must not be glued to it. */
function endsWithLine(fd: number): boolean {
  const { size } = fstatSync(fd)
  const last = Buffer.alloc(1)
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === NEWLINE
}

/** Skips lines that are not records: a full disk may have cut them short. */
function recordsIn(path: string): readonly Data[] {
  // Another process has just created or removed it.
  if (sizeOf(path) === 0) return []
  const found = readPlainBytes(path, SEGMENT_BYTES + 64 * MAX_LINE)
  if ('problem' in found) throw new Error(`${path} ${found.problem}`)
  const records: Data[] = []
  for (let at = 0; at < found.bytes.length; ) {
    const end = found.bytes.indexOf(NEWLINE, at)
    const line = found.bytes.subarray(at, end < 0 ? undefined : end)
    const value = isUtf8(line) ? parsed(line.toString('utf8')) : undefined
    if (isObject(value)) records.push(value as Data)
    at += line.length + 1
  }
  return records
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

// ---- files ----------------------------------------------------------------------------------------------------

/** Replaces a file atomically: readers see the old or the new content, never a part. */
export function replaceFile(path: string, content: string): void {
  makePrivate(dirname(path))
  placeWhole(path, (draft) => writeFileSync(draft, content, { flag: 'wx', mode: 0o600 }))
}

function sizeOf(path: string): number {
  return ifThere(() => lstatSync(path))?.size ?? 0
}

// ---- old projects -----------------------------------------------------------------------------------------------

const MOST_PROJECTS = 200
/** A project in lock mode is never forgotten. */
const LOCK_FILE = 'lock.json'

/** Removes the projects that have been idle longest. Called when a project is new. `own` is its folder. */
export function forgetProjects(home: string, own: string, most = MOST_PROJECTS): void {
  const folders = readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(home, name))
  if (folders.length <= most) return
  const byAge = folders.map((folder) => ({ folder, at: lastUse(folder) })).sort((a, b) => a.at - b.at)
  const idle = byAge.filter(({ folder }) => folder !== own && !namesIn(folder).includes(LOCK_FILE))
  for (const { folder } of idle.slice(0, folders.length - most))
    rmSync(folder, { recursive: true, force: true })
}

/** The newest change inside. The folder's own time does not change when a log in it grows. */
function lastUse(folder: string): number {
  return Math.max(0, ...namesIn(folder).map((name) => changedAt(join(folder, name))))
}

function changedAt(path: string): number {
  return ifThere(() => lstatSync(path))?.mtimeMs ?? 0
}
