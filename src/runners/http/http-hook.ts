// An HTTP hook: posts the payload to a server and reads the body of its answer like the output of a command.

import { HookError, textOf } from '../../core/base/errors.js'
import { plainText, shown } from '../../core/base/text.js'
import type { HookResult } from '../../core/events/result.js'
import { isGuard } from '../../core/hooks/gate.js'
import { type Hook, type HookContext, type HookEvent, needsTrust } from '../../core/hooks/hook.js'
import { type Asker, decode, decodeUnfinished } from '../../systems/claude-code/decode.js'
import { encode } from '../../systems/claude-code/encode.js'
import { isAsyncLine } from '../../systems/claude-code/stdout.js'
import type { HookSpec, Surroundings } from '../hook-spec.js'
import { parentFor } from '../program/environment.js'
import { announce, bounded } from '../telling.js'
import { isAllowedUrl } from './allow-lists.js'
import type { Reply } from './exchange.js'
import { badReply } from './failures.js'
import { basicCredentials, ownHeaders } from './request-headers.js'

/** The fields that only an HTTP hook has. */
export interface HttpHandler {
  /** http: or https: */
  readonly url: string
  /** `$NAME` and `${NAME}` in values are environment variables. */
  readonly headers?: Readonly<Record<string, string>>
  /** Variables that headers may name. */
  readonly allowedEnvVars?: readonly string[]
  /** Shown while it runs. */
  readonly statusMessage?: string
}

/** Settings for all HTTP hooks. */
export interface HttpTerms {
  /** The URL must match one of these patterns with `*`. Null allows any URL. */
  readonly allowed_http_urls: readonly string[] | null
  /** Limits `allowedEnvVars` to these. Null: no limit. */
  readonly http_allowed_env_vars: readonly string[] | null
  /** `host`, `host:port` or a range (`10.0.0.0/8`) outside the public internet that hooks may reach. */
  readonly allowed_private_hosts: readonly string[]
}

/** `terms` is read at each call, because settings may change while the hook lives. */
export function httpHook(
  spec: HookSpec<HttpHandler>,
  surroundings: Surroundings,
  terms: () => HttpTerms,
): Hook {
  const { hook, handler } = spec
  const target = URL.canParse(handler.url) ? new URL(handler.url) : undefined
  const credentials = target && basicCredentials(target)
  const run = async (event: HookEvent, context: HookContext) => {
    const { allowed_http_urls, http_allowed_env_vars, allowed_private_hosts } = terms()
    const url = checked(target, handler.url, allowed_http_urls)
    const { headers = {}, allowedEnvVars: own = [] } = handler
    const reader = () => ({ scope: hook.origin.scope, isGuard: isGuard(hook) })
    const env = own.length > 0 ? parentFor(reader(), spec.place.projectDir) : {}
    const given = ownHeaders({ headers, own, allowed: http_allowed_env_vars, env }, context.note)
    announce(spec, surroundings, context.note)
    const asker: Asker = { name: hook.name, onFailure: context.onFailure, late: hook.detached }
    const soFar = ({ body }: Reply) => {
      const word = decodeUnfinished(event, printedBy(body), asker, context.note)
      if (word) context.lastWord(word)
    }
    const { ask } = await import('./exchange.js')
    const reply = await ask(
      {
        url,
        headers: { ...ALWAYS, ...(credentials !== undefined && { authorization: credentials }), ...given },
        body: encode(event),
        own: isUsersOwn(spec),
        allowedPrivateHosts: allowed_private_hosts,
        soFar,
      },
      context.onAbort,
    )
    if (reply.body !== '') context.printed({ stdout: bounded(reply.body) })
    return answer({ event, asker, url, note: context.note }, reply)
  }
  return { ...hook, run }
}

/** A plugin or skill in the user's folder does not count, because somebody else wrote it. */
function isUsersOwn({ hook, place }: HookSpec<HttpHandler>): boolean {
  return !needsTrust(hook.origin.scope) && place.plugin === undefined && place.skillDir === undefined
}

const ALWAYS = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'carabiner' }

