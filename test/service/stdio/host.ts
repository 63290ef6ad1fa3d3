// A host of the service, played by a test: it sends requests, answers `approve`, and checks every line against the schema.

import { PassThrough } from 'node:stream'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createHooks, type Hooks } from 'carabiner'
import { schemaOf } from '../../../src/cli/schema/schemas.js'
import type { Json } from '../../../src/core/base/json.js'
import { type ServeOptions, serve } from '../../../src/service/stdio/service.js'

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false })
const isMessage = ajv.compile(schemaOf('serve'))
const results = new Map<string, ReturnType<typeof ajv.compile>>()

function checkResult(method: string, result: unknown): void {
  const check =
    results.get(method) ?? ajv.compile({ $ref: `${schemaOf('serve').$id}#/$defs/${method}.result` })
  results.set(method, check)
  if (!check(result))
    throw new Error(`${method} does not answer by its schema: ${JSON.stringify(check.errors?.[0])}`)
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
type Any = any

export interface Failure {
  readonly code: number
  readonly message: string
  readonly data: { readonly code: string; readonly field?: string; readonly [key: string]: Any }
}

export class Refused extends Error {
  readonly error: Failure
  constructor(error: Failure) {
    super(error.message)
    this.error = error
  }
}

export interface Told {
  readonly method: string
  readonly params: Any
}

interface Waiting {
  readonly method: string
  readonly resolve: (result: Any) => void
  readonly reject: (error: Error) => void
}

export class Host {
  readonly toService = new PassThrough()
  readonly fromService = new PassThrough()
  /** Notifications. */
  readonly told: Told[] = []
  /** Errors without an id. */
  readonly strays: Failure[] = []
  readonly logged: string[] = []
  readonly ended: Promise<string | undefined>
  hooks: Hooks | undefined
  /** Answers `approve`; undefined leaves it open for ever. */
  onApprove: (params: Any, id: number) => Json | Error | undefined = () => undefined
  readonly #waiting = new Map<unknown, Waiting>()
  /** Answers that came before anybody waited for them: a refusal may come at once. */
  readonly #early = new Map<unknown, Any>()
  readonly #listeners = new Set<() => void>()
  #last = 0
  #rest = ''

  constructor(prepare: (hooks: Hooks) => void = () => {}, options: Partial<ServeOptions> = {}) {
    this.fromService.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    this.ended = serve({
      input: this.toService,
      output: this.fromService,
      version: '0.0.0',
      open: async (_, embedder) => {
        const hooks = await createHooks({ ...embedder, globals: false })
        prepare(hooks)
        this.hooks = hooks
        return { hooks, projectDir: '/project', notices: [] }
      },
      log: (text) => this.logged.push(text),
      ...options,
    })
  }

  /** Returns its id. */
  send(method: string, params?: object, id: number | string = ++this.#last): number | string {
    this.line({ jsonrpc: '2.0', id, method, ...(params && { params }) })
    return id
  }

  line(message: object | string): void {
    this.toService.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }

  /** Rejects with `Refused`. */
  answerTo(id: number | string, method = ''): Promise<Any> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject })
      const early = this.#early.get(id)
      this.#early.delete(id)
      if (early) this.#take(early)
    })
  }

  call(method: string, params?: object): Promise<Any> {
    return this.answerTo(this.send(method, params), method)
  }

  /** The error of a request that must fail. */
  async failure(method: string, params?: object): Promise<Failure> {
    return failureOf(this.call(method, params))
  }

  /** After hello, in a new session. */
  async greeted(hello: object = {}): Promise<string> {
    await this.call('hello', { version: 1, host: 'test', ...hello })
    return (await this.call('session.open', { id: 'one' })).session
  }

  /** Waits for a notification. */
  async hears(method: string): Promise<Any> {
    for (;;) {
      const found = this.told.find((one) => one.method === method)
      if (found) return found.params
      await new Promise<void>((resolve) => this.#listeners.add(resolve))
    }
  }

  async leave(): Promise<string | undefined> {
    this.toService.end()
    return this.ended
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() as string
    for (const line of lines) this.#take(JSON.parse(line))
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  #take(message: Any): void {
    const isRight: boolean = isMessage(message)
    if (!isRight) throw new Error(`not a message of the schema: ${JSON.stringify(message)}`)
    const { id, method, params, result, error } = message
    if (method === 'approve') this.#approve(id, params)
    else if (method !== undefined) this.told.push({ method, params })
    else if (id === null) this.strays.push(error)
    else {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (!waiting) this.#early.set(id, message)
      else if (error) waiting.reject(new Refused(error))
      else {
        if (waiting.method) checkResult(waiting.method, result)
        waiting.resolve(result)
      }
    }
  }

  #approve(id: number, params: Any): void {
    const reply = this.onApprove(params, id)
    if (reply === undefined) return
    const answer = reply instanceof Error ? { error: { code: 1, message: reply.message } } : { result: reply }
    this.line({ jsonrpc: '2.0', id, ...answer })
  }
}

export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    (result) => new Error(`it was answered: ${JSON.stringify(result)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof Refused) return error.error
  throw error
}
