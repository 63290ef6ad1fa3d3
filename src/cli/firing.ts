// One event through the hooks of a project, in a session that may outlast this process.

import { onAbort } from '../core/abort.js'
import { type Diagnostic, isHookError } from '../core/errors.js'
import { knownEvents, lookalikeOf, resolveEvent } from '../core/events.js'
import { nearest } from '../core/nearest.js'
import type { Outcome } from '../core/outcome.js'
import { FileStore } from '../state/file-store.js'
import { goesOn, sessionOf } from './fired-session.js'
import { Interruption } from './interruption.js'
import type { Payload } from './payload.js'
import { Refusal } from './refusal.js'
import { noticesOf, openHooks, projectOf, type Sources } from './sources.js'
import { withToolName } from './tool-names.js'

export interface Fired {
  readonly outcome: Outcome
  readonly notices: readonly Diagnostic[]
  readonly ms: number
}

export interface Deadline {
  readonly seconds: number
  /** On the clock of performance.now(). */
  readonly startedAt: number
}

export interface Firing {
  readonly event: string
  readonly payload: Payload
  /** Other names of the tool that it is about. */
  readonly toolNames?: readonly string[]
  readonly sources: Sources
  /** Seconds: hooks that are not done by then have failed. */
  readonly timeout?: number | undefined
  /** If the hooks are not done by then, nothing was decided. */
  readonly until?: Deadline
  /** As soon as there is a verdict. */
  readonly told: (fired: Fired) => Promise<void>
  /** What came to light since. */
  readonly toldLater: (notices: readonly Diagnostic[]) => Promise<void>
}

export async function fireEvent({
  event,
  payload,
  toolNames = [],
  sources,
  timeout,
  until,
  told,
  toldLater,
}: Firing): Promise<Fired> {
  const interruption = new Interruption()
  const project = projectOf(sources)
  const options = sessionOf(event, payload, project)
  const troubles: Diagnostic[] = []
  const onTrouble = (text: string) => troubles.push({ code: 'host-failed', text })
  // A session without a name has no next event.
  const store = options.id === undefined ? undefined : new FileStore({ projectDir: project, onTrouble })
  const hooks = await openHooks(sources, store)
  const notices = () => [...misspelt(event), ...noticesOf(hooks), ...troubles]
  const signal =
    until === undefined ? interruption.signal : AbortSignal.any([interruption.signal, late(until)])
  const stopListening = onAbort(signal, () => void hooks.close({ abort: true }))
  const startedAt = performance.now()
  let early = false
  try {
    const session = hooks.session(options)
    const data = withToolName(payload, toolNames, (one) => session.explain(event, one))
    const outcome = await session.fire(event, data, { timeout, signal })
    const ms = performance.now() - startedAt
    // A verdict does not wait for those whose verdict does not count: a host that loses patience has it by then.
    early = outcome.hooks.some(({ status }) => status === 'detached')
    const atOnce = early ? notices() : []
    if (early) await told({ outcome, notices: atOnce, ms })
    await (store && goesOn(event) ? session.leave() : session.close())
    await hooks.close()
    const fired = { outcome, notices: notices(), ms }
    if (early) await toldLater(unsaid(fired.notices, [...atOnce, ...outcome.diagnostics]))
    else await told(fired)
    return fired
  } catch (error) {
    throw isHookError(error, 'PAYLOAD_INVALID') ? await withExample(event, error) : error
  } finally {
    await hooks.close()
    stopListening()
    interruption.end(early)
  }
}

function late({ seconds, startedAt }: Deadline): AbortSignal {
  const controller = new AbortController()
  const why = new Refusal('ABORTED', `The hooks were not done within ${seconds} seconds`)
  const left = startedAt + seconds * 1000 - performance.now()
  setTimeout(() => controller.abort(why), Math.max(left, 0)).unref()
  return controller.signal
}

/** A misspelt name is an event of its own, which goes on without the gates it was meant for. */
export function misspelt(event: string): readonly Diagnostic[] {
  if (!resolveEvent(event).custom || lookalikeOf(event)) return []
  const meant = nearest(
    event,
    knownEvents().map(({ name }) => name),
  )
  if (meant === undefined) return []
  return [{ code: 'lookalike-event', text: `${event} is an event of your own here; did you mean ${meant}?` }]
}

async function withExample(event: string, error: Error): Promise<Refusal> {
  const { examplePayload } = await import('./example-payload.js')
  return new Refusal('PAYLOAD_INVALID', error.message, {
    hint: `A payload of ${resolveEvent(event).name}: ${examplePayload(resolveEvent(event))}`,
  })
}

/** Those that were not said yet. */
export function unsaid(notices: readonly Diagnostic[], said: readonly Diagnostic[]): readonly Diagnostic[] {
  const keys = new Set(said.map(keyOf))
  return notices.filter((one) => !keys.has(keyOf(one)))
}

function keyOf({ code, text, ...where }: Diagnostic): string {
  return JSON.stringify([code, text, where])
}
