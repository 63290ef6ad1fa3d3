// The calls that a host has begun and not ended: tools and models, by the ids that the host names.

import { HookError } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'
import type { Outcome, Question } from '../../core/hooks/outcome.js'
import type { CallOptions } from '../../core/session/begun-call.js'
import type { BegunModel, FinishedModel, ModelRequest } from '../../core/session/model-call.js'
import type { Session } from '../../core/session/session.js'
import type { BegunTool, FinishedTool } from '../../core/session/tool-call.js'
import type { Approver, Reply } from '../../core/verdict/approval.js'
import { withoutData } from './params.js'
import type { ParamsOf } from './protocol.js'

type Kind = 'tool' | 'model'
type Begun = BegunTool | BegunModel
type Finished = FinishedTool<Json> | FinishedModel<Json>
/** Tool and model calls alike. */
interface Running {
  readonly status: 'run'
  finish(given: Json): Promise<Finished>
  fail(error: string): Promise<Finished>
}
/** After the beginning, or, for a model's response, after the end. */
interface Open {
  readonly status: 'needs_approval'
  readonly reason: string
  readonly question: Question
  readonly outcome: Outcome
  answer(reply: Reply): Promise<Begun | Finished>
}

interface Call {
  readonly id: string
  readonly kind: Kind
  readonly session: Session
  /** Ends the hooks of the request that is in progress. */
  readonly controller: AbortController
  /** The result or response that was given. */
  given?: Json
  /** What it waits for. Absent while hooks judge it. */
  now?: Running | Open
}

/** The most calls that may be open: a host that never ends its calls must not fill the memory. */
const MOST_CALLS = 10_000

/** How a call is asked about, and ended early. */
interface Beginning {
  readonly controller: AbortController
  /** Undefined if questions are answered later. */
  readonly approver: ((call: string) => Approver) | undefined
}

export class BegunCalls {
  readonly #calls = new Map<string, Call>()
  #last = 0

  get size(): number {
    return this.#calls.size
  }

  beginTool(session: Session, params: ParamsOf<'tool.begin'>, how: Beginning): Promise<Json> {
    const { name, input, id, timeout, renames = false } = params
    const begin = (options: CallOptions) =>
      session.beginTool({ name, input, ...(id !== undefined && { id }) }, { ...options, renames })
    return this.#begin('tool', session, timeout, how, begin)
  }

  beginModel(session: Session, params: ParamsOf<'model.begin'>, how: Beginning): Promise<Json> {
    const { request, timeout } = params
    const begin = (options: CallOptions) =>
      session.beginModel(request as unknown as ModelRequest, options) as Promise<Begun>
    return this.#begin('model', session, timeout, how, begin)
  }

  async answer(kind: Kind, { call: id, question, reply }: ParamsOf<'tool.answer'>): Promise<Json> {
    const call = this.#called(kind, id)
    const { now } = call
    if (now?.status !== 'needs_approval') throw ended(`${id} does not wait for an answer`)
    // An answer must not reach the next question of the call.
    if (now.question.id !== question) throw ended(`${id} does not ask the question ${quoted(question)}`)
    const next = await this.#judged(call, () => now.answer(reply as Reply))
    return isFinished(next) ? this.#finished(call, next) : this.#told(call, next)
  }

  async finish(kind: Kind, id: string, given: Json): Promise<Json> {
    const [call, running] = this.#running(kind, id)
    call.given = given
    return this.#finished(call, await this.#judged(call, () => running.finish(given)))
  }

  async fail(kind: Kind, id: string, error: string): Promise<Json> {
    const [call, running] = this.#running(kind, id)
    return this.#finished(call, await this.#judged(call, () => running.fail(error)))
  }

  /** The signal of the hooks that a request about this call runs. */
  controllerOf(id: string): AbortController | undefined {
    return this.#calls.get(id)?.controller
  }

