// runHook: a TypeScript hook that is started for every event. It reads the event, calls the handler and answers the agent.

import { basename } from 'node:path'
import { type Diagnostic, textOf } from '../core/base/errors.js'
import { inTime, type MaybePromise } from '../core/base/promise.js'
import { withoutSecrets } from '../core/base/secrets.js'
import { plainText, shown } from '../core/base/text.js'
import { canonicalEvent, type EventName, resolveEvent } from '../core/events/events.js'
import type { HookResult } from '../core/events/result.js'
import { callerEnv } from '../files/caller.js'
import { answerOf, combined, isFinal, verdictOfResult } from '../hosts/answer.js'
import type { HostAnswer, HostEvent, HostVerdict } from '../hosts/host.js'
import { HOST_NAMES, hostNamed, type KnownHost } from '../hosts/hosts.js'
import { eventOf, InvalidHookInput, type ReadOptions, readEnvelope, senderOf } from '../hosts/payload.js'
import { readResult } from '../systems/amplifier.js'
import { type HookInput, type HostName, type InputOf, inputOf, parsePayload } from './hook-input.js'
import {
  beforeTheEnd,
  keepStdoutClean,
  leave,
  readStandardInput,
  tellLate,
  type Unanswered,
} from './hook-process.js'

/** Returning nothing means no objection. Throwing is a failure of the hook. */
export type HookHandler<E extends EventName | 'Unknown'> = (
  input: InputOf<E>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement has no objection
) => MaybePromise<HookResult | undefined | void>

/** `Unknown` gets events that this version does not know. */
export type HookHandlers = { readonly [E in EventName | 'Unknown']?: HookHandler<E> }

export interface RunHookOptions {
  /** For telemetry and messages. Default: the name of the script. */
  readonly name?: string
  /**
   * Decides what happens when the hook throws, gives an invalid answer, or cannot read its input. `open`, the default: the
   * operation goes on, and the user is told. `closed`: it is refused, but an agent that wants to stop may stop.
   * `continue` and `block` are aliases. A mistake in these options always fails closed.
   */
  readonly onFailure?: 'open' | 'closed' | 'continue' | 'block'
  /** The event of a payload that names none. */
  readonly event?: string
  /** The agent that asks. Default: recognized by its payload. */
  readonly host?: HostName
  /** Seconds, for the input and for the handler. Choose less than the agent's own timeout: after that it goes on without the hook. */
  readonly timeout?: number
  /** Replaces standard input. */
  readonly stdin?: string
  /** Replaces the output and the exit code of the process. Telemetry is the last line of `stderr`. */
  readonly answered?: (answer: HostAnswer) => void
}

/**
 * Answers once. Never rejects. The process ends with the answer, even if a handler left something open. The handler is called
 * for each part of a tool call that does several things, such as a patch of two files, until it refuses one.
 */
export async function runHook(handlers: HookHandlers, given: RunHookOptions = {}): Promise<void> {
  await runJudging('parts', handlers, given)
}

/** What the handler is shown of a tool call that does several things. `both`: first the whole call, then each part. */
export type Judged = 'parts' | 'whole' | 'both'

/** runHook for hooks of ours, which may understand the whole call. */
export async function runJudging(
  judged: Judged,
  handlers: HookHandlers,
  given: RunHookOptions,
): Promise<void> {
  const { options, problem } = checkedOptions(given)
  const run = new Run(options, problem, judged)
  if (!options.answered) {
    keepStdoutClean()
    beforeTheEnd(run)
  }
  try {
    const verdict = await run.ask(handlers)
    run.succeed(verdict)
  } catch (error) {
    run.fail(error)
  }
}

/** Used until the payload is read. */
const NOTHING: HostEvent = { name: 'Unknown', sentAs: '', data: {} }

class Run implements Unanswered {
  readonly #options: RunHookOptions
  readonly #name: string
  /** Not performance.now(): loading it takes longer than the rest. */
  readonly #startedAt = process.hrtime.bigint()
  #host: KnownHost
  #event: HostEvent
  #notes: readonly string[] = []
  #done = false
  #problem: InvalidOption | undefined
  readonly #judged: Judged

