// Folders of a test's own, and processes that share a store in them.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { FRESH_STATE, type SessionState } from '../../../src/core/session/session-store.js'
import { FileStore } from '../../../src/store/sessions/file-store.js'
import { AS_PERSON } from '../../person.js'

export interface Workplace {
  readonly root: string
  readonly stateDir: string
  readonly dataDir: string
  readonly projectDir: string
  /** What the store told beside its work. */
  readonly troubles: string[]
  readonly store: FileStore
}

export function workplace(): Workplace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-state-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return workplaceIn(root)
}

export function workplaceIn(root: string, project = 'project'): Workplace {
  const places = {
    stateDir: join(root, 'state'),
    dataDir: join(root, 'data'),
    projectDir: join(root, project),
  }
  const troubles: string[] = []
  const store = new FileStore({
    ...places,
    onTrouble: (text) => troubles.push(text),
    later: (work) => work(),
  })
  return { root, ...places, troubles, store }
}

/** A state that is told apart by its turn. */
export const turn = (number: number): SessionState => ({ ...FRESH_STATE, turn: number })
export const nextTurn = (state: SessionState): SessionState => ({ ...state, turn: state.turn + 1 })

/** Every path below a folder, relative and sorted; none where there is no folder. */
export function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  } catch {
    return []
  }
}

// ---- processes ------------------------------------------------------------------------------------------------

let programs = ''

/** Call once at the top of a file of tests. */
export function withWorkers(): void {
  beforeAll(async () => {
    programs = mkdtempSync(join(tmpdir(), 'carabiner-workers-'))
    chmodSync(programs, 0o755)
    await build({
      entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
      outfile: join(programs, 'worker.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: [AS_PERSON],
      logLevel: 'warning',
    })
  }, 60_000)
  afterAll(() => rmSync(programs, { recursive: true, force: true }))
}

export interface Worker {
  readonly child: ChildProcess
  /** What it printed so far. */
  readonly printed: () => string
  readonly ready: Promise<void>
  /** Answers what it printed. */
  readonly ended: Promise<string>
  go(): void
}

/** Runs `worker.ts`; it waits until it is told to go. */
export function worker(task: string, root: string, how: SpawnOptions & { through?: string } = {}): Worker {
  const { through, ...options } = how
  const own = [join(programs, 'worker.mjs'), task, root]
  const [file, args] =
    through === undefined
      ? [process.execPath, own]
      : ['/bin/sh', ['-c', `${through}; exec "$0" "$@"`, process.execPath, ...own]]
  const child = spawn(file, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  let printed = ''
  let isReady = () => {}
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })
  child.stdin?.on('error', () => undefined)
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    isReady()
  })
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(printed.replace(/^ready\n/, '')))
  })
  return { child, printed: () => printed, ready, ended, go: () => child.stdin?.end() }
}

/** All begin at the same time; answers what they printed. */
export async function together(workers: readonly Worker[]): Promise<string[]> {
  await Promise.all(workers.map(({ ready }) => ready))
  for (const one of workers) one.go()
  return Promise.all(workers.map(({ ended }) => ended))
}

/** Root may write everywhere: then the process is another user's. */
export function asNobody(root: string): SpawnOptions {
  mkdirSync(root, { recursive: true })
  if (process.getuid?.() !== 0) return {}
  chmodSync(root, 0o755)
  return { uid: 65534, gid: 65534 }
}
