// Settles an ask: grants first, then PermissionRequest hooks, then the person. It never ends in an allow that was not given.

import { callDigest, callOf } from '../base/digest.js'
import { type Diagnostic, HookError, isHookError, textOf } from '../base/errors.js'
import { type MaybePromise, onAbort } from '../base/promise.js'
import { withoutSecrets } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { LONGEST_TIMER_MS, timestamp } from '../base/time.js'
import { endsChain, type Verdict } from '../events/actions.js'
import type { Hook, HookEvent, SessionInfo } from '../hooks/hook.js'
import type { Approval, ApprovalAnswer, Question } from '../hooks/outcome.js'
import {
  ALLOWS_ALWAYS,
  type Approver,
  type AskedCall,
  type Asking,
  type Grant,
  grantFor,
  grantOf,
  isEnough,
  isUnanswered,
  offersAlways,
  peopleFor,
  questionFor,
  readReply,
  refusalReason,
} from './approval.js'
import type { Judgement } from './judge.js'
import { reasonOf } from './merge.js'

/** The result of an ask: the verdict, and who gave it. */
export interface Settled {
  readonly judgement: Judgement
  /** The PermissionRequest hooks that were asked. */
  readonly permissions: readonly Judgement[]
  readonly action: Verdict
  readonly reason?: string | undefined
  readonly approval?: Approval
  readonly diagnostics: readonly Diagnostic[]
  /** Set if the ask is open: settles it with a reply that came later. The hooks do not run again, unless the reply edits the call. */
  readonly resume?: (reply: unknown, options: AskOptions) => Promise<Settled>
  /** The open ask that this one resumed. Its texts were delivered before. */
  readonly before?: Settled
}

/** The parts of the session that a question needs. */
export interface AskOptions {
  readonly session: SessionInfo
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Absent: the outcome stays `ask_user`. `'deny'`: the ask is refused. */
  readonly approver: Approver | 'deny' | undefined
  readonly grants: GrantStore
  /** A time on the clock of performance.now(). */
  readonly deadline: number
  readonly signal?: AbortSignal | undefined
  /** Judges the event again with this patch over its data. */
  readonly rejudge: (judgement: Judgement, patch: object) => Promise<Judgement>
  /** Asks the PermissionRequest hooks about this call; undefined if there are none. */
  readonly permission: (judgement: Judgement) => Promise<Judgement | undefined>
}

/** Earlier grants, and where new ones go. */
interface GrantStore {
  grants(): MaybePromise<readonly Grant[]>
  addGrant(grant: Grant, proof?: string): MaybePromise<void>
}

/** Nobody has answered; `open` says how to. */
interface Open {
  readonly open: string | undefined
}

/** An answer and its details. */
interface Answered {
  readonly answer: ApprovalAnswer
  /** For the model, if the answer is no. */
  readonly reason?: string | undefined
  /** The call was edited. */
  readonly patch?: object | undefined
  readonly proof?: string | undefined
  /** A PermissionRequest hook ended the turn or the agent. */
  readonly aborts?: Verdict
}

const MAX_ROUNDS = 3
const LONGEST_QUOTED = 200

const CUT_SHORT = 'the event timed out before the question did'

const ALLOWED_IN_VAIN: Diagnostic = {
  code: 'verdict-ignored',
  text: 'a PermissionRequest hook allowed a call that several people must allow; its allow is ignored',
}

const CHANGED_IN_VAIN: Diagnostic = {
  code: 'verdict-ignored',
  text: 'a PermissionRequest hook changed the call without allowing it; the change is ignored',
}

function allowedInVain({ name }: Hook): Diagnostic {
  const text = `${name} allowed what the company’s policy asks a person about; its allow is ignored`
  return { code: 'verdict-ignored', text }
}

/** If an answer edits the call, the edited call is judged again. */
export function settleAsk(judgement: Judgement, options: AskOptions): Promise<Settled> {
  return new Inquiry(judgement, options).settle()
}

