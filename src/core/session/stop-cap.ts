// The stop cap: hooks that keep refusing a stop are overruled after a number of times, or after one time if they did not judge.

import { type Ran, verdictOf } from '../run/trace.js'
import type { Judgement } from '../verdict/judge.js'
import type { Settings } from './embedder.js'
import type { SessionContext } from './session-context.js'
import type { SessionState } from './session-store.js'

/** Counts a refused stop; returns a message if it was one too many. */
export async function countStop(
  session: SessionContext,
  state: SessionState,
  judgement: Judgement,
  reason = '',
): Promise<string | undefined> {
  const { settings } = session.engine
  // The host says that a stop was already refused.
  const again = judgement.event.data.stop_hook_active === true
  const cut = cutOnly(judgement)
  if (cut.length > 0) {
    const excess = await countCut(session, cut, { again, isForgotten: again && state.stopsTotal === 0 })
    if (excess) return excess
  }
  let excess = stopExcess(settings, state)
  await session.store.update(session.key, (now) => {
    excess = stopExcess(settings, now)
    if (excess) return now
    const counted = { stopsInRow: now.stopsInRow + 1, stopsTotal: now.stopsTotal + 1 }
    return { ...now, ...counted, stopReason: oneLine(reason) }
  })
  // Without a count, a hook that always refuses would keep the agent going forever.
  if (again && !excess && session.store.failures > 0) {
    return 'Stop was refused before, and the session store failed, so refusals cannot be counted; Stop is now allowed'
  }
  return excess
}

/**
 * Some hosts send the reason of a refused stop, or nothing, as the next prompt. Nobody typed that: it begins no turn, and the
 * count of refused stops goes on.
 */
export function isStopGoingOn({ stopsTotal, stopReason }: SessionState, data: object): boolean {
  if (stopsTotal === 0) return false
  const { prompt, user_prompt: twin } = data as { readonly prompt?: unknown; readonly user_prompt?: unknown }
  const sent = prompt ?? twin
  if (typeof sent !== 'string') return false
  const said = oneLine(sent, Infinity)
  if (said === '' || said === stopReason) return true
  return stopReason.length >= DISTINCTIVE && said.includes(stopReason)
}

/** A shorter reason may also be a part of what somebody types. */
const DISTINCTIVE = 20
const LONGEST = 1000

function oneLine(text: string, longest = LONGEST): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, longest).trim()
}

/** Hooks that one of our limits cut short, if no other hook refuses. On these events no other failure refuses. */
function cutOnly({ kind, ran }: Judgement): readonly Ran[] {
  const refusing = ran.filter(({ hook, effect }) => verdictOf(kind, hook, effect.action) === 'deny')
  return refusing.every(({ trace }) => trace.status === 'failed') ? refusing : []
}

interface Repetition {
  /** The host says that a stop was refused before. */
  readonly again: boolean
  /** The session does not remember that refusal. */
  readonly isForgotten: boolean
}

/** Each may refuse once per prompt. It may have had a reason that it never got to give. */
async function countCut(
  session: SessionContext,
  cut: readonly Ran[],
  { again, isForgotten }: Repetition,
): Promise<string | undefined> {
  const ids = cut.map(({ hook }) => hook.id)
  // If the store fails, or there is no time left for it, the host's own flag decides.
  let isFirst = !again
  await session.store.update(session.key, (now) => {
    isFirst = ids.some((id) => !now.stopsCut.includes(id))
    return isFirst ? { ...now, stopsCut: [...new Set([...now.stopsCut, ...ids])] } : now
  })
  if (isFirst && !isForgotten) return undefined
  const names = cut.map(({ hook }) => hook.name).join(', ')
  return `Stop is allowed although ${names} did not judge it: a time limit cut it short again. ${cut[0]?.trace.detail ?? ''}`.trim()
}

function stopExcess(settings: Settings, { stopsInRow, stopsTotal }: SessionState): string | undefined {
  const { stop_block_cap: cap, stop_block_total: total } = settings
  if (stopsInRow >= cap)
    return `Stop was refused ${times(cap)} without a tool call in between, so it is now allowed (stop_block_cap)`
  if (stopsTotal >= total)
    return `Stop was refused ${times(total)} since the last prompt, so it is now allowed (stop_block_total)`
  return undefined
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
