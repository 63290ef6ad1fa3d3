// The state that a session keeps between events, behind one interface. It is in memory here, and in files if every event is its own process.

import { type Diagnostic, textOf } from '../base/errors.js'
import { isObject, type Json } from '../base/json.js'
import { inTime, isPromise, type MaybePromise } from '../base/promise.js'
import { NO_COUNTS, type StoredCounts } from '../hooks/count.js'
import type { Injection, Message, WantedInjection } from '../hooks/outcome.js'
import type { Grant } from '../verdict/approval.js'

export interface SessionState {
  readonly turn: number
  /** The embedder began this turn itself, and has not sent its prompt yet. */
  readonly announced: boolean
  /** Tokens injected in this turn. */
  readonly turnTokens: number
  /** Stops refused in a row without a tool call, and since the last prompt. */
  readonly stopsInRow: number
  readonly stopsTotal: number
  /** Why the last of them was refused, in one line; empty if none was since the last prompt. */
  readonly stopReason: string
  /** Ids of hooks that refused a stop since the last prompt because one of our limits cut them short. */
  readonly stopsCut: readonly string[]
  /** Ids of hooks with `once` that have run. */
  readonly onceRan: readonly string[]
  /** Effects of async hooks that wait for an event to deliver them. */
  readonly pending: Pending
  /** Ephemeral injections that wait for the next model call. */
  readonly ephemeral: readonly Injection[]
  /** Keys of subagents of this session whose async hooks left something. */
  readonly agents: readonly string[]
  /** What limits have counted. */
  readonly counts: StoredCounts
  /** Loaded skills with hooks, in the order they were loaded. */
  readonly skills: readonly Skill[]
  /** Why earlier skills are unknown: the state of the session could not be read. Empty if they are known. */
  readonly lost: string
}

export interface Skill {
  readonly name: string
  /** Its folder, an absolute path. */
  readonly directory: string
  /** Lists of groups by event, as in a configuration file. */
  readonly hooks: Json
}

/** Skills without hooks are remembered too, because the user may have trusted hooks that they once had. */
export function hasHooks({ hooks }: Skill): boolean {
  return isObject(hooks) && Object.keys(hooks).length > 0
}

/** The part of the state that says which skills are loaded. */
export type Skills = Pick<SessionState, 'skills' | 'lost'>

/** The effects that async hooks left for a later event. */
export interface Pending {
  readonly injections: readonly WantedInjection[]
  readonly messages: readonly Message[]
  readonly diagnostics: readonly Diagnostic[]
}

export const NOTHING_PENDING: Pending = { injections: [], messages: [], diagnostics: [] }

export function hasPending({ pending }: { readonly pending: Pending }): boolean {
  return pending.injections.length + pending.messages.length + pending.diagnostics.length > 0
}

export const FRESH_STATE: SessionState = Object.freeze({
  turn: 0,
  announced: false,
  turnTokens: 0,
  stopsInRow: 0,
  stopsTotal: 0,
  stopReason: '',
  stopsCut: [],
  onceRan: [],
  pending: NOTHING_PENDING,
  ephemeral: [],
  agents: [],
  counts: NO_COUNTS,
  skills: [],
  lost: '',
})

/** `update` must be atomic. A method may answer synchronously. */
export interface SessionStore {
  load(session: string): MaybePromise<SessionState>
  update(session: string, change: (state: SessionState) => SessionState): MaybePromise<void>
  /** Why nothing lasts that is stored here. Limits say so, because they cannot count. */
  readonly forgets?: string
  /** Forgets the session's state. */
  release(session: string): MaybePromise<void>
  /** Keeps the full text of an injection that was cut. Returns where. */
  keep(session: string, text: string): MaybePromise<string>
  /** The folder for files that the session's hooks write, created if `make`. Absent if nothing outlives the process. */
  folderOf?(session: string, make?: boolean): string
  grants(): MaybePromise<readonly Grant[]>
  /** `proof` comes from the approver, with the answer. A store may require it. */
  addGrant(grant: Grant, proof?: string): MaybePromise<void>
  /** False if there was no such grant. */
  revokeGrant(id: string): MaybePromise<boolean>
}

const MAX_KEPT = 100

/** State in memory, for as long as the process lives. */
export class MemoryStore implements SessionStore {
  readonly #states = new Map<string, SessionState>()
  readonly #grants = new Map<string, Grant>()
  readonly #kept = new Map<string, string>()
  #count = 0

  load(session: string): SessionState {
    return this.#states.get(session) ?? FRESH_STATE
  }

  update(session: string, change: (state: SessionState) => SessionState): void {
    this.#states.set(session, change(this.load(session)))
  }

