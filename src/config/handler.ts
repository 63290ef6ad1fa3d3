// What a hook entry of each type may say, field by field; everything in a file is a stranger until it passed here.

import { isObject } from '../core/base/json.js'
import { didYouMean, nearest } from '../core/base/nearest.js'
import { type Check, isFlag, isOneOf, isSeconds, isText } from '../core/base/options.js'
import { shown } from '../core/base/text.js'
import type { AgentHandler } from '../runners/agent/agent-hook.js'
import type { CommandHandler } from '../runners/command/command-hook.js'
import type { HttpHandler } from '../runners/http/http-hook.js'
import type { McpToolHandler } from '../runners/mcp-tool/mcp-tool-hook.js'
import type { PromptHandler } from '../runners/prompt/prompt-hook.js'

export type HandlerType = 'command' | 'http' | 'prompt' | 'agent' | 'mcp_tool'

export interface ConfiguredCommand extends CommandHandler {
  readonly async?: boolean
}

export interface Handlers {
  readonly command: ConfiguredCommand
  readonly http: HttpHandler
  readonly prompt: PromptHandler
  readonly agent: AgentHandler
  readonly mcp_tool: McpToolHandler
}

/** Fields that any handler may have and that the engine reads itself. */
export interface CommonFields {
  readonly timeout?: number
  readonly if?: string
  readonly onFailure?: 'block' | 'continue'
  readonly once?: boolean
}

// ---- checks ---------------------------------------------------------------------------------------------------

const isString: Check = [(value) => typeof value === 'string', 'a string']
const isWritten: Check = [(value) => isText[0](value) && (value as string).trim() !== '', isText[1]]
const isArgs: Check = [
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes('\0')),
  'a list of strings',
]
const isUrl: Check = [
  (value) =>
    typeof value === 'string' && /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''),
  'a URL that begins with http:// or https://',
]
const isTextMap: Check = [
  (value) => isObject(value) && Object.values(value).every((item) => typeof item === 'string'),
  'an object of strings',
]
const isInput: Check = [isObject, 'an object']

type Fields<T> = { readonly [K in keyof Required<T>]: Check }

export const COMMON: Fields<CommonFields> = {
  timeout: isSeconds,
  if: isString,
  onFailure: isOneOf('block', 'continue'),
  once: isFlag,
}

export const FIELDS: { readonly [T in HandlerType]: Fields<Handlers[T]> } = {
  command: {
    command: isWritten,
    args: isArgs,
    shell: isOneOf('bash', 'sh', 'powershell'),
    envPassthrough: isArgs,
    async: isFlag,
    asyncRewake: isFlag,
    rewakeMessage: isString,
    rewakeSummary: isString,
    statusMessage: isString,
  },
  http: { url: isUrl, headers: isTextMap, allowedEnvVars: isArgs, statusMessage: isString },
  prompt: { prompt: isWritten, model: isWritten, continueOnBlock: isFlag, statusMessage: isString },
  agent: { prompt: isWritten, model: isWritten, statusMessage: isString },
  mcp_tool: { server: isWritten, tool: isWritten, input: isInput, statusMessage: isString },
}

export const REQUIRED: { readonly [T in HandlerType]: readonly string[] } = {
  command: ['command'],
  http: ['url'],
  prompt: ['prompt'],
  agent: ['prompt'],
  mcp_tool: ['server', 'tool'],
}

const TYPES = Object.keys(FIELDS).map((type) => `"${type}"`)

interface Known {
  readonly key: string
  readonly accepts: Check[0]
  readonly wanted: string
}

/** As lists: walking a list of objects is what takes least time, and every entry of every file walks them. */
const COMMON_KEYS = knownOf(COMMON)
const OWN_KEYS = Object.fromEntries(
  Object.entries(FIELDS).map(([type, fields]) => [type, knownOf(fields)]),
) as unknown as { readonly [T in HandlerType]: readonly Known[] }

function knownOf(fields: Readonly<Record<string, Check>> | object): readonly Known[] {
  const entries = Object.entries(fields as Readonly<Record<string, Check>>)
  return entries.map(([key, [accepts, wanted]]) => ({ key, accepts, wanted }))
}

