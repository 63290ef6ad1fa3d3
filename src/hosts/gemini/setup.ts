// Gemini CLI: hooks in settings.json, with milliseconds. In a project it loads them only from folders that it trusts.

import { join } from 'node:path'
import { groupItem, jsonForm } from '../forms/json-form.js'
import { settingIn, switchedOff, unread, whereOf } from '../forms/json-switch.js'
import type { HostProblem, HostScene, HostSetup } from '../host-setup.js'

const EVENTS = {
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  UserPromptSubmit: 'BeforeAgent',
  PreToolUse: 'BeforeTool',
  PostToolUse: 'AfterTool',
  Stop: 'AfterAgent',
  Notification: 'Notification',
  // PreCompress comes before every request to the model, not only if it compresses.
}

/** By which Gemini CLI can disable our hooks alone. */
const NAME = 'carabiner'

const form = jsonForm({ events: EVENTS, item: groupItem({ unit: 1000, handler: { name: NAME } }) })

function problems(scene: HostScene): readonly HostProblem[] {
  const { folder, project, read } = scene
  const user = join(folder, 'settings.json')
  const files = ['/etc/gemini-cli/settings.json', join(project, '.gemini/settings.json'), user]
  const title = 'Gemini CLI'
  const named = files.flatMap((file) => settingIn(read, file, ['hooksConfig', 'disabled']) ?? [])
  return [
    ...unread(read, user, { comments: true, mark: false, otherwise: `${title} does not start` }),
    ...switchedOff(scene, { keys: ['hooksConfig', 'enabled'], off: false, files, title }),
    ...named
      .filter(({ value }) => Array.isArray(value) && value.includes(NAME))
      .slice(0, 1)
      .map(
        ({ file, line }): HostProblem => ({
          severity: 'broken',
          file,
          line,
          text: `"hooksConfig.disabled" has "${NAME}", so ${title} runs none of its hooks ${whereOf(file, scene)}`,
          fix: `Remove "${NAME}" from that list, or type /hooks enable ${NAME} in ${title}.`,
        }),
      ),
  ]
}

export const setup: HostSetup = {
  programs: ['gemini'],
  folder: '.gemini',
  variable: 'GEMINI_CLI_HOME',
  isVariableHome: true,
  files: [{ name: 'settings.json', form }],
  events: EVENTS,
  problems,
}
