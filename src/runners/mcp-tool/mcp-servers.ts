// MCP servers: each is connected on first use, shared by many calls, and reconnected when lost (a process only after a pause).

import { setMaxListeners } from 'node:events'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type ForCaller, forCallerOfNow, forNobody } from '../../core/base/caller.js'
import { HookError } from '../../core/base/errors.js'
import { canonicalJson, type Json } from '../../core/base/json.js'
import { unlessAborted } from '../../core/base/promise.js'
import { keepSecret } from '../../core/base/secrets.js'
import { didYouMean, shown } from '../../core/base/text.js'
import type { HookContext } from '../../core/hooks/hook.js'
import { sharedEnv } from '../../files/homes.js'
import { BackOff } from '../process/back-off.js'
import { CodeStamps, namedFiles } from '../program/code-stamp.js'
import { Living } from '../program/process-group.js'
import { interrupted, SharedCalls } from '../program/shared-calls.js'
import { type Link, type LinkEvents, loadSdk, type Sdk } from './sdk.js'
import { callFailure, givenUp, isTimeout, noResult, startFailure } from './server-failures.js'
import {
  addressFrom,
  folderOf,
  launchFrom,
  type McpServerSettings,
  secretsOf,
  variableTerms,
} from './server-settings.js'
import { StdioLink } from './stdio-link.js'
import { ToolList } from './tool-list.js'

export interface Limits {
  /** The time from start to the end of the handshake. A program that is first downloaded from a registry takes long. */
  readonly startMs: number
  /** The time in which a server must react after a call was given up. */
  readonly reactMs: number
}

const LIMITS: Limits = { startMs: 30_000, reactMs: 1000 }

interface ServerTerms extends Limits {
  /** It outlasts one createHooks(), and ends when its files change. */
  readonly isWarm: boolean
}

/** The hook has its own timeout, but the SDK wants a number. */
const NO_TIMEOUT = 2 ** 31 - 1
/** Retries forever, so that nobody has to tell us that the server works again. */
const RESTART = { delay: 1, maxDelay: 30, attempts: Infinity }
/** Notes kept of one call, however noisy the server is. */
const MOST_NOTES = 8

interface Session {
  readonly sdk: Sdk
  readonly client: Client
  readonly link: Link
  readonly tools: ToolList
  readonly since: number
  /** The number of calls in progress. */
  calls: number
  readonly shared: SharedCalls
  isLeft: boolean
}

interface Question {
  readonly tool: string
  readonly input: Record<string, unknown>
  readonly context: HookContext
  readonly signal: AbortSignal
}

type Opening = (events: LinkEvents) => Promise<Link>

/** Keeps all links, to end them. */
interface LinkRegistry {
  add(link: Link): void
}

class McpServer {
  readonly #name: string
  readonly #settings: McpServerSettings
  readonly #limits: Limits
  readonly #isWarm: boolean
  readonly #registry: LinkRegistry
  readonly #backOff = new BackOff(RESTART)
  /** Callers that wait for an answer, with the number of their notes, latest last. */
  readonly #asking = new Map<HookContext, { notes: number; readonly forCaller: ForCaller }>()
  #session: Session | undefined
  #starting: Promise<Session> | undefined
  #lastEnd: string | undefined
  #retired: string | undefined

  constructor(name: string, settings: McpServerSettings, limits: ServerTerms, registry: LinkRegistry) {
    this.#limits = limits
    this.#isWarm = limits.isWarm
    this.#name = name
    this.#settings = settings
    this.#registry = registry
  }

