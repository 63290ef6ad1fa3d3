// The schema of pack.json, the settings of the standard pack.

import { DEFAULTS, type KEYS, type PackSettings } from '../../pack/settings.js'
import { FLAG, type Schema, TEXT, WRITTEN } from './shapes.js'

const LIST: Schema = { type: 'array', items: WRITTEN, maxItems: 1000 }
const count = (minimum: number, maximum: number): Schema => ({ type: 'integer', minimum, maximum })

type Section = Exclude<keyof PackSettings, 'problems' | 'unreadable' | 'closed'>
type Field = readonly [description: string, shape: Schema]

/** Sections with fields, and fields of the file itself. */
const FIELDS: {
  readonly [K in Section]: (typeof KEYS)[K] extends readonly []
    ? Field
    : Readonly<Record<(typeof KEYS)[K][number], Field>>
} = {
  bash: {
    allow: ['Only these commands run, in the patterns of "if": "git *".', LIST],
    deny: ['These commands do not run.', LIST],
    protectedBranches: ['No direct commits to these branches.', LIST],
    denyList: ['Whether the pack’s own list of forbidden commands applies.', FLAG],
  },
  selfProtection: ['No tool may change hook folders, settings of agents or Carabiner’s own folders.', FLAG],
  protect: ['More paths to protect: ~/…, absolute, or relative to the project.', LIST],
  memory: {
    enabled: [
      'Whether hooks remember sessions. Default: as they were registered, with --memory or without.',
      FLAG,
    ],
    maxBytes: ['How much of it one event adds to the context.', count(0, 65_536)],
    agentRecords: ['How many answers of one agent.', count(0, 20)],
  },
  preferences: ['A text for every session and prompt. Only you can set it.', TEXT],
  workflow: {
    enabled: ['Whether the model is reminded of a workflow. Only you can set it.', FLAG],
    text: ['Instead of the built-in reminder.', TEXT],
  },
  lock: { maxIterations: ['How often lock mode keeps one session from stopping.', count(0, 10_000)] },
  reflection: {
    command: ['A program and its arguments. Only you can set it.', { ...LIST, minItems: 1 }],
    timeout: ['Its timeout in seconds.', count(1, 110)],
    interval: ['Seconds between two runs.', count(0, 86_400)],
  },
}

export function packSchema(): Schema {
  return {
    title: 'Settings of the standard pack',
    description: '~/.amplifier/pack.json, or that of a project, which can only make it stricter.',
    type: 'object',
    properties: propertiesIn(FIELDS, DEFAULTS),
    additionalProperties: false,
  }
}

/** A null counts as not given. */
function propertiesIn(fields: object, defaults: unknown): Readonly<Record<string, Schema>> {
  const usual = (defaults ?? {}) as Readonly<Record<string, unknown>>
  const entries = Object.entries(fields).map(([key, field]: [string, unknown]) => {
    if (!isField(field)) {
      const properties = propertiesIn(field as object, usual[key])
      return [key, { type: ['object', 'null'], properties, additionalProperties: false }] as const
    }
    const [description, shape] = field
    const known = usual[key] === undefined ? {} : { default: usual[key] }
    return [key, { description, ...orAbsent(shape), ...known }] as const
  })
  return Object.fromEntries(entries)
}

function isField(value: unknown): value is Field {
  return Array.isArray(value)
}

function orAbsent(shape: Schema): Schema {
  return { ...shape, type: [shape.type, 'null'] }
}
