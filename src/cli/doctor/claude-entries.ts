// The hook entries of a settings file of Claude Code, and those that Claude Code does not accept.

import { isObject } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { type JsonPath, JsonText, under } from '../../files/json-text.js'
import { type OwnCommand, ownCommand } from '../../hosts/own-command.js'
import { EVENT_KINDS } from '../../runners/kinds.js'
import type { Finding } from './finding.js'

export interface ClaudeEntry {
  readonly file: string
  readonly line: number
  readonly event: string
  readonly matcher: string | undefined
  readonly handler: Readonly<Record<string, unknown>>
  /** Set if the entry is Carabiner's. */
  readonly own: OwnCommand | undefined
}

const HOOKS = under(null, 'hooks')
const MOST_ENTRIES = 2000

/** Empty if the file is not valid. */
export function entriesOf(file: string, text: string): readonly ClaudeEntry[] {
  const json = new JsonText(text)
  const entries: ClaudeEntry[] = []
  for (const { event, group, at } of groupsOf(json)) {
    if (!isObject(group) || !Array.isArray(group.hooks)) continue
    const { matcher } = group
    for (const [i, handler] of group.hooks.entries()) {
      if (!isObject(handler) || entries.length >= MOST_ENTRIES) continue
      entries.push({
        file,
        line: json.lineOf(under(under(under(at, 'hooks'), i), 'command')),
        event,
        matcher: typeof matcher === 'string' ? matcher : undefined,
        handler,
        own: ownCommand(handler),
      })
    }
  }
  return entries
}

interface GroupAt {
  readonly event: string
  readonly group: unknown
  readonly at: JsonPath
}

function groupsOf(json: JsonText): readonly GroupAt[] {
  const parsed = json.parse()
  const hooks = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).map((group, i) => ({
      event,
      group,
      at: under(under(HOOKS, event), i),
    })),
  )
}

// ---- what Claude Code does not accept -------------------------------------------------------------------------

/** A malformed entry for one of these makes Claude Code ignore the whole file. For other events, only the entry. */
const STRICT_EVENTS = new Set(['PreToolUse', 'PermissionRequest'])

export function malformed(file: string, text: string): readonly Finding[] {
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed || !isObject(parsed.value)) return []
  const common = { severity: 'broken', file } as const
  if (!isStrict(json.text)) {
    const said = 'it has comments or trailing commas, so Claude Code ignores the whole file'
    return [
      { ...common, code: 'config-invalid', text: said, fix: 'Remove the comments and trailing commas.' },
    ]
  }
  const { hooks } = parsed.value
  if (hooks !== undefined && !isObject(hooks)) {
    const said = '"hooks" is not an object, so Claude Code ignores the whole file'
    return [
      {
        ...common,
        code: 'entry-invalid',
        line: json.lineOf(HOOKS),
        text: said,
        fix: 'Write "hooks": { … }.',
      },
    ]
  }
  return groupsOf(json).flatMap(({ event, group, at }) => {
    const fault = groupFault(group)
    if (!fault) return []
    const effect = STRICT_EVENTS.has(event) ? 'the whole file' : 'this entry'
    const line = json.lineOf(fault.keys.reduce<JsonPath>(under, at))
    const said = `${fault.text}, so Claude Code ignores ${effect}`
    return [{ ...common, code: 'entry-invalid', line, text: said, fix: fault.fix }]
  })
}

function isStrict(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface Fault {
  /** From the group on. */
  readonly keys: readonly (string | number)[]
  readonly text: string
  readonly fix: string
}

function groupFault(group: unknown): Fault | undefined {
  if (!isObject(group) || !Array.isArray(group.hooks))
    return { keys: [], text: 'an entry has no list "hooks"', fix: 'Write { "hooks": [ … ] }.' }
  if ('matcher' in group && typeof group.matcher !== 'string')
    return {
      keys: ['matcher'],
      text: `"matcher" is ${shown(group.matcher)}, not a string`,
      fix: 'Write "matcher": "*", or leave it out.',
    }
  for (const [i, handler] of group.hooks.entries()) {
    const fault = handlerFault(handler)
    if (fault) return { ...fault, keys: ['hooks', i, ...fault.keys] }
  }
  return undefined
}

function handlerFault(handler: unknown): Fault | undefined {
  if (!isObject(handler)) return { keys: [], text: 'a hook is not an object', fix: 'Write { "type": … }.' }
  const { type, command, timeout } = handler
  if (typeof type !== 'string' || !Object.hasOwn(EVENT_KINDS, type))
    return {
      keys: ['type'],
      text: type === undefined ? 'a hook has no "type"' : `"type" is ${shown(type)}`,
      fix: 'Write "type": "command".',
    }
  if (type === 'command' && typeof command !== 'string')
    return { keys: ['command'], text: 'a hook has no "command"', fix: 'Write "command": "…".' }
  if ('timeout' in handler && !(typeof timeout === 'number' && timeout > 0))
    return {
      keys: ['timeout'],
      text: `"timeout" is ${shown(timeout)}, not a number above 0`,
      fix: 'Write the seconds as a number, or leave it out.',
    }
  const odd = ['shell', 'onFailure', 'if'].find((key) => key in handler && typeof handler[key] !== 'string')
  if (odd === undefined) return undefined
  return { keys: [odd], text: `"${odd}" is ${shown(handler[odd])}, not a string`, fix: `Remove "${odd}".` }
}
