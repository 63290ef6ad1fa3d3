// The surroundings of whoever the running code works for: those of this process, or, in a service, those of one caller.

import { resolve } from 'node:path'
import { callerNow } from '../core/base/caller.js'

export { type Caller, findCallerBy } from '../core/base/caller.js'

/** The environment of the caller. */
export function callerEnv(): NodeJS.ProcessEnv {
  return callerNow()?.env ?? process.env
}

/** The working folder of the caller. Throws if it is our own, and is gone. */
export function callerFolder(): string {
  return callerNow()?.cwd ?? process.cwd()
}

/** A relative path means one in the caller's folder. */
export function callerPath(...parts: readonly string[]): string {
  const caller = callerNow()
  return caller ? resolve(caller.cwd, ...parts) : resolve(...parts)
}

/** The process of the caller, for whatever says who did something. Our own files and locks are named after ours. */
export function callerPid(): number {
  return callerNow()?.pid ?? process.pid
}
