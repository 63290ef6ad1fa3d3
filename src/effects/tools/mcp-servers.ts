// Well-known MCP servers, by what their tools are called. Add a server as an entry with examples.

import { isObject, type Json } from '../../core/base/json.js'
import { cloud, type Draft, fetched, hostOf, send } from '../program.js'
import { mongoEffects, sqlEffects } from '../programs/sql.js'

export interface McpCall {
  readonly server: string
  readonly tool: string
  readonly input: Json
}

interface Server {
  /** Parts of the server's name, between `-` and `_`. */
  readonly names: readonly string[]
  /** Undefined for a tool that the entry does not know. */
  readonly effects: (call: McpCall) => readonly Draft[] | undefined
  readonly examples: readonly {
    readonly tool: string
    readonly input: Readonly<Record<string, Json>>
    readonly effects: readonly Readonly<Record<string, unknown>>[]
  }[]
}

/** Undefined if no entry knows the tool. */
export function serverEffects(call: McpCall): readonly Draft[] | undefined {
  const parts = call.server.split(/[-_. ]/)
  return SERVERS.find(({ names }) => names.some((name) => parts.includes(name)))?.effects(call)
}

const LOOKS =
  /^(?:\w+_)?(?:get|list|search|read|find|fetch|describe|query|view|show|count|lookup|retrieve|check|status|browse|download|export)(?:_|$)|_(?:get|list|search|read|history|status|info)$/
const DESTROYS = /delete|remove|destroy|drop|purge|terminate|uninstall|prune|archive|close_?project/

function textOf(input: Json, ...keys: readonly string[]): string | undefined {
  if (!isObject(input)) return undefined
  for (const key of keys) if (typeof input[key] === 'string') return input[key] as string
  return undefined
}

/** A service on the internet: reading fetches, anything else sends, and some of it destroys. */
const service =
  (host: string | undefined) =>
  ({ tool }: McpCall): readonly Draft[] => {
    if (DESTROYS.test(tool)) return [cloud(tool, true)]
    return LOOKS.test(tool) ? [fetched(host, false)] : [send(host, [{ of: 'text' }])]
  }

const github = (call: McpCall): readonly Draft[] => {
  const branch = textOf(call.input, 'branch', 'ref')
  if (
    /^(?:push_files|create_or_update_file|merge_pull_request|update_pull_request_branch|create_branch)$/.test(
      call.tool,
    )
  )
    return [
      {
        kind: 'git',
        operation: call.tool,
        branch,
        force: isObject(call.input) && call.input.force === true,
        loses: isObject(call.input) && call.input.force === true ? 'history' : 'nothing',
        change: call.tool === 'create_branch' ? 'none' : 'adds',
      },
      send('github.com', [{ of: 'text' }]),
    ]
  return service('github.com')(call)
}

const sql = ({ tool, input }: McpCall): readonly Draft[] => {
  const text = textOf(input, 'sql', 'query', 'statement', 'command') ?? ''
  if (/mongo/.test(tool)) return mongoEffects(text)
  const found = sqlEffects(text)
  if (found.length > 0) return found
  return DESTROYS.test(tool)
    ? [
        {
          kind: 'database',
          operation: tool,
          resource: textOf(input, 'table', 'collection', 'database'),
          destroys: true,
        },
      ]
    : []
}

const browser = ({ tool, input }: McpCall): readonly Draft[] | undefined => {
  const address = textOf(input, 'url')
  if (address !== undefined) return [fetched(hostOf(address), false)]
  if (/click|fill|type|press|select|drag|upload|evaluate|run_code|handle|submit/.test(tool))
    return [send(undefined, [{ of: 'text' }])]
  return /snapshot|screenshot|console|network|wait|close|resize|hover|tabs?|back|forward|scroll|install/.test(
    tool,
  )
    ? []
    : undefined
}

