// runHook: a hook in TypeScript that is started for every event. Reads the event, calls its handler, answers the agent.

import { basename } from 'node:path'
import { type Diagnostic, textOf } from '../core/base/errors.js'
import { inTime, type MaybePromise } from '../core/base/promise.js'
import { withoutSecrets } from '../core/base/secrets.js'
import { plainText, shown } from '../core/base/text.js'
import { canonicalEvent, type EventName, resolveEvent } from '../core/events/events.js'
import { type HookResult, parseResult } from '../core/events/result.js'
import { answerOf, verdictOfResult } from '../hosts/answer.js'
import type { HostAnswer, HostEvent, HostVerdict } from '../hosts/host.js'
import { hostNamed, type KnownHost } from '../hosts/hosts.js'
import { eventOf, InvalidHookInput, type ReadOptions, readEnvelope, senderOf } from '../hosts/payload.js'
import { type HookInput, type HostName, type InputOf, inputOf, parsePayload } from './hook-input.js'
import { beforeTheEnd, keepStdoutClean, leave, tellLate, type Unanswered } from './hook-process.js'
import { checkedOptions, InvalidOption } from './run-options.js'
import { readStandardInput } from './standard-input.js'

/** To return nothing is to have no objection. What is thrown is a failure of the hook. */
export type HookHandler<E extends EventName | 'Unknown'> = (
  input: InputOf<E>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement is one that has no objection
) => MaybePromise<HookResult | undefined | void>

/** `Unknown` is asked about events that no version of this library knows yet. */
export type HookHandlers = { readonly [E in EventName | 'Unknown']?: HookHandler<E> }

export interface RunHookOptions {
  /** For telemetry and messages; default: the name of the script. */
  readonly name?: string
  /**
   * What happens where the hook throws, answers nonsense, or cannot read its input. `open`, the default: it goes on,
   * and the user is told. `closed`: it is refused; an agent that wants to stop may stop all the same. `continue` and
   * `block` are the same two. Options that do not exist are a failure that is always closed.
   */
  readonly onFailure?: 'open' | 'closed' | 'continue' | 'block'
  /** The event of a payload that names none. */
  readonly event?: string
  /** Who asks; default: by how the payload looks. */
  readonly host?: HostName
  /** Seconds, for the input and for the handler. An agent that loses patience goes on without the answer, so a gate should give up earlier. */
  readonly timeout?: number
  /** In place of standard input, */
  readonly stdin?: string
  /** and in place of the process's output and exit code. Telemetry is the last line of `stderr`. */
  readonly answered?: (answer: HostAnswer) => void
}

/** Answers once. Never rejects. The process ends with the answer, whatever a handler has left open. */
export async function runHook(handlers: HookHandlers, given: RunHookOptions = {}): Promise<void> {
  const { options, problem } = checkedOptions(given)
  const run = new Run(options, problem)
  if (!options.answered) {
    keepStdoutClean()
    beforeTheEnd(run)
  }
  try {
    const result = await run.ask(handlers)
    run.succeed(result)
  } catch (error) {
    run.fail(error)
  }
}

/** Where nothing is known yet. */
const NOTHING: HostEvent = { name: 'Unknown', sentAs: '', data: {} }

class Run implements Unanswered {
  readonly #options: RunHookOptions
  readonly #name: string
  /** Not performance.now(): to load it takes longer than the rest. */
  readonly #startedAt = process.hrtime.bigint()
  #host: KnownHost
  #event: HostEvent
  #notes: readonly string[] = []
  #done = false
  #problem: InvalidOption | undefined

  constructor(options: RunHookOptions, problem: InvalidOption | undefined) {
    this.#options = options
    this.#problem = problem
    this.#name = options.name ?? basename(process.argv[1] ?? 'hook')
    this.#host = hostNamed(options.host ?? 'claude-code') as KnownHost
    this.#event = { ...NOTHING, name: canonicalEvent(options.event ?? '') ?? NOTHING.name }
  }

  get isAnswered(): boolean {
    return this.#done
  }