  constructor(options: RunHookOptions, problem: InvalidOption | undefined, judged: Judged) {
    this.#options = options
    this.#problem = problem
    this.#judged = judged
    this.#name = options.name ?? basename(process.argv[1] ?? 'hook')
    this.#host = hostNamed(options.host ?? 'claude-code') as KnownHost
    this.#event = { ...NOTHING, name: canonicalEvent(options.event ?? '') ?? NOTHING.name }
  }

  get isAnswered(): boolean {
    return this.#done
  }

  async ask(handlers: HookHandlers): Promise<HostVerdict> {
    checkHandlers(handlers)
    const inputs = this.#read(this.#options.stdin ?? (await readStandardInput(this.#options.timeout)))
    // Thrown only now, because the sender and the event decide how a failure is reported.
    if (this.#problem) throw this.#problem
    return this.#inTime(this.#judge(handlers, inputs))
  }

  async #judge(handlers: HookHandlers, inputs: readonly HookInput[]): Promise<HostVerdict> {
    const verdicts: HostVerdict[] = []
    for (const input of inputs) {
      const handler = handlers[input.event] as ((input: HookInput) => unknown) | undefined
      const verdict = verdictOfResult(this.#resultOf(await handler?.(input)))
      verdicts.push(verdict)
      if (isFinal(verdict)) break
    }
    return combined(verdicts)
  }

  #resultOf(answer: unknown): HookResult {
    const diagnostics: Diagnostic[] = []
    const result = readResult(answer, diagnostics)
    this.#notes = [...this.#notes, ...diagnostics.map(({ text }) => text)]
    // The change may have been meant to make the call safe, so the unchanged call must not run.
    this.#problem = misspeltChange(result)
    if (this.#problem) throw this.#problem
    return result
  }

  /** Keeps each part as soon as it is known, so that a failure is reported in the sender's form and names its event. */
  #read(text: string): readonly HookInput[] {
    const payload = parsePayload(text)
    const options: ReadOptions = { ...this.#options, env: callerEnv() }
    this.#host = senderOf(payload, options.event ?? '', options)
    const asked = readEnvelope(payload, options)
    this.#host = asked.host
    this.#event = { name: asked.name, sentAs: asked.sentAs, data: {} }
    if (asked.known === undefined && asked.sentAs === '') this.#problem ??= unknownEvent(asked.name)
    // One that goes on after a failure sees what was sent instead.
    const event = eventOf(payload, asked, this.#closes())
    const judged = this.#judged === 'whole' ? [] : partsOf(event)
    const shown = this.#judged === 'both' || judged.length === 0 ? [event, ...judged] : judged
    const inputs = shown.map((one) => inputOf({ ...asked, event: one }))
    this.#event = event
    return inputs
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const { timeout } = this.#options
    return timeout === undefined ? work : inTime(work, timeout * 1000)
  }

  succeed(verdict: HostVerdict): void {
    if (this.#done) return
    this.#finish(verdict, {
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
      : { action: 'continue', injections: [], messages: [`${reason}. This event was not checked.`] }
    this.#finish(verdict, { result: isInvalid ? 'invalid_input' : 'error', error: said })
  }

  /** A broken hook must not keep an agent from stopping. */
  #closes(): boolean {
    const { onFailure } = this.#options
    const isClosed = onFailure === 'closed' || onFailure === 'block' || this.#problem !== undefined
    return isClosed && resolveEvent(this.#event.name).deny !== 'go-on'
  }

  #finish(verdict: HostVerdict, outcome: object): void {
    this.#done = true
    const answer = answerOf(this.#host, this.#event, verdict)
    const duration = Number((process.hrtime.bigint() - this.#startedAt) / 1000n)
    // An unknown name is text from the payload.
    const event = canonicalEvent(this.#event.name) ?? 'Unknown'
    const telemetry = `${JSON.stringify({ hook: this.#name, event, duration_us: duration, ...outcome })}\n`
    const { answered } = this.#options
    if (answered) answered({ ...answer, stderr: `${answer.stderr ?? ''}${telemetry}` })
    else leave(answer, telemetry, verdict.action !== 'continue')
  }
}

/** What a call does, under Claude Code's names of tools. Empty if it is one thing, which the event itself shows. */
function partsOf({ name, sentAs, data: whole, calls = [] }: HostEvent): readonly HostEvent[] {
  if (calls.length < 2 && calls[0]?.data.tool_input === whole.tool_input) return []
  const { tool_name: own = null } = whole
  return calls.map(({ names: [tool = own], data }) => ({
    name,
    sentAs,
    data: { ...data, tool_name: tool, host_tool_name: own },
  }))
}

/** A misspelt handler would let everything pass. */
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
    `runHook() has no event ${shown(key)}${hint} Use canonical event names, even if the agent uses other names`,
  )
}

/** The payload names no event either, so only the handler for unknown events would ever run. */
function unknownEvent(name: string): InvalidOption {
  return new InvalidOption(`event of runHook() must be a known event, got ${shown(name)}`)
}

/** Handlers read `toolInput`, but a change must use the payload's names. The agent would ignore any other. */
function misspeltChange({ data = {} }: HookResult): InvalidOption | undefined {
  for (const key of Object.keys(data)) {
    const wire = WIRE_NAMES[key]
    if (wire !== undefined && Object.hasOwn(WIRE_NAMES, key))
      return new InvalidOption(`modify() takes the field names of the payload: write ${wire}, not ${key}`)
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

/** A handler may throw anything, of any length. */
function oneLine(text: string): string {
  return plainText(withoutSecrets(text)).replace(/\s+/g, ' ').trim().slice(0, LONGEST)
}

// ---- options --------------------------------------------------------------------------------------------------

/** A mistake in the hook itself. It fails closed, because its author may have wanted that. */
class InvalidOption extends TypeError {
  override readonly name = 'InvalidOption'
}

interface Check {
  readonly takes: (value: unknown) => boolean
  readonly must: string
}

const TEXT: Check = { takes: (value) => typeof value === 'string', must: 'a string' }

const CHECKS: Readonly<Record<keyof RunHookOptions, Check>> = {
  name: TEXT,
  event: TEXT,
  stdin: TEXT,
  onFailure: {
    takes: (value) => ['open', 'closed', 'continue', 'block'].includes(value as string),
    must: "'open' or 'closed' (or their aliases 'continue' and 'block')",
  },
  host: {
    takes: (value) => typeof value === 'string' && hostNamed(value) !== undefined,
    must: `one of ${HOST_NAMES.join(', ')}`,
  },
  timeout: {
    takes: (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
    must: 'a number of seconds above 0',
  },
  answered: { takes: (value) => typeof value === 'function', must: 'a function' },
}

interface CheckedOptions {
  /** Only the valid ones. */
  readonly options: RunHookOptions
  readonly problem?: InvalidOption
}

function checkedOptions(given: unknown): CheckedOptions {
  if (typeof given !== 'object' || given === null) {
    return {
      options: {},
      problem: new InvalidOption(`The options of runHook() must be an object, got ${shown(given)}`),
    }
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  const wrong = entries.find(([key, value]) => problemOf(key, value) !== undefined)
  const options: RunHookOptions = Object.fromEntries(
    entries.filter(([key, value]) => problemOf(key, value) === undefined),
  )
  if (!wrong) return { options }
  // If the caller passed `stdin`, even an invalid one, the hook must not read the input of the process.
  const stdin = 'stdin' in given && { stdin: options.stdin ?? '' }
  return { options: { ...options, ...stdin }, problem: new InvalidOption(problemOf(...wrong)) }
}

function problemOf(key: string, value: unknown): string | undefined {
  if (!Object.hasOwn(CHECKS, key)) {
    return `runHook() has no option ${shown(key)}; its options are ${Object.keys(CHECKS).join(', ')}`
  }
  const { takes, must } = CHECKS[key as keyof RunHookOptions]
  return takes(value) ? undefined : `${key} of runHook() must be ${must}, got ${shown(value)}`
}
