// The path of an event in a session: judge it, settle an ask, conclude, then start the background work.

import { sha256 } from '../base/digest.js'
import { type Diagnostic, type DiagnosticCode, HookError, isHookError, LOSSES } from '../base/errors.js'
import { type Data, frozenCopy } from '../base/json.js'
import { type Checks, checkOptions, isFlag, isSeconds, isSignal } from '../base/options.js'
import { isPromise, type MaybePromise, unlessAborted } from '../base/promise.js'
import { plainText, visible } from '../base/text.js'
import { deadlineIn, timestamp } from '../base/time.js'
import { actionRow, endsChain } from '../events/actions.js'
import { checkRequired, type EventKind, matcherValue, openPayload, resolveEvent } from '../events/events.js'
import { applyPatch } from '../events/patch.js'
import type { Count } from '../hooks/count.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import type { Listeners } from '../hooks/hook-set.js'
import type { Message, Outcome, Question, WantedInjection } from '../hooks/outcome.js'
import { type DispatchOptions, runAlone } from '../run/dispatch.js'
import type { Admit, Skip } from '../run/plan.js'
import { type Ran, tracesOf } from '../run/trace.js'
import type { Approver } from '../verdict/approval.js'
import { type AskOptions, type Settled, settleAsk } from '../verdict/ask.js'
import { diagnosticsOf, type Judgement, judge, outcomeOf, quietOutcome } from '../verdict/judge.js'
import { failureMessages, merge, ONE_VERSION } from '../verdict/merge.js'
import { conclude } from './conclude.js'
import { counterOf } from './counter.js'
import { isApprover } from './embedder.js'
import { deliverLate, handUp, leavePending, observe, takeAll, takePending } from './off-path.js'
import { record } from './record.js'
import type { SessionContext } from './session-context.js'
import { hasPending, NOTHING_PENDING, type Pending, type SessionState } from './session-store.js'
import { changeSkills, isSkillEvent } from './skills.js'
import { isStopGoingOn } from './stop-cap.js'
import { missedOver } from './unguarded.js'

export interface FireOptions<Own extends boolean = boolean> {
  readonly signal?: AbortSignal | undefined
  /** Seconds for the whole fire. Hooks that it cuts short count as failed, and gates that could not judge in time block. */
  readonly timeout?: number | undefined
  /** Asked instead of the approver of createHooks(). */
  readonly approver?: Approver | 'deny' | undefined
  /** The event is your own, even if its name resembles a known one. */
  readonly custom?: Own | undefined
  /** You cannot add context on this event. What hooks inject waits for the next event of the session that can carry it. */
  readonly contextLater?: boolean | undefined
}

/** An outcome, and the keys of the data that changed. */
export interface FireResult {
  readonly outcome: Outcome
  readonly changed: ReadonlySet<string>
  /** Set if the action is `ask_user`. */
  readonly open?: OpenQuestion
}

/** A question that nobody has answered. A reply goes on where the fire stopped: no hook runs twice. */
export interface OpenQuestion {
  readonly question: Question
  readonly answer: (reply: unknown) => Promise<FireResult>
}

const UNCHANGED: ReadonlySet<string> = new Set()

