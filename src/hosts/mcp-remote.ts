// An MCP server at an address, as agents write it down: its headers, and where their values come from.

import { isObject } from '../core/base/json.js'
import type { FileSyntax } from './mcp-servers.js'

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
  /** Without its headers. */
  readonly rest: Fields
}

interface RemoteForm {
  readonly read: (entry: Fields) => Remote | { readonly why: string }
  readonly write: (remote: Remote) => Fields
}

const BROWSER = 'it may log in through a browser, which only the agent can do'

/** What an entry says apart from its `url`. Says why if only the agent can use it. */
export function remoteOf(entry: Fields, syntax: FileSyntax): Remote | { readonly why: string } {
  const { url, type } = entry
  if (typeof url !== 'string') return { why: 'it has neither a command nor a url' }
  if (type === 'sse' || /\/sse\/?$/.test(url)) return { why: 'it speaks SSE, not streamable HTTP' }
  if (entry.oauth !== undefined || entry.scopes !== undefined || entry.oauth_resource !== undefined)
    return { why: BROWSER }
  const remote = FORMS[syntax].read(entry)
  if ('why' in remote || remote.headers.length > 0) return remote
  const isLocal = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(url)
  return isLocal ? remote : { why: BROWSER }
}

export function remoteEntry(remote: Remote, syntax: FileSyntax): Fields {
  return FORMS[syntax].write(remote)
}

// ---- how agents write it: those with YAML are Continue, those with TOML are Codex ------------------------------

const FORMS: Readonly<Record<FileSyntax, RemoteForm>> = {
  json: {
    read: ({ headers = {}, ...rest }) => {
      const read = texts(headers)
      return read ? { headers: read, rest } : { why: 'its headers are not texts' }
    },
    write: ({ headers, rest }) => ({ ...rest, ...(headers.length > 0 && { headers: valuesOf(headers) }) }),
  },
  yaml: {
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
  toml: {
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
