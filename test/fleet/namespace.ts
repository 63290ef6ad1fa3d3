// A machine for tests: a network, an /etc and an empty /run of its own, which last as long as the process that holds them.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TOOLS = ['unshare', 'nsenter', 'setpriv', 'ip', 'mount']

/** Whether namespaces can be made here. */
export const hasNamespaces =
  process.getuid?.() === 0 &&
  TOOLS.every((tool) => spawnSync('which', [tool]).status === 0) &&
  spawnSync('unshare', ['-mn', 'ip', 'link', 'add', 'probe', 'type', 'veth']).status === 0
if (!hasNamespaces)
  console.warn(
    'SKIPPED: tests of machines with their own network and /etc: they need root, iproute2 and util-linux, and a system that allows namespaces',
  )

export interface User {
  readonly name: string
  readonly id: number
  readonly home: string
}

export interface Ran {
  readonly code: number
  readonly out: string
}

/** What programs look up. The real folder may hold the membership of a real fleet. */
const OF_ETC = ['nsswitch.conf', 'ld.so.cache', 'localtime']

export class Namespace {
  readonly #holder: ChildProcess

  private constructor(holder: ChildProcess) {
    this.#holder = holder
  }

  /** `etc`: an empty folder, which takes the place of /etc. */
  static async start(etc: string, users: readonly User[] = []): Promise<Namespace> {
    mkdirSync(etc, { recursive: true })
    for (const name of OF_ETC) if (existsSync(`/etc/${name}`)) copyFileSync(`/etc/${name}`, join(etc, name))
    const line = ({ name, id, home }: User) => `${name}:x:${id}:${id}::${home}:/bin/sh\n`
    const root = { name: 'root', id: 0, home: '/root' }
    writeFileSync(join(etc, 'passwd'), [root, ...users].map(line).join(''))
    // In the real /run, systemctl would find the systemd of the machine that runs the tests.
    const script =
      'mount --bind "$1" /etc && mount -t tmpfs tmpfs /run && ip link set lo up && echo ready && exec cat'
    const holder = spawn('unshare', ['-mn', 'sh', '-c', script, 'sh', etc], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = once(holder, 'exit').then(() => {
      throw new Error('the namespace could not be made')
    })
    await Promise.race([once(holder.stdout, 'data'), ended])
    ended.catch(() => undefined)
    return new Namespace(holder)
  }

  get pid(): string {
    return String(this.#holder.pid)
  }

  /** The words before a command that runs in here. */
  inside(user?: User): readonly string[] {
    const enter = ['nsenter', '-t', this.pid, '-m', '-n']
    return user === undefined
      ? enter
      : [...enter, 'setpriv', `--reuid=${user.id}`, `--regid=${user.id}`, '--clear-groups']
  }

  /** Runs a command to its end. */
  async run(command: readonly string[], { user, env, cwd, input = '' }: RunOptions): Promise<Ran> {
    const [program = '', ...args] = [...this.inside(user), ...command]
    const child = spawn(program, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        out += part
      })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const [code] = await once(child, 'close')
    return { code: Number(code), out }
  }

  ip(...args: string[]): void {
    execFileSync('nsenter', ['-t', this.pid, '-n', 'ip', ...args])
  }

  /** A cable to another machine. `net`: the first three numbers of the addresses; this end is 1, the other 2. */
  connect(other: Namespace, name: string, net: string): void {
    this.ip('link', 'add', name, 'type', 'veth', 'peer', 'name', name, 'netns', other.pid)
    for (const [end, number] of [
      [this, 1],
      [other, 2],
    ] as const) {
      end.ip('addr', 'add', `${net}.${number}/30`, 'dev', name)
      end.ip('link', 'set', name, 'up')
    }
  }

  async end(): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return
    this.#holder.stdin?.end()
    await once(this.#holder, 'exit')
  }
}

export interface RunOptions {
  /** Default root. */
  readonly user?: User
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly input?: string
}
