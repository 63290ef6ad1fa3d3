// The service behind a socket: one for each user and build. It holds a lock for its whole life, takes calls, and ends when nobody needs it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { chmodSync, fstatSync, readFileSync, rmdirSync, unlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { ForCaller } from '../../core/base/caller.js'
import { HookError } from '../../core/base/errors.js'
import { findCallerBy } from '../../files/caller.js'
import { ifThere, lstatIfThere } from '../../files/if-there.js'
import type { Call } from '../../rpc/frames.js'
import { startProgramsBy } from '../../runners/command/programs.js'
import { keepBy } from '../../runners/keeper.js'
import { watchGroupsBy } from '../../runners/process/launch.js'
import { CallerLink, type Context, type Desk } from './caller-link.js'
import { Turns } from './turns.js'
import { endLeftovers, WarmChildren } from './warm-children.js'
import { WarmKeepers } from './warm-keepers.js'

export interface ListenerOptions {
  /** Absolute, ours, and closed to others. */
  readonly folder: string
  /** Names the socket and the lock in it. */
  readonly name: string
  /** The file that says which build is installed. */
  readonly buildFile: string
  readonly admit: Desk['admit']
  readonly failed: Desk['failed']
}

/** The lock, which the caller that started us handed over. */
const LOCK_FD = 3
const IDLE_MS = 15 * 60_000
const LOOK_MS = 2000
/** More callers than this go the cold path. */
const MOST_CALLERS = 512
/** Bytes of all requests that are not complete. */
const MOST_INCOMPLETE = 64 * 1024 * 1024
/** Bytes of memory after which it makes room for a new service. */
const MOST_MEMORY = 512 * 1024 * 1024

/** Settles when the service has ended. Throws if it may not run. */
export async function listen(options: ListenerOptions): Promise<void> {
  const listener = new Listener(options)
  await listener.open()
  await listener.ended
}

