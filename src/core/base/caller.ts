// The caller that the running code works for: this process or, in a service, one of its callers; and what belongs to each of them.

export interface Caller {
  /** Its own object: what code for this caller changes in it, no other caller sees. */
  readonly env: Record<string, string | undefined>
  /** Absolute; empty if it is gone. */
  readonly cwd: string
  /** The process that asks. */
  readonly pid: number
}

/** Runs work for the caller that it was made for. */
export type ForCaller = <T>(work: () => T) => T

const atOnce: ForCaller = (work) => work()

let findNow: (() => Caller | undefined) | undefined
let remember = () => atOnce
let outside = atOnce

/**
 * For a process that serves many callers: `find` finds the one that the running code works for, and `snapshot` returns
 * what runs later work for the same one. Call it outside any caller. Without arguments the process works for itself again.
 */
export function findCallerBy(
  find?: () => Caller | undefined,
  snapshot: () => ForCaller = () => atOnce,
): void {
  findNow = find
  remember = snapshot
  outside = snapshot()
}

/** Undefined: this process works for itself. */
export function callerNow(): Caller | undefined {
  return findNow?.()
}

/** For work that something shared starts later, such as one timer for all callers. */
export function forCallerOfNow(): ForCaller {
  return findNow ? remember() : atOnce
}

/** For whatever serves the next caller too, such as a warm process: its events must neither be this caller's nor keep it in memory. */
export function forNobody<T>(work: () => T): T {
  return outside(work)
}

/** Something that each caller has one of, made when it is first asked for. It goes when the caller goes. */
export function perCaller<T>(make: () => T): () => T {
  let own: { readonly value: T } | undefined
  const others = new WeakMap<Caller, { readonly value: T }>()
  return () => {
    const caller = callerNow()
    const known = caller ? others.get(caller) : own
    if (known) return known.value
    const made = { value: make() }
    if (caller) others.set(caller, made)
    else own = made
    return made.value
  }
}
