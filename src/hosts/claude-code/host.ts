// Claude Code as the one that asks, and the shape of its answers, which other agents read as well.

import type { Data, Json } from '../../core/base/json.js'
import { type Honoured, honouredOn } from '../../systems/claude-code/honoured.js'
import {
  type Feasible,
  feasible,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
  printed,
} from '../host-answer.js'
import type { HostDialect } from '../host-dialect.js'

export const claudeCode: HostDialect<'claude-code'> = {
  name: 'claude-code',
  title: 'Claude Code',
  // What nobody else sends is read as Claude Code's.
  sends: () => false,
  patience: 600,
  patienceWith: { UserPromptSubmit: 30, MessageDisplay: 10, SessionEnd: 60 },
  encode: encodeForClaudeCode,
}

/**
 * An engine of ours, which reads the terms of a question beside the question. Nobody else is told them: whoever is not
 * known is taken for Claude Code, and some agents refuse an answer that has a key of which they do not know.
 */
export const ownEngine: HostDialect<'claude-code'> = {
  ...claudeCode,
  encode: (event, verdict) => encodeForClaudeCode(event, verdict, verdict.approval),
}

export function encodeForClaudeCode(
  event: HostEvent,
  verdict: HostVerdict,
  approval: HostVerdict['approval'] = {},
): HostAnswer {
  const honoured = honouredOn({ ...event, session: undefined })
  const told = feasible(claudeCode.title, abilities(honoured, verdict), event, verdict)
  if (told.act === 'ask' && honoured.fields?.permissionDecision) {
    return printed({ ...claudeJson(event, told), ...approval })
  }
  if (told.act !== 'refuse' && told.act !== 'signal') return granted(event, honoured, told)
  const answer = claudeJson(event, told)
  // Beside the JSON, which has the last word here: an agent that is not known may understand nothing else. A stop was
  // only ever seen to work with 0.
  const exits = told.act === 'signal' || (honoured.exit2 === 'block' && !told.stops)
  return exits ? printed(answer, 2, told.reason) : printed(answer)
}

/** Two events read what a hook prints as it stands. */
function granted(event: HostEvent, honoured: Honoured, told: Feasible): HostAnswer {
  const path = told.host.worktreePath
  const isPath = honoured.makesPath && typeof path === 'string'
  if (isPath || (!honoured.fields && told.context)) {
    const stdout = `${isPath ? path : told.context}\n`
    return { stdout, exit: 0, ...(told.message && { stderr: `${told.message}\n` }) }
  }
  return printed(claudeJson(event, told))
}

function abilities(honoured: Honoured, { permission }: HostVerdict): string {
  const { fields, exit2, decision, plainContext, ignoresStop } = honoured
  const has = (field: string) => fields !== null && field in fields
  const ruling = has('decision')
  return [
    (decision || ruling || has('permissionDecision') || has('action') || exit2 === 'block') && 'B',
    // An input goes with an allow there, and only who allows may give one.
    (has('updatedInput') || (ruling && permission)) && 'I',
    has('updatedToolOutput') && 'O',
    (has('additionalContext') || (plainContext && !fields)) && 'C',
    // The person is about to be asked anyway.
    (has('permissionDecision') || ruling) && 'AG',
    !ignoresStop && exit2 === 'block' && 'S',
  ]
    .filter(Boolean)
    .join('')
}

// ---- the shape ------------------------------------------------------------------------------------------------

/** For agents that read the same: also where they have no such event, as then it is not theirs. */
export function inClaudeShape(event: HostEvent, told: Feasible): HostAnswer {
  const answer = claudeJson(event, told)
  return told.act === 'signal' ? printed(answer, 2, told.reason) : printed(answer)
}

/** The JSON of Claude Code's format; empty where there is nothing to say. */
export function claudeJson(event: HostEvent, told: Feasible): Readonly<Record<string, Json>> {
  const { fields, decision } = honouredOn({ ...event, session: undefined })
  const specific = fields ? specificOf(told, Object.keys(fields)) : {}
  const refuses = told.act === 'refuse' || told.act === 'signal'
  const elsewhere = 'permissionDecision' in specific || 'decision' in specific || 'action' in specific
  return {
    ...(told.stops && { continue: false, stopReason: told.reason }),
    ...(told.message && { systemMessage: told.message }),
    ...(refuses &&
      !elsewhere &&
      (decision || !fields || told.act === 'signal') && { decision: 'block', reason: told.reason }),
    ...(Object.keys(specific).length > 0 && {
      hookSpecificOutput: { hookEventName: event.name, ...specific },
    }),
  }
}

function specificOf(told: Feasible, fields: readonly string[]): Data {
  const has = (field: string) => fields.includes(field)
  const own = Object.entries(told.host).filter(([key]) => has(key) && !DECIDING.has(key))
  return {
    ...Object.fromEntries(own),
    ...(has('permissionDecision') && permissionOf(told)),
    ...(has('decision') && rulingOf(told)),
    ...(has('action') && (told.act === 'refuse' || told.act === 'signal') && { action: 'decline' }),
    ...(has('updatedInput') && told.input && { updatedInput: told.input }),
    ...(has('updatedToolOutput') && told.output !== undefined && { updatedToolOutput: told.output }),
    ...(has('additionalContext') && told.context && { additionalContext: told.context }),
  }
}

/** A verdict decides these; no field of a host's does. */
const DECIDING: ReadonlySet<string> = new Set(['permissionDecision', 'decision', 'action', 'updatedInput'])

const DECISIONS = { refuse: 'deny', signal: 'deny', ask: 'ask', allow: 'allow' } as const

function permissionOf({ act, reason }: Feasible): Data {
  if (act === 'go') return {}
  return { permissionDecision: DECISIONS[act], ...(reason && { permissionDecisionReason: reason }) }
}

function rulingOf({ act, reason, stops, input, host }: Feasible): Data {
  if (act === 'allow') {
    const { updatedPermissions } = host
    return {
      decision: {
        behavior: 'allow',
        ...(input && { updatedInput: input }),
        ...(updatedPermissions !== undefined && { updatedPermissions }),
      },
    }
  }
  if (act !== 'refuse' && act !== 'signal') return {}
  const interrupt = stops || host.interrupt === true
  return { decision: { behavior: 'deny', message: reason, ...(interrupt && { interrupt }) } }
}
