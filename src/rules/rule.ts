// A rule as its file has it: the table of its fields, which the reader, the editors' schema and the docs share.

import { isObject } from '../core/base/json.js'
import { type Check, isFlag, isOneOf, isText } from '../core/base/options.js'
import { isPeople, MOST_PEOPLE } from '../core/events/result.js'
import type { EffectKind } from '../effects/effect.js'
import { EFFECT_KINDS } from './effect-kinds.js'
import { ACROSS, LIMITS, type Limited, type LimitKind, PERIODS, UNCOUNTED } from './limit.js'
import { REWRITE_NAMES, type RewriteName, rewriteMeans } from './rewrite-names.js'

export interface Rule extends Limited {
  readonly id: string
  readonly effects: readonly EffectKind[] | '*'
  readonly where?: Where
  readonly of?: string | readonly string[]
  readonly except?: string | readonly string[]
  readonly unless?: readonly Exception[]
  readonly then: Then
  readonly to?: RewriteName
  readonly otherwise?: 'ask' | 'deny'
  /** How many different people must allow the call. Only with `then: 'ask'`. */
  readonly people?: number
  /** Removes secrets from these texts. Then the rule has no effects, and nothing follows. */
  readonly redact?: readonly RedactedText[]
  readonly say?: string
  readonly in?: { readonly modes?: readonly string[]; readonly agents?: readonly string[] }
  readonly mode?: 'enforce' | 'shadow'
  readonly until?: string
  readonly off?: boolean
}

/** An effect is excepted if all of this is certain of it. */
export interface Exception {
  readonly effects?: readonly EffectKind[]
  readonly where?: Where
  readonly of?: string | readonly string[]
}

const REDACTED_TEXTS = ['results', 'prompts'] as const
export type RedactedText = (typeof REDACTED_TEXTS)[number]

interface TextField {
  readonly texts: RedactedText
  readonly field: string
  /** For people. */
  readonly noun: string
}

/** The fields with such texts, by event. */
export const TEXT_FIELDS: Readonly<Record<string, TextField>> = {
  PostToolUse: { texts: 'results', field: 'tool_response', noun: 'result' },
  PostToolUseFailure: { texts: 'results', field: 'error', noun: 'error' },
  UserPromptSubmit: { texts: 'prompts', field: 'prompt', noun: 'prompt' },
}

export type Then = 'end_turn' | 'deny' | 'ask' | 'rewrite' | 'allow' | 'tell'
export type Where = Readonly<Record<string, boolean | string | readonly string[]>>

/** A rules file after all checks. */
export interface Rules {
  readonly preset?: PresetName
  readonly rules: readonly Rule[]
}

export const PRESET_NAMES = ['careful', 'standard', 'relaxed'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

/** The strictest comes first. Order within a file does not matter. */
export const THENS: readonly Then[] = ['end_turn', 'deny', 'ask', 'rewrite', 'tell', 'allow']

/** Limits of one file. */
export const MOST_RULES = 1000
export const MOST_PATTERNS = 200
export const LONGEST_PATTERN = 300
/** What `{a,b}` in one pattern may stand for. */
export const MOST_ALTERNATIVES = 64
/** Of all rules of a file, with every alternative. */
export const MOST_EXPANDED = 5000
const LONGEST_SAY = 1000
const LONGEST_ID = 80

type Schema = Readonly<Record<string, unknown>>
export type RuleField = readonly [check: Check, description: string, schema?: Schema]

const IN_KEYS: readonly string[] = ['modes', 'agents']
const EXCEPTION_KEYS: readonly string[] = ['effects', 'where', 'of']

const TEXTS: Schema = { type: ['string', 'array'], items: { type: 'string' } }

const isPatterns: Check = [
  (value) => (isText[0](value) || isTexts(value)) && [value].flat().length <= MOST_PATTERNS,
  `a pattern or a list of up to ${MOST_PATTERNS} patterns`,
]

const isExceptions: Check = [
  (value) => Array.isArray(value) && value.length <= MOST_PATTERNS && value.every(isException),
  `a list of up to ${MOST_PATTERNS} exceptions such as {"effects": ["send"], "of": ["example.com"]}`,
]

function isException(value: unknown): boolean {
  if (!isObject(value)) return false
  const { effects, where, of } = value
  return (
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => EXCEPTION_KEYS.includes(key)) &&
    (effects === undefined || isTexts(effects)) &&
    (where === undefined || isObject(where)) &&
    (of === undefined || isPatterns[0](of))
  )
}

