// opencode: a plugin of ours in its folder of plugins.

import { pluginFile } from '../forms/plugin-file.js'
import type { HostSetup } from '../host-setup.js'

const BINDINGS = `
/** What a session was told when it began, until its next prompt can carry it. */
const waiting = new Map()

const read = (answer) => answer

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

/** Its screen shows toasts, and runs plugins in a worker. Elsewhere there is only stderr. */
function show(client, message) {
  const { isMainThread } = process.getBuiltinModule('node:worker_threads')
  if (isMainThread) process.stderr.write(\`Carabiner: \${message}\\n\`)
  const body = { title: 'Carabiner', message, variant: 'warning', duration: 10000 }
  Promise.resolve(client?.tui?.showToast?.({ body })).catch(() => {})
}

/** opencode shows the message of few errors, and of this one nothing else. Of others it only says "Unexpected server error". */
function refusal(reason) {
  const data = { path: 'carabiner', message: reason }
  const error = Object.assign(new Error(reason), { data, name: 'ConfigFrontmatterError' })
  return Object.assign(error, { toObject: () => ({ name: error.name, data }) })
}

export const Carabiner = async ({ client, directory }) => {
  const asked = async (event, hook, input, output) => {
    const told = await ask(event, { hook, input, output, cwd: directory })
    if (told.message) show(client, told.message)
    return told
  }
  return {
    'tool.execute.before': async (input, output) => {
      const told = await asked('PreToolUse', 'tool.execute.before', input, output)
      if (told.deny !== undefined) throw new Error(told.deny)
      if (told.input) replace(output.args, told.input)
    },
    'tool.execute.after': async (input, output) => {
      const told = await asked('PostToolUse', 'tool.execute.after', input, output)
      if (told.output !== undefined) output.output = told.output
      for (const text of [told.deny, told.context]) if (text) output.output = [output.output, text].join('\\n\\n')
    },
    'chat.message': async (input, output) => {
      const told = await asked('UserPromptSubmit', 'chat.message', input, output)
      if (told.deny !== undefined) throw refusal(told.deny)
      const [first, ...others] = output.parts.filter((one) => one.type === 'text')
      if (first === undefined && told.prompt === undefined) return
      if (first === undefined) throw refusal('A hook changed the prompt, which has no text')
      if (told.prompt !== undefined) {
        first.text = told.prompt
        // Hooks saw all texts as one.
        for (const part of others) {
          part.text = ''
          output.parts.splice(output.parts.indexOf(part), 1)
        }
      }
      for (const text of [waiting.get(input.sessionID), told.context]) if (text) first.text = [first.text, text].join('\\n\\n')
      waiting.delete(input.sessionID)
    },
    'experimental.session.compacting': async (input, output) => {
      const told = await asked('PreCompact', 'experimental.session.compacting', input, output)
      if (told.deny !== undefined) show(client, told.deny)
      if (told.context) output.context.push(told.context)
    },
    event: async (input) => {
      const event = EVENTS[input.event?.type]
      if (event === undefined) return
      const told = await asked(event, 'event', input, {})
      if (told.deny !== undefined) show(client, told.deny)
      const id = input.event.properties?.info?.id
      if (event === 'SessionStart' && told.context && id) waiting.set(id, told.context)
    },
  }
}
`

const FILE = { name: 'plugins/carabiner.js', form: pluginFile('opencode', BINDINGS) }

export const setup: HostSetup = {
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
  problems: ({ env }) =>
    env.OPENCODE_PURE === undefined || !/^(?:1|true)$/i.test(env.OPENCODE_PURE)
      ? []
      : [
          {
            severity: 'broken',
            text: 'OPENCODE_PURE is set here, so opencode loads no plugin if you start it from this shell',
            fix: 'unset OPENCODE_PURE',
          },
        ],
}
