// Whose event is judged: that of this process, or, in a service, that of one of its callers.

export interface Caller {
  readonly env: NodeJS.ProcessEnv
  /** Absolute. It may have been removed since. */
  readonly cwd: string
}

let callerNow: () => Caller | undefined = () => undefined

/** For a process that serves many callers: finds the one that the running code works for. */
export function findCallerBy(find: typeof callerNow): void {
  callerNow = find
}

/** The environment of the caller. */
export function callerEnv(): NodeJS.ProcessEnv {
  return callerNow()?.env ?? process.env
}

/** The working folder of the caller. Throws if it is our own, and is gone. */
export function callerFolder(): string {
  return callerNow()?.cwd ?? process.cwd()
}
