// Matchers that can never match or match less than they seem to, and time-outs in the wrong unit.

import { nearest, shown } from '../../core/base/text.js'
import { FORMER_TOOL_NAMES } from '../../core/events/catalogue.js'
import { type EventKind, resolveEvent } from '../../core/events/events.js'
import type { Matcher } from '../../core/hooks/matcher.js'
import { counted, grouped, placeOf } from '../print/lines.js'
import { type Facts, type Written, wanted } from './facts.js'
import type { Checked, Finding } from './finding.js'

/** Claude Code's tools. Other agents' tools are matched under these names. */
export const KNOWN_TOOLS: readonly string[] = [
  ...`Bash BashOutput Read Write Edit MultiEdit NotebookEdit NotebookRead Glob Grep LS WebFetch WebSearch TodoWrite TodoRead
  Skill SlashCommand ExitPlanMode EnterPlanMode AskUserQuestion LSP TaskCreate TaskGet TaskList TaskOutput TaskUpdate
  SendMessage TeamCreate TeamDelete CronCreate CronDelete CronList EnterWorktree ExitWorktree ToolSearch Monitor
  PowerShell`.split(/\s+/),
  ...Object.entries(FORMER_TOOL_NAMES).flatMap(([name, former]) => [name, ...former]),
]

export function matchers(facts: Facts): Checked {
  const those = wanted(facts)
  const withMatcher = those.filter(({ spec }) => spec.hook.matcher !== null)
  return {
    what: `${counted(withMatcher.length, 'matcher')}, ${counted(those.length, 'time-out')}`,
    findings: [
      ...once(withMatcher.filter((one) => !isTold(one, facts)).flatMap(ofMatcher)),
      ...those.flatMap(likeMilliseconds),
    ],
  }
}

/** Reported while loading the file. */
function isTold({ spec: { hook } }: Written, { notices }: Facts): boolean {
  const pattern = shown(hook.matcher?.pattern)
  return notices.some(
    ({ code, file, text }) =>
      code === 'matcher-invalid' && file === hook.origin.file && text.includes(pattern),
  )
}

/** Hooks of a group share its matcher. */
function once(findings: readonly Finding[]): readonly Finding[] {
  return [...grouped(findings, ({ file, text }) => `${file}\0${text}`).values()].flatMap(
    ([first, ...rest]) => {
      if (!first) return []
      const more = rest.length === 0 ? '' : ` (and ${counted(rest.length, 'hook')} more with this matcher)`
      return [{ ...first, text: `${first.text}${more}` }]
    },
  )
}

function ofMatcher({ spec: { hook }, where }: Written): readonly Finding[] {
  const { matcher, events } = hook
  const [event] = events === 'all' ? [] : events
  if (!matcher || event === undefined) return []
  const kind = resolveEvent(event)
  if (kind.matcher === null) return [ignored(matcher, kind, where)]
  const known = kind.matcher === 'tool_name' ? KNOWN_TOOLS : kind.matcherValues
  return known ? names(matcher, known, kind, where) : []
}

function ignored({ pattern }: Matcher, { name }: EventKind, where: Written['where']): Finding {
  return {
    severity: 'note',
    code: 'matcher-ignored',
    ...where,
    text: `its matcher ${shown(pattern)} has no effect: ${name} has nothing to match, and the hook runs every time`,
    fix: `Remove "matcher": ${shown(pattern)} at ${placeOf(where)}; what ${name} is about, the hook reads in what it gets.`,
  }
}

const EXACT = /^[A-Za-z0-9_\- ,|]+$/

/** Checks a list name by name, and a pattern as a whole. */
function names(
  matcher: Matcher,
  known: readonly string[],
  kind: EventKind,
  where: Written['where'],
): readonly Finding[] {
  const { pattern } = matcher
  if (!EXACT.test(pattern)) {
    const matchesNone = !known.some((value) => matcher.test(value)) && !/mcp/i.test(pattern)
    return matchesNone ? [none(pattern, known, kind, where)] : []
  }
  const listed = pattern.split(/[|,]/).map((name) => name.trim())
  const odd = listed.filter((name) => name !== '' && !known.includes(name))
  const meant = new Map(odd.map((name) => [name, meantBy(name, known)]))
  const right = pattern.replace(/[\w-]+/g, (name) => meant.get(name) ?? name)
  const slips = odd.filter((name) => meant.get(name) !== undefined).map((name) => slip(name, meant.get(name)))
  if (slips.length > 0 || listed.some((name) => known.includes(name))) return slips
  // An unknown tool or value may be somebody else's.
  return kind.matcher === 'tool_name' ? [] : [none(pattern, known, kind, where)]

  function slip(name: string, wanted = ''): Finding {
    const common = { code: 'matcher-never', ...where, fix: `Write ${right}.` } as const
    if (isServer(name)) {
      const text = `the matcher ${shown(name)} is taken as a whole name, and tools of that server are called ${name}__…`
      return { severity: 'broken', ...common, text }
    }
    const isCase = wanted.toLowerCase() === name.toLowerCase()
    const what =
      kind.matcher === 'tool_name'
        ? 'no tool of Claude Code or an agent like it'
        : `no ${kind.matcher} of ${kind.name}`
    const text = `${what} is called ${shown(name)}; did you mean ${wanted}?${isCase ? ' Upper and lower case count' : ''}`
    return { severity: 'warning', ...common, text }
  }
}

function isServer(name: string): boolean {
  return /^mcp__[^_]+(?:_[^_]+)*$/.test(name)
}

/** The most likely meaning of an unknown name. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  if (isServer(name)) return `${name}__.*`
  return name.startsWith('mcp__') ? undefined : nearest(name, known)
}

function none(pattern: string, known: readonly string[], kind: EventKind, where: Written['where']): Finding {
  const list = known.length > 8 ? 'Write|Edit' : known.join('|')
  return {
    severity: 'warning',
    code: 'matcher-never',
    ...where,
    text: `the matcher ${shown(pattern)} takes no ${kind.matcher} that is known here, so that the hook may never run`,
    fix:
      asRule(pattern) ??
      `Write a list such as ${list}, or say which value it is for: carabiner explain ${kind.name}${kind.matcher === 'tool_name' ? ' --tool NAME' : ''}`,
  }
}

/** The fix for a rule such as `Bash(git *)` in place of a tool's name. */
export function asRule(pattern: string): string | undefined {
  const [, tool] = /^(\w+)\(.+\)$/s.exec(pattern) ?? []
  return tool === undefined ? undefined : `Write "matcher": "${tool}", and on the hook "if": "${pattern}".`
}

// ---- time-outs ------------------------------------------------------------------------------------------------

/** So many seconds were most likely meant as milliseconds. */
const LIKE_MILLISECONDS = 1000

/** Loading the file reports a time-out above the maximum. */
function likeMilliseconds({ spec, where }: Written): readonly Finding[] {
  const seconds = 'common' in spec ? spec.common.timeout : undefined
  if (seconds === undefined || seconds < LIKE_MILLISECONDS || seconds * 1000 > spec.longestMs) return []
  return [
    {
      severity: 'warning',
      code: 'timeout-unit',
      ...where,
      text: `its time-out of ${seconds} looks like milliseconds, but time-outs are seconds: an agent may wait ${Math.round(seconds / 60)} minutes for it`,
      fix: `Write "timeout": ${Math.max(1, Math.round(seconds / 1000))}, in seconds.`,
    },
  ]
}
