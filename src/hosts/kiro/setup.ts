// Kiro: a file of our own among its hooks, a list with a trigger each.

import { join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { JsonText, under } from '../../files/json-text.js'
import type { FormCommand, HostProblem, HostScene, HostSetup } from '../host-setup.js'
import { ownCommand } from '../own-command.js'
import { ownFile } from '../own-file.js'

const EVENTS = Object.fromEntries(
  ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'].map((event) => [event, event]),
)

const form = ownFile({
  text: (entries) => {
    const hooks = entries.map(({ event, command, timeout = 60 }, i) => ({
      name: `carabiner-${i + 1}`,
      trigger: event,
      action: { type: 'command', command },
      timeout: Math.ceil(timeout),
      enabled: true,
    }))
    return `${JSON.stringify({ version: 'v1', hooks }, null, 2)}\n`
  },
  commands: commandsIn,
})

function commandsIn(text: string): readonly FormCommand[] | undefined {
  const json = new JsonText(text)
  const parsed = json.parse()
  const hooks = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  if (!Array.isArray(hooks)) return undefined
  return hooks.flatMap((hook: unknown, i) => {
    const { trigger, action } = isObject(hook) ? hook : {}
    const command = isObject(action) ? action.command : undefined
    return typeof command === 'string'
      ? [{ command, event: String(trigger), line: json.lineOf(under(HOOKS, i)) }]
      : []
  })
}

const HOOKS = under(null, 'hooks')

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
  standing: 'documented',
  programs: ['kiro', 'kiro-cli'],
  folder: '.kiro',
  files: [FILE],
  project: { folder: '.kiro', files: [FILE] },
  events: EVENTS,
  problems,
}
