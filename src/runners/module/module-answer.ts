// One answer from all handlers of a module that judge an event: each sees the changes of those before it.

import type { DiagnosticSink } from '../../core/base/errors.js'
import { type Data, frozenCopy } from '../../core/base/json.js'
import { type Action, actionRow, endsChain } from '../../core/events/actions.js'
import { type HookResult, modify, parseResult } from '../../core/events/result.js'
import { type HookContext, WholeData } from '../../core/hooks/hook.js'
import type { ModuleReply } from './module-call.js'
import type { ModuleContext } from './module-context.js'
import type { ExportedHandler } from './module-exports.js'

type Answer = Pick<ModuleReply, 'answer' | 'whole'>

/** Throws what a handler throws, and ANSWER_INVALID. A deny or an abort ends the chain. */
export async function answerOf(
  handlers: readonly ExportedHandler[],
  event: string,
  data: Data,
  context: ModuleContext,
  diagnostics: DiagnosticSink,
): Promise<Answer> {
  const run = async (one: ExportedHandler, now: Data): Promise<unknown> =>
    one.handler(event, now as never, context as HookContext)
  const [only, ...others] = handlers
  if (only === undefined) return {}
  if (others.length === 0) {
    const value = await run(only, data)
    return value instanceof WholeData ? { whole: value.data } : { answer: parseResult(value, diagnostics) }
  }
  let whole: HookResult = parseResult(undefined, diagnostics)
  let now = data
  for (const one of handlers) {
    const value = await run(one, now)
    const result = parseResult(value instanceof WholeData ? modify(value.data) : value, diagnostics)
    whole = joined(whole, result)
    if (endsChain(result.action)) break
    if (result.data) now = frozenCopy({ ...now, ...result.data }, 'data') as Data
  }
  return { answer: whole }
}

/** Only the higher verdict counts, with its own reason, response or question. Changes, injections and messages of both count. */
export function joined(first: HookResult, second: HookResult): HookResult {
  const higher = rankOf(second.action) > rankOf(first.action) ? second : first
  const lower = higher === first ? second : first
  const outvoted = rankOf(higher.action) > 0 ? withoutVerdict(lower) : lower
  const { contextInjection, userMessage, data, permission, ...rest } = { ...outvoted, ...higher }
  const isAllowed = [first, second].some((one) => one.permission === 'allow')
  const injected = texts(first.contextInjection, second.contextInjection)
  const said = texts(first.userMessage, second.userMessage)
  const people = Math.max(first.approvalPeople ?? 1, second.approvalPeople ?? 1)
  const changes = first.data || second.data ? { ...first.data, ...second.data } : undefined
  return {
    ...rest,
    action: actionFor(higher.action, changes, injected),
    ...(higher.action === 'ask_user' && people > 1 && { approvalPeople: people }),
    ...(changes && { data: changes }),
    ...(injected !== undefined && { contextInjection: injected }),
    ...(said !== undefined && { userMessage: said }),
    ...(isAllowed && { permission: 'allow' as const }),
  }
}

function withoutVerdict(result: HookResult): Partial<HookResult> {
  const { reason, response, ...rest } = result
  const { approvalPrompt, approvalOptions, approvalTimeout, approvalDefault, approvalPeople, ...more } = rest
  return more
}

/** Zero for an action that decides nothing. */
function rankOf(action: Action): number {
  return actionRow(action).rank ?? 0
}

function actionFor(action: Action, changes: Data | undefined, injected: string | undefined): Action {
  if (rankOf(action) > 0) return action
  if (changes) return 'modify'
  return injected === undefined ? 'continue' : 'inject_context'
}

function texts(...parts: readonly (string | undefined)[]): string | undefined {
  const given = parts.filter((part) => part !== undefined)
  return given.length === 0 ? undefined : given.join('\n')
}
