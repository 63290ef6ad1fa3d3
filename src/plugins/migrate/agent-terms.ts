// One hook of an agent in the terms of another: its event, matcher, timeout and keys, and what gets lost on the way.

import { KNOWN_TOOLS } from '../../config/matcher-slips.js'
import { knownEvent } from '../../config/stray-names.js'
import { isObject } from '../../core/base/json.js'
import { resolveEvent } from '../../core/events/events.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { AgentHook } from '../../hosts/hook-files/agent-hook.js'
import { whenOf } from '../../hosts/hook-files/agent-matcher.js'
import type { AgentSystem } from '../../hosts/hook-files/agent-system.js'
import type { FileEvent } from '../../hosts/hook-files/hook-file.js'
import { type Speech, speechOf, translatedCommand } from './translated-command.js'

export interface Carried {
  /** Several, if the other agent has an event for each kind of tool. */
  readonly hooks: readonly AgentHook[]
  /** What will be different there, in whole sentences. */
  readonly notes: readonly string[]
  /** Why it will not block there, if it does here. */
  readonly warning?: string
  readonly speech: Speech
}

interface Case {
  readonly hook: AgentHook
  readonly from: AgentSystem
  readonly to: AgentSystem
  readonly notes: string[]
  /** Canonical. */
  readonly event: string
  readonly speech: Speech
}

/** Returns the reason if the other agent cannot have the hook. */
export function carriedOver(
  hook: AgentHook,
  from: AgentSystem,
  to: AgentSystem,
): Carried | { readonly problem: string } {
  const row = Object.hasOwn(from.events, hook.event) ? from.events[hook.event] : undefined
  const event = row ? row.to : (knownEvent(hook.event)?.name ?? null)
  if (event === null) return { problem: `${to.title} has no event like ${hook.event}` }
  const isAboutTool = resolveEvent(event).matcher === 'tool_name'
  const tools = isAboutTool ? (toolsOf(hook, from).names ?? COMMON_TOOLS) : []
  const one: Case = { hook, from, to, notes: [], event, speech: speechOf(from, to, tools) }
  const problem = kindProblem(one)
  if (problem !== undefined) return { problem }
  const places = placesFor(one, row ?? { to: event }, event)
  if (places.length === 0) return { problem: `${to.title} has no event like ${hook.event}` }
  const changed = fitted(one, row)
  if (hook.isOff && to.layout !== 'triggers') return { problem: 'it is switched off' }
  const warning = warningOf(one)
  return {
    hooks: places.map((place) => ({ ...changed, ...place })),
    notes: one.notes,
    ...(warning !== undefined && { warning }),
    speech: one.speech,
  }
}

/** A deny that the other agent does not understand is an allow. */
function warningOf({ hook, from, to, event, speech }: Case): string | undefined {
  if (speech !== 'foreign' || hook.type !== 'command' || resolveEvent(event).deny !== 'block')
    return undefined
  return `It does NOT block in ${to.title} yet: its program reads what ${from.title} sends and answers in ${from.title}’s words. Change the program to ${to.title}’s before you rely on it.`
}

// ---- kinds ----------------------------------------------------------------------------------------------------

/** The key that an agent has if it runs hooks of a kind. */
const KEY_OF_KIND: Readonly<Record<string, string>> = {
  http: 'url',
  prompt: 'prompt',
  agent: 'prompt',
  mcp_tool: 'server',
}

function kindProblem({ hook, from, to, speech }: Case): string | undefined {
  const { type, command, isWindowsOnly, more } = hook
  if (type === 'tell')
    return to.layout === 'triggers'
      ? undefined
      : `${to.title} has no hooks that only say something to the agent`
  if (isWindowsOnly && windowsKeys(to).length === 0)
    return `it is for Windows only, and ${to.title} has no key for that`
  const isOwn = speech === 'own'
  if (!isOwn && (isWindowsOnly || more.shell === 'powershell'))
    return `it is for PowerShell, where Carabiner cannot translate for ${to.title}`
  if (!isOwn && (type === 'http' || type === 'mcp_tool'))
    return `it reads and answers in ${from.title}’s words, which ${to.title} does not understand`
  if (type === 'command') return command === undefined ? 'it has no command' : undefined
  const key = Object.hasOwn(KEY_OF_KIND, type) ? KEY_OF_KIND[type] : undefined
  return key !== undefined && to.keys?.includes(key) ? undefined : `${to.title} runs no hooks of type ${type}`
}