/** Rejects only for invalid data or options, an aborted signal, or a closed session. */
export async function fireEvent(
  untimed: SessionContext,
  kind: EventKind,
  data: object,
  options: FireOptions,
): Promise<FireResult> {
  const { engine } = untimed
  const startedAt = performance.now()
  checkRequired(kind, data)
  checkOptions('fire', options, OPTIONS)
  const { session, deadline } = timed(untimed, options)
  const isOfSkill = isSkillEvent(kind.name)
  if (isOfSkill) await changeSkills(session, kind.name, data)
  const loaded = loadState(session, options)
  const state = isPromise(loaded) ? await loaded : loaded
  const looked = engine.lookAgain(() => hooksOf(session, kind, data))
  if (isPromise(looked)) await looked
  const skills = session.useSkills(state)
  if (isPromise(skills)) await skills
  const listeners = session.hooks().listeners(kind)
  if (kind.custom && !isOfSkill && !options.custom && !listeners?.anyNamed) engine.noteUnknown(kind.name)
  const turn = begins(kind, state, data) ? state.turn + 1 : state.turn
  session.turns.goTo(turn, kind.callsModel === true)
  const missed = missedOver(kind, listeners, data, engine.embedder.admit)
  const isTold = missed !== undefined && !isFirst(session, matcherValue(kind, data as Data))
  const found = untold(session, session.takeNews())
  const news = missed ? [...found, missed] : found
  const told = isTold ? missed : undefined
  const sending = { session, untimed, kind, listeners, state, data, options, deadline, startedAt, news, told }
  if (isHeard(sending)) return fireHeard(sending)
  const advanced = advance(session, kind, state, data)
  if (isPromise(advanced)) await advanced
  if (kind.ends === 'subagent') await handUp(session)
  for (const failure of session.store.takeFailures()) engine.note(failure)
  return { outcome: quietOutcome(data), changed: UNCHANGED }
}

/** The hooks that match the event. */
function hooksOf(session: SessionContext, kind: EventKind, data: object): readonly Hook[] {
  const listeners = session.hooks().listeners(kind)
  if (!listeners) return []
  const { hooks } = listeners.select(matcherValue(kind, data as Data))
  return [...hooks, ...listeners.approvers, ...listeners.observers]
}

function timed(untimed: SessionContext, { timeout }: FireOptions): Pick<Sending, 'session' | 'deadline'> {
  const deadline = deadlineIn(timeout)
  const session = deadline === Infinity ? untimed : { ...untimed, store: untimed.store.until(deadline) }
  return { session, deadline }
}

function loadState({ store, key }: SessionContext, { signal }: FireOptions): MaybePromise<SessionState> {
  const loaded = store.load(key)
  return isPromise(loaded) ? unlessAborted(loaded, signal) : loaded
}

/** An event that is about to be fired. */
interface Sending {
  readonly session: SessionContext
  /** The same session without the deadline of this fire, for work that outlasts it. */
  readonly untimed: SessionContext
  readonly kind: EventKind
  readonly listeners: Listeners | undefined
  readonly state: SessionState
  readonly data: object
  readonly options: FireOptions
  readonly deadline: number
  readonly startedAt: number
  readonly news: readonly Diagnostic[]
  /** One of them that the session was warned of before. */
  readonly told: Diagnostic | undefined
}

/** Whether any hook listens, or the event has effects to deliver. Most events end here. */
function isHeard(sending: Sending): boolean {
  const { session, listeners, options, news } = sending
  if (listeners || session.engine.recordsAll || news.length > 0 || options.signal?.aborted) return true
  return endsSession(sending) || carriesLate(sending)
}

/** Async hooks of the session or its subagents may have left effects that no event has delivered. */
function endsSession({ kind, session: { key, info }, state }: Sending): boolean {
  if (kind.ends !== 'session') return false
  return key !== info.id || state.agents.length > 0 || hasPending(state)
}

function carriesLate({ kind, state }: Sending): boolean {
  return kind.carriesLate === true && hasPending(state)
}

async function fireHeard(sending: Sending): Promise<FireResult> {
  const { session, kind, listeners, state, data } = sending
  const time = timestamp(session.engine.now())
  const payload = openPayload(kind, session.base, data, { timestamp: time, session_id: session.info.id })
  const event: HookEvent = { name: kind.name, data: payload, session: session.turns.info }
  const advanced = advance(session, kind, state, data)
  if (isPromise(advanced)) await advanced
  const firing = new Firing(sending)
  return settle(firing, event, () => firing.decide(kind, listeners, event))
}

