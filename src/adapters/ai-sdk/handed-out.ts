// Tools of the AI SDK without `execute`: it hands their calls to the program, often to a browser. Hooks judge them before that,
// in the response of the model. Without `hooksMiddleware`, they judge what the SDK has already read of a stream.

import { isDeepStrictEqual } from 'node:util'
import { HookError, type Session } from '../../core/index.js'
import { refused } from '../begun-calls.js'
import { PerSession } from '../per-session.js'
import { inputOf } from '../response.js'
import type { Part } from './parts.js'

/** Who judges the calls of a tool, by an object that the SDK hands to the model as it is: `providerOptions`, or `args`. */
const judges = new WeakMap<object, Session>()

/** Calls that hooks have allowed in the response of the model, or judge afterwards. */
const begun = new PerSession<Begun>()

interface Begun {
  /**
   * The same list for all that the SDK asks about one call in one step. It may ask twice at the same time. Undefined: hooks
   * have allowed the call in the response, and the SDK has not asked yet.
   */
  readonly messages: object | undefined
  readonly input: unknown
  readonly judged: Promise<void> | undefined
}

interface HandedOut {
  readonly type?: string
  readonly providerOptions?: object
  readonly args?: object
  readonly onInputAvailable?: (options: Asking & { readonly input: unknown }) => unknown
  readonly needsApproval?: boolean | ((input: unknown, options: Asking) => boolean | PromiseLike<boolean>)
}
interface Asking {
  readonly toolCallId: string
  readonly messages: object
  readonly abortSignal?: AbortSignal
}

/** The tool, whose calls end the run with an error unless hooks allow them as they are. */
export function judgedHandedOut<T extends object>(session: Session, name: string, tool: T): T {
  const { type, providerOptions, args, onInputAvailable, needsApproval }: HandedOut = tool
  const marks = { providerOptions: { ...providerOptions }, ...(args && { args: { ...args } }) }
  for (const mark of Object.values(marks)) judges.set(mark, session)
  // The provider may have made this call itself. Only its response says so.
  if (type?.startsWith('provider')) return { ...tool, ...marks }
  const judgeOnce = async (input: unknown, { toolCallId: id, messages, abortSignal: signal }: Asking) => {
    if (session.isIdle) return
    const known = begun.get(session, id)
    // A schema or a repair of the program may have changed the input since the response.
    const same = known && isDeepStrictEqual(known.input, input) ? known : undefined
    if (same && same.messages === messages) return same.judged
    const isAllowed = same && same.messages === undefined
    const judged = isAllowed ? undefined : judgeAsIs({ name, input: input as object, id }, signal)
    begun.set(session, id, { messages, input, judged })
    await judged
  }
  const judgeAsIs = async (call: Call, signal: AbortSignal | undefined) => {
    if (isDeepStrictEqual(await judge(session, call, signal), call.input)) return
    throw new HookError('CALL_DENIED', `A hook changed the input of ${name}, which needs hooksMiddleware`)
  }
  return {
    ...tool,
    ...marks,
    // 5 has only this one. In a stream, 7.0 calls it only if the provider streams inputs.
    async onInputAvailable(options: Asking & { readonly input: unknown }) {
      await judgeOnce(options.input, options)
      await onInputAvailable?.(options)
    },
    async needsApproval(input: unknown, options: Asking) {
      await judgeOnce(input, options)
      return typeof needsApproval === 'function' ? needsApproval(input, options) : needsApproval === true
    },
  }
}

/** A part of a response. Throws if it is a call that hooks refuse, and that the SDK would hand to the program. */
export async function judgedPart(
  part: Part,
  tools: readonly object[] = [],
  signal?: AbortSignal,
): Promise<Part> {
  if (part.type !== 'tool-call' || part.providerExecuted === true) return part
  const name = String(part.toolName)
  const tool = (tools as readonly Offered[]).find((one) => one.name === name)
  const mark = tool?.providerOptions ?? tool?.args
  const session = mark && judges.get(mark)
  if (!session || session.isIdle) return part
  const input = inputOf(part.input)
  const id = String(part.toolCallId)
  const judged = await judge(session, { name, input, id }, signal)
  begun.set(session, id, { messages: undefined, input: judged, judged: undefined })
  return isDeepStrictEqual(judged, input) ? part : { ...part, input: JSON.stringify(judged) }
}

interface Offered extends HandedOut {
  readonly name: string
}

interface Call {
  readonly name: string
  readonly input: object
  readonly id: string
}

/** Only PreToolUse: the SDK does not say how the call ended. */
async function judge(session: Session, { name, input, id }: Call, signal?: AbortSignal): Promise<unknown> {
  const data = { tool_name: name, tool_input: input, tool_use_id: id }
  const outcome = await session.fire('PreToolUse', data, signal && { signal })
  const { action, reason = `A hook did not let ${name} run` } = outcome
  if (action !== 'continue' || outcome.data.tool_name !== name) throw refused({ reason, outcome })
  return outcome.data.tool_input
}
