// The schemas of hooks.json and settings.json.

import { DEFAULT_MERGED, type MergedSettings, OWN_SETTINGS } from '../../config/merged-settings.js'
import { SETTINGS } from '../../core/session/embedder.js'
import type { ReachSettings } from '../../runners/kind.js'
import { PROCESS } from '../../runners/process/kind.js'
import { aliasPatterns, eventProperties, fieldProperties, handlerDefinitions } from './handler-schema.js'
import {
  FLAG,
  OBJECT,
  orNull,
  propertiesOf,
  REMARKS,
  type Schema,
  TEXT,
  TEXT_MAP,
  TEXTS,
  URL_TEXT,
  WRITTEN,
  wantedOf,
} from './shapes.js'

/** Without its `$schema` and `$id`. */
export function hooksSchema(): Schema {
  const events = eventProperties()
  return {
    title: 'Hooks of Carabiner',
    description:
      '.amplifier/hooks/hooks.json, and hooks.json of a plugin; comments and trailing commas are fine.',
    type: 'object',
    properties: {
      $schema: TEXT,
      carabiner: { description: 'For a plugin: the format it was written for. Default 1.', const: 1 },
      description: { description: 'For people.' },
      matching: {
        description: 'Whether a pattern may match any part of a name, or must match all of it.',
        enum: ['search', 'fullmatch'],
        default: 'search',
      },
      priority: {
        description: 'For a plugin: hooks with a lower number run first. Default 20.',
        type: 'number',
      },
      env: {
        description: 'Variables for the command hooks of this file.',
        type: 'object',
        additionalProperties: { type: ['string', 'number', 'boolean'] },
      },
      hooks: {
        description: 'Groups of hooks, by event.',
        anyOf: [{ $ref: '#/$defs/events' }, { $ref: '#/$defs/list' }],
      },
      processes: { description: 'Hooks that keep running, by name.', $ref: '#/$defs/processes' },
      modules: {
        description: 'JavaScript files whose exports name their events, such as PreToolUse.',
        type: 'array',
        items: { anyOf: [WRITTEN, { $ref: '#/$defs/module' }] },
      },
      ...switches(),
    },
    // A file may hold events without a "hooks" key.
    patternProperties: { [`^(?:${Object.keys(events).join('|')})$`]: { $ref: '#/$defs/groups' } },
    anyOf: [
      { required: ['hooks'] },
      { required: ['processes'] },
      { required: ['modules'] },
      ...Object.keys(events).map((name) => ({ required: [name] })),
    ],
    $defs: {
      events: {
        type: 'object',
        properties: { ...events, description: {}, ...OF_PROCESSES },
        patternProperties: { ...aliasPatterns(), ...REMARKS },
        additionalProperties: false,
      },
      list: {
        type: 'array',
        items: { required: ['event'], properties: { event: TEXT }, $ref: '#/$defs/group' },
      },
      ...handlerDefinitions(),
      ...processDefinitions(),
    },
  }
}

export function settingsSchema(): Schema {
  return {
    title: 'Settings of Carabiner',
    description: '.amplifier/settings.json, yours or of a project; a project can only make it stricter.',
    type: 'object',
    properties: {
      $schema: TEXT,
      hooks: {
        description: 'How hooks run, and hooks by event.',
        type: 'object',
        properties: { ...settingProperties(), ...eventProperties(), description: {}, ...OF_PROCESSES },
        patternProperties: { ...aliasPatterns(), ...REMARKS },
        additionalProperties: false,
      },
      ...switches(),
    },
    $defs: { ...handlerDefinitions(), ...processDefinitions() },
  }
}

/** PicoClaw's keys under `hooks`. */
const OF_PROCESSES = { processes: { $ref: '#/$defs/processes' }, defaults: OBJECT, builtins: OBJECT }

/** Claude Code's keys at the top of either file. */
function switches(): Readonly<Record<string, Schema>> {
  return {
    disableAllHooks: { description: 'Run no hook at all; in a project, none of its own.', ...FLAG },
    allowedHttpHookUrls: { description: SETTING_WORDS.allowed_http_urls, ...REACH.allowed_http_urls },
    httpHookAllowedEnvVars: {
      description: SETTING_WORDS.http_allowed_env_vars,
      ...REACH.http_allowed_env_vars,
    },
  }
}

