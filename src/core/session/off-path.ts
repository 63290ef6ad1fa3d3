// Off the path: async hooks, whose effects wait for a later event, and observers, which see the outcome of this one.

import { type Diagnostic, textOf } from '../base/errors.js'
import { inTime } from '../base/promise.js'
import { byteLength, cleanText, cutText, plainText } from '../base/text.js'
import { timestamp } from '../base/time.js'
import { type EventKind, matcherValue, openPayload, resolveNotice } from '../events/events.js'
import { CONTINUE } from '../events/result.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import type { Injection, Message, Outcome } from '../hooks/outcome.js'
import { runAlone } from '../run/dispatch.js'
import { type Admit, skipOf } from '../run/plan.js'
import type { Ran } from '../run/trace.js'
import { quietOutcome } from '../verdict/judge.js'
import { merge, reasonOf, seenOutcome } from '../verdict/merge.js'
import { contextMessage } from './conclude.js'
import { counterOf } from './counter.js'
import { EMBEDDER_TIMEOUT_MS } from './engine.js'
import { charge } from './injection.js'
import { record } from './record.js'
import type { SessionContext } from './session-context.js'
import { hasPending, NOTHING_PENDING, type Pending } from './session-store.js'

type Running = ReturnType<typeof runAlone>

/** Keeps an async hook's injections and messages in the session. Its verdict is ignored and reported, unless it wakes the model. */
export function deliverLate(
  session: SessionContext,
  kind: EventKind,
  event: HookEvent,
  running: Running,
  startedAt: number,
): void {
  const deliver = async () => {
    const { ran, diagnostics: noted } = await running.catch((error: unknown) =>
      cutShort(session, kind, error),
    )
    const merged = merge(kind, [ran])
    const call = wakeCall(ran)
    const injections = call ? [call] : merged.injections
    const messages = [...merged.messages]
    const diagnostics = call ? [...noted] : [...noted, ...lateDiagnostics(kind, ran)]
    const woken = call && (await wake(session, event.name, call, { messages, diagnostics }))
    const pending = { injections: woken ? [] : injections, messages, diagnostics }
    // A subagent that stopped has no next event.
    const key = kind.ends === 'subagent' ? session.info.id : session.key
    await leavePending(session, key, pending)
    const outcome = { ...quietOutcome(event.data), injections, hooks: [ran.trace], diagnostics }
    const failed = record({
      session,
      event,
      outcome,
      action: 'continue',
      startedAt,
      kind: 'late',
      ran: [ran],
    })
    for (const d of [failed, ...session.store.takeFailures()]) if (d) session.engine.note(d)
  }
  session.engine.inBackground(`an async hook on ${kind.name}`, deliver(), session.background)
}

/** For a hook that was ended before it answered. The session's next event reports it. */
async function cutShort(session: SessionContext, kind: EventKind, error: unknown): Promise<never> {
  const text = `an async hook on ${kind.name} was ended before it answered: ${textOf(error)}`
  await leavePending(session, session.key, {
    ...NOTHING_PENDING,
    diagnostics: [{ code: 'late-failed', text }],
  })
  throw error
}

/** The injection that wakes the model, if the hook is meant to and found something. */
function wakeCall({ hook, trace, effect }: Ran): Injection | undefined {
  if (!hook.wakes || trace.status !== 'ran' || effect.action !== 'deny') return undefined
  return { text: reasonOf(hook, effect), role: 'system', ephemeral: false, source: hook.name }
}

/** Whether the embedder took it. If it has no `wake`, that is reported, and the injection has to wait. */
async function wake(session: SessionContext, event: string, wanted: Injection, told: Told): Promise<boolean> {
  const { engine } = session
  const { wake } = engine.embedder
  if (!wake) {
    const text = `${wanted.source} on ${event}: the host cannot wake the model (it has no \`wake\`), so the next event delivers the message`
    engine.note({ code: 'wake-waits', text })
    return false
  }
  try {
    for (const one of await charge(session, [wanted], 0, told.messages, told.diagnostics)) {
      await inTime(Promise.resolve(wake(contextMessage(session, event, one))), EMBEDDER_TIMEOUT_MS)
    }
    return true
  } catch (error) {
    told.diagnostics.push({ code: 'host-failed', text: `the host's wake failed: ${textOf(error)}` })
    return false
  }
}

/** Messages and diagnostics that arise along the way. */
interface Told {
  readonly messages: Message[]
  readonly diagnostics: Diagnostic[]
}

function lateDiagnostics(kind: EventKind, { trace, effect }: Ran): readonly Diagnostic[] {
  const { name, status, detail } = trace
  if (status === 'failed') return [{ code: 'late-failed', text: `${name} on ${kind.name}: ${detail}` }]
  const { action, data } = effect
  if (!data && (action === 'continue' || action === 'inject_context')) return []
  const text = `${name} is async; its ${action} on ${kind.name} came too late to count`
  return [{ code: 'async-verdict-ignored', text }]
}

