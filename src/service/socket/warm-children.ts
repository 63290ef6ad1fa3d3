// The processes of warm hooks, on record: the next service ends those that outlive a service which was killed.

import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { readableNames } from '../../files/folder.js'
import { ifThere } from '../../files/if-there.js'
import { processPlace } from '../../files/mutex.js'
import { startOf } from '../../files/process.js'
import { ProcessGroup } from '../../runners/program/process-group.js'

const RECORD = '.children.json'

/** A process, by its number and the time of its start: numbers are used again. */
interface Known {
  readonly pid: number
  readonly start: string
}

interface Recorded {
  /** The machine since its last start, and the namespace of process numbers. */
  readonly place: string
  readonly service: Known
  /** Leaders of process groups. */
  readonly children: readonly Known[]
}

export class WarmChildren {
  readonly #file: string
  readonly #children = new Map<number, Known>()

  constructor(folder: string, name: string) {
    this.#file = join(folder, `${name}${RECORD}`)
  }

  get size(): number {
    return this.#children.size
  }

  /** `gone` settles when nothing of its group is left. */
  add(pid: number, gone: Promise<void>): void {
    this.#children.set(pid, { pid, start: startOf(pid) ?? '' })
    this.#record()
    void gone.then(() => {
      this.#children.delete(pid)
      this.#record()
    })
  }

  /** Without a record, only a killed service leaves more behind. That is no reason to fail a hook. */
  #record(): void {
    try {
      if (this.#children.size === 0) ifThere(() => unlinkSync(this.#file))
      else this.#write()
    } catch {}
  }

  #write(): void {
    const recorded: Recorded = {
      place: processPlace(),
      service: { pid: process.pid, start: startOf(process.pid) ?? '' },
      children: [...this.#children.values()],
    }
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, JSON.stringify(recorded), { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}

/** Ends the processes that services in this folder left when they were killed. Never throws. */
export function endLeftovers(folder: string): void {
  for (const name of readableNames(folder)) if (name.endsWith(RECORD)) endRecorded(join(folder, name))
}

function endRecorded(file: string): void {
  const recorded = recordedIn(file)
  if (!recorded || recorded.place !== processPlace() || isAlive(recorded.service)) return
  for (const one of recorded.children) if (isAlive(one)) new ProcessGroup(one.pid).end()
  try {
    unlinkSync(file)
  } catch {} // Its processes have ended, so it does no harm.
}

function isAlive({ pid, start }: Known): boolean {
  return start !== '' && startOf(pid) === start
}

function recordedIn(file: string): Recorded | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isRecorded(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecorded(value: unknown): value is Recorded {
  if (!isObject(value)) return false
  const { place, service, children } = value
  return typeof place === 'string' && isKnown(service) && Array.isArray(children) && children.every(isKnown)
}

/** Group 1, and all groups below it, mean other things to kill(). */
function isKnown(value: unknown): value is Known {
  if (!isObject(value)) return false
  const { pid, start } = value
  return Number.isSafeInteger(pid) && (pid as number) > 1 && typeof start === 'string'
}