class Inquiry {
  #options: AskOptions
  readonly #permissions: Judgement[] = []
  readonly #diagnostics: Diagnostic[] = []
  #judgement: Judgement
  #round = 0
  /** The grants that answered hooks of the current call. */
  #granted: readonly Grant[] = []
  /** An allow that came with an edit. It only counts for that exact call and the hooks that had asked. */
  #edited:
    | {
        readonly answer: ApprovalAnswer
        readonly digest: string
        readonly hooks: readonly string[]
        /** How many people gave it. */
        readonly people: number
      }
    | undefined

  constructor(judgement: Judgement, options: AskOptions) {
    this.#judgement = judgement
    this.#options = options
  }

  async settle(): Promise<Settled> {
    while (this.#round++ < MAX_ROUNDS) {
      const { merged } = this.#judgement
      if (merged.action !== 'ask_user') return this.#settled(merged.action, merged.reason)
      const open = await this.#unanswered(merged.asking)
      const question = this.#question(open.length > 0 ? open : merged.asking)
      if (open.length === 0) {
        const answer = this.#edited?.answer ?? this.#answer('allow', 'grant')
        await this.#grantIfAlways(answer, merged.asking)
        return this.#allowed(question, answer)
      }
      const answered = (await this.#askHooks(open)) ?? (await this.#askPerson(question))
      const settled = await this.#settledBy(answered, question, open)
      if (settled) return settled
    }
    return this.#settled(
      'deny',
      'HOOK_UNSTABLE: the call was edited again and again, and no version of it was approved',
    )
  }

