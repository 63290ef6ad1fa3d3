// Rewrites a hook written for Carabiner in Claude Code's terms, or says why Claude Code cannot run it.

import type { Entry } from '../../config/hook-group.js'
import { isObject } from '../../core/base/json.js'
import type { Fields, MigrationFiles } from './migration-files.js'

/** An entry as the target file will have it. */
export interface Translated {
  readonly group: Fields
  readonly handler: Fields
}

/** Events on which Claude Code runs no hooks that ask a model. */
const NO_MODEL: ReadonlySet<string> = new Set([
  'ConfigChange',
  'CwdChanged',
  'DirectoryAdded',
  'Elicitation',
  'ElicitationResult',
  'FileChanged',
  'InstructionsLoaded',
  'MessageDisplay',
  'Notification',
  'PreCompact',
  'PostCompact',
  'PreModelSwitch',
  'PostModelSwitch',
  'SessionEnd',
  'StopFailure',
  'SubagentStart',
  'WorktreeCreate',
  'WorktreeRemove',
  'SessionStart',
  'Setup',
])
const NO_HTTP: ReadonlySet<string> = new Set(['SessionStart', 'Setup'])

/** Types whose `onFailure` Claude Code obeys. */
const OBEYS_ON_FAILURE: ReadonlySet<string> = new Set(['command', 'http'])

/** Why Claude Code would not run the entry, or would run it differently. There, one entry it cannot read breaks the whole file. */
export function claudeProblem(entry: Entry, group: Fields, isFullMatch: boolean): string | undefined {
  const { event, handler } = entry
  const { type, fields, common, remarks } = handler
  if (remarks[0]) return remarks[0].problem
  if (event.notInClaudeCode) return 'Claude Code has no such event'
  if ((type === 'prompt' || type === 'agent') && NO_MODEL.has(event.name)) {
    return `Claude Code runs no ${type} hooks on ${event.name}`
  }
  if (type === 'http' && NO_HTTP.has(event.name)) return `Claude Code runs no http hooks on ${event.name}`
  if (fields.shell === 'sh')
    return 'Claude Code only knows the shells bash and powershell; leave out "shell" to use sh'
  if (common.onFailure === 'block' && !OBEYS_ON_FAILURE.has(type)) {
    return `Claude Code ignores "onFailure": "block" on ${type} hooks, so the gate would be open whenever the hook fails`
  }
  if (common.mode === 'shadow') return 'Claude Code has no shadow mode, so the hook would count there'
  if (group.sequential === true && Array.isArray(group.hooks) && group.hooks.length > 1) {
    return 'its group is "sequential", but Claude Code runs all hooks of an event at once'
  }
  if (isFullMatch && entry.group.matcher !== null && !isList(entry.group.matcher.pattern)) {
    return '"matching": "fullmatch" compares its matcher with the whole name; write the matcher as ^(?:…)$ and remove "matching"'
  }
  return undefined
}

/** Such a matcher is compared with the whole name anyway. */
function isList(pattern: string): boolean {
  return /^[\w\- ,|]*$/.test(pattern)
}

// ---- names of folders -----------------------------------------------------------------------------------------

/** Safe inside any quotes: only the variable's name changes, and no value is written into the file. */
const OWN_NAME = /\$(?:\{(AMPLIFIER_\w+)\}|(AMPLIFIER_\w+))/g
/** Without a shell, only this form is replaced. */
const IN_BRACES = /\$\{(AMPLIFIER_\w+)\}/g

export function inClaudeTerms(
  { group, handler }: Translated,
  { hooksDir, base }: Pick<MigrationFiles, 'hooksDir' | 'base'>,
): Translated | { readonly problem: string } {
  const isShell = handler.args === undefined
  const names = new Map([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a command
    ['AMPLIFIER_PROJECT_DIR', '${CLAUDE_PROJECT_DIR}'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell knows it, Claude Code does not
    ['AMPLIFIER_HOOKS_DIR', isShell ? hooksDir : hooksDir.replace('${HOME}', base)],
  ])
  const missing = new Set<string>()
  const renamed = (text: string) => {
    const result = text.replace(
      isShell ? OWN_NAME : IN_BRACES,
      (found: string, braced?: string, plain?: string) =>
        names.get(braced ?? '') ?? names.get(plain ?? '') ?? found,
    )
    const [left] = /AMPLIFIER_\w+/.exec(result) ?? []
    if (left !== undefined) missing.add(left)
    return result
  }
  const fields = Object.fromEntries(
    Object.entries(handler).map(([key, value]) => [key, isRun(key) ? inTexts(value, renamed) : value]),
  )
  const [name] = missing
  if (name !== undefined) return { problem: `it uses ${name}, which Claude Code does not set` }
  return { group: withPlainMatcher(group), handler: fields }
}

function isRun(key: string): boolean {
  return key === 'command' || key === 'args'
}

function inTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  return Array.isArray(value) ? value.map((one) => inTexts(one, change)) : value
}

/** `{ "tool_name": … }` is BeamAgent's form. */
function withPlainMatcher(group: Fields): Fields {
  if (!isObject(group.matcher)) return group
  const { tool_name: pattern } = group.matcher
  const entries = Object.entries(group).map(([key, value]) => [key, key === 'matcher' ? pattern : value])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
