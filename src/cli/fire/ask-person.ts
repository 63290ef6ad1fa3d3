// Whom `fire` asks: the person at this terminal, or anybody who answers through the queue.

import type { QueueApproverOptions } from '../../asking/queue-approver.js'
import type { Question } from '../../core/hooks/outcome.js'
import type { Approver, Reply, Unanswered } from '../../core/verdict/approval.js'
import { isSignatureNeeded } from '../../store/approvers.js'
import { approvalsIn, type Stores } from '../../store/file-stores.js'

export interface Asking {
  /** Seconds to wait for a person's answer. Without it the wait lasts only while somebody watches. */
  readonly wait?: number | undefined
  /** Called when the wait begins; it returns what to do when the wait is over. */
  readonly onWaiting?: QueueApproverOptions['onWaiting']
  /** A person reads the outcome. */
  readonly toPerson?: boolean | undefined
  /** Ask at the terminal instead, unless whoever allows has to sign. */
  readonly ask?: boolean | undefined
  /** The agent asks its user instead. */
  readonly dialog?: boolean | undefined
}

interface TimedAsking extends Asking {
  /** On the clock of performance.now(). */
  readonly waitUntil: number | undefined
}

interface AskingPlace {
  readonly project: string
  readonly stores: Stores
  readonly onTrouble: (text: string) => void
  /** Whether a later answer can be matched to its call, which the session does. */
  readonly isKnown: boolean
}

const UNKNOWN_CALL = 'without a session_id in the payload, the same call cannot be recognized again'

const NO_SESSION: Unanswered = {
  unanswered: `A person must approve this, and cannot do so later: ${UNKNOWN_CALL}. Add one, or have it answered now: --ask asks at this terminal, --wait SECONDS waits for an answer from another one.`,
}
const IN_DIALOG: Unanswered = { unanswered: 'A person must approve this.' }
const NO_ANSWER: Unanswered = {
  unanswered: `A person must approve this, and nobody answered in time. A later answer does not count: ${UNKNOWN_CALL}. Add one, or fire again.`,
}

/** Whatever it needs is loaded when a hook asks: most events end without a question. */
export function approverOf(asking: TimedAsking, place: AskingPlace): Approver {
  const elsewhere = approverElsewhere(asking, place)
  if (!asking.ask) return elsewhere
  return async (question, signal) => {
    if (isForSeveral(question) || isSignatureNeeded()) return elsewhere(question, signal)
    const { terminalApprover } = await import('../../asking/terminal-approver.js')
    return terminalApprover()(question, signal)
  }
}

/** For everybody but the person at this terminal. */
function approverElsewhere(asking: TimedAsking, place: AskingPlace): Approver {
  const fromQueue = queueOf(asking, place)
  if (!asking.dialog) return fromQueue
  return (question, signal) => (isForSeveral(question) ? fromQueue(question, signal) : IN_DIALOG)
}

/** One person at a terminal or in a dialog is not enough. */
function isForSeveral({ people = 1 }: Question): boolean {
  return people > 1
}

function queueOf(asking: TimedAsking, place: AskingPlace): Approver {
  if (place.isKnown) return (question, signal) => askQueue(asking, place, question, signal)
  if (asking.wait === undefined) return () => NO_SESSION
  return async (question, signal) => {
    const reply = await askQueue(asking, place, question, signal)
    return typeof reply === 'object' && 'unanswered' in reply ? NO_ANSWER : reply
  }
}

/** The longest time that a question can be open. */
const LONGEST_OPEN = 24 * 3600

async function askQueue(
  { wait, waitUntil, onWaiting, toPerson }: TimedAsking,
  { project, stores, onTrouble, isKnown }: AskingPlace,
  ...asked: Parameters<Approver>
): Promise<Reply | Unanswered> {
  const { queueApprover } = await import('../../asking/queue-approver.js')
  // Nobody takes a later answer, so the question ends with the wait.
  const openFor = Math.min(wait ?? LONGEST_OPEN, LONGEST_OPEN)
  const queue = isKnown ? await stores.approvals() : await approvalsIn({ onTrouble, openFor })
  const approver = queueApprover({
    queue,
    project,
    onRaised: () => void import('../ship-soon.js').then(({ askFleetSoon }) => askFleetSoon()),
    ...(wait !== undefined && { wait }),
    ...(waitUntil !== undefined && { waitUntil }),
    ...(onWaiting && { onWaiting }),
    ...(toPerson && { toPerson }),
  })
  return approver(...asked)
}
