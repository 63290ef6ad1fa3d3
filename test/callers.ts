// Callers in the process of a test, as a service has them.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type Caller, findCallerBy } from '../src/core/base/caller.js'

const callers = new AsyncLocalStorage<Caller>()

/** Until `serveNobody`, code that `asCaller` runs finds that caller. */
export function serveCallers(): void {
  findCallerBy(() => callers.getStore(), AsyncLocalStorage.snapshot)
}

export function serveNobody(): void {
  findCallerBy()
}

export function asCaller<T>(caller: Partial<Caller>, work: () => T): T {
  return callers.run({ env: {}, cwd: '/', pid: process.pid, ...caller }, work)
}

/** What belongs to this very caller is found again. */
export function asSameCaller<T>(caller: Caller, work: () => T): T {
  return callers.run(caller, work)
}

/** Whether code for a caller is running. */
export function isForCaller(): boolean {
  return callers.getStore() !== undefined
}
