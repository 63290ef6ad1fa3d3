// A project on disk with shell hooks in it, opened through the front door; and whatever its hooks left running.

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type Hooks, type HooksOptions, type Outcome, type Trace } from 'carabiner'
import { endLiving, living } from './living.mjs'

/** Generous: what takes longer hangs. */
export const NO_HANG = { timeout: 60_000 }

/** Handlers of an event that need no matcher. */
export function group(...handlers: readonly (string | object)[]): object {
  return { hooks: handlers.map(handler) }
}

/** Handlers of an event that need one. */
export function matching(matcher: unknown, ...handlers: readonly (string | object)[]): object {
  return { matcher, ...group(...handlers) }
}

function handler(one: string | object): object {
  return { type: 'command', ...(typeof one === 'string' ? { command: one } : one) }
}

/** A command that prints this JSON and ends so. */
export function printing(answer: unknown, exit = 0): string {
  return `printf %s ${quoted(JSON.stringify(answer))}; exit ${exit}`
}

/** For a shell: the text, as one word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function has(program: string): boolean {
  return spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0
}

export class ShellProject {
  /** Its name is unique, and in the environment of every process that a hook starts. */
  readonly folder: string
  readonly dir: string
  readonly home: string
  readonly #opened: Hooks[] = []

  constructor(name = 'project') {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'shell-hooks-')))
    this.dir = join(this.folder, name)
    this.home = join(this.folder, 'home')
    mkdirSync(this.dir)
    mkdirSync(this.home)
  }

  /** Writes a file of the project and returns where it is. */
  file(path: string, content: string | Uint8Array, mode = 0o644): string {
    const where = join(this.dir, path)
    mkdirSync(dirname(where), { recursive: true })
    writeFileSync(where, content, { mode })
    return where
  }

  script(path: string, content: string): string {
    return this.file(path, content, 0o755)
  }

  /** .amplifier/hooks/hooks.json */
  root(hooks: object, more: object = {}): string {
    return this.json('.amplifier/hooks/hooks.json', { hooks, ...more })
  }

  /** .amplifier/hooks/NAME/hooks.json */
  plugin(name: string, hooks: object, more: object = {}): string {
    return this.json(`.amplifier/hooks/${name}/hooks.json`, { hooks, ...more })
  }

  json(path: string, value: unknown): string {
    return this.file(path, JSON.stringify(value, undefined, 2))
  }

  path(path: string): string {
    return join(this.dir, path)
  }

  read(path: string): string {
    return existsSync(this.path(path)) ? readFileSync(this.path(path), 'utf8') : ''
  }

  /** Lines of a file that hooks append to. */
  lines(path: string): string[] {
    return this.read(path)
      .split('\n')
      .filter((line) => line !== '')
  }

  /** Everything that came with it is trusted, unless `options` say otherwise. */
  async open(options: HooksOptions = {}): Promise<Hooks> {
    const hooks = await createHooks({
      projectDir: this.dir,
      home: this.home,
      trust: 'all',
      globals: false,
      ...options,
    })
    this.#opened.push(hooks)
    return hooks
  }

  /** The outcome of one event in a session of its own. */
  async fire(event: string, data: object, options: HooksOptions = {}): Promise<Outcome> {
    const hooks = await this.open(options)
    return hooks.session({ id: 'session-1', cwd: this.dir }).fire(event, data)
  }

  /** Waits as a host does before it ends. */
  async settled(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((hooks) => hooks.close()))
  }

  /** Living processes that were started by hooks of this project, also those that left their group. */
  running(): readonly number[] {
    return living(this.folder)
  }

  /** Ends what is left, and removes the folder. */
  async remove(): Promise<void> {
    await this.settled()
    endLiving(this.folder)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

// ---- what an outcome says -------------------------------------------------------------------------------------

export function texts(items: readonly { readonly text: string }[]): readonly string[] {
  return items.map(({ text }) => text)
}

export function codes(items: readonly { readonly code: string }[]): readonly string[] {
  return items.map(({ code }) => code)
}

export function traces({ hooks }: Outcome, status: Trace['status']): readonly Trace[] {
  return hooks.filter((one) => one.status === status)
}

/** Who ran, sorted, without the final looks at rewritten calls: Claude Code has none. */
export function withoutLooks(lines: readonly string[], outcomes: readonly Outcome[]): readonly string[] {
  let looks = outcomes.flatMap(({ hooks }) => hooks).filter(({ finalLook }) => finalLook).length
  return [...lines].sort().filter((line, i, sorted) => line !== sorted[i - 1] || looks-- <= 0)
}