class Listener implements Desk {
  readonly ended: Promise<void>
  readonly #options: ListenerOptions
  readonly #socketPath: string
  readonly #build: string
  readonly #server: Server
  readonly #contexts = new AsyncLocalStorage<Context | undefined>()
  readonly turns = new Turns()
  readonly #links = new Set<CallerLink>()
  readonly #keepers = new WarmKeepers()
  readonly #children: WarmChildren
  readonly #startedAt = new Date()
  #socketId = ''
  #calls = 0
  #incomplete = 0
  #usedAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  #stopping: Promise<void> | undefined
  #end = () => {}

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#socketPath = join(options.folder, `${options.name}.sock`)
    this.#build = this.#installedBuild()
    this.#children = new WarmChildren(options.folder, options.name)
    this.#server = createServer((socket) => this.#accept(new CallerLink(socket, this)))
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  async open(): Promise<void> {
    this.#checkLock()
    // Relative, because the whole path may be longer than an address can be.
    process.chdir(this.#options.folder)
    removeStale(this.#socketPath)
    await new Promise<void>((resolve, reject) => {
      this.#server.maxConnections = MOST_CALLERS
      // After the start: a caller that cannot be accepted goes the cold path.
      this.#server.on('error', reject)
      this.#server.listen(`${this.#options.name}.sock`, resolve)
    })
    chmodSync(this.#socketPath, 0o600)
    this.#socketId = idOf(this.#socketPath)
    process.chdir('/')
    findCallerBy(
      () => this.#contexts.getStore()?.caller,
      () => this.#forCallerOfNow(),
    )
    startProgramsBy(() => this.#start())
    watchGroupsBy((leader, gone) => this.#children.add(leader, gone))
    keepBy((key) => {
      const over = this.#contexts.getStore()?.over
      return over && this.#keepers.of(key, over)
    })
    // New objects keep the space that they have at the start: with more of it, tens of megabytes wait to be collected.
    // Not earlier: with this flag, Node would not take the compiled code that was kept without it.
    setFlagsFromString('--semi-space-growth-factor=1')
    this.#timer = setInterval(() => this.#lookIfPossible(), LOOK_MS)
    endLeftovers(this.#options.folder)
  }

  /** AsyncLocalStorage.snapshot() does the same, but its resource takes longer than most of what it is for. */
  #forCallerOfNow(): ForCaller {
    const context = this.#contexts.getStore()
    return (work) => this.#contexts.run(context, work)
  }

  /** Every program is one of a caller. */
  #start() {
    const context = this.#contexts.getStore()
    if (!context) throw new HookError('HOOK_NOT_STARTED', 'No caller is left that could run it')
    return context.programs.start
  }

  #checkLock(): void {
    const { folder, name } = this.#options
    const { dev, ino } = fstatSync(LOCK_FD)
    if (`${dev} ${ino}` === idOf(join(folder, `${name}.lock`))) return
    throw new HookError('OPTIONS_INVALID', 'Only a client that holds the lock can start the service')
  }

  #installedBuild(): string {
    return ifThere(() => readFileSync(this.#options.buildFile, 'utf8'))?.trim() ?? ''
  }

  // ---- callers --------------------------------------------------------------------------------------------------

  #accept(link: CallerLink): void {
    this.#links.add(link)
    this.#usedAt = performance.now()
    void link.over.then(() => {
      this.#links.delete(link)
      this.#usedAt = performance.now()
    })
  }

  admit(call: Call): ReturnType<Desk['admit']> {
    if (this.#stopping !== undefined) return 'the service is ending'
    this.#calls++
    return this.#options.admit(call)
  }

  hold(bytes: number): boolean {
    this.#incomplete += bytes
    return bytes <= 0 || this.#incomplete <= MOST_INCOMPLETE
  }

  inContext<T>(context: Context, work: () => T): T {
    return this.#contexts.run(context, work)
  }

  failed(error: unknown): void {
    this.#options.failed(error)
  }

  status(): string {
    return JSON.stringify({
      pid: process.pid,
      startedAt: this.#startedAt.toISOString(),
      calls: this.#calls,
      active: [...this.#links].filter(({ isCall }) => isCall).length,
      memory: process.memoryUsage.rss(),
      warm: this.#children.size,
    })
  }

  // ---- its end --------------------------------------------------------------------------------------------------

  /** Without a free descriptor, for example, it cannot look now. */
  #lookIfPossible(): void {
    try {
      this.#look()
    } catch (error) {
      this.failed(error)
    }
  }

  /** Ends once nobody uses it, or once it should not be used: another build is installed, or its socket was taken away. */
  #look(): void {
    const isIdle = this.#links.size === 0 && performance.now() - this.#usedAt > IDLE_MS
    const isOld = this.#installedBuild() !== this.#build
    const isCutOff = idOf(this.#socketPath) !== this.#socketId
    if (isIdle || isOld || isCutOff || process.memoryUsage.rss() > MOST_MEMORY) void this.stop()
    else this.#keepers.look()
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#drain()
    return this.#stopping
  }

  async #drain(): Promise<void> {
    clearInterval(this.#timer)
    if (idOf(this.#socketPath) === this.#socketId) ifThere(() => unlinkSync(this.#socketPath))
    this.#server.close()
    await this.#callsNow()
    await this.#keepers.close()
    setImmediate(() => this.#end()) // Whoever asked for the end is told first.
  }

  /** Settles when the calls that run now are over. */
  async #callsNow(): Promise<void> {
    await Promise.all([...this.#links].filter(({ isCall }) => isCall).map(({ over }) => over))
  }
}

/** Only the holder of the lock may do this. */
function removeStale(path: string): void {
  const stale = lstatIfThere(path)
  if (stale?.isDirectory()) rmdirSync(path)
  else if (stale) unlinkSync(path)
}

/** Empty if nothing is there. */
function idOf(path: string): string {
  const stats = lstatIfThere(path)
  return stats ? `${stats.dev} ${stats.ino}` : ''
}