/** From the decision to the outcome. An open ask comes here again when it is answered. */
async function settle(firing: Firing, event: HookEvent, decide: () => Promise<Settled>): Promise<FireResult> {
  const { sending } = firing
  const { session, kind, listeners, state, startedAt } = sending
  try {
    const settled = await decide()
    const late = takeLate(sending, settled)
    const pending = isPromise(late) ? await late : late
    const concluded = conclude(leaving(sending), settled, state, pending, startedAt)
    const outcome = isPromise(concluded) ? await concluded : concluded
    if (actionRow(outcome.action).aborts) session.turns.fail('aborted')
    if (kind.ends === 'subagent' && outcome.action === 'continue') await handUp(session)
    if (listeners) firing.show(kind, listeners, settled.judgement.event, outcome)
    const changed = changedKeys(event.data, outcome.data)
    const { resume, approval } = settled
    // An ask that could not be recorded was denied.
    if (!listeners || !resume || !approval || outcome.action !== 'ask_user') return { outcome, changed }
    const answer = (reply: unknown) => goOn(firing, event, () => resume(reply, firing.asking(listeners)))
    return { outcome, changed, open: { question: approval.question, answer } }
  } catch (error) {
    if (isHookError(error, 'ABORTED')) {
      recordAborted(session, event, firing.ranBeforeAbort, startedAt)
    }
    throw error
  } finally {
    const finished = firing.finish()
    if (finished !== undefined) await finished
  }
}

/** Time has passed since the question was asked, so the rest of the fire has its own deadline and reads the state again. */
async function goOn(firing: Firing, event: HookEvent, decide: () => Promise<Settled>): Promise<FireResult> {
  const { untimed, options } = firing.sending
  const { session, deadline } = timed(untimed, options)
  const state = await loadState(session, options)
  const startedAt = performance.now()
  firing.sending = { ...firing.sending, session, deadline, state, startedAt, news: [], told: undefined }
  return settle(firing, event, async () => {
    refuseAborted(options.signal)
    return decide()
  })
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new HookError('ABORTED', 'The fire was aborted', { cause: signal.reason })
}

/** The pending effects that the event delivers. A prompt that is not sent delivers none. */
function takeLate(sending: Sending, { action }: Settled): MaybePromise<Pending> {
  const { session, kind, news, told } = sending
  const isDropped = kind.startsTurn && endsChain(action)
  const taken = endsSession(sending)
    ? takeAll(session)
    : carriesLate(sending) && !isDropped && !sending.options.contextLater
      ? takePending(session)
      : NOTHING_PENDING
  if (news.length === 0) return taken
  return isPromise(taken) ? taken.then((late) => withNews(news, late, told)) : withNews(news, taken, told)
}

/** The session as an event sees it whose injections have to wait. */
function leaving({ session, options }: Sending): SessionContext {
  if (!options.contextLater) return session
  const later = (injections: readonly WantedInjection[]) =>
    leavePending(session, session.key, { ...NOTHING_PENDING, injections })
  return { ...session, later }
}

/** One event on its path through a session. */
class Firing {
  /** Replaced when an open question is answered. */
  sending: Sending
  /** Hooks that had run when the signal was aborted. */
  ranBeforeAbort: readonly Ran[] = []
  /** Hooks with `once` that run in this fire. They may judge an edited call again. */
  readonly #claims = new Set<string>()
  /** Hooks with `once` that failed. They have not done their work, so they may run again. */
  readonly #failed = new Set<string>()
  #count: Count | undefined
  /** Work that begins after the fire is recorded, so that late effects and observers come after it in the record. */
  readonly #afterwards: (() => void)[] = []

  constructor(sending: Sending) {
    this.sending = sending
  }