  /** The session is closed, and hooks have seen its calls fail. */
  forget(session: Session): void {
    for (const [id, call] of this.#calls) if (call.session === session) this.#calls.delete(id)
  }

  async #begin(
    kind: Kind,
    session: Session,
    timeout: number | undefined,
    { controller, approver }: Beginning,
    begin: (options: CallOptions) => Promise<Begun>,
  ): Promise<Json> {
    if (this.#calls.size >= MOST_CALLS) {
      const text = `${MOST_CALLS} calls have begun and not ended; finish or fail them first`
      throw new HookError('OPTIONS_INVALID', text)
    }
    this.#last++
    const call: Call = { id: `c${this.#last}`, kind, session, controller }
    this.#calls.set(call.id, call)
    const options = {
      signal: controller.signal,
      ...(timeout !== undefined && { timeout }),
      ...(approver && { approver: approver(call.id) }),
    }
    return this.#told(call, await this.#judged(call, () => begin(options)))
  }

  /** A call whose hooks ended the turn, or were aborted, is over. */
  async #judged<T>(call: Call, judge: () => Promise<T>): Promise<T> {
    delete call.now
    try {
      return await judge()
    } catch (error) {
      this.#calls.delete(call.id)
      throw error
    }
  }

  #told(call: Call, begun: Begun): Json {
    switch (begun.status) {
      case 'run': {
        const { status, outcome } = begun
        call.now = begun as unknown as Running
        const allowed =
          'input' in begun
            ? { name: begun.name, input: begun.input }
            : { request: begun.request, held: begun.held }
        return told({ status, call: call.id, ...allowed, outcome: withoutData(outcome) })
      }
      case 'needs_approval':
        return this.#asked(call, begun, {})
      case 'denied':
        this.#calls.delete(call.id)
        return told({ status: begun.status, reason: begun.reason, outcome: withoutData(begun.outcome) })
      case 'responded': {
        this.#calls.delete(call.id)
        const { status, outcome } = begun
        const given = 'result' in begun ? { result: begun.result } : { response: begun.response }
        return told({ status, ...given, outcome: withoutData(outcome) })
      }
    }
  }

  #finished(call: Call, finished: Finished): Json {
    const { status, outcome } = finished
    const about = {
      outcome: withoutData(outcome),
      ...(finished.after && { after: withoutData(finished.after) }),
    }
    if (status === 'needs_approval') return this.#asked(call, finished, about)
    this.#calls.delete(call.id)
    if (status === 'denied' || status === 'failed') return told({ status, reason: finished.reason, ...about })
    const [name, value] = 'result' in finished ? ['result', finished.result] : ['response', finished.response]
    // Numbers and the order of keys may not survive the way here and back, so the host keeps what no hook replaced.
    const isOwn = status === 'ok' && Object.is(value, call.given)
    return told({ status, ...(!isOwn && { [name as string]: value }), ...about })
  }

  #asked(call: Call, open: Open, about: object): Json {
    call.now = open
    const { status, reason, question, outcome } = open
    return told({ status, call: call.id, reason, question, outcome: withoutData(outcome), ...about })
  }

  #running(kind: Kind, id: string): readonly [Call, Running] {
    const call = this.#called(kind, id)
    if (call.now?.status === 'run') return [call, call.now]
    throw ended(call.now ? `${id} may not run: it waits for an answer` : `${id} is still being judged`)
  }

  #called(kind: Kind, id: string): Call {
    const call = this.#calls.get(id)
    if (call?.kind === kind) return call
    if (call) throw ended(`${id} is a ${call.kind} call, not a ${kind} call`)
    const number = Number(/^c([1-9]\d{0,14})$/.exec(id)?.[1] ?? Number.POSITIVE_INFINITY)
    throw ended(number <= this.#last ? `${id} has already ended` : `There is no call ${quoted(id)}`)
  }
}

/** Only what comes after the call has an outcome of the event after it. */
function isFinished(next: Begun | Finished): next is Finished {
  return 'after' in next && next.after !== undefined
}

/** Everything in it is JSON, or becomes JSON when it is written. */
function told(answer: object): Json {
  return answer as unknown as Json
}

function ended(text: string): HookError {
  return new HookError('CALL_ENDED', text)
}

function quoted(id: string): string {
  return JSON.stringify(id.slice(0, 100))
}
