// The surroundings of whoever the running code works for: those of this process, or, in a service, those of one caller.

import { isAbsolute, resolve } from 'node:path'
import { callerNow } from '../core/base/caller.js'

export { type Caller, findCallerBy } from '../core/base/caller.js'

/** The environment of the caller. */
export function callerEnv(): NodeJS.ProcessEnv {
  return callerNow()?.env ?? process.env
}

/** The working folder of the caller. Throws if it is gone. */
export function callerFolder(): string {
  const { cwd } = callerNow() ?? { cwd: process.cwd() }
  if (cwd === '') throw new Error('the current directory is gone')
  return cwd
}

/** The absolute form of a path that the caller named. Throws if it is relative to a folder that is gone. */
export function callerPath(path: string, ...more: readonly string[]): string {
  return isAbsolute(path) ? resolve(path, ...more) : resolve(callerFolder(), path, ...more)
}

/** The process of the caller, for whatever says who did something. Our own files and locks are named after ours. */
export function callerPid(): number {
  return callerNow()?.pid ?? process.pid
}
