// The real program in a project of a test's own, run as a child process or called in this one.

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
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
import { afterAll, beforeAll, inject } from 'vitest'
import { removeAll } from '../trust/hostile-project.js'
import { inProcess } from './in-process.js'

export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A call that hooks of tests ask a person about. */
export const DEPLOYMENT = {
  hook_event_name: 'PreToolUse',
  session_id: 's1',
  tool_name: 'Bash',
  tool_input: { command: 'deploy --to production' },
} as const

export interface RunOptions {
  /** For standard input; without it there is none. */
  readonly input?: string | object
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Called when something is printed; only by `call`. */
  readonly onPrint?: () => void
  /** Called with each part of standard output. */
  readonly onOutput?: (text: string) => void
}

interface TerminalOptions extends RunOptions {
  readonly ahead?: string
  /** The words after which the next line is typed: always the same, or any of these. */
  readonly prompt?: string | readonly string[]
  /** A shell command that runs the program as `"$@"`. */
  readonly through?: string
  readonly columns?: number
}

/** Answers each prompt with the next line. The program waits on a pipe until what is typed ahead is in the terminal. */
const TERMINAL = `
import fcntl, json, os, pty, struct, sys, termios
plan = json.loads(sys.argv[1])
ready, go = os.pipe()
pid, master = pty.fork()
if pid == 0:
    os.read(ready, 1)
    os.execv(sys.argv[2], sys.argv[2:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 50, plan['columns'], 0, 0))
os.write(master, plan['ahead'].encode())
os.write(go, b'x')
said, answers, prompts = b'', plan['answers'], [one.encode() for one in plan['prompts']]
while True:
    try:
        data = os.read(master, 4096)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
    said += data
    while answers and any(one in said for one in prompts):
        said = said[min(said.index(one) + len(one) for one in prompts if one in said):]
        os.write(master, answers.pop(0).encode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

let own = ''

/** Call once at the top of a file of tests. Only a copy of its `own` may be changed. */
export function withProgram(copy?: 'own'): void {
  if (copy !== 'own') return
  beforeAll(() => {
    own = mkdtempSync(join(tmpdir(), 'carabiner-bin-'))
    cpSync(inject('programBundle').alone, own, { recursive: true })
  })
  afterAll(() => {
    rmSync(own, { recursive: true, force: true })
    own = ''
  })
}

/** Shared by all tests, unless it is the file's own. */
export function programFile(): string {
  return join(own || inject('programBundle').alone, 'carabiner.js')
}

/** The program where the packages that it may use are installed, too. */
export function programWithPackages(): string {
  return join(inject('programBundle').withPackages, 'carabiner.js')
}

/** A project in a folder with a space in its name, and a home beside it. */
export class Project {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-cli-')))
  readonly folder = join(this.base, 'my project')
  readonly home = join(this.base, 'home')

  constructor() {
    mkdirSync(this.folder)
    mkdirSync(this.home)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** Writes a file, folders and all, and returns its path. */
  file(name: string, content: string | object, mode = 0o644): string {
    const path = this.path(name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    chmodSync(path, mode)
    return path
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  has(name: string): boolean {
    return existsSync(this.path(name))
  }

  /** The hooks of the project: by event, groups of `[matcher, …commands]`. */
  hooks(events: Readonly<Record<string, readonly (readonly string[])[]>>): string {
    const groups = (list: readonly (readonly string[])[]) =>
      list.map(([matcher, ...commands]) => ({
        matcher,
        hooks: commands.map((command) => ({ type: 'command', command })),
      }))
    const hooks = Object.fromEntries(Object.entries(events).map(([event, list]) => [event, groups(list)]))
    return this.file('.amplifier/hooks/hooks.json', { hooks })
  }

  /** Without the service: it would outlive the test. */
  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { PATH: process.env.PATH ?? '', HOME: this.home, CARABINER_SERVICE: 'off', ...more }
  }

  /** The command, called in this process. Fast, and enough unless the process itself is the point. */
  call(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return inProcess(this, args, options)
  }

  /** The ids of questions that nobody has answered. */
  async openIds(): Promise<readonly string[]> {
    const { stdout } = await this.call(['approvals', '--json'])
    return (JSON.parse(stdout) as { open: { id: string }[] }).open.map(({ id }) => id)
  }

  /** The program as a process of its own. */
  carabiner(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return this.run(process.execPath, [programFile(), ...args], options)
  }

  /**
   * The same on a terminal of its own; standard error comes with standard output. Each line of the input is typed when
   * it is asked for; `ahead` before the program has even begun.
   */
  async onTerminal(args: readonly string[], options: TerminalOptions = {}): Promise<Run> {
    const { input = '', ahead = '', columns = 80, prompt = '[y/N] ', through, ...rest } = options
    const answers = String(input).match(/[^\n]*\n|[^\n]+/g) ?? []
    const plan = JSON.stringify({ answers, ahead, columns, prompts: [prompt].flat() })
    const shell = through === undefined ? [] : ['/bin/sh', '-c', through, 'sh']
    const program = [...shell, process.execPath, programFile(), ...args]
    return this.run('python3', ['-c', TERMINAL, plan, ...program], rest)
  }

  run(file: string, args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const { input, env, cwd, onOutput } = options
    const stdin = input === undefined ? 'ignore' : 'pipe'
    const child = spawn(file, args, {
      cwd: cwd ?? this.folder,
      env: this.env(env),
      stdio: [stdin, 'pipe', 'pipe'],
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(typeof input === 'object' ? JSON.stringify(input) : input)
    if (onOutput) child.stdout?.on('data', (chunk: Buffer) => onOutput(chunk.toString()))
    return ended(child)
  }

  remove(): void {
    removeAll(this.base)
  }
}

/** One that has ended and that nobody has buried yet does not run. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

/** What became of a process. A signal that ended it is a negative code. */
export function ended(child: ReturnType<typeof spawn>): Promise<Run> {
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      resolve({
        code: code ?? -1,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
      })
    })
  })
}

export const BASH = { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }
/** A gate for BASH. */
export const GUARD = `grep -q 'rm -rf' && { echo 'rm -rf is not allowed here' >&2; exit 2; } || exit 0`
