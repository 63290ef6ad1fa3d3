// Whom the running code works for: this process, or, in a service, one of its callers. And what belongs to each of them.

export interface Caller {
  /** Its own object: what code for this caller changes in it, no other caller sees. */
  readonly env: Record<string, string | undefined>
  /** Absolute; empty if it is gone. */
  readonly cwd: string
  /** The process that asks. */
  readonly pid: number
}

type Find = () => Caller | undefined

/** Undefined: this process works for itself. */
export let callerNow: Find = () => undefined

/** For a process that serves many callers: finds the one that the running code works for. */
export function findCallerBy(find: Find): void {
  callerNow = find
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
