// What an answer does beside its verdict: changes, context, messages, and what only a host can act on.

import type { Diagnostic } from '../../core/base/errors.js'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import type { HookResult } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { type Answer, firstText, type Specific } from './answer.js'

type Note = (d: Diagnostic) => void
type Effects = Pick<HookResult, 'data' | 'contextInjection' | 'userMessage' | 'suppressOutput' | 'host'>

/** Fields of hookSpecificOutput that mean something here; the others go to the host as they are. */
const MEANT: ReadonlySet<string> = new Set([
  'permissionDecision',
  'permissionDecisionReason',
  'additionalContext',
  'updatedInput',
  'updatedToolOutput',
  'updatedMCPToolOutput',
  'decision',
  'action',
  'content',
])

export function effectsOf(event: HookEvent, answer: Answer, note: Note): Effects {
  const { top, specific } = answer
  const context = [...new Set([specific.additionalContext, top.contextInjection])].filter(says).join('\n')
  const data = patchOf(event, answer, note)
  const host = hostFields(event, answer, note)
  return {
    ...(Object.keys(data).length > 0 && { data }),
    ...(context !== '' && { contextInjection: context }),
    ...(top.systemMessage && { userMessage: top.systemMessage }),
    ...(top.suppressOutput && { suppressOutput: true }),
    ...(Object.keys(host).length > 0 && { host }),
  }
}

function says(text: string | undefined): boolean {
  return firstText(text) !== undefined
}

// ---- changes --------------------------------------------------------------------------------------------------

function patchOf(event: HookEvent, { top, specific, ruling }: Answer, note: Note): Data {
  const input = specific.updatedInput ?? (ruling.behavior === 'allow' ? ruling.updatedInput : undefined)
  const patch: Data = {
    ...(input && { tool_input: input }),
    ...outputPatch(event, specific, note),
    ...(event.name === 'ElicitationResult' && elicited(specific)),
  }
  return top.newContent === undefined
    ? patch
    : { ...patch, ...contentPatch(event, patch, top.newContent, note) }
}

function outputPatch({ data }: HookEvent, specific: Specific, note: Note): Data {
  const { updatedToolOutput: output, updatedMCPToolOutput: mcpOutput } = specific
  if (output !== undefined) return { tool_response: output }
  if (mcpOutput === undefined) return {}
  if (typeof data.tool_name === 'string' && data.tool_name.startsWith('mcp__'))
    return { tool_response: mcpOutput }
  note(ignored('updatedMCPToolOutput replaces the output of MCP tools only; use updatedToolOutput'))
  return {}
}

/** What the person is taken to have entered. */
function elicited({ action, content }: Specific): Data {
  return action === 'accept' ? { action, ...(content && { content }) } : {}
}

/** Which part of a tool's input seed 001's newContent is. */
const CONTENT_FIELDS: ReadonlyMap<Json | undefined, string> = new Map([
  ['Write', 'content'],
  ['Edit', 'new_string'],
])

/** Applied last: whoever names the content means it. */
function contentPatch({ name, data }: HookEvent, patch: Data, content: Json, note: Note): Data {
  if (name === 'UserPromptSubmit') return { prompt: content }
  if (name === 'PostToolUse') return { tool_response: content }
  const field = name === 'PreToolUse' ? CONTENT_FIELDS.get(data.tool_name) : undefined
  if (field === undefined) {
    note(ignored(`newContent replaces nothing here; it is for Write, Edit, a prompt or a tool's result`))
    return {}
  }
  const input = patch.tool_input ?? data.tool_input
  return { tool_input: { ...(isObject(input) ? (input as Data) : {}), [field]: content } }
}

// ---- for the host ---------------------------------------------------------------------------------------------

function hostFields(event: HookEvent, { top, specific, ruling }: Answer, note: Note): Data {
  const { action, content } = specific
  const plain = Object.entries(specific).filter(([key]) => !MEANT.has(key)) as [string, Json][]
  if (content && action !== 'accept') note(ignored('content counts only beside "action":"accept"'))
  return {
    ...Object.fromEntries(plain),
    ...(ruling.behavior === 'allow' &&
      ruling.updatedPermissions && { updatedPermissions: ruling.updatedPermissions }),
    ...(ruling.behavior === 'deny' && ruling.interrupt && { interrupt: true }),
    ...(action && (event.name === 'Elicitation' || action !== 'accept') && { action }),
    ...(event.name === 'Elicitation' && elicited(specific)),
    ...(top.terminalSequence && terminalField(top.terminalSequence, note)),
  }
}

/** As in Claude Code: titles and notifications (OSC 0, 1, 2, 9, 99, 777) and the bell; a terminal obeys worse. */
const HARMLESS_SEQUENCE = harmlessSequence('\\u001b', '\\u0007')

function harmlessSequence(esc: string, bell: string): RegExp {
  return new RegExp(`^(?:${esc}\\](?:0|1|2|9|99|777);\\P{Cc}*(?:${bell}|${esc}\\\\)|${bell})+$`, 'u')
}

function terminalField(sequence: string, note: Note): Data {
  if (HARMLESS_SEQUENCE.test(sequence)) return { terminalSequence: sequence }
  note(ignored('terminalSequence may set a title, notify or ring (OSC 0, 1, 2, 9, 99, 777, BEL), no more'))
  return {}
}

function ignored(text: string): Diagnostic {
  return { code: 'verdict-ignored', text: `${text}; that part of the answer is ignored` }
}
