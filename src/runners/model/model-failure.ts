// Failures of models, in words that say what to do.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { plainText } from '../../core/base/text.js'
import { MODEL_SETTING } from './model-source.js'

/** Names the model that was asked, for people. */
export interface Asked {
  readonly name: string
  /** The address in the settings; absent for the embedder's own model. */
  readonly url?: string
  /** The variable that held the key, if one did. */
  readonly keyName?: string | undefined
}

/** Turns what a model threw into MODEL_FAILED; a HookError inside stays what it is. */
export function modelFailure(error: unknown, asked: Asked): HookError {
  const own = withinCauses(error, (one) => isHookError(one))
  if (own) return own as HookError
  const status = statusOf(error)
  const said = plainText(textOf(error)).replace(/\s+/g, ' ').slice(0, LONGEST_WORDS)
  if (status === undefined)
    return failed(`${asked.name} could not be asked: ${reached(error) ?? said}`, error, unreached(asked))
  const [what, hint = unreached(asked)] = statusWords(status, asked)
  return failed(`${asked.name} ${what} (HTTP ${status}): ${said}`, error, hint)
}

function unreached({ url }: Asked): string {
  if (url === undefined) return 'It is the model that was given to createHooks({ model }): look there.'
  return `Is the server of ${MODEL_SETTING} running? It was asked at the base_url ${url}.`
}

/** Characters kept of a server's message. */
const LONGEST_WORDS = 300

function failed(message: string, cause: unknown, hint: string): HookError {
  return new HookError('MODEL_FAILED', message, { cause, hint })
}

function statusOf(error: unknown): number | undefined {
  const status =
    isObject(error) || error instanceof Error ? (error as { statusCode?: unknown }).statusCode : 0
  // A 2xx status was not what went wrong.
  return typeof status === 'number' && status >= 300 ? status : undefined
}

function statusWords(
  status: number,
  { keyName, url }: Asked,
): readonly [what: string, hint?: string | undefined] {
  if (status < 400)
    return [
      'redirects, which is not followed',
      url && `Set "base_url" of ${MODEL_SETTING} to where it leads, if you trust it.`,
    ]
  if (status === 401 || status === 403) {
    const key = keyName ? `the key in ${keyName}` : 'a request without a key'
    const where = keyName ?? (url && `"api_key_env" of ${MODEL_SETTING}`)
    return [`refused ${key}`, where && `Check ${where}.`]
  }
  if (status === 404)
    return [
      'does not know that model or address',
      url && `Check "name" and "base_url" (${url}) of ${MODEL_SETTING}.`,
    ]
  if (status === 429)
    return [
      'has had too many requests',
      'Wait, or raise the limit at the provider; it is not tried again by itself.',
    ]
  return status >= 500 ? ['is in trouble', 'Try again later.'] : ['refused the request']
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its host cannot be looked up now',
  ETIMEDOUT: 'it could not be reached in time',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'it could not be reached in time',
}

function reached(error: unknown): string | undefined {
  const found = withinCauses(error, (one) => Object.hasOwn(NETWORK, codeOf(one)))
  return found === undefined ? undefined : `${NETWORK[codeOf(found)]} (${codeOf(found)})`
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : ''
}

/** Libraries wrap what happened, some of them twice. */
function withinCauses(error: unknown, is: (one: unknown) => boolean): unknown {
  let one = error
  for (let depth = 0; depth < 6 && one !== undefined && one !== null; depth++) {
    if (is(one)) return one
    one = one instanceof Error ? one.cause : undefined
  }
  return undefined
}
