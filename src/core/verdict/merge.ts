// Merges many answers into one. The merge is pure and total: it depends on the plan's order, never on the clock.

import type { Diagnostic } from '../base/errors.js'
import { type Data, frozenCopy, type Json } from '../base/json.js'
import { withoutSecrets } from '../base/secrets.js'
import { plainText, visible } from '../base/text.js'
import { type Action, actionRow, endsChain, rankOf, type Verdict } from '../events/actions.js'
import type { EventKind } from '../events/events.js'
import type { HookResult } from '../events/result.js'
import { isGate } from '../hooks/gate.js'
import { type Hook, needsTrust } from '../hooks/hook.js'
import type { Injection, Message, Outcome, WantedInjection } from '../hooks/outcome.js'
import { hasGoneOn, type Ran, verdictOf } from '../run/trace.js'
import type { Asking } from './approval.js'

/** The merge of all answers, before the budget and the person. */
export interface Merged {
  readonly action: Verdict
  readonly reason: string | undefined
  readonly permission: 'allow' | undefined
  readonly response: Json | undefined
  readonly host: Data | undefined
  readonly injections: readonly WantedInjection[]
  readonly messages: readonly Message[]
  readonly asking: readonly Asking[]
  readonly diagnostics: readonly Diagnostic[]
}

/** How the answers came about. */
export interface MergeRules {
  /** Hooks may have run more than once, on different versions of the call. Their last answer counts. */
  readonly rechecked: boolean
  /** Whether an explicit allow of this hook counts. It may have been given for another version of the call. */
  readonly allows: (one: Ran) => boolean
}

export const ONE_VERSION: MergeRules = Object.freeze({ rechecked: false, allows: () => true })

const NONE: readonly never[] = Object.freeze([])

/** The merge of bare `continue` answers, which most events get. */
export const NOTHING_SAID: Merged = Object.freeze({
  action: 'continue',
  reason: undefined,
  permission: undefined,
  response: undefined,
  host: undefined,
  injections: NONE,
  messages: NONE,
  asking: NONE,
  diagnostics: NONE,
})

/** Merges in the order given. Among equal verdicts the first gives the reason. */
export function merge(kind: EventKind, ran: readonly Ran[], rules: MergeRules = ONE_VERSION): Merged {
  const last = rules.rechecked ? new Map(ran.map((one) => [one.hook, one])) : undefined
  let action: Verdict = 'continue'
  let winner: Ran | undefined
  let allowed: Ran | undefined
  let responded: Ran | undefined
  let failed = false
  const injections: WantedInjection[] = []
  const messages: Message[] = []
  const asking: Asking[] = []
  const diagnostics: Diagnostic[] = []
  const forHost: Ran[] = []
  let refused: boolean | undefined
  const unreviewed = new Set<string>()
  const isUnasked = ran.some((one) => isUnreviewed(one) && isGate(kind, one.hook))
  const mayAllow = (one: Ran) => rules.allows(one) && !(isUnasked && isOfProject(one))
  for (const one of ran) {
    const { hook, effect: answer } = one
    const outdated = last !== undefined && last.get(hook) !== one
    if (one.trace.status === 'failed' || hasGoneOn(one.trace)) {
      if (one.trace.mode !== 'shadow') failed = true
      addMessage(messages, failureMessage(kind, one))
    } else if (isUnreviewed(one)) {
      refused ??= isRefused(kind, ran)
      const message = unreviewedMessage(kind, one, refused)
      // One process may serve several hooks, but is reported once.
      if (unreviewed.has(message.text)) continue
      unreviewed.add(message.text)
      const { file, line } = hook.origin
      messages.push(message)
      diagnostics.push({
        code: 'untrusted',
        text: message.text,
        ...(file !== undefined && { file }),
        ...(line !== undefined && { line }),
      })
    }
    if (answer.action !== 'continue') {
      const verdict =
        outdated && answer.action === 'respond' ? 'continue' : verdictOf(kind, hook, answer.action)
      if (rankOf(verdict) > rankOf(action)) {
        action = verdict
        winner = one
      }
      if (verdict === 'respond') responded ??= one
      if (verdict === 'ask_user') ask(asking, { hook, answer })
      if (answer.action === 'deny' && kind.deny === 'tell') {
        injections.push(toldReason(hook, answer))
      } else if (verdict === 'continue' && !outdated && mayBeIgnored(answer.action)) {
        diagnostics.push(ignored(kind, hook, answer.action))
      }
    }
    if (outdated) continue
    if (answer.permission === 'allow' && !allowed && mayAllow(one)) allowed = one
    if (answer.host) forHost.push(one)
    if (answer.contextInjection) injections.push(injectionOf(hook, answer))
    if (answer.userMessage) messages.push(messageOf(hook, answer))
  }
  const permission = allowed && !failed && rankOf(action) <= rankOf('respond') ? 'allow' : undefined
  return {
    action,
    reason: winner ? reasonOf(winner.hook, winner.effect) : permission && allowed?.effect.reason,
    permission,
    response: responded?.effect.response,
    host: hostFields(kind, forHost, action, permission),
    injections: keptInjections(kind, action, injections),
    messages,
    asking,
    diagnostics,
  }
}

/** Fields for the host, in hook order. Lists are concatenated; otherwise the later value wins. Fields of a losing verdict are dropped. */
function hostFields(
  kind: EventKind,
  ran: readonly Ran[],
  action: Verdict,
  permission: 'allow' | undefined,
): Data | undefined {
  let fields: Data | undefined
  for (const { hook, effect: answer } of ran) {
    const lost = endsChain(action)
      ? !endsChain(verdictOf(kind, hook, answer.action))
      : answer.permission === 'allow' && permission === undefined
    if (lost || !answer.host) continue
    const added = Object.entries(answer.host).map(([key, value]) => [key, joined(fields?.[key], value)])
    fields = { ...fields, ...Object.fromEntries(added) }
  }
  return fields
}

