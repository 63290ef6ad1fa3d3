// Off the path: async hooks, whose effects wait for a later event, and observers, who see what came of this one.

import { record } from './conclude.js'
import { type DispatchOptions, runAside } from './dispatch.js'
import { type EventKind, matcherValue } from './events.js'
import type { Hook, HookEvent } from './hook.js'
import { quietOutcome } from './judge.js'
import { merge, type Outcome } from './outcome.js'
import { skipOf } from './plan.js'
import type { Scene } from './scene.js'

/** Sets off an async hook: what it injects and says waits in the session, its verdict is ignored and reported. */
export function detach(scene: Scene, kind: EventKind, hook: Hook, event: HookEvent): void {
  const work = async () => {
    const startedAt = performance.now()
    const { ran, diagnostics } = await runAside(kind, hook, event, asideOptions(scene))
    const merged = merge(kind, [ran])
    const late = [...diagnostics]
    const { action, data } = ran.effect
    if (ran.status === 'ran' && (data || !['continue', 'inject_context'].includes(action))) {
      late.push({
        code: 'async-verdict-ignored',
        text: `${hook.name} is async; its ${action} on ${kind.name} came too late to count`,
      })
    }
    if (ran.status === 'failed')
      late.push({ code: 'late-failed', text: `${hook.name} on ${kind.name}: ${ran.detail}` })
    await scene.engine.store.update(scene.key, (now) => ({
      ...now,
      pending: {
        injections: [...now.pending.injections, ...merged.injections],
        messages: [...now.pending.messages, ...merged.messages],
        diagnostics: [...now.pending.diagnostics, ...late],
      },
    }))
    const outcome = {
      ...quietOutcome(event.data),
      injections: merged.injections,
      hooks: [ran],
      diagnostics: late,
    }
    const failed = record(scene, event, outcome, 'continue', performance.now() - startedAt, 'late')
    if (failed) scene.engine.note(failed)
  }
  scene.engine.aside(`${hook.name} on ${kind.name}`, work())
}

/** Shows an observer the event and its outcome. */
export function observe(scene: Scene, kind: EventKind, hook: Hook, event: HookEvent, outcome: Outcome): void {
  if (skipOf(kind, hook, event, matcherValue(kind, event.data), scene.engine.host.admit)) return
  const work = async () => {
    const { ran } = await runAside(kind, hook, event, { ...asideOptions(scene), outcome })
    if (ran.status === 'failed') {
      scene.engine.note({ code: 'late-failed', text: `${hook.name} on ${kind.name}: ${ran.detail}` })
    }
  }
  scene.engine.aside(`${hook.name} on ${kind.name}`, work())
}

function asideOptions(scene: Scene): DispatchOptions {
  return {
    deadline: Infinity,
    recheck: 'skipped',
    failClosed: false,
    protectSystemMessages: scene.engine.settings.protect_system_messages,
    detach: () => {},
  }
}
