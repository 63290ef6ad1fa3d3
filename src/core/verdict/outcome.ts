// Many answers become one. The merge is pure and total: it depends on the plan's order, never on the clock.

import type { Diagnostic, DiagnosticCode } from '../base/errors.js'
import { type Data, frozenCopy, type Json } from '../base/json.js'
import { redacted, withoutSecrets } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { visible } from '../base/visible.js'
import type { EventKind } from '../events/events.js'
import { type Action, CONTINUE, type HookResult } from '../events/result.js'
import type { Hook, HookKind } from '../hooks/hook.js'
import type { Change } from '../run/changes.js'
import type { SkipReason } from '../run/plan.js'
import type { Approval, Asking } from './approval.js'

export type Verdict = Exclude<Action, 'modify' | 'inject_context'>

/** Higher wins; nothing lower hides something higher. */
const RANK: Readonly<Record<Verdict, number>> = {
  continue: 0,
  respond: 1,
  ask_user: 2,
  deny: 3,
  abort_turn: 4,
  hard_abort: 5,
}

export interface Injection {
  readonly text: string
  readonly role: 'system' | 'user' | 'assistant'
  readonly ephemeral: boolean
  /** The hook's name. */
  readonly source: string
  readonly appendToLastToolResult?: true
}

export interface Message {
  readonly text: string
  readonly level: 'info' | 'warning' | 'error'
  readonly source: string
}

/** What one candidate did. */
export interface Trace {
  readonly name: string
  readonly kind: HookKind
  readonly source: string
  /** Where it does not intercept. */
  readonly role?: Hook['role']
  readonly status: 'ran' | 'skipped' | 'failed' | 'detached'
  readonly ms: number
  /** Where it ran for another event than the one fired: PermissionRequest, on the way of an ask. */
  readonly event?: string
  /** Why it was skipped or failed. */
  readonly why?: SkipReason | DiagnosticCode
  readonly detail?: string
  /** What it answered. */
  readonly answer?: HookResult
  /** What its failure counts as. */
  readonly countsAs?: 'deny' | 'continue'
  /** Keys of the event data that it changed. */
  readonly changed?: readonly string[]
  /** What it changed there, value by value, within bounds. */
  readonly changes?: readonly Change[]
  /** What it printed, within bounds, unless its answer suppresses it. */
  readonly stdout?: string
  readonly stderr?: string
}

/** What all hooks together decided: plain JSON. */
export interface Outcome {
  readonly action: Verdict
  /** Of the winning answer, as the hook gave it: for the model. Who shows or logs it takes secrets out. */
  readonly reason?: string
  /** A hook explicitly allowed and nothing higher won: the host need not ask. */
  readonly permission?: 'allow'
  /** After every modification. */
  readonly data: Data
  readonly modified: boolean
  /** In hook order, each with its own lifetime. */
  readonly injections: readonly Injection[]
  /** For the user. */
  readonly messages: readonly Message[]
  /** For `respond`; kept under `ask_user`. */
  readonly response?: Json
  /** What only the host can act on (sessionTitle, updatedPermissions, watchPaths, …). */
  readonly host?: Data
  /** What was asked, who answered, when. */
  readonly approval?: Approval
  /** The trace: every candidate. */
  readonly hooks: readonly Trace[]
  /** What the user should know. */
  readonly diagnostics: readonly Diagnostic[]
}

/** What is said about a hook's part only where there is something to say. */
export type TraceDetails = Pick<Trace, 'why' | 'detail' | 'changed' | 'changes' | 'stdout' | 'stderr'>

/** Texts of an answer and of a trace that people read. */
const SPOKEN = ['reason', 'userMessage', 'approvalPrompt', 'contextInjection'] as const
const PRINTED = ['detail', 'stdout', 'stderr'] as const

/** Without what controls a terminal: a secret right behind it would not be known for one. */
function plain(more: TraceDetails): TraceDetails {
  const { stdout, stderr } = more
  if (stdout === undefined && stderr === undefined) return more
  return {
    ...more,
    ...(stdout !== undefined && { stdout: plainText(stdout) }),
    ...(stderr !== undefined && { stderr: plainText(stderr) }),
  }
}

