// The approver for programs without a terminal. It adds the question to the queue and says how to answer it.

import { resolve } from 'node:path'
import { digest } from '../core/base/digest.js'
import { textOf } from '../core/base/errors.js'
import { anything, type Check, checkOptions, isFunction, isText } from '../core/base/options.js'
import type { MaybePromise } from '../core/base/promise.js'
import type { Question } from '../core/hooks/outcome.js'
import { type Approver, denyOf, type Reply, type Unanswered } from '../core/verdict/approval.js'
import type { Approvals, Pending, Raised, Taken } from '../store/approvals.js'

export interface QueueApproverOptions {
  readonly queue: Approvals
  /** The project's directory. */
  readonly project: string
  /** Seconds to wait for an answer. Default: it waits only while somebody watches the queue. */
  readonly wait?: number
  /** When the host stops waiting, on the clock of `performance.now()`. The approver ends a little earlier. */
  readonly waitUntil?: number
  /** A person reads the answer, not an agent, and can type the command. */
  readonly toPerson?: boolean
  /** Called with each new question, for example to send a notification. */
  readonly onRaised?: (pending: Pending) => void
  /**
   * Called when it begins to wait, with the end of the wait on the clock of `performance.now()`. The returned function is
   * called when the wait is over.
   */
  readonly onWaiting?: (pending: Pending, until: number) => MaybePromise<() => void>
}

/** Left for reporting that nobody answered. */
const MARGIN_MS = 1000

const wait: Check = [
  (value) => Number.isFinite(value) && (value as number) >= 0,
  'a number of seconds, 0 or more',
]
const waitUntil: Check = [(value) => typeof value === 'number' && !Number.isNaN(value), 'a number']
const CHECKS = {
  queue: anything,
  project: isText,
  wait,
  waitUntil,
  toPerson: [(value) => typeof value === 'boolean', 'true or false'] satisfies Check,
  onRaised: isFunction,
  onWaiting: isFunction,
}

/** If the queue fails, the call is refused. A hook's default must not decide for a person who could not be asked. */
export function queueApprover(options: QueueApproverOptions): Approver {
  checkOptions('queueApprover', { ...options, project: options?.project ?? null }, CHECKS)
  return async (question, signal) => {
    try {
      return await ask(options, question, signal)
    } catch (error) {
      return { option: denyOf(question), reason: textOf(error), by: 'default' }
    }
  }
}

async function ask(
  {
    queue,
    project,
    wait = 0,
    waitUntil = Infinity,
    onRaised,
    onWaiting,
    toPerson = false,
  }: QueueApproverOptions,
  given: Question,
  signal: AbortSignal,
): Promise<Reply | Unanswered> {
  const began = performance.now()
  // Checked before looking for an answer: a queue inside the project could hold an answer that the project wrote itself.
  await queue.checkOutside(project)
  // An answer only counts in this project.
  const question = { ...given, binding: digest({ binding: given.binding, project: resolve(project) }) }
  const answered = await queue.take(question)
  if (answered) return replyOf(answered)
  const raised = await queue.raise(question, { project })
  if (raised.isNew) onRaised?.(raised)
  // End before the question times out: it stays open for an hour, but a timeout would let the default decide.
  const until = Math.min(waitUntil, began + question.timeout * 1000) - MARGIN_MS
  const patience = began + wait * 1000
  const isWatched = await queue.isWatched()
  const end = isWatched ? until : Math.min(until, patience)
  const over = wait > 0 || isWatched ? await onWaiting?.(raised, end) : undefined
  try {
    const isWorthwhile = () => performance.now() < patience || queue.isWatched()
    const taken = await queue.wait(question, { signal, until, isWorthwhile })
    return taken ? replyOf(taken) : { unanswered: howToAnswer(raised, toPerson) }
  } finally {
    over?.()
  }
}

function replyOf({ option, reason, by, proof, people }: Taken): Reply {
  return {
    option,
    by,
    ...(reason !== undefined && { reason }),
    ...(proof !== undefined && { proof }),
    ...(people && { people }),
  }
}

function howToAnswer({ id, expires, needs, question }: Raised, toPerson: boolean): string {
  const { people = 1 } = question
  if (people > 1)
    return `${people} different people must approve this, each with their own key: ${needs === 'fleet' ? `carabiner fleet answer ${id} allow` : 'carabiner open'} (or carabiner approvals deny ${id} --reason "…"). Try the same call again when they have answered. The question is open until ${clockTime(expires)}.`
  if (needs === 'fleet')
    return `A person of the fleet must approve this. They see the question as soon as the gateway can be reached: carabiner fleet answer ${id} allow (or carabiner approvals deny ${id} --reason "…"). Try the same call again when they have answered. The question is open until ${clockTime(expires)}.`
  if (needs === 'passkey')
    return `A person must approve this with a passkey. ${toPerson ? 'Type' : 'Ask the user to type in their own terminal'}: carabiner open (or carabiner approvals deny ${id} --reason "…"). Then try the same call again. The question is open until ${clockTime(expires)}.`
  if (toPerson)
    return `Nobody has answered yet. Type: carabiner approvals allow ${id} (or deny ${id} --reason "…"), then fire again. The question is open until ${clockTime(expires)}.`
  return `A person must approve this. Ask the user to type in their own terminal: carabiner approvals allow ${id} (or deny ${id} --reason "…"). Then try the same call again. The question is open until ${clockTime(expires)}.`
}

/** Local time. */
function clockTime(iso: string): string {
  const time = new Date(iso)
  return [time.getHours(), time.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}
