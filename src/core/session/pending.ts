// What async hooks left for a later event of the session, and what becomes of it where none comes.

import type { Diagnostic } from '../base/errors.js'
import { byteLength, cleanText, cutText, plainText } from '../base/text.js'
import type { Injection, Message } from '../hooks/outcome.js'
import type { Scene } from './scene.js'
import { hasPending, NOTHING_PENDING, type Pending } from './session-store.js'

/** Subagents whose leavings are remembered. */
const MOST_AGENTS = 1000
/** Of each kind; an agent that goes on for days without a prompt must not fill memory and disk. */
const MOST = 100
/** Bytes of one text while it waits, and of all of its kind as a store writes them: one that is asked for more keeps nothing. */
const INJECTIONS = { largest: 64 * 1024, total: 512 * 1024 }
const OTHERS = { largest: 8 * 1024, total: 128 * 1024 }
const MARKER = '\n[cut by Carabiner: too large to be kept for a later event]'

/** Adds what one more hook left. What there is no room for is dropped, the oldest first, and that is said. */
export function addPending(before: Pending, added: Pending): Pending {
  const injections = newest(before.injections, added.injections, INJECTIONS)
  const messages = newest(before.messages, added.messages, OTHERS)
  const all = [...before.injections, ...added.injections, ...before.messages, ...added.messages]
  const dropped = overflow(all.length - injections.length - messages.length)
  const diagnostics = newest(before.diagnostics, [...added.diagnostics, ...dropped], OTHERS)
  return { injections, messages, diagnostics }
}

interface Waiting {
  readonly text: string
}

function newest<T extends Waiting>(before: readonly T[], added: readonly T[], limits: typeof OTHERS): T[] {
  const kept = [...before, ...added.map((one) => cut(one, limits.largest))].slice(-MOST)
  let bytes = kept.reduce((sum, one) => sum + written(one), 0)
  while (bytes > limits.total) bytes -= written(kept.shift() as T)
  return kept
}

function written(one: Waiting): number {
  return byteLength(JSON.stringify(one))
}

/** Cleaned first, as it will be in the end: a control character takes six bytes where it is written down. */
function cut<T extends Waiting>(one: T, largest: number): T {
  const text = cleanText(one.text)
  if (byteLength(text) > largest) return { ...one, text: cutText(text, largest, MARKER) }
  return text === one.text ? one : { ...one, text }
}

function overflow(dropped: number): readonly Diagnostic[] {
  if (dropped === 0) return []
  const text = `${dropped} of the oldest effects of async hooks were dropped: no event came that could take them along`
  return [{ code: 'late-undelivered', text }]
}

/** Takes all of it; whoever comes at the same time gets nothing. Where the store cannot say that it is taken, it waits on. */
export async function takePending({ store, key }: Scene, of = key): Promise<Pending> {
  let taken = NOTHING_PENDING
  const failures = store.failures
  await store.update(of, (now) => {
    taken = now.pending
    return hasPending(now) ? { ...now, pending: NOTHING_PENDING } : now
  })
  return store.failures > failures ? NOTHING_PENDING : taken
}

/** At the end of a session: also what hooks of subagents left that never stopped. The user can still be told. */
export async function takeAll(scene: Scene): Promise<Pending> {
  const { store, info } = scene
  const { agents } = await store.load(info.id)
  let all = await takePending(scene, info.id)
  for (const key of agents) all = addPending(all, await takePending(scene, key))
  return told(all)
}

/** Leaves it for a later event. What a subagent has is known to its session, too. */
export async function leavePending({ store, info }: Scene, key: string, added: Pending): Promise<void> {
  if (!hasPending({ pending: added })) return
  await store.update(key, (now) => ({ ...now, pending: addPending(now.pending, added) }))
  if (key === info.id) return
  await store.update(info.id, (now) => {
    if (now.agents.includes(key)) return now
    return { ...now, agents: [...now.agents, key].slice(-MOST_AGENTS) }
  })
}

/** A subagent is done: what its async hooks left is for those who go on. */
export async function handUp(scene: Scene): Promise<void> {
  const { store, key, info } = scene
  if (key === info.id || !hasPending(await store.load(key))) return
  await leavePending(scene, info.id, await takePending(scene))
}

/** What no later event of the session took along, for a session that is closed without another word. */
export function undelivered({ injections, messages, diagnostics }: Pending): readonly Diagnostic[] {
  const unsaid = messages.filter(({ level }) => level !== 'warning') // a failure is among the diagnostics
  return [...diagnostics, ...[...injections, ...unsaid].map(lost)]
}

function lost({ source, text }: Injection | Message): Diagnostic {
  return { code: 'late-undelivered', text: plainText(`${source}: ${text}`) }
}

/** At the end of a session the user can still be told; the model cannot, and that is said. */
export function told({ injections, messages, diagnostics }: Pending): Pending {
  const unheard = injections.map(lost)
  const warnings = unheard.map(({ text }): Message => {
    return {
      text: `the model never heard this, the session ended: ${text}`,
      level: 'warning',
      source: 'carabiner',
    }
  })
  return { injections: [], messages: [...messages, ...warnings], diagnostics: [...diagnostics, ...unheard] }
}
