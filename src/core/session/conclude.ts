// The end of an event's path: the stop cap, the injection budget, the record, and telling the embedder.

import type { Diagnostic } from '../base/errors.js'
import type { MaybePromise } from '../base/promise.js'
import { redacted } from '../base/secrets.js'
import { timestamp } from '../base/time.js'
import type { Injection, Message, Outcome, Trace, WantedInjection } from '../hooks/outcome.js'
import type { Settled } from '../verdict/ask.js'
import { diagnosticsOf, type Judgement, outcomeOf } from '../verdict/judge.js'
import { keptInjections, NOTHING_SAID } from '../verdict/merge.js'
import type { ContextMessage } from './embedder.js'
import { charge } from './injection.js'
import { isRecordNeeded, record, recordNow, unrecorded } from './record.js'
import type { SessionContext } from './session-context.js'
import { NOTHING_PENDING, type Pending, type SessionState } from './session-store.js'
import { countStop } from './stop-cap.js'

export function conclude(
  session: SessionContext,
  settled: Settled,
  state: SessionState,
  pending: Pending,
  startedAt: number,
): MaybePromise<Outcome> {
  if (!isQuiet(session, settled, pending)) return concludeAloud(session, settled, state, pending, startedAt)
  return outcomeOf(settled.judgement, NOTHING_SAID, NO_DIAGNOSTICS)
}

const NO_DIAGNOSTICS: readonly Diagnostic[] = Object.freeze([])

/** Every hook continued silently and nothing is recorded, as for most events. */
function isQuiet({ engine, store }: SessionContext, settled: Settled, pending: Pending): boolean {
  const { judgement, permissions, diagnostics } = settled
  return (
    judgement.merged === NOTHING_SAID &&
    pending === NOTHING_PENDING &&
    permissions.length + diagnostics.length + judgement.diagnostics.length === 0 &&
    !engine.recordsAll &&
    store.failures === 0
  )
}

async function concludeAloud(
  session: SessionContext,
  settled: Settled,
  state: SessionState,
  pending: Pending,
  startedAt: number,
): Promise<Outcome> {
  const { judgement, permissions, before } = settled
  const told = before ? textsOf(before) : NO_TEXTS
  const said = textsOf(settled)
  const diagnostics: Diagnostic[] = [
    ...pending.diagnostics,
    ...diagnosticsOf(judgement),
    ...settled.diagnostics,
  ]
  for (const permission of permissions) diagnostics.push(...diagnosticsOf(permission))
  const messages = [
    // A hook that stops something repeats what the session was told before.
    ...pending.messages.filter(
      ({ text }) => !judgement.merged.messages.some((one) => one.text.includes(text)),
    ),
    ...unless(told.messages, said.messages),
  ]

  let { action, reason } = settled
  if (action === 'deny' && judgement.kind.deny === 'go-on') {
    const capped = await countStop(session, state, judgement, reason)
    if (capped) {
      action = 'continue'
      reason = undefined
      diagnostics.push({ code: 'stop-cap', text: capped })
      messages.push({ text: capped, level: 'warning', source: 'carabiner' })
    }
  }

  const wanted = [...pending.injections, ...unless(told.injections, said.injections)]
  const kept = keptInjections(judgement.kind, action, wanted)
  const injections =
    kept.length === 0 || (await isLeft(session, kept, diagnostics))
      ? []
      : await charge(session, kept, state.turnTokens, messages, diagnostics)
  for (const failure of session.store.takeFailures()) {
    diagnostics.push(failure)
    // A gate from a skill, or a count, may be missing.
    messages.push({
      text: `${failure.text}; the state of the session may be lost`,
      level: 'warning',
      source: 'carabiner',
    })
  }
  redactEach(diagnostics)
  redactEach(messages)
  const verdict = { action, reason, injections, messages }
  const own = outcomeOf(judgement, verdict, diagnostics, settled.approval)
  const outcome = withPermissions(own, permissions)
  const isNeeded = isRecordNeeded(session, judgement.kind, outcome)
  const { event, ran, listeners } = judgement
  const recorded = before ? sinceAsked(own, permissions, before) : outcome
  const written = { session, event, ran, listeners, outcome: recorded, action: outcome.action, startedAt }
  const failed = isNeeded ? await recordNow(written) : record(written)
  if (failed) {
    diagnostics.push(failed)
    messages.push({
      text: `${failed.text}; this event was not recorded`,
      level: 'error',
      source: 'carabiner',
    })
  }
  diagnostics.push(...tellEmbedder(session, judgement.event.name, injections, messages))
  return failed && isNeeded ? unrecorded(outcome, failed) : outcome
}

