// Qwen Code: hooks in settings.json, in Gemini CLI's layout with Claude Code's names, with milliseconds.

import { join } from 'node:path'
import { callerPath } from '../../files/caller.js'
import { groupItem, jsonForm } from '../forms/json-form.js'
import { switchedOff, unread } from '../forms/json-switch.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = Object.fromEntries(
  [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PermissionRequest',
    'PostToolUse',
    'PostToolUseFailure',
    'Stop',
    'SubagentStop',
  ].map((event) => [event, event]),
)

const FILE = { name: 'settings.json', form: jsonForm({ events: EVENTS, item: groupItem({ unit: 1000 }) }) }

export const setup: HostSetup = {
  programs: ['qwen'],
  folder: '.qwen',
  variable: 'QWEN_HOME',
  files: [FILE],
  project: { folder: '.qwen', files: [FILE] },
  events: EVENTS,
  problems: (scene) => {
    const { home, folder, project, env, read } = scene
    const title = 'Qwen Code'
    const user = join(env.QWEN_HOME ? callerPath(env.QWEN_HOME) : join(home, '.qwen'), 'settings.json')
    const local = join(project, '.qwen/settings.json')
    const file = join(folder, 'settings.json')
    const otherwise = file === user ? `${title} does not start` : `${title} empties it`
    return [
      ...unread(read, file, { comments: true, mark: true, otherwise }),
      ...switchedOff(scene, {
        keys: ['disableAllHooks'],
        off: true,
        files: ['/etc/qwen-code/settings.json', local, user],
        title,
      }),
    ]
  },
}
