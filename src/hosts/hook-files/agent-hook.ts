// One entry of an agent's hook file in neutral terms, read from its keys and written with them.

import type { AgentSystem } from './agent-system.js'
import type { Fields, FoundEntry } from './layout.js'

export interface AgentHook {
  /** The agent's own name. */
  readonly event: string
  /** `tell`: no program runs, and the agent gets the text. */
  readonly type: string
  /** Its command line, program, question or address. */
  readonly command: string | undefined
  readonly args?: readonly string[]
  /** The command line for Windows, if it differs. */
  readonly windows?: string
  /** There is only a command line for Windows. */
  readonly isWindowsOnly?: true
  /** As written. */
  readonly matcher?: unknown
  /** Seconds. Anything else that was written stays as it is, and is refused later. */
  readonly timeout?: unknown
  readonly dir?: string
  readonly env?: unknown
  readonly failsClosed?: true
  readonly isOff?: true
  readonly isSequential?: true
  /** Globs of files that the event must be about. */
  readonly files?: readonly string[]
  /** A pattern for the command of a shell, beside the matcher. */
  readonly commandPattern?: string
  /** More fields that hooks have here as well. */
  readonly more: Fields
  /** Keys that the agent does not have. */
  readonly strange: readonly string[]
}

const COMMON_KEYS: ReadonlySet<string> = new Set(['type', 'command', 'timeout', 'matcher', 'hooks', 'event'])

/** Fields that mean the same here. */
const SHARED = [
  'shell',
  'async',
  'asyncRewake',
  'if',
  'statusMessage',
  'model',
  'headers',
  'allowedEnvVars',
  'server',
  'tool',
  'input',
  'onFailure',
] as const

const WINDOWS = ['powershell', 'windows', 'commandWindows', 'command_windows'] as const
const FOLDERS = ['cwd', 'working_directory', 'workingDirectory'] as const

