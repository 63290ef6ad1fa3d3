// Who holds a lock: a process by its id and its start, so that a number that was given again is not taken for it.

import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { nonce } from './nonce.js'
import { statOf } from './process-stat.js'

export interface Owner {
  /** As it is written. */
  readonly text: string
  readonly pid: number
  /** In ticks since the machine started; 0 where the system does not say. */
  readonly start: string
  /** Machine, its last start, and the space of process ids: elsewhere the id means another process. */
  readonly place: string
  /** Of one thread of one process. */
  readonly id: string
}

/** A process that cannot be asked about (another machine, another container) is taken for dead after so long. */
const UNKNOWN_MS = 60_000
/** Where the system says no start, another process may have got the id. Nobody holds a lock for so long. */
const NO_START_MS = 600_000

const OWNER = /^([1-9]\d{0,9})\.(\d{1,20})\.([0-9a-f]{8})\.([0-9a-f]{16})$/

/** Of a lock whose owner cannot be told any more: there is no such place, so that its age decides. */
export const UNKNOWN_OWNER: Owner = { text: '', pid: 0, start: '0', place: '', id: '0'.repeat(16) }

let self: Owner | undefined

/** This thread. */
export function ownSelf(): Owner {
  if (self) return self
  const [pid, start, place, id] = [process.pid, statOf(process.pid)?.start ?? '0', ownPlace(), nonce()]
  self = { text: `${pid}.${start}.${place}.${id}`, pid, start, place, id }
  return self
}

/** Undefined for what no owner wrote. */
export function ownerOf(text: string): Owner | undefined {
  const [, pid, start, place, id] = OWNER.exec(text) ?? []
  if (!pid || !start || !place || !id) return undefined
  return { text, pid: Number(pid), start, place, id }
}

/** `path`: the lock it holds. */
export function isDead(owner: Owner, path: string): boolean {
  const me = ownSelf()
  if (owner.place !== me.place) return ageOf(path) > UNKNOWN_MS
  if (!hasProcess(owner.pid)) return true
  const now = statOf(owner.pid)
  if (now && owner.start !== '0') return now.start !== owner.start || now.ended
  return ageOf(path) > NO_START_MS
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function ownPlace(): string {
  const boot = textIn('/proc/sys/kernel/random/boot_id') ?? hostname()
  const ids = quietly(() => readlinkSync('/proc/self/ns/pid')) ?? ''
  return createHash('sha256').update(`${boot}\n${ids}`).digest('hex').slice(0, 8)
}

/** Since it got the name of a lock, which changes the inode: the file itself is as old as its process. */
function ageOf(path: string): number {
  const taken = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs
  return taken === undefined ? 0 : Date.now() - taken
}

function textIn(path: string): string | undefined {
  return quietly(() => readFileSync(path, 'utf8'))
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