/** One hook's part in an event. Its own fields are the trace; what only the engine needs stays off the record. */
export class Ran implements Trace {
  readonly name: string
  readonly kind: HookKind
  readonly source: string
  readonly status: Trace['status']
  readonly ms: number
  declare readonly role?: Hook['role']
  declare readonly answer?: HookResult
  declare readonly countsAs?: 'deny' | 'continue'
  declare readonly why?: NonNullable<Trace['why']>
  declare readonly detail?: string
  declare readonly changed?: readonly string[]
  declare readonly changes?: readonly Change[]
  declare readonly stdout?: string
  declare readonly stderr?: string
  readonly #hook: Hook
  readonly #effect: HookResult
  readonly #left: Data
  readonly #endedAt: number

  constructor(
    hook: Hook,
    status: Trace['status'],
    ms: number,
    effect: HookResult,
    left: Data,
    endedAt: number,
    more?: TraceDetails,
  ) {
    this.name = hook.name
    this.kind = hook.kind
    this.source = hook.origin.source
    if (hook.role !== 'intercept') this.role = hook.role
    this.status = status
    this.ms = ms
    if (status === 'ran') this.answer = effect === CONTINUE ? effect : redacted(effect, SPOKEN)
    else if (status === 'failed') this.countsAs = effect.action === 'deny' ? 'deny' : 'continue'
    this.#hook = hook
    this.#effect = effect
    this.#left = left
    this.#endedAt = endedAt
    if (more) Object.assign(this, redacted(plain(more), PRINTED))
  }

  get hook(): Hook {
    return this.#hook
  }

  /** What counts: the hook's answer, or what its failure policy makes of a failure. */
  get effect(): HookResult {
    return this.#effect
  }

  /** On the clock of performance.now(). */
  get endedAt(): number {
    return this.#endedAt
  }

  /** The data as this hook left it. */
  get left(): Data {
    return this.#left
  }
}