function checked(url: URL | undefined, text: string, patterns: readonly string[] | null): URL {
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new HookError('HOOK_REFUSED', `${shown(text)} is not an http or https URL`, {
      hint: '"url" must begin with http:// or https://.',
    })
  }
  if (isAllowedUrl(url, patterns)) return url
  throw new HookError(
    'HOOK_REFUSED',
    `nothing was sent to ${url.host}: no pattern in allowed_http_urls matches its URL`,
    {
      hint: `To allow it, add a pattern such as "${url.origin}/*" to "allowed_http_urls" under "hooks" in ~/.amplifier/settings.json.`,
    },
  )
}

// ---- the answer -----------------------------------------------------------------------------------------------

interface Case {
  readonly event: HookEvent
  readonly asker: Asker
  readonly url: URL
  readonly note: HookContext['note']
}

/**
 * A status from 200 to 299 with a JSON object is an answer, and with an empty body it means no objection. An answer with
 * another status, or one that is incomplete or not a JSON object, only counts if it closes the gate.
 */
function answer({ event, asker, url, note }: Case, reply: Reply): HookResult {
  const { body } = reply
  const problem = statusProblem(reply, url) ?? reply.failure ?? problemOf(body, note)
  if (!problem) return decode(event, printedBy(withoutAsync(body)), asker, note)
  const closed = decodeUnfinished(event, printedBy(body), asker, note)
  if (!closed) throw problem
  note({ code: problem.code, text: `${problem.message}; its ${closed.action} counts` })
  return closed
}

function statusProblem({ status, headers, body }: Reply, url: URL): HookError | undefined {
  if (status >= 200 && status <= 299) return undefined
  if (status >= 300 && status <= 399) return redirected(status, headers.location, url)
  const text = `${url.host} answered with status ${status}, so its answer was ignored${excerpt(body)}`
  return badReply(text, STATUS_HINTS[status])
}

/** A server cannot answer later, so the rest of its answer counts now. */
function withoutAsync(body: string): string {
  if (!isAsyncLine(body)) return body
  const { async: _, asyncTimeout: __, ...rest } = JSON.parse(body.trim()) as Record<string, unknown>
  return Object.keys(rest).length > 0 ? JSON.stringify(rest) : body
}

/** The body as if a program had printed it. */
function printedBy(body: string) {
  return { code: 0, signal: null, stdout: body, stderr: '', cut: false }
}

/** Hints for statuses that are about the request. */
const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: 'Check "headers" of the hook, and the variables that they name.',
  403: 'Check "headers" of the hook, and the variables that they name.',
  404: 'Check the path of the URL.',
  405: 'Check the path of the URL. The server must accept POST there.',
}

function redirected(status: number, location: string | undefined, url: URL): HookError {
  // Shows only the host, because the rest of the address may contain a secret.
  const to = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url).host : ''
  const where = to === '' ? '' : ` to ${plainText(to)}`
  return badReply(
    `${url.host} redirects${where} (status ${status}), but redirects are not followed`,
    NAME_THE_LAST,
  )
}

const NAME_THE_LAST = 'If you trust the server that it redirects to, put that URL into the hook.'

/** Unlike a command's, a server's plain text never becomes context. */
function problemOf(body: string, note: HookContext['note']): HookError | undefined {
  const text = body.trim()
  if (text === '') return undefined
  if (!text.startsWith('{')) {
    return new HookError('ANSWER_INVALID', `its answer is not a JSON object${excerpt(body)}`, {
      hint: ONE_OBJECT,
    })
  }
  const parsed = parse(text)
  if (parsed instanceof HookError) return parsed
  if ('async' in parsed && parsed.async === true) {
    note({
      code: 'async-verdict-ignored',
      text: 'it answered "async":true, but a server cannot answer later',
    })
  }
  return undefined
}

const ONE_OBJECT =
  'The server must answer with one JSON object, as Claude Code documents it, or with nothing.'

function parse(text: string): object | HookError {
  try {
    return JSON.parse(text) as object
  } catch (error) {
    const problem = `its answer begins like a JSON object but is not valid JSON: ${textOf(error).slice(0, 200)}`
    return new HookError('ANSWER_INVALID', problem, { hint: ONE_OBJECT, cause: error })
  }
}

/** The beginning of a text, for people. */
function excerpt(body: string): string {
  const text = plainText(body.slice(0, EXCERPT)).replace(/\s+/g, ' ').trim()
  return text === '' ? '' : `: ${text}${body.length > EXCERPT ? '…' : ''}`
}

const EXCERPT = 200
