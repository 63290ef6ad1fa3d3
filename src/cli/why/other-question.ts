// The same question about something else: what to type to hear of a call that a hook is for.

import type { EventKind } from '../../core/events/events.js'
import { compileMatcher } from '../../core/hooks/matcher.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { optionOf, typed } from '../print/typed.js'
import type { Sources } from '../sources.js'

/** With another value of what matchers look at. `more`: options of explain. */
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

/** Something that a matcher takes, as far as its words show it. */
export function takenBy(pattern: string): string | undefined {
  const whole = pattern.replace(/\.[*+]/g, 'x').replace(/[\^$()]/g, '')
  const words = [...(pattern.match(/[\w-]+/g) ?? []), whole]
  return words.find((word) => takes(pattern, word))
}

/** Compiled as any matcher is: a pattern from a stranger must not run away here either. */
export function takes(pattern: string, value: string): boolean {
  try {
    return compileMatcher(pattern)?.test(value) ?? true
  } catch {
    return false
  }
}

/** A call that an `if` is for; undefined where it is none that looks at the input. */
export function callFor(rule: string): { readonly tool: string; readonly input: object } | undefined {
  const [, tool, pattern] = /^\s*([\w-]+)\(([^()]+)\)\s*$/.exec(rule) ?? []
  if (tool === undefined || pattern === undefined) return undefined
  const text = pattern.trim().replace(/:\*$/, '').replace(/\*+/g, 'x')
  if (tool === 'WebFetch') return { tool, input: { url: `https://${text.replace(/^domain:\s*/, '')}/` } }
  const field = tool === 'Bash' ? 'command' : tool.startsWith('Notebook') ? 'notebook_path' : 'file_path'
  return { tool, input: { [field]: text } }
}
