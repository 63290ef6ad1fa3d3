// VS Code: it reads the hooks of Copilot CLI, but answers to its own names of events.

import { join } from 'node:path'
import type { HostProblem, HostScene, HostSetup } from '../host-setup.js'
import { switchedOff } from '../json-switch.js'
import { ownCommand } from '../own-command.js'
import { jsonFile } from '../own-file.js'

const EVENTS = Object.fromEntries(
  [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PreCompact',
    'SubagentStart',
    'SubagentStop',
    'Stop',
  ].map((event) => [event, event]),
)

const form = jsonFile({
  events: EVENTS,
  item: ({ command, timeout }) => ({
    type: 'command',
    command,
    ...(timeout !== undefined && { timeout: Math.ceil(timeout) }),
  }),
})

const NAME = 'hooks/carabiner-vscode.json'

/** Copilot CLI reads every file in the folder. */
function askedTwice({ folder, read }: HostScene): readonly HostProblem[] {
  const [own, other] = [NAME, 'hooks/carabiner.json'].map((name) => read(join(folder, name)) ?? '')
  const isOurs = (text = '') => form.commands(text).some(ownCommand)
  if (!isOurs(own) || !isOurs(other)) return []
  return [
    {
      severity: 'note',
      file: join(folder, NAME),
      text: 'Copilot CLI reads this file and its own, so it asks every hook twice',
      fix: 'If you use only one of the two agents, type carabiner setup vscode --remove, or carabiner setup copilot --remove.',
    },
  ]
}

export const setup: HostSetup = {
  standing: 'documented',
  programs: ['code'],
  folder: '.copilot',
  files: [{ name: NAME, form }],
  events: EVENTS,
  problems: (scene) => {
    const below = process.platform === 'darwin' ? 'Library/Application Support' : '.config'
    const user = join(scene.home, below, 'Code/User/settings.json')
    const files = [join(scene.project, '.vscode/settings.json'), user]
    return [
      ...switchedOff(scene, { keys: ['chat.useHooks'], off: false, files, title: 'VS Code' }),
      ...askedTwice(scene),
    ]
  },
}