// ---- settings -------------------------------------------------------------------------------------------------

const SETTING_WORDS: Readonly<Record<keyof MergedSettings, string>> = {
  on_failure: '"block" closes every gate whose hook fails.',
  injection_size_limit: 'Bytes of one injection; null for no limit.',
  injection_budget_per_turn: 'Tokens of all injections of one turn; null for no limit.',
  stop_block_cap: 'How often Stop may be refused without a tool call in between.',
  stop_block_total: 'How often Stop may be refused since the last prompt.',
  recheck:
    'For gates that judged a call before it was rewritten: "final" shows them the final call, "all" runs them again with all effects, "skipped" only warns you.',
  protect_system_messages: 'Revert what hooks change in system messages on ModelRequest.',
  audit_on_failure: '"block" closes every gate whose event cannot be recorded.',
  audit_calls:
    'Whether the audit keeps the calls that gates judged, without secrets; false keeps digests only.',
  allowed_http_urls: 'URLs that http hooks may call, with * for any text; null for any.',
  http_allowed_env_vars: 'Variables that headers of http hooks may use; null for those that a hook lists.',
  allowed_private_hosts: 'Hosts, hosts with a port, or ranges of this network that http hooks may call.',
  model: 'The model that prompt and agent hooks ask, if the host has none of its own.',
  mcp_servers: 'Servers whose tools MCP hooks call, by name.',
  enabled: 'Whether any hook runs.',
  allow_user_hooks: 'Whether your own hooks run.',
  allow_project_hooks: 'Whether hooks of projects run.',
  default_timeout: 'Seconds for a hook that names none.',
  max_timeout: 'The most seconds that a hook may have.',
  env: 'Which variables of the environment hooks get: all of them, or only those they need.',
  trust_missing:
    'What happens to gates that you trusted and that are no longer in the project: they go on running, everything that they would judge is refused, or you are only told.',
  bypass: 'Whether CARABINER_OFF=1 is obeyed.',
  audit: 'Whether the command line keeps an audit; "fsync" keeps one that survives a power cut.',
}

const REACH: { readonly [K in keyof ReachSettings]: Schema } = {
  allowed_http_urls: orNull(TEXTS),
  http_allowed_env_vars: orNull({ type: 'array', items: { type: 'string', pattern: '^[A-Za-z_]\\w*$' } }),
  allowed_private_hosts: TEXTS,
  model: orNull({
    anyOf: [
      {
        type: 'object',
        required: ['provider', 'name'],
        properties: {
          provider: { enum: ['anthropic', 'openai'] },
          name: WRITTEN,
          base_url: URL_TEXT,
          api_key_env: { type: 'string', pattern: '^\\w+$' },
        },
        additionalProperties: false,
      },
      {
        type: 'object',
        required: ['command'],
        properties: { command: { ...TEXTS, minItems: 1 } },
        additionalProperties: false,
      },
    ],
  }),
  mcp_servers: {
    type: 'object',
    additionalProperties: {
      anyOf: [
        {
          type: 'object',
          required: ['command'],
          properties: {
            type: { const: 'stdio' },
            command: WRITTEN,
            args: TEXTS,
            env: TEXT_MAP,
            cwd: WRITTEN,
          },
          additionalProperties: false,
        },
        {
          type: 'object',
          required: ['url'],
          properties: { type: { const: 'http' }, url: URL_TEXT, headers: TEXT_MAP },
          additionalProperties: false,
        },
      ],
    },
  },
}

function settingProperties(): Readonly<Record<string, Schema>> {
  const properties = propertiesOf(wantedOf({ ...SETTINGS, ...OWN_SETTINGS }), SETTING_WORDS, {
    ...REACH,
    audit: { enum: ['on', 'off', 'fsync'] },
  })
  const defaults = DEFAULT_MERGED as unknown as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(properties).map(([key, one]) => [key, { ...one, default: defaults[key] }]),
  )
}

// ---- processes ------------------------------------------------------------------------------------------------

function processDefinitions(): Readonly<Record<string, Schema>> {
  return {
    processes: { type: 'object', additionalProperties: { $ref: '#/$defs/process' } },
    process: {
      type: 'object',
      required: PROCESS.required,
      properties: fieldProperties(PROCESS.fields),
    },
  }
}