function windowsKeys({ keys = [] }: AgentSystem): readonly string[] {
  return keys.filter((key) => ['powershell', 'windows', 'commandWindows', 'command_windows'].includes(key))
}

// ---- events and matchers --------------------------------------------------------------------------------------

interface PlaceThere {
  readonly event: string
  readonly matcher?: string
}

/** Where the hook goes: one event, or one for each kind of tool. */
function placesFor(one: Case, row: FileEvent, event: string): readonly PlaceThere[] {
  const { to, hook } = one
  const rows = Object.entries(to.events).filter(([, there]) => there.to === event)
  if (resolveEvent(event).matcher !== 'tool_name') {
    const [name] = rows.find(([, there]) => there.change === row.change) ?? []
    if (name === undefined) return []
    return [{ event: name, ...valueMatcher(one, event) }]
  }
  const tools = toolsOf(one.hook, one.from)
  const whole = rows.find(([, there]) => !there.tools)
  if (whole)
    return matchersFor(one, tools).map((matcher) => ({
      event: whole[0],
      ...(matcher !== undefined && { matcher }),
    }))
  const fitting = rows.filter(([, there]) =>
    there.tools?.some((tool) => tools.names === undefined || tools.names.includes(tool)),
  )
  if (
    fitting.length > 0 &&
    typeof hook.matcher === 'string' &&
    hook.matcher !== '' &&
    hook.matcher !== '*' &&
    row.over === undefined
  )
    one.notes.push(
      `${to.title} has no matchers: the hook runs on ${fitting.map(([name]) => name).join(', ')}.`,
    )
  return fitting.map(([name]) => ({ event: name }))
}

interface Tools {
  /** Claude Code's names; undefined for all. `mcp` stands for tools of MCP servers. */
  readonly names: readonly string[] | undefined
  /** Parts of the matcher that name no known tool. */
  readonly others: readonly string[]
}

function toolsOf(hook: AgentHook, from: AgentSystem): Tools {
  const row = from.events[hook.event]
  const spec = typeof hook.matcher === 'string' && row?.over === undefined ? hook.matcher : ''
  const { matcher } = whenOf(from, hook, resolveEvent('PreToolUse'))
  const isAll = (spec === '' || spec === '*') && !row?.tools
  const names = isAll
    ? undefined
    : [
        ...COMMON_TOOLS.filter((tool) => matcher?.test(tool)),
        ...(matcher?.test('mcp__any__any') ? ['mcp'] : []),
      ]
  if (names && names.length > COMMON_TOOLS.length) return { names: undefined, others: [] }
  const parts = /^[\w|:@/.*-]+$/.test(spec) ? spec.split('|') : [spec]
  const others = parts.filter((part) => part !== '' && !fitsKnown(from, hook, part))
  return { names, others }
}

const COMMON_TOOLS = [
  'Bash',
  'Read',
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Glob',
  'Grep',
  'LS',
  'WebFetch',
  'WebSearch',
  'Agent',
  'TodoWrite',
  'AskUserQuestion',
]

function fitsKnown(from: AgentSystem, hook: AgentHook, part: string): boolean {
  const { matcher } = whenOf(from, { ...hook, matcher: part }, resolveEvent('PreToolUse'))
  return !matcher || [...KNOWN_TOOLS, 'mcp__any__any'].some((tool) => matcher.test(tool))
}

/** One matcher, or several where the other agent's can name only one tool. */
function matchersFor(one: Case, { names, others }: Tools): readonly (string | undefined)[] {
  const { to, notes } = one
  if (names === undefined) return [undefined]
  const theirs = names.flatMap((tool) => namesThere(to, tool))
  const all = [...new Set([...theirs, ...others])]
  if (others.length > 0)
    notes.push(
      `${others.join(', ')} in its matcher was kept as it is: nothing says how ${to.title} calls it.`,
    )
  // Without a name the hook would run for every tool.
  if (all.length === 0) return [names.join('|')]
  if (to.matching === 'glob') return all
  const list = all.join('|')
  // Without the ends, Write would also fit TodoWrite.
  return [to.matching === 'search' ? `^(?:${list})$` : list]
}