  async call(tool: string, input: Record<string, unknown>, context: HookContext): Promise<CallToolResult> {
    const abort = new AbortController()
    setMaxListeners(0, abort.signal) // The SDK adds one for each page of tools.
    context.onAbort(() => abort.abort(givenUp()))
    this.#asking.set(context, { notes: 0, forCaller: forCallerOfNow() })
    try {
      const question = { tool, input, context, signal: abort.signal }
      return await this.#asked(question, () => this.#asked(question))
    } finally {
      this.#asking.delete(context)
      if (abort.signal.aborted) void this.#checkPulse()
      if (this.#retired !== undefined) this.#endIfIdle(this.#retired)
    }
  }

  /** Its settings were removed or changed. It ends when all callers have their answers. */
  retire(): void {
    this.#retired = 'its settings were changed'
    this.#endIfIdle(this.#retired)
  }

  async close(): Promise<void> {
    this.#retired = 'the hooks were closed'
    this.#session?.link.end(this.#retired)
    await this.#starting?.catch(() => undefined) // Reported to whoever started it.
  }

  /** `again` is called if the server has forgotten our session. */
  async #asked(question: Question, again?: () => Promise<CallToolResult>): Promise<CallToolResult> {
    const { tool, context, signal } = question
    const session = await unlessAborted(this.#connected(), signal).catch((error: unknown) => {
      throw signal.aborted ? givenUp() : error
    })
    const { sdk, link } = session
    if (this.#isWarm && session.calls === 0) link.forgetStderr()
    session.calls++
    const shared = session.shared.begin()
    // At its deadline it counts as late only if nobody else can have made the server hang.
    if (this.#isWarm) context.atDeadline?.(async () => !shared.isDisturbed)
    try {
      return await answerOf(this.#name, session, question)
    } catch (error) {
      // The next event must not wait behind this one's.
      if (signal.aborted && this.#isWarm) this.#leave(session)
      const isLost = signal.aborted || (link.isOver && !link.isDismissed)
      const isInterrupted = this.#isWarm && isLost && shared.lost()
      if (signal.aborted) throw givenUp()
      const failure = await callFailure(error, { sdk, link, server: this.#name, tool })
      if (failure.linkIsBroken) this.#leave(session)
      if (failure.isForgotten && again) return await again()
      throw isInterrupted ? interrupted(failure.error) : failure.error
    } finally {
      session.calls--
      shared.end()
      if (session.isLeft && session.calls === 0) link.end('it was replaced by a new connection')
      const stderr = link.newStderr()
      if (stderr) context.printed({ stderr })
    }
  }

  /** The next caller connects again. Calls in progress are not cut off. */
  #leave(session: Session): void {
    session.isLeft = true
    if (this.#session === session) this.#session = undefined
  }

  // ---- connecting -----------------------------------------------------------------------------------------------

  /** Throws if it may not be started now. */
  #connected(): Promise<Session> {
    if (this.#session) return Promise.resolve(this.#session)
    if (this.#starting !== undefined) return this.#starting
    this.#refuseIfDown()
    if (this.#lastEnd !== undefined) {
      const text = `server "${this.#name}" was restarted: ${this.#lastEnd}`
      this.#tell({ code: 'process-restarted', text })
    }
    this.#starting = this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #start(): Promise<Session> {
    const sdk = await loadSdk()
    let open: Opening
    try {
      open = this.#opening(sdk)
    } catch (error) {
      throw await this.#startFailed(error)
    }
    return forNobody(() => this.#connect(sdk, open))
  }

  async #connect(sdk: Sdk, open: Opening): Promise<Session> {
    let link: Link | undefined
    const events: LinkEvents = {
      over: () => this.#over(link),
      noise: (text) => this.#tell({ code: 'rpc-noise', text: `server "${this.#name}": ${text}` }),
    }
    try {
      link = await open(events)
      this.#registry.add(link)
      const client = this.#clientOf(sdk)
      await client.connect(link, { timeout: this.#limits.startMs })
      if (link.isOver) throw new Error(await link.how())
      const tools = new ToolList(this.#name, sdk, client)
      const session = {
        sdk,
        client,
        link,
        tools,
        since: performance.now(),
        calls: 0,
        shared: new SharedCalls('command' in this.#settings),
        isLeft: false,
      }
      this.#session = session
      return session
    } catch (error) {
      throw await this.#startFailed(error, link)
    }
  }

  async #startFailed(error: unknown, link?: Link): Promise<HookError> {
    const failure = await startFailure(error, {
      link,
      server: this.#name,
      isProgram: 'command' in this.#settings,
      withinMs: this.#limits.startMs,
    })
    link?.terminate(failure.message)
    this.#down(failure.message, 0)
    return failure
  }

  /** Fills in variables of the caller. Throws if one is missing. */
  #opening(sdk: Sdk): Opening {
    const settings = this.#settings
    if ('command' in settings) {
      const launch = launchFrom(settings, Object.keys(sdk.getDefaultEnvironment()))
      return (events) => StdioLink.launch(launch, events)
    }
    const { url, headers } = addressFrom(settings)
    return async (events) => {
      const { HttpLink } = await import('./http-link.js')
      return new HttpLink(sdk, url, headers, events)
    }
  }

  /** The client offers servers nothing: no sampling, no questions to the user, no roots. */
  #clientOf({ Client }: Sdk): Client {
    return new Client({ name: 'carabiner', version: '1' }, { capabilities: {} })
  }

  // ---- losing it ------------------------------------------------------------------------------------------------

  #over(link: Link | undefined): void {
    const session = this.#session
    if (!session || session.link !== link) return // A failed start is reported elsewhere.
    this.#session = undefined
    if (this.#retired !== undefined) return
    const lived = performance.now() - session.since
    this.#down('it ended', lived)
    void session.link.how().then((how) => {
      this.#lastEnd = how
    })
  }

  /** Only a process is expensive to start. */
  #down(how: string, livedMs: number): void {
    if (!('command' in this.#settings)) return
    this.#lastEnd = how
    this.#backOff.ended(livedMs, performance.now())
  }

  /** Refuses after two failures in a row. A single one may be an accident. The cold path tries at every event, and so does a warm one. */
  #refuseIfDown(): void {
    if (this.#isWarm) return
    const wait = this.#backOff.ends > 1 ? this.#backOff.wait(performance.now()) : 0
    if (wait === 0) return
    const again = `it may be restarted in ${(wait / 1000).toFixed(1)} s`
    throw new HookError(
      'HOOK_NOT_STARTED',
      `MCP server "${this.#name}" is down: ${this.#lastEnd}; ${again}`,
      {
        hint: 'Fix it. It is then restarted automatically.',
      },
    )
  }

  /** Checks a server after a call was given up. If it does not even answer a ping, it hangs and would delay the next call as long. */
  async #checkPulse(): Promise<void> {
    const session = this.#session
    if (!session || this.#asking.size > 0 || !('command' in this.#settings)) return
    const { client, sdk, link } = session
    try {
      await client.request({ method: 'ping' }, sdk.EmptyResultSchema, { timeout: this.#limits.reactMs })
    } catch (error) {
      // A server without ping answers with an error, so it is alive.
      if (isTimeout(error)) link.terminate('it did not react after a call was given up')
    }
  }

  #endIfIdle(why: string): void {
    if (this.#asking.size > 0) return
    if (this.#session) this.#session.link.end(why)
    else void this.#starting?.then(({ link }) => link.end(why)).catch(() => undefined) // Reported to whoever started it.
  }

  /** Adds a note for the latest caller that waits. */
  #tell(d: Parameters<HookContext['note']>[0]): void {
    const latest = [...this.#asking].at(-1)
    if (!latest) return
    const [context, told] = latest
    if (told.notes++ < MOST_NOTES) told.forCaller(() => context.note(d))
  }
}

async function answerOf(
  name: string,
  { sdk, client, tools }: Session,
  { tool, input, signal }: Question,
): Promise<CallToolResult> {
  const options = { signal, timeout: NO_TIMEOUT }
  await tools.require(tool, options)
  const request = { method: 'tools/call' as const, params: { name: tool, arguments: input } }
  // Checked before the SDK's schema, which adds an empty list if there is no content.
  const result = await client.request(request, sdk.ResultSchema, options)
  if (!('content' in result || 'structuredContent' in result)) throw noResult(name, tool)
  return sdk.CallToolResultSchema.parse(result)
}

// ---- all servers of one createHooks() -------------------------------------------------------------------------

interface Entry {
  readonly key: string
  readonly server: McpServer
}

/** By name, as they are now. */
type AllSettings = Readonly<Record<string, McpServerSettings>>

export interface ToolCall {
  readonly server: string
  readonly tool: string
  readonly input: Record<string, unknown>
}

export class McpServers {
  readonly #terms: ServerTerms
  readonly #entries = new Map<string, Entry>()
  /** Includes links of servers that are no longer in the settings. */
  readonly #links = new Living<Link>()
  #calls = 0
  #closed = false

  constructor(terms: Partial<ServerTerms> = {}) {
    this.#terms = { ...LIMITS, isWarm: false, ...terms }
  }

  /** Rejects with a HookError about the server, or with HOOK_TIMEOUT if the call was given up. */
  async call(
    settings: AllSettings,
    { server, tool, input }: ToolCall,
    context: HookContext,
  ): Promise<CallToolResult> {
    return this.#named(server, settings).call(tool, input, context)
  }

  /** Settles when every process and socket is gone. Calls in progress fail. */
  async close(): Promise<void> {
    this.#closed = true
    for (const link of this.#links) link.end(CLOSED) // Also those that are still connecting: their callers are told.
    await Promise.all([...this.#entries.values()].map(({ server }) => server.close()))
    await this.#links.end((link) => link.end(CLOSED))
  }

  #named(name: string, all: AllSettings): McpServer {
    if (this.#closed) throw new HookError('HOOK_NOT_STARTED', `${CLOSED}, so no server can be called`)
    const known = this.#entries.get(name)
    const settings = Object.hasOwn(all, name) ? all[name] : undefined
    // It may run already, started by another caller.
    if (settings) keepSecret(secretsOf(settings))
    const key = settings && `${keyOf(settings)}\n${this.#versionOf(settings)}`
    if (known && known.key === key) return known.server
    known?.server.retire()
    this.#entries.delete(name)
    if (!settings || key === undefined) throw unknownServer(name, Object.keys(all))
    const server = new McpServer(name, settings, this.#terms, {
      add: (link) => this.#watch(link),
    })
    this.#entries.set(name, { key, server })
    return server
  }

  /** Of the files that its command names. One that changed just now has another version for each call. */
  #versionOf(settings: McpServerSettings): string {
    if (!this.#terms.isWarm || !('command' in settings)) return ''
    const { command: file, args = [] } = settings
    const files = namedFiles({ file, args, cwd: folderOf(settings), env: sharedEnv() })
    return new CodeStamps().of({ files }) ?? `unknown ${++this.#calls}`
  }

  #watch(link: Link): void {
    this.#links.add(link)
    if (this.#closed) link.end(CLOSED)
  }
}

const CLOSED = 'the hooks were closed'

/** Callers whose variables differ, where the settings name these, do not share a server. */
function keyOf(settings: McpServerSettings): string {
  const terms = { ...settings, ...variableTerms(settings) }
  return canonicalJson(JSON.parse(JSON.stringify(terms)) as Json)
}

function unknownServer(name: string, names: readonly string[]): HookError {
  const text = `There is no MCP server ${shown(name)} in ~/.amplifier/settings.json${didYouMean(name, names)}`
  const known = names.length > 0 ? ` It has: ${names.slice(0, 10).join(', ')}.` : ''
  return new HookError('HOOK_NOT_STARTED', text, {
    hint: `Add it to "mcp_servers" under "hooks" there, with a "command" or a "url".${known}`,
  })
}
