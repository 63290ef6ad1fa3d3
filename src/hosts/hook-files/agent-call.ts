// An event on its way to a hook of another agent, and its reply on the way back.

import { type Data, isObject } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { encode } from '../../systems/claude-code/encode.js'
import { hostInput } from '../tool-calls.js'
import type { AgentSystem } from './agent-system.js'
import { mcpParts, type Sent } from './hook-file.js'
import { hookFileOf } from './hook-files.js'

/** How a hook is run for the agent that it was written for. */
export interface AgentTerms {
  readonly agent: string
  /** The agent's own name of the event. */
  readonly event: string
  /** The folder to start in, as written. */
  readonly dir?: string
  /** Its output is a text for the agent, and not an answer. */
  readonly tells?: true
  /** By its entry, a failure refuses. */
  readonly failsClosed?: true
}

export interface AgentCall {
  readonly payload: string
  readonly env: Readonly<Record<string, string>>
  readonly startsInProject: boolean
  readonly answer: (reply: Reply) => Reply
  /** Whether an allow spares the user a question there. */
  readonly grants: boolean
}

/** Undefined if there is no such agent. */
export async function agentCall(
  terms: AgentTerms,
  event: HookEvent,
  projectDir: string,
): Promise<AgentCall | undefined> {
  const agent = await hookFileOf(terms.agent)
  if (!agent) return undefined
  const { projectVariable: variable } = agent.agent
  const sent = sentTo(agent, terms.event, event, projectDir)
  return {
    payload: `${JSON.stringify(agent.payload(sent))}\n`,
    env: { ...(variable !== undefined && { [variable]: projectDir }), ...agent.env?.(sent) },
    startsInProject: agent.startsInProject === true,
    grants: agent.grants?.includes(event.name) === true,
    answer: (reply) =>
      terms.tells
        ? told(reply, sent)
        : agent.answer(reply, { ...sent, failsClosed: terms.failsClosed === true }),
  }
}

function sentTo(agent: AgentSystem, as: string, event: HookEvent, projectDir: string): Sent {
  const data = JSON.parse(encode(event)) as Data
  const { session_id: id, tool_name: name, tool_input: input } = data
  const called = typeof name === 'string' ? toolName(agent, name) : undefined
  const { tools = {} } = agent.agent
  const tool = called !== undefined && Object.hasOwn(tools, called) ? tools[called] : undefined
  return {
    event: event.name,
    as,
    data,
    tool: called,
    input: isObject(input) ? hostInput(tool, {}, {}, input as Data) : {},
    ours: (own) => named(own, tool?.fields ?? {}),
    sessionId: typeof id === 'string' ? id : (event.session?.id ?? ''),
    projectDir,
    now: timeIn(data.timestamp),
  }
}

function toolName({ tools, mcpName }: AgentSystem, name: string): string {
  const mcp = mcpParts(name)
  if (mcp) return mcpName?.(mcp.server, mcp.tool) ?? name
  return (Object.hasOwn(tools, name) ? tools[name]?.[0] : undefined) ?? name
}

function named(input: Data, fields: Readonly<Record<string, string>>): Data {
  const entries = Object.entries(input)
  return Object.fromEntries(
    entries.map(([key, value]) => [Object.hasOwn(fields, key) ? fields[key] : key, value]),
  )
}

function timeIn(timestamp: unknown): number {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isFinite(time) ? time : Date.now()
}

/** The text is the agent's next instruction, or context for it. It is said once before the agent stops. */
function told(reply: Reply, { event, data }: Sent): Reply {
  if (event === 'Stop' && data.stop_hook_active === true) return { ...reply, stdout: '' }
  const specific = { hookEventName: event, additionalContext: reply.stdout }
  return { ...reply, stdout: JSON.stringify({ hookSpecificOutput: specific }) }
}
