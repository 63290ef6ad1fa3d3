// The proxy: an MCP client on two streams, a server behind it, and hooks between them, from the first message to the last.

import type { Readable, Writable } from 'node:stream'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { inTime, onAbort } from '../../core/base/promise.js'
import type { Embedder } from '../../core/session/embedder.js'
import type { Hooks } from '../../hooks.js'
import { mcpApprover } from './approver.js'
import { guardOf } from './guard.js'
import { LinePeer, MAX_LINE_BYTES } from './line-peer.js'
import type { Server, StartServer } from './peer.js'
import { Relay } from './relay.js'

export interface ProxyOptions {
  readonly input: Readable
  readonly output: Writable
  readonly start: StartServer
  readonly source: 'stdio' | 'http'
  readonly hooks: Hooks
  readonly projectDir: string
  /** In `mcp__SERVER__TOOL`. */
  readonly name: string
  /** The server has this long to answer a request, or to report progress. */
  readonly timeoutMs: number
  /** Ask people in the client's dialog, if it has one. */
  readonly elicits: boolean
  /** Called when a question is in the queue. */
  readonly onRaised?: () => void
  /** Gets problems, a sentence each. Must not throw. */
  readonly log: (text: string) => void
  /** Ends the proxy as if the client were gone. */
  readonly signal?: AbortSignal
}

/** We deliver injections ourselves, with the result. Without this, they would wait for a model call. */
export const MCP_EMBEDDER: Pick<Embedder, 'context'> = { context: () => undefined }

/** How long the last answers may take once the server is gone, or once the client has closed its output. */
const LAST_ANSWERS_MS = 10_000
const FAREWELL_MS = 2000
/** How long hooks may run once both are gone. */
const LAST_HOOKS_MS = 10_000

/** Settles when both sides and every process are gone, with what the server did wrong, if that ended it. Rejects if the server cannot be started. */
export async function proxy(options: ProxyOptions): Promise<string | undefined> {
  const { hooks, projectDir, log, signal } = options
  const session = hooks.session({ cwd: projectDir })
  let end = (_end: End) => {}
  const ended = new Promise<End>((resolve) => {
    end = resolve
  })
  let fault: string | undefined
  let isOver = false
  const server = await options.start({
    line: (line) => {
      relay.fromServer(line)
      throttle(client, server)
    },
    lost: (why) => relay.lostReply(why),
    gone: (why) => {
      if (isOver) return
      fault = `The MCP server ${why}`
      log(fault)
      relay.serverGone(fault)
      end({ patienceMs: LAST_ANSWERS_MS })
    },
  })
  const client = new LinePeer(options.input, options.output, {
    line: (line) => {
      relay.fromClient(line)
      throttle(server, client)
    },
    tooLong: () => {
      fault = `The client sent a message of more than ${MAX_LINE_BYTES} bytes`
      log(fault)
      end({ patienceMs: 0 })
    },
    gone: ({ reads }) => end({ patienceMs: reads ? FAREWELL_MS : 0 }),
  })
  let asks = false
  const guard = guardOf({
    session,
    approver: mcpApprover({ asks: () => asks, ask: (...question) => relay.askClient(...question) }, options),
    problem: () => unreadableIn(hooks),
    reload: () => hooks.reload(),
    name: options.name,
    source: options.source,
    onInitialized: (capabilities, answer) => {
      asks = options.elicits && showsForms(capabilities)
      server.initialized(answer)
    },
  })
  if (session.explain('PreToolUse').candidates.length === 0)
    log('no hook judges tool calls, so every call passes')
  const relay = new Relay({ client, server, ...guard, timeoutMs: options.timeoutMs, log })
  const stopListening = signal && onAbort(signal, () => end({ patienceMs: 0 }))
  const { patienceMs } = await ended
  stopListening?.()
  await inTime(relay.answered(), patienceMs).catch(() => undefined)
  await inTime(client.flushed(), patienceMs).catch(() => undefined)
  isOver = true
  relay.clientGone('The client is gone')
  await Promise.all([server.end(), closed(hooks, log)])
  client.end()
  return fault
}

interface End {
  /** How long the client may wait for its last answers. */
  readonly patienceMs: number
}

/** Nothing is read of one side while the other does not read. */
function throttle(to: Pick<Server, 'full'>, from: Pick<Server, 'wait'>): void {
  const full = to.full()
  if (full !== undefined) from.wait(full)
}

/** A file of hooks that cannot be read may hold the hook that would refuse the call. */
function unreadableIn({ diagnostics }: Hooks): string | undefined {
  const lost = diagnostics.find(({ code }) => code === 'config-invalid')
  if (!lost) return undefined
  return `${lost.file ?? 'a file of hooks'}${lost.line === undefined ? '' : `:${lost.line}`}: ${lost.text}`
}

/** Before there were two kinds of elicitation, an empty object meant forms. */
function showsForms(capabilities: unknown): boolean {
  const { elicitation } = isObject(capabilities) ? capabilities : {}
  return isObject(elicitation) && (Object.keys(elicitation).length === 0 || isObject(elicitation.form))
}

async function closed(hooks: Hooks, log: (text: string) => void): Promise<void> {
  const timer = setTimeout(() => void hooks.close({ abort: true }).catch(() => undefined), LAST_HOOKS_MS)
  try {
    await hooks.close()
  } catch (error) {
    log(`The hooks could not be closed: ${textOf(error)}`)
  } finally {
    clearTimeout(timer)
  }
}