  /** Runs the hooks and settles an ask; the result is a verdict or an open question. */
  async decide(kind: EventKind, listeners: Listeners | undefined, event: HookEvent): Promise<Settled> {
    if (!listeners) return this.#unheard(kind, event)
    const judgement = await judge(kind, listeners, event, this.#options(kind, listeners), itself)
    for (const { hook, trace } of judgement.ran) {
      if (hook.once && trace.status === 'failed') this.#failed.add(hook.id)
    }
    const { action, reason } = judgement.merged
    if (action !== 'ask_user') return { judgement, permissions: [], action, reason, diagnostics: [] }
    return settleAsk(judgement, this.asking(listeners))
  }

  asking(listeners: Listeners): AskOptions {
    const { session, kind, deadline, options: given } = this.sending
    const { info, engine, store } = session
    return {
      session: info,
      now: () => engine.now(),
      approver: given.approver ?? engine.embedder.approver,
      grants: store,
      deadline,
      signal: given.signal,
      permission: (asked) => this.#permissionRequest(asked),
      rejudge: async (before, patch) => {
        const options = this.#options(kind, listeners)
        const copy = frozenCopy(patch, 'the edited call') as Data
        const noted: Diagnostic[] = []
        const { data } = applyPatch(kind, before.event.data, copy, options, noted)
        const admit = unlessObserved(before.ran, options.admit)
        const edited = { ...before.event, data }
        const again = await judge(kind, listeners, edited, { ...options, admit }, itself)
        return afterEdit(before, again, noted)
      },
    }
  }

  /** Shows the outcome to the observers that want the event. */
  show(kind: EventKind, { observers }: Listeners, event: HookEvent, outcome: Outcome): void {
    for (const hook of observers) {
      this.#afterwards.push(() =>
        observe(this.sending.untimed, kind, hook, event, outcome, this.#admit(hook.once)),
      )
    }
  }

  /** Starts the deferred work, and lets hooks with `once` that failed run again. */
  finish(): Promise<void> | undefined {
    const { session } = this.sending
    for (const id of this.#failed) session.claimed.delete(id)
    for (const begin of this.#afterwards.splice(0)) begin()
    if (this.#failed.size === 0) return undefined
    const failed = new Set(this.#failed)
    this.#failed.clear()
    return releaseOnce(session, failed)
  }

  /** For an event without listeners that is recorded, or that delivers the effects of an async hook. */
  #unheard(kind: EventKind, event: HookEvent): Settled {
    refuseAborted(this.sending.options.signal)
    const merged = merge(kind, [])
    const judgement: Judgement = {
      kind,
      listeners: undefined,
      sent: event,
      event,
      modified: false,
      ran: [],
      rules: ONE_VERSION,
      merged,
      diagnostics: [],
    }
    return { judgement, permissions: [], action: 'continue', diagnostics: [] }
  }

  /** Asks the PermissionRequest hooks about the current call. */
  async #permissionRequest({ event, kind: asked }: Judgement): Promise<Judgement | undefined> {
    if (asked.asksFirst === undefined) return undefined
    const { session } = this.sending
    const kind = resolveEvent(asked.asksFirst)
    const listeners = session.hooks().listeners(kind)
    if (!listeners) return undefined
    const { tool_use_id: _, ...call } = event.data
    const payload = openPayload(kind, {}, call, { timestamp: timestamp(session.engine.now()) })
    const request = { ...event, name: kind.name, data: payload }
    const judged = await judge(kind, listeners, request, this.#options(kind, listeners), itself)
    const missed = missedOver(kind, listeners, payload, session.engine.embedder.admit)
    const judgement = missed ? withMissed(session, judged, missed) : judged
    const outcome = outcomeOf(judgement, judgement.merged, diagnosticsOf(judgement))
    this.show(kind, listeners, judgement.event, outcome)
    return judgement
  }

  /** One for the whole fire. */
  #counter(): Count {
    this.#count ??= counterOf(this.sending.untimed)
    return this.#count
  }

  #options(kind: EventKind, listeners: Listeners): DispatchOptions {
    const { session, deadline, options: given } = this.sending
    const { settings, ending } = session.engine
    const options: DispatchOptions = {
      admit: this.#admit(listeners.anyOnce),
      count: this.#counter(),
      signal: given.signal,
      deadline,
      recheck: settings.recheck,
      failClosed: settings.on_failure === 'block',
      countsStops: true,
      protectSystemMessages: settings.protect_system_messages,
      aborted: (ran) => {
        this.ranBeforeAbort = ran
      },
      detach: (hook, event) => {
        const startedAt = performance.now()
        const running = runAlone(kind, hook, event, {
          ...options,
          aborted: undefined,
          signal: ending,
          deadline: Infinity,
        })
        this.#afterwards.push(() => deliverLate(this.sending.untimed, kind, event, running, startedAt))
      },
    }
    return options
  }

  /** Applies the embedder's `admit` and `once`: the first fire that admits the hook claims it. */
  #admit(anyOnce: boolean): Admit | undefined {
    const { session, state } = this.sending
    const { claimed, engine } = session
    const { admit } = engine.embedder
    if (!anyOnce) return admit
    return (hook) => {
      const { id, once } = hook
      if (!once || this.#claims.has(id)) return admit ? admit(hook) : true
      if (claimed.has(id) || state.onceRan.includes(id)) return SPENT
      const admitted = admit ? admit(hook) : true
      if (admitted !== true) return admitted
      claimed.add(id)
      if (!claimOnce(session, id)) return SPENT
      this.#claims.add(id)
      return true
    }
  }
}

const SPENT: Skip = { why: 'once', detail: 'it runs once per session, and has already run' }

const OBSERVED: Skip = {
  why: 'observe',
  detail: 'it only observes, and saw the call before it was edited',
}

/** An edited call is not shown again to hooks that only observe. */
function unlessObserved(ran: readonly Ran[], admit: Admit | undefined): Admit | undefined {
  const shown = new Set(ran.filter(({ hook }) => hook.observe).map(({ hook }) => hook))
  if (shown.size === 0) return admit
  return (hook) => (shown.has(hook) ? OBSERVED : (admit?.(hook) ?? true))
}

/** The second judgement, plus the answers of hooks that only ran in the first one: an edit must not swallow them. */
function afterEdit(before: Judgement, again: Judgement, noted: readonly Diagnostic[]): Judgement {
  const rerun = new Set(again.ran.filter(({ trace }) => trace.status !== 'skipped').map((one) => one.hook))
  const once = merge(
    before.kind,
    before.ran.filter((one) => !rerun.has(one.hook)),
  )
  const failures = failureMessages(
    before.kind,
    before.ran.filter((one) => rerun.has(one.hook)),
  )
  return {
    ...again,
    modified: true,
    ran: [...before.ran, ...again.ran],
    diagnostics: [...before.diagnostics, ...noted, ...again.diagnostics],
    merged: {
      ...again.merged,
      injections: [...once.injections, ...again.merged.injections],
      messages: [...failures, ...once.messages, ...again.merged.messages],
    },
  }
}

const itself = (judgement: Judgement): Judgement => judgement

const OPTIONS: Checks<FireOptions> = {
  signal: isSignal,
  timeout: isSeconds,
  approver: isApprover,
  custom: isFlag,
  contextLater: isFlag,
}

function changedKeys(sent: Data, final: Data): ReadonlySet<string> {
  if (final === sent) return UNCHANGED
  return new Set(Object.keys({ ...sent, ...final }).filter((key) => final[key] !== sent[key]))
}

/** An aborted fire is recorded too, with the hooks that had run by then. */
function recordAborted(
  session: SessionContext,
  event: HookEvent,
  ran: readonly Ran[],
  startedAt: number,
): void {
  const outcome = { ...quietOutcome(event.data), hooks: tracesOf(ran) }
  const failed = record({ session, event, outcome, ran, action: 'aborted', startedAt })
  if (failed) session.engine.note(failed)
}

// ---- the session's memory -------------------------------------------------------------------------------------

function begins(kind: EventKind, state: SessionState, data: object): boolean {
  return kind.startsTurn === true && !state.announced && !isStopGoingOn(state, data)
}

/** A prompt starts a turn, unless the embedder announced it. A tool call resets the count of stops refused in a row. */
function advance(
  session: SessionContext,
  kind: EventKind,
  state: SessionState,
  data: object,
): MaybePromise<void> {
  if (kind.startsTurn && !state.announced && isStopGoingOn(state, data)) return undefined
  if (kind.startsTurn) {
    return session.store.update(session.key, (now) => ({
      ...(now.announced ? now : nextTurn(now)),
      announced: false,
      stopsInRow: 0,
      stopsTotal: 0,
      stopReason: '',
      stopsCut: [],
    }))
  }
  if (kind.callsTool && state.stopsInRow > 0) {
    return session.store.update(session.key, (now) => ({ ...now, stopsInRow: 0 }))
  }
}

export function nextTurn(state: SessionState): SessionState {
  return { ...state, turn: state.turn + 1, turnTokens: 0 }
}

/**
 * False if the hook runs, or has run, in another process. A store that answers synchronously decides at once. With a slower
 * store two fires may both run the hook, but neither has to wait.
 */
function claimOnce({ store, key, engine, background }: SessionContext, id: string): boolean {
  let taken = false
  const done = store.update(key, (now) => {
    taken = now.onceRan.includes(id)
    return taken ? now : { ...now, onceRan: [...now.onceRan, id] }
  })
  if (isPromise(done)) engine.inBackground(`remembering that ${id} has run`, done, background)
  return isPromise(done) || !taken
}

/** A hook with `once` that failed has not done its work, so it may run again. */
async function releaseOnce({ store, key }: SessionContext, ids: ReadonlySet<string>): Promise<void> {
  await store.update(key, (now) => ({ ...now, onceRan: now.onceRan.filter((id) => !ids.has(id)) }))
}

const ABOUT_TRUST: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  'trust-kept',
  'trust-unguarded',
  'trust-unreadable',
])

