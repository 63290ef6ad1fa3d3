// The answer of one hook: the HookResult, its constructors, and the parser that every answer goes through.

import { type DiagnosticSink, HookError, isHookError, textOf } from '../base/errors.js'
import { type Data, frozenCopy, isObject, isPlain, type Json } from '../base/json.js'
import { shown } from '../base/text.js'
import { ACTIONS, type Action, actionRow, isAction } from './actions.js'

/** One hook's answer. The action is the verdict; every other field present counts as well. */
export interface HookResult {
  readonly action: Action
  /** Why; a deny's reason goes to the model. */
  readonly reason?: string
  /** A shallow patch over the event data: its keys replace those of the event, and all others stay. */
  readonly data?: Data
  /** The result that `respond` gives instead of running the operation. */
  readonly response?: Json
  /** An explicit allow: the host need not ask the user. Never outranks an ask, a deny or a failure. */
  readonly permission?: 'allow'
  readonly contextInjection?: string
  /** Default `system`. */
  readonly contextInjectionRole?: 'system' | 'user' | 'assistant'
  /** Reaches only the next model call. */
  readonly ephemeral?: boolean
  /** Adds an ephemeral injection to the last tool result instead of a message of its own. */
  readonly appendToLastToolResult?: boolean
  readonly approvalPrompt?: string
  /** Default `Allow`, `Deny`. */
  readonly approvalOptions?: readonly string[]
  /** Seconds; default 300. */
  readonly approvalTimeout?: number
  /** The answer on timeout or error; default `deny`. */
  readonly approvalDefault?: 'allow' | 'deny'
  /** How many different people must allow it; default 1. With more, only they can: no grant, default, dialog or hook. */
  readonly approvalPeople?: number
  readonly userMessage?: string
  /** Default `info`. */
  readonly userMessageLevel?: 'info' | 'warning' | 'error'
  /** Shown with the message instead of the hook's name. */
  readonly userMessageSource?: string
  /** Hides the hook's own output, never the tool's. */
  readonly suppressOutput?: boolean
  /** Fields that only the host can act on (sessionTitle, updatedPermissions, watchPaths, …). */
  readonly host?: Data
}

type More<K extends keyof HookResult> = Omit<Partial<HookResult>, 'action' | K>

/** No opinion. */
export const proceed = (more: More<never> = {}): HookResult => ({ ...more, action: 'continue' })
/** The operation must not happen. */
export const deny = (reason: string, more: More<'reason'> = {}): HookResult => ({
  ...more,
  action: 'deny',
  reason,
})
/** Changes event data: a shallow patch. */
export const modify = (data: object, more: More<'data'> = {}): HookResult => ({
  ...more,
  action: 'modify',
  data: data as Data,
})
/** Adds text to the agent's context. */
export const inject = (text: string, more: More<'contextInjection'> = {}): HookResult => ({
  ...more,
  action: 'inject_context',
  contextInjection: text,
})
/** A person decides. */
export const askUser = (prompt: string, more: More<'approvalPrompt'> = {}): HookResult => ({
  ...more,
  action: 'ask_user',
  approvalPrompt: prompt,
})
/** Gives the result instead of running the operation. */
export const respond = (response: unknown, more: More<'response'> = {}): HookResult => ({
  ...more,
  action: 'respond',
  response: response as Json,
})
/** Ends the current turn. */
export const abortTurn = (reason: string, more: More<'reason'> = {}): HookResult => ({
  ...more,
  action: 'abort_turn',
  reason,
})
/** Ends the agent loop. */
export const hardAbort = (reason: string, more: More<'reason'> = {}): HookResult => ({
  ...more,
  action: 'hard_abort',
  reason,
})

// ---- the parser -----------------------------------------------------------------------------------------------

type Field = Exclude<keyof HookResult, 'action'>
/** Says what is wrong with a value; undefined if it is valid. */
type Check = (value: unknown) => string | undefined

const text: Check = (value) => (typeof value === 'string' ? undefined : 'must be a string')
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')
const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && allowed.includes(value)
      ? undefined
      : `must be one of ${allowed.map((word) => JSON.stringify(word)).join(', ')}`

/** More would hardly ever come together before a question expires. */
export const MOST_PEOPLE = 10

export function isPeople(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_PEOPLE
}

const FIELDS: Readonly<Record<Field, Check>> = {
  reason: text,
  data: (value) => (isObject(value) && isPlain(value) ? undefined : 'must be an object'),
  response: (value) =>
    ['function', 'symbol', 'bigint'].includes(typeof value) ? 'must be a JSON value' : undefined,
  permission: oneOf('allow'),
  contextInjection: text,
  contextInjectionRole: oneOf('system', 'user', 'assistant'),
  ephemeral: flag,
  appendToLastToolResult: flag,
  approvalPrompt: text,
  approvalOptions: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    [...value].every((item) => typeof item === 'string' && item !== '')
      ? undefined
      : 'must be a list of at least one non-empty string',
  approvalTimeout: (value) =>
    typeof value === 'number' && value > 0 && value < Infinity
      ? undefined
      : 'must be a number of seconds above 0',
  approvalDefault: oneOf('allow', 'deny'),
  approvalPeople: (value) =>
    isPeople(value) ? undefined : `must be a whole number of people from 1 to ${MOST_PEOPLE}`,
  userMessage: text,
  userMessageLevel: oneOf('info', 'warning', 'error'),
  userMessageSource: text,
  suppressOutput: flag,
  host: (value) => (isObject(value) && isPlain(value) ? undefined : 'must be an object'),
}

