// Antigravity's CLI: the call is an object of its own, and every answer before a tool must have a decision.

import { type Data, isObject } from '../../core/base/json.js'
import { printed, signalled } from '../answer.js'
import {
  definedFields,
  type FittedVerdict,
  firstOf,
  type Host,
  type HostEvent,
  same,
  type ToolCall,
  tool,
} from '../host.js'

const FILE = { AbsolutePath: 'file_path', TargetFile: 'file_path', CodeContent: 'content' } as const
const EDIT = { ...FILE, TargetContent: 'old_string', ReplacementContent: 'new_string' } as const

export const antigravity: Host<'antigravity'> = {
  name: 'antigravity',
  title: 'Antigravity',
  guarded: ['.gemini/config/', '.agents/hooks/', '.agents/hooks.json'],
  sends: (payload) =>
    isObject(payload.toolCall) || ('conversationId' in payload && 'workspacePaths' in payload),
  events: { ...same('PreToolUse PostToolUse Stop'), PreInvocation: null, PostInvocation: null },
  read,
  tools: {
    run_command: tool('Bash', { CommandLine: 'command', Cwd: 'cwd' }),
    view_file: tool('Read', { TargetFile: 'file_path', AbsolutePath: 'file_path' }),
    write_to_file: tool('Write', FILE),
    replace_file_content: tool('Edit', EDIT),
    multi_replace_file_content: { names: ['Edit'], parts: changesIn },
  },
  // It cannot be told to allow: it asks its user all the same.
  can: {
    PreToolUse: ['block', 'ask'],
    PostToolUse: [],
    Stop: ['block'],
  },
  answer: (event, told) =>
    told.act === 'signal' ? signalled(told) : printed(jsonOf(event, told), 0, told.message),
  timeout: 30,
}

function read({ conversationId, workspacePaths, toolCall }: Data): Data {
  const call = (isObject(toolCall) ? toolCall : {}) as Data
  return definedFields({
    session_id: conversationId,
    cwd: firstOf(workspacePaths),
    tool_name: call.name,
    tool_input: call.args,
  })
}

/** `ask` leaves a call to its own rules. `force_ask` asks a person even if they once said "always". */
function jsonOf({ name }: HostEvent, { act, reason }: FittedVerdict): object {
  if (name === 'Stop') return act === 'refuse' ? { decision: 'continue', reason } : {}
  if (name !== 'PreToolUse') return {}
  if (act === 'refuse') return { decision: 'deny', reason }
  return act === 'ask' ? { decision: 'force_ask', reason } : { decision: 'ask' }
}

/** One call can change several places of a file. */
function changesIn({ TargetFile: file, ReplacementChunks: chunks }: Data): readonly ToolCall[] {
  if (!Array.isArray(chunks) || chunks.length === 0) throw new Error('its input has no list of what it does')
  return chunks.map((chunk) => {
    const { TargetContent: old, ReplacementContent: text } = (isObject(chunk) ? chunk : {}) as Data
    return { input: definedFields({ file_path: file, old_string: old, new_string: text }) }
  })
}
