// The names of MCP servers and their tools in `mcp__SERVER__TOOL`.

/** As Claude Code does it, so that one matcher fits everywhere. */
export function normalized(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_')
}

export function mcpToolName(server: string, tool: string): string {
  return `mcp__${normalized(server)}__${normalized(tool)}`
}
