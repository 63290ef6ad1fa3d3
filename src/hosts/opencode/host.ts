// opencode: a plugin of ours runs inside it, and passes on what each of its hooks gets: `{ hook, input, output, cwd }`.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import { answerPlugin } from '../answer.js'
import { CAMEL_FIELDS, definedFields, type Host, tool } from '../host.js'
import { callsOfPatch } from '../patch.js'

export const opencode: Host<'opencode'> = {
  name: 'opencode',
  title: 'opencode',
  guarded: [
    '.opencode/plugin/',
    '.opencode/plugins/',
    '.config/opencode/',
    'opencode.json',
    'opencode.jsonc',
  ],
  sends: ({ hook, input }) => typeof hook === 'string' && isObject(input),
  eventName: ({ hook, input }) => {
    const sent = inside(inside(input).event).type
    return hook === 'event' && typeof sent === 'string' ? sent : textIn(hook)
  },
  events: {
    toolexecutebefore: 'PreToolUse',
    toolexecuteafter: 'PostToolUse',
    chatmessage: 'UserPromptSubmit',
    sessioncreated: 'SessionStart',
    sessiondeleted: 'SessionEnd',
    sessionidle: 'Stop',
    sessionerror: 'StopFailure',
    sessioncompacting: 'PreCompact',
    experimentalsessioncompacting: 'PreCompact',
    sessioncompacted: 'PostCompact',
  },
  read,
  tools: {
    bash: tool('Bash'),
    read: tool('Read', CAMEL_FIELDS),
    write: tool('Write', CAMEL_FIELDS),
    edit: tool('Edit', CAMEL_FIELDS),
    multiedit: tool('Edit', CAMEL_FIELDS),
    patch: { names: ['Write', 'Edit'], parts: callsOfPatch },
    apply_patch: { names: ['Write', 'Edit'], parts: callsOfPatch },
  },
  // It has no dialog that a plugin can open. Its `run` exits before a refused stop could keep it going.
  can: {
    PreToolUse: ['block', 'input'],
    PostToolUse: ['output', 'context'],
    UserPromptSubmit: ['block', 'prompt', 'context'],
    SessionStart: ['context'],
    PreCompact: ['context'],
    PostCompact: [],
    Stop: [],
    StopFailure: [],
    SessionEnd: [],
  },
  answer: answerPlugin,
  // It waits for ever; the plugin does not.
  timeout: 60,
}

function read({ input, output, cwd }: Data): Data {
  const [asked, given] = [inside(input), inside(output)]
  const about = inside(inside(asked.event).properties)
  const message = inside(given.message)
  return definedFields({
    session_id: asked.sessionID ?? about.sessionID ?? inside(about.info).id,
    cwd: cwd ?? asked.cwd,
    tool_name: asked.tool,
    tool_use_id: asked.callID,
    // Before a call, these are the arguments that the tool gets.
    tool_input: given.args ?? asked.args,
    tool_response: given.output,
    prompt: Array.isArray(given.parts) ? given.parts : undefined,
    model: inside(message.model).modelID ?? inside(asked.model).modelID,
    agent_type: asked.agent,
    error: textIn(inside(inside(about.error).data).message),
    ...(fold(inside(asked.event).type) === 'sessioncreated' && { source: 'startup' }),
  })
}

function inside(value: Json | undefined): Data {
  return (isObject(value) ? value : {}) as Data
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function fold(name: Json | undefined): string {
  return typeof name === 'string' ? name.replaceAll('.', '') : ''
}
