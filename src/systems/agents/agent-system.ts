// An agent whose own hook files run here: where they are, how they are written, and what its hooks read and answer.

import type { Data } from '../../core/base/json.js'
import type { Reply } from '../claude-code/decode.js'

export interface AgentSystem {
  /** The same name as in the table of hosts, if the agent is in it. */
  readonly name: string
  readonly title: string

  // ---- its files ----

  /** The file in a project that `migrate` reads and writes. */
  readonly file: string
  /** Tested on a path with forward slashes. */
  readonly isAt: RegExp
  /** How its entries are written. Reading accepts all of them. */
  readonly layout: 'groups' | 'flat' | 'named' | 'triggers' | 'toml'
  /** The events are at the top level of the file. */
  readonly bare?: true
  /** Keys that a new file needs beside its hooks. */
  readonly head?: Data
  /** Keys beside the hooks. Without it, the file holds other settings too. */
  readonly topKeys?: readonly string[]
  /** Keys of an entry beyond the common ones. */
  readonly keys?: readonly string[]
  /** The key of the command, if it is not `command`. */
  readonly commandKey?: string
  /** The key of the timeout that `migrate` writes. */
  readonly timeoutKey?: 'timeoutSec' | 'timeout_ms'
  /** The unit of `timeout`. */
  readonly unit: 'seconds' | 'milliseconds'
  /** Kinds whose `timeout` is in seconds all the same. */
  readonly inSeconds?: readonly string[]
  /** Its entries have no timeout. */
  readonly hasNoTimeout?: true
  /** Seconds until it gives up on a hook that names no timeout. */
  readonly timeout: number

  // ---- its events and tools ----

  readonly events: Readonly<Record<string, AgentEvent>>
  /** Its names of Claude Code's tools. The first is the one it sends. */
  readonly tools: Readonly<Record<string, readonly string[]>>
  /** Its names of the fields of these tools, by Claude Code's names. */
  readonly fields?: Readonly<Record<string, string>>
  readonly mcpName?: (server: string, tool: string) => string
  /**
   * `list`: an exact list, else a pattern found anywhere, as in Claude Code. `narrow`: the same, with fewer characters in
   * a list. `search`: always a pattern. `whole`: a pattern for the whole name. `glob`: `*` stands for any text.
   */
  readonly matching: 'list' | 'narrow' | 'search' | 'whole' | 'glob'

  // ---- its hooks ----

  /**
   * Canonical events on which its explicit allow spares its user a question. On others an allow only means that the hook
   * does not object, and so it does here.
   */
  readonly grants?: readonly string[]
  /** A hook that fails closes a gate on these canonical events. */
  readonly closedOn?: readonly string[]
  /** Any exit code but 0 refuses a tool call. */
  readonly closesByCode?: true
  /** Its hooks start in the folder of the project, and not in the one that the agent works in. */
  readonly startsInProject?: true
  readonly env?: (sent: Sent) => Readonly<Record<string, string>>
  readonly payload: (sent: Sent) => Data
  /** The reply in Claude Code's terms. */
  readonly answer: (reply: Reply, sent: Sent) => Reply
}

/** One of its events. */
export interface AgentEvent {
  /** The canonical event; null if nothing here corresponds to it. */
  readonly to: string | null
  /** It is only about these tools, by Claude Code's names. `mcp` means all tools of MCP servers. */
  readonly tools?: readonly string[]
  /** Its matcher is compared with the command of the shell, and not with the name of the tool. */
  readonly over?: 'command'
  /** For files: the `event` of FileChanged. */
  readonly change?: 'change' | 'add' | 'unlink'
}

/** An event on its way to a hook. */
export interface Sent {
  /** Canonical. */
  readonly event: string
  /** The agent's own name. */
  readonly as: string
  /** As Claude Code would send it. */
  readonly data: Data
  /** The agent's own name of the tool, if the event is about one. */
  readonly tool: string | undefined
  /** Its input, in the agent's own fields. */
  readonly input: Data
  readonly sessionId: string
  readonly projectDir: string
  /** Milliseconds. */
  readonly now: number
  /** By the entry of the hook, a failure refuses. */
  readonly failsClosed?: boolean
}

// ---- for the rows ---------------------------------------------------------------------------------------------

export function on(to: string | null, ...tools: readonly string[]): AgentEvent {
  return { to, ...(tools.length > 0 && { tools }) }
}

/** Events that have the same name here. */
export function same(names: string): Record<string, AgentEvent> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, { to: name }]))
}

export const EDITS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit']

/** Claude Code's names of tools that most agents have. */
export function named(names: string): Record<string, readonly string[]> {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((pair) => {
        const [ours = '', theirs = ''] = pair.split('=')
        return [ours, theirs.split(',')]
      }),
  )
}

/** The parts of `mcp__server__tool`. */
export function mcpParts(name: string): { readonly server: string; readonly tool: string } | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? []
  return server === undefined || tool === undefined ? undefined : { server, tool }
}

/** Removes undefined fields. */
export function defined(fields: Readonly<Record<string, Data[string] | undefined>>): Data {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Data
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A tool's result as text. */
export function resultText(value: Data[string] | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
