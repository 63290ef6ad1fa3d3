// Programs of these tests, bundled once for a file of tests, so that each can be a process of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { AS_PERSON } from '../person.js'

let folder = ''

/** Call once at the top of a file of tests. */
export function withProgram(name: 'asker' | 'answerer'): void {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), `carabiner-${name}-`))
    await build({
      entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
      outfile: programFile(name),
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: [AS_PERSON],
      logLevel: 'warning',
    })
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
}

export function programFile(name: 'asker' | 'answerer'): string {
  return join(folder, `${name}.mjs`)
}

export interface Answerer {
  readonly child: ChildProcess
  /** The next line it prints, as a value. */
  next(): Promise<unknown>
  /** Lets it begin. */
  go(): void
}

interface Start {
  readonly env?: NodeJS.ProcessEnv
  /** A shell command that runs the program as `"$@"`. */
  readonly through?: string
}

/** Runs `answerer.ts`; it says "ready" first and waits until it is told to go. */
export function answerer(
  task: string,
  plan: object,
  { env = {}, through = 'exec "$@"' }: Start = {},
): Answerer {
  const program = [process.execPath, programFile('answerer'), task, JSON.stringify(plan)]
  const child = spawn('/bin/sh', ['-c', through, 'sh', ...program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const waiting: ((line: string) => void)[] = []
  let rest = ''
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      const taker = waiting.shift()
      if (taker) taker(line)
      else lines.push(line)
    }
  })
  const next = () =>
    new Promise<unknown>((resolve) => {
      const take = (line: string) => resolve(JSON.parse(line))
      const line = lines.shift()
      if (line === undefined) waiting.push(take)
      else take(line)
    })
  return { child, next, go: () => child.stdin.end() }
}

/** All begin at the same time; answers what each of them printed next. */
export async function together(all: readonly Answerer[]): Promise<unknown[]> {
  for (const one of all) await one.next()
  for (const one of all) one.go()
  return Promise.all(all.map((one) => one.next()))
}
