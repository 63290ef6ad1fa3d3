// Reads a rules file: checks every field, and reports each problem with its place in the file.

import { isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import type { EffectKind } from '../effects/effect.js'
import { type JsonPath, type JsonText, under } from '../files/json-text.js'
import { EFFECT_KINDS, type FieldType, fieldsOf, patternsOf } from './effect-kinds.js'
import { LIMIT_KINDS, limitKindsOf, limitOf, PERIODS } from './limit.js'
import { neverHad, neverMeant } from './never-met.js'
import { presetRules } from './presets.js'
import { REWRITE_NAMES } from './rewrite-names.js'
import {
  type Exception,
  endOf,
  LONGEST_PATTERN,
  listOf,
  MOST_ALTERNATIVES,
  MOST_EXPANDED,
  MOST_RULES,
  PRESET_NAMES,
  type PresetName,
  RULE_FIELDS,
  type Rule,
  type Rules,
  THENS,
} from './rule.js'
import { alternatives } from './text-pattern.js'

/** Something that is wrong in a file, and where. */
export interface RulesProblem {
  readonly text: string
  readonly at: JsonPath
  readonly todo?: string
  /** Without what is wrong here, calls could pass that the author wanted to stop. */
  readonly closes: boolean
}

export interface ReadRules {
  readonly rules: Rules
  readonly problems: readonly RulesProblem[]
}

/** Only the user may loosen the preset, or allow something. */
export type RulesOwner = 'user' | 'project'

export interface RulesReading {
  readonly owner: RulesOwner
  /** In milliseconds. */
  readonly now: number
  /** The names of agents that a rule may be for. */
  readonly agents: readonly string[]
}

export function readRules(value: unknown, reading: RulesReading): ReadRules {
  return new RulesReader(reading).read(value)
}

/** JSON.parse keeps only the last of equal keys, so a file could lose a rule without a word. Such a file cannot be used. */
export function lostValue(
  json: JsonText,
): { readonly text: string; readonly line: number; readonly todo: string } | undefined {
  const double = json.doubleKeys().find(({ key }) => !isRemark(key))
  if (!double) return undefined
  const { key, line } = double
  const text = `the key ${shown(key)} appears twice in one object, so this value would be lost`
  return { text, line, todo: 'Remove one of the two.' }
}

type Fields = { readonly [key: string]: unknown }

class RulesReader {
  readonly #owner: RulesOwner
  readonly #now: number
  readonly #agents: readonly string[]
  readonly #problems: RulesProblem[] = []
  /** The preset's rules by id. */
  #shipped: ReadonlyMap<string, Rule> = new Map()
  /** How many patterns there are so far, with every alternative. */
  #expanded = 0

  constructor({ owner, now, agents }: RulesReading) {
    this.#owner = owner
    this.#now = now
    this.#agents = agents
  }

  read(value: unknown): ReadRules {
    if (!isObject(value)) {
      this.#wrong(`the file must be a JSON object, got ${shown(value)}`, null, WHOLE)
      return { rules: { rules: [] }, problems: this.#problems }
    }
    for (const key of Object.keys(value)) {
      if (!FILE_KEYS.includes(key) && !isRemark(key)) this.#unknownKey(key, FILE_KEYS, under(null, key))
    }
    const preset = this.#preset(value.preset)
    this.#shipped = new Map(presetRules(preset).map((rule) => [rule.id, rule]))
    const rules = this.#list(value.rules)
    this.#contradictions(rules)
    return {
      rules: { ...(preset && { preset }), rules: rules.map(({ rule }) => rule) },
      problems: this.#problems,
    }
  }

  #preset(value: unknown): PresetName | undefined {
    if (value === undefined || PRESET_NAMES.includes(value as PresetName))
      return value as PresetName | undefined
    const known = PRESET_NAMES.map((name) => `"${name}"`).join(', ')
    this.#wrong(
      `"preset" must be one of ${known}, got ${shown(value)}`,
      under(null, 'preset'),
      slip(value, PRESET_NAMES),
    )
    return undefined
  }

  #list(value: unknown): readonly Placed[] {
    const at = under(null, 'rules')
    if (value === undefined) return []
    if (!Array.isArray(value)) {
      this.#wrong(`"rules" must be a list, got ${shown(value)}`, at, WHOLE)
      return []
    }
    if (value.length > MOST_RULES) {
      this.#wrong(
        `there are ${value.length} rules; a file may have at most ${MOST_RULES}`,
        at,
        'Use patterns, so that fewer rules say the same.',
      )
      return []
    }
    const ids = new Set<string>()
    return value.flatMap((one, i) => {
      const where = under(at, i)
      const rule = this.#rule(one, where)
      if (!rule) return []
      if (ids.has(rule.id)) {
        this.#wrong(
          `the id ${shown(rule.id)} is used twice`,
          under(where, 'id'),
          'Give each rule an id of its own.',
        )
        return []
      }
      ids.add(rule.id)
      return [{ rule, at: where }]
    })
  }

  #rule(value: unknown, at: JsonPath): Rule | undefined {
    if (!isObject(value)) {
      this.#wrong(`a rule must be an object, got ${shown(value)}`, at, RULE)
      return undefined
    }
    const before = this.#problems.length
    const name = typeof value.id === 'string' ? `the rule ${shown(value.id)}` : 'a rule'
    const rule: Record<string, unknown> = {}
    for (const [key, [[accepts, wanted]]] of Object.entries(RULE_FIELDS)) {
      const given = value[key]
      if (given === undefined) continue
      if (accepts(given)) rule[key] = key === 'effects' ? effectsIn(given) : given
      else
        this.#wrong(
          `${name}: "${key}" must be ${wanted}, got ${shown(given)}`,
          under(at, key),
          slipOf(key, given),
        )
    }
    const known = Object.keys(RULE_FIELDS)
    for (const key of Object.keys(value)) {
      if (!known.includes(key) && !isRemark(key)) this.#unknownKey(key, known, under(at, key), name)
    }
    if (this.#problems.length > before) return undefined
    return this.#complete(rule as Fields & Partial<Rule>, name, at)
  }

  #complete(rule: Partial<Rule>, name: string, at: JsonPath): Rule | undefined {
    if (rule.id === undefined) return this.#wrong('a rule needs "id"', at, RULE)
    const shipped = this.#shipped.get(rule.id)
    if (shipped) return this.#override(rule, shipped, name, at)
    if (rule.id.includes('/')) return this.#notShipped(rule.id, under(at, 'id'))
    if (rule.off !== undefined) {
      const todo = 'Remove the rule, or write "mode": "shadow".'
      return this.#wrong(`${name}: "off" is only for rules of a preset`, under(at, 'off'), todo)
    }
    if (rule.redact) return this.#redaction(rule, name, at)
    for (const key of ['effects', 'then'] as const) {
      if (rule[key] === undefined)
        return this.#wrong(`${name} needs "${key}"`, at, this.#meantOfPreset(rule.id) ?? RULE)
    }
    const whole = rule as Rule
    if (!this.#isSound(whole, name, at)) return undefined
    if (whole.then === 'allow' && this.#owner === 'project') {
      const text = `${name} was left out: the rules of a project cannot allow anything`
      this.#note(text, under(at, 'then'), 'Move it to ~/.amplifier/rules.json, if you agree with it.')
      return undefined
    }
    this.#noteEnd(whole, name, at)
    return whole
  }

  /** A rule about texts, not about what a call would do. */
  #redaction(rule: Partial<Rule>, name: string, at: JsonPath): Rule | undefined {
    if (!this.#isRedaction(rule, name, at)) return undefined
    this.#noteEnd(rule, name, at)
    return rule as Rule
  }

  #isRedaction(rule: Partial<Rule>, name: string, at: JsonPath): boolean {
    const before = this.#problems.length
    const key = NOT_WITH_REDACT.find((one) => rule[one] !== undefined)
    if (key !== undefined) {
      const todo = `Remove "${key}", or write a rule of its own.`
      this.#wrong(`${name}: a rule with "redact" has no "${key}"`, under(at, key), todo)
    }
    this.#knownAgents(rule, name, at)
    return this.#problems.length === before
  }

  /** A rule of the preset with some fields of its own. */
  #override(given: Partial<Rule>, shipped: Rule, name: string, at: JsonPath): Rule | undefined {
    const whole = { ...shipped, ...given } as Rule
    if (!(shipped.redact ? this.#isRedaction(given, name, at) : this.#isSound(whole, name, at)))
      return undefined
    if (this.#owner === 'project' && !isTighter(given, shipped)) {
      const text = `${name} was left out: a project may make a rule of the preset stricter, but not looser`
      this.#note(text, at, 'Change only "then" and "say", or change the rule in ~/.amplifier/rules.json.')
      return undefined
    }
    this.#noteEnd(whole, name, at)
    return given as Rule
  }

  /** `send` for `standard/send`, in a rule that only changes something. */
  #meantOfPreset(id: string): string | undefined {
    const [first] = this.#shipped.keys()
    return first === undefined
      ? undefined
      : slip(`${first.slice(0, first.indexOf('/'))}/${id}`, this.#shipped.keys())
  }

  #notShipped(id: string, at: JsonPath): undefined {
    const all = [...this.#shipped.keys()]
    if (all.length === 0) {
      const preset = PRESET_NAMES.find((one) => id.startsWith(`${one}/`)) ?? 'standard'
      const todo = `Add "preset": "${preset}" to the file, or use an id without "/".`
      return this.#wrong(
        `${shown(id)} is the id of a rule of a preset, and this file has no preset`,
        at,
        todo,
      )
    }
    const todo = slip(id, all) ?? `Choose from ${all.join(', ')}.`
    this.#wrong(`${shown(id)} is not a rule of the preset of this file`, at, todo)
  }

  #isSound(rule: Rule, name: string, at: JsonPath): boolean {
    const before = this.#problems.length
    const kinds = rule.effects === '*' ? EFFECT_KINDS : rule.effects
    for (const kind of rule.effects === '*' ? [] : rule.effects) {
      if (!EFFECT_KINDS.includes(kind))
        this.#wrong(`${name}: ${shown(kind)} is not an effect`, under(at, 'effects'), meantEffect(kind))
    }
    if (this.#problems.length > before) return false
    for (const [key, value] of Object.entries(rule.where ?? {})) this.#where(key, value, kinds, name, at)
    for (const key of ['of', 'except'] as const) this.#patterns(rule, key, kinds, name, at)
    for (const [i, one] of (rule.unless ?? []).entries())
      this.#exception(one, kinds, name, under(under(at, 'unless'), i))
    this.#knownAgents(rule, name, at)
    this.#limit(rule, name, at)
    this.#rewrite(rule, name, at)
    if (rule.redact)
      this.#wrong(
        `${name}: a rule of the preset cannot get "redact"`,
        under(at, 'redact'),
        'Write a rule of its own.',
      )
    if (rule.then === 'tell' && rule.say === undefined)
      this.#wrong(`${name} needs "say": it only tells something`, at)
    return this.#problems.length === before
  }

  #exception(exception: Exception, kinds: readonly EffectKind[], name: string, at: JsonPath): void {
    const { effects = kinds, where = {} } = exception
    const other = effects.find((kind) => !kinds.includes(kind))
    if (other !== undefined) {
      const todo = slip(other, kinds) ?? `Choose from ${kinds.join(', ')}.`
      this.#wrong(`${name}: ${shown(other)} is not an effect of this rule`, under(at, 'effects'), todo)
      return
    }
    for (const [key, value] of Object.entries(where)) this.#where(key, value, effects, name, at)
    this.#patterns({ effects, ...exception }, 'of', effects, name, at)
  }

  #rewrite(rule: Rule, name: string, at: JsonPath): void {
    const { then, to } = rule
    if (then === 'rewrite') {
      const known = REWRITE_NAMES.map((one) => `"${one}"`).join(' or ')
      if (to === undefined) this.#wrong(`${name} needs "to": how it rewrites`, at, `Add "to": ${known}.`)
      const [limit] = limitKindsOf(rule)
      if (limit !== undefined)
        this.#wrong(
          `${name}: a rule that rewrites cannot have a limit`,
          under(at, limit),
          `Remove "${limit}".`,
        )
      return
    }
    const without = (['to', 'otherwise'] as const).find((key) => rule[key] !== undefined)
    if (without !== undefined)
      this.#wrong(
        `${name}: "${without}" is only for rules that rewrite`,
        under(at, without),
        `Write "then": "rewrite", or remove "${without}".`,
      )
  }

  #limit(rule: Rule, name: string, at: JsonPath): void {
    const [kind, other] = limitKindsOf(rule)
    if (kind === undefined) {
      const without = (['per', 'uncounted'] as const).find((key) => rule[key] !== undefined)
      if (without === undefined) return
      const todo = `Add one of ${LIMIT_KINDS.join(', ')}, or remove "${without}".`
      this.#wrong(`${name}: "${without}" needs a limit`, under(at, without), todo)
    } else if (other !== undefined)
      this.#wrong(`${name} has two limits, "${kind}" and "${other}"`, under(at, other), 'Write two rules.')
    else if (rule.per === undefined) {
      const todo = `Add "per": ${PERIODS.map((one) => `"${one}"`).join(' or ')}.`
      this.#wrong(`${name}: "${kind}" needs "per"`, under(at, kind), todo)
    } else if (rule.then === 'allow') {
      const todo = 'Allow it without a limit, and write a rule with the limit that asks.'
      this.#wrong(`${name}: a rule that allows cannot have a limit`, under(at, kind), todo)
    }
  }

  #knownAgents(rule: Partial<Rule>, name: string, at: JsonPath): void {
    for (const agent of rule.in?.agents ?? []) {
      if (this.#agents.includes(agent)) continue
      this.#wrong(
        `${name}: there is no agent ${shown(agent)}`,
        under(under(at, 'in'), 'agents'),
        slip(agent, this.#agents) ?? `Choose from ${this.#agents.join(', ')}.`,
      )
    }
  }

  #where(key: string, value: unknown, kinds: readonly EffectKind[], name: string, at: JsonPath): void {
    const place = under(under(at, 'where'), key)
    const lacking = kinds.find((kind) => !Object.hasOwn(fieldsOf(kind), key))
    if (lacking !== undefined) {
      const known = Object.keys(fieldsOf(lacking))
      const todo =
        slip(key, known) ?? `Choose from ${known.join(', ')}, or write a rule of its own for ${lacking}.`
      this.#wrong(`${name}: ${shown(key)} is not a field of the effect ${lacking}`, place, todo)
      return
    }
    for (const kind of kinds) {
      const type = fieldsOf(kind)[key]?.[0] as FieldType
      const problem = valueProblem(type, value)
      if (problem === undefined) continue
      this.#wrong(
        `${name}: "${key}" must be ${problem}, got ${shown(value)}`,
        place,
        typeof type === 'object' ? slip([value].flat()[0], type) : undefined,
      )
      return
    }
    for (const one of [value].flat()) {
      if (typeof one !== 'string') continue
      const all = kinds.map((kind) => neverHad(key, one, kind))
      const [never] = all
      if (never && all.every((each) => each !== undefined))
        this.#wrong(`${name}: "${key}" is never ${shown(one)}: ${never.why}`, place, never.todo)
    }
  }

  #patterns(
    rule: Pick<Rule, 'effects' | 'of' | 'except'>,
    key: 'of' | 'except',
    kinds: readonly EffectKind[],
    name: string,
    at: JsonPath,
  ): void {
    const place = under(at, key)
    const patterns = listOf(rule[key])
    const bare = kinds.find((kind) => patternsOf(kind) === 'none')
    if (patterns.length > 0 && bare !== undefined && rule.effects !== '*')
      this.#wrong(
        `${name}: the effect ${bare} has nothing that "${key}" could mean`,
        place,
        `Remove "${key}", or the effect.`,
      )
    for (const [i, pattern] of patterns.entries()) {
      // Said once; the rest of such a file is not worth the time.
      if (this.#expanded > MOST_EXPANDED) return
      const where = typeof rule[key] === 'string' ? place : under(place, i)
      if (pattern.length > LONGEST_PATTERN)
        this.#wrong(`${name}: a pattern may have at most ${LONGEST_PATTERN} characters`, where)
      else this.#met(pattern, this.#expand(pattern, name, where), kinds, name, where)
    }
  }

  /** A pattern that no effect can meet is a slip: the rule would never apply. */
  #met(
    pattern: string,
    expanded: readonly string[],
    kinds: readonly EffectKind[],
    name: string,
    at: JsonPath,
  ): void {
    const meantKinds = kinds.filter((kind) => patternsOf(kind) !== 'none')
    for (const one of expanded) {
      const all = meantKinds.map((kind) => neverMeant(one, kind))
      const [never] = all
      if (!never || all.some((each) => each === undefined)) continue
      this.#wrong(`${name}: ${shown(pattern)} never applies: ${never.why}`, at, never.todo)
      return
    }
  }

  #expand(pattern: string, name: string, at: JsonPath): readonly string[] {
    const all = alternatives(pattern, MOST_ALTERNATIVES) ?? []
    this.#expanded += all.length
    if (all.length === 0)
      this.#wrong(
        `${name}: the braces in ${shown(pattern)} cannot be read`,
        at,
        `Write {a,b} with at most ${MOST_ALTERNATIVES} alternatives.`,
      )
    else if (this.#expanded > MOST_EXPANDED)
      this.#wrong(
        `${name}: the file has more than ${MOST_EXPANDED} patterns; {a,b} counts as two`,
        at,
        'Use stars, so that fewer patterns say the same.',
      )
    return all
  }

  #noteEnd({ until }: Partial<Rule>, name: string, at: JsonPath): void {
    const end = until === undefined ? undefined : endOf(until)
    if (end === undefined || end > this.#now) return
    this.#note(
      `${name} ended on ${until} and no longer applies`,
      under(at, 'until'),
      'Remove the rule, or give it a later date.',
    )
  }

  /** Two rules about the same thing, of which one allows and the other does not, or with different limits. */
  #contradictions(rules: readonly Placed[]): void {
    const allowed = new Map(
      rules.filter(({ rule }) => rule.then === 'allow').map(({ rule }) => [subjectKey(rule), rule.id]),
    )
    const limits = new Map<string, Rule>()
    for (const { rule, at } of rules) {
      const limit = limitOf(rule)
      if (limit && rule.effects !== undefined) {
        const key = JSON.stringify([limit.kind, limit.per, rule.then, subjectKey(rule)])
        const same = limits.get(key)
        if (same && limitOf(same)?.most !== limit.most)
          this.#note(
            `the rules ${shown(same.id)} and ${shown(rule.id)} limit the same to different numbers; the smaller is in force`,
            under(at, limit.kind),
            'Remove one of them.',
          )
        limits.set(key, rule)
        continue
      }
      const other = rule.then === 'deny' || rule.then === 'ask' ? allowed.get(subjectKey(rule)) : undefined
      if (other === undefined || rule.effects === undefined) continue
      const text = `the rule ${shown(rule.id)} contradicts ${shown(other)}; ${rule.then} is in force`
      this.#note(text, at, 'Remove one of them.')
    }
  }

  #unknownKey(key: string, known: readonly string[], at: JsonPath, name = 'the file'): void {
    this.#wrong(
      `${name}: ${shown(key)} is not known`,
      at,
      slip(key, known) ?? `Choose from ${known.join(', ')}.`,
    )
  }

  #wrong(text: string, at: JsonPath, todo?: string): undefined {
    this.#problems.push({ text, at, ...(todo !== undefined && { todo }), closes: true })
  }

  #note(text: string, at: JsonPath, todo: string): void {
    this.#problems.push({ text, at, todo, closes: false })
  }
}

