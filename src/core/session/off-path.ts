// Off the path: async hooks, whose effects wait for a later event, and observers, who see what came of this one.

import { type Diagnostic, textOf } from '../base/errors.js'
import { inTime } from '../base/promise.js'
import { timestamp } from '../base/timestamp.js'
import { type EventKind, matcherValue, openPayload, resolveNotice } from '../events/events.js'
import { CONTINUE } from '../events/result.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import type { Injection, Message, Outcome } from '../hooks/outcome.js'
import { runAlone } from '../run/dispatch.js'
import { type Admit, skipOf } from '../run/plan.js'
import type { Ran } from '../run/trace.js'
import { quietOutcome } from '../verdict/judge.js'
import { merge, reasonOf, seenOutcome } from '../verdict/merge.js'
import { charge, contextMessage } from './conclude.js'
import { HOST_TIMEOUT_MS } from './engine.js'
import { leavePending } from './pending.js'
import { record } from './record.js'
import type { Scene } from './scene.js'
import { NOTHING_PENDING } from './session-store.js'

type Running = ReturnType<typeof runAlone>

/** What an async hook injects and says waits in the session. Its verdict is ignored and reported, unless it is to wake the model. */
export function deliverLate(
  scene: Scene,
  kind: EventKind,
  event: HookEvent,
  running: Running,
  startedAt: number,
): void {
  const deliver = async () => {
    const { ran, diagnostics: noted } = await running.catch((error: unknown) => cutShort(scene, kind, error))
    const merged = merge(kind, [ran])
    const call = wakeCall(ran)
    const injections = call ? [call] : merged.injections
    const messages = [...merged.messages]
    const diagnostics = call ? [...noted] : [...noted, ...lateDiagnostics(kind, ran)]
    const woken = call && (await wake(scene, event.name, call, { messages, diagnostics }))
    const pending = { injections: woken ? [] : injections, messages, diagnostics }
    // A subagent that stopped has no next event.
    const key = kind.name === 'SubagentStop' ? scene.info.id : scene.key
    await leavePending(scene, key, pending)
    const outcome = { ...quietOutcome(event.data), injections, hooks: [ran], diagnostics }
    const failed = record({ scene, event, outcome, action: 'continue', startedAt, kind: 'late' })
    for (const d of [failed, ...scene.store.takeFailures()]) if (d) scene.engine.note(d)
  }
  scene.engine.inBackground(`an async hook on ${kind.name}`, deliver(), scene.background)
}

/** It was ended before it had answered: whoever goes on with the session is told. */
async function cutShort(scene: Scene, kind: EventKind, error: unknown): Promise<never> {
  const text = `an async hook on ${kind.name} was ended before it had answered: ${textOf(error)}`
  await leavePending(scene, scene.key, { ...NOTHING_PENDING, diagnostics: [{ code: 'late-failed', text }] })
  throw error
}

/** What is to wake the model, if the hook was made for that and found something. */
function wakeCall({ hook, status, effect }: Ran): Injection | undefined {
  if (!hook.wakes || status !== 'ran' || effect.action !== 'deny') return undefined
  return { text: reasonOf(hook, effect), role: 'system', ephemeral: false, source: hook.name }
}

/** Whether the host took it. Where it cannot, it is told so, and the injection has to wait. */
async function wake(scene: Scene, event: string, wanted: Injection, told: Told): Promise<boolean> {
  const { engine } = scene
  const { wake } = engine.host
  if (!wake) {
    const text = `${wanted.source} on ${event}: the host has no wake, so the model hears of it with the next event`
    engine.note({ code: 'wake-waits', text })
    return false
  }
  try {
    for (const one of await charge(scene, [wanted], 0, told.messages, told.diagnostics)) {
      await inTime(Promise.resolve(wake(contextMessage(scene, event, one))), HOST_TIMEOUT_MS)
    }
    return true
  } catch (error) {
    told.diagnostics.push({ code: 'host-failed', text: `the wake of the host failed: ${textOf(error)}` })
    return false
  }
}

/** What there is to say on the way. */
interface Told {
  readonly messages: Message[]
  readonly diagnostics: Diagnostic[]
}

function lateDiagnostics(kind: EventKind, { name, status, effect, detail }: Ran): readonly Diagnostic[] {
  if (status === 'failed') return [{ code: 'late-failed', text: `${name} on ${kind.name}: ${detail}` }]
  const { action, data } = effect
  if (!data && (action === 'continue' || action === 'inject_context')) return []
  const text = `${name} is async; its ${action} on ${kind.name} came too late to count`
  return [{ code: 'async-verdict-ignored', text }]
}

/** Shows an observer the event and its outcome, if it wants them. */
export function observe(
  scene: Scene,
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
      signal: scene.engine.ending,
      outcome: seenOutcome(outcome),
    })
    if (ran.status === 'failed') {
      scene.engine.note({ code: 'late-failed', text: `${hook.name} on ${kind.name}: ${ran.detail}` })
    } else if (ran.effect !== CONTINUE) {
      const text = `${hook.name} observes ${kind.name}; its ${ran.effect.action} does not count`
      scene.engine.note({ code: 'verdict-ignored', text })
    }
  }
  scene.engine.inBackground(`${hook.name} on ${kind.name}`, work(), scene.background)
}

/** Tells observers, and nobody else, of what is no event by itself: a turn begins, a model fails. Never throws. */
export function tellObservers(scene: Scene, name: string, data: object): void {
  try {
    showNotice(scene, name, data)
  } catch (error) {
    scene.engine.note({ code: 'late-failed', text: `observers were not told of ${name}: ${textOf(error)}` })
  }
}

function showNotice(scene: Scene, name: string, data: object): void {
  const { engine } = scene
  const kind = resolveNotice(name)
  const observers = scene.hooks().listeners(kind)?.observers ?? []
  if (observers.length === 0) return
  const owned = { timestamp: timestamp(engine.now()), session_id: scene.info.id }
  const payload = openPayload(kind, scene.base, data, owned)
  const event: HookEvent = { name, data: payload, session: scene.turns.info }
  for (const hook of observers) observe(scene, kind, hook, event, quietOutcome(payload), engine.host.admit)
}

const ALONE_OPTIONS = {
  deadline: Infinity,
  recheck: 'skipped',
  failClosed: false,
  protectSystemMessages: true,
  detach: () => {},
} as const
