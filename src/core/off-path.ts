// Off the path: async hooks, whose effects wait for a later event, and observers, who see what came of this one.

import { record } from './conclude.js'
import { runAlone } from './dispatch.js'
import type { Diagnostic } from './errors.js'
import { type EventKind, matcherValue } from './events.js'
import type { Hook, HookEvent } from './hook.js'
import { quietOutcome } from './judge.js'
import { merge, type Outcome, type Ran, seenOutcome } from './outcome.js'
import { type Admit, skipOf } from './plan.js'
import { CONTINUE } from './result.js'
import type { Scene } from './scene.js'

type Running = ReturnType<typeof runAlone>

/** What an async hook injects and says waits in the session; its verdict is ignored and reported. */
export function deliverLate(
  scene: Scene,
  kind: EventKind,
  event: HookEvent,
  running: Running,
  startedAt: number,
): void {
  const deliver = async () => {
    const { ran, diagnostics: noted } = await running
    const { injections, messages } = merge(kind, [ran])
    const diagnostics = [...noted, ...lateDiagnostics(kind, ran)]
    await scene.store.update(scene.key, (now) => ({
      ...now,
      pending: {
        injections: [...now.pending.injections, ...injections],
        messages: [...now.pending.messages, ...messages],
        diagnostics: [...now.pending.diagnostics, ...diagnostics],
      },
    }))
    const outcome = { ...quietOutcome(event.data), injections, hooks: [ran], diagnostics }
    const failed = record(scene, event, outcome, 'continue', performance.now() - startedAt, 'late')
    if (failed) scene.engine.note(failed)
  }
  scene.engine.inBackground(`an async hook on ${kind.name}`, deliver(), scene.background)
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

const ALONE_OPTIONS = {
  deadline: Infinity,
  recheck: 'skipped',
  failClosed: false,
  protectSystemMessages: true,
  detach: () => {},
} as const