export function hookIn(
  agent: AgentSystem,
  { event, handler, group }: FoundEntry,
  platform: NodeJS.Platform,
): AgentHook {
  const type = typeOf(agent, handler)
  const windows = textAt(handler, WINDOWS)
  const plain = textAt(handler, [platform === 'darwin' ? 'osx' : 'linux', 'bash', 'command'])
  const command = type === 'command' ? (plain ?? windows) : textAt(handler, ['prompt', 'url', 'command'])
  const matcher = matcherOf(handler, group)
  const timeout = secondsOf(agent, handler, type)
  const dir = textAt(handler, FOLDERS)
  const more = Object.fromEntries(
    SHARED.flatMap((key) => (handler[key] === undefined ? [] : [[key, handler[key]]])),
  )
  return {
    event,
    type,
    command,
    ...(Array.isArray(handler.args) && { args: handler.args as string[] }),
    ...(windows !== undefined && plain !== undefined && windows !== plain && { windows }),
    ...(windows !== undefined && plain === undefined && { isWindowsOnly: true }),
    ...(matcher !== undefined && { matcher }),
    ...(timeout !== undefined && { timeout }),
    ...(dir !== undefined && { dir }),
    ...(handler.env !== undefined && { env: handler.env }),
    // A text was meant as a yes, too: only what says no leaves the gate open.
    ...(![undefined, null, false, 'false', 0].includes(handler.failClosed as never) && { failsClosed: true }),
    ...((handler.enabled === false || group?.enabled === false) && { isOff: true }),
    ...(group?.sequential === true && { isSequential: true }),
    ...(Array.isArray(handler.patterns) && { files: handler.patterns.filter(isText) }),
    ...(isText(group?.commandRegex) && { commandPattern: group.commandRegex }),
    more,
    strange: strangeIn(agent, handler),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function textAt(source: Fields, keys: readonly string[]): string | undefined {
  const key = keys.find((one) => isText(source[one]) && source[one] !== '')
  return key === undefined ? undefined : (source[key] as string)
}

function typeOf(agent: AgentSystem, handler: Fields): string {
  const { type } = handler
  if (isText(type) && agent.tells?.includes(type)) return 'tell'
  if (type === 'runCommand') return 'command'
  if (isText(type) && (Object.hasOwn(KINDS, type) || agent.layout !== 'triggers')) return type
  if (isText(handler.prompt) && handler.command === undefined) return 'prompt'
  return isText(handler.url) && handler.command === undefined ? 'http' : 'command'
}

const KINDS = { command: 1, prompt: 1, http: 1, agent: 1, mcp_tool: 1 } as const

function matcherOf(handler: Fields, group: Fields | undefined): unknown {
  if (Array.isArray(handler.toolTypes)) return handler.toolTypes.filter(isText).join('|')
  return handler.matcher ?? group?.matcher
}

const PER_SECOND = 1000

function secondsOf(agent: AgentSystem, handler: Fields, type: string): unknown {
  const { timeoutSec, timeout_ms: ms, timeout: given } = handler
  const timeout = given ?? undefined
  if (timeoutSec !== undefined && timeoutSec !== null) return timeoutSec
  if (typeof ms === 'number') return ms / PER_SECOND
  // 0 switches the timeout off there; here the longest one is the default.
  if (agent.layout === 'triggers' && timeout === 0) return undefined
  const isMilli = agent.unit === 'milliseconds' && !agent.inSeconds?.includes(type)
  return isMilli && typeof timeout === 'number' ? timeout / PER_SECOND : timeout
}

function strangeIn({ keys = [], layout, topKeys = [] }: AgentSystem, handler: Fields): readonly string[] {
  return Object.keys(handler).filter((key) => {
    if (COMMON_KEYS.has(key) || keys.includes(key) || /^(?:\/\/|[#_$])/.test(key)) return false
    return !(layout === 'triggers' && topKeys.includes(key))
  })
}

// ---- writing --------------------------------------------------------------------------------------------------

/** The whole file, as data. Hooks of one event and matcher share a group. */
export function fileOf(agent: AgentSystem, hooks: readonly AgentHook[]): Fields {
  if (agent.layout === 'triggers')
    return { ...agent.head, hooks: hooks.map((hook) => triggerOf(agent, hook)) }
  if (agent.layout === 'toml') {
    return {
      hooks: hooks.map((hook) => ({ event: hook.event, ...matcherIn(hook), ...entryOf(agent, hook) })),
    }
  }
  const events: Record<string, Fields[]> = {}
  for (const hook of hooks) {
    const list = events[hook.event] ?? []
    events[hook.event] = list
    if (agent.layout === 'flat') list.push({ ...entryOf(agent, hook), ...matcherIn(hook) })
    else if (isUngrouped(agent, hook)) list.push(entryOf(agent, hook))
    else addToGroup(list, agent, hook)
  }
  if (agent.layout === 'named') return { carabiner: events }
  return agent.bare ? { ...agent.head, ...events } : { ...agent.head, hooks: events }
}

/** Antigravity has groups only where a matcher is possible. */
function isUngrouped({ layout, events }: AgentSystem, { event }: AgentHook): boolean {
  return layout === 'named' && !/ToolUse$/.test(events[event]?.to ?? '')
}

function addToGroup(list: Fields[], agent: AgentSystem, hook: AgentHook): void {
  const head = groupHead(hook)
  const last = list.at(-1)
  const { hooks: before, ...lastHead } = last ?? {}
  if (last && JSON.stringify(lastHead) === JSON.stringify(head)) {
    list[list.length - 1] = { ...head, hooks: [...(before as readonly Fields[]), entryOf(agent, hook)] }
  } else list.push({ ...head, hooks: [entryOf(agent, hook)] })
}

function groupHead(hook: AgentHook): Fields {
  return {
    ...matcherIn(hook),
    ...(hook.isSequential && { sequential: true }),
    ...(hook.commandPattern !== undefined && { commandRegex: hook.commandPattern }),
  }
}

function matcherIn({ matcher }: AgentHook): Fields {
  return matcher === undefined ? {} : { matcher }
}

export function entryOf(agent: AgentSystem, hook: AgentHook): Fields {
  const { type, command, args, windows, isWindowsOnly, dir, env, failsClosed, more } = hook
  const has = (key: string) => agent.keys?.includes(key) ?? false
  const key =
    type === 'command'
      ? isWindowsOnly
        ? windowsKey(agent)
        : (agent.commandKey ?? 'command')
      : type === 'http'
        ? 'url'
        : 'prompt'
  const folder = FOLDERS.find(has)
  return {
    ...((agent.layout !== 'flat' || type !== 'command' || agent.commandKey !== undefined) &&
      agent.layout !== 'toml' && { type: type === 'tell' ? agent.tells?.[0] : type }),
    ...(type !== 'mcp_tool' && { [key]: command }),
    ...(args && { args }),
    ...(windows !== undefined && { [windowsKey(agent)]: windows }),
    ...(dir !== undefined && folder !== undefined && { [folder]: dir }),
    ...(env !== undefined && has('env') && { env }),
    ...timeoutIn(agent, hook),
    ...(failsClosed && has('failClosed') && { failClosed: true }),
    ...Object.fromEntries(Object.entries(more).filter(([name]) => has(name))),
  }
}

function windowsKey({ keys = [] }: AgentSystem): string {
  return WINDOWS.find((key) => keys.includes(key)) ?? 'powershell'
}

function timeoutIn(agent: AgentSystem, { timeout, type }: AgentHook): Fields {
  if (typeof timeout !== 'number') return {}
  const { timeoutKey } = agent
  if (timeoutKey === 'timeout_ms') return { timeout_ms: Math.round(timeout * PER_SECOND) }
  const isMilli = agent.unit === 'milliseconds' && !agent.inSeconds?.includes(type)
  return { [timeoutKey ?? 'timeout']: isMilli ? Math.round(timeout * PER_SECOND) : timeout }
}

function triggerOf(agent: AgentSystem, hook: AgentHook): Fields {
  const { event, type, command, timeout, isOff, files } = hook
  return {
    name: `${agent.events[event]?.to ?? event} ${String(command).slice(0, 40)}`,
    trigger: event,
    ...matcherIn(hook),
    ...(files && { patterns: files }),
    action: type === 'tell' ? { type: agent.tells?.[0], prompt: command } : { type: 'command', command },
    ...(typeof timeout === 'number' && { timeout }),
    enabled: !isOff,
  }
}