/** Shows an observer the event and its outcome, if it wants them. */
export function observe(
  session: SessionContext,
  kind: EventKind,
  hook: Hook,
  event: HookEvent,
  outcome: Outcome,
  admit: Admit | undefined,
): void {
  const work = async () => {
    if (skipOf(kind, hook, event, matcherValue(kind, event.data), admit)) return
    const { ran } = await runAlone(kind, hook, event, {
      ...ALONE_OPTIONS,
      signal: session.engine.ending,
      count: counterOf(session),
      outcome: seenOutcome(outcome),
    })
    if (ran.trace.status === 'failed') {
      session.engine.note({ code: 'late-failed', text: `${hook.name} on ${kind.name}: ${ran.trace.detail}` })
    } else if (ran.effect !== CONTINUE) {
      const text = `${hook.name} observes ${kind.name}; its ${ran.effect.action} does not count`
      session.engine.note({ code: 'verdict-ignored', text })
    }
  }
  session.engine.inBackground(`${hook.name} on ${kind.name}`, work(), session.background)
}

/** Tells only observers, of things that are not events: a turn begins, a model fails. Never throws. */
export function tellObservers(session: SessionContext, name: string, data: object): void {
  try {
    showNotice(session, name, data)
  } catch (error) {
    session.engine.note({ code: 'late-failed', text: `observers were not told of ${name}: ${textOf(error)}` })
  }
}

function showNotice(session: SessionContext, name: string, data: object): void {
  const { engine } = session
  const kind = resolveNotice(name)
  const observers = session.hooks().listeners(kind)?.observers ?? []
  if (observers.length === 0) return
  const owned = { timestamp: timestamp(engine.now()), session_id: session.info.id }
  const payload = openPayload(kind, session.base, data, owned)
  const event: HookEvent = { name, data: payload, session: session.turns.info }
  for (const hook of observers)
    observe(session, kind, hook, event, quietOutcome(payload), engine.embedder.admit)
}

const ALONE_OPTIONS = {
  deadline: Infinity,
  recheck: 'skipped',
  failClosed: false,
  protectSystemMessages: true,
  detach: () => {},
} as const

// ---- effects of async hooks, until an event delivers them

/** The number of subagents whose effects are remembered. */
const MOST_AGENTS = 1000
/** The limit for each kind, so that an agent that runs for days without a prompt does not fill memory and disk. */
const MOST = 100
/** Bytes of one waiting text, and of all texts of its kind as a store writes them. A store that is asked for more keeps nothing. */
const INJECTIONS = { largest: 64 * 1024, total: 512 * 1024 }
const OTHERS = { largest: 8 * 1024, total: 128 * 1024 }
const MARKER = '\n[cut by Carabiner: too large to be kept for a later event]'

/** Adds the effects of one more hook. Beyond the limits the oldest are dropped, and a diagnostic says so. */
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

/** Cleans first, because a control character takes six bytes in JSON. */
function cut<T extends Waiting>(one: T, largest: number): T {
  const text = cleanText(one.text)
  if (byteLength(text) > largest) return { ...one, text: cutText(text, largest, MARKER) }
  return text === one.text ? one : { ...one, text }
}

function overflow(dropped: number): readonly Diagnostic[] {
  if (dropped === 0) return []
  const text = `${dropped} of the oldest effects of async hooks were dropped, because no event came that could deliver them`
  return [{ code: 'late-undelivered', text }]
}

/** Takes everything; a parallel event gets nothing. If the store cannot record that it was taken, it stays. */
export async function takePending({ store, key }: SessionContext, of = key): Promise<Pending> {
  let taken = NOTHING_PENDING
  const failures = store.failures
  await store.update(of, (now) => {
    taken = now.pending
    return hasPending(now) ? { ...now, pending: NOTHING_PENDING } : now
  })
  return store.failures > failures ? NOTHING_PENDING : taken
}

/** Takes everything at the end of a session, including from subagents that never stopped. The user can still be told. */
export async function takeAll(session: SessionContext): Promise<Pending> {
  const { store, info } = session
  const { agents } = await store.load(info.id)
  let all = await takePending(session, info.id)
  for (const key of agents) all = addPending(all, await takePending(session, key))
  return told(all)
}

/** Leaves effects for a later event. The session also knows which subagents have some. */
export async function leavePending(
  { store, info }: SessionContext,
  key: string,
  added: Pending,
): Promise<void> {
  if (!hasPending({ pending: added })) return
  await store.update(key, (now) => ({ ...now, pending: addPending(now.pending, added) }))
  if (key === info.id) return
  await store.update(info.id, (now) => {
    if (now.agents.includes(key)) return now
    return { ...now, agents: [...now.agents, key].slice(-MOST_AGENTS) }
  })
}

/** When a subagent is done, its session gets the effects of its async hooks. */
export async function handUp(session: SessionContext): Promise<void> {
  const { store, key, info } = session
  if (key === info.id || !hasPending(await store.load(key))) return
  await leavePending(session, info.id, await takePending(session))
}

/** Reports the effects that no event delivered before the session was closed. */
export function undelivered({ injections, messages, diagnostics }: Pending): readonly Diagnostic[] {
  const unsaid = messages.filter(({ level }) => level !== 'warning') // a failure is among the diagnostics
  return [...diagnostics, ...[...injections, ...unsaid].map(lost)]
}

function lost({ source, text }: Injection | Message): Diagnostic {
  return { code: 'late-undelivered', text: plainText(`${source}: ${text}`) }
}

/** Turns injections into messages at the end of a session: the user can still be told, the model cannot. */
export function told({ injections, messages, diagnostics }: Pending): Pending {
  const unheard = injections.map(lost)
  const warnings = unheard.map(({ text }): Message => {
    return {
      text: `the session ended before the model could be told: ${text}`,
      level: 'warning',
      source: 'carabiner',
    }
  })
  return { injections: [], messages: [...messages, ...warnings], diagnostics: [...diagnostics, ...unheard] }
}
