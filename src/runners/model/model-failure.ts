// Model failures in words: what happened, and what to do.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { plainText } from '../../core/base/text.js'
import { MODEL_SETTING } from './model-source.js'

/** Names the model that was asked, for people. */
export interface Asked {
  readonly name: string
  /** The address in the settings. Absent for the embedder's own model. */
  readonly url?: string
  /** The variable that held the key, if one did. */
  readonly keyName?: string | undefined
}

/** Turns what a model threw into MODEL_FAILED. A HookError inside is kept. */
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
  if (url === undefined) return 'Check the model that was passed to createHooks({ model }).'
  return `Is the server in ${MODEL_SETTING} running? Its base_url is ${url}.`
}

/** Characters kept of a server's message. */
const LONGEST_WORDS = 300

function failed(message: string, cause: unknown, hint: string): HookError {
  return new HookError('MODEL_FAILED', message, { cause, hint })
}

function statusOf(error: unknown): number | undefined {
  const status =
    isObject(error) || error instanceof Error ? (error as { statusCode?: unknown }).statusCode : 0
  // A status below 300 is not the cause.
  return typeof status === 'number' && status >= 300 ? status : undefined
}

function statusWords(
  status: number,
  { keyName, url }: Asked,
): readonly [what: string, hint?: string | undefined] {
  if (status < 400)
    return [
      'redirects, but redirects are not followed',
      url && `If you trust the target, set it as "base_url" in ${MODEL_SETTING}.`,
    ]
  if (status === 401 || status === 403) {
    const key = keyName ? `the key in ${keyName}` : 'a request without a key'
    const where = keyName ?? (url && `"api_key_env" in ${MODEL_SETTING}`)
    return [`refused ${key}`, where && `Check ${where}.`]
  }
  if (status === 404)
    return [
      'does not know that model or address',
      url && `Check "name" and "base_url" (${url}) in ${MODEL_SETTING}.`,
    ]
  if (status === 429)
    return ['got too many requests', 'Wait, or raise the limit at the provider. Carabiner does not retry.']
  return status >= 500 ? ['failed', 'Try again later.'] : ['refused the request']
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server is listening there',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its host name could not be looked up',
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

/** Libraries wrap the original error, some of them twice. */
function withinCauses(error: unknown, is: (one: unknown) => boolean): unknown {
  let one = error
  for (let depth = 0; depth < 6 && one !== undefined && one !== null; depth++) {
    if (is(one)) return one
    one = one instanceof Error ? one.cause : undefined
  }
  return undefined
}