type Raw = { readonly [key: string]: unknown }

/** A valid entry, its own fields apart from those that the engine reads. */
export interface ReadHandler {
  readonly type: HandlerType
  /** Keys in the order of the table, whatever the file's: equal content has one text. */
  readonly fields: Raw
  readonly common: CommonFields
  /** Keys that mean nothing on this type. */
  readonly others: readonly string[]
  /** What was read otherwise than it stands there. */
  readonly remark?: HandlerProblem
}

/** What is wrong, and under which key. */
export interface HandlerProblem {
  readonly problem: string
  readonly key?: string
}

export function readHandler(entry: Raw): ReadHandler | HandlerProblem {
  const { type } = entry
  if (!isHandlerType(type)) return { problem: typeProblem(type), key: 'type' }
  const fields: Record<string, unknown> = {}
  const common: Record<string, unknown> = {}
  const remark = policyRemark(entry.onFailure)
  const read = remark ? { ...entry, onFailure: 'block' } : entry
  const problem = wanting(read, type) ?? pick(read, OWN_KEYS[type], fields) ?? pick(read, COMMON_KEYS, common)
  return problem ?? { type, fields, common, others: others(entry, type), ...(remark && { remark }) }
}

/** Whoever writes the key wants a gate that fails closed: a slip must not take the hook away, nor open it. */
export function policyRemark(policy: unknown): HandlerProblem | undefined {
  const [accepts, wanted] = COMMON.onFailure
  if (policy === undefined || accepts(policy)) return undefined
  return {
    problem: `"onFailure" must be ${wanted}, got ${shown(policy)}; "block" is in force`,
    key: 'onFailure',
  }
}

function isHandlerType(type: unknown): type is HandlerType {
  return typeof type === 'string' && Object.hasOwn(FIELDS, type)
}

function typeProblem(type: unknown): string {
  const known = `the types are ${TYPES.join(', ')}`
  if (type === undefined) return `it has no "type"; ${known}`
  const meant = typeof type === 'string' ? didYouMean(type, Object.keys(FIELDS)) : ''
  return `${shown(type)} is no type of hook${meant || `; ${known}`}`
}

function wanting(entry: Raw, type: HandlerType): HandlerProblem | undefined {
  const key = REQUIRED[type].find((required) => entry[required] === undefined)
  return key === undefined ? undefined : { problem: `a hook of type ${type} needs "${key}"` }
}

/** Copies what is there and right. */
function pick(
  entry: Raw,
  known: readonly Known[],
  target: Record<string, unknown>,
): HandlerProblem | undefined {
  for (let i = 0; i < known.length; i++) {
    const { key, accepts, wanted } = known[i] as Known
    const value = entry[key]
    if (value === undefined) continue
    if (!accepts(value)) return { problem: `"${key}" must be ${wanted}, got ${shown(value)}`, key }
    target[key] = value
  }
  return undefined
}

const NONE: readonly string[] = []

function others(entry: Raw, type: HandlerType): readonly string[] {
  let found: string[] | undefined
  for (const key in entry) {
    if (isHandlerKey(key, type)) continue
    found ??= []
    found.push(key)
  }
  return found ?? NONE
}

/** The key that is the same but for case and separators: `on_failure` for `onFailure`. */
export function likelyKey(key: string, type: HandlerType): string | undefined {
  const plain = (text: string) => text.replace(/[_\s-]/g, '').toLowerCase()
  const wanted = plain(key)
  return keysOf(type).find((known) => plain(known) === wanted)
}

/** The key that is a few letters away. */
export function nearestKey(key: string, type: HandlerType): string | undefined {
  return nearest(key, keysOf(type))
}

function keysOf(type: HandlerType): readonly string[] {
  return [...COMMON_KEYS, ...OWN_KEYS[type]].map((known) => known.key)
}

/** Whether the key has a meaning on a handler of this type; without a type, on any. */
export function isHandlerKey(key: string, type?: HandlerType): boolean {
  if (key === 'type' || Object.hasOwn(COMMON, key)) return true
  return type
    ? Object.hasOwn(FIELDS[type], key)
    : Object.values(FIELDS).some((one) => Object.hasOwn(one, key))
}
