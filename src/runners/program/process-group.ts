// A process group: a program and everything it started that did not leave the group. They end together.

import { readdirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { statOf } from '../../files/process.js'

/** From TERM to KILL. */
const GRACE_MS = 500
const LOOK_MS = 20
/** Two seconds of KILL. A process that survives them belongs to another user or is stuck in the kernel. */
const MOST_KILLS = 100

/** One listener for each way that our process can end, however many groups there are. */
const living = new Set<ProcessGroup>()

function killAll(): void {
  for (const group of living) group.kill()
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** An unhandled signal ends us without an `exit` event, and does not reach the groups. An embedder that handles it may want to keep the hooks alive. */
function killAllUnlessHandled(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  stopListening()
  process.kill(process.pid, signal)
}

let listening = false
let lingering: ReturnType<typeof setTimeout> | undefined
/** Adding and removing listeners costs as much as everything else about a group, and more hooks usually follow. */
const LINGER_MS = 1000

function startListening(): void {
  if (listening) return
  listening = true
  process.on('exit', killAll)
  for (const signal of SIGNALS) process.on(signal, killAllUnlessHandled)
}

function stopListening(): void {
  listening = false
  process.off('exit', killAll)
  for (const signal of SIGNALS) process.off(signal, killAllUnlessHandled)
}

/** Leaves the process as it was, unless a group is still alive. */
function stopListeningIfIdle(): void {
  clearTimeout(lingering)
  lingering = undefined
  if (living.size === 0 && listening) stopListening()
}

function stopListeningSoon(): void {
  lingering ??= setTimeout(stopListeningIfIdle, LINGER_MS).unref()
}

export class ProcessGroup {
  /** Settles when every process that can be stopped has ended. */
  readonly gone: Promise<void>
  readonly #leader: number
  readonly #leave: () => void
  #isGone = false
  #endingSince = Infinity
  #kills = 0
  #members: readonly number[] = []
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(leader: number) {
    this.#leader = leader
    let resolve = () => {}
    this.gone = new Promise((settle) => {
      resolve = settle
    })
    this.#leave = resolve
    startListening()
    living.add(this)
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Sends TERM now and KILL after the grace period. Returns whether a living process was stopped. */
  end(): boolean {
    if (this.#timer !== undefined || !this.#send(0)) return false
    const others = livingMembers(this.#leader) ?? []
    if (!this.#send('SIGTERM')) return false
    this.#send('SIGCONT') // A suspended process only gets TERM then.
    this.#endingSince = performance.now()
    this.#timer = setInterval(() => this.look(), LOOK_MS)
    return others.length > 0
  }

  /** Checks whether a process is left. */
  look(): void {
    const ending = performance.now() - this.#endingSince
    const overdue = ending >= GRACE_MS
    if (!this.#send(overdue ? 'SIGKILL' : 0)) return
    if (overdue) this.#kills++
    const dead = ending >= LOOK_MS && this.#onlyZombies() // Most are reaped by then, which saves the search.
    if (dead) this.#send('SIGKILL') // For a process that was started while we looked.
    if (dead || this.#kills > MOST_KILLS) this.#forget()
  }

  /** Somebody else has seen that no process is left. */
  left(): void {
    if (!this.#isGone) this.#forget()
  }

  /** Kills it at once, because our own process is about to exit. */
  kill(): void {
    this.#send('SIGKILL')
  }

  /** Searches all processes of the system only once the known ones are dead. */
  #onlyZombies(): boolean {
    if (this.#members.some((pid) => livesIn(this.#leader, pid))) return false
    const members = livingMembers(this.#leader)
    this.#members = members ?? []
    return members?.length === 0
  }

  /** Returns false if no process is left. The number may then belong to another group, so it is never used again. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#isGone) return false
    try {
      process.kill(-this.#leader, signal)
      return true
    } catch (error) {
      // EPERM: a process exists that we may not signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') return true
      this.#forget()
      return false
    }
  }

  #forget(): void {
    this.#isGone = true
    clearInterval(this.#timer)
    living.delete(this)
    if (living.size === 0) stopListeningSoon()
    this.#leave()
  }
}

/** Everything that one runner started outside this process: groups, resident processes, connections. */
export class Living<T extends { readonly gone: Promise<void> }> {
  readonly #all = new Set<T>()

  add(one: T): void {
    this.#all.add(one)
    void one.gone.then(() => this.#all.delete(one))
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#all.values()
  }

  /** Calls `end` for each and settles when all are gone, including those added in the meantime. */
  async end(end: (one: T) => void): Promise<void> {
    while (this.#all.size > 0) {
      for (const one of this.#all) end(one)
      await Promise.all([...this.#all].map((one) => one.gone))
      await setImmediate()
    }
    stopListeningIfIdle()
  }
}

// ---- living members -------------------------------------------------------------------------------------------

/** The living members of a group. Undefined if the system does not say. An unreaped zombie, common in containers, still accepts signals. */
export function livingMembers(group: number): readonly number[] | undefined {
  try {
    const pids = readdirSync('/proc').map(Number)
    return pids.filter((pid) => pid > 0 && livesIn(group, pid))
  } catch {
    return undefined
  }
}

/** Whether this process is in the group and not a zombie. */
export function livesIn(group: number, pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.group === group && !stat.ended
}
