// Kimi Code: tables [[hooks]] in config.toml, with seconds.

import { tomlForm } from '../forms/toml-form.js'
import type { HostSetup } from '../host-setup.js'

const HEADER = '[[hooks]]'

const form = tomlForm({
  tables: (entries) =>
    entries.map(({ event, command, timeout }) => ({
      header: HEADER,
      values: { event, command, ...(timeout !== undefined && { timeout: Math.ceil(timeout) }) },
    })),
  isOut: ({ header, values }, isOut) => header === HEADER && isOut(values),
  commands: ({ header, values: { event, command } }) =>
    header === HEADER && typeof command === 'string'
      ? [{ command, ...(typeof event === 'string' && { event }) }]
      : [],
})

export const setup: HostSetup = {
  programs: ['kimi'],
  folder: '.kimi-code',
  variable: 'KIMI_CODE_HOME',
  files: [{ name: 'config.toml', form }],
  events: {
    SessionStart: 'SessionStart',
    UserPromptSubmit: 'UserPromptSubmit',
    PreToolUse: 'PreToolUse',
    PostToolUse: 'PostToolUse',
    Stop: 'Stop',
    SubagentStop: 'SubagentStop',
  },
}
