// Real processes for tests: a folder to work in, and a mark by which whatever was started there is found again.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Program } from '../../../src/runners/command/programs.js'
import { until } from '../until.js'

/** Longer than any test may take: what sleeps so long was ended, or hangs. */
export const FOREVER = 300

export class Workshop {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner ')))
  readonly mark = randomUUID()

  get env(): Record<string, string> {
    return { ...(process.env as Record<string, string>), CARABINER_TEST_MARK: this.mark }
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** Writes a file and returns its path. */
  file(name: string, text: string, mode = 0o644): string {
    writeFileSync(this.path(name), text, { mode })
    return this.path(name)
  }

  script(text: string, more: Partial<Program> = {}): Program {
    return this.program('/bin/sh', ['-c', text], more)
  }

  node(text: string, more: Partial<Program> = {}): Program {
    return this.program(process.execPath, ['-e', text], more)
  }

  program(file: string, args: readonly string[], more: Partial<Program> = {}): Program {
    return { file, args, cwd: this.folder, env: this.env, input: '', ...more }
  }

  /** The ids of all living processes that carry the mark, in this group or another. */
  running(): number[] {
    return existsSync('/proc/self/environ') ? this.#fromProc() : this.#fromPs()
  }

  /** Until the program has made this file. */
  async made(name: string): Promise<string> {
    await until(`${name} is there`, () => existsSync(this.path(name)) && this.#text(name) !== '')
    return this.#text(name)
  }

  /** A program that was just killed is still listed for a moment. */
  async noneRunning(): Promise<void> {
    await until('every process is gone', () => this.running().length === 0)
  }

  /** Ends whoever carries the mark. */
  close(): void {
    for (const pid of this.running()) killIfThere(pid)
    rmSync(this.folder, { recursive: true, force: true })
  }

  #text(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  #fromProc(): number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.filter((pid) => environmentOf(pid).includes(this.mark)).map(Number)
  }

  #fromPs(): number[] {
    const lines = execFileSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], { encoding: 'utf8' }).split(
      '\n',
    )
    return lines.filter((line) => line.includes(this.mark)).map((line) => Number.parseInt(line, 10))
  }
}

/** Empty for a zombie, and for one that ended while we looked. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it was quicker
  }
}
