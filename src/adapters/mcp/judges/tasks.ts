// Requests that are made as tasks: the reply only names a task, and tasks/result fetches the result later. It is judged like the
// reply that it replaces.

import { isObject, type Json } from '../../../core/base/json.js'
import { RPC_CODES } from '../../../rpc/message.js'
import { type Exchange, failure, isOwn, type RpcReply } from '../judge.js'
import { asParams, type JudgedEvent, type Judging, type Params } from './judging.js'

/** How the request of a task goes on. */
export interface KeptRequest {
  /** Judges the reply with the result, once. */
  readonly judge: (reply: RpcReply) => Promise<RpcReply>
  /** No result will come. */
  readonly drop: () => void
}

interface Task extends KeptRequest {
  /** The judged reply, for who fetches it again. Undefined in it: it was too long to be kept. */
  judged?: Promise<RpcReply | undefined>
}

const MOST_TASKS = 1000
/** A longer result can be fetched once. */
const MOST_KEPT = 65_536
/** The host may show this text to the model in place of the result, and no hook has seen it. */
const IMMEDIATE = 'io.modelcontextprotocol/model-immediate-response'

/** The tasks of one side's requests. */
export class Tasks {
  readonly #judging: Judging
  readonly #events: readonly JudgedEvent[]
  readonly #tasks = new Map<string, Task>()

  /** `events`: they judge results of such requests. */
  constructor(judging: Judging, events: readonly JudgedEvent[]) {
    this.#judging = judging
    this.#events = events
  }

  /** Keeps the request if its reply is a task, and returns that reply. Undefined: the reply is the result. */
  keep(params: Params, reply: RpcReply, request: KeptRequest): RpcReply | undefined {
    const id = params.task === undefined ? undefined : taskIn(reply)
    if (id === undefined) return undefined
    this.#forget(id)
    this.#tasks.set(id, request)
    const [oldest = id] = this.#tasks.keys()
    if (this.#tasks.size > MOST_TASKS) this.#forget(oldest)
    return this.#judging.listensTo(this.#events) ? withoutImmediate(reply) : reply
  }

  /** tasks/result */
  async result(params: Params, exchange: Exchange): Promise<RpcReply> {
    const { taskId } = params
    const task = typeof taskId === 'string' ? this.#tasks.get(taskId) : undefined
    if (!task && this.#judging.listensTo(this.#events))
      return failure('The result is not passed on: hooks did not see the request of this task', UNKNOWN)
    const reply = await exchange.forward()
    // The server did not answer, and may do so later.
    if (!task || isOwn(reply)) return reply
    if (task.judged !== undefined) return copyOf(await task.judged)
    const judging = task.judge(reply)
    task.judged = judging.then(
      (judged) => (isShort(judged) ? judged : undefined),
      () => undefined,
    )
    return judging
  }

  /** tasks/get. A later revision of the protocol gives the result with the state of the task. */
  async get(exchange: Exchange): Promise<RpcReply> {
    const reply = await exchange.forward()
    const { result } = 'result' in reply ? asParams(reply.result) : {}
    if (result === undefined || !this.#judging.listensTo(this.#events)) return reply
    return failure('The result is not passed on: hooks can only judge the results of tasks/result', UNKNOWN)
  }

  /** tasks/cancel */
  async cancel(params: Params, exchange: Exchange): Promise<RpcReply> {
    const reply = await exchange.forward()
    if ('result' in reply && typeof params.taskId === 'string') this.#forget(params.taskId)
    return reply
  }

  #forget(id: string): void {
    const task = this.#tasks.get(id)
    this.#tasks.delete(id)
    if (task && !task.judged) task.drop()
  }
}

/** The reply to another request has another id. */
function copyOf(judged: RpcReply | undefined): RpcReply {
  if (judged === undefined) return failure('The result of this task was already fetched', UNKNOWN)
  return 'result' in judged ? { result: judged.result } : { error: judged.error }
}

const UNKNOWN = RPC_CODES.invalidParams

/** A reply that has more than a task may be read as a result, so it is judged as one. */
function taskIn(reply: RpcReply): string | undefined {
  if (!('result' in reply) || !isObject(reply.result)) return undefined
  const { task, _meta, ...more } = reply.result as { readonly [key: string]: Json }
  const id = isObject(task) ? task.taskId : undefined
  return typeof id === 'string' && Object.keys(more).length === 0 ? id : undefined
}

function withoutImmediate(reply: RpcReply): RpcReply {
  const { task, _meta } = ('result' in reply ? reply.result : {}) as { readonly [key: string]: Json }
  if (!isObject(_meta) || !Object.hasOwn(_meta, IMMEDIATE)) return reply
  const { [IMMEDIATE]: _, ...rest } = _meta as { readonly [key: string]: Json }
  return { result: { task: task as Json, _meta: rest } }
}

function isShort(reply: RpcReply): boolean {
  const text = reply.line ?? JSON.stringify('result' in reply ? reply.result : reply.error)
  return text.length <= MOST_KEPT
}
