// What a call of any tool but a shell would do: of an agent's own tools, and of MCP servers.

import { isObject, type Json } from '../../core/base/json.js'
import { type Draft, fetched, hostOf, onPlaces, placesOf } from '../program.js'
import { type McpCall, serverEffects } from './mcp-servers.js'
import { formsOf, isReadTool, readPlaces } from './read-tools.js'
import { plainName, type ToolCall } from './tool-call.js'

/** The hints of an MCP tool. They come from its server. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly openWorldHint?: boolean
}

export interface ToolUse {
  readonly name: string
  readonly input: Json
  readonly annotations?: ToolAnnotations
  /** The agent's own name of the tool, if `name` is Claude Code's. */
  readonly hostName?: string | undefined
}

/** Tools of agents that only concern the conversation. */
const TALK =
  /^(?:todo|task|agent|subagent|plan|enterplan|exitplan|ask|skill|think|memory|note(?!book)|bashoutput|killshell|killbash|taskoutput|taskstop|listmcp|readmcp|toolsearch|slashcommand|structuredoutput|reply|message|attemptcompletion|newtask|switchmode|updateplan|reportintent|sleep|wait|finish|complete|lsp|diagnostics|getdiagnostics|readlints|sequentialthinking|resolvelibraryid|getlibrarydocs)/

const WEB = /fetch|browse|navigate|goto|^web|^http|url|crawl|scrape|download/

export function filesEffects(
  { paths, gone, deep, writes, moved, isChange }: Extract<ToolCall, { kind: 'files' }>,
  { name }: ToolUse,
  cwd: string,
  home: string,
): readonly Draft[] {
  const lost = new Set(gone)
  const placed = (text: string) => {
    // A patch deletes and moves files, never folders.
    const isDeep = deep && moved === undefined && lost.has(text)
    return formsOf(text).flatMap((form) =>
      placesOf({ text: form, known: true, glob: false }, [cwd], home, isDeep),
    )
  }
  const [target] = paths.filter((path) => !lost.has(path)).flatMap(placed)
  const isMove = /move|rename/.test(plainName(name))
  const drafts = [...new Set([...paths, ...gone])].flatMap((path) => {
    const to = moved?.get(path)
    const [next] = to === undefined ? [target] : placed(to)
    return placed(path).flatMap((place): readonly Draft[] => {
      const written: Draft = { kind: 'write', place }
      if (!lost.has(path)) return [written]
      const loss: Draft =
        isMove || to !== undefined ? { kind: 'move', place, to: next ?? place } : { kind: 'delete', place }
      return isChange ? [written, loss] : [loss]
    })
  })
  return writes
    ? drafts
    : [
        ...drafts.map((draft) => ({ ...draft, code: true })),
        { kind: 'unknown', why: `it is not known what ${name} does with these files` },
      ]
}

/** Of a tool of a well-known MCP server. Undefined if it is none. */
export function knownEffects(use: ToolUse): readonly Draft[] | undefined {
  const mcp = mcpCall(use)
  return mcp && serverEffects(mcp)
}

/** For tools that neither run a command nor are known to change files. */
export function otherEffects(use: ToolUse, cwd: string, home: string): readonly Draft[] {
  const name = plainName(use.name)
  const mcp = mcpCall(use)
  if (use.annotations && mcp) return byAnnotations(use.annotations, mcp.tool)
  if (TALK.test(name) && !isFileUri(use.input)) return []
  const address = textAt(use.input, /^(?:url|uri|href|address|link)$/i)
  if (WEB.test(name) || (address !== undefined && /^https?:/.test(address)))
    return [fetched(address === undefined ? undefined : hostOf(address), false)]
  if (isReadTool(use.name)) return onPlaces('read', readPlaces(use.name, use.input, cwd, home))
  return [{ kind: 'unknown', why: `nothing is known about the tool ${use.name.slice(0, 100)}` }]
}

/** A resource of an MCP server that is a file of this machine. */
function isFileUri(input: Json): boolean {
  return /^file:/i.test(textAt(input, /^uri$/i) ?? '')
}

/** `mcp__server__tool`, `MCP:tool`. */
function mcpCall({ name, input }: ToolUse): McpCall | undefined {
  const [, server = '', tool] =
    /^mcp__(.+?)__(.+)$/s.exec(name) ?? /^mcp[:_.](?:(.+?)[./:])?(.+)$/is.exec(name) ?? []
  return tool === undefined ? undefined : { server: server.toLowerCase(), tool: tool.toLowerCase(), input }
}

/** Hints are the word of a server. Without the hint that it only reads, it may change things. */
function byAnnotations(
  { readOnlyHint, destructiveHint, openWorldHint }: ToolAnnotations,
  tool: string,
): readonly Draft[] {
  const outside: readonly Draft[] = openWorldHint === false ? [] : [fetched(undefined, false)]
  if (readOnlyHint) return outside
  const sent: readonly Draft[] =
    openWorldHint === false ? [] : [{ kind: 'send', host: undefined, from: [{ of: 'text' }] }]
  if (destructiveHint === false)
    return sent.length > 0
      ? sent
      : [{ kind: 'unknown', why: `${tool} changes something, as its server says` }]
  return [...sent, { kind: 'unknown', why: `${tool} may destroy something, as its server says` }]
}

export function textAt(input: Json, key: RegExp): string | undefined {
  if (!isObject(input)) return undefined
  const found = Object.entries(input).find(([name, value]) => key.test(name) && typeof value === 'string')
  return found?.[1] as string | undefined
}
