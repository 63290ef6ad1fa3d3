// McpServers: the servers that hooks ask, by the names of the settings; each is kept while its settings stay the same.

import { setImmediate } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { HookError } from '../../core/base/errors.js'
import { canonicalJson, type Json } from '../../core/base/json.js'
import { didYouMean, shown } from '../../core/base/text.js'
import type { HookContext } from '../../core/hooks/hook.js'
import { stopListeningIfIdle } from '../program/process-group.js'
import type { Link } from './link.js'
import { LIMITS, type Limits, McpServer } from './mcp-server.js'
import type { McpServerSettings } from './server-settings.js'

interface Entry {
  readonly key: string
  readonly server: McpServer
}

export class McpServers {
  readonly #settings: () => Readonly<Record<string, McpServerSettings>>
  readonly #limits: Limits
  readonly #entries = new Map<string, Entry>()
  /** Those of servers that are no longer in the settings among them. */
  readonly #links = new Set<Link>()
  #closed = false

  /** The settings are read at each call. */
  constructor(settings: () => Readonly<Record<string, McpServerSettings>>, limits: Limits = LIMITS) {
    this.#settings = settings
    this.#limits = limits
  }

  /** Rejects with HookError, in words about the server; with HOOK_TIMEOUT where the call was given up. */
  async call(
    server: string,
    tool: string,
    input: Record<string, unknown>,
    context: HookContext,
  ): Promise<CallToolResult> {
    return this.#named(server).call(tool, input, context)
  }

  /** Settles when every process and socket is gone. Calls under way fail. */
  async close(): Promise<void> {
    this.#closed = true
    for (const link of this.#links) link.end(CLOSED) // also those that have not said hello: who waits for it is told
    await Promise.all([...this.#entries.values()].map(({ server }) => server.close()))
    while (this.#links.size > 0) {
      for (const link of this.#links) link.end(CLOSED)
      await Promise.all([...this.#links].map((link) => link.gone))
      await setImmediate()
    }
    stopListeningIfIdle()
  }

  #named(name: string): McpServer {
    if (this.#closed) throw new HookError('HOOK_NOT_STARTED', `${CLOSED}, and no server is asked any more`)
    const all = this.#settings()
    const known = this.#entries.get(name)
    const settings = Object.hasOwn(all, name) ? all[name] : undefined
    const key = settings && canonicalJson(JSON.parse(JSON.stringify(settings)) as Json)
    if (known && known.key === key) return known.server
    known?.server.retire()
    this.#entries.delete(name)
    if (!settings || key === undefined) throw unknownServer(name, Object.keys(all))
    const server = new McpServer(name, settings, this.#limits, {
      add: (link) => this.#watch(link),
    })
    this.#entries.set(name, { key, server })
    return server
  }

  #watch(link: Link): void {
    this.#links.add(link)
    void link.gone.then(() => this.#links.delete(link))
    if (this.#closed) link.end(CLOSED)
  }
}

export const CLOSED = 'the hooks were closed'

function unknownServer(name: string, names: readonly string[]): HookError {
  const text = `There is no MCP server ${shown(name)} in ~/.amplifier/settings.json${didYouMean(name, names)}`
  const known = names.length > 0 ? ` It has: ${names.slice(0, 10).join(', ')}.` : ''
  return new HookError('HOOK_NOT_STARTED', text, {
    hint: `Add it to "mcp_servers" under "hooks" there, with a "command" or a "url".${known}`,
  })
}
