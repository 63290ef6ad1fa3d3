// When a hook of another agent runs: its matcher in that agent's own terms, for events in ours.

import { textOf } from '../../core/base/errors.js'
import type { EventKind } from '../../core/events/events.js'
import type { Hook, HookEvent } from '../../core/hooks/hook.js'
import { compileMatcher, type Matcher, type MatcherOptions } from '../../core/hooks/matcher.js'
import type { AgentHook } from './agent-hook.js'
import type { AgentSystem } from './agent-system.js'
import { type FileEvent, mcpParts } from './hook-file.js'

export interface When {
  readonly matcher: Matcher | null
  readonly condition?: NonNullable<Hook['condition']>
  /** For the author of the file. */
  readonly problem?: string
}

/** What a hook wants of an event. A matcher that cannot be read accepts everything: more often, never less. */
export function whenOf(agent: AgentSystem, hook: AgentHook, kind: EventKind): When {
  const event: FileEvent = agent.events[hook.event] ?? { to: kind.name }
  const { matcher: written } = hook
  const isOdd = written !== undefined && written !== null && typeof written !== 'string'
  const spec = typeof written === 'string' ? written : ''
  const isTools = kind.matcher === 'tool_name'
  const compiled = compile(agent, event.over === undefined ? spec : '')
  const commands = [event.over === 'command' && spec !== '*' ? spec : '', hook.commandPattern ?? ''].filter(
    (pattern) => pattern !== '',
  )
  const conditions = [
    ...commands.map(onCommand),
    event.change === undefined && hook.files === undefined ? undefined : onFile(event.change, hook.files),
  ].filter((one) => one !== undefined)
  const condition = all(conditions)
  const problem = isOdd
    ? 'its matcher is not a text, so the hook runs for every value'
    : (compiled.problem ?? unreadIn(commands, hook.files))
  const matcher = isTools ? ofTools(agent, event, compiled.matcher, spec) : ofValue(agent, compiled.matcher)
  return {
    matcher: kind.matcher === null ? null : matcher,
    ...(condition && { condition }),
    ...(problem !== undefined && { problem }),
  }
}

// ---- the pattern ----------------------------------------------------------------------------------------------

interface Compiled {
  readonly matcher: Matcher | null
  readonly problem?: string
}

function compile({ matching }: AgentSystem, spec: string): Compiled {
  if (spec === '' || spec === '*' || spec === '**') return { matcher: null }
  const source = matching === 'glob' ? globSource(spec) : matching === 'search' ? `(?:${spec})` : spec
  const options: MatcherOptions = {
    matching: matching === 'whole' || matching === 'glob' ? 'fullmatch' : 'search',
    narrow: matching === 'narrow',
  }
  try {
    // `(?:a)|(b)` must not become valid by the brackets around it.
    if (matching === 'search') compileMatcher(`${spec}.?`)
    const compiled = compileMatcher(source, options)
    return { matcher: compiled && { pattern: spec, test: compiled.test } }
  } catch (error) {
    return { matcher: null, problem: `${textOf(error)}; the hook runs for every value` }
  }
}

