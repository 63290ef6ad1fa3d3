// Finds matchers that match less than they seem to: a misspelt tool, the wrong case, a value that the event never has.

import { nearest, shown } from '../core/base/text.js'
import { FORMER_TOOL_NAMES } from '../core/events/catalogue.js'
import { type EventKind, resolveEvent } from '../core/events/events.js'
import { compileMatcher, isExactList, isServerName, type Matcher, toolOfRule } from '../core/hooks/matcher.js'

/** Claude Code's tools. Other agents' tools are matched under these names. */
export const KNOWN_TOOLS: readonly string[] = [
  ...`Bash BashOutput Read Write Edit MultiEdit NotebookEdit NotebookRead Glob Grep LS WebFetch WebSearch TodoWrite TodoRead
  Skill SlashCommand ExitPlanMode EnterPlanMode AskUserQuestion LSP TaskCreate TaskGet TaskList TaskOutput TaskUpdate
  SendMessage TeamCreate TeamDelete CronCreate CronDelete CronList EnterWorktree ExitWorktree ToolSearch Monitor
  PowerShell`.split(/\s+/),
  ...Object.entries(FORMER_TOOL_NAMES).flatMap(([name, former]) => [name, ...former]),
]

/** A name in the matcher that matches nothing, or the whole matcher if all of it matches nothing. */
export interface Slip {
  readonly text: string
  readonly fix: string
  /** True if no agent has a tool of that name. */
  readonly isCertain: boolean
  /** True if the matcher also lists the right name, or may be meant for the embedder's own tools. */
  readonly mayBeFine: boolean
}

export interface Slips {
  readonly slips: readonly Slip[]
  /** True if the matcher matches no known value. */
  readonly takesNone: boolean
}

const NO_SLIPS: Slips = { slips: [], takesNone: false }

/** Checks a list name by name, and a pattern as a whole. An unknown tool may be the embedder's own. */
export function slipsOf(matcher: Matcher, kind: EventKind): Slips {
  const known = kind.matcher === 'tool_name' ? KNOWN_TOOLS : kind.matcherValues
  if (kind.matcher === null || !known) return NO_SLIPS
  const { pattern } = matcher
  if (!isExactList(pattern)) {
    if (/mcp/i.test(pattern) || known.some((value) => matcher.test(value))) return NO_SLIPS
    const other = known.find((value) => matcher.test(value.toLowerCase()))
    const found = other === undefined ? nothing(pattern, known, kind) : otherCase(pattern, other, kind)
    return { slips: [found], takesNone: !found.mayBeFine }
  }
  const listed = pattern.split(/[|,]/).map((name) => name.trim())
  const odd = listed.filter((name) => name !== '' && !known.includes(name))
  if (odd.length === 0) return NO_SLIPS
  const meant = new Map(odd.map((name) => [name, meantBy(name, known)]))
  const right = pattern.replace(/[\w-]+/g, (name) => meant.get(name) ?? name)
  const wrong = odd.flatMap((name) => {
    const wanted = meant.get(name)
    return wanted === undefined ? [] : [{ name, wanted, mayBeFine: listed.includes(wanted) }]
  })
  const takesSome = listed.some((name) => known.includes(name))
  if (wrong.length > 0) {
    const slips = together(wrong).map((some) => ({ ...slip(some, kind), fix: `Write ${right}.` }))
    return { slips, takesNone: !takesSome && wrong.length === odd.length }
  }
  return takesSome || kind.matcher === 'tool_name'
    ? NO_SLIPS
    : { slips: [nothing(pattern, known, kind)], takesNone: true }
}

/** True if none of the hook's events has a value that its matcher matches. */
export function matchesNothing({ events, matcher, writtenFor }: Listening): boolean {
  // A matcher of another agent has that agent's names of tools.
  if (writtenFor || events === 'all' || matcher === null || events.length === 0) return false
  try {
    const compiled = compileMatcher(matcher)
    return compiled !== null && events.every((event) => slipsOf(compiled, resolveEvent(event)).takesNone)
  } catch {
    return false // an invalid pattern is reported as such
  }
}

interface Listening {
  readonly writtenFor?: object
  readonly events: 'all' | readonly string[]
  readonly matcher: string | null
}

/** A name in a list that is not known, and the likely meaning. */
interface Wrong {
  readonly name: string
  readonly wanted: string
  readonly mayBeFine: boolean
}

type SomeWrong = readonly [Wrong, ...Wrong[]]

/** One mistake is told once, however many names it has. */
function together(wrong: readonly Wrong[]): readonly SomeWrong[] {
  const isServer = ({ name }: Wrong) => isServerName(name)
  const others = [true, false].map((mayBeFine) =>
    wrong.filter((one) => !isServer(one) && one.mayBeFine === mayBeFine),
  )
  return [...wrong.filter(isServer).map((one) => [one]), ...others].filter(
    (some): some is SomeWrong & Wrong[] => some.length > 0,
  )
}

function slip(some: SomeWrong, kind: EventKind): Omit<Slip, 'fix'> {
  const [{ name, mayBeFine }] = some
  if (isServerName(name)) {
    const text = `the matcher ${shown(name)} must match a whole name, but that server’s tools are called ${name}__…`
    return { text, isCertain: true, mayBeFine }
  }
  const isCase = some.every((one) => one.wanted.toLowerCase() === one.name.toLowerCase())
  const names = some.map((one) => shown(one.name)).join(' or ')
  const wanted = [...new Set(some.map((one) => one.wanted))].join(' and ')
  const what =
    kind.matcher === 'tool_name'
      ? 'no tool of Claude Code or a similar agent'
      : `no ${kind.matcher} of ${kind.name}`
  const text = `${what} is called ${names}; did you mean ${wanted}?${isCase ? ' Case matters' : ''}`
  return { text, isCertain: false, mayBeFine }
}

/** The most likely meaning of an unknown name. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  if (isServerName(name)) return `${name}__.*`
  return name.startsWith('mcp__') ? undefined : nearest(name, known)
}

function nothing(pattern: string, known: readonly string[], kind: EventKind): Slip {
  const list = known.length > 8 ? 'Write|Edit' : known.join('|')
  const isTool = kind.matcher === 'tool_name'
  return {
    text: `the matcher ${shown(pattern)} matches no known ${kind.matcher}, so the hook may never run`,
    fix:
      asRule(pattern) ??
      `Write a list such as ${list}, or say which value it is for: carabiner explain ${kind.name}${isTool ? ' --tool NAME' : ''}`,
    isCertain: false,
    mayBeFine: isTool,
  }
}

function otherCase(pattern: string, meant: string, { matcher }: EventKind): Slip {
  return {
    text: `the matcher ${shown(pattern)} matches no known ${matcher}: case matters, and the name is ${meant}`,
    fix: `Write ${meant} as it is spelled.`,
    isCertain: false,
    mayBeFine: false,
  }
}

/** The fix for a rule such as `Bash(git *)` in place of a tool's name. */
export function asRule(pattern: string): string | undefined {
  const tool = toolOfRule(pattern)
  return tool === undefined ? undefined : `Write "matcher": "${tool}", and on the hook "if": "${pattern}".`
}
