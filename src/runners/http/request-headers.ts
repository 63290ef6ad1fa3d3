// The headers of a request: ours, and the hook's own with their variables filled in.

import { perCaller } from '../../core/base/caller.js'
import { type Diagnostic, HookError } from '../../core/base/errors.js'
import { keepSecret } from '../../core/base/secrets.js'
import { shown } from '../../core/base/text.js'

/** A hook's headers, and the settings that limit them. */
export interface HeaderTerms {
  readonly headers: Readonly<Record<string, string>>
  /** Variables that the hook may use. Empty if it lists none. */
  readonly own: readonly string[]
  /** Limits `own` to these. Null: no limit. */
  readonly allowed: readonly string[] | null
  readonly env: Readonly<Record<string, string | undefined>>
}

/** These frame the message and say where it goes. With a second value, two servers could read one request differently. */
const OURS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Characters that every server reads the same way. */
const VALUE = /^[\t\x20-\x7e]*$/
const VARIABLE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g
const SECRET_HEADER = /auth|cookie|credential|key|passw|secret|signature|token/i

/** Names are in lower case. Throws HOOK_REFUSED for a value that would be more than one header. */
export function ownHeaders(terms: HeaderTerms, note: (d: Diagnostic) => void): Record<string, string> {
  const result: Record<string, string> = {}
  const secrets: string[] = []
  for (const [name, text] of Object.entries(terms.headers)) {
    if (!NAME.test(name)) throw refused(`${shown(name)} is not a valid header name`)
    const key = name.toLowerCase()
    if (OURS.has(key)) {
      note({
        code: 'unknown-key',
        text: `Carabiner sets the header "${name}" itself, so the hook's value is not sent`,
      })
      continue
    }
    const value = text.replace(VARIABLE, (_, braced?: string, bare?: string) => {
      const found = variable(braced ?? bare ?? '', name, terms, note)
      secrets.push(found)
      return found
    })
    if (!VALUE.test(value)) throw refused(unfit(name, value))
    if (SECRET_HEADER.test(key)) secrets.push(value, value.slice(value.indexOf(' ') + 1))
    result[key] = value.trim()
  }
  keepNew(secrets)
  return result
}

/** A missing variable is replaced with nothing, as in Claude Code, and reported. */
function variable(
  name: string,
  header: string,
  { own, allowed, env }: HeaderTerms,
  note: (d: Diagnostic) => void,
): string {
  const missing = (why: string) => {
    note({ code: 'header-incomplete', text: `the header "${header}" is sent without $${name}: ${why}` })
    return ''
  }
  if (!own.includes(name)) return missing('"allowedEnvVars" of the hook does not list it')
  if (allowed && !allowed.includes(name))
    return missing('"http_allowed_env_vars" under "hooks" in the settings does not list it')
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  return value === undefined || value === '' ? missing('it is not set') : value
}

function unfit(name: string, value: string): string {
  if (/[\r\n]/.test(value))
    return `the value of the header "${name}" contains a line break, so it would be more than one header`
  return `the value of the header "${name}" contains characters that a header cannot carry`
}

function refused(text: string): HookError {
  return new HookError('HOOK_REFUSED', `nothing was sent: ${text}`, {
    hint: 'Fix "headers" of the hook, or the variable that the header names.',
  })
}

const recent = perCaller(() => ({ secrets: [] as readonly string[] }))

/** Skips secrets of recent requests, because this runs for every event. */
function keepNew(secrets: readonly string[]): void {
  const kept = recent()
  if (secrets.every((secret) => secret === '' || kept.secrets.includes(secret))) return
  keepSecret(secrets)
  kept.secrets = [...secrets, ...kept.secrets].slice(0, MOST_KEPT)
}

const MOST_KEPT = 64

/** Credentials in `https://user:password@host` are sent but never shown. Undefined if there are none. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const [user, word] = [decoded(username), decoded(password)]
  const credentials = Buffer.from(`${user}:${word}`).toString('base64')
  keepSecret([credentials, password, word, ...(password === '' ? [username, user] : [])])
  return `Basic ${credentials}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
