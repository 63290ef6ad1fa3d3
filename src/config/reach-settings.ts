// What hooks may reach beyond programs: servers, models, MCP servers. All of it is the user's to say.

import { isObject } from '../core/json.js'
import type { Check, Checks } from '../core/options.js'
import type { HttpTerms } from '../runners/http/http-hook.js'
import { privateHostProblem } from '../runners/http/private-hosts.js'
import { urlPatternProblem } from '../runners/http/url-patterns.js'
import type { McpServerSettings } from '../runners/mcp-tool/server-settings.js'
import { type ModelSettings, modelSettingsProblem } from '../runners/model/model-source.js'

export interface ReachSettings extends HttpTerms {
  /** Whom prompt and agent hooks ask, where the host has no model of its own. */
  readonly model: ModelSettings | null
  /** Servers whose tools MCP hooks call, by name. */
  readonly mcp_servers: Readonly<Record<string, McpServerSettings>>
}

export const DEFAULT_REACH: ReachSettings = {
  allowed_http_urls: null,
  http_allowed_env_vars: null,
  allowed_private_hosts: [],
  model: null,
  mcp_servers: {},
}

/** Claude Code's names for the same, at the top of its settings file. */
export const CLAUDE_KEYS = {
  allowedHttpHookUrls: 'allowed_http_urls',
  httpHookAllowedEnvVars: 'http_allowed_env_vars',
} as const

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
    orNull(isListOf((item) => /^[A-Za-z_]\w*$/.test(item))),
    'a list of names of variables, or null for those that a hook lists itself',
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
    (value) => isObject(value) && Object.values(value).every(isServer),
    'an object of servers, each with a "command" (and "args", "env", "cwd") or a "url" (and "headers")',
  ],
}

/** What is wrong, in more words than the table has. */
export function reachProblem(key: string, value: unknown): string | undefined {
  return key === 'model' ? modelSettingsProblem(value) : undefined
}

const isText = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
const isTexts = (value: unknown) =>
  isObject(value) && Object.values(value).every((one) => typeof one === 'string')

const STDIO: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => value === 'stdio',
  command: isText,
  args: isListOf((item) => !item.includes('\0')),
  env: isTexts,
  cwd: isText,
}
const HTTP: typeof STDIO = {
  type: (value) => value === 'http',
  url: (value) => typeof value === 'string' && URL.canParse(value) && /^https?:/i.test(value),
  headers: isTexts,
}

function isServer(value: unknown): boolean {
  if (!isObject(value)) return false
  const fields = 'command' in value ? STDIO : 'url' in value ? HTTP : {}
  return Object.entries(value).every(([key, one]) => Object.hasOwn(fields, key) && fields[key]?.(one))
}
