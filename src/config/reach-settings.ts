// Checks the settings that limit what hooks may reach: servers, models, MCP servers. Only the user may set them.

import { isObject } from '../core/base/json.js'
import type { Check, Checks } from '../core/base/options.js'
import { didYouMean, shown } from '../core/base/text.js'
import { privateHostProblem, urlPatternProblem } from '../runners/http/allow-lists.js'
import type { ReachSettings } from '../runners/kind.js'
import { modelSettingsProblem } from '../runners/model/model-source.js'
import type { Advice } from './notes.js'

export const DEFAULT_REACH: ReachSettings = {
  allowed_http_urls: null,
  http_allowed_env_vars: null,
  allowed_private_hosts: [],
  model: null,
  mcp_servers: {},
}

/** Claude Code's names for two of them, at the top of its settings file. */
export const CLAUDE_KEYS = {
  allowedHttpHookUrls: 'allowed_http_urls',
  httpHookAllowedEnvVars: 'http_allowed_env_vars',
} as const

const isVariable = (item: string) => /^[A-Za-z_]\w*$/.test(item)

const isListOf = (fits: (item: string) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && fits(item))

const orNull =
  (accepts: Check[0]): Check[0] =>
  (value) =>
    value === null || accepts(value)

export const REACH_CHECKS: Checks<ReachSettings> = {
  allowed_http_urls: [
    orNull(isListOf((item) => urlPatternProblem(item) === undefined)),
    'a list of URLs with * for any text, such as ["https://hooks.example.com/*"], or null for any URL',
  ],
  http_allowed_env_vars: [
    orNull(isListOf(isVariable)),
    'a list of variable names, or null to allow those that a hook lists itself',
  ],
  allowed_private_hosts: [
    isListOf((item) => privateHostProblem(item) === undefined),
    'a list of hosts, hosts with a port, or ranges, such as ["localhost:8787", "10.0.0.0/8"]',
  ],
  model: [
    orNull((value) => modelSettingsProblem(value) === undefined),
    'an object with "provider" and "name", or with "command"',
  ],
  mcp_servers: [
    (value) => isObject(value) && Object.values(value).every((one) => serverProblem(one) === undefined),
    'an object of servers, each with a "command" (and "args", "env", "cwd") or a "url" (and "headers")',
  ],
}

// ---- malformed values -----------------------------------------------------------------------------------------

interface Left {
  /** Undefined if no part of it is usable. */
  readonly value: unknown
  /** `at` is the key or index inside the value. */
  readonly problems: readonly (Advice & { readonly text: string; readonly at?: string | number })[]
}

const ITEM_PROBLEMS: Readonly<Record<string, (item: string) => string | undefined>> = {
  allowed_http_urls: urlPatternProblem,
  http_allowed_env_vars: (item) => (isVariable(item) ? undefined : 'it is not the name of a variable'),
  allowed_private_hosts: privateHostProblem,
}

/**
 * Decides which part of a malformed setting stays in force, and what to report about the rest. An allow list keeps its
 * valid entries, and never falls back to the default. Returns undefined for other settings.
 */
export function reachLeft(key: string, value: unknown, problem: string): Left | undefined {
  if (key === 'model') {
    const text = `"model" ${modelSettingsProblem(value)}; it is ignored`
    return { value: undefined, problems: [{ text, todo: 'Correct "model", or remove it.' }] }
  }
  if (key === 'mcp_servers' && isObject(value)) return serversLeft(value)
  const itemProblem = Object.hasOwn(ITEM_PROBLEMS, key) ? ITEM_PROBLEMS[key] : undefined
  return itemProblem && listLeft(key, value, problem, itemProblem)
}

function listLeft(
  key: string,
  value: unknown,
  problem: string,
  itemProblem: (item: string) => string | undefined,
): Left {
  if (!Array.isArray(value)) {
    const todo = `Change "${key}" from ${shown(value)} to ${REACH_CHECKS[key as keyof ReachSettings][1]}.`
    return { value: [], problems: [{ text: `${problem}; nothing is allowed until it is corrected`, todo }] }
  }
  const wrong = value.map((item: unknown) =>
    typeof item === 'string' ? itemProblem(item) : 'it must be a string',
  )
  return {
    value: value.filter((_, i) => wrong[i] === undefined),
    problems: wrong.flatMap((why, at) =>
      why === undefined
        ? []
        : [
            {
              text: `"${key}": ${shown(value[at])} allows nothing: ${why}`,
              at,
              todo: `Correct ${shown(value[at])}, or remove it.`,
            },
          ],
    ),
  }
}

function serversLeft(servers: { readonly [name: string]: unknown }): Left {
  const read = Object.entries(servers).map(([name, server]) => ({ name, server, why: serverProblem(server) }))
  return {
    value: Object.fromEntries(read.filter(({ why }) => !why).map(({ name, server }) => [name, server])),
    problems: read.flatMap(({ name, why }) =>
      why === undefined
        ? []
        : [
            {
              text: `mcp_servers.${name}${why}; this server is left out`,
              at: name,
              todo: `Correct the server ${shown(name)}, or remove it.`,
            },
          ],
    ),
  }
}

// ---- servers --------------------------------------------------------------------------------------------------

const isText = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
const isTexts = (value: unknown) =>
  isObject(value) && Object.values(value).every((one) => typeof one === 'string')

const STDIO: Readonly<Record<string, Check>> = {
  type: [(value) => value === 'stdio', '"stdio"'],
  command: [isText, 'a string, the program'],
  args: [isListOf((item) => !item.includes('\0')), 'a list of strings'],
  env: [isTexts, 'an object of strings'],
  cwd: [isText, 'a folder'],
}
const HTTP: typeof STDIO = {
  type: [(value) => value === 'http', '"http"'],
  url: [
    (value) => typeof value === 'string' && URL.canParse(value) && /^https?:/i.test(value),
    'a URL that begins with http:// or https://',
  ],
  headers: [isTexts, 'an object of strings'],
}

/** Continues a sentence after the server's name. Values are not shown: some of them are secrets. */
function serverProblem(server: unknown): string | undefined {
  if (!isObject(server)) return ' must be an object with a "command" or a "url"'
  const kind = 'command' in server ? STDIO : 'url' in server ? HTTP : undefined
  const keys = Object.keys(kind ?? { ...STDIO, ...HTTP })
  const unknown = Object.keys(server).find((key) => !keys.includes(key))
  if (unknown !== undefined)
    return ` has no key ${shown(unknown)}${didYouMean(unknown, keys) || `; its keys are ${keys.join(', ')}`}`
  if (!kind) return ' needs a "command" or a "url"'
  const wrong = keys.find((key) => Object.hasOwn(server, key) && !kind[key]?.[0](server[key]))
  return wrong && `.${wrong} must be ${kind[wrong]?.[1]}`
}
