// Calls in files of the user's state folder: one line each, a new file every day, and the oldest are removed.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { type Checks, checkOptions, isText } from '../../core/base/options.js'
import type { CallSink, JudgedCall } from '../../core/session/audit-record.js'
import { namesIn } from '../../files/folder.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { stateHome } from '../../files/homes.js'
import { lstatIfThere } from '../../files/if-there.js'
import { nonce } from '../../files/nonce.js'
import { PLAIN, removeIfThere } from '../../files/plain-file.js'
import { isInProject } from '../../files/within.js'
import { checkFile, checkFolder } from '../audit/log-folder.js'
import { linesBefore, openPlain } from '../audit/segments.js'
import type { AuditCalls, KeptCall } from '../audit-calls.js'
import { isKeptCall, keptLine } from './kept-call.js'

export interface FileCallsOptions {
  /** Each project has its own calls. */
  readonly projectDir: string
  /** Default `stateHome()`. It must lie outside the project. */
  readonly stateDir?: string
  /** The most bytes of all files together. The oldest are removed before that. Default 16 MiB. */
  readonly maxBytes?: number
  /** Older calls are removed. Default 30. */
  readonly maxDays?: number
}

const isAbove0: Checks<{ size: number }>['size'] = [
  (value) => typeof value === 'number' && value > 0,
  'a number above 0',
]

const CHECKS: Checks<FileCallsOptions> = {
  projectDir: isText,
  stateDir: isText,
  maxBytes: isAbove0,
  maxDays: isAbove0,
}

const DAY_MS = 86_400_000
const MIB = 1024 * 1024
/** A new file begins when the current one is this old, or holds this share of all bytes. */
const SPAN_MS = DAY_MS
const PARTS = 8

/** `calls.FORMAT.TIME.NONCE.jsonl`: a name that no other process uses. */
const NAME = /^calls\.(\d{1,9})\.(\d{13})\.([0-9a-f]{16})\.jsonl$/

interface CallFile {
  readonly path: string
  /** When it was begun: milliseconds since 1970. */
  readonly begun: number
}

/**
 * Every line is one write to the end of a file, which the system never mixes with another process's. A line also begins
 * with a newline: if a process dies or the disk is full within a line, only that line is lost.
 */
export class FileCalls implements AuditCalls {
  readonly place: string
  readonly #maxBytes: number
  readonly #maxMs: number

  /** Creates no folder yet. Throws for invalid options and for a folder inside the project. */
  constructor(options: FileCallsOptions) {
    checkOptions('FileCalls', { ...options, projectDir: options?.projectDir ?? null }, CHECKS)
    const { stateDir = stateHome(), maxBytes = 16 * MIB, maxDays = 30 } = options
    const [project, state] = [resolve(options.projectDir), resolve(stateDir)]
    if (isInProject(state, project)) {
      throw new Error(
        `calls cannot be kept in ${JSON.stringify(state)}, which lies in the project ${JSON.stringify(project)}; set CARABINER_HOME to a folder outside it`,
      )
    }
    this.place = join(state, 'calls', digest(project).slice(0, 32))
    this.#maxBytes = maxBytes
    this.#maxMs = maxDays * DAY_MS
  }

  append(calls: readonly JudgedCall[]): void {
    if (calls.length === 0) return
    try {
      checkFolder(this.place)
      for (const call of calls) this.#write(`\n${keptLine(call)}\n`)
    } catch (error) {
      throw new Error(`the calls in ${this.place} cannot be written: ${textOf(error)}`, { cause: error })
    }
  }

  async *calls({ limit = Infinity }: { readonly limit?: number } = {}): AsyncGenerator<KeptCall> {
    let left = limit
    for (const { path } of this.#files().toReversed()) {
      for (const call of callsIn(path)) {
        if (left-- <= 0) return
        if (!this.#isOld(Date.parse(call.time))) yield call
      }
    }
  }

  async find(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, KeptCall>> {
    const found = new Map<string, KeptCall>()
    if (ids.size === 0) return found
    for await (const call of this.calls()) {
      if (ids.has(call.id)) found.set(call.id, call)
      if (found.size === ids.size) break
    }
    return found
  }

  /** The oldest first. Throws if a newer version of Carabiner writes here. */
  #files(): readonly CallFile[] {
    const files = namesIn(this.place).flatMap((name) => {
      const [, format, begun] = NAME.exec(name) ?? []
      if (format === undefined) return []
      const path = join(this.place, name)
      checkFormat(Number(format), path)
      return [{ path, begun: Number(begun) }]
    })
    return files.sort((a, b) => a.begun - b.begun || (a.path < b.path ? -1 : 1))
  }

  #write(line: string): void {
    const files = this.#files()
    const current = files.toReversed().find((file) => this.#hasRoom(file))
    if (current) {
      appendTo(current.path, line, false)
      return
    }
    const name = `calls.${FIRST_FORMAT}.${String(Date.now()).padStart(13, '0')}.${nonce()}.jsonl`
    appendTo(join(this.place, name), line, true)
    this.#prune(files)
  }

  #hasRoom({ path, begun }: CallFile): boolean {
    if (Math.abs(Date.now() - begun) >= SPAN_MS) return false
    const size = sizeOf(path)
    return size !== undefined && size < this.#maxBytes / PARTS
  }

  /** A time in the future counts as old: the clock was wrong, and nothing else would remove it. */
  #isOld(time: number): boolean {
    return !(Math.abs(Date.now() - time) <= this.#maxMs)
  }

  /** Other processes may do the same at the same time. */
  #prune(files: readonly CallFile[]): void {
    const sized = files.map((file) => ({ ...file, size: sizeOf(file.path) ?? 0 }))
    let total = sized.reduce((sum, { size }) => sum + size, 0)
    for (const { path, begun, size } of sized) {
      // Its newest line may be younger than the file by a whole span.
      const isOld = this.#isOld(begun + SPAN_MS)
      if (!isOld && total <= this.#maxBytes * (1 - 1 / PARTS)) continue
      total -= size
      removeIfThere(path)
    }
  }
}

function appendTo(path: string, line: string, makes: boolean): void {
  const how = constants.O_WRONLY | constants.O_APPEND | (makes ? constants.O_CREAT | constants.O_EXCL : 0)
  const fd = openSync(path, how | PLAIN, 0o600)
  try {
    const stats = fstatSync(fd)
    // Another process may have removed it as the oldest file.
    if (stats.nlink > 0) checkFile(path, stats)
    const bytes = Buffer.from(line)
    if (writeSync(fd, bytes) < bytes.length) throw new Error('no space left on the disk')
  } finally {
    closeSync(fd)
  }
}

function sizeOf(path: string): number | undefined {
  return lstatIfThere(path)?.size
}

/** The newest first. Damaged lines are skipped. */
function* callsIn(path: string): Generator<KeptCall> {
  const file = openPlain(path)
  if (!file) return
  try {
    for (const { bytes, whole } of linesBefore(file.fd, file.stats.size)) {
      const call = whole && bytes.length > 0 ? parsed(bytes) : undefined
      if (isKeptCall(call)) yield call
    }
  } finally {
    closeSync(file.fd)
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

// ---- for programs that embed the engine -----------------------------------------------------------------------

/** A sink for `createHooks({ audit, auditCalls })`. Calls are written in the background. A lost one is a diagnostic. */
export function fileAuditCalls(options: FileCallsOptions): CallSink {
  const calls = new FileCalls(options)
  return async (call) => {
    await new Promise((done) => setImmediate(done))
    calls.append([call])
  }
}
