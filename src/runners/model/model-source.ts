// The source of a prompt or agent hook's model: the embedder, or the user's settings.

import { isObject } from '../../core/base/json.js'
import { didYouMean, shown } from '../../core/base/text.js'

/** The question for a model that is a function. */
export interface ModelQuestion {
  readonly prompt: string
  readonly system: string
  /** The model that the hook asks for, as written. */
  readonly model?: string
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal
}

export type ModelFunction = (question: ModelQuestion) => string | Promise<string>

/** The part of an AI SDK LanguageModel that is used here. No version of its types fits all versions. */
export interface LanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
}

/** `createHooks({ model })`. */
export type EmbedderModel = ModelFunction | LanguageModel

/** An endpoint. The key comes from the environment, never from a file. */
export interface EndpointSettings {
  readonly provider: 'anthropic' | 'openai'
  readonly name: string
  /** Default: the provider's own. */
  readonly base_url?: string
  /** The variable that holds the key. Default: ANTHROPIC_API_KEY or OPENAI_API_KEY, or none if `base_url` is given. */
  readonly api_key_env?: string
}

/** A program that reads the question from its standard input and prints the answer. */
export interface CommandSettings {
  readonly command: readonly string[]
}

/** Where to set it, for messages. */
export const MODEL_SETTING = '"model" under "hooks" in ~/.amplifier/settings.json'

/** The user's setting `model`. */
export type ModelSettings = EndpointSettings | CommandSettings

/** Read at each call. The embedder's model wins. */
export interface ModelSource {
  readonly embedder?: EmbedderModel | undefined
  readonly settings: ModelSettings | null
}

/** What is missing if a hook of this type has no model to ask. */
export function lacksModel(type: string, { model }: { readonly model: ModelSettings | null }) {
  if (model !== null) return undefined
  return {
    code: 'model-missing' as const,
    text: `it is a hook of type ${type}, but the settings name no model to ask`,
    fix: 'Add "model": {"command": ["./model.sh"]}, or a provider that carabiner docs prompt-hooks lists, under "hooks" in ~/.amplifier/settings.json.',
  }
}

/** v2 to v4 agree on everything that is used here. */
const VERSIONS: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4'])

export function isLanguageModel(value: unknown): value is LanguageModel {
  return isObject(value) && typeof value.doGenerate === 'function' && VERSIONS.has(value.specificationVersion)
}

/** A provider of the AI SDK is a function too, but not a model. */
export function isEmbedderModel(value: unknown): value is EmbedderModel {
  return typeof value === 'function' ? !('languageModel' in value) : isLanguageModel(value)
}

// ---- the setting ----------------------------------------------------------------------------------------------

const KEYS: ReadonlySet<string> = new Set(['provider', 'name', 'base_url', 'api_key_env'])

/** What is wrong with a value of the setting `model`. Undefined if nothing is. */
export function modelSettingsProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object with "provider" and "name", or with "command"'
  return 'command' in value ? commandProblem(value) : endpointProblem(value)
}

type Raw = { readonly [key: string]: unknown }

function commandProblem(value: Raw): string | undefined {
  const { command } = value
  const other = Object.keys(value).find((key) => key !== 'command')
  if (other !== undefined) return `has "command", so it may not have ${shown(other)}`
  const fits = Array.isArray(command) && command.length > 0 && command.every(isWord) && command[0] !== ''
  return fits
    ? undefined
    : 'needs a "command" that is a list of a program and its arguments, such as ["claude", "-p"]'
}

function isWord(item: unknown): boolean {
  return typeof item === 'string' && !item.includes('\0')
}

function endpointProblem(value: Raw): string | undefined {
  const { provider, name, base_url, api_key_env } = value
  const unknown = Object.keys(value).find((key) => !KEYS.has(key))
  if (unknown !== undefined && /key|token|secret/i.test(unknown)) {
    return `may not have ${shown(unknown)}: put the key into an environment variable, and name that variable in "api_key_env"`
  }
  if (unknown !== undefined) {
    const known = [...KEYS, 'command']
    return `has no key ${shown(unknown)}${didYouMean(unknown, known) || `; the keys are ${known.join(', ')}`}`
  }
  if (provider !== 'anthropic' && provider !== 'openai') {
    return `needs "anthropic" or "openai" as its "provider", got ${shown(provider)}`
  }
  if (typeof name !== 'string' || name.trim() === '') return 'needs the name of a model as its "name"'
  if (base_url !== undefined && !isEndpoint(base_url)) {
    return 'needs a "base_url" that begins with http:// or https:// and contains no user name or password'
  }
  if (api_key_env !== undefined && (typeof api_key_env !== 'string' || !/^\w+$/.test(api_key_env))) {
    return 'needs the name of an environment variable as its "api_key_env"'
  }
  return undefined
}

function isEndpoint(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}
