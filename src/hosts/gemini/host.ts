// Gemini CLI as the one that asks: events of its own, one `decision` for all of them, a changed input that is merged.

import { type Data, isObject } from '../../core/base/json.js'
import {
  type Abilities,
  abilityOn,
  type Feasible,
  feasible,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
  mergesInto,
  printed,
  signalled,
  textOfResponse,
} from '../host-answer.js'
import { fieldsOf, type HostDialect, keepsIn } from '../host-dialect.js'

/** To ask is not among them: without a terminal it waits for ever. */
const CAN: Abilities = {
  PreToolUse: 'BIS',
  PostToolUse: 'BOCS',
  UserPromptSubmit: 'BCS',
  SessionStart: 'C',
  Stop: 'BS',
  ModelRequest: 'BS',
  ModelResponse: 'BS',
  PreCompact: '',
  Notification: '',
  SessionEnd: '',
}

const EVENTS = {
  beforetool: 'PreToolUse',
  aftertool: 'PostToolUse',
  beforeagent: 'UserPromptSubmit',
  afteragent: 'Stop',
  beforemodel: 'ModelRequest',
  aftermodel: 'ModelResponse',
  precompress: 'PreCompact',
} as const

export const gemini: HostDialect<'gemini'> = {
  name: 'gemini',
  title: 'Gemini CLI',
  sends: (payload, event) =>
    keepsIn(payload, '.gemini') || Object.hasOwn(EVENTS, event) || event === 'beforetoolselection',
  events: EVENTS,
  read: readModelCall,
  patience: 60,
  encode,
}

function readModelCall({ llm_request: request, llm_response: response }: Data): Data {
  if (!isObject(request)) return {}
  const { model, messages, config } = request as Data
  return fieldsOf({ model, messages, options: config, response })
}

function encode(event: HostEvent, verdict: HostVerdict): HostAnswer {
  const can = mergesInto(event, verdict, abilityOn(CAN, event))
  const told = feasible(gemini.title, can, event, verdict)
  return told.act === 'signal' ? signalled(told) : printed(jsonOf(event, told))
}

function jsonOf(event: HostEvent, told: Feasible): object {
  const specific = {
    ...(told.input && { tool_input: told.input }),
    ...(told.context && { additionalContext: told.context }),
  }
  // A result is replaced by refusing it, with the new one as the reason.
  const output = told.output === undefined ? undefined : textOfResponse(told.output)
  const refuses = told.act === 'refuse' || output !== undefined
  return {
    ...(told.stops && { continue: false, stopReason: told.reason }),
    ...(refuses && { decision: 'deny', reason: output ?? told.reason }),
    ...(told.message && { systemMessage: told.message }),
    ...(Object.keys(specific).length > 0 && {
      hookSpecificOutput: { hookEventName: event.sentAs || event.name, ...specific },
    }),
  }
}
