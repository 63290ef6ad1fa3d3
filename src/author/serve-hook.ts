// serveHook: a resident TypeScript hook. It reads requests from the engine, calls the handlers and answers.

import { type Readable, Writable } from 'node:stream'
import { inspect } from 'node:util'
import { isObject, type Json } from '../core/base/json.js'
import type { MaybePromise } from '../core/base/promise.js'
import { shown } from '../core/base/text.js'
import { type HookResult, proceed } from '../core/events/result.js'
import { Connection } from '../rpc/connection.js'
import { RPC_CODES } from '../rpc/message.js'
import { RpcError } from '../rpc/problem.js'
import { EVENT_METHOD, HELLO_METHOD, INTERCEPTS, type Intercept } from '../systems/picoclaw/protocol.js'
import type {
  AfterLlmAnswer,
  AfterToolAnswer,
  Approval,
  BeforeLlmAnswer,
  BeforeToolAnswer,
} from './deprecated.js'
import type { AfterLlm, AfterTool, ApproveTool, BeforeLlm, BeforeTool, Observed } from './params.js'

/**
 * May be async; calls overlap. Returning nothing means no objection. An error reaches the engine, which applies
 * `onFailure`. `modify()` takes the fields that the handler was given; fields that it does not name stay as they are.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement has no objection
type Handler<Params, Answer> = (params: Params) => MaybePromise<HookResult | Answer | undefined | void>

/** Every handler may answer `proceed`, `deny`, `modify`, `inject`, `askUser`, `abortTurn` or `hardAbort`. */
export interface ResidentHook {
  /** Shown in the engine's logs. */
  readonly name: string
  readonly beforeLlm?: Handler<BeforeLlm, BeforeLlmAnswer>
  readonly afterLlm?: Handler<AfterLlm, AfterLlmAnswer>
  /** May also `respond()`: with a text, or with a ToolResult. */
  readonly beforeTool?: Handler<BeforeTool, BeforeToolAnswer>
  readonly afterTool?: Handler<AfterTool, AfterToolAnswer>
  /** Must answer: returning nothing is an error, and an error blocks the call. Without this handler, every call that the engine asks about is refused. */
  readonly approveTool?: (params: ApproveTool) => MaybePromise<HookResult | Approval>
  /** The engine does not wait for it. Errors are logged. */
  readonly onEvent?: (event: Observed) => MaybePromise<void>
}

export interface ServeOptions {
  /** Default: standard input. */
  readonly input?: Readable
  /** Default: standard output. While the hook runs, everything else that prints there goes to standard error. */
  readonly output?: Writable
}

/** The engine is trusted, and a conversation may be long. */
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
 * Serves until the input ends. Settles when all handlers are done and every answer is written; the process then ends by
 * itself. Never rejects; throws at once if a handler's name is misspelt.
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
      input.destroy() // still open if the output broke; it would keep the process alive
    }
  })
}

/** A misspelt handler would be a gate that lets everything pass. */
function checkHook(hook: ResidentHook): void {
  const known: readonly string[] = [...Object.values(HANDLERS), 'onEvent']
  for (const [key, value] of Object.entries(hook)) {
    if (typeof value === 'function' && !known.includes(key)) {
      throw new TypeError(`serveHook() has no ${shown(key)}; it takes name, ${known.join(', ')}`)
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
  if (!isObject(params)) throw refused(RPC_CODES.invalidParams, `${method} arrived without params`)
  const answer = await handler.call(hook, params)
  if (answer === undefined && mayBeSilent) return proceed()
  if (!isObject(answer)) {
    throw new TypeError(`${HANDLERS[intercept]} of ${hook.name} answered ${shown(answer)}, not an object`)
  }
  return wireAnswer(intercept, answer)
}

/** The protocol's field for a hook's change. After an operation it has the same name as in the params. */
const CHANGES: Readonly<Partial<Record<Intercept, string>>> = { before_llm: 'request', before_tool: 'call' }

/**
 * Translates a HookResult to PicoClaw's protocol; an answer that is already in that form stays as it is. Fields that the
 * protocol does not have are sent too, so that the engine reports them.
 */
function wireAnswer(intercept: Intercept, answer: Readonly<Record<string, unknown>>): unknown {
  if ('approved' in answer) return answer
  const { action, data, response, ...rest } = answer
  if (intercept === 'approve_tool' && (action === 'continue' || action === 'deny'))
    return { ...rest, ...(data !== undefined && { data }), approved: action === 'continue' }
  return {
    ...changed(intercept, data),
    ...rest,
    ...(response !== undefined && (action === 'respond' ? { result: toolResult(response) } : { response })),
    action: action === 'deny' ? 'deny_tool' : action,
  }
}

function changed(intercept: Intercept, data: unknown): object {
  const object = CHANGES[intercept]
  if (object !== undefined && data !== undefined) return { [object]: data }
  return isObject(data) ? data : data === undefined ? {} : { data }
}

/** An object is sent as it is, and the engine checks it; anything else is text for the model. */
function toolResult(response: unknown): unknown {
  if (isObject(response)) return response
  return { for_llm: typeof response === 'string' ? response : JSON.stringify(response) }
}

/** A mode without a handler would let everything pass, so either the configuration or the hook is wrong. */
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
  const text = `${hook.name} is configured for ${idle.map(shown).join(', ')} but has no handler for it`
  throw refused(RPC_CODES.invalidParams, text)
}

async function observed(hook: ResidentHook, event: Json | undefined): Promise<void> {
  if (!isObject(event)) return log(hook, `${EVENT_METHOD} arrived without params`)
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

// ---- standard output ------------------------------------------------------------------------------------------

interface ProtocolOutput {
  readonly output: Writable
  /** Lets everything print to standard output again. */
  readonly release: () => void
}

/**
 * Keeps standard output for the protocol, because any other line would break an answer. console.log, console.table and
 * libraries all call process.stdout.write, so that is redirected. Programs that the hook starts are not.
 */
function claimStdout(): ProtocolOutput {
  const { stdout, stderr } = process
  const write = stdout.write
  const output = new Writable({
    decodeStrings: false,
    write: (text, encoding, done) => void write.call(stdout, text, encoding, done),
  })
  stdout.write = stderr.write.bind(stderr)
  // This listener stays: an error without a listener would end the process before its handlers are done.
  stdout.on('error', (error) => output.destroy(error))
  const release = () => {
    stdout.write = write
  }
  return { output, release }
}
