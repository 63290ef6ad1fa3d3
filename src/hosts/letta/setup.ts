// Letta Code: hooks in settings.json, in Claude Code's layout, with milliseconds and a matcher. Only tools raise events.

import { join } from 'node:path'
import { groupItem, jsonForm } from '../forms/json-form.js'
import { settingIn, switchedOff, unread } from '../forms/json-switch.js'
import type { HostProblem, HostScene, HostSetup } from '../host-setup.js'

const EVENTS = { PreToolUse: 'PreToolUse', PostToolUse: 'PostToolUse' }

const item = groupItem({ unit: 1000, group: { matcher: '*' } })
const NAME = 'settings.json'
const FILE = { name: NAME, form: jsonForm({ events: EVENTS, item }) }
/** Unless the user's settings say that hooks are not disabled, those of any project may say that they are. */
const USER_FILE = { name: NAME, form: jsonForm({ events: EVENTS, item, flags: { disabled: false } }) }

function problems(scene: HostScene): readonly HostProblem[] {
  const { home, folder, project, read } = scene
  const keys = ['hooks', 'disabled']
  const user = join(home, '.letta', NAME)
  const locals = [NAME, 'settings.local.json'].map((name) => join(project, '.letta', name))
  const title = 'Letta Code'
  const otherwise = `${title} goes on without anything in it`
  // A project cannot switch them on, so only its "true" counts.
  const off = locals.filter((file) => settingIn(read, file, keys)?.value === true)
  const isOpen = folder === join(home, '.letta') && typeof settingIn(read, user, keys)?.value !== 'boolean'
  return [
    ...unread(read, join(folder, NAME), { comments: false, mark: false, otherwise }),
    ...switchedOff(scene, { keys, off: true, files: [user, ...off], title }),
    ...(isOpen
      ? [
          {
            severity: 'note' as const,
            file: user,
            text: 'any project can switch the hooks off, because "hooks.disabled" is not false',
          },
        ]
      : []),
  ]
}

export const setup: HostSetup = {
  programs: ['letta'],
  folder: '.letta',
  files: [USER_FILE],
  project: { folder: '.letta', files: [FILE] },
  events: EVENTS,
  problems,
}