/** Its names of a tool; none if it has no such tool. */
function namesThere(to: AgentSystem, tool: string): readonly string[] {
  if (tool === 'mcp') return [anyMcp(to)]
  const own = to.tools[tool] ?? (Object.keys(to.tools).length === 0 || BASIC.has(tool) ? [tool] : [])
  return to.matching === 'glob' ? own.slice(0, 1) : own
}

/** Tools that every agent has, mostly under Claude Code's name. */
const BASIC: ReadonlySet<string> = new Set(['Bash', 'Read', 'Write', 'Edit'])

function anyMcp({ mcpName, matching }: AgentSystem): string {
  const any = matching === 'glob' ? '*' : '.*'
  return mcpName?.(any, any) ?? `mcp__${any}`
}

/** A matcher for something other than tools, such as `startup`. */
function valueMatcher({ hook: { matcher }, to, notes }: Case, event: string): Partial<PlaceThere> {
  if (typeof matcher !== 'string' || matcher === '' || matcher === '*' || matcher === '.*') return {}
  if (resolveEvent(event).matcher === null) {
    notes.push(`Its matcher ${JSON.stringify(matcher)} was left out: ${event} has nothing to match.`)
    return {}
  }
  if (to.hasNoMatcher) return {}
  return { matcher }
}

// ---- the rest of the entry ------------------------------------------------------------------------------------

function fitted(one: Case, row: FileEvent | undefined): AgentHook {
  const { hook, to, notes } = one
  const isTranslated = one.speech === 'translated' && hook.type === 'command'
  const has = (key: string) => to.keys?.includes(key) ?? false
  const {
    matcher: _,
    windows,
    dir,
    env,
    args,
    failsClosed,
    more,
    isSequential,
    commandPattern,
    files,
    timeout: __,
    isOff,
    ...rest
  } = hook
  if (
    !isTranslated &&
    row?.over === 'command' &&
    typeof hook.matcher === 'string' &&
    hook.matcher !== '' &&
    to.name !== one.from.name
  )
    notes.push(
      `Its matcher ${JSON.stringify(hook.matcher)} is for the text of the command, which ${to.title} does not match: the hook runs for every command.`,
    )
  if (commandPattern !== undefined && !isTranslated)
    notes.push(`Its commandRegex was left out: ${to.title} has none, so the hook runs for every command.`)
  if (files && to.layout !== 'triggers')
    notes.push(`Its patterns were left out: ${to.title} has none, so the hook runs for every file.`)
  if (isSequential && !to.hasSequential)
    notes.push(`${to.title} may run it at the same time as others: it has no "sequential".`)
  // The shell is for the program, and not for its translator.
  const fields = Object.entries(more).filter(([key]) => !(isTranslated && key === 'shell'))
  const kept = fields.filter(([key]) => has(key))
  for (const [key] of fields)
    if (!has(key) && key !== 'statusMessage' && !(isTranslated && key === 'onFailure'))
      notes.push(`${JSON.stringify(key)} was left out: ${to.title} has no such key.`)
  const closes = failsClosed || more.onFailure === 'block' || (one.from.closedOn?.length ?? 0) > 0
  if (closes && !isTranslated && !has('failClosed') && !has('onFailure') && !to.closedOn && !to.closesByCode)
    notes.push(`${to.title} lets a call pass if the hook fails, and has no key to change that.`)
  if (windows !== undefined && isTranslated)
    notes.push('Its command for Windows was left out: Carabiner runs no commands there.')
  const program = { dir, env, args }
  const time = timeoutFor(one)
  const command =
    hook.type !== 'command'
      ? hook.command
      : isTranslated
        ? translated(one, program, { closes, ...time })
        : named(one, commandFor(one, program))
  return {
    ...rest,
    command,
    ...(args && has('args') && !isTranslated && { args }),
    ...(windows !== undefined && windowsKeys(to).length > 0 && !isTranslated && { windows }),
    ...(dir !== undefined && hasFolder(to) && !isTranslated && { dir }),
    ...(env !== undefined && has('env') && { env }),
    ...(closes && has('failClosed') && { failsClosed: true as const }),
    ...(isSequential && to.hasSequential && { isSequential: true as const }),
    ...(files && to.layout === 'triggers' && { files }),
    ...(isOff && to.layout === 'triggers' && { isOff: true as const }),
    ...time,
    more: { ...Object.fromEntries(kept), ...(closes && has('onFailure') && { onFailure: 'block' }) },
    strange: [],
  }
}

