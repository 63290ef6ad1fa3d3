// Kiro: a file of our own among its hooks, a list with a trigger each.

import { isObject } from '../../core/base/json.js'
import { JsonText, under } from '../../files/json-text.js'
import type { FormCommand, HostSetup } from '../host-setup.js'
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

const FILE = { name: 'hooks/carabiner.json', form }

export const setup: HostSetup = {
  standing: 'documented',
  programs: ['kiro', 'kiro-cli'],
  folder: '.kiro',
  files: [FILE],
  project: { folder: '.kiro', files: [FILE] },
  events: EVENTS,
}
