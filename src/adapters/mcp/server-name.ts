// The name of an MCP server in `mcp__SERVER__TOOL`, and where it comes from if the user gives none.

import { basename } from 'node:path'

/** As Claude Code does it, so that one matcher fits everywhere. */
export function normalized(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_')
}

export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${normalized(tool)}`
}

/** Programs that start the server's program, and their words before it. */
const STARTERS =
  /^(?:npx|bunx|pnpx|uvx|pipx|npm|pnpm|yarn|bun|uv|node|deno|tsx|python[\d.]*|docker|podman|env|sh|bash|cmd|run|exec|dlx|x|tool)(?:\.exe|\.cmd)?$/
/** Options of these programs that are followed by a value. */
const WITH_VALUE = new Set([
  '-p',
  '--package',
  '-e',
  '--env',
  '-v',
  '--volume',
  '--name',
  '--from',
  '--with',
  '--directory',
])

/** `npx -y @scope/server-files@1.2 /tmp` is `files`. Undefined if no word looks like a name. */
export function nameFromCommand([program = '', ...args]: readonly string[]): string | undefined {
  const words = [basename(program.replaceAll('\\', '/')), ...args]
  let at = 0
  while (at < words.length) {
    const word = words[at] as string
    if (WITH_VALUE.has(word)) at += 2
    else if (word.startsWith('-') || STARTERS.test(word)) at++
    else return shortened(word)
  }
  return undefined
}

/** `https://mcp.example.com/github/mcp` is `github`, `https://mcp.linear.app/sse` is `linear`. */
export function nameFromUrl({ pathname, hostname }: URL): string | undefined {
  const isTelling = (part: string) => part !== '' && !/^(?:mcp|sse|api|v\d+|server|www)$/i.test(part)
  const inPath = pathname.split('/').filter(isTelling)
  const isNumber = /^[\d.]+$|^\[/.test(hostname)
  const inHost = isNumber ? [] : hostname.split('.').slice(0, -1).filter(isTelling)
  return shortened(inPath[0] ?? inHost[0] ?? '')
}

/** Without scope, version, file ending, and the words that all of them have. */
function shortened(word: string): string | undefined {
  const parts = word.replaceAll('\\', '/').replace(/\/+$/, '').split('/')
  const isIndex = (part: string) => /^(?:index|main|server|dist|build|src|bin)(?:\.\w+)?$/.test(part)
  const told = parts.findLast((part) => part !== '' && !isIndex(part)) ?? parts.at(-1) ?? ''
  const plain = told.replace(/(?<=.)[@:=].*$/, '').replace(/\.(?:[cm]?[jt]s|py|exe|cmd|sh)$/, '')
  const short = plain.replace(/^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_](?:mcp[-_])?server$|[-_]mcp$/g, '')
  return normalized(short || plain) || undefined
}
