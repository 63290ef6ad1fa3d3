// What came of a case, in the words of the probes, read from what the model was shown and what Claude Code said.

import { isDeepStrictEqual } from 'node:util'
import { blockText } from './mock-model.mjs'

/** @typedef {import('./case.mjs').Case} Case */
/** @typedef {import('./case.mjs').Observed} Observed */
/** @typedef {import('./stage.mjs').Stage} Stage */
/** @typedef {import('./mock-model.mjs').Request} Request */
/** @typedef {import('./mock-model.mjs').Block} Block */
/** @typedef {Record<string, any>} Message */
/** @typedef {{ messages: readonly Message[], requests: readonly Request[], all: readonly { role: string, body: Request }[], stage: Stage }} Log */
/** @typedef {{ kind: 'context' | 'blocked' | 'stopped', event: string, text: string }} Heard */

/** @param {Case} one @param {Log} log @returns {Observed} */
export function observe(one, log) {
  const { event, run = {} } = one
  const heard = [...heardByModel(log, event), ...heardByUser(log, event)].filter(
    (item) => item.event === event,
  )
  const call = callOf(one, log)
  const asked = askedByHook(log)
  const texts = (/** @type {Heard['kind']} */ kind) => [
    ...new Set(heard.filter((item) => item.kind === kind).map(({ text }) => text)),
  ]
  const stops = texts('stopped')
  const denials = [...texts('blocked'), ...(call.denied === undefined ? [] : [call.denied])]
  const contexts = texts('context')
  const updates = updatesOf(one, log)
  const ends = log.messages.map(({ terminal_reason }) => terminal_reason)
  const decision = decide({
    deferred: ends.includes('tool_deferred'),
    stopped: stops.length > 0 || ends.some((end) => STOPPED.has(end)),
    denied: denials.length > 0 || wasUnchanged(one, log) || wasDeclined(one, log),
    asked: asked !== undefined,
    updated: Object.keys(updates).length > 0,
    told: contexts.length > 0,
  })
  const reason =
    decision === 'ask' ? asked?.decision_reason : [...(decision === 'stop' ? stops : denials)].join('\n')
  const context = contexts.join('\n')
  const message = systemMessage(log)
  const later = toldLater(one, log)
  return {
    decision,
    ...(reason && { reason: log.stage.emptied(reason) }),
    ...(context && { context: log.stage.emptied(context) }),
    ...(run.ask && { permission: call.ran && !log.messages.some(isQuestion) ? 'allow' : 'none' }),
    ...(message && { system_message: message }),
    ...updates,
    ...((failedLoudly.test(reason ?? '') || log.messages.some((message) => isFailure(message, one))) && {
      failed: true,
    }),
    ...(event === 'PreToolUse' && { tool_ran: call.ran }),
    hooks_run: log.stage.lines('ran').sort(),
    ...(later.length > 0 && { later }),
    ...(event !== 'ConfigChange' &&
      log.stage.lines('okran').length > 0 && {
        wrote: log.stage.lines('okran').map((line) => log.stage.emptied(line)),
      }),
  }
}

/** @param {Record<'deferred' | 'stopped' | 'denied' | 'asked' | 'updated' | 'told', boolean>} was */
function decide(was) {
  if (was.deferred) return 'defer'
  if (was.stopped) return 'stop'
  if (was.denied) return 'deny'
  if (was.asked) return 'ask'
  if (was.updated) return 'modify'
  return was.told ? 'inject' : 'continue'
}

/** What the new settings bring did not come. @param {Case} one @param {Log} log */
function wasUnchanged({ event }, { stage }) {
  return event === 'ConfigChange' && !stage.lines('okran').includes('APPLIED')
}

/** The host accepts; whoever declines is a hook. @param {Case} one @param {Log} log */
function wasDeclined({ event }, { messages }) {
  return event.startsWith('Elicitation') && JSON.stringify(messages).includes('ANSWERED decline')
}

const STOPPED = new Set(['hook_stopped', 'stop_hook_prevented'])

// ---- what was fired ---------------------------------------------------------------------------------------------

/** Of every session alike, and another one each time. */
const UNKEPT = [
  'session_id',
  'transcript_path',
  'cwd',
  'hook_event_name',
  'prompt_id',
  'tool_use_id',
  'duration_ms',
  'effort',
  'turn_id',
  'message_id',
  'agent_id',
  'agent_transcript_path',
  'background_tasks',
  'session_crons',
  'permission_suggestions',
  'seconds_since_last_response',
  'context_tokens',
  'estimated_cache_write_usd',
]

