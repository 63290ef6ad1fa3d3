// The real clip and the real service for tests: places that clip is called in, and what a call printed and left on disk.

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { findServices, type Service, stopService } from '../../src/service/socket/running-services.js'
import { ended, programFile, type Run } from '../cli/program.js'
import { endLiving, living } from '../conformance/living.mjs'

const SOURCE = fileURLToPath(new URL('../../src/service/clip.c', import.meta.url))

const compiler = ['cc', 'gcc', 'clang'].find(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
)
export const isServable = process.platform !== 'win32' && compiler !== undefined

/** For clip: a cold run with it fails loudly, so an answer can only be the service's. */
export const NO_NODE = '/nowhere/node'

export interface ClipCall {
  readonly args: readonly string[]
  readonly input?: string | Uint8Array | object
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The Node of the cold path. */
  readonly node?: string
  /** A shell script that runs clip as `"$@"`. */
  readonly through?: string
}

const MOST_TRIES = 20

let compiled: string | undefined
afterAll(() => {
  if (compiled !== undefined) rmSync(dirname(compiled), { recursive: true })
  compiled = undefined
})

/** Clip, compiled once for a file of tests. */
function compiledClip(): string {
  if (compiled === undefined) {
    const clip = join(mkdtempSync(join(tmpdir(), 'carabiner-clip-')), 'clip')
    compiled = clip
    const { status, stderr } = spawnSync(compiler as string, ['-std=c11', '-O2', '-o', clip, SOURCE])
    if (status !== 0) throw new Error(stderr.toString())
  }
  return compiled
}

/** A folder with a state home, whose service all callers in it share. */
export class Scene {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-warm-')))
  readonly clip = join(this.base, 'clip')
  readonly script: string

  constructor(script = programFile()) {
    this.script = script
    copyFileSync(compiledClip(), this.clip)
    mkdirSync(this.home)
    mkdirSync(this.project)
  }

  /** Everything is gone but the service, which then meets new folders. */
  clear(): void {
    const state = this.path('state/carabiner')
    const beside = readdirSync(this.base).filter((name) => name !== 'clip' && name !== 'state')
    const inState = (existsSync(state) ? readdirSync(state) : []).filter((name) => name !== 'service')
    const paths = [...beside.map((name) => this.path(name)), ...inState.map((name) => join(state, name))]
    for (const path of paths) rmSync(path, { recursive: true, force: true })
    mkdirSync(this.home)
    mkdirSync(this.project)
  }

  get home(): string {
    return this.path('home')
  }

  get project(): string {
    return this.path('project')
  }

  /** Of the sockets. */
  get folder(): string {
    return this.path('state/carabiner/service')
  }

  path(name: string): string {
    return join(this.base, name)
  }

  /** Writes a file, folders and all, and returns its path. */
  file(name: string, content: string | object, mode = 0o644): string {
    const path = this.path(name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
    chmodSync(path, mode)
    return path
  }

  read(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8') : ''
  }

  /** Lines of a file that hooks append to. */
  lines(name: string): readonly string[] {
    return this.read(name)
      .split('\n')
      .filter((line) => line !== '')
  }

  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const own = { PATH: process.env.PATH ?? '', HOME: this.home, XDG_STATE_HOME: this.path('state') }
    return { ...own, ...more }
  }

  /** Starts clip. */
  start({ args, cwd = this.project, env, node = process.execPath, through, input }: ClipCall) {
    const line = [this.clip, node, this.script, ...args]
    const [file = '', ...rest] = through === undefined ? line : ['/bin/sh', '-c', through, 'sh', ...line]
    const child = spawn(file, rest, { cwd, env: this.env(env), stdio: 'pipe' })
    child.stdin.on('error', () => undefined)
    if (input !== undefined) child.stdin.end(bytesOf(input))
    return child
  }

  /** On a busy machine the service may be too late, and then nothing has begun. With NO_NODE such a call is made again. */
  async call(call: ClipCall): Promise<Run> {
    for (let tries = 0; ; tries++) {
      const run = await ended(this.start({ input: '', ...call }))
      if (tries === MOST_TRIES || !run.stderr.includes(`cannot start ${NO_NODE}`)) return run
    }
  }

  cold(call: ClipCall): Promise<Run> {
    return this.call({ ...call, env: { ...call.env, CARABINER_SERVICE: 'off' } })
  }

