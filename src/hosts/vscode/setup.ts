// VS Code: it reads the hooks of Copilot CLI, but answers to its own names of events.

import { join } from 'node:path'
import type { HostSetup } from '../host-setup.js'
import { switchedOff } from '../json-switch.js'
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

export const setup: HostSetup = {
  standing: 'documented',
  programs: ['code'],
  folder: '.copilot',
  files: [{ name: 'hooks/carabiner-vscode.json', form }],
  events: EVENTS,
  problems: (scene) => {
    const below = process.platform === 'darwin' ? 'Library/Application Support' : '.config'
    const user = join(scene.home, below, 'Code/User/settings.json')
    const files = [join(scene.project, '.vscode/settings.json'), user]
    return switchedOff(scene, { keys: ['chat.useHooks'], off: false, files, title: 'VS Code' })
  },
}