/** @param {Case} one @param {Stage} stage @returns {import('./case.mjs').Fired[]} */
export function firedIn(one, stage) {
  const listened = new Set([one.event, ...one.hooks.map(({ event }) => event)])
  return stage.spied
    .filter(({ hook_event_name }) => listened.has(String(hook_event_name)))
    .map((payload) => {
      const kept = Object.entries(payload).filter(([key]) => !UNKEPT.includes(key))
      const data = JSON.parse(stage.emptied(JSON.stringify(Object.fromEntries(kept))))
      return { event: String(payload.hook_event_name), data }
    })
}

// ---- what was said ----------------------------------------------------------------------------------------------

const ROLES = ['main', 'subagent', 'compact']
const NOTES =
  /^(\w+)(?::\S+)? hook (additional context|success|blocking error from command|stopped continuation): ([\s\S]*)$/

/** @param {Log} log @param {string} watched @returns {Heard[]} */
function heardByModel({ all, stage }, watched) {
  /** @type {Heard[]} */
  const heard = []
  for (const text of ROLES.flatMap((role) => [...textsFor(all, role)])) {
    for (const note of notesIn(text)) {
      const [, event = '', what, rest = ''] = NOTES.exec(note) ?? []
      if (what === 'additional context' || what === 'success')
        heard.push({ kind: 'context', event, text: rest.trim() })
      if (what === 'blocking error from command') {
        heard.push({ kind: 'blocked', event, text: withoutCommand(rest.replace(/^"[\s\S]*?": /, ''), stage) })
      }
      if (what === 'stopped continuation')
        heard.push({ kind: 'stopped', event, text: withoutCommand(rest, stage) })
    }
    const [, name = '', rest = ''] = /^(\w+) hook feedback:\n([\s\S]*)$/.exec(withoutNotes(text)) ?? []
    // A subagent is told in the words of the main loop.
    const event = name === 'Stop' && watched === 'SubagentStop' ? watched : name
    if (event) heard.push({ kind: 'blocked', event, text: withoutCommand(rest, stage) })
    const [, extra = ''] = /Additional Instructions:\nkeep it\n\n([\s\S]*?)\n\nREMINDER/.exec(text) ?? []
    if (extra) heard.push({ kind: 'context', event: 'PreCompact', text: extra })
  }
  return heard
}

/** Every text that was shown, once. @param {Log['all']} all @param {string} role */
function textsFor(all, role) {
  const messages = all.filter((one) => one.role === role).flatMap(({ body }) => body.messages)
  return new Set(
    messages.flatMap(({ content }) => (typeof content === 'string' ? [content] : content.map(blockText))),
  )
}

/** @param {string} text @returns {string[]} */
function notesIn(text) {
  return [...text.matchAll(/<system-reminder>\n([\s\S]*?)\n?<\/system-reminder>/g)].map(
    ([, note = '']) => note,
  )
}

/** @param {string} text */
function withoutNotes(text) {
  return text.replace(/\s*<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
}

/** What only the user or the host is told. @type {readonly { kind: Heard['kind'], pattern: RegExp }[]} */
const TOLD = [
  {
    kind: 'blocked',
    pattern: /^\w+ operation blocked by hook:?\n?([\s\S]*?)\s*(?:Original prompt: [\s\S]*)?$/,
  },
  { kind: 'stopped', pattern: /^Operation stopped by hook(?:: ([\s\S]*))?$/ },
  { kind: 'blocked', pattern: /^Error creating worktree: WorktreeCreate hook failed: ([\s\S]*)$/ },
  { kind: 'blocked', pattern: /^Model switch blocked by a PreModelSwitch hook: ([\s\S]*)$/ },
  { kind: 'blocked', pattern: /^skipped: Compaction blocked by PreCompact hook: ([\s\S]*)$/ },
]

/** @param {Log} log @param {string} event @returns {Heard[]} */
function heardByUser({ messages, stage }, event) {
  return messages.flatMap((message) => heardIn(message, event, stage))
}

/** @param {Message} message @param {string} event @param {Stage} stage @returns {Heard[]} */
function heardIn(message, event, stage) {
  const text =
    message.text ??
    message.response?.error ??
    message.compact_error ??
    (message.subtype === 'informational' ? message.content : '')
  const refusal =
    message.subtype === 'permission_denied' && message.decision_reason_type === 'hook'
      ? message.message
      : undefined
  if (event === 'PermissionRequest' && refusal) return [{ kind: 'blocked', event, text: refusal }]
  return TOLD.flatMap(({ kind, pattern }) => {
    const found = pattern.exec(text)
    return found ? [{ kind, event, text: withoutCommand(found[1] ?? '', stage) }] : []
  })
}

/** @param {string} reason @param {Stage} stage */
function withoutCommand(reason, stage) {
  const command = stage.commands.find((one) => reason.startsWith(`[${one}]: `))
  const text = command === undefined ? reason : reason.slice(command.length + 4)
  return text.replace(/\n\nThis hook comes from the \S+ plugin\.\s*$/, '').trim()
}

/** What async hooks said comes without a name, or as the words of a Stop hook. @param {Case} one @param {Log} log @returns {string[]} */
function toldLater({ hooks }, { all }) {
  const words = new Set(
    hooks.flatMap(({ stdout = '', stderr = '' }) => [stdout, stderr, ...stringsIn(stdout)]),
  )
  const notes = [...textsFor(all, 'main')].flatMap(notesIn).map((note) => {
    const [, woken] = /blocking error from command "[^"]*": ([\s\S]*?)\s*(?:&lt;.*)?$/.exec(note) ?? []
    return woken ?? note
  })
  return [...new Set(notes.filter((note) => note !== '' && words.has(note)))].sort()
}

