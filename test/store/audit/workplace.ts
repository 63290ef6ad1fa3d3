// Folders of a test's own with a log in them, and processes that write to it.

import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { FileAuditLog, type FileAuditOptions } from '../../../src/store/audit/file-audit.js'
import { readEntries } from '../../../src/store/audit/read.js'
import { segmentPath } from '../../../src/store/audit/segments.js'
import type { StoredEntry, Writable } from '../../../src/store/audit-log.js'

export interface Workplace {
  readonly root: string
  readonly dataDir: string
  readonly projectDir: string
  readonly log: FileAuditLog
  readonly folder: string
}

export type LogOptions = Omit<FileAuditOptions, 'projectDir' | 'dataDir'>

export function workplace(options: LogOptions = {}): Workplace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-audit-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return workplaceIn(root, options)
}

export function workplaceIn(root: string, options: LogOptions = {}): Workplace {
  const places = { dataDir: join(root, 'data'), projectDir: join(root, 'project') }
  mkdirSync(places.projectDir, { recursive: true })
  const log = new FileAuditLog({ ...places, ...options })
  onTestFinished(() => log.close())
  return { root, ...places, log, folder: log.place }
}

export interface Plain extends Writable {
  readonly name: string
}

/** An entry that is told apart by its name. */
export function entry(name: string, more: object = {}): Plain {
  return { kind: 'fire', time: '2026-01-31T12:00:00.000Z', name, ...more }
}

export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

export function entriesOf(folder: string): StoredEntry[] {
  return [...readEntries(folder)]
}

/** Names and, of the log's own entries, kinds. */
export function storyOf(folder: string): string[] {
  return entriesOf(folder).map((one) => (one as unknown as Plain).name ?? one.kind)
}

export function linesIn(folder: string, segment = 1): string[] {
  return readFileSync(segmentPath(folder, segment), 'utf8').split('\n').slice(0, -1)
}

export function writeLines(folder: string, lines: readonly string[], segment = 1): void {
  writeFileSync(segmentPath(folder, segment), lines.map((line) => `${line}\n`).join(''))
}

export function appendBytes(folder: string, text: string, segment = 1): void {
  appendFileSync(segmentPath(folder, segment), text)
}

/** The same line with its hash made anew, as a forger would. */
export function sealed(line: string): string {
  const body = line.slice(0, -75)
  return `${body},"hash":"${hash('sha256', body)}"}`
}

export const RECORDS = 8

/** A log of eight records in one file, in two batches. */
export function smallLog(): Workplace & { readonly lines: string[] } {
  const place = workplace()
  place.log.append(times(RECORDS / 2, (i) => entry(`record ${i + 1}`)))
  place.log.append(times(RECORDS / 2, (i) => entry(`record ${i + 1 + RECORDS / 2}`)))
  return { ...place, lines: linesIn(place.folder) }
}

// ---- processes ------------------------------------------------------------------------------------------------

let programs = ''

/** Call once at the top of a file of tests. */
export function withWorkers(): void {
  beforeAll(async () => {
    programs = mkdtempSync(join(tmpdir(), 'carabiner-auditors-'))
    chmodSync(programs, 0o755)
    await build({
      entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
      outfile: join(programs, 'worker.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    })
  }, 60_000)
  afterAll(() => rmSync(programs, { recursive: true, force: true }))
}

export interface Worker {
  readonly child: ChildProcess
  /** What it printed so far, in lines that are whole. */
  readonly printed: () => readonly string[]
  /** Settles when it has printed so many lines, or has ended. */
  lines(count: number): Promise<void>
  /** Answers how it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

/** `through`: what a shell does before the program takes its place. */
export function worker(task: string, place: Workplace, options: object = {}, through?: string): Worker {
  const given = { projectDir: place.projectDir, dataDir: place.dataDir, ...options }
  const own = [join(programs, 'worker.mjs'), task, JSON.stringify(given)]
  const [file, args] =
    through === undefined
      ? [process.execPath, own]
      : ['/bin/sh', ['-c', `${through}; exec "$0" "$@"`, process.execPath, ...own]]
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  const waiting = new Set<() => void>()
  const tell = () => {
    for (const look of waiting) look()
  }
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more
    tell()
  })
  let isOver = false
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      isOver = true
      tell()
      resolve({ code, signal })
    })
  })
  const printed = () => text.split('\n').slice(0, -1)
  const lines = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isOver && printed().length < count) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { child, printed, lines, ended }
}