/** The merge of all answers, before budget and person. */
export interface Merged {
  readonly action: Verdict
  readonly reason: string | undefined
  readonly permission: 'allow' | undefined
  readonly response: Json | undefined
  readonly host: Data | undefined
  readonly injections: readonly Injection[]
  readonly messages: readonly Message[]
  readonly asking: readonly Asking[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The verdict that this answer of this hook has on this event; a verdict that cannot act there is `continue`. */
export function verdictOf(kind: EventKind, hook: Hook, action: Action): Verdict {
  switch (action) {
    case 'modify':
    case 'inject_context':
      return 'continue'
    case 'deny':
      return (kind.deny === 'block' || kind.deny === 'go-on') && mayDeny(kind, hook) ? 'deny' : 'continue'
    case 'ask_user':
      return kind.deny === 'block' && mayDeny(kind, hook) ? 'ask_user' : 'continue'
    case 'respond':
      return kind.respond ? 'respond' : 'continue'
    default:
      return action
  }
}

function mayDeny(kind: EventKind, hook: Hook): boolean {
  return !kind.denyOnlyClaudeFormat || (hook.kind !== 'function' && hook.kind !== 'process')
}

/** Ends a lane, and keeps later steps from starting. */
export function endsChain(verdict: Verdict): boolean {
  return RANK[verdict] >= RANK.deny
}

/** What the merge must know about how the answers came about. */
export interface MergeRules {
  /** Hooks may have run more than once, each time on another version of the call: then their last answer counts. */
  readonly rechecked: boolean
  /** Place in the list from which on an explicit allow counts: those before allowed a call that a later step changed. */
  readonly allowsFrom: number
}

export const ONE_VERSION: MergeRules = Object.freeze({ rechecked: false, allowsFrom: 0 })

const NONE: readonly never[] = Object.freeze([])

/** What comes of answers that all go on and say nothing else: most events. */
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
  const injections: Injection[] = []
  const messages: Message[] = []
  const asking: Asking[] = []
  const diagnostics: Diagnostic[] = []
  const forHost: Ran[] = []
  for (let i = 0; i < ran.length; i++) {
    const one = ran[i] as Ran
    const { hook, effect: answer } = one
    const outdated = last !== undefined && last.get(hook) !== one
    if (one.status === 'failed') {
      failed = true
      messages.push(failureMessage(one))
    } else if (one.status === 'skipped' && isUnreviewed(one)) {
      const message = unreviewedMessage(kind, one)
      // One process may be several hooks, and is told of once.
      if (messages.some(({ text }) => text === message.text)) continue
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
      if (RANK[verdict] > RANK[action]) {
        action = verdict
        winner = one
      }
      if (verdict === 'respond') responded ??= one
      if (verdict === 'ask_user') ask(asking, { hook, answer })
      if (answer.action === 'deny' && kind.deny === 'tell') {
        injections.push({ text: reasonOf(hook, answer), role: 'system', ephemeral: false, source: hook.name })
      } else if (verdict === 'continue' && !outdated && isVerdict(answer.action)) {
        diagnostics.push(ignored(kind, hook, answer.action))
      }
    }
    if (outdated) continue
    if (answer.permission === 'allow' && i >= rules.allowsFrom) allowed ??= one
    if (answer.host) forHost.push(one)
    if (answer.contextInjection) injections.push(injectionOf(hook, answer))
    if (answer.userMessage) messages.push(messageOf(hook, answer))
  }
  const permission = allowed && !failed && RANK[action] <= RANK.respond ? 'allow' : undefined
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

/** Fields for the host, in hook order: lists add up, otherwise the later wins. What came with a verdict that lost is dropped. */
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

/** What a prompt that is not sent brought along goes with it. */
export function keptInjections(
  kind: EventKind,
  action: Verdict,
  injections: readonly Injection[],
): readonly Injection[] {
  return kind.name === 'UserPromptSubmit' && endsChain(action) ? [] : injections
}

/** The reason of a verdict; a hook that gave none is named instead. For the model, so that no secret is taken out. */
export function reasonOf(hook: Hook, answer: HookResult): string {
  const given = answer.reason ?? (answer.action === 'ask_user' ? answer.approvalPrompt : undefined)
  const text = plainText(given ?? '')
  if (text !== '') return text
  return `${answer.action === 'respond' ? 'Answered' : 'Blocked'} by hook ${hook.name}`
}

/** A hook that asked twice asks once, as it did last. */
function ask(asking: Asking[], one: Asking): void {
  const at = asking.findIndex(({ hook }) => hook === one.hook)
  if (at < 0) asking.push(one)
  else asking[at] = one
}

function isVerdict(action: Action): boolean {
  return action === 'deny' || action === 'ask_user' || action === 'respond'
}

function ignored(kind: EventKind, hook: Hook, action: Action): Diagnostic {
  const text = `${hook.name} answered ${action}, which cannot act on ${kind.name}; the operation went on`
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

/** A failure is told to the user whatever came after it. */
export function failureMessages(ran: readonly Ran[]): readonly Message[] {
  return ran.filter(({ status }) => status === 'failed').map(failureMessage)
}

function failureMessage({ hook, effect: answer, detail }: Ran): Message {
  const effect = answer.action === 'deny' ? 'its gate stays closed' : 'the operation went on without it'
  const { file, line } = hook.origin
  const place = file === undefined ? '' : ` (${visible(file)}:${line ?? 1})`
  return {
    text: forPeople(`Hook ${hook.name}${place} failed; ${effect}. ${detail ?? ''}`),
    level: 'warning',
    source: hook.name,
  }
}

/** A gate that nobody reviewed does not guard, and must not look as if it did. */
function isUnreviewed({ why }: Ran): boolean {
  return why === 'untrusted' || why === 'modified'
}

function unreviewedMessage({ name, deny }: EventKind, { hook, why, detail }: Ran): Message {
  const effect = deny === 'block' ? `${name} went on without its gate` : `${name} went on without it`
  return {
    text: forPeople(`Hook ${hook.name} is ${why} and did not run; ${effect}. ${detail ?? ''}`),
    level: 'warning',
    source: hook.name,
  }
}

/** A frozen copy: what an observer does to the outcome must not reach the host. */
export function seenOutcome(outcome: Outcome): Outcome {
  return frozenCopy(outcome, 'the outcome') as unknown as Outcome
}