/** A gate that changed since it was trusted is reported once per session, whichever process an event comes from. */
function untold(session: SessionContext, news: readonly Diagnostic[]): readonly Diagnostic[] {
  return news.filter(
    ({ code, text }) => !ABOUT_TRUST.has(code) || claimOnce(session, `told ${sha256(text).slice(0, 16)}`),
  )
}

/** Whether the session was not yet warned that gates miss this tool. */
function isFirst(session: SessionContext, tool: string): boolean {
  const id = `missed ${sha256(tool).slice(0, 16)}`
  if (session.claimed.has(id)) return false
  session.claimed.add(id)
  return claimOnce(session, id)
}

/** The question to a person goes on, and says which gates did not see the call. */
function withMissed(session: SessionContext, judgement: Judgement, missed: Diagnostic): Judgement {
  const { kind, event, merged, diagnostics } = judgement
  const warnings = isFirst(session, matcherValue(kind, event.data)) ? [warningOf(missed)] : []
  return {
    ...judgement,
    merged: { ...merged, messages: [...warnings, ...merged.messages] },
    diagnostics: [missed, ...diagnostics],
  }
}

/** Problems that leave out a hook. All others are only in the diagnostics. */
const WARNED: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  ...LOSSES,
  'config-kept',
  'unknown-event',
  'matcher-invalid',
  'matcher-missed',
  'setting-invalid',
  ...ABOUT_TRUST,
])

/** A gate that is missing because of a mistake in a file must not look like one that approved. */
function withNews(
  news: readonly Diagnostic[],
  { injections, messages, diagnostics }: Pending,
  told: Diagnostic | undefined,
): Pending {
  const losses = news.filter((one) => WARNED.has(one.code) && one !== told)
  return {
    injections,
    messages: [...losses.map(warningOf), ...messages],
    diagnostics: [...news, ...diagnostics],
  }
}

function warningOf({ text, file, line }: Diagnostic): Message {
  const place = file === undefined ? '' : ` (${visible(file)}${line === undefined ? '' : `:${line}`})`
  return { text: plainText(`${text}${place}`), level: 'warning', source: 'carabiner' }
}
