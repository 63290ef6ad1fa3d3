// An event for which an agent does not wait: a process of its own goes on with it, which the agent does not end.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Payload } from './payload.js'

/** Tells the process that goes on not to pass the event on again. */
const MARK = 'CARABINER_DETACHED'

/** Whether the event is already in a process of its own. Its hooks do not see the mark. */
export function isDetached(): boolean {
  const isMarked = process.env[MARK] !== undefined
  delete process.env[MARK]
  return isMarked
}

/** Starts this program again with the same words, outside the agent's process group. Resolves when it has the payload. */
export async function goOnDetached(payload: Payload): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, [MARK]: '1' },
  })
  child.stdin.end(JSON.stringify(payload))
  await once(child.stdin, 'finish')
  child.unref()
}
