// Reads the hook file of another agent: its entries become hooks here, with its events, units and matchers.

import { isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import { type EventKind, resolveEvent } from '../core/events/events.js'
import { type JsonPath, under } from '../files/json-text.js'
import { type AgentHook, hookIn } from '../hosts/hook-files/agent-hook.js'
import { whenOf } from '../hosts/hook-files/agent-matcher.js'
import type { AgentSystem } from '../hosts/hook-files/agent-system.js'
import { agentBy, agentOf, agentSaid, hookFiles } from '../hosts/hook-files/hook-files.js'
import { type Fields, type FoundEntry, foundIn, type Oddity, type Path } from '../hosts/hook-files/layout.js'
import { type AgentFileReader, type Group, type Reading, readEntry, say } from './hook-group.js'
import { knownEvent } from './stray-names.js'

export async function agentFileReader(): Promise<AgentFileReader> {
  const agents = await hookFiles()
  return (reading, role) => {
    const agent = agentOfFile(agents, reading, role)
    if (agent) readAll(reading, agent)
    return agent !== undefined
  }
}

/** A named file may be any agent's. A plugin is Claude Code's unless its `agent` or its events say otherwise. */
function agentOfFile(
  agents: readonly AgentSystem[],
  { file }: Reading,
  role: string,
): AgentSystem | undefined {
  if (role !== 'explicit' && role !== 'plugin') return undefined
  const said = agents.find(({ name }) => name === agentSaid(file.value))
  if (said) return said
  return role === 'explicit' ? agentOf(agents, file.path, file.value) : agentBy(agents, file.value)
}

function readAll(reading: Reading, agent: AgentSystem): void {
  const { value } = reading.file
  const { entries, odd } = foundIn(agent, value)
  const isShared = /(?:settings|config)[^/\\]*$/.test(reading.file.path)
  // A file of settings has keys that are none of ours.
  for (const one of odd) if (one.what === 'entry' || !isShared) sayOdd(reading, agent, one)
  const lanes = new Map<unknown, object>()
  for (const entry of entries) {
    if (entry.group && !lanes.has(entry.group)) lanes.set(entry.group, {})
    readOne(reading, agent, entry, { lane: lanes.get(entry.group), isOff: isSwitchedOff(value, entry) })
  }
  // Every group has the key, and the check for duplicates counts them.
  reading.hooksKeys += 1 + entries.length
}

function pathOf(at: Path): JsonPath {
  return at.reduce<JsonPath>((path, key) => under(path, key), null)
}

interface Surroundings {
  readonly lane: object | undefined
  readonly isOff: boolean
}

function readOne(
  reading: Reading,
  agent: AgentSystem,
  entry: FoundEntry,
  { lane, isOff }: Surroundings,
): void {
  const at = pathOf(entry.at)
  const kind = kindOfEvent(reading, agent, entry)
  const hook = hookIn(agent, entry, process.platform)
  for (const key of hook.strange) {
    const where = { file: reading.file, at: under(at, key) }
    const text = `${shown(key)} is not a key of a hook in ${agent.title}, and is ignored`
    const todo = `Remove ${shown(key)}, unless another program reads it.`
    reading.shared.notes.once(`handler ${key}`, 'unknown-key', text, where, { todo })
  }
  const { timeout } = entry.handler
  if (
    agent.unit === 'milliseconds' &&
    typeof timeout === 'number' &&
    hook.timeout === timeout / 1000 &&
    timeout < 1000
  ) {
    const text = `${entry.event}: ${agent.title} counts milliseconds, so its timeout of ${timeout} is ${timeout / 1000} s`
    const todo = `Write ${timeout * 1000} in place of ${timeout} if seconds were meant.`
    say(reading, 'timeout-short', text, under(at, 'timeout'), { todo })
  }
  const when = whenOf(agent, hook, kind)
  const group: Group = {
    spec: hook.matcher,
    matcher: when.matcher,
    matching: reading.matching,
    sequential: hook.isSequential === true,
    ...(lane && { lane }),
    agent: {
      terms: {
        agent: agent.name,
        event: entry.event,
        ...(hook.dir !== undefined && { dir: hook.dir }),
        ...(hook.type === 'tell' && { tells: true as const }),
        ...(hook.failsClosed && { failsClosed: true as const }),
      },
      ...(when.condition && { condition: when.condition }),
      usualTimeout: agent.timeout,
      isOff: isOff || hook.isOff === true,
    },
  }
  const before = reading.entries.length
  readEntry(reading, kind, group, handlerOf(agent, hook, kind), at)
  const { name } = reading.entries[before] ?? {}
  if (when.problem !== undefined) {
    const where = under(
      entry.handler.matcher === undefined ? pathOf(entry.groupAt ?? entry.at) : at,
      'matcher',
    )
    say(reading, 'matcher-invalid', `${entry.event}: ${when.problem}`, where, { hook: name })
  }
}

// ---- events ---------------------------------------------------------------------------------------------------

/** Every entry is a hook, also on an event that nothing here raises: it is said, and `fire` can raise it. */
function kindOfEvent(reading: Reading, agent: AgentSystem, { event, at }: FoundEntry): EventKind {
  const row = Object.hasOwn(agent.events, event) ? agent.events[event] : undefined
  if (row?.to) return resolveEvent(row.to)
  const here = row ? undefined : knownEvent(event)
  const { text, todo } = here ? elsewhere(agent, event, here.name) : nowhere(agent, event, row !== undefined)
  // The file is wrong only if nobody has the event.
  const code = here || row ? 'agent-event' : 'unknown-event'
  const where = { file: reading.file, at: pathOf(at) }
  reading.shared.notes.once(`event ${event}`, code, text, where, { todo })
  return here ?? resolveEvent(event)
}

function elsewhere({ title, events }: AgentSystem, event: string, to: string) {
  const own = Object.keys(events).find((name) => events[name]?.to === to && !events[name]?.tools)
  const text = `${title} has no event ${shown(event)}, so it does not run this hook; here the hook runs on ${to}`
  return {
    text,
    todo: own
      ? `Write ${own}, which is ${title}’s name for it.`
      : `Remove it, if only ${title} reads this file.`,
  }
}

function nowhere({ title, events }: AgentSystem, event: string, isOwn: boolean) {
  const only = `its hooks run only when something fires ${shown(event)}`
  if (isOwn) {
    const text = `nothing here corresponds to ${title}’s event ${event}: ${only}`
    return { text, todo: `Nothing, if ${title} is to run it: the file is fine there.` }
  }
  const meant = nearest(event, Object.keys(events))
  const text = `neither ${title} nor Carabiner has an event ${shown(event)}: ${only}`
  return {
    text,
    todo: meant ? `Write ${meant}.` : `Write an event of ${title}, such as ${Object.keys(events)[0]}.`,
  }
}

// ---- handlers -------------------------------------------------------------------------------------------------

/** The entry as our own files have it. */
function handlerOf(agent: AgentSystem, hook: AgentHook, kind: EventKind): Fields {
  const { type, command, timeout, env, more } = hook
  const common = {
    ...more,
    ...(timeout !== undefined && { timeout }),
    ...((hook.failsClosed || agent.closedOn?.includes(kind.name)) && { onFailure: 'block' }),
  }
  switch (type) {
    case 'tell':
      return { ...common, type: 'command', command: 'printf', args: ['%s', command ?? ''] }
    case 'command':
      return {
        ...common,
        type,
        command,
        ...(hook.args && { args: hook.args }),
        ...(env !== undefined && { env }),
        ...shellOf(agent, hook),
      }
    case 'http':
      return { ...common, type, url: command }
    case 'prompt':
    case 'agent':
      return { ...common, type, prompt: command }
    default:
      return { ...common, type }
  }
}

function shellOf(agent: AgentSystem, { isWindowsOnly, windows, args }: AgentHook): Fields {
  if (args) return {}
  if (isWindowsOnly || (windows !== undefined && process.platform === 'win32')) return { shell: 'powershell' }
  return agent.commandKey === 'bash' ? { shell: 'bash' } : {}
}

// ---- switches and oddities ------------------------------------------------------------------------------------

/** `disableAllHooks` of Copilot CLI, `hooksConfig` of Gemini CLI. */
function isSwitchedOff(value: unknown, { handler }: FoundEntry): boolean {
  if (!isObject(value)) return false
  const { disableAllHooks, hooksConfig } = value
  if (disableAllHooks === true) return true
  if (!isObject(hooksConfig)) return false
  const { enabled, disabled } = hooksConfig
  return (
    enabled === false ||
    (Array.isArray(disabled) && disabled.some((name) => name === handler.name || name === handler.command))
  )
}

function sayOdd(reading: Reading, { title }: AgentSystem, { what, key, value, at }: Oddity): void {
  if (what === 'entry') {
    const text = `an entry of ${shown(key)} was left out: ${title} has objects there, got ${shown(value)}`
    say(reading, 'entry-invalid', text, pathOf(at), { todo: 'Write an object with a command, or remove it.' })
    return
  }
  const text = `${shown(key)} is not a key of ${title}’s hook files, and is ignored`
  say(reading, 'unknown-key', text, pathOf(at), {
    todo: `Remove ${shown(key)}, unless another program reads it.`,
  })
}