interface Placed {
  readonly rule: Rule
  readonly at: JsonPath
}

/** Fields about what a call would do, and how often. */
const NOT_WITH_REDACT = [
  'effects',
  'where',
  'of',
  'except',
  'unless',
  'then',
  ...LIMIT_KINDS,
  'per',
  'uncounted',
  'to',
  'otherwise',
] as const
const FILE_KEYS: readonly string[] = ['preset', 'rules']
const WHOLE = 'Write {"preset": "standard", "rules": [ … ]}.'
const RULE = 'Write {"id": "…", "effects": ["…"], "then": "ask"}.'

/** Keys that are only for people and editors. */
function isRemark(key: string): boolean {
  return /^(?:\/\/|[#_$])/.test(key) || key === 'description'
}

/** A single effect may stand without a list. */
function effectsIn(value: unknown): unknown {
  return typeof value === 'string' && value !== '*' ? [value] : value
}

/** Words that people use for an effect. */
const OTHER_WORDS: Readonly<Record<string, EffectKind>> = {
  upload: 'send',
  network: 'send',
  download: 'fetch',
  remove: 'delete',
  rm: 'delete',
  edit: 'write',
  exec: 'run',
  execute: 'run',
  bash: 'run',
  shell: 'run',
  sudo: 'privilege',
}
const OF_GIT = ['push', 'pull', 'commit', 'merge', 'rebase', 'reset', 'checkout', 'clean', 'stash']

function meantEffect(word: string): string {
  const choices = `Choose from ${EFFECT_KINDS.join(', ')}.`
  if (OF_GIT.includes(word)) return `Use "effects": ["git"] with "where": {"operation": "${word}"}.`
  const other = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined
  return other === undefined ? (slip(word, EFFECT_KINDS) ?? choices) : `Did you mean "${other}"?`
}

function slip(value: unknown, known: Iterable<string>): string | undefined {
  const meant = typeof value === 'string' ? nearest(value, known) : undefined
  return meant === undefined ? undefined : `Did you mean "${meant}"?`
}

function slipOf(key: string, value: unknown): string | undefined {
  if (key === 'then') return slip(value, THENS)
  if (key === 'to') return slip(value, REWRITE_NAMES)
  if (key === 'per') return slip(value, PERIODS)
  if (key === 'mode') return slip(value, ['enforce', 'shadow'])
  return undefined
}

function valueProblem(type: FieldType, value: unknown): string | undefined {
  if (type === 'flag') return typeof value === 'boolean' ? undefined : 'true or false'
  const texts = typeof value === 'string' ? [value] : value
  const areTexts =
    Array.isArray(texts) && texts.length > 0 && texts.every((one) => typeof one === 'string' && one !== '')
  if (type === 'text') return areTexts ? undefined : 'a text or a list of texts'
  const known = type.map((word) => `"${word}"`).join(', ')
  return areTexts && texts.every((one) => type.includes(one)) ? undefined : `one or more of ${known}`
}

/** Whether an entry only makes a rule of the preset stricter. */
function isTighter(given: Partial<Rule>, shipped: Rule): boolean {
  const { id: _, then = shipped.then, say: __, ...rest } = given
  return Object.keys(rest).length === 0 && THENS.indexOf(then) <= THENS.indexOf(shipped.then)
}

function subjectKey({ effects, where, of, except, unless, in: only }: Rule): string {
  const sorted = (list: readonly string[]) => [...list].sort()
  const kinds = effects === '*' || effects === undefined ? effects : sorted(effects)
  const exceptions = [sorted(listOf(except)), unless ?? null]
  return JSON.stringify([kinds, where ?? null, sorted(listOf(of)), exceptions, only ?? null])
}
