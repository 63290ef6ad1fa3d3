// GitHub Copilot CLI: a file of our own among its hooks, which VS Code reads too. Its own names of events, because others
// lose context; but VS Code does not know all of them.

import { join } from 'node:path'
import { namesIn } from '../../files/folder.js'
import { settingIn, switchedOff } from '../forms/json-switch.js'
import { jsonFile } from '../forms/own-file.js'
import type { HostProblem, HostScene, HostSetup } from '../host-setup.js'

const EVENTS = {
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  UserPromptSubmit: 'userPromptSubmitted',
  PreToolUse: 'preToolUse',
  PermissionRequest: 'permissionRequest',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  Stop: 'agentStop',
  // VS Code knows these two only by this name.
  SubagentStart: 'SubagentStart',
  PreCompact: 'PreCompact',
  SubagentStop: 'subagentStop',
  Notification: 'notification',
}

const form = jsonFile({
  events: EVENTS,
  top: { version: 1 },
  item: ({ command, timeout }) => ({
    type: 'command',
    bash: command,
    ...(timeout !== undefined && { timeoutSec: Math.ceil(timeout) }),
  }),
})

const NAME = 'hooks/carabiner.json'

function problems(scene: HostScene): readonly HostProblem[] {
  const { folder, project, read } = scene
  const keys = ['disableAllHooks']
  const local = ['settings.json', 'settings.local.json'].map((name) => join(project, '.github/copilot', name))
  const settings = [...local, join(folder, 'settings.json')].flatMap(
    (file) => settingIn(read, file, keys) ?? [],
  )
  return [
    ...switchedOff(scene, { keys, off: true, files: [join(folder, NAME)], title: 'Copilot CLI' }),
    // Version 1.0.102 heeds it only in the file with the hooks. Its documents do not say so.
    ...settings
      .filter(({ value }) => value === true)
      .slice(0, 1)
      .map(
        ({ file, line }): HostProblem => ({
          severity: 'note',
          file,
          line,
          text: '"disableAllHooks" is true: some versions of Copilot CLI may run no hook',
          fix: 'Remove "disableAllHooks" from that file, and restart Copilot CLI.',
        }),
      ),
  ]
}

export const setup: HostSetup = {
  programs: ['copilot'],
  folder: '.copilot',
  variable: 'COPILOT_HOME',
  sharesWith: 'vscode',
  files: [{ name: NAME, form }],
  alsoReads: (project) => {
    const folder = join(project, '.github', 'hooks')
    const names = namesIn(folder).filter((name) => name.endsWith('.json'))
    return names.slice(0, MOST_FILES).map((name) => ({ path: join(folder, name), form }))
  },
  events: EVENTS,
  notes: [
    'If several hooks give context for one event, Copilot CLI tells its model only the last. With the engine, that is not the context of preferences.',
  ],
  problems,
}

/** In a folder of a project, which anybody may have filled. */
const MOST_FILES = 100
