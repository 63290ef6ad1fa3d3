// serveHook: a resident hook in TypeScript. Reads what the engine asks, calls its handlers, answers.

import type { Readable, Writable } from 'node:stream'
import { inspect } from 'node:util'
import { isObject, type Json } from '../core/base/json.js'
import type { MaybePromise } from '../core/base/promise.js'
import { shown } from '../core/base/text.js'
import { Connection } from '../rpc/connection.js'
import { RPC_CODES } from '../rpc/message.js'
import { RpcError } from '../rpc/problem.js'
import { EVENT_METHOD, HELLO_METHOD, INTERCEPTS, type Intercept } from '../systems/picoclaw/protocol.js'
import {
  type AfterLlmAnswer,
  type AfterToolAnswer,
  type Approval,
  type BeforeLlmAnswer,
  type BeforeToolAnswer,
  proceed,
} from './answers.js'
import type { AfterLlm, AfterTool, ApproveTool, BeforeLlm, BeforeTool, Observed } from './params.js'
import { claimStdout } from './protocol-output.js'

/** May be async; calls overlap. To return nothing is to have no objection. What is thrown is told to the engine, which applies `onFailure`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement is one that has no objection
type Handler<Params, Answer> = (params: Params) => MaybePromise<Answer | undefined | void>

export interface ResidentHook {
  /** For the logs of the engine. */
  readonly name: string
  readonly beforeLlm?: Handler<BeforeLlm, BeforeLlmAnswer>
  readonly afterLlm?: Handler<AfterLlm, AfterLlmAnswer>
  readonly beforeTool?: Handler<BeforeTool, BeforeToolAnswer>
  readonly afterTool?: Handler<AfterTool, AfterToolAnswer>
  /** Must answer: nothing is an error, and an error blocks the call. Without it every call is refused, if the engine asks. */
  readonly approveTool?: (params: ApproveTool) => MaybePromise<Approval>
  /** Nobody waits for it. What it throws is logged. */
  readonly onEvent?: (event: Observed) => MaybePromise<void>
}

export interface ServeOptions {
  /** Default: standard input. */
  readonly input?: Readable
  /** Default: standard output; while it is served, what else is printed there goes to standard error. */
  readonly output?: Writable
}

/** The engine is no stranger, and a conversation may be long. */
const MAX_LINE_BYTES = 256 * 1_048_576

const HANDLERS = {
  before_llm: 'beforeLlm',
  after_llm: 'afterLlm',
  before_tool: 'beforeTool',
  after_tool: 'afterTool',
  approve_tool: 'approveTool',
} as const satisfies Readonly<Record<Intercept, keyof ResidentHook>>

const INTERCEPT_OF: ReadonlyMap<string, Intercept> = new Map(
  (Object.keys(INTERCEPTS) as Intercept[]).map((intercept) => [INTERCEPTS[intercept].method, intercept]),
)

/**
 * Serves until the input ends; settles when the handlers under way are done and every answer is written, so that the
 * process ends by itself. Never rejects; throws at once where the hook is misspelt.
 */
export function serveHook(hook: ResidentHook, options: ServeOptions = {}): Promise<void> {
  checkHook(hook)
  const { input = process.stdin } = options
  const { output, release } = options.output ? { output: options.output, release: () => {} } : claimStdout()
  const events = new Set<Promise<void>>()
  const observe = (event: Json | undefined): void => {
    const work = observed(hook, event).finally(() => events.delete(work))
    events.add(work)
  }
  return new Promise((resolve) => {
    const connection = new Connection({
      input,
      output,
      maxLineBytes: MAX_LINE_BYTES,
      // Some hosts send notifications with the id 0.
      onRequest: (method, params) =>
        method === EVENT_METHOD ? observe(params) : answered(hook, method, params),
      onNotification: (method, params) => {
        if (method === EVENT_METHOD) observe(params)
      },
      onProblem: ({ text }) => log(hook, text),
      onClose: () => resolve(finish()),
    })
    const finish = async (): Promise<void> => {
      await Promise.all([connection.finished(), ...events])
      connection.close()
      release()
      input.destroy() // where the output broke it is open still, and would keep the process
    }
  })
}

/** A misspelt handler would be a gate that lets everything pass. */
function checkHook(hook: ResidentHook): void {
  const known: readonly string[] = [...Object.values(HANDLERS), 'onEvent']
  for (const [key, value] of Object.entries(hook)) {
    if (typeof value === 'function' && !known.includes(key)) {
      throw new TypeError(`serveHook() knows no ${shown(key)}: it takes name, ${known.join(', ')}`)
    }
    if (typeof value !== 'function' && value !== undefined && known.includes(key)) {
      throw new TypeError(`${key} of serveHook() must be a function, got ${shown(value)}`)
    }
  }
  if (typeof hook.name !== 'string') throw new TypeError('serveHook() needs a name')
}

async function answered(hook: ResidentHook, method: string, params: Json | undefined): Promise<unknown> {
  try {
    return await answerTo(hook, method, params)
  } catch (error) {
    log(hook, error instanceof RpcError ? error.message : `${method} failed: ${inspect(error)}`)
    throw error
  }
}

async function answerTo(hook: ResidentHook, method: string, params: Json | undefined): Promise<unknown> {
  if (method === HELLO_METHOD) return greeted(hook, params)
  const intercept = INTERCEPT_OF.get(method)
  const handler = intercept && (hook[HANDLERS[intercept]] as Handler<unknown, unknown> | undefined)
  const mayBeSilent = intercept !== undefined && INTERCEPTS[intercept].role === 'intercept'
  if (!handler) {
    if (mayBeSilent) return proceed()
    throw refused(RPC_CODES.methodNotFound, `${hook.name} has no handler for ${method}`)
  }
  if (!isObject(params)) throw refused(RPC_CODES.invalidParams, `${method} came without params`)
  const answer = await handler.call(hook, params)
  if (answer === undefined && mayBeSilent) return proceed()
  if (!isObject(answer)) {
    throw new TypeError(`${HANDLERS[intercept]} of ${hook.name} answered ${shown(answer)}, not an object`)
  }
  return answer
}

/** Whoever is to be asked and has no answer would let everything pass: the file that says so, or the hook, is wrong. */
function greeted(hook: ResidentHook, params: Json | undefined): Json {
  const modes = isObject(params) && Array.isArray(params.modes) ? params.modes : []
  const served = new Set<unknown>(
    (Object.keys(HANDLERS) as Intercept[])
      .filter((intercept) => hook[HANDLERS[intercept]] !== undefined)
      .map((intercept) => INTERCEPTS[intercept].mode),
  )
  if (hook.onEvent) served.add('observe')
  const idle = modes.filter((mode) => !served.has(mode))
  if (idle.length === 0) return { ok: true, name: hook.name }
  const text = `${hook.name} is configured for ${idle.map(shown).join(', ')} and has no handler for it`
  throw refused(RPC_CODES.invalidParams, text)
}

async function observed(hook: ResidentHook, event: Json | undefined): Promise<void> {
  if (!isObject(event)) return log(hook, `${EVENT_METHOD} came without params`)
  try {
    await hook.onEvent?.(event as unknown as Observed)
  } catch (error) {
    log(hook, `onEvent failed: ${inspect(error)}`)
  }
}

function refused(code: number, text: string): RpcError {
  return new RpcError('remote', text, { code })
}

function log({ name }: ResidentHook, text: string): void {
  process.stderr.write(`${name}: ${text}\n`)
}