const SERVERS: readonly Server[] = [
  {
    names: ['github', 'gitlab'],
    effects: github,
    examples: [
      { tool: 'mcp__github__list_issues', input: {}, effects: [{ kind: 'fetch', host: 'github.com' }] },
      {
        tool: 'mcp__github__delete_file',
        input: { path: 'a' },
        effects: [{ kind: 'cloud', destroys: true }],
      },
      {
        tool: 'mcp__github__push_files',
        input: { branch: 'main' },
        effects: [{ kind: 'git', branch: 'main', loses: 'nothing' }],
      },
      {
        tool: 'mcp__github__create_issue',
        input: { title: 'x' },
        effects: [{ kind: 'send', host: 'github.com' }],
      },
    ],
  },
  {
    names: [
      'postgres',
      'sqlite',
      'mysql',
      'mariadb',
      'supabase',
      'neon',
      'database',
      'db',
      'bigquery',
      'snowflake',
      'duckdb',
      'mssql',
      'clickhouse',
    ],
    effects: sql,
    examples: [
      {
        tool: 'mcp__postgres__query',
        input: { sql: 'DROP TABLE users' },
        effects: [{ kind: 'database', operation: 'DROP TABLE', destroys: true }],
      },
      { tool: 'mcp__postgres__query', input: { sql: 'select 1' }, effects: [] },
    ],
  },
  {
    names: [
      'mongo',
      'mongodb',
      'redis',
      'elastic',
      'elasticsearch',
      'qdrant',
      'pinecone',
      'chroma',
      'weaviate',
    ],
    effects: ({ tool, input }) =>
      DESTROYS.test(tool) || /flush/.test(tool)
        ? [
            {
              kind: 'database',
              operation: tool,
              resource: textOf(input, 'collection', 'index', 'key'),
              destroys: true,
            },
          ]
        : LOOKS.test(tool)
          ? []
          : [
              {
                kind: 'database',
                operation: tool,
                resource: textOf(input, 'collection', 'index', 'key'),
                destroys: false,
              },
            ],
    examples: [
      {
        tool: 'mcp__mongodb__drop_collection',
        input: { collection: 'users' },
        effects: [{ kind: 'database', destroys: true }],
      },
    ],
  },
  {
    names: ['slack'],
    effects: service('slack.com'),
    examples: [
      {
        tool: 'mcp__slack__slack_post_message',
        input: { text: 'hi' },
        effects: [{ kind: 'send', host: 'slack.com' }],
      },
      { tool: 'mcp__slack__slack_list_channels', input: {}, effects: [{ kind: 'fetch', host: 'slack.com' }] },
    ],
  },
  {
    names: [
      'gmail',
      'email',
      'mail',
      'discord',
      'telegram',
      'whatsapp',
      'teams',
      'notion',
      'linear',
      'jira',
      'atlassian',
      'confluence',
      'asana',
      'trello',
      'sentry',
      'figma',
      'stripe',
      'hubspot',
      'calendar',
      'drive',
      'gdrive',
      'google',
      'airtable',
      'zapier',
      'intercom',
      'twilio',
      'shopify',
      'paypal',
      'twitter',
      'reddit',
    ],
    effects: service(undefined),
    examples: [
      { tool: 'mcp__gmail__send_email', input: { to: 'a@example.org' }, effects: [{ kind: 'send' }] },
      { tool: 'mcp__notion__search', input: {}, effects: [{ kind: 'fetch' }] },
    ],
  },
  {
    names: ['puppeteer', 'playwright', 'browser', 'chrome', 'selenium'],
    effects: browser,
    examples: [
      {
        tool: 'mcp__playwright__browser_navigate',
        input: { url: 'https://example.org' },
        effects: [{ kind: 'fetch', host: 'example.org' }],
      },
      { tool: 'mcp__puppeteer__puppeteer_fill', input: { value: 'x' }, effects: [{ kind: 'send' }] },
    ],
  },
  {
    names: [
      'fetch',
      'brave',
      'exa',
      'tavily',
      'search',
      'firecrawl',
      'perplexity',
      'wikipedia',
      'context7',
      'arxiv',
      'docs',
      'duckduckgo',
      'maps',
      'weather',
    ],
    effects: ({ input }) => {
      const address = textOf(input, 'url')
      return [fetched(address === undefined ? undefined : hostOf(address), false)]
    },
    examples: [
      {
        tool: 'mcp__fetch__fetch',
        input: { url: 'https://example.org/a' },
        effects: [{ kind: 'fetch', host: 'example.org' }],
      },
    ],
  },
  {
    names: [
      'kubernetes',
      'k8s',
      'docker',
      'aws',
      'gcp',
      'azure',
      'terraform',
      'cloudflare',
      'vercel',
      'netlify',
      'heroku',
      'digitalocean',
      'railway',
      'render',
      'fly',
    ],
    effects: ({ tool, input }) =>
      DESTROYS.test(tool)
        ? [cloud(tool, true, textOf(input, 'name', 'id', 'resource'))]
        : LOOKS.test(tool)
          ? []
          : [cloud(tool, false, textOf(input, 'name', 'id', 'resource'))],
    examples: [
      {
        tool: 'mcp__kubernetes__delete_pod',
        input: { name: 'api' },
        effects: [{ kind: 'cloud', destroys: true, resource: 'api' }],
      },
    ],
  },
  {
    names: ['memory', 'sequentialthinking', 'sequential', 'time', 'everything', 'thinking'],
    effects: () => [],
    examples: [{ tool: 'mcp__memory__create_entities', input: {}, effects: [] }],
  },
]

/** For a test that plays them. */
export const SERVER_EXAMPLES = SERVERS.flatMap(({ examples }) => examples)
