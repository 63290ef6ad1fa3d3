// A hook's question to a person: in the client's own dialog if it has one (elicitation), else through the queue of approvals.

import { queueApprover } from '../../asking/queue-approver.js'
import { isObject, type Json } from '../../core/base/json.js'
import type { Question } from '../../core/hooks/outcome.js'
import { ALLOWS_ALWAYS, type Approver, denyOf, type Reply } from '../../core/verdict/approval.js'
import { isSignatureNeeded } from '../../store/approvers.js'
import { approvalsIn } from '../../store/file-stores.js'
import type { RpcReply } from './judge.js'

export interface AskingClient {
  /** Whether the client can show a form to its user. */
  readonly asks: () => boolean
  readonly ask: (method: string, params: Json, signal: AbortSignal) => Promise<RpcReply>
}

/** Most clients give up on a call after a minute. The question stays open, and the same call can be tried again. */
const PATIENCE_MS = 50_000

export interface McpApproverOptions {
  readonly projectDir: string
  readonly log: (text: string) => void
  /** Called when a question is in the queue. */
  readonly onRaised?: (() => void) | undefined
}

export function mcpApprover(
  client: AskingClient,
  { projectDir: project, log, onRaised }: McpApproverOptions,
): Approver {
  return async (question, signal) => {
    // Its dialog asks one person, and anybody could answer in it.
    const isForDialog = (question.people ?? 1) === 1 && !isSignatureNeeded()
    if (client.asks() && isForDialog) return askClient(client, question, signal)
    const queue = await approvalsIn({ onTrouble: log })
    const waitUntil = performance.now() + PATIENCE_MS
    const approver = queueApprover({ queue, project, waitUntil, ...(onRaised && { onRaised }) })
    return approver(question, signal)
  }
}

async function askClient(client: AskingClient, question: Question, signal: AbortSignal): Promise<Reply> {
  // "Always" needs a proof that only our own terminal can give.
  const options = question.options.filter((option) => !ALLOWS_ALWAYS.test(option))
  const decision = { type: 'string', title: 'Decision', enum: options }
  const params = {
    message: textFor(question),
    requestedSchema: { type: 'object', properties: { decision }, required: ['decision'] },
  }
  const reply = await client.ask('elicitation/create', params, signal)
  const refused = (reason: string): Reply => ({ option: denyOf(question), reason, by: 'default' })
  if (!('result' in reply)) return refused(`the client could not ask: ${reply.error.message}`)
  const { action, content } = isObject(reply.result) ? reply.result : {}
  const chosen = isObject(content) ? content.decision : undefined
  if (action === 'accept' && typeof chosen === 'string') return { option: chosen, by: 'person' }
  return { option: denyOf(question), by: 'person' }
}

/** The most of a call that a dialog shows. */
const LONGEST_CALL = 2000

function textFor({ asks, call }: Question): string {
  const about = JSON.stringify(call.tool_input ?? call, null, 2)
  const rest = about.length - LONGEST_CALL
  const input = rest > 0 ? `${about.slice(0, LONGEST_CALL)}… (${rest} more characters are not shown)` : about
  const name = typeof call.tool_name === 'string' ? [call.tool_name] : []
  const reasons = asks.map(({ hook, prompt, reason }) => `${prompt}${reason ? ` ${reason}` : ''} (${hook})`)
  return [...reasons, ...name, input].join('\n')
}