/** Whether they wait for a later event, whose turn is charged for them. */
async function isLeft(
  { later }: SessionContext,
  kept: readonly WantedInjection[],
  diagnostics: Diagnostic[],
): Promise<boolean> {
  if (!later) return false
  await later(kept)
  const sources = [...new Set(kept.map(({ source }) => source))].join(', ')
  const text = `${sources}: the agent cannot add context on this event, so the next event that can carries it`
  diagnostics.push({ code: 'context-waits', text })
  return true
}

/** These texts may quote errors of the embedder and the store. */
function redactEach<T extends Diagnostic | Message>(texts: T[]): void {
  for (const [i, one] of texts.entries()) texts[i] = redacted(one, ['text'])
}

/** Adds the PermissionRequest hooks that were asked to the trace, and their fields for the host. */
function withPermissions(outcome: Outcome, permissions: readonly Judgement[]): Outcome {
  if (permissions.length === 0) return outcome
  const host = Object.assign({}, outcome.host, ...permissions.map(({ merged }) => merged.host))
  return {
    ...outcome,
    ...(Object.keys(host).length > 0 && { host }),
    hooks: [...outcome.hooks, ...permissions.flatMap(permissionTraces)],
  }
}

function permissionTraces({ kind, ran }: Judgement): readonly Trace[] {
  return ran.map(({ trace }) => ({ ...trace, event: kind.name }))
}

function tellEmbedder(
  session: SessionContext,
  event: string,
  injections: readonly Injection[],
  messages: readonly Message[],
): Diagnostic[] {
  const { engine, background } = session
  const { display, context } = engine.embedder
  const failures: (Diagnostic | undefined)[] = []
  if (display)
    for (const message of messages) failures.push(engine.tell('display', () => display(message), background))
  for (const injection of injections) {
    if (injection.ephemeral || !context) continue
    const message = contextMessage(session, event, injection)
    failures.push(engine.tell('context', () => context(message), background))
  }
  return failures.filter((one) => one !== undefined)
}

export function contextMessage(
  { engine, info }: SessionContext,
  event: string,
  injection: Injection,
): ContextMessage {
  const { role, text, source } = injection
  const metadata = {
    source: 'hook' as const,
    hook: source,
    event,
    session: info.id,
    timestamp: timestamp(engine.now()),
  }
  return { role, content: text, metadata }
}

// ---- an answer to an ask that was open: the texts were delivered, and the hooks recorded, when it was asked

type Texts = Pick<Judgement['merged'], 'injections' | 'messages'>

const NO_TEXTS: Texts = { injections: [], messages: [] }

function textsOf({ judgement, permissions }: Settled): Texts {
  const all = [judgement, ...permissions].map(({ merged }) => merged)
  return {
    injections: all.flatMap(({ injections }) => injections),
    messages: all.flatMap(({ messages }) => messages),
  }
}

function unless<T extends Injection | Message>(told: readonly T[], said: readonly T[]): readonly T[] {
  if (told.length === 0) return said
  return said.filter(({ source, text }) => !told.some((one) => one.source === source && one.text === text))
}

function sinceAsked(own: Outcome, permissions: readonly Judgement[], before: Settled): Outcome {
  const recorded = new Set(before.judgement.ran.map(({ trace }) => trace))
  const hooks = own.hooks.filter((trace) => !recorded.has(trace))
  return withPermissions(
    { ...own, hooks },
    permissions.filter((one) => !before.permissions.includes(one)),
  )
}
