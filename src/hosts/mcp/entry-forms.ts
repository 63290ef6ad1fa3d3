// How agents write MCP servers down: lists, and the headers of a server at an address.

import { isObject } from '../../core/base/json.js'

type Fields = Readonly<Record<string, unknown>>

/** A header whose value is text, or a variable of the agent's environment. */
export interface Header {
  readonly name: string
  readonly value?: string
  readonly variable?: string
  /** Before the variable. */
  readonly scheme?: string
}

export interface Remote {
  readonly headers: readonly Header[]
  /** Without its address and its headers. */
  readonly rest: Fields
}

interface EntryForm {
  /** Servers may stand in a list, and name themselves. */
  readonly hasLists?: true
  /** Headers may name variables of the agent. */
  readonly hasVariables?: true
  /** Why only the agent can start this server. */
  readonly problem?: (entry: Fields) => string | undefined
  readonly read: (entry: Fields) => Remote | { readonly why: string }
  readonly write: (remote: Remote) => Fields
}

/** Fields by which agents find a server without its command. */
export function isAddress(name: string): boolean {
  return /(?:ur[li]|tcp|endpoint|address|socket|host)$/i.test(name)
}

/** How only the agent logs in. */
const LOGIN = /^(?:o?auth|scopes$|headersHelper$)/i
const BROWSER = 'it may log in through a browser, which only the agent can do'

/** What an entry without a command says. Says why if only the agent can use it. */
export function remoteOf(
  entry: Fields,
  { form, address }: { readonly form: McpForm; readonly address: string },
): (Remote & { readonly url: string }) | { readonly why: string } {
  const { [address]: url, ...others } = entry
  const more = Object.keys(others).find(isAddress)
  if (typeof url !== 'string')
    return { why: more === undefined ? `it has neither a command nor a ${address}` : notIn(address) }
  if (more !== undefined) return { why: 'it has several addresses' }
  const problem = addressProblem(url, entry.type)
  if (problem !== undefined) return { why: problem }
  if (Object.keys(entry).some((name) => LOGIN.test(name))) return { why: BROWSER }
  const remote = FORMS[form].read(others)
  if ('why' in remote) return remote
  const isLocal = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(url)
  return remote.headers.length > 0 || isLocal ? { ...remote, url } : { why: BROWSER }
}

function notIn(address: string): string {
  return `its address is not in ${address}, where one that speaks streamable HTTP is`
}

function addressProblem(url: string, type: unknown): string | undefined {
  // An agent puts its variables in.
  if (!/^https?:\/\//.test(url) || !(url.includes('$') || URL.canParse(url)))
    return 'its address is not one of http:// or https://'
  if (type === 'sse' || /\/sse\/?$/.test(url)) return 'it speaks SSE, not streamable HTTP'
  if (!/^(?:streamable[-_]?)?http$/i.test(String(type ?? 'http')))
    return 'its type is not that of streamable HTTP'
  // Every process can read a command line.
  if (/^https?:\/\/[^/?#]*@/.test(url)) return 'its address may contain a password'
  return /[?#]/.test(url) ? 'its address has a query, which may contain a key' : undefined
}

export type McpForm = 'plain' | 'continue' | 'codex'

export const FORMS: Readonly<Record<McpForm, EntryForm>> = {
  plain: {
    problem: ({ source = 'custom' }) => (source === 'custom' ? undefined : 'it comes from an extension'),
    read: ({ headers = {}, ...rest }) => {
      const read = texts(headers)
      return read ? { headers: read, rest } : { why: 'its headers are not texts' }
    },
    write: ({ headers, rest }) => ({ ...rest, ...(headers.length > 0 && { headers: valuesOf(headers) }) }),
  },
  continue: {
    hasLists: true,
    problem: ({ uses }) => (uses === undefined ? undefined : "it comes from the agent's own hub"),
    read: ({ requestOptions = {}, ...rest }) => {
      const { headers = {}, ...more } = isObject(requestOptions) ? requestOptions : { other: true }
      const read = texts(headers)
      if (!read || Object.keys(more).length > 0 || rest.apiKey !== undefined)
        return { why: 'it needs requestOptions or an apiKey, which only the agent can use' }
      return { headers: read, rest }
    },
    write: ({ headers, rest }) => ({
      ...rest,
      ...(headers.length > 0 && { requestOptions: { headers: valuesOf(headers) } }),
    }),
  },
  codex: {
    hasVariables: true,
    read: ({ http_headers = {}, env_http_headers = {}, bearer_token_env_var, ...rest }) => {
      const [fixed, fromEnv] = [texts(http_headers), texts(env_http_headers)]
      if (!fixed || !fromEnv) return { why: 'its headers are not texts' }
      const token = typeof bearer_token_env_var === 'string' ? bearer_token_env_var : undefined
      const variables = fromEnv.map(({ name, value }) => ({ name, variable: value as string }))
      const bearer =
        token === undefined ? [] : [{ name: 'Authorization', scheme: 'Bearer ', variable: token }]
      const names = [...variables, ...bearer].map(({ variable }) => variable)
      if (names.some((name) => !/^[A-Za-z_]\w*$/.test(name))) return { why: 'its variables have odd names' }
      return {
        headers: [...fixed, ...variables, ...bearer],
        // Codex passes only these and a few of its own to a program.
        rest: names.length === 0 ? rest : { ...rest, env_vars: [...listOf(rest.env_vars), ...names] },
      }
    },
    write: ({ headers, rest: { env_vars, ...rest } }) => {
      const bearer = headers.find(({ scheme }) => scheme !== undefined)?.variable
      const variables = headers.flatMap(({ name, variable, scheme }) =>
        variable === undefined || scheme !== undefined ? [] : [[name, variable] as const],
      )
      const fixed = headers.filter(({ value }) => value !== undefined)
      const names = new Set(headers.map(({ variable }) => variable))
      const left = listOf(env_vars).filter((name) => !names.has(name as string))
      return {
        ...rest,
        ...(fixed.length > 0 && { http_headers: valuesOf(fixed) }),
        ...(variables.length > 0 && { env_http_headers: Object.fromEntries(variables) }),
        ...(bearer !== undefined && { bearer_token_env_var: bearer }),
        ...(left.length > 0 && { env_vars: left }),
      }
    },
  },
}

function texts(headers: unknown): readonly Header[] | undefined {
  if (!isObject(headers)) return undefined
  const all = Object.entries(headers)
  if (all.some(([name, value]) => typeof value !== 'string' || !/^[\w-]+$/.test(name))) return undefined
  return all.map(([name, value]) => ({ name, value: value as string }))
}

function valuesOf(headers: readonly Header[]): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(({ name, value = '' }) => [name, value]))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
