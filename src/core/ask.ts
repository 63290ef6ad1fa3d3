// The way of an ask: grants, PermissionRequest hooks, then the person. Never ends in an allow that nobody gave.

import {
  ALLOWS_ALWAYS,
  type Approval,
  type ApprovalAnswer,
  type Approver,
  grantFor,
  isGranted,
  openReason,
  type Question,
  questionFor,
  readReply,
  refusalReason,
} from './approval.js'
import { callDigest } from './digest.js'
import { type Diagnostic, HookError, textOf } from './errors.js'
import type { Data } from './json.js'
import type { Judgement } from './judge.js'
import { endsChain, type Verdict } from './outcome.js'
import type { Scene } from './scene.js'
import { timestamp } from './timestamp.js'

/** What became of an ask. */
export interface Settled {
  readonly judgement: Judgement
  /** PermissionRequest hooks that were asked on the way. */
  readonly asides: readonly Judgement[]
  readonly action: Verdict
  readonly reason?: string | undefined
  readonly approval?: Approval
  readonly diagnostics: readonly Diagnostic[]
}

export interface AskOptions {
  /** On the clock of performance.now(). */
  readonly deadline: number
  readonly signal?: AbortSignal | undefined
  /** Judges the event again with this patch over its data. */
  readonly rejudge: (judgement: Judgement, patch: object) => Promise<Judgement>
  /** PermissionRequest hooks for this call; undefined where nobody listens. */
  readonly permission: (judgement: Judgement) => Promise<Judgement | undefined>
}

const MAX_ROUNDS = 3

/** Follows an ask to its end. An answer that edits the call starts again at the merge. */
export async function settleAsk(scene: Scene, first: Judgement, options: AskOptions): Promise<Settled> {
  const asides: Judgement[] = []
  const diagnostics: Diagnostic[] = []
  let judgement = first
  let edited:
    | { readonly answer: ApprovalAnswer; readonly digest: string; readonly hooks: ReadonlySet<string> }
    | undefined
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { kind, event, merged } = judgement
    const settled = (action: Verdict, more: Partial<Settled> = {}): Settled => ({
      judgement,
      asides,
      action,
      diagnostics,
      ...more,
    })
    if (merged.action !== 'ask_user') return settled(merged.action, { reason: merged.reason })

    const grants = await scene.engine.store.grants()
    const now = scene.engine.clock()
    const open = merged.asking.filter((one) => {
      const same =
        edited && edited.digest === callDigest(kind.name, event.data) && edited.hooks.has(one.hook.id)
      return !same && !isGranted(grants, one, kind.name, event.data, now)
    })
    const question = questionFor(
      kind.name,
      scene.info.id,
      event.data,
      open.length > 0 ? open : merged.asking,
      now,
    )
    const allow = (answer: ApprovalAnswer): Settled =>
      settled(merged.response === undefined ? 'continue' : 'respond', {
        reason: answer.reason,
        approval: { question, answer },
      })
    const refuse = (answer: ApprovalAnswer, reason = refusalReason(question, answer)): Settled =>
      settled('deny', { reason, approval: { question, answer } })
    const at = timestamp(now)
    if (open.length === 0) return allow(edited?.answer ?? { decision: 'allow', by: 'grant', at })

    const asked = kind.name === 'PreToolUse' ? await options.permission(judgement) : undefined
    if (asked) {
      asides.push(asked)
      const by =
        asked.ran.find((one) => one.answer.permission === 'allow' || one.answer.action === 'deny')?.hook
          .name ?? 'hook'
      if (endsChain(asked.merged.action)) {
        return asked.merged.action === 'deny'
          ? refuse({ decision: 'deny', by, at }, asked.merged.reason)
          : settled(asked.merged.action, { reason: asked.merged.reason })
      }
      if (asked.merged.permission === 'allow') {
        const answer: ApprovalAnswer = { decision: 'allow', by, at }
        if (!asked.modified) return allow(answer)
        judgement = await options.rejudge(judgement, { tool_input: asked.event.data.tool_input })
        edited = { answer, digest: digestOf(judgement), hooks: new Set(open.map((one) => one.hook.id)) }
        continue
      }
    }

    const { approver } = scene.engine.host
    if (approver === undefined)
      return settled('ask_user', { reason: openReason(open), approval: { question } })
    if (approver === 'deny') return refuse({ decision: 'deny', by: 'host', at })
    const answer = await askPerson(approver, question, options, diagnostics, scene.engine.clock)
    if (answer.decision === 'deny') return refuse(answer)
    if (answer.data) {
      const { data, ...rest } = answer
      judgement = await options.rejudge(judgement, data)
      edited = { answer: rest, digest: digestOf(judgement), hooks: new Set(open.map((one) => one.hook.id)) }
      continue
    }
    if (ALLOWS_ALWAYS.test(answer.option ?? '')) {
      for (const one of open)
        await scene.engine.store.addGrant(grantFor(one, kind.name, event.data, scene.engine.clock()))
    }
    return allow(answer)
  }
  const reason = 'HOOK_UNSTABLE: the call was edited again and again, so that no version of it was approved'
  return { judgement, asides, action: 'deny', reason, diagnostics }
}

function digestOf({ kind, event }: Judgement): string {
  return callDigest(kind.name, event.data as Data)
}

type Asked = ApprovalAnswer & { readonly data?: object }

/** Waits for the approver, at most until the question or the fire is due. Time-out and error take the question's default. */
async function askPerson(
  approver: Approver,
  question: Question,
  { deadline, signal }: AskOptions,
  diagnostics: Diagnostic[],
  clock: () => number,
): Promise<Asked> {
  const waiting = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(
      () => resolve('late'),
      Math.max(0, Math.min(question.timeout * 1000, deadline - performance.now(), 2 ** 31 - 1)),
    )
  })
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () =>
      reject(
        new HookError('ABORTED', 'The fire was aborted while a person was asked', { cause: signal?.reason }),
      )
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort)
  })
  const byDefault = (reason?: string): Asked => ({
    decision: question.default,
    by: 'default',
    at: timestamp(clock()),
    ...(reason && { reason }),
  })
  try {
    const replied = (async () => ({ reply: await approver(question, waiting.signal) }))().catch(
      (error: unknown) => ({ error }),
    )
    const first = await Promise.race([replied, late, aborted])
    if (first === 'late') return byDefault()
    if ('reply' in first) return readReply(question, first.reply, timestamp(clock()))
    diagnostics.push({ code: 'host-failed', text: `the approver of the host threw: ${textOf(first.error)}` })
    return byDefault(textOf(first.error))
  } finally {
    clearTimeout(timer)
    if (onAbort) signal?.removeEventListener('abort', onAbort)
    waiting.abort()
  }
}