function hasFolder({ keys = [] }: AgentSystem): boolean {
  return keys.includes('cwd') || keys.includes('working_directory')
}

/** The time stays the same, also where the defaults differ. */
function timeoutFor({ hook, from, to, notes }: Case): Pick<AgentHook, 'timeout'> {
  const seconds =
    typeof hook.timeout === 'number' ? hook.timeout : from.timeout === to.timeout ? undefined : from.timeout
  if (seconds === undefined) return {}
  if (to.hasNoTimeout) {
    if (typeof hook.timeout === 'number')
      notes.push(`Its timeout of ${seconds} s was left out: ${to.title} has none.`)
    return {}
  }
  return { timeout: seconds }
}

type Program = Pick<AgentHook, 'dir' | 'env' | 'args'>

interface Terms extends Pick<AgentHook, 'timeout'> {
  readonly closes: boolean
}

/** The folder is for the program, and not for its translator. */
function translated(one: Case, program: Program, { closes, timeout }: Terms): string {
  const { hook, from, to, event } = one
  const { dir, ...rest } = program
  const line = commandFor(one, rest, { keepsArgs: false })
  const own = hook.more.shell === 'bash' ? `bash -c ${shellQuoted(line)}` : line
  return translatedCommand({
    from,
    to,
    hook,
    event,
    program: dir === undefined || dir === '.' ? own : `cd ${shellQuoted(dir)} && ${own}`,
    seconds: typeof timeout === 'number' ? timeout : undefined,
    failsClosed: closes,
  })
}

/** A shell does what the other agent has no key for. */
function commandFor(
  { hook, to }: Case,
  { dir, env, args }: Program,
  { keepsArgs = true }: { readonly keepsArgs?: boolean } = {},
): string {
  const has = (key: string) => to.keys?.includes(key) ?? false
  const own = hook.command ?? ''
  const line = args && !(keepsArgs && has('args')) ? [own, ...args].map(argumentQuoted).join(' ') : own
  const variables =
    isObject(env) && !has('env')
      ? Object.entries(env).map(([name, value]) => `${name}=${shellQuoted(String(value))}`)
      : []
  const set = variables.length > 0 ? `export ${variables.join(' ')}; ` : ''
  const enter = dir !== undefined && dir !== '.' && !hasFolder(to) ? `cd ${shellQuoted(dir)} && ` : ''
  return `${enter}${set}${line}`
}

/** Variables in arguments are replaced there, as in double quotes. */
function argumentQuoted(word: string): string {
  if (!/\$\{\w+\}/.test(word)) return shellQuoted(word)
  return `"${word.replace(/[\\"`]|\$(?!\{\w+\})/g, '\\$&')}"`
}

// ---- variables ------------------------------------------------------------------------------------------------

const PROJECT = /\$(?:\{(\w+_PROJECT_DIR|workspaceFolder)\}|(\w+_PROJECT_DIR)\b)/g

/** The variable for the project's folder has another name there. */
function named({ from, to, notes }: Case, command: string | undefined): string | undefined {
  if (command === undefined) return undefined
  const { projectVariable: there } = to.agent
  const isMissing = new Set<string>()
  const text = command.replace(PROJECT, (found: string, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? ''
    if (name === there) return found
    if (there !== undefined) return `\${${there}}`
    isMissing.add(name)
    return found
  })
  for (const name of isMissing) notes.push(`It uses ${name}, which ${to.title} does not set.`)
  for (const prefix of /\$\{?(CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT)\b/.exec(text)?.slice(1, 2) ?? [])
    if (from.name !== to.name) notes.push(`It uses ${prefix}, which only a plugin of ${from.title} has.`)
  return text
}
