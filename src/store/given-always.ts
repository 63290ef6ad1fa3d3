// Remembers which calls this process took an "allow always" for: in an agent's shell only these may become grants.

const taken = new Set<string>()

/** `digest`: of the call, as grants are bound to it. */
export function tookAlways(digest: string): void {
  taken.add(digest)
}

export function wasAlwaysTaken(digest: string): boolean {
  return taken.has(digest)
}
