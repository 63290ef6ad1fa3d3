// An agent whose own hook files run here: the facts of its row, in the terms of its file.

import type { Agent, HostTool } from '../host.js'
import type { FileEvent, HookFile } from './hook-file.js'

export interface AgentSystem extends Omit<HookFile, 'events' | 'tools'> {
  readonly agent: Agent
  readonly name: string
  readonly title: string
  /** Seconds until it gives up on a hook that names no timeout. */
  readonly timeout: number
  readonly events: Readonly<Record<string, FileEvent>>
  /** Its names of Claude Code's tools. The first is the one it sends. */
  readonly tools: Readonly<Record<string, readonly string[]>>
}

export function systemOf(agent: Agent, file: HookFile): AgentSystem {
  const { name, title, timeout, events = {}, tools = {} } = agent
  const special = file.events ?? {}
  const names = { ...namesIn(tools), ...file.tools }
  return {
    ...file,
    agent,
    name,
    title,
    timeout,
    events: Object.fromEntries(
      Object.entries(events).map(([own, to]) => [
        own,
        { to, ...(Object.hasOwn(special, own) && special[own]) },
      ]),
    ),
    // A tool for one change also makes several.
    tools: { ...(names.Edit && { MultiEdit: names.Edit }), ...names },
  }
}

/** By Claude Code's names. */
function namesIn(tools: Readonly<Record<string, HostTool>>): Record<string, readonly string[]> {
  const found: Record<string, string[]> = {}
  for (const [own, { names }] of Object.entries(tools))
    for (const name of names) found[name] = [...(found[name] ?? []), own]
  return found
}
