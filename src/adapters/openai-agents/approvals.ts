// Interruptions of the OpenAI Agents SDK: which question a person's yes answers, and `runApprovals`, which asks the person.

import { randomUUID } from 'node:crypto'
import type { FunctionTool, RunContext, RunToolApprovalItem } from '@openai/agents'
import type { BegunTool, Question, Reply, Session } from '../../core/index.js'
import { askedQuestions, forgetBegun, goOn, putBack, replyTo } from '../begun-calls.js'
import { inputOf, parsed } from '../response.js'

// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type of any function tool
export type AnyFunctionTool = FunctionTool<any, any, any>

/** The same object for a run and for the copies of its context that agents as tools get. Another run has another one. */
export function runOf({ usage }: Pick<RunContext, 'usage'>): object {
  return usage
}

/** Questions that were asked here, by run, tool and call. The SDK keeps an approval as long as the run. */
const asked = new WeakMap<object, Set<string>>()

/** The approvals of one tool. A yes is for one call, and for the question that was asked: that of a hook, or that of the tool. */
export class Approvals {
  readonly #tool: AnyFunctionTool

  constructor(tool: AnyFunctionTool) {
    this.#tool = tool
  }

  /** The tool's own question. */
  async asksItself(context: RunContext, input: unknown, id: string): Promise<boolean> {
    const isAsking = await this.#tool.needsApproval(context, input, id)
    if (isAsking) this.#ask(context, id)
    return isAsking
  }

  /** The question of a hook. */
  asks(call: BegunTool, context: RunContext, id: string): boolean {
    if (call.status !== 'needs_approval') return false
    this.#ask(context, id)
    askedQuestions.add(call)
    return true
  }

  /**
   * Whether a person has said yes to a hook's question. If another process asked, it was that of a hook unless the tool asks
   * too. Some models use an id again in the same run, and the SDK takes the same yes for it.
   */
  async isYes(call: BegunTool, context: RunContext, text: string, callId: string): Promise<boolean> {
    if (!this.#isApproved(context, callId)) return false
    if (askedQuestions.has(call)) return true
    // With `alwaysApprove`, any id is approved: nobody was shown this call.
    if (this.#isApproved(context, randomUUID())) return false
    return this.#ask(context, callId) && !(await this.#tool.needsApproval(context, parsed(text), callId))
  }

  /**
   * Takes back the yes to a call that has ended: the SDK stores it with the run, and another process could not tell that it
   * was used. `toJSON` returns the SDK's own lists.
   */
  end(context: RunContext, id: string): void {
    if (!this.#isApproved(context, id)) return
    const { approved } = context.toJSON().approvals[this.#tool.name] ?? {}
    if (Array.isArray(approved)) approved.splice(0, approved.length, ...approved.filter((one) => one !== id))
  }

  #isApproved(context: RunContext, callId: string): boolean {
    return context.isToolApproved({ toolName: this.#tool.name, callId }) === true
  }

  /** False if there was a question about this call already. */
  #ask(context: RunContext, id: string): boolean {
    const run = runOf(context)
    const calls = asked.get(run) ?? new Set<string>()
    const key = `${this.#tool.name} ${id}`
    const isFirst = !calls.has(key)
    asked.set(run, calls.add(key))
    return isFirst
  }
}

interface Interrupted {
  readonly interruptions: readonly RunToolApprovalItem[]
  readonly state: {
    readonly _context: Pick<RunContext, 'usage'>
    approve(item: RunToolApprovalItem): void
    reject(item: RunToolApprovalItem, options?: { message?: string }): void
  }
}

/** A yes, a no, or an option of the question. There is no question if the tool itself asks, and no hook. */
type Answer = (item: RunToolApprovalItem, question: Question | undefined) => Answered | Promise<Answered>
type Answered = boolean | Reply

/** Answers every interruption of a run. Then call `run(agent, result.state)`. */
export async function runApprovals(session: Session, result: Interrupted, answer: Answer): Promise<void> {
  const { interruptions, state } = result
  for (const item of interruptions) {
    const { name = '', callId: id = '', arguments: text } = item.rawItem as Asked
    const call = { name, input: inputOf(text), id, run: runOf(state._context) }
    const begun = await goOn(session, call)
    let judged = begun
    while (judged?.status === 'needs_approval') {
      const said = await answer(item, judged.question)
      judged = await judged.answer(typeof said === 'boolean' ? replyTo(judged.question, said) : said)
    }
    if (judged && judged !== begun) putBack(session, call, judged)
    if (judged?.status === 'denied') state.reject(item, { message: judged.reason })
    else if (begun?.status === 'needs_approval' || isYes(await answer(item, undefined))) {
      state.approve(item)
      continue
    } else state.reject(item)
    forgetBegun(session, id)
    await judged?.[Symbol.asyncDispose]()
  }
}

interface Asked {
  readonly name?: string
  readonly callId?: string
  readonly arguments?: string
}

const isYes = (said: Answered) => said === true || (typeof said === 'string' && /^allow/i.test(said))