  /** Undefined if the call was edited, so that it has to be settled again. */
  async #settledBy(
    answered: Answered | Open,
    question: Question,
    open: readonly Asking[],
  ): Promise<Settled | undefined> {
    if ('open' in answered) return this.#leftOpen(answered, question, open)
    const { answer, patch, aborts } = answered
    if (aborts) return this.#settled(aborts, answered.reason)
    if (answer.decision === 'deny') {
      return this.#settled('deny', answered.reason ?? refusalReason(question, answer), { question, answer })
    }
    if (!patch) {
      await this.#grantIfAlways(answer, open, answered.proof)
      return this.#allowed(question, answer)
    }
    const again = await this.#rejudge(patch)
    if (!again) return this.#settled('deny', 'The edited call is not valid', { question, answer })
    this.#judgement = again
    this.#edited = {
      answer,
      digest: digestOf(again, again.sent),
      hooks: open.map((one) => one.hook.id),
      people: question.people ?? 1,
    }
  }

  #leftOpen(left: Open, question: Question, open: readonly Asking[]): Settled {
    const before = this.#settled('ask_user', left.open ?? openReason(open), { question })
    const resume = async (reply: unknown, options: AskOptions): Promise<Settled> => {
      this.#options = options
      const answered = this.#inTime(question, this.#read(question, reply))
      const settled = (await this.#settledBy(answered, question, open)) ?? (await this.settle())
      return { ...settled, before }
    }
    return { ...before, resume }
  }

  /** An allow that comes too late is no allow; then the default decides, as for an approver, but not about an edit. A deny always counts. */
  #inTime(question: Question, answered: Answered | Open): Answered | Open {
    if ('open' in answered || answered.answer.decision === 'deny') return answered
    if (this.#options.now() <= Date.parse(question.expires)) return answered
    return { answer: this.#answer(answered.patch ? 'deny' : question.default, 'default') }
  }

  /** The hooks that neither a grant nor the allow of the last edit has answered. */
  async #unanswered(asking: readonly Asking[]): Promise<readonly Asking[]> {
    const { event } = this.#judgement
    const grants = await this.#options.grants.grants()
    const edited = this.#edited?.digest === digestOf(this.#judgement, event) ? this.#edited : undefined
    const call = this.#call()
    const isAnswered = (one: Asking) =>
      edited?.hooks.includes(one.hook.id) === true && peopleFor(one) <= edited.people
    const open = asking.filter((one) => !isAnswered(one))
    const granted = new Map(open.map((one) => [one, grantOf(grants, one, call)]))
    this.#granted = [...granted.values()].filter((grant) => grant !== undefined)
    return open.filter((one) => granted.get(one) === undefined)
  }

  /** Undefined if no PermissionRequest hook decides. What the company asks, only a person may allow. */
  async #askHooks(open: readonly Asking[]): Promise<Answered | undefined> {
    const asked = await this.#options.permission(this.#judgement)
    if (!asked) return undefined
    this.#permissions.push(asked)
    const { action, reason, permission } = asked.merged
    const by = (opinion: (one: Judgement['ran'][number]) => boolean) =>
      asked.ran.find(opinion)?.hook.name ?? 'hook'
    if (action === 'deny') {
      return {
        answer: this.#answer(
          'deny',
          by((one) => one.effect.action === 'deny'),
        ),
        reason,
      }
    }
    if (endsChain(action)) return { answer: this.#answer('deny', 'hook'), reason, aborts: action }
    const allowing = asked.ran.find(({ effect }) => permission === 'allow' && effect.permission === 'allow')
    const isCompanys = open.some(({ hook }) => hook.origin.scope === 'company')
    if (!allowing || isCompanys) {
      if (allowing) this.#diagnostics.push(allowedInVain(allowing.hook))
      if (asked.modified) this.#diagnostics.push(CHANGED_IN_VAIN)
      return undefined
    }
    if (open.some((one) => peopleFor(one) > 1)) {
      this.#diagnostics.push(ALLOWED_IN_VAIN)
      return undefined
    }
    const answer = this.#answer('allow', allowing.hook.name)
    return { answer, patch: asked.modified ? callOf(asked.event.data) : undefined }
  }

  /** Open if there is nobody to ask, or nobody answered. The embedder resolves it. */
  async #askPerson(question: Question): Promise<Answered | Open> {
    const { approver } = this.#options
    // Whoever resolves an open question may be one person, or their agent.
    if (approver === undefined && (question.people ?? 1) > 1) return this.#tooFew(question, [])
    if (approver === undefined) return { open: undefined }
    if (approver === 'deny') return { answer: this.#answer('deny', 'host') }
    const reply = await waitFor(approver, question, this.#options)
    if (reply === 'late') return { answer: this.#answer(question.default, 'default') }
    if (reply === 'cut short') return { answer: { ...this.#answer('deny', 'default'), reason: CUT_SHORT } }
    if ('given' in reply) return this.#read(question, reply.given)
    const problem = textOf(reply.error)
    this.#diagnostics.push({ code: 'host-failed', text: `the host's approver threw: ${problem}` })
    return { answer: { ...this.#answer(question.default, 'default'), reason: problem } }
  }

  #read(question: Question, reply: unknown): Answered | Open {
    if (isUnanswered(reply)) return { open: withoutSecrets(plainText(reply.unanswered)) }
    const read = readReply(question, reply, this.#now())
    if (!read) return this.#noReply()
    const { data, isOffered, proof, ...answer } = read
    if (isOffered && answer.decision === 'allow' && !isEnough(question, answer.people ?? []))
      return this.#tooFew(question, answer.people ?? [answer.by])
    if (isOffered) return { answer, patch: data, proof }
    const text = notOffered(question, answer)
    this.#diagnostics.push({ code: 'host-failed', text })
    return { answer, reason: `Denied: ${text}` }
  }

  /** An allow of one person, or of nobody, is none where several must allow. */
  #tooFew({ people }: Question, names: readonly string[]): Answered {
    const got = names.length === 0 ? 'nobody here can ask them' : `only ${names.join(', ')} did`
    const reason = withoutSecrets(
      plainText(
        `Denied: ${people} different people must allow this, and ${got}. They allow it with their own keys: in a fleet, or with carabiner approvers`,
      ),
    )
    return { answer: this.#answer('deny', 'host'), reason }
  }

  /** A broken approver is not a person who said no. The call is refused, and the message blames the approver. */
  #noReply(): Answered {
    const text =
      "the host's approver returned neither an option nor a valid { option, reason, by, data, expires }"
    this.#diagnostics.push({ code: 'host-failed', text })
    return { answer: this.#answer('deny', 'host'), reason: `Denied: ${text}` }
  }

  /** Undefined if the edited call is not valid. */
  async #rejudge(patch: object): Promise<Judgement | undefined> {
    try {
      return await this.#options.rejudge(this.#judgement, patch)
    } catch (error) {
      if (isHookError(error, 'ABORTED')) throw error
      this.#diagnostics.push({ code: 'host-failed', text: `the edited call was refused: ${textOf(error)}` })
      return undefined
    }
  }

  async #grantIfAlways(answer: ApprovalAnswer, open: readonly Asking[], proof?: string): Promise<void> {
    if (!ALLOWS_ALWAYS.test(answer.option ?? '')) return
    const call = this.#call()
    for (const one of open.filter(offersAlways))
      await this.#options.grants.addGrant(grantFor(one, call, answer), proof)
  }

  /** After an allow the next lower verdict stands. */
  #allowed(question: Question, answer: ApprovalAnswer): Settled {
    const action = this.#judgement.merged.response === undefined ? 'continue' : 'respond'
    const grants = this.#granted.map(({ id, by, created }) => ({ id, ...(by && { by }), since: created }))
    const whole = grants.length === 0 ? answer : { ...answer, grants }
    return this.#settled(action, answer.reason, { question, answer: whole })
  }

  #settled(action: Verdict, reason: string | undefined, approval?: Approval): Settled {
    const settled = {
      judgement: this.#judgement,
      permissions: [...this.#permissions],
      action,
      reason,
      diagnostics: [...this.#diagnostics],
    }
    return approval ? { ...settled, approval } : settled
  }

  #call(): AskedCall {
    const { kind, event } = this.#judgement
    const { session, now } = this.#options
    return { event: kind.name, data: event.data, cwd: session.cwd, now: now() }
  }

  #question(asking: readonly Asking[]): Question {
    const { kind, event } = this.#judgement
    const { session, now } = this.#options
    return questionFor(kind.name, session, event.data, asking, now())
  }

  #answer(decision: 'allow' | 'deny', by: string): ApprovalAnswer {
    return { decision, by, at: this.#now() }
  }

  #now(): string {
    return timestamp(this.#options.now())
  }
}

/** The reason of an open ask. It comes from the first hook in order; the question has them all. */
function openReason([first]: readonly Asking[]): string | undefined {
  return first && reasonOf(first.hook, first.answer)
}

/** No person refused, so the reason must not say so. */
function notOffered({ asks, options }: Question, { option = '', reason }: ApprovalAnswer): string {
  const prompt = asks.map((ask) => ask.prompt).join('; ')
  const [given, asked] = [option, prompt].map((text) => JSON.stringify(text.slice(0, LONGEST_QUOTED)))
  const because = reason === undefined ? '' : ` (${reason})`
  const text = `the approver answered ${given}${because} to ${asked}, which is not an option; the options were ${options.join(', ')}`
  return withoutSecrets(plainText(text))
}

function digestOf({ kind }: Judgement, { data }: HookEvent): string {
  return callDigest(kind.name, data)
}

/** Waits for the approver until the question times out, or the fire does. A default only decides the former. Rejects if the fire is aborted. */
async function waitFor(
  approver: Approver,
  question: Question,
  { deadline, signal }: AskOptions,
): Promise<'late' | 'cut short' | { readonly given: unknown } | { readonly error: unknown }> {
  const waiting = new AbortController()
  const full = Math.min(question.timeout * 1000, LONGEST_TIMER_MS)
  const left = deadline - performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopListening = () => {}
  const ended = new Promise<'late' | 'cut short'>((resolve, reject) => {
    timer = setTimeout(() => resolve(left < full ? 'cut short' : 'late'), Math.max(0, Math.min(full, left)))
    const abort = () =>
      reject(
        new HookError('ABORTED', 'The fire was aborted while a person was asked', { cause: signal?.reason }),
      )
    if (signal) stopListening = onAbort(signal, abort)
  })
  const replied = (async () => ({ given: await approver(question, waiting.signal) }))().catch(
    (error: unknown) => ({ error }),
  )
  try {
    return await Promise.race([replied, ended])
  } finally {
    clearTimeout(timer)
    stopListening()
    waiting.abort()
  }
}