  async ask(handlers: HookHandlers): Promise<HookResult> {
    checkHandlers(handlers)
    const input = this.#read(this.#options.stdin ?? (await readStandardInput(this.#options.timeout)))
    // Not before: who asks about what decides how it is told.
    if (this.#problem) throw this.#problem
    const handler = handlers[input.event] as ((input: HookInput) => unknown) | undefined
    const answer = await this.#inTime(Promise.resolve(handler?.(input)))
    const diagnostics: Diagnostic[] = []
    const result = parseResult(answer, diagnostics)
    this.#notes = diagnostics.map(({ text }) => text)
    // What it would have made safe must not happen as it was: as with options, whoever wrote it may mean a gate.
    this.#problem = misspeltChange(result)
    if (this.#problem) throw this.#problem
    return result
  }

  /** Step by step, so that a refusal of the input reaches whoever sent it, about what it asked. */
  #read(text: string): HookInput {
    const payload = parsePayload(text)
    const options: ReadOptions = { ...this.#options, env: process.env }
    this.#host = senderOf(payload, options.event ?? '', options)
    const asked = readEnvelope(payload, options)
    this.#host = asked.host
    this.#event = { name: asked.name, sentAs: asked.sentAs, data: {} }
    if (asked.known === undefined && asked.sentAs === '') this.#problem ??= unknownEvent(asked.name)
    const event = eventOf(payload, asked)
    const input = inputOf({ ...asked, event })
    this.#event = event
    return input
  }

  #inTime(work: Promise<unknown>): Promise<unknown> {
    const { timeout } = this.#options
    return timeout === undefined ? work : inTime(work, timeout * 1000)
  }

  succeed(result: HookResult): void {
    if (this.#done) return
    this.#finish(verdictOfResult(result), {
      result: 'ok',
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    })
  }

  fail(error: unknown): void {
    if (this.#done) tellLate(this.#name, oneLine(textOf(error)))
    else this.#failed(error)
  }

  #failed(why: unknown): void {
    const error = this.#problem ?? why
    const isInvalid = error instanceof InvalidHookInput
    const said = isInvalid ? error.message : oneLine(textOf(error))
    const reason = `Hook ${this.#name} ${isInvalid ? 'cannot read its input' : 'failed'}: ${said}`
    const verdict: HostVerdict = this.#closes()
      ? { action: 'deny', reason, injections: [], messages: [] }
      : { action: 'continue', injections: [], messages: [`${reason}. It checked nothing.`] }
    this.#finish(verdict, { result: isInvalid ? 'invalid_input' : 'error', error: said })
  }

  /** A hook that is broken must not keep an agent from ever stopping. */
  #closes(): boolean {
    const { onFailure } = this.#options
    const isClosed = onFailure === 'closed' || onFailure === 'block' || this.#problem !== undefined
    return isClosed && resolveEvent(this.#event.name).deny !== 'go-on'
  }

  #finish(verdict: HostVerdict, outcome: object): void {
    this.#done = true
    const answer = answerOf(this.#host, this.#event, verdict)
    const duration = Number((process.hrtime.bigint() - this.#startedAt) / 1000n)
    // A name that is not known is a text out of the payload.
    const event = canonicalEvent(this.#event.name) ?? 'Unknown'
    const telemetry = `${JSON.stringify({ hook: this.#name, event, duration_us: duration, ...outcome })}\n`
    const { answered } = this.#options
    if (answered) answered({ ...answer, stderr: `${answer.stderr ?? ''}${telemetry}` })
    else leave(answer, telemetry, verdict.action !== 'continue')
  }
}

/** A misspelt handler would be a gate that lets everything pass. */
function checkHandlers(handlers: HookHandlers): void {
  for (const [key, value] of Object.entries(handlers)) {
    if (key !== 'Unknown' && canonicalEvent(key) !== key) throw unknownHandler(key)
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`${key} of runHook() must be a function, got ${shown(value)}`)
    }
  }
}

function unknownHandler(key: string): TypeError {
  const meant = canonicalEvent(key)
  const hint = meant ? `; did you mean ${meant}?` : '.'
  return new TypeError(
    `runHook() knows no event ${shown(key)}${hint} Handlers go by canonical names, whatever an agent calls the event`,
  )
}

/** The payload names none, so that no handler but that of unknown events would ever be asked. */
function unknownEvent(name: string): InvalidOption {
  return new InvalidOption(`event of runHook() must be a known event, got ${shown(name)}`)
}

/** Handlers read `toolInput`, and changes go by the wire's names: an agent would be blamed for what is a slip. */
function misspeltChange({ data = {} }: HookResult): InvalidOption | undefined {
  for (const key of Object.keys(data)) {
    const wire = WIRE_NAMES[key]
    if (wire !== undefined && Object.hasOwn(WIRE_NAMES, key))
      return new InvalidOption(`modify() takes the names of the wire: write ${wire}, not ${key}`)
  }
  return undefined
}

const WIRE_NAMES: Readonly<Record<string, string>> = {
  toolInput: 'tool_input',
  toolName: 'tool_name',
  toolResult: 'tool_result',
  toolResponse: 'tool_response',
  userPrompt: 'user_prompt',
}

const LONGEST = 500

/** What a handler throws may be anything, and as long as it likes. */
function oneLine(text: string): string {
  return plainText(withoutSecrets(text)).replace(/\s+/g, ' ').trim().slice(0, LONGEST)
}
