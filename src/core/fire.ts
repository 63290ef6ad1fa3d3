// The path of an event: judge, ask if hooks ask, conclude, show observers.

import { detach, observe } from './aside.js'
import { type AskOptions, type Settled, settleAsk } from './ask.js'
import { conclude, record } from './conclude.js'
import type { DispatchOptions } from './dispatch.js'
import { HookError } from './errors.js'
import { checkRequired, type EventKind, openPayload, resolveEvent } from './events.js'
import type { HookEvent } from './hook.js'
import type { Listeners } from './hook-set.js'
import { type Data, frozenCopy } from './json.js'
import { diagnosticsOf, type Judgement, judge, outcomeOf, quietOutcome } from './judge.js'
import { merge, type Outcome } from './outcome.js'
import { applyPatch } from './patch.js'
import type { Admit } from './plan.js'
import { isPromise, type MaybePromise } from './promise.js'
import type { Scene } from './scene.js'
import { deadlineIn } from './seconds.js'
import { NOTHING_PENDING, type Pending, type SessionState } from './session-store.js'
import { timestamp } from './timestamp.js'

export interface FireOptions {
  readonly signal?: AbortSignal | undefined
  /** Seconds for the whole fire; hooks that it cuts short have failed. */
  readonly timeout?: number | undefined
}

/** An outcome, and which keys of the data are no longer what the host sent. */
export interface Fired {
  readonly outcome: Outcome
  readonly changed: ReadonlySet<string>
}

/** Events that can carry to the model what an async hook left. */
const CARRIERS: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'SubagentStart',
  'ModelRequest',
])

const UNCHANGED: ReadonlySet<string> = new Set()

/** Rejects only for invalid data, an aborted signal, or a closed session. */
export async function fireEvent(
  scene: Scene,
  name: string,
  data: object,
  options: FireOptions,
): Promise<Fired> {
  const { engine } = scene
  const startedAt = performance.now()
  const kind = resolveEvent(name)
  checkRequired(kind, data)
  checkFireOptions(options)
  const deadline = deadlineIn(options.timeout)
  const loaded = engine.store.load(scene.key)
  const state = isPromise(loaded) ? await loaded : loaded
  const advanced = advance(scene, kind, state)
  if (isPromise(advanced)) await advanced
  const listeners = scene.hooks().listeners(kind)
  const carries = CARRIERS.has(kind.name) && state.pending !== NOTHING_PENDING
  if (!listeners && !engine.host.audit && !carries && !options.signal?.aborted) {
    return { outcome: quietOutcome(data), changed: UNCHANGED }
  }
  const owned = {
    hook_event_name: kind.name,
    session_id: scene.info.id,
    timestamp: timestamp(engine.clock()),
  }
  const event: HookEvent = {
    name: kind.name,
    data: openPayload(kind, scene.base, data, owned),
    session: scene.info,
  }
  let settled: Settled
  try {
    settled = await decide(scene, kind, listeners, event, state, deadline, options.signal)
  } catch (error) {
    if (error instanceof HookError && error.code === 'ABORTED') {
      recordAborted(scene, event, error, performance.now() - startedAt)
    }
    throw error
  }
  const pending = carries ? await takePending(scene) : NOTHING_PENDING
  const outcome = await conclude(scene, settled, state, pending, performance.now() - startedAt)
  for (const hook of listeners?.observers ?? []) observe(scene, kind, hook, settled.judgement.event, outcome)
  return { outcome, changed: changedKeys(event.data, outcome.data) }
}

const FIRE_OPTIONS: ReadonlySet<string> = new Set(['signal', 'timeout', 'onOutcome', 'onDelta', 'assemble'])

function checkFireOptions(options: FireOptions): void {
  for (const key in options) {
    if (!FIRE_OPTIONS.has(key)) {
      throw new HookError(
        'OPTIONS_INVALID',
        `There is no option ${key}; known are ${[...FIRE_OPTIONS].join(', ')}`,
      )
    }
  }
}

function changedKeys(sent: Data, final: Data): ReadonlySet<string> {
  if (final === sent) return UNCHANGED
  return new Set(Object.keys(final).filter((key) => final[key] !== sent[key]))
}

// ---- deciding -------------------------------------------------------------------------------------------------

