// A process group: a program and everything it started that did not leave it. They end together.

import { readdirSync } from 'node:fs'
import { statOf } from '../../files/process.js'

/** From TERM to KILL. */
const GRACE_MS = 500
const LOOK_MS = 20
/** Two seconds of KILL. What is there still is another user's, or stuck in the kernel. */
const MOST_KILLS = 100

/** One listener of the process for each way to end, however many groups there are. */
const living = new Set<ProcessGroup>()

function killAll(): void {
  for (const group of living) group.kill()
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal that nobody handles ends us without an `exit`, and does not reach groups of their own. Who handles it may want the hooks alive. */
function killAllUnlessHandled(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  stopListening()
  process.kill(process.pid, signal)
}

let listening = false
let lingering: ReturnType<typeof setTimeout> | undefined
/** To begin and to stop listening costs as much as all else about a group; where hooks run, more are to come. */
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
export function stopListeningIfIdle(): void {
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

  /** TERM now, KILL after the grace. Answers whether it ended somebody who lived. */
  end(): boolean {
    if (this.#timer !== undefined || !this.#send(0)) return false
    const others = livingMembers(this.#leader) ?? []
    if (!this.#send('SIGTERM')) return false
    this.#send('SIGCONT') // who is stopped gets no TERM before
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
    const dead = ending >= LOOK_MS && this.#onlyZombies() // most are reaped by then, and nobody need look for them
    if (dead) this.#send('SIGKILL') // for one that was born while we looked
    if (dead || this.#kills > MOST_KILLS) this.#forget()
  }

  /** At once, for a process that is about to exit itself. */
  kill(): void {
    this.#send('SIGKILL')
  }

  /** Goes through all processes of the system only when those it knows are dead. */
  #onlyZombies(): boolean {
    if (this.#members.some((pid) => livesIn(this.#leader, pid))) return false
    const members = livingMembers(this.#leader)
    this.#members = members ?? []
    return members?.length === 0
  }

  /** False if nobody is left. From then on the number may be somebody else's, and is never used again. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#isGone) return false
    try {
      process.kill(-this.#leader, signal)
      return true
    } catch (error) {
      // EPERM: there is somebody, but not one whom we may signal
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

// ---- members that really live ---------------------------------------------------------------------------------
/** The living of a group; undefined where the system does not tell. */
export function livingMembers(group: number): readonly number[] | undefined {
  try {
    const pids = readdirSync('/proc').map(Number)
    return pids.filter((pid) => pid > 0 && livesIn(group, pid))
  } catch {
    return undefined
  }
}

/** Whether this process is one of the group, and no zombie. */
export function livesIn(group: number, pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.group === group && !stat.ended
}
