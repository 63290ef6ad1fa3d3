// `carabiner approvals --watch`: asks every question of every project at this terminal, until it is interrupted.

import { setTimeout as pause } from 'node:timers/promises'
import { openTerminal } from '../asking/terminal.js'
import { promptAt } from '../asking/terminal-approver.js'
import { visible, visibleName } from '../core/base/text.js'
import { effectOf } from '../core/verdict/approval.js'
import type { AnswerResult, Approvals, Found, GivenAnswer, Pending } from '../store/approvals.js'
import { checkSigners } from './allow-command.js'
import { Interruption } from './interruption.js'
import type { Output } from './output.js'
import { userName } from './person.js'
import { shortPath } from './print/lines.js'
import { isColoured, isTerminal } from './print/terminal.js'
import { EXIT, Refusal } from './refusal.js'

/** How often to look for new questions, and for answers given elsewhere. */
const LOOK_MS = 300

interface Watch {
  readonly queue: Approvals
  readonly output: Output
  /** Puts an answer on record; resolves to why it could not. */
  readonly record: (pending: Pending, answer: GivenAnswer) => Promise<string | undefined>
}

export async function watchQuestions(watch: Watch): Promise<number> {
  const { queue, output } = watch
  if (!isTerminal(0)) {
    throw new Refusal('NO_TERMINAL', '--watch asks at a terminal, and there is none', {
      hint: 'carabiner approvals lists the open questions; allow ID and deny ID answer them.',
    })
  }
  const interruption = new Interruption()
  const { signal } = interruption
  const watching = await queue.watching()
  /** A question that was left open is shown only once. */
  const shown = new Set<string>()
  try {
    await output.print(['waiting for questions from hooks; press Ctrl-C to stop'])
    while (!signal.aborted) {
      const next = (await queue.open()).find(({ id }) => !shown.has(id))
      if (next) {
        shown.add(next.id)
        if (!(await ask(next, watch, signal))) return EXIT.ok
      } else await pause(LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    await watching.end()
  }
  return EXIT.ok
}

/** False if the person left. */
async function ask(pending: Pending, watch: Watch, signal: AbortSignal): Promise<boolean> {
  const { queue, output } = watch
  const { id, question, project, expires } = pending
  const terminal = openTerminal({})
  if (!terminal) return false
  await output.print(['', `${id}, in ${visible(shortPath(project))}`])
  const over = new AbortController()
  const looking = lookUntil(queue, id, over)
  const reply = await promptAt(terminal, question, {
    signal: AbortSignal.any([signal, over.signal]),
    until: performance.now() + Date.parse(expires) - Date.now(),
    by: userName(),
    color: isColoured(1),
    staysOpen: true,
  })
  const isLeft = !over.signal.aborted
  over.abort()
  await looking
  const given = typeof reply === 'string' ? { option: reply } : reply
  if (!('option' in given)) return !isLeft
  // A terminal that went away gave no answer.
  if (given.by === 'default') return false
  const { option, by = userName() } = given
  if (effectOf(pending.question, option) !== 'deny') checkSigners()
  await tell(pending, await queue.answer(id, { option, by, ...reasonOf(given) }), watch)
  return true
}

function reasonOf({ reason }: { readonly reason?: string }): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

/** Ends the question when it was answered elsewhere, or expired. */
async function lookUntil(queue: Approvals, id: string, over: AbortController): Promise<void> {
  while (!over.signal.aborted) {
    await pause(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined)
    if (over.signal.aborted) return
    const found = await queue.get(id)
    if (found.status !== 'open') over.abort(endedAs(found))
  }
}

function endedAs(found: Found): string {
  const answer = 'answer' in found ? found.answer : undefined
  return answer ? `${answer.by} answered ${answer.option}` : 'it expired'
}

async function tell(pending: Pending, result: AnswerResult, { output, record }: Watch): Promise<void> {
  switch (result.status) {
    case 'answered': {
      const problem = await record(pending, result.answer)
      if (problem !== undefined) await output.complain([`carabiner: ${visible(problem)}`])
      return
    }
    case 'too-late': {
      const { option, by, at } = result.answer
      return output.print([`too late: ${visible(option)}, by ${visibleName(by)} at ${at}`])
    }
    case 'counted':
      return output.print([`counted: ${result.more} more must allow it`])
    case 'not-signed':
      return output.print([`not allowed: ${visible(result.why)}`])
    default:
      return output.print(['too late: the question is no longer open'])
  }
}
