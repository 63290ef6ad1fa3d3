// A model at an endpoint in the user's settings, asked through the AI SDK's provider, which is loaded on first use.

import { HookError, isMissingPackage, textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { keepSecret } from '../../core/base/secrets.js'
import { withoutProject } from '../../effects/shell/own-environment.js'
import type { HttpFetch } from '../mcp-tool/http-link.js'
import { type EndpointSettings, isLanguageModel, type LanguageModel, MODEL_SETTING } from './model-source.js'

interface Provider {
  readonly package: string
  /** The major version that runs on Node 20. */
  readonly version: string
  readonly url: string
  readonly keyName: string
  /** The package's export. */
  readonly create: string
  /** Matches names of its own models. */
  readonly family: RegExp
}

export const PROVIDERS: Readonly<Record<EndpointSettings['provider'], Provider>> = {
  anthropic: {
    package: '@ai-sdk/anthropic',
    version: '3',
    url: 'https://api.anthropic.com/v1',
    keyName: 'ANTHROPIC_API_KEY',
    create: 'createAnthropic',
    family: /^claude-/,
  },
  openai: {
    package: '@ai-sdk/openai-compatible',
    version: '2',
    url: 'https://api.openai.com/v1',
    keyName: 'OPENAI_API_KEY',
    create: 'createOpenAICompatible',
    family: /^(?:gpt-|chatgpt-|codex-|o\d)/,
  },
}

interface EndpointModel {
  readonly model: LanguageModel
  readonly keyName: string | undefined
}

export async function endpointModel(settings: EndpointSettings, modelName: string): Promise<EndpointModel> {
  const provider = PROVIDERS[settings.provider]
  const keyName = settings.api_key_env ?? (settings.base_url === undefined ? provider.keyName : undefined)
  const apiKey = keyName === undefined ? '' : keyFrom(keyName)
  const create = await creatorOf(provider)
  // Sets everything that a provider would read from the environment, so that only the settings decide where the key goes.
  const made = create({
    name: settings.provider,
    baseURL: settings.base_url ?? provider.url,
    apiKey,
    fetch: boundedFetch,
  })
  const model: unknown = made(modelName)
  if (!isLanguageModel(model)) throw wrongVersion(provider)
  return { model, keyName }
}

function keyFrom(name: string): string {
  const key = withoutProject()[name]?.trim() ?? ''
  if (key === '') {
    throw new HookError('MODEL_FAILED', `there is no key for the model: ${name} is not set`, {
      hint: `Set ${name} in the environment, or name another variable as "api_key_env" in ${MODEL_SETTING}.`,
    })
  }
  keepSecret([key])
  return key
}

type Create = (options: object) => (model: string) => unknown

async function creatorOf(provider: Provider): Promise<Create> {
  const loaded = await load(provider)
  const create = isObject(loaded) ? loaded[provider.create] : undefined
  if (typeof create !== 'function') throw wrongVersion(provider)
  return create as Create
}

async function load({ package: name, version }: Provider): Promise<unknown> {
  try {
    return await import(name)
  } catch (error) {
    const why = isMissingPackage(error) ? 'is not installed' : `cannot be loaded: ${textOf(error)}`
    throw new HookError('MODEL_FAILED', `${name}, which is needed to ask this model, ${why}`, {
      hint: `Install it where Carabiner is installed: npm install ${name}@${version} zod`,
      cause: error,
    })
  }
}

function wrongVersion({ package: name, version }: Provider): HookError {
  return new HookError('MODEL_FAILED', `this version of ${name} is not supported`, {
    hint: `npm install ${name}@${version} zod`,
  })
}

// ---- fetch ----------------------------------------------------------------------------------------------------

/** Bytes, after decompression. A verdict takes a line, and a tool call not much more. */
export const BODY_LIMIT = 1024 * 1024

const own = new Map<string, HttpFetch>()

/** Follows no redirects, because they would send the key and the payload wherever a server says. */
const boundedFetch: typeof fetch = async (input, init = {}) => {
  const { HttpFetch: Fetch } = await import('../mcp-tool/http-link.js')
  const { protocol } = new URL(String(input))
  const ours = own.get(protocol) ?? new Fetch()
  own.set(protocol, ours)
  const response = await ours.request(String(input), init, () => {})
  const { status, statusText, headers, body } = response
  if (body === null) return response
  return new Response(limited(body), { status, statusText, headers })
}

/** An error in the stream cancels its source, which closes the connection. */
function limited(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let left = BODY_LIMIT
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.length
        if (left >= 0) controller.enqueue(chunk)
        else controller.error(tooLong())
      },
    }),
  )
}

function tooLong(): HookError {
  return new HookError('HOOK_OUTPUT', `the model's answer is larger than ${BODY_LIMIT} bytes`, {
    hint: 'Use a model that answers with nothing but the verdict.',
  })
}
