// Cline 2: an executable for each event in a folder of the project. It has no such folder for all projects.

import { scriptFile } from '../forms/script-file.js'
import type { HostFile, HostSetup } from '../host-setup.js'

const EVENTS = {
  SessionStart: 'TaskStart',
  UserPromptSubmit: 'UserPromptSubmit',
  PreToolUse: 'PreToolUse',
  PostToolUse: 'PostToolUse',
  Stop: 'TaskComplete',
}

const FILES = Object.entries(EVENTS).map(
  ([event, name]): HostFile => ({
    name,
    mode: 0o777,
    form: scriptFile({
      agent: 'cline',
      event,
      refusal: '{"cancel":true,"errorMessage":"Carabiner could not be asked"}',
      refusing: '"cancel":true',
      texts: ['contextModification', 'errorMessage'],
    }),
  }),
)

export const setup: HostSetup = {
  programs: ['cline'],
  folder: '.cline',
  files: [],
  project: { folder: '.clinerules/hooks', files: FILES },
  events: EVENTS,
  notes: ['A refused call ends the task of Cline 2.'],
}
