// VS Code: it reads the hooks of Copilot CLI, so both have one file. Two would ask every hook twice.

import { join } from 'node:path'
import { setup as copilot } from '../copilot/setup.js'
import { switchedOff } from '../forms/json-switch.js'
import type { HostSetup } from '../host-setup.js'

export const setup: HostSetup = {
  programs: ['code'],
  // Unlike Copilot CLI, it reads no variable.
  folder: copilot.folder,
  files: copilot.files,
  events: copilot.events,
  commandsAs: 'copilot',
  sharesWith: 'copilot',
  problems: (scene) => {
    const below = process.platform === 'darwin' ? 'Library/Application Support' : '.config'
    const user = join(scene.home, below, 'Code/User/settings.json')
    const files = [join(scene.project, '.vscode/settings.json'), user]
    return switchedOff(scene, { keys: ['chat.useHooks'], off: false, files, title: 'VS Code' })
  },
}
