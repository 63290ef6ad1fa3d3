// The `if` of a hook: one permission rule, `Tool(pattern)`. For now the tool decides; more often, never less.

import { FORMER_TOOL_NAMES } from '../core/catalogue.js'
import type { EventKind } from '../core/events.js'
import type { Hook } from '../core/hook.js'
import { shown } from '../core/text.js'

/** Without a condition the hook runs whenever its matcher does. */
export interface IfRule {
  readonly condition?: NonNullable<Hook['condition']>
  /** What the author should know. */
  readonly problem?: string
}

const RULE = /^([A-Za-z_][\w.:*-]*)(?:\([\s\S]*\))?$/

export function compileIf(rule: string, kind: EventKind): IfRule {
  const text = rule.trim()
  if (text === '') return {}
  if (kind.matcher !== 'tool_name') {
    const reason = `"if" is for tool events; on ${kind.name} a hook with "if" never runs`
    return { condition: () => reason, problem: reason }
  }
  const tool = RULE.exec(text)?.[1]
  if (tool === undefined) {
    const problem = `"if": ${shown(rule)} is not a rule like Bash(git *), so it has no effect: the hook runs as if it were not there`
    return { problem }
  }
  return {
    condition: ({ data }) => {
      const called = String(data.tool_name)
      return covers(tool, called) || `"if": ${shown(rule)} is for the tool ${tool}, not for ${shown(called)}`
    },
  }
}

/** A renamed tool goes by its former names; `mcp__server` is every tool of that server; what follows a `*` is not looked at. */
function covers(tool: string, called: string): boolean {
  const star = tool.indexOf('*')
  if (star >= 0) return called.startsWith(tool.slice(0, star))
  if (tool === called) return true
  if (tool.startsWith('mcp__') && called.startsWith(`${tool}__`)) return true
  return Object.hasOwn(FORMER_TOOL_NAMES, called) && (FORMER_TOOL_NAMES[called]?.includes(tool) ?? false)
}