  /** Fails loudly if the service does not answer. */
  warm(call: ClipCall): Promise<Run> {
    return this.call({ node: NO_NODE, ...call })
  }

  /** The program itself. */
  carabiner(args: readonly string[], cwd = this.project, env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [this.script, ...args], { cwd, env: this.env(env), stdio: 'pipe' })
    child.stdin.end()
    return ended(child)
  }

  // ---- the service ----------------------------------------------------------------------------------------------

  services(): Promise<readonly Service[]> {
    return findServices(this.folder)
  }

  async running(): Promise<readonly Service[]> {
    return (await this.services()).filter(({ state }) => state === 'running')
  }

  /** The only one that runs. */
  async service(): Promise<Service & { readonly status: NonNullable<Service['status']> }> {
    const [service, ...others] = await this.running()
    if (!service?.status || others.length > 0)
      throw new Error(`${others.length + (service ? 1 : 0)} services run`)
    return { ...service, status: service.status }
  }

  /** Lets clip start it, as an agent's first event does. */
  async startService(): Promise<void> {
    await this.call({ args: ['fire', '--as', 'claude-code'], input: { hook_event_name: 'Stop' } })
    await eventually('the service answers', async () => (await this.running()).length === 1)
  }

  async stopServices(): Promise<void> {
    for (const service of await this.services()) await stopService(service, 30_000)
  }

  /** Living processes of hooks, and services of this scene. */
  left(): readonly number[] {
    return [...new Set([...living(this.base), ...mentioning(this.base)])]
  }

  async remove(): Promise<void> {
    await this.stopServices()
    endLiving(this.base)
    for (const pid of mentioning(this.base)) process.kill(pid, 'SIGKILL')
    rmSync(this.base, { recursive: true, force: true })
  }
}

function bytesOf(input: NonNullable<ClipCall['input']>): string | Uint8Array {
  return typeof input === 'string' || input instanceof Uint8Array ? input : JSON.stringify(input)
}

/** Living processes with this text in their command line. */
function mentioning(text: string): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,command='], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, stat = 'Z', ...command]) => !stat.startsWith('Z') && command.join(' ').includes(text))
    .map(([pid]) => Number(pid))
}

const PATIENCE_MS = 60_000

/** Asks again until it is so. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(`Not within a minute: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

// ---- what a call leaves -----------------------------------------------------------------------------------------

/** The same in every run: without times, durations, random names and digests that depend on them. */
export function steady(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replace(/(calls\.\d+\.)\d+\.[0-9a-f]+(?=\.jsonl)/g, '$1TIME.HEX') // which may have no letter
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replace(/("(?:duration_us|duration_ms|ms|at|pid|size|era)":)\s*[\d.e-]+/g, '$1N')
    .replace(/\b(?:1[6-9]\d{8}|\d{12,18})\b/g, 'TIME') // also random eras of the clock
    .replace(/\b\d+(?:\.\d+)? ms\b/g, 'N ms')
    .replace(/\b[0-9a-hj-np-tv-z]{4}-[0-9a-hj-np-tv-z]{4}\b/g, 'ID') // of approvals
    .replace(/(until )\d\d:\d\d/g, '$1TIME')
    .replace(/ +$/gm, '')
    .replace(/[0-9a-f]{16,}/g, 'HEX')
}

/** Every file below a folder: its kind, its mode, and its content, in a steady form. */
export function treeOf(folder: string, leaveOut: (path: string) => boolean = () => false) {
  const tree: Record<string, string> = {}
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  for (const path of paths.filter((path) => !leaveOut(path))) {
    const whole = join(folder, path)
    const stats = lstatSync(whole)
    const mode = (stats.mode & 0o7777).toString(8)
    tree[steady(path)] = stats.isDirectory()
      ? `folder ${mode}`
      : stats.isFile()
        ? `${mode} ${contentOf(whole)}`
        : stats.isSymbolicLink()
          ? `link ${steady(readlinkSync(whole))}`
          : 'other'
  }
  return tree
}

/** Hooks that run at the same time note in any order that they ran. */
function contentOf(path: string): string {
  const text = steady(readFileSync(path, 'utf8'))
  return basename(path) === 'ran' ? text.split('\n').sort().join('\n') : text
}
