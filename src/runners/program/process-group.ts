// A process group: a program and everything it started that did not leave it. They end together.

import { readdirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { statOf } from '../../files/process.js'

/** From TERM to KILL. */
const GRACE_MS = 500
const LOOK_MS = 20
/** Two seconds of KILL. A process that survives them is another user's, or stuck in the kernel. */
const MOST_KILLS = 100

/** One listener of the process for each way to end, however many groups there are. */
const living = new Set<ProcessGroup>()

function killAll(): void {
  for (const group of living) group.kill()
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal that nobody handles ends us without an `exit` event, and does not reach the groups. An embedder that handles it may want the hooks alive. */
function killAllUnlessHandled(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  stopListening()
  process.kill(process.pid, signal)
}

let listening = false
let lingering: ReturnType<typeof setTimeout> | undefined
/** Starting and stopping to listen costs as much as everything else about a group, and more hooks usually follow. */
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

/** Leaves the process as it was, unless a group lives. */
function stopListeningIfIdle(): void {
  clearTimeout(lingering)
  lingering = undefined
  if (living.size === 0 && listening) stopListening()
}

function stopListeningSoon(): void {
  lingering ??= setTimeout(stopListeningIfIdle, LINGER_MS).unref()
}

export class ProcessGroup {
  /** Settles when nothing of it is left, or nothing that could be ended. */
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

  /** Sends TERM now and KILL after the grace. True if it ended somebody who lived. */
  end(): boolean {
    if (this.#timer !== undefined || !this.#send(0)) return false
    const others = livingMembers(this.#leader) ?? []
    if (!this.#send('SIGTERM')) return false
    this.#send('SIGCONT') // a stopped process gets TERM only then
    this.#endingSince = performance.now()
    this.#timer = setInterval(() => this.look(), LOOK_MS)
    return others.length > 0
  }

  /** Finds out whether something is left. */
  look(): void {
    const ending = performance.now() - this.#endingSince
    const overdue = ending >= GRACE_MS
    if (!this.#send(overdue ? 'SIGKILL' : 0)) return
    if (overdue) this.#kills++
    const dead = ending >= LOOK_MS && this.#onlyZombies() // most are reaped by then, which saves the search
    if (dead) this.#send('SIGKILL') // for a process born while we looked
    if (dead || this.#kills > MOST_KILLS) this.#forget()
  }

  /** Kills it at once, because our own process is about to exit. */
  kill(): void {
    this.#send('SIGKILL')
  }

  /** Searches all processes of the system only when those it knows are dead. */
  #onlyZombies(): boolean {
    if (this.#members.some((pid) => livesIn(this.#leader, pid))) return false
    const members = livingMembers(this.#leader)
    this.#members = members ?? []
    return members?.length === 0
  }

  /** False if nobody is left. The number may then be somebody else's, so it is never used again. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#isGone) return false
    try {
      process.kill(-this.#leader, signal)
      return true
    } catch (error) {
      // EPERM: somebody is there whom we may not signal
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

  /** Calls `end` for each and settles when nothing is left, including what is added meanwhile. */
  async end(end: (one: T) => void): Promise<void> {
    while (this.#all.size > 0) {
      for (const one of this.#all) end(one)
      await Promise.all([...this.#all].map((one) => one.gone))
      await setImmediate()
    }
    stopListeningIfIdle()
  }
}

// ---- members that really live ---------------------------------------------------------------------------------

/** The living members of a group; undefined if the system does not tell. A zombie that nobody reaps (often in a container) still answers to signals. */
export function livingMembers(group: number): readonly number[] | undefined {
  try {
    const pids = readdirSync('/proc').map(Number)
    return pids.filter((pid) => pid > 0 && livesIn(group, pid))
  } catch {
    return undefined
  }
}

/** True if this process is in the group and not a zombie. */
export function livesIn(group: number, pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.group === group && !stat.ended
}