/** `fs_*`, `@server`, `@server/tool`. */
function globSource(glob: string): string {
  const source = glob.split('*').map(escaped).join('.*')
  return /^@[^/]+$/.test(glob) && glob !== '@builtin' ? `${source}(?:/.*)?` : source
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

// ---- tools ----------------------------------------------------------------------------------------------------

/** Every name that the agent has for one of our tools, and ours, because authors also write Claude Code's. */
export function namesOf({ tools, mcpName }: AgentSystem, tool: string): readonly string[] {
  const mcp = mcpParts(tool)
  if (mcp) return [...(mcpName ? [mcpName(mcp.server, mcp.tool)] : []), tool, '@mcp']
  return [...(Object.hasOwn(tools, tool) ? (tools[tool] ?? []) : []), tool, '@builtin']
}

function ofTools(agent: AgentSystem, event: FileEvent, own: Matcher | null, spec: string): Matcher | null {
  const { tools } = event
  if (!tools && !own) return null
  const isMeant = (tool: string) =>
    !tools || tools.includes(tool) || (tools.includes('mcp') && tool.startsWith('mcp__'))
  const fixed = tools?.map((name) => (name === 'mcp' ? 'mcp__.*' : name)).join('|')
  const command = event.over === 'command' && spec !== '' && spec !== '*' ? `(${spec})` : ''
  return {
    pattern: own ? spec : `${fixed ?? ''}${command}`,
    test: (tool) => isMeant(tool) && (!own || namesOf(agent, tool).some((name) => own.test(name))),
  }
}

function ofValue({ values = {} }: AgentSystem, own: Matcher | null): Matcher | null {
  return own && { pattern: own.pattern, test: (value) => [value, ...(values[value] ?? [])].some(own.test) }
}

// ---- conditions -----------------------------------------------------------------------------------------------

type Condition = NonNullable<Hook['condition']>

function all(conditions: readonly Condition[]): Condition | undefined {
  if (conditions.length === 0) return undefined
  return (event) => conditions.map((one) => one(event)).find((answer) => answer !== true) ?? true
}

/** What the author of the file is told about patterns that cannot be read. */
function unreadIn(commands: readonly string[], files: readonly string[] = []): string | undefined {
  const command = commands.find((pattern) => !commandTest(pattern))
  const file = files.find((glob) => !fileTest(glob))
  if (command === undefined && file === undefined) return undefined
  const every = command === undefined ? 'file' : 'command'
  return `its pattern ${JSON.stringify(command ?? file)} cannot be read; the hook runs for every ${every}`
}

type Test = (text: string) => boolean
const ANY: Test = () => true

function commandTest(pattern: string): Test | undefined {
  try {
    // `a)|(b` must not become valid by the brackets around it.
    compileMatcher(`${pattern}.?`)
    return compileMatcher(`(?:${pattern})`)?.test ?? ANY
  } catch {
    return undefined
  }
}

/** A pattern that cannot be read accepts every command. */
function onCommand(pattern: string): Condition {
  const test = commandTest(pattern) ?? ANY
  return ({ data }: HookEvent) => {
    const { tool_name: tool, tool_input: input } = data
    const command = (input as { readonly command?: unknown } | undefined)?.command
    if (tool !== 'Bash' || typeof command !== 'string') return true
    return test(command) || `its matcher ${JSON.stringify(pattern)} does not fit the command`
  }
}

function onFile(change: FileEvent['change'], globs: readonly string[] | undefined): Condition {
  const tests = globs?.map((glob) => fileTest(glob) ?? ANY)
  return ({ data }) => {
    if (change !== undefined && typeof data.event === 'string' && data.event !== change)
      return `it is not about "${data.event}"`
    const { file_path: path } = data
    if (!tests || typeof path !== 'string') return true
    return tests.some((test) => test(path)) || 'its patterns do not fit the file'
  }
}

/** Negation, classes, escapes, patterns in brackets, and braces within braces or without an end. */
const UNREAD = /^!|[[\]\\]|[?*+@!]\(|\{[^}]*(?:\{|$)/

/** `**` crosses folders, `*` does not. A pattern without a slash is about the name of the file. Undefined for one that cannot be read. */
function fileTest(glob: string): Test | undefined {
  if (UNREAD.test(glob)) return undefined
  const source = glob
    .replace(/^\.?\//, '')
    .replace(/[.+^${}()|]/g, '\\$&')
    .replace(/\*\*\/?|\*|\?/g, (sign) => (sign === '?' ? '[^/]' : sign === '*' ? '[^/]*' : '.*'))
    .replace(/\\\{([^}]*)\\\}/g, (_, inner: string) => `(?:${inner.split(',').join('|')})`)
  try {
    // It must not take long for any path, as `*a*a*a*b` would with backtracking.
    const matcher = compileMatcher(`(?:^|/)${source}$`)
    return (path) => matcher?.test(path.replaceAll('\\', '/')) ?? true
  } catch {
    return undefined
  }
}
