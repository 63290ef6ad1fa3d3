// Claude Code, and its form of answers, which other hosts read as well.

import type { Data, Json } from '../../core/base/json.js'
import { type Honoured, honouredOn } from '../../systems/claude-code/honoured.js'
import { isRefusal, plain, printed } from '../answer.js'
import type { Ability, FittedVerdict, Host, HostAnswer, HostEvent, HostVerdict } from '../host.js'

export const claudeCode: Host<'claude-code'> = {
  name: 'claude-code',
  title: 'Claude Code',
  guarded: ['.claude/hooks/', '.claude/plugins/', '.claude/settings*.json', '.claude.json'],
  moved: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
  runsEqualOnce: true,
  projectVariable: 'CLAUDE_PROJECT_DIR',
  // A payload that no other host claims is read as Claude Code's.
  sends: () => false,
  can: (event, verdict) => abilities(honoured(event), verdict),
  answer: (event, told) => answer(event, told),
  isUnattended: (env) => env.CLAUDE_CODE_SESSION_ATTENDED === '0',
  timeout: 600,
  timeouts: { UserPromptSubmit: 30, MessageDisplay: 10, SessionEnd: 60 },
}

/**
 * Our own engine, which also reads the terms of a question. No other host is sent them, because an unknown host is treated
 * as Claude Code, and some hosts reject an answer with an unknown key.
 */
export const ownEngine: Host<'claude-code'> = {
  ...claudeCode,
  answer: (event, told, { approval }) => answer(event, told, approval),
}

function honoured(event: HostEvent): Honoured {
  return honouredOn({ ...event, session: undefined })
}

function abilities(
  { fields, exit2, decision, plainContext, ignoresStop }: Honoured,
  { permission }: HostVerdict,
): readonly Ability[] {
  const has = (field: string) => fields !== null && field in fields
  const ruling = has('decision')
  const asks = has('permissionDecision') || ruling
  const table: Readonly<Record<Ability, unknown>> = {
    block: decision || asks || has('action') || exit2 === 'block',
    // A ruling only takes an input together with an allow.
    input: has('updatedInput') || (ruling && permission),
    output: has('updatedToolOutput'),
    prompt: false,
    context: has('additionalContext') || (plainContext && !fields),
    // A ruling comes when the person is about to be asked anyway.
    ask: asks,
    allow: asks,
    stop: !ignoresStop && exit2 === 'block',
  }
  return Object.entries(table).flatMap(([ability, can]) => (can ? [ability as Ability] : []))
}

function answer(event: HostEvent, told: FittedVerdict, approval: HostVerdict['approval'] = {}): HostAnswer {
  const { fields, exit2, makesPath } = honoured(event)
  const json = claudeJson(event, told)
  if (told.act === 'ask' && fields?.permissionDecision) return printed({ ...json, ...approval })
  if (isRefusal(told)) {
    // Claude Code follows the JSON. The exit code is for an unknown host that understands nothing else.
    // A stop has only been seen to work with exit code 0.
    const exits = told.act === 'signal' || (exit2 === 'block' && !told.stops)
    return exits ? printed(json, 2, told.reason) : printed(json)
  }
  // Two events read stdout as plain text.
  const path = told.host.worktreePath
  if (makesPath && typeof path === 'string') return plain(path, 0, told.message)
  return !fields && told.context ? plain(told.context, 0, told.message) : printed(json)
}

// ---- the form -------------------------------------------------------------------------------------------------

/** For other hosts that read Claude Code's form, including on events that Claude Code does not have. */
export function answerLikeClaude(event: HostEvent, told: FittedVerdict): HostAnswer {
  return answerBeside({}, event, told)
}

/** The same, with fields of their own. */
export function answerBeside(own: object, event: HostEvent, told: FittedVerdict): HostAnswer {
  const json = { ...claudeJson(event, told), ...own }
  return told.act === 'signal' ? printed(json, 2, told.reason) : printed(json)
}

/** Empty if there is nothing to say. */
function claudeJson(event: HostEvent, told: FittedVerdict): Readonly<Record<string, Json>> {
  const { fields, decision } = honoured(event)
  const specific = fields ? specificOf(told, Object.keys(fields)) : {}
  const decidesInside = 'permissionDecision' in specific || 'decision' in specific || 'action' in specific
  const decidesOutside = decision || !fields || told.act === 'signal'
  return {
    ...(told.stops && { continue: false, stopReason: told.reason }),
    ...(told.message && { systemMessage: told.message }),
    ...(isRefusal(told) && !decidesInside && decidesOutside && { decision: 'block', reason: told.reason }),
    ...(Object.keys(specific).length > 0 && {
      hookSpecificOutput: { hookEventName: event.name, ...specific },
    }),
  }
}

function specificOf(told: FittedVerdict, fields: readonly string[]): Data {
  const has = (field: string) => fields.includes(field)
  const own = Object.entries(told.host).filter(([key]) => has(key) && !DECIDING.has(key))
  return {
    ...Object.fromEntries(own),
    ...(has('permissionDecision') && permissionOf(told)),
    ...(has('decision') && rulingOf(told)),
    ...(has('action') && isRefusal(told) && { action: 'decline' }),
    ...(has('updatedInput') && told.input && { updatedInput: told.input }),
    ...(has('updatedToolOutput') && told.output !== undefined && { updatedToolOutput: told.output }),
    ...(has('additionalContext') && told.context && { additionalContext: told.context }),
  }
}

/** Only the verdict sets these. Fields meant for the host never do. */
const DECIDING: ReadonlySet<string> = new Set(['permissionDecision', 'decision', 'action', 'updatedInput'])

const DECISIONS = { refuse: 'deny', signal: 'deny', ask: 'ask', allow: 'allow' } as const

function permissionOf({ act, reason }: FittedVerdict): Data {
  if (act === 'go') return {}
  return { permissionDecision: DECISIONS[act], ...(reason && { permissionDecisionReason: reason }) }
}

function rulingOf(told: FittedVerdict): Data {
  const { act, reason, stops, input, host } = told
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
  if (!isRefusal(told)) return {}
  const interrupt = stops || host.interrupt === true
  return { decision: { behavior: 'deny', message: reason, ...(interrupt && { interrupt }) } }
}