/** The fields of a rule. Messages and the schema keep this order. */
export const RULE_FIELDS: { readonly [K in keyof Required<Rule>]: RuleField } = {
  id: [
    [
      (value) =>
        typeof value === 'string' && value.length <= LONGEST_ID && /^[\w.-]+(?:\/[\w.-]+)?$/.test(value),
      `a name of up to ${LONGEST_ID} letters, digits, dots, dashes and underscores`,
    ],
    'The name of the rule, unique in its file. "standard/…" changes a rule of the preset.',
    { type: 'string', pattern: '^[\\w.-]+(/[\\w.-]+)?$', maxLength: LONGEST_ID },
  ],
  effects: [
    [(value) => isText[0](value) || isTexts(value), 'an effect, a list of effects, or "*" for all'],
    'What a call would do: the kinds of effect that the rule is about.',
    {
      anyOf: [
        { enum: ['*', ...EFFECT_KINDS] },
        { type: 'array', minItems: 1, items: { enum: EFFECT_KINDS } },
      ],
    },
  ],
  where: [
    [isObject, 'an object with fields of the effect'],
    'Only effects with these fields, such as {"force": true} or {"loses": ["history", "work"]}.',
    { type: 'object' },
  ],
  of: [isPatterns, 'Only effects on these: paths, hosts, branches, programs or names.', TEXTS],
  except: [isPatterns, 'Not for effects on these.', TEXTS],
  unless: [
    isExceptions,
    'Not for effects that certainly meet one of these: "effects", "where" and "of" together.',
    {
      type: 'array',
      maxItems: MOST_PATTERNS,
      items: {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: {
          effects: { type: 'array', minItems: 1, items: { enum: EFFECT_KINDS } },
          where: { type: 'object' },
          of: TEXTS,
        },
      },
    },
  ],
  then: [
    isOneOf(...THENS),
    'What follows. The strictest counts: end_turn, deny, ask, rewrite, allow.',
    { enum: THENS },
  ],
  to: [
    isOneOf(...REWRITE_NAMES),
    `How a rule rewrites. ${REWRITE_NAMES.map((name) => `${name}: ${rewriteMeans(name)}`).join(' ')}`,
    { enum: REWRITE_NAMES },
  ],
  otherwise: [
    isOneOf('ask', 'deny'),
    'What follows where the words cannot be changed exactly. Default: ask.',
    { enum: ['ask', 'deny'] },
  ],
  people: [
    [isPeople, `a whole number of people from 1 to ${MOST_PEOPLE}`],
    'How many different people must allow the call, for "then": "ask". Default: 1.',
    { type: 'integer', minimum: 1, maximum: MOST_PEOPLE },
  ],
  at_most: limitField('at_most'),
  same_call: limitField('same_call'),
  tokens: limitField('tokens'),
  cost: limitField('cost'),
  denies: limitField('denies'),
  per: [isOneOf(...PERIODS), 'The period of the limit. An hour is that of all sessions.', { enum: PERIODS }],
  across: [
    isOneOf(...ACROSS),
    '"fleet" counts with all machines of the fleet. Needs "per": "hour".',
    { enum: ACROSS },
  ],
  uncounted: [
    isOneOf(...UNCOUNTED),
    'What follows while the limit cannot be counted. Default: what follows beyond the limit; across the fleet, "deny".',
    { enum: UNCOUNTED },
  ],
  redact: [
    [
      (value) => isTexts(value) && value.every((one) => REDACTED_TEXTS.includes(one as RedactedText)),
      'a list of "results" and "prompts"',
    ],
    'Removes secrets from the results of tools, or from prompts. In place of "effects" and "then".',
    { type: 'array', minItems: 1, items: { enum: REDACTED_TEXTS } },
  ],
  say: [
    [
      (value) => isText[0](value) && (value as string).length <= LONGEST_SAY,
      `a text of up to ${LONGEST_SAY} characters`,
    ],
    'The reason, for the agent and the person.',
    { type: 'string', maxLength: LONGEST_SAY },
  ],
  in: [
    [
      (value) =>
        isObject(value) &&
        Object.keys(value).length > 0 &&
        Object.entries(value).every(([key, list]) => IN_KEYS.includes(key) && isTexts(list)),
      'an object such as {"modes": ["bypassPermissions"]} or {"agents": ["claude-code"]}',
    ],
    'Only in these permission modes, and only in these agents.',
    { type: 'object' },
  ],
  mode: [
    isOneOf('enforce', 'shadow'),
    '"shadow" only reports what the rule would have done.',
    { enum: ['enforce', 'shadow'] },
  ],
  until: [
    [(value) => typeof value === 'string' && endOf(value) !== undefined, 'a date such as "2030-01-31"'],
    'The last day on which the rule applies.',
    { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
  ],
  off: [isFlag, 'true switches off a rule of the preset.', { type: 'boolean' }],
}

function limitField(kind: LimitKind): RuleField {
  const { most, whole, means } = LIMITS[kind]
  return [
    [
      (value) =>
        typeof value === 'number' && value > 0 && value <= most && (!whole || Number.isInteger(value)),
      whole ? `a whole number from 1 to ${most}` : `a number above 0, up to ${most}`,
    ],
    means,
    whole
      ? { type: 'integer', minimum: 1, maximum: most }
      : { type: 'number', exclusiveMinimum: 0, maximum: most },
  ]
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => isText[0](one))
}

/** When a day is over everywhere on earth, in milliseconds. Undefined if it is not a date. */
export function endOf(day: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return undefined
  const start = Date.parse(`${day}T00:00:00Z`)
  // The 31st of February would be a day in March.
  if (Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== day) return undefined
  return start + 36 * 60 * 60 * 1000
}

/** A list, also if the file has a single text. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
