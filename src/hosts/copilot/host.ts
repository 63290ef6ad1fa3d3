// GitHub Copilot CLI: flat answers, or Claude Code's if its configuration uses Claude Code's names of events. VS Code
// reads its files, and so sends its own payloads to commands that are registered here.

import { type Data, isObject } from '../../core/base/json.js'
import { abilitiesOf, abilitiesOn, printed, signalled, textOfResponse, withMessage } from '../answer.js'
import { answerBeside } from '../claude-code/host.js'
import {
  type Abilities,
  definedFields,
  EDITOR_FIELDS,
  type FittedVerdict,
  type Host,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
  isIsoTime,
  keepsIn,
  same,
  sourceOf,
  tool,
} from '../host.js'
import { callsOfPatch } from '../patch.js'
import { vscode } from '../vscode/host.js'

const CAN: Abilities = {
  PreToolUse: ['block', 'input', 'ask', 'allow', 'context'],
  // It sends this event even if its user allowed all tools, and nobody would be asked.
  PermissionRequest: ['block', 'allow'],
  PostToolUse: ['output', 'context'],
  PostToolUseFailure: ['context'],
  UserPromptSubmit: ['context'],
  SessionStart: ['context'],
  SubagentStart: ['context'],
  Notification: ['context'],
  Stop: ['block'],
  SubagentStop: ['block'],
  PreCompact: [],
  SessionEnd: [],
}

const { apply_patch: _, ...toolsOfVsCode } = vscode.tools ?? {}

export const copilot: Host<'copilot'> = {
  name: 'copilot',
  title: 'Copilot CLI',
  guarded: [
    '.github/hooks/',
    '.github/copilot/',
    '.copilot/hooks/',
    '.copilot/settings*.json',
    '.copilot/config.json',
  ],
  moved: { variable: 'COPILOT_HOME', folder: '.copilot' },
  projectVariable: 'COPILOT_PROJECT_DIR',
  sends: (payload) =>
    keepsIn(payload, '.copilot') ||
    ('sessionId' in payload && typeof payload.timestamp === 'number') ||
    (isIsoTime(payload.timestamp) && !('permission_mode' in payload) && !('transcript_path' in payload)),
  events: {
    sessionStart: 'SessionStart',
    sessionEnd: 'SessionEnd',
    userPromptSubmitted: 'UserPromptSubmit',
    userPromptTransformed: null,
    preToolUse: 'PreToolUse',
    preMcpToolCall: 'PreToolUse',
    permissionRequest: 'PermissionRequest',
    postToolUse: 'PostToolUse',
    postToolUseFailure: 'PostToolUseFailure',
    agentStop: 'Stop',
    subagentStart: 'SubagentStart',
    subagentStop: 'SubagentStop',
    preCompact: 'PreCompact',
    notification: 'Notification',
    errorOccurred: 'StopFailure',
    ...same(`SessionStart SessionEnd UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Stop
      SubagentStart SubagentStop PreCompact Notification`),
  },
  read,
  tools: {
    bash: tool('Bash'),
    powershell: tool('Bash'),
    view: tool('Read', EDITOR_FIELDS),
    create: tool('Write', EDITOR_FIELDS),
    edit: tool('Edit', EDITOR_FIELDS),
    str_replace_editor: tool('Edit', EDITOR_FIELDS),
    apply_patch: { names: ['Edit'], parts: callsOfPatch },
    // With Claude Code's names of events, it uses its names of tools, but keeps its own fields.
    Read: tool('Read', EDITOR_FIELDS),
    Write: tool('Write', EDITOR_FIELDS),
    Edit: tool('Edit', EDITOR_FIELDS),
    ...toolsOfVsCode,
  },
  can: (event, verdict) =>
    isOfVsCode(event) ? abilitiesOf(vscode, event, verdict) : abilitiesOn(CAN, event),
  answer,
  timeout: 30,
}

function read({ error, source }: Data): Data {
  return definedFields({
    ...(isObject(error) && { error: (error as Data).message }),
    source: sourceOf(source),
  })
}

function answer(event: HostEvent, told: FittedVerdict, verdict: HostVerdict): HostAnswer {
  if (isOfVsCode(event)) return vscode.answer(event, told, verdict)
  // Exit code 2 would lose the reason.
  if (isClaudeShaped(event))
    return answerBeside(event.name === 'PreToolUse' ? {} : flatChanges(told), event, told)
  if (told.act === 'signal') return signalled(told)
  // Its answer has no place for a message to the user.
  if (told.act !== 'refuse' || !isUnread(event)) return printed(flat(event, told), 0, told.message)
  return printed(flat(event, told), 2, withMessage(told))
}

/** Without a payload, its spelling of the event is unknown. The exit code is a refusal in both spellings. */
function isUnread({ sentAs, data }: HostEvent): boolean {
  return sentAs === '' && Object.keys(data).length === 0
}

/** The spelling of an event in its configuration decides the whole shape. If it sends no name, it uses its own shape. */
function isClaudeShaped({ sentAs }: Pick<HostEvent, 'sentAs'>): boolean {
  return /^[A-Z]/.test(sentAs)
}

/** It sends what Copilot CLI does not, even with Claude Code's names of events: the id of a call, or a transcript elsewhere. */
function isOfVsCode({ sentAs, data }: HostEvent): boolean {
  if (!isClaudeShaped({ sentAs }) || !isIsoTime(data.timestamp)) return false
  return data.tool_use_id !== undefined || (data.transcript_path !== undefined && !keepsIn(data, '.copilot'))
}

function flat({ name }: HostEvent, told: FittedVerdict): object {
  return {
    ...decisionOf(name, told),
    ...(told.input && { modifiedArgs: told.input }),
    ...flatChanges(told),
  }
}

/** In Claude Code's shape it reads these inside only before a tool. After that it wants them flat in both shapes. */
function flatChanges(told: FittedVerdict): object {
  return {
    ...(told.output !== undefined && {
      modifiedResult: { resultType: 'success', textResultForLlm: textOfResponse(told.output) },
    }),
    ...(told.context && { additionalContext: told.context }),
  }
}

function decisionOf(name: string, { act, reason }: FittedVerdict): object {
  if (act === 'go' || act === 'signal') return {}
  if (name === 'PreToolUse') {
    const permissionDecision = act === 'refuse' ? 'deny' : act
    return { permissionDecision, ...(reason && { permissionDecisionReason: reason }) }
  }
  if (name === 'PermissionRequest') {
    if (act === 'ask') return {}
    return act === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: reason }
  }
  return { decision: 'block', reason }
}
