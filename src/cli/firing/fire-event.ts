// One event through the hooks of a project, in a session that may outlast this process.

import { type Diagnostic, isHookError, textOf } from '../../core/base/errors.js'
import { onAbort } from '../../core/base/promise.js'
import { lookalikeOf, resolveEvent } from '../../core/events/events.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import type { Approver, Unanswered } from '../../core/verdict/approval.js'
import { fileStores, type Stores } from '../../store/file-stores.js'
import type { Sessions } from '../../store/sessions.js'
import { ProjectAudit } from '../audit/project-audit.js'
import { Interruption } from '../interruption.js'
import { Refusal } from '../refusal.js'
import { noticesOf, type OpenHooks, openHooks, projectOf, type Sources } from '../sources.js'
import { nearEvent } from '../why/near-event.js'
import { goesOn, sessionOf } from './fired-session.js'
import type { Payload } from './payload.js'
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
  /** Seconds to wait for a person's answer; without it only while somebody watches. */
  readonly wait?: number | undefined
  /** As soon as there is a verdict. */
  readonly told: (fired: Fired) => Promise<void>
  /** What came to light since. */
  readonly toldLater: (notices: readonly Diagnostic[]) => Promise<void>
}

export async function fireEvent(firing: Firing): Promise<Fired> {
  const { event, sources, until } = firing
  const interruption = new Interruption()
  const project = projectOf(sources)
  const options = sessionOf(event, firing.payload, project)
  const troubles: Diagnostic[] = []
  const onTrouble = (text: string) => troubles.push({ code: 'host-failed', text })
  // A session without a name has no next event.
  const stores = fileStores({ projectDir: project, onTrouble })
  const store = options.id === undefined ? undefined : sessionsOf(stores)
  const hooks = await opened(firing, project, store, stores)
  const signal =
    until === undefined ? interruption.signal : AbortSignal.any([interruption.signal, late(until)])
  const stopListening = onAbort(signal, () => void hooks.close({ abort: true }))
  const telling = new Telling(firing, () => [...misspelt(event), ...noticesOf(hooks, sources), ...troubles])
  try {
    const session = hooks.session(options)
    const { outcome, ms } = await evaluated(firing, session, signal)
    await telling.begin(outcome, ms)
    await (store && goesOn(event) ? session.leave() : session.close())
    await hooks.close()
    return await telling.end(outcome, ms)
  } catch (error) {
    throw isHookError(error, 'PAYLOAD_INVALID') ? await withExample(event, error) : error
  } finally {
    await hooks.close()
    stopListening()
    interruption.end(telling.isEarly)
  }
}

async function opened(
  { sources, wait, until }: Firing,
  project: string,
  store: Sessions | undefined,
  stores: Stores,
): Promise<OpenHooks> {
  const audit = new ProjectAudit(project, () => hooks.settings)
  const hooks: OpenHooks = await openHooks(sources, {
    ...(store && { store }),
    approver: store ? approverOf(project, stores, { wait, until }) : () => NO_SESSION,
    audit: (record) => audit.write(record),
  })
  return hooks
}

async function evaluated(
  { event, payload, toolNames = [], timeout }: Firing,
  session: ReturnType<OpenHooks['session']>,
  signal: AbortSignal,
): Promise<Pick<Fired, 'outcome' | 'ms'>> {
  const startedAt = performance.now()
  const data = withToolName(payload, toolNames, (one) => session.explain(event, one))
  const outcome = await session.fire(event, data, { timeout, signal })
  return { outcome, ms: performance.now() - startedAt }
}

/** Tells the verdict once, and afterwards only what came to light since. */
class Telling {
  /** Whether the verdict was told before all hooks were done. */
  isEarly = false
  readonly #to: Pick<Firing, 'told' | 'toldLater'>
  readonly #notices: () => readonly Diagnostic[]
  #said: readonly Diagnostic[] = []

  constructor(to: Pick<Firing, 'told' | 'toldLater'>, notices: () => readonly Diagnostic[]) {
    this.#to = to
    this.#notices = notices
  }

  /** A verdict does not wait for those whose verdict does not count: a host that loses patience has it by then. */
  async begin(outcome: Outcome, ms: number): Promise<void> {
    this.isEarly = outcome.hooks.some(({ status }) => status === 'detached')
    if (!this.isEarly) return
    const notices = this.#notices()
    this.#said = [...notices, ...outcome.diagnostics]
    await this.#to.told({ outcome, notices, ms })
  }

  async end(outcome: Outcome, ms: number): Promise<Fired> {
    const fired = { outcome, notices: this.#notices(), ms }
    if (this.isEarly) await this.#to.toldLater(unsaid(fired.notices, this.#said))
    else await this.#to.told(fired)
    return fired
  }
}

function sessionsOf(stores: Stores): Sessions {
  try {
    return stores.sessions
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', textOf(error))
  }
}

/** An answer that is given later is for a call of the same session. */
const NO_SESSION: Unanswered = {
  unanswered:
    'A person must approve this, and nobody can: the payload has no session_id, by which the same call would be known again. Add one.',
}

/** Who is asked sits elsewhere. Loaded when somebody asks: most events end without. */
function approverOf(
  project: string,
  stores: Stores,
  { wait, until }: Pick<Firing, 'wait' | 'until'>,
): Approver {
  return async (question, signal) => {
    const { queueApprover } = await import('../../asking/queue-approver.js')
    const approver = queueApprover({
      queue: await stores.approvals(),
      project,
      ...(wait !== undefined && { wait }),
      ...(until && { waitUntil: endOf(until) }),
    })
    return approver(question, signal)
  }
}

function endOf({ seconds, startedAt }: Deadline): number {
  return startedAt + seconds * 1000
}

function late(until: Deadline): AbortSignal {
  const controller = new AbortController()
  const why = new Refusal('ABORTED', `The hooks were not done within ${until.seconds} seconds`)
  const left = endOf(until) - performance.now()
  setTimeout(() => controller.abort(why), Math.max(left, 0)).unref()
  return controller.signal
}

/** A misspelt name is an event of its own, which goes on without the gates it was meant for. */
export function misspelt(event: string): readonly Diagnostic[] {
  const meant = nearEvent(event)
  if (meant === undefined || lookalikeOf(event)) return []
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