/** @param {string} json @returns {string[]} */
function stringsIn(json) {
  return [...json.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text)
}

/** @param {Log} log @returns {string} */
function systemMessage({ messages }) {
  const said = messages.flatMap(
    ({ content }) => /^\w+(?::\S+)? says: ([\s\S]*)$/.exec(content ?? '')?.[1] ?? [],
  )
  return said.join('\n')
}

const failedLoudly = /^(failed|timed out); blocking because/

/** A hook without a usable answer. An exit code alone is no error where the answer is valid. @param {Message} message @param {Case} one */
function isFailure({ tag, subtype, hook_event, outcome, exit_code, stdout }, { event, hooks }) {
  if (tag === 'hook_no_verdict') return true
  if (subtype !== 'hook_response' || hook_event !== event || outcome === 'success') return false
  // Its time was up; but async hooks are cancelled at the end, and those of PermissionRequest once one has answered.
  if (outcome === 'cancelled') return hooks.some(({ fields }) => fields?.timeout !== undefined)
  return exit_code !== 2 && !isObject(stdout)
}

/** @param {string | undefined} text */
function isObject(text) {
  try {
    return JSON.parse((text ?? '').trim())?.constructor === Object
  } catch {
    return false
  }
}

// ---- the call ---------------------------------------------------------------------------------------------------

/** What became of the first call of a tool. @param {Case} one @param {Log} log @returns {{ ran: boolean, denied?: string }} */
function callOf({ event, tool_name }, { messages, stage }) {
  const { message, tool_result_meta: [meta] = [{}] } = messages.find(isToolResult) ?? {}
  if (message === undefined) return { ran: false }
  const text = blockText(message.content[0])
  const prefix = `${event}:${tool_name} hook error: `
  const denied = text.startsWith(prefix) ? text.slice(prefix.length) : undefined
  return {
    ran: meta.non_execution_kind === undefined,
    ...(denied !== undefined && { denied: withoutCommand(denied, stage) }),
  }
}

/** @param {Message} message */
function isToolResult({ type, message }) {
  return type === 'user' && Array.isArray(message?.content) && message.content[0]?.type === 'tool_result'
}

/** @param {Message} message */
function isQuestion({ type, request }) {
  return type === 'control_request' && request.subtype === 'can_use_tool'
}

/** @param {Log} log @returns {{ decision_reason?: string } | undefined} */
function askedByHook({ messages }) {
  return messages.filter(isQuestion).find(({ request }) => request.decision_reason_type === 'hook')?.request
}

/** @param {Case} one @param {Log} log @returns {{ updated_input?: unknown, updated_output?: unknown }} */
function updatesOf({ event, tool_input, run = {} }, log) {
  const { stage, messages } = log
  const done = stage.spied.find(({ hook_event_name }) => hook_event_name === 'PostToolUse')
  if (event === 'PostToolUse') {
    const { tool_use_result: output } = messages.find(isToolResult) ?? {}
    return isDeepStrictEqual(output, done?.tool_response) ? {} : { updated_output: output }
  }
  if ((event !== 'PreToolUse' && event !== 'PermissionRequest') || run.turns) return {}
  const input = done?.tool_input ?? messages.find(isQuestion)?.request.input
  if (input === undefined) return {}
  const emptied = JSON.parse(stage.emptied(JSON.stringify(input)))
  return isDeepStrictEqual(emptied, tool_input) ? {} : { updated_input: emptied }
}
