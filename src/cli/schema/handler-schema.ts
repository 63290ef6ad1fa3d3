// The schema of an event's value: groups, and hooks of each type.

import { COMMON, FIELDS, type HandlerType, REQUIRED } from '../../config/handler.js'
import { knownEvents } from '../../core/events/events.js'
import { FLAG, propertiesOf, type Schema, TEXT, wantedOf } from './shapes.js'

const COMMON_WORDS: Readonly<Record<keyof typeof COMMON, string>> = {
  timeout: 'Seconds until it is stopped. Default 30 (agent 60); the setting max_timeout is the most.',
  if: 'Run only for calls that match this rule, such as "Bash(git push *)" or "Edit(src/**)". Tool events only.',
  onFailure: '"block" closes the gate when the hook fails; default "continue".',
  once: 'Run once in a session. Counts in hooks of a skill alone.',
}

const STATUS = 'Shown while the hook runs.'

const WORDS: { readonly [T in HandlerType]: Readonly<Record<keyof (typeof FIELDS)[T], string>> } = {
  command: {
    command:
      'What to run: a line for the shell, or with "args" a program. It reads the event as JSON on standard input; exit 2 blocks.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    args: 'Arguments: the program runs without a shell, and placeholders such as ${CLAUDE_PLUGIN_ROOT} are filled in.',
    shell: 'The shell for "command".',
    envPassthrough: 'Variables that the hook gets although the setting env is "minimal".',
    async: 'Nobody waits for it, and its verdict does not count.',
    asyncRewake: 'Nobody waits for it, but exit 2 wakes the agent.',
    rewakeMessage: 'What the agent is told when it is woken.',
    rewakeSummary: 'What the user is told when the agent is woken.',
    statusMessage: STATUS,
  },
  http: {
    url: 'Where the event is sent to, as JSON by POST.',
    headers: 'Headers; $NAME in a value is a variable that "allowedEnvVars" names.',
    allowedEnvVars: 'Variables that headers may use.',
    statusMessage: STATUS,
  },
  prompt: {
    prompt: 'What a model is asked about the event; $ARGUMENTS is the event as JSON.',
    model: 'The model that is asked.',
    continueOnBlock: 'The agent goes on after a block, with the reason.',
    statusMessage: STATUS,
  },
  agent: {
    prompt:
      'What an agent that can read files is to find out about the event; $ARGUMENTS is the event as JSON.',
    model: 'The model that is asked.',
    statusMessage: STATUS,
  },
  mcp_tool: {
    server: 'The MCP server, by its name in the setting mcp_servers.',
    tool: 'The tool of that server.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    input: 'What the tool is called with; ${tool_input.command} is that field of the event.',
    statusMessage: STATUS,
  },
}

const TYPE_WORDS: Readonly<Record<HandlerType, string>> = {
  command: 'Runs a program.',
  http: 'Asks a server.',
  prompt: 'Asks a model.',
  agent: 'Asks a model that may read files.',
  mcp_tool: 'Calls a tool of an MCP server.',
}

const TYPES = Object.keys(FIELDS) as readonly HandlerType[]

/** For `$defs`. */
export function handlerDefinitions(): Readonly<Record<string, Schema>> {
  return {
    groups: {
      description: 'A list of groups; a single one will do.',
      anyOf: [{ type: 'array', items: { $ref: '#/$defs/group' } }, { $ref: '#/$defs/group' }],
    },
    group: {
      type: 'object',
      required: ['hooks'],
      properties: {
        matcher: {
          description:
            'When to run: "" or "*" always; "Write|Edit" a list of names; anything else a regular expression.',
          anyOf: [TEXT, { type: 'object', properties: { tool_name: TEXT }, additionalProperties: false }],
        },
        sequential: { description: 'One after the other, each with what those before it changed.', ...FLAG },
        description: { description: 'For people.' },
        hooks: { description: 'What to run.', type: 'array', items: { $ref: '#/$defs/hook' } },
      },
    },
    hook: {
      type: 'object',
      required: ['type'],
      properties: { type: { description: typeWords(), enum: TYPES } },
      allOf: TYPES.map((type) => ({
        if: { properties: { type: { const: type } } },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { $ref: `#/$defs/${type}` },
      })),
    },
    ...Object.fromEntries(TYPES.map((type) => [type, handlerSchema(type)])),
  }
}

function typeWords(): string {
  return TYPES.map((type) => `${type}: ${TYPE_WORDS[type]}`).join(' ')
}

function handlerSchema(type: HandlerType): Schema {
  return {
    description: TYPE_WORDS[type],
    required: REQUIRED[type],
    properties: {
      ...propertiesOf(wantedOf(FIELDS[type]), WORDS[type]),
      ...propertiesOf(wantedOf(COMMON), COMMON_WORDS),
    },
  }
}

// ---- events ---------------------------------------------------------------------------------------------------

const GROUPS = { $ref: '#/$defs/groups' }

/** Canonical names, which editors suggest. */
export function eventProperties(): Readonly<Record<string, Schema>> {
  const entries = knownEvents().map(({ name, when, matcher, deny, denyMeans }) => {
    const matched = matcher === null ? 'Its matcher is ignored.' : `The matcher is held against ${matcher}.`
    const denied = deny === 'none' ? 'Nothing can be denied.' : `A deny: ${denyMeans}.`
    return [name, { description: `${capital(when)}. ${matched} ${denied}`, ...GROUPS }] as const
  })
  return Object.fromEntries(entries)
}

/** Aliases from other systems: accepted, not suggested. */
export function aliasPatterns(): Readonly<Record<string, Schema>> {
  const aliases = knownEvents().flatMap(({ name, aliases: others }) => [...others, ...spellings(name)])
  return { [`^(?:${[...new Set(aliases)].sort().join('|')})$`]: GROUPS }
}

/** `pre_tool_use` and `preToolUse`. */
function spellings(name: string): readonly string[] {
  const snake = name.replace(
    /[A-Z]/g,
    (letter, at: number) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`,
  )
  return [snake, name.charAt(0).toLowerCase() + name.slice(1)]
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
