// Kiro: a file of our own among its hooks, a list with a trigger each. Hooks that others add to it stay.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/base/json.js'
import { JsonText, under } from '../../files/json-text.js'
import { type Edit, edited, layoutOf, pushed, removed } from '../forms/json-edit.js'
import type { Entry, Form, FormCommand, HostProblem, HostScene, HostSetup } from '../host-setup.js'
import { ownCommand } from '../own-command.js'
import { SetupProblem } from '../setup-problem.js'

const EVENTS = Object.fromEntries(
  ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'].map((event) => [event, event]),
)

const HOOKS = under(null, 'hooks')
const MARK = '\uFEFF'

/** Others may have added hooks to the file. */
const form: Form = {
  put: (text, entries, { file }) => {
    const hooks = entries.map(hookOf)
    if (text === undefined || text.trim() === '')
      return `${JSON.stringify({ version: 'v1', hooks }, null, 2)}\n`
    const { json, root, list } = listIn(text, file)
    return changed(text, json, pushed(json.text, list, hooks, layoutOf(json.text, root)))
  },
  take: (text, file, isOut) => {
    const found = hooksIn(text)
    const gone = found.filter(({ command }) => isOut({ command }))
    if (gone.length === 0) return text
    const { json, list, isOnlyHooks, size } = listIn(text, file)
    if (gone.length === size && isOnlyHooks) return undefined
    const spots = new Set(gone.flatMap(({ index }) => list.inside?.get(index) ?? []))
    return changed(text, json, removed(json.text, list, spots))
  },
  isBare: (text) => text.trim() === '',
  commands: (text) => hooksIn(text).map(({ index: _, ...command }) => command),
  isSame: (a, b) => {
    const [one, other] = [new JsonText(a).parse(), new JsonText(b).parse()]
    return 'value' in one && 'value' in other && isDeepStrictEqual(one.value, other.value)
  },
}

function hookOf({ event, command, timeout = 60 }: Entry, i: number) {
  return {
    name: `carabiner-${i + 1}`,
    trigger: event,
    action: { type: 'command', command },
    timeout: Math.ceil(timeout),
    enabled: true,
  }
}

/** Throws a SetupProblem if there is no list. */
function listIn(text: string, file: string) {
  const json = new JsonText(text)
  const parsed = json.parse()
  const { hooks, version: _, ...others } = 'value' in parsed && isObject(parsed.value) ? parsed.value : {}
  const [root, list] = Array.isArray(hooks) ? [json.spotOf(null), json.spotOf(HOOKS)] : []
  if (Array.isArray(hooks) && root && list)
    return { json, root, list, size: hooks.length, isOnlyHooks: Object.keys(others).length === 0 }
  throw new SetupProblem(`${file} has no list of hooks that setup could add to`, 'Move it away first.')
}

function changed(text: string, json: JsonText, edits: readonly Edit[]): string {
  return (text.startsWith(MARK) ? MARK : '') + edited(json.text, edits)
}

function hooksIn(text: string): readonly (FormCommand & { readonly index: number })[] {
  const json = new JsonText(text)
  const parsed = json.parse()
  const hooks = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  return (Array.isArray(hooks) ? hooks : []).flatMap((hook: unknown, index) => {
    const { trigger, action } = isObject(hook) ? hook : {}
    const command = isObject(action) ? action.command : undefined
    if (typeof command !== 'string') return []
    return [{ command, event: String(trigger), line: json.lineOf(under(HOOKS, index)), index }]
  })
}

const NAME = 'hooks/carabiner.json'
const FILE = { name: NAME, form }

/** The user can switch hooks off one by one, which Kiro notes in the file. */
function problems({ folder, read }: HostScene): readonly HostProblem[] {
  const file = join(folder, NAME)
  const parsed = new JsonText(read(file) ?? '').parse()
  const hooks = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  const off = (Array.isArray(hooks) ? hooks : []).filter(
    (hook) => isObject(hook) && hook.enabled === false && isObject(hook.action) && ownCommand(hook.action),
  )
  if (off.length === 0) return []
  return [{ severity: 'broken', file, text: `${off.length} of its hooks are disabled, so Kiro skips them` }]
}

export const setup: HostSetup = {
  programs: ['kiro', 'kiro-cli'],
  folder: '.kiro',
  files: [FILE],
  project: { folder: '.kiro', files: [FILE] },
  events: EVENTS,
  problems,
}
