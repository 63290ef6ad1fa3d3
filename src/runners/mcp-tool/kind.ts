// Kind `mcp_tool`: the fields of an entry.

import { isObject } from '../../core/base/json.js'
import type { Check } from '../../core/base/options.js'
import type { HookSpec } from '../hook-spec.js'
import { isWritten, type Kind, STATUS_MESSAGE } from '../kind.js'
import type { CallTool, McpToolHandler } from './mcp-tool-hook.js'

const isInput: Check = [isObject, 'an object']

export const MCP_TOOL: Kind<HookSpec<McpToolHandler>> = {
  summary: 'Calls a tool of an MCP server.',
  fields: {
    server: [isWritten, 'The MCP server, by its name in the setting mcp_servers.'],
    tool: [isWritten, 'The tool to call on that server.'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    input: [isInput, 'The arguments of the tool. ${tool_input.command} becomes that field of the event.'],
    statusMessage: STATUS_MESSAGE,
  },
  required: ['server', 'tool'],
  target: ({ server, tool }) => `${server} ${tool}`,
  lacks: ({ server }, { mcp_servers }) => {
    if (Object.hasOwn(mcp_servers, server)) return undefined
    const name = JSON.stringify(server)
    return {
      code: 'server-missing',
      text: `it calls the MCP server ${name}, which is not in the settings`,
      fix: `Add "mcp_servers": {${name}: {"command": "…"}}, or one with "url", under "hooks" in ~/.amplifier/settings.json.`,
    }
  },
  async load({ settings, keeper }) {
    const { mcpToolHook } = await import('./mcp-tool-hook.js')
    const { McpServers } = await import('./mcp-servers.js')
    const servers = keeper.keep('mcp', () => new McpServers({ isWarm: keeper.isWarm }))
    const call: CallTool = (one, context) => servers.call(settings().mcp_servers, one, context)
    return {
      hooks: (spec, surroundings) => [mcpToolHook(spec, surroundings, call)],
      close: () => keeper.leave(servers),
    }
  },
}
