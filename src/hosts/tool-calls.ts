// Tool calls of a host as Claude Code would make them, so that one hook on `command` or `file_path` holds under every host.

import { isAbsolute, resolve } from 'node:path'
import { type Data, isObject, type Json, sameJson } from '../core/base/json.js'
import { bareLetters } from '../core/events/catalogue.js'
import type { Host, HostCall, HostTool, ToolCall } from './host.js'

/** The tool behind a name, in any case and with any separators: another version may spell it differently. */
export function toolNamed({ tools = {} }: Host, name: Json | undefined): HostTool | undefined {
  if (typeof name !== 'string') return undefined
  if (Object.hasOwn(tools, name)) return tools[name]
  const letters = bareLetters(name)
  const key = Object.keys(tools).find((one) => bareLetters(one) === letters)
  if (key !== undefined) return tools[key]
  const claude = CLAUDE_TOOLS.find((one) => one.toLowerCase() === letters)
  return claude === undefined || claude === name ? undefined : { names: [claude] }
}

const CLAUDE_TOOLS = ['Bash', 'Read', 'Write', 'Edit'] as const

/** Empty if Claude Code has no such tool. Throws Error for an input that cannot be read. */
export function canonicalCalls(host: Host, data: Data): readonly HostCall[] {
  const { tool_name: name, tool_input: own } = data
  const tool = toolNamed(host, name)
  if (!tool) return []
  if (!isObject(own)) return [{ names: tool.names, data }]
  const calls = tool.parts?.(own as Data) ?? [{ input: renamed(own as Data, tool.fields ?? {}) }]
  return calls.map((call: ToolCall) => {
    const input = withAbsolutePaths(call.input, data.cwd)
    const names = call.tool === undefined ? tool.names : [call.tool]
    const isSame = sameJson(input, own)
    return { names, data: isSame ? data : { ...data, tool_input: input, host_tool_input: own } }
  })
}

function renamed(input: Data, fields: Readonly<Record<string, string>>): Data {
  const entries = Object.entries(input).map(([key, value]) => {
    const canonical = Object.hasOwn(fields, key) ? (fields[key] as string) : key
    return [canonical, value] as const
  })
  const names = entries.map(([key]) => key)
  const twice = names.find((key, at) => names.indexOf(key) !== at)
  if (twice !== undefined) throw new Error(`its input has two names for ${twice}`)
  return Object.fromEntries(entries)
}

/** Fields that Claude Code always sends as absolute paths. */
const PATHS: ReadonlySet<string> = new Set(['file_path', 'notebook_path'])

function withAbsolutePaths(input: Data, cwd: Json | undefined): Data {
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) return input
  const entries = Object.entries(input).map(([key, value]) => {
    const isPath = PATHS.has(key) && typeof value === 'string' && value !== ''
    return [key, isPath ? resolve(cwd, value) : value] as const
  })
  return Object.fromEntries(entries)
}

/**
 * A changed input in the host's own terms. `own` is what the host sent, and `seen` is what hooks were shown. A field that no
 * hook changed stays as the host sent it.
 */
export function hostInput(tool: HostTool | undefined, own: Data, seen: Data, changed: Data): Data {
  const ownNames = new Map(Object.entries(tool?.fields ?? {}).map(([key, canonical]) => [canonical, key]))
  const entries = Object.entries(changed).map(([key, value]) => {
    const sent = Object.hasOwn(own, key) ? key : (ownNames.get(key) ?? key)
    const isSame = Object.hasOwn(own, sent) && sameJson(value, seen[key])
    return [sent, isSame ? (own[sent] as Json) : value] as const
  })
  return Object.fromEntries(entries)
}