  release(session: string): void {
    this.#states.delete(session)
  }

  /** The newest are kept; `kept(where)` reads them. */
  keep(session: string, text: string): string {
    const where = `memory:${session}/${++this.#count}`
    this.#kept.set(where, text)
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string)
    return where
  }

  kept(where: string): string | undefined {
    return this.#kept.get(where)
  }

  grants(): readonly Grant[] {
    return [...this.#grants.values()]
  }

  addGrant(grant: Grant): void {
    this.#grants.set(grant.id, grant)
  }

  revokeGrant(id: string): boolean {
    return this.#grants.delete(id)
  }
}

/** After this time, a store counts as failed. */
const STORE_TIMEOUT_MS = 5000

/** A store that fails must not stop the agent or open a gate. The failure is reported, and the session goes on without memory. */
export class GuardedStore implements SessionStore {
  readonly #store: SessionStore
  readonly #deadline: number
  readonly #failures: Diagnostic[]
  readonly #released: Set<string>

  constructor(
    store: SessionStore,
    deadline = Infinity,
    failures: Diagnostic[] = [],
    released = new Set<string>(),
  ) {
    this.#store = store
    this.#deadline = deadline
    this.#failures = failures
    this.#released = released
  }

  /** The same store, but it counts as failed if it does not answer by the deadline of a fire. */
  until(deadline: number): GuardedStore {
    return deadline === Infinity
      ? this
      : new GuardedStore(this.#store, deadline, this.#failures, this.#released)
  }

  /** The number of failures that have not been reported yet. */
  get failures(): number {
    return this.#failures.length
  }

  /** Takes the failures since the last call. */
  takeFailures(): readonly Diagnostic[] {
    return this.#failures.length === 0 ? this.#failures : this.#failures.splice(0)
  }

  load(session: string): MaybePromise<SessionState> {
    if (this.#released.has(session)) return FRESH_STATE
    return this.#guard('load', () => this.#store.load(session), FRESH_STATE, wholeState)
  }

  update(session: string, change: (state: SessionState) => SessionState): MaybePromise<void> {
    if (this.#released.has(session)) return undefined
    return this.#guard('update', () => this.#store.update(session, change), undefined)
  }

  /** Like `update`, for whatever depends on it: rejects if the state cannot be changed, or would be forgotten. */
  async mustUpdate(session: string, change: (state: SessionState) => SessionState): Promise<void> {
    if (this.#released.has(session)) throw new Error('the session has ended')
    if (this.#store.forgets !== undefined) throw new Error(this.#store.forgets)
    const done = this.#store.update(session, (state) => change(wholeState(state)))
    if (isPromise(done)) await inTime(done, this.#timeout())
  }

  /** Later writes, from a fire that is still running, are dropped. */
  release(session: string): MaybePromise<void> {
    this.#released.add(session)
    return this.#guard('release', () => this.#store.release(session), undefined)
  }

  keep(session: string, text: string): MaybePromise<string> {
    return this.#guard('keep', () => this.#store.keep(session, text), 'nowhere: the store failed')
  }

  grants(): MaybePromise<readonly Grant[]> {
    return this.#guard('grants', () => this.#store.grants(), [], listOfGrants)
  }

  addGrant(grant: Grant, proof?: string): MaybePromise<void> {
    return this.#guard('addGrant', () => this.#store.addGrant(grant, proof), undefined)
  }

  revokeGrant(id: string): MaybePromise<boolean> {
    return this.#guard('revokeGrant', () => this.#store.revokeGrant(id), false)
  }

  #guard<T>(
    method: string,
    call: () => MaybePromise<T>,
    otherwise: T,
    read: (value: T) => T = (value) => value,
  ): MaybePromise<T> {
    const failed = (error: unknown): T => {
      this.#failures.push({
        code: 'host-failed',
        text: `the session store failed (${method}): ${textOf(error)}`,
      })
      return otherwise
    }
    try {
      const done = call()
      return isPromise(done) ? inTime(done, this.#timeout()).then(read).catch(failed) : read(done)
    } catch (error) {
      return failed(error)
    }
  }

  #timeout(): number {
    return Math.max(0, Math.min(STORE_TIMEOUT_MS, this.#deadline - performance.now()))
  }
}

/** A state may come from another version, or be no state at all. */
function wholeState(state: SessionState): SessionState {
  if (state === FRESH_STATE) return state
  if (!isObject(state)) throw new Error('it returned no state')
  return { ...FRESH_STATE, ...(state as SessionState) }
}

function listOfGrants(grants: readonly Grant[]): readonly Grant[] {
  if (!Array.isArray(grants)) throw new Error('it returned no list of grants')
  return grants
}