let snakes: ReadonlyMap<string, Field> | undefined

/** The same fields in Amplifier's spelling; made when first used. */
function snakeCased(): ReadonlyMap<string, Field> {
  const snake = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  snakes ??= new Map((Object.keys(FIELDS) as Field[]).map((field) => [snake(field), field]))
  return snakes
}

/** The field that a key names, in camelCase or snake_case. */
export function fieldCalled(key: string): Field | 'action' | undefined {
  if (key === 'action') return key
  return Object.hasOwn(FIELDS, key) ? (key as Field) : snakeCased().get(key)
}

/** Fields that imply a verdict. An answer that has one but no action is a mistake. */
const ONLY_WITH_ACTION: readonly Field[] = [
  'reason',
  'response',
  'approvalPrompt',
  'approvalOptions',
  'approvalTimeout',
  'approvalDefault',
  'approvalPeople',
]

export const CONTINUE: HookResult = Object.freeze({ action: 'continue' })

/**
 * Reads an answer, in camelCase or snake_case. `undefined` means `continue`. Throws ANSWER_INVALID and says exactly what is
 * wrong if it is not a valid HookResult. A null field counts as absent. The result is a copy.
 */
export function parseResult(value: unknown, diagnostics: DiagnosticSink): HookResult {
  try {
    return isContinue(value) ? CONTINUE : parseObject(value, diagnostics)
  } catch (error) {
    throw isHookError(error) ? error : wrong(`the answer cannot be read: ${textOf(error)}`)
  }
}

function parseObject(value: unknown, diagnostics: DiagnosticSink): HookResult {
  if (!isObject(value)) throw wrong(`an answer must be an object or undefined, got ${shown(value)}`)
  if (!('action' in value) && !isPlain(value))
    throw wrong('an answer must be a plain object, got another kind of object')
  const action = value.action ?? 'continue'
  if (!isAction(action))
    throw wrong(`action ${shown(action)} is unknown; it must be one of ${Object.keys(ACTIONS).join(', ')}`)
  const result: Record<string, unknown> = { action }
  const problems: string[] = []
  const unknown: string[] = []
  for (const key of Object.keys(value)) {
    const field = fieldCalled(key)
    const given = value[key]
    if (field === undefined) unknown.push(key)
    else if (field !== 'action' && given !== undefined && (given !== null || field === 'response')) {
      const problem = FIELDS[field](given)
      if (problem) problems.push(`${key} ${problem}, got ${shown(given)}`)
      else result[field] = typeof given === 'object' ? frozenField(key, given, problems) : given
    }
  }
  const { needs: need, ends } = actionRow(action)
  if (need && !(need in result) && problems.length === 0) problems.push(`${action} needs ${need}`)
  if ((value.action ?? undefined) === undefined && unknown.length > 0) {
    problems.push(`it has no action, and a HookResult has no field ${unknown.map(shown).join(', ')}`)
  }
  const verdictField = ONLY_WITH_ACTION.find((field) => field in result)
  if ((value.action ?? undefined) === undefined && unknown.length === 0 && verdictField) {
    problems.push(`it has no action, and ${verdictField} means nothing without one`)
  }
  if (problems.length > 0 && !ends) throw wrong(problems.join('; '))
  for (const problem of problems) {
    diagnostics.push({ code: 'malformed-field', text: `${problem}; the ${action} stands` })
  }
  for (const key of unknown) {
    diagnostics.push({
      code: 'unknown-answer-key',
      text: `a HookResult has no field ${shown(key)}${suggestion(key)}`,
    })
  }
  return result as unknown as HookResult
}

/** Undefined, or `{ action: 'continue' }` and nothing else: by far the most frequent answers. */
export function isContinue(value: unknown): boolean {
  if (value === undefined) return true
  if (typeof value !== 'object' || value === null) return false
  try {
    if ((value as HookResult).action !== 'continue') return false
    for (const key in value) if (key !== 'action') return false
    return true
  } catch {
    return false
  }
}

function frozenField(key: string, value: unknown, problems: string[]): unknown {
  try {
    return frozenCopy(value, key)
  } catch (error) {
    problems.push(error instanceof Error ? error.message : `${key} is not JSON`)
    return undefined
  }
}

function wrong(what: string): HookError {
  return new HookError('ANSWER_INVALID', what)
}

/** Keys that authors of other systems' hooks write out of habit. */
const HABITS: Readonly<Record<string, string>> = {
  decision: 'action: "deny"',
  permissionDecision: 'action: "deny"',
  permission_decision: 'action: "deny"',
  block: 'action: "deny"',
  message: 'userMessage',
  systemMessage: 'userMessage',
  additionalContext: 'contextInjection',
  updatedInput: 'data: { tool_input: … }',
  modifications: 'data',
  result: 'response',
}

function suggestion(key: string): string {
  const habit = Object.hasOwn(HABITS, key) ? HABITS[key] : undefined
  return habit ? `; did you mean ${habit}?` : ''
}
