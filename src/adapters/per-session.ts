// What adapters keep for a session, by the id of a call or an agent. It is forgotten with the session.

import type { Session } from '../core/index.js'

/** A session that lives for months must not keep everything: above this, it loses its oldest entry. */
const MOST = 1000

export class PerSession<T> {
  readonly #maps = new WeakMap<Session, Map<string, T>>()
  readonly #lost: (value: T) => void

  /** `lost` gets each entry that is replaced or is one too many. */
  constructor(lost: (value: T) => void = () => {}) {
    this.#lost = lost
  }

  get(session: Session, id: string): T | undefined {
    return this.#maps.get(session)?.get(id)
  }

  has(session: Session, id: string): boolean {
    return this.#maps.get(session)?.has(id) ?? false
  }

  /** Without an id, nothing is kept: the next one without an id is another call. */
  set(session: Session, id: string, value: T): void {
    if (id === '') return
    const map = this.#maps.get(session) ?? new Map<string, T>()
    if (map.has(id)) this.#lose(map, id)
    this.#maps.set(session, map.set(id, value))
    const [oldest = ''] = map.keys()
    if (map.size > MOST) this.#lose(map, oldest)
  }

  #lose(map: Map<string, T>, id: string): void {
    const value = map.get(id) as T
    map.delete(id)
    this.#lost(value)
  }

  delete(session: Session, id: string): void {
    this.#maps.get(session)?.delete(id)
  }

  /** Returns it and forgets it. */
  take(session: Session, id: string): T | undefined {
    const value = this.get(session, id)
    this.delete(session, id)
    return value
  }
}

const children = new PerSession<Session>(close)

/** The session of a subagent: the same one for every event of this agent. */
export function childOf(session: Session, agentId: string, agentType?: string): Session {
  const known = children.get(session, agentId)
  if (known) return known
  const child = session.child({ agentId, ...(agentType !== undefined && { agentType }) })
  children.set(session, agentId, child)
  return child
}

/** For a subagent that has ended. If it ever goes on, it gets a new session. */
export function closeChild(session: Session, agentId: string): void {
  const child = children.take(session, agentId)
  if (child) close(child)
}

/** Hooks in the background may take long, so nobody waits. A failure concerns no call. */
function close(child: Session): void {
  child.close().catch(() => {})
}