async function decide(
  scene: Scene,
  kind: EventKind,
  listeners: Listeners | undefined,
  event: HookEvent,
  state: SessionState,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<Settled> {
  if (!listeners) {
    if (signal?.aborted) throw new HookError('ABORTED', 'The fire was aborted', { cause: signal.reason })
    const nobody = {
      kind,
      listeners,
      event,
      modified: false,
      ran: [],
      merged: merge(kind, []),
      diagnostics: [],
    }
    return { judgement: nobody, asides: [], action: 'continue', diagnostics: [] }
  }
  const dispatchOptions = optionsFor(scene, kind, listeners, state, deadline, signal)
  const judgement = await judge(kind, listeners, event, dispatchOptions)
  await rememberOnce(scene, judgement)
  const { merged } = judgement
  if (merged.action !== 'ask_user') {
    return { judgement, asides: [], action: merged.action, reason: merged.reason, diagnostics: [] }
  }
  const askOptions: AskOptions = {
    deadline,
    signal,
    rejudge: async (before, patch) => {
      const copy = frozenCopy(patch, 'the edited call') as Data
      const edited = applyPatch(kind, before.event.data, copy, dispatchOptions, [])
      const again = await judge(kind, listeners, { ...before.event, data: edited.data }, dispatchOptions)
      return { ...again, modified: true, ran: [...before.ran, ...again.ran] }
    },
    permission: (before) => permissionRequest(scene, before, state, deadline, signal),
  }
  return settleAsk(scene, judgement, askOptions)
}

/** An aborted fire is on record too, with what had run by then. */
function recordAborted(scene: Scene, event: HookEvent, { outcome }: HookError, ms: number): void {
  const hooks = (outcome as Pick<Outcome, 'hooks'> | undefined)?.hooks ?? []
  const failed = record(scene, event, { ...quietOutcome(event.data), hooks }, 'aborted', ms)
  if (failed) scene.engine.note(failed)
}

/** Asks the PermissionRequest hooks about the call as it now is. */
async function permissionRequest(
  scene: Scene,
  { event }: Judgement,
  state: SessionState,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<Judgement | undefined> {
  const kind = resolveEvent('PermissionRequest')
  const listeners = scene.hooks().listeners(kind)
  if (!listeners) return undefined
  const { tool_use_id: _, ...call } = event.data
  const asked = openPayload(kind, {}, call, { hook_event_name: kind.name })
  const options = optionsFor(scene, kind, listeners, state, deadline, signal)
  const judgement = await judge(kind, listeners, { ...event, name: kind.name, data: asked }, options)
  await rememberOnce(scene, judgement)
  const outcome = outcomeOf(judgement, judgement.merged, diagnosticsOf(judgement))
  for (const hook of listeners.observers) observe(scene, kind, hook, judgement.event, outcome)
  return judgement
}

function optionsFor(
  scene: Scene,
  kind: EventKind,
  listeners: Listeners,
  state: SessionState,
  deadline: number,
  signal: AbortSignal | undefined,
): DispatchOptions {
  const { settings, host } = scene.engine
  const admit: Admit | undefined = listeners.anyOnce
    ? (hook) =>
        hook.once && state.onceRan.includes(hook.id)
          ? { why: 'once', detail: 'it has run in this session, and runs once' }
          : (host.admit?.(hook) ?? true)
    : host.admit
  return {
    admit,
    signal,
    deadline,
    recheck: settings.recheck,
    failClosed: settings.on_failure === 'block',
    protectSystemMessages: settings.protect_system_messages,
    detach: (hook, event) => detach(scene, kind, hook, event),
  }
}

// ---- the session's memory -------------------------------------------------------------------------------------

/** A prompt starts a turn, unless the host announced it; a tool call ends a row of refused stops. */
function advance(scene: Scene, kind: EventKind, state: SessionState): MaybePromise<void> {
  if (kind.name === 'UserPromptSubmit') {
    return scene.engine.store.update(scene.key, (now) => ({
      ...(now.announced ? now : nextTurn(now)),
      announced: false,
      stopsInRow: 0,
      stopsTotal: 0,
    }))
  }
  if (kind.name === 'PreToolUse' && state.stopsInRow > 0) {
    return scene.engine.store.update(scene.key, (now) => ({ ...now, stopsInRow: 0 }))
  }
}

export function nextTurn(state: SessionState): SessionState {
  return { ...state, turn: state.turn + 1, turnTokens: 0 }
}

async function rememberOnce(scene: Scene, { ran }: Judgement): Promise<void> {
  const ids = ran.filter((one) => one.hook.once && one.status !== 'skipped').map((one) => one.hook.id)
  if (ids.length === 0) return
  await scene.engine.store.update(scene.key, (now) => ({
    ...now,
    onceRan: [...new Set([...now.onceRan, ...ids])],
  }))
}

async function takePending(scene: Scene): Promise<Pending> {
  let taken = NOTHING_PENDING
  await scene.engine.store.update(scene.key, (now) => {
    taken = now.pending
    return { ...now, pending: NOTHING_PENDING }
  })
  return taken
}
