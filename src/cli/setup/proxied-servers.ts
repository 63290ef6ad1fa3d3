// MCP servers of agents that are behind `carabiner mcp`, so that hooks judge their calls.

import { hostText } from '../../hosts/host-problems.js'
import { MCP_CLIENTS, type McpClient, mcpFile, mcpFilesOf } from '../../hosts/mcp/clients.js'
import { proxiedIn } from '../../hosts/mcp/proxied-file.js'
import { thisProgram } from './register.js'

export interface ProxiedServers {
  readonly client: McpClient
  readonly file: string
  readonly names: readonly string[]
}

/** In the user's files, and in those of the project. */
export function proxiedServers(project: string): readonly ProxiedServers[] {
  const place = { program: thisProgram(), project }
  return MCP_CLIENTS.flatMap((client) =>
    mcpFilesOf(client, project).flatMap((file) => {
      const text = hostText(file)
      const names = text === undefined ? [] : proxiedIn(mcpFile(client, file, text), place)
      return names.length === 0 ? [] : [{ client, file, names }]
    }),
  )
}
