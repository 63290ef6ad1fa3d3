// opencode: a plugin of ours in its folder of plugins.

import type { HostSetup } from '../host-setup.js'
import { pluginFile } from '../plugin-file.js'

const BINDINGS = `
/** What a session was told when it began, until its next prompt can carry it. */
const waiting = new Map()

const read = JSON.parse

function withInput(payload, args) {
  return { ...payload, output: { ...payload.output, args } }
}

const EVENTS = {
  'session.created': 'SessionStart',
  'session.deleted': 'SessionEnd',
  'session.idle': 'Stop',
  'session.error': 'StopFailure',
  'session.compacted': 'PostCompact',
}

export const Carabiner = async ({ directory }) => ({
  'tool.execute.before': async (input, output) => {
    const told = await ask('PreToolUse', { hook: 'tool.execute.before', input, output, cwd: directory })
    if (told.deny !== undefined) throw new Error(told.deny)
    if (told.input) replace(output.args, told.input)
  },
  'tool.execute.after': async (input, output) => {
    const told = await ask('PostToolUse', { hook: 'tool.execute.after', input, output, cwd: directory })
    if (told.output !== undefined) output.output = told.output
    for (const text of [told.deny, told.context]) if (text) output.output = [output.output, text].join('\\n\\n')
  },
  'chat.message': async (input, output) => {
    const told = await ask('UserPromptSubmit', { hook: 'chat.message', input, output, cwd: directory })
    if (told.deny !== undefined) throw new Error(told.deny)
    const part = output.parts.find((one) => one.type === 'text')
    if (!part) return
    if (told.prompt !== undefined) part.text = told.prompt
    for (const text of [waiting.get(input.sessionID), told.context]) if (text) part.text = [part.text, text].join('\\n\\n')
    waiting.delete(input.sessionID)
  },
  'experimental.session.compacting': async (input, output) => {
    const told = await ask('PreCompact', { hook: 'experimental.session.compacting', input, output, cwd: directory })
    if (told.context) output.context.push(told.context)
  },
  event: async (input) => {
    const event = EVENTS[input.event?.type]
    if (event === undefined) return
    const told = await ask(event, { hook: 'event', input, output: {}, cwd: directory })
    const id = input.event.properties?.info?.id
    if (event === 'SessionStart' && told.context && id) waiting.set(id, told.context)
  },
})
`

const FILE = { name: 'plugins/carabiner.js', form: pluginFile('opencode', BINDINGS) }

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['opencode'],
  folder: '.config/opencode',
  files: [FILE],
  project: { folder: '.opencode', files: [FILE] },
  events: {
    SessionStart: 'session.created',
    SessionEnd: 'session.deleted',
    UserPromptSubmit: 'chat.message',
    PreToolUse: 'tool.execute.before',
    PostToolUse: 'tool.execute.after',
    Stop: 'session.idle',
    StopFailure: 'session.error',
    PreCompact: 'experimental.session.compacting',
    PostCompact: 'session.compacted',
  },
}
