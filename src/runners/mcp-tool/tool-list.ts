// The tools that a server lists. Other tools are not called, because some servers answer anything.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { HookError } from '../../core/base/errors.js'
import { didYouMean, shown } from '../../core/base/text.js'
import { boundedText } from '../../rpc/problem.js'
import type { Sdk } from './sdk.js'

const MOST_PAGES = 64
const MOST_TOOLS = 10_000
const LONGEST_HINT = 500

interface Options {
  readonly signal: AbortSignal
  readonly timeout: number
}

export class ToolList {
  readonly #server: string
  readonly #sdk: Sdk
  readonly #client: Client
  #known: ReadonlySet<string> = new Set()

  constructor(server: string, sdk: Sdk, client: Client) {
    this.#server = server
    this.#sdk = sdk
    this.#client = client
    client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => {
      this.#known = new Set()
    })
  }

  /** Throws HOOK_FAILED, with the likely name, if the tool is missing even after listing again. */
  async require(tool: string, options: Options): Promise<void> {
    if (this.#known.has(tool)) return
    const names = await this.#read(options)
    this.#known = names
    if (!names.has(tool)) throw noTool(this.#server, tool, [...names])
  }

  async #read(options: Options): Promise<ReadonlySet<string>> {
    if (!this.#client.getServerCapabilities()?.tools) return new Set()
    const names = new Set<string>()
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES && names.size < MOST_TOOLS; page++) {
      // The client's own listTools() would compile every tool's schema.
      const params = cursor === undefined ? {} : { cursor }
      const { tools, nextCursor } = await this.#client.request(
        { method: 'tools/list', params },
        this.#sdk.ListToolsResultSchema,
        options,
      )
      for (const { name } of tools) names.add(name)
      if (nextCursor === undefined) break
      cursor = nextCursor
    }
    return names
  }
}

function noTool(server: string, tool: string, names: readonly string[]): HookError {
  const has = boundedText(names.slice(0, 20).join(', '), LONGEST_HINT)
  return new HookError(
    'HOOK_FAILED',
    `MCP server "${server}" has no tool ${shown(tool)}${boundedText(didYouMean(tool, names), 200)}`,
    {
      hint:
        names.length > 0
          ? `Fix "tool" of the hook. The server has: ${has}.`
          : 'The server offers no tools at all.',
    },
  )
}
