// pi: an extension of ours runs inside it, and passes on each event: `{ event, cwd, session_id }`.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import { answerPlugin } from '../answer.js'
import {
  definedFields,
  EDITOR_FIELDS,
  type Host,
  type HostTool,
  sourceOf,
  type ToolCall,
  tool,
} from '../host.js'

/** The names of an edit, which older versions had beside the path. */
const EDIT_FIELDS = { oldText: 'old_string', newText: 'new_string' } as const

const edit: HostTool = { names: ['Edit'], parts: editsIn }

export const pi: Host<'pi'> = {
  name: 'pi',
  title: 'pi',
  guarded: ['.pi/extensions/', '.pi/agent/extensions/', '.pi/settings.json', '.pi/agent/settings.json'],
  moved: { variable: 'PI_CODING_AGENT_DIR', folder: '.pi/agent' },
  sends: ({ event }) => isObject(event) && typeof event.type === 'string',
  eventName: (payload) => {
    const { type, isError } = eventIn(payload)
    if (typeof type !== 'string') return undefined
    return type === 'tool_result' && isError === true ? 'tool_failure' : type
  },
  events: {
    toolcall: 'PreToolUse',
    toolresult: 'PostToolUse',
    toolfailure: 'PostToolUseFailure',
    input: 'UserPromptSubmit',
    beforeagentstart: 'UserPromptSubmit',
    agentend: 'Stop',
    // One request to the model and its tool calls, of which a turn has several.
    turnend: null,
    sessionshutdown: 'SessionEnd',
    sessionbeforecompact: 'PreCompact',
    sessioncompact: 'PostCompact',
  },
  read,
  tools: {
    bash: tool('Bash'),
    powershell: tool('Bash'),
    read: tool('Read', EDITOR_FIELDS),
    write: tool('Write', EDITOR_FIELDS),
    edit,
  },
  pathOf: (text) => text.replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ').replace(/^@/, ''),
  // Its dialog says no where there is no terminal, but only an extension can open it.
  can: {
    PreToolUse: ['block', 'input'],
    PostToolUse: ['output', 'context'],
    PostToolUseFailure: ['output', 'context'],
    UserPromptSubmit: ['block', 'prompt', 'context'],
    SessionStart: ['context'],
    Stop: ['block'],
    PreCompact: ['block'],
    PostCompact: [],
    SessionEnd: [],
  },
  answer: answerPlugin,
  // It waits for ever; the extension does not.
  timeout: 60,
}

/** The event, also where it was passed on without anything around it. */
function eventIn(payload: Data): Data {
  return isObject(payload.event) ? (payload.event as Data) : payload
}

function read(payload: Data): Data {
  const event = eventIn(payload)
  const isResult = event.type === 'tool_result'
  return definedFields({
    tool_name: event.toolName,
    tool_use_id: event.toolCallId,
    tool_input: isObject(event.input) ? event.input : undefined,
    tool_response: isResult ? event.content : undefined,
    error: isResult && event.isError === true ? textsIn(event.content) : undefined,
    prompt: event.text ?? event.prompt,
    ...(event.type === 'session_start' && { source: sourceOf(event.reason) }),
    ...(event.type === 'session_shutdown' && { reason: event.reason }),
  })
}

function textsIn(content: Json | undefined): string {
  const parts = Array.isArray(content) ? content : []
  return parts
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}

/** One call can change several places of a file. */
function editsIn({ path, edits, ...rest }: Data): readonly ToolCall[] {
  const changes = Array.isArray(edits) ? edits : [rest]
  if (changes.length === 0) throw new Error('its input has no list of what it does')
  return changes.map((change) => {
    if (!isObject(change)) throw new Error('its input has something in a list that is not a change')
    const fields = Object.entries(change as Data).map(([key, value]) => {
      const name = Object.hasOwn(EDIT_FIELDS, key) ? EDIT_FIELDS[key as keyof typeof EDIT_FIELDS] : key
      return [name, value] as const
    })
    return { input: { ...(path !== undefined && { file_path: path }), ...Object.fromEntries(fields) } }
  })
}