function joined(before: Json | undefined, value: Json): Json {
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}

/** If a prompt is not sent, its injections are dropped too. */
export function keptInjections(
  kind: EventKind,
  action: Verdict,
  injections: readonly WantedInjection[],
): readonly WantedInjection[] {
  return kind.startsTurn && endsChain(action) ? [] : injections
}

/** The reason of a verdict, or the hook's name if it gave none. Secrets stay in, because the model reads it. */
export function reasonOf(hook: Hook, answer: HookResult): string {
  const given = answer.reason ?? (answer.action === 'ask_user' ? answer.approvalPrompt : undefined)
  const text = plainText(given ?? '')
  if (text !== '') return text
  return `${answer.action === 'respond' ? 'Answered' : 'Blocked'} by hook ${hook.name}`
}

/** A refusal that comes too late to stop anything. The model is told. */
function toldReason(hook: Hook, answer: HookResult): WantedInjection {
  const text = reasonOf(hook, answer)
  return { text, role: 'system', ephemeral: false, source: hook.name, isRefusal: true }
}

/** If a hook asked twice, only its last question counts. */
function ask(asking: Asking[], one: Asking): void {
  const at = asking.findIndex(({ hook }) => hook === one.hook)
  if (at < 0) asking.push(one)
  else asking[at] = one
}

/** A verdict that some events do not take. */
function mayBeIgnored(action: Action): boolean {
  const { actsWhereDeny, actsWhereRespond } = actionRow(action)
  return actsWhereDeny !== undefined || actsWhereRespond === true
}

function ignored(kind: EventKind, hook: Hook, action: Action): Diagnostic {
  const text = `${hook.name} answered ${action}, which has no effect on ${kind.name}; the operation went on`
  return { code: 'verdict-ignored', text }
}

function injectionOf(hook: Hook, answer: HookResult): Injection {
  return {
    text: answer.contextInjection ?? '',
    role: answer.contextInjectionRole ?? 'system',
    ephemeral: answer.ephemeral ?? false,
    source: hook.name,
    ...(answer.appendToLastToolResult && { appendToLastToolResult: true }),
  }
}

function messageOf(hook: Hook, answer: HookResult): Message {
  return {
    text: forPeople(answer.userMessage ?? ''),
    level: answer.userMessageLevel ?? 'info',
    source: answer.userMessageSource ?? hook.name,
  }
}

function forPeople(text: string): string {
  return withoutSecrets(plainText(text))
}

/** A hook that failed twice the same way is reported once. */
function addMessage(messages: Message[], message: Message): void {
  if (!messages.some(({ text }) => text === message.text)) messages.push(message)
}

/** The user is told of a failure, whatever came after it. */
export function failureMessages(kind: EventKind, ran: readonly Ran[]): readonly Message[] {
  return ran.filter(({ trace }) => trace.status === 'failed').map((one) => failureMessage(kind, one))
}

function failureMessage(kind: EventKind, { hook, effect: answer, trace: { status, detail } }: Ran): Message {
  const isClosed = answer.action === 'deny'
  const effect = isClosed ? 'its gate stays closed' : 'the operation went on without it'
  const { file, line, writtenFor } = hook.origin
  // The key is ours: another agent's file has its own, or none.
  const todo =
    isClosed || file === undefined || writtenFor || !isGate(kind, hook)
      ? ''
      : ' To close its gate when it fails, add "onFailure": "block" to the hook.'
  const place = file === undefined ? '' : ` (${visible(file)}:${line ?? 1})`
  return {
    text: forPeople(
      `Hook ${hook.name}${place} ${status === 'failed' ? status : 'did not judge'}; ${effect}. ${detail ?? ''}${todo}`,
    ),
    level: 'warning',
    source: hook.name,
  }
}

/** An unreviewed gate does not guard, and must not look as if it did. For a modified one, the trusted version runs. */
function isUnreviewed({ trace: { status, why } }: Ran): boolean {
  return status === 'skipped' && (why === 'untrusted' || why === 'modified')
}

/** A gate of the project that was not asked might have refused what another of its hooks allows. */
function isOfProject({ hook: { origin } }: Ran): boolean {
  return needsTrust(origin.scope)
}

function isRefused(kind: EventKind, ran: readonly Ran[]): boolean {
  return ran.some(({ hook, effect }) => endsChain(verdictOf(kind, hook, effect.action)))
}

function unreviewedMessage(
  { name, deny }: EventKind,
  { hook, trace: { why, detail } }: Ran,
  refused: boolean,
): Message {
  const [is, it, gate] = hook.standsForMany ? ['are', 'they', 'their gates'] : ['is', 'it', 'its gate']
  const them = hook.standsForMany ? 'them' : 'it'
  const ungated = `${name} went on without ${deny === 'block' ? gate : them}`
  const without = refused ? `${it} did not judge this` : ungated
  const effect = why === 'modified' ? 'the version that you trusted counts instead' : without
  return {
    text: forPeople(`Hook ${hook.name} ${is} ${why} and did not run; ${effect}. ${detail ?? ''}`),
    level: 'warning',
    source: hook.name,
  }
}

/** A frozen copy, so that an observer cannot change the embedder's outcome. */
export function seenOutcome(outcome: Outcome): Outcome {
  return frozenCopy(outcome, 'the outcome') as unknown as Outcome
}
