// The hook file of an agent: where it is, how it is written, and what its hooks read and answer. The agent's row has the rest.

import type { Data } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'

export interface HookFile {
  // ---- the file ----

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
  /** Its entries have no matcher. */
  readonly hasNoMatcher?: true
  /** Its groups can be sequential. */
  readonly hasSequential?: true
  /** Types of an entry that only gives the agent a text. The first is the one that `migrate` writes. */
  readonly tells?: readonly string[]
  /** Whether the name of an event in a flat file shows that the file is this agent's. Default: it begins with a small letter. */
  readonly isOwnName?: (event: string, file: object) => boolean

  // ---- its events and tools, beyond the row ----

  /** What is special about some of its events in the file. */
  readonly events?: Readonly<Record<string, Partial<FileEvent>>>
  /** Its names of Claude Code's tools, where matchers know more or others than the row. The first is the one it sends. */
  readonly tools?: Readonly<Record<string, readonly string[]>>
  readonly mcpName?: (server: string, tool: string) => string
  /** Its names of other values that matchers are for, by Claude Code's. */
  readonly values?: Readonly<Record<string, readonly string[]>>
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
  /** Its hooks read Claude Code's payload and answer in its words. `fully`: it honours all of them, as far as is known. */
  readonly speaksClaude?: 'fully' | 'partly'
  /** A hook that fails closes a gate on these canonical events. */
  readonly closedOn?: readonly string[]
  /** Any exit code but 0 refuses a tool call. */
  readonly closesByCode?: true
  /** Its hooks start in the folder of the project, and not in the one that the agent works in. */
  readonly startsInProject?: true
  /** Beside the variable for the project in the row. */
  readonly env?: (sent: Sent) => Readonly<Record<string, string>>
  readonly payload: (sent: Sent) => Data
  /** The reply in Claude Code's terms. */
  readonly answer: (reply: Reply, sent: Sent) => Reply
}

/** One of its events. */
export interface FileEvent {
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
  /** An input in the agent's own fields, in Claude Code's. */
  readonly ours: (input: Data) => Data
  readonly sessionId: string
  readonly projectDir: string
  /** Milliseconds. */
  readonly now: number
  /** By the entry of the hook, a failure refuses. */
  readonly failsClosed?: boolean
}

// ---- for the agents -------------------------------------------------------------------------------------------

export const EDITS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit']

/** `Bash=shell,exec Read=view` */
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

/** A tool's result as text. */
export function resultText(value: Data[string] | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
