// The agents whose hook files run here, and which of them a file was written for.

import { isObject } from '../../core/base/json.js'
import { canonicalEvent } from '../../core/events/events.js'
import type { Agent } from '../host.js'
import { AGENTS } from '../hosts.js'
import { partsOf } from '../late-parts.js'
import { type AgentSystem, systemOf } from './agent-system.js'
import { type FoundEntry, foundIn } from './layout.js'

/** Sorted by name. */
export function hookFiles(): Promise<readonly AgentSystem[]> {
  return Promise.all(AGENTS.flatMap((agent) => loaded(agent) ?? []))
}

/** Undefined if there is no such agent, or if it has no hook files that run here. */
export async function hookFileOf(name: string): Promise<AgentSystem | undefined> {
  const agent = AGENTS.find((one) => one.name === name)
  return agent && loaded(agent)
}

function loaded(agent: Agent): Promise<AgentSystem> | undefined {
  return partsOf(agent)
    .hooks?.()
    .then(({ hookFile }) => systemOf(agent, hookFile))
}

/** The agent that a file says it was written for: `migrate` writes `"agent": "cursor"` into a copy. */
export function agentSaid(value: unknown): string | undefined {
  return isObject(value) && typeof value.agent === 'string' ? value.agent : undefined
}

/** The agent whose folder a file is in. */
export function agentAt(agents: readonly AgentSystem[], path: string): AgentSystem | undefined {
  const text = slashed(path)
  const places = agents.flatMap((agent) => {
    const at = text.search(agent.isAt)
    return at < 0 ? [] : [{ agent, at }]
  })
  return places.sort((a, b) => b.at - a.at)[0]?.agent
}

/**
 * The agent that a file was written for; undefined if it is Claude Code's or ours. Its place decides. Without one, its
 * events and keys do, and the names of its folders where these fit several agents.
 */
export function agentOf(
  agents: readonly AgentSystem[],
  path: string,
  value: unknown,
): AgentSystem | undefined {
  const text = slashed(path)
  if (/\/\.(?:claude|claude-plugin|amplifier)\//.test(text)) return undefined
  return agentAt(agents, text) ?? agentBy(agents, value, text)
}

function slashed(path: string): string {
  return `/${path.replaceAll('\\', '/')}`.replace(/\/+/g, '/')
}

/** Judged by what it says. */
export function agentBy(agents: readonly AgentSystem[], value: unknown, path = ''): AgentSystem | undefined {
  if (!isObject(value)) return undefined
  const hint = hinted(agents, path)
  const rated = agents.map((agent) => ({ agent, points: pointsOf(agent, value, agent === hint) }))
  const best = Math.max(...rated.map(({ points }) => points))
  return best > 0 ? rated.find(({ points }) => points === best)?.agent : undefined
}

/** The agent that the folder of a file is named after: `configs/gemini-cli/settings.json`. */
function hinted(agents: readonly AgentSystem[], path: string): AgentSystem | undefined {
  const folders = path.toLowerCase().split('/').slice(-6, -1).reverse()
  const last = (folders[0] ?? '').replace(/-(?:cli|code|ide)$/, '')
  return (
    agents.find(({ name }) => name === last) ??
    agents.find((agent) => isClose(agent) && folders.includes(agent.name))
  )
}

/** Its files only differ from Claude Code's in names of tools: to take one for this agent's changes little. */
function isClose({ speaksClaude, layout, bare, unit }: AgentSystem): boolean {
  return speaksClaude !== undefined && layout === 'groups' && !bare && unit === 'seconds'
}

function pointsOf(agent: AgentSystem, value: object, isHinted: boolean): number {
  const { entries } = foundIn(agent, value)
  if (entries.length === 0) return 0
  const known = entries.filter(({ event }) => Object.hasOwn(agent.events, event))
  // A name that nothing here has, or an entry that only this agent writes so.
  const telling = known.filter((entry) => isStrange(entry.event) || isTelling(agent, entry, value))
  // Nobody has such events, so its folder decides.
  if (known.length === 0) return isHinted && entries.every(({ event }) => isStrange(event)) ? 1 : 0
  // A file that is mostly somebody else's only borrows a name.
  const others = entries.length - known.length
  if (isHinted ? known.length < others : known.length <= others || telling.length === 0) return 0
  return (
    known.length * 4 +
    telling.length * 2 -
    (entries.length - known.length) * 4 +
    (isHinted ? 3 : 0) +
    (agent.head ? 1 : 0)
  )
}

function isStrange(event: string): boolean {
  return canonicalEvent(event) === undefined
}

/** Entries outside a group are none of ours. */
function isTelling(agent: AgentSystem, { handler, group, event }: FoundEntry, value: object): boolean {
  if (agent.layout === 'triggers') return 'when' in value || 'trigger' in handler || 'action' in handler
  if (agent.layout === 'named') return !('hooks' in value) && !Object.hasOwn(value, event)
  if (agent.commandKey !== undefined && agent.commandKey in handler) return true
  if (namesExtension(agent, group?.matcher ?? handler.matcher)) return true
  if (group !== undefined) return false
  if (agent.timeoutKey !== undefined && agent.timeoutKey in handler) return true
  if (agent.layout !== 'flat') return false
  return agent.isOwnName?.(event, value) ?? /^[a-z]/.test(event)
}

/** The name of an extension may be before that of a tool: `developer__shell`. Those of MCP servers look alike elsewhere. */
function namesExtension({ tools }: AgentSystem, matcher: unknown): boolean {
  if (typeof matcher !== 'string') return false
  const extensions = Object.values(tools).flatMap((names) =>
    names.flatMap((name) => /^.+?__/.exec(name) ?? []),
  )
  return extensions.some((start) => matcher.includes(start) && !matcher.includes(`__${start}`))
}
