// What every judge needs: the hooks of the session, and the rules for asking them.

import { HookError, isHookError, textOf } from '../../../core/base/errors.js'
import { inexactNumber } from '../../../core/base/exact-numbers.js'
import { isObject, type Json } from '../../../core/base/json.js'
import type { Outcome } from '../../../core/hooks/outcome.js'
import type { Session } from '../../../core/session/session.js'
import type { Approver } from '../../../core/verdict/approval.js'
import { failure, type RpcReply } from '../judge.js'
import { mistakenInResult } from '../protocol-keys.js'

export interface JudgingOptions {
  readonly session: Session
  readonly approver: Approver
  /** Why nothing can be judged now. */
  readonly problem: () => string | undefined
  /** Called if there is a problem, since it may have been repaired. */
  readonly reload: () => Promise<void>
  /** The name of the server in `mcp__SERVER__TOOL`. */
  readonly name: string
  /** Where the server comes from, for hooks. */
  readonly source: 'stdio' | 'http'
}

/** Events that judge an answer. */
export type JudgedEvent =
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'Elicitation'
  | 'ElicitationResult'
  | 'ModelRequest'
  | 'ModelResponse'

export type Params = Readonly<Record<string, Json | undefined>>

/** A longer call is judged the long way, because its record would keep it in memory for a while. */
const MOST_UNHEARD = 65_536

export class Judging {
  readonly name: string
  readonly source: 'stdio' | 'http'
  readonly session: Session
  readonly approver: Approver
  readonly #options: JudgingOptions
  /** The limit of injections is one for a turn, and only we know when one begins. */
  #hasInjected = false

  constructor(options: JudgingOptions) {
    this.#options = options
    this.name = options.name
    this.source = options.source
    this.session = options.session
    this.approver = options.approver
  }

  /** Fires an event that has no second half. Only `continue` lets it pass; a failure does not. */
  async fire(
    event: 'ToolsListed' | 'UserPromptExpansion' | 'Elicitation' | 'ElicitationResult',
    data: object,
    signal: AbortSignal,
    line?: string,
  ): Promise<{
    readonly outcome: Pick<Outcome, 'data' | 'modified' | 'injections' | 'host'>
    readonly refusal?: string
  }> {
    try {
      await this.ready(line)
      // A list and a form have no place for context. The next result of a tool has.
      const contextLater = event !== 'UserPromptExpansion'
      const outcome = await this.session.fire(event, data, { signal, approver: this.approver, contextLater })
      if (outcome.action === 'continue') return { outcome }
      return { outcome, refusal: outcome.reason ?? 'Denied by a hook' }
    } catch (error) {
      return { outcome: { data: {}, modified: false, injections: [] }, refusal: reasonOf(error) }
    }
  }

  /** Throws if hooks cannot judge what is in the line. */
  async ready(line = ''): Promise<void> {
    if (this.#options.problem() !== undefined) await this.#options.reload()
    const problem = this.#options.problem()
    if (problem !== undefined) throw new Error(problem)
    checkExact(line)
    if (!this.#hasInjected) return
    this.#hasInjected = false
    await this.session.startTurn()
  }

  /** Whether any hook hears one of the events, whatever its matcher. */
  listensTo(events: readonly JudgedEvent[]): boolean {
    return events.some((event) => this.session.explain(event).candidates.length > 0)
  }

  /** Whether `ready` would do nothing, and the line is short. */
  isReady(line: string): boolean {
    return (
      !this.#hasInjected &&
      line.length <= MOST_UNHEARD &&
      this.#options.problem() === undefined &&
      inexactNumber(line) === undefined
    )
  }

  /** What hooks tell the model. */
  textsOf({ injections }: Pick<Outcome, 'injections'>): readonly string[] {
    if (injections.length > 0) this.#hasInjected = true
    return injections.map(({ text }) => text)
  }
}

export function asParams(value: Json | undefined): Params {
  return isObject(value) ? (value as Params) : {}
}

/** The client must not read another result than hooks have judged. */
export function asJudged(reply: RpcReply): RpcReply {
  const why = 'result' in reply ? mistakenInResult(reply.result) : undefined
  return why === undefined ? reply : failure(`The result is not passed on, because ${why}`)
}

/** For the model, which has to know that nothing was done, or that the result is missing. */
export function reasonOf(error: unknown): string {
  if (isHookError(error) && /_ABORTED$/.test(error.code)) return error.message
  const hint = isHookError(error) && error.hint !== undefined ? ` ${error.hint}` : ''
  return `Carabiner refused this, because hooks could not judge it: ${textOf(error)}.${hint}`
}

/** Hooks would judge another number than the other side gets. */
function checkExact(line: string): void {
  const path = inexactNumber(line)
  if (path === undefined) return
  const text = `${path.replace(/^params\.(?:arguments\.)?/, '')} is a number that cannot be kept exactly`
  throw new HookError('PAYLOAD_INVALID', text, { hint: 'Send it as a string, or with fewer digits.' })
}
