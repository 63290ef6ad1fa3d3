// Matchers: what one takes, why it just misses a value, and what to type to ask about a call that it takes.

import { nearest } from '../../core/base/text.js'
import { toolNamesLike } from '../../core/events/catalogue.js'
import type { EventKind } from '../../core/events/events.js'
import { compileMatcher } from '../../core/hooks/matcher.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { optionOf, typed } from '../print/next-command.js'
import type { Sources } from '../sources.js'

/** The command line that explains the event for another value. `more`: options of explain. */
export function askedWith(
  kind: EventKind,
  value: string,
  sources: Sources,
  more: readonly string[] = [],
): string {
  if (kind.matcher === 'tool_name')
    return typed(['explain', kind.name, ...optionOf('--tool', value), ...more], sources)
  const payload = JSON.stringify({ [kind.matcher ?? '']: value })
  return `echo ${shellQuoted(payload)} | ${typed(['explain', kind.name, '--payload', '-', ...more], sources)}`
}

/** A value that a matcher takes, guessed from its words. */
export function takenBy(pattern: string): string | undefined {
  const whole = pattern.replace(/\.[*+]/g, 'x').replace(/[\^$()]/g, '')
  const words = [...(pattern.match(/[\w-]+/g) ?? []), whole]
  return words.find((word) => takes(pattern, word))
}

/** Uses the safe engine: a third-party pattern must not run away here either. */
export function takes(pattern: string, value: string): boolean {
  try {
    return compileMatcher(pattern)?.test(value) ?? true
  } catch {
    return false
  }
}

/** A call that an `if` is for; undefined if the rule does not look at the input. */
export function callFor(rule: string): { readonly tool: string; readonly input: object } | undefined {
  const [, tool, pattern] = /^\s*([\w-]+)\(([^()]+)\)\s*$/.exec(rule) ?? []
  if (tool === undefined || pattern === undefined) return undefined
  const text = pattern.trim().replace(/:\*$/, '').replace(/\*+/g, 'x')
  if (tool === 'WebFetch') return { tool, input: { url: `https://${text.replace(/^domain:\s*/, '')}/` } }
  const field = tool === 'Bash' ? 'command' : tool.startsWith('Notebook') ? 'notebook_path' : 'file_path'
  return { tool, input: { [field]: text } }
}

// ---- nearly matching -------------------------------------------------------------------------------------------

const EXACT = /^[A-Za-z0-9_\- ,|]+$/

/** Why a matcher just misses a value, and what to write instead. Undefined if they have nothing in common. */
export function nearMiss(pattern: string, value: string): string | undefined {
  if (value === '') return undefined
  const names = EXACT.test(pattern) ? pattern.split(/[|,]/).map((name) => name.trim()) : []
  const remark = otherCase(pattern, value)
  return sameTool(pattern, value, remark) ?? remark ?? part(names, value) ?? misspelt(names, value)
}

/** An agent calls the tool otherwise than Claude Code does: its own side can be corrected too. */
function sameTool(pattern: string, value: string, remark: string | undefined): string | undefined {
  const name = toolNamesLike(value).find((one) => takes(pattern, one))
  if (name === undefined) return undefined
  const why = remark ?? `${value} may be the agent's name for ${name}`
  return `${why}; write ${pattern}|${value}, or name the tool ${name} if the agent is yours`
}

function otherCase(pattern: string, value: string): string | undefined {
  // Lower case would turn \W into \w.
  if (pattern.includes('\\')) return undefined
  return takes(pattern.toLowerCase(), value.toLowerCase()) ? 'case matters' : undefined
}

/** `Edit` is a name, not a pattern: it takes neither MultiEdit nor mcp__server__Edit. */
function part(names: readonly string[], value: string): string | undefined {
  const inside = names.find((name) => name.length > 2 && value.includes(name))
  if (inside !== undefined) {
    const pattern = value.startsWith(`${inside}__`) ? `${inside}__.*` : `.*${inside}.*`
    return `${inside} is taken as a whole name: write ${inside}|${value}, or the pattern ${pattern}`
  }
  const around = names.find((name) => value.length > 2 && name.includes(value))
  return around === undefined
    ? undefined
    : `${around} is taken as a whole name, and ${value} is only part of it`
}

function misspelt(names: readonly string[], value: string): string | undefined {
  const meant = nearest(value, names)
  return meant === undefined ? undefined : `it has ${meant}, not ${value}`
}
