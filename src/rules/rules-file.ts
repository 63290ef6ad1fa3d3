// Reads a rules file, and reports each problem with its place in the file.

import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import { type JsonPath, type JsonText, under } from '../files/json-text.js'
import { ACROSS, LIMIT_KINDS, limitOf, PERIODS, UNCOUNTED, uncountedOf } from './limit.js'
import { GUARD, guardRules, presetRules } from './presets.js'
import { REWRITE_NAMES } from './rewrite-names.js'
import {
  endOf,
  listOf,
  MOST_RULES,
  PRESET_NAMES,
  type PresetName,
  RULE_FIELDS,
  type Rule,
  type Rules,
  THENS,
} from './rule.js'
import { RuleCheck } from './rule-check.js'
import { type RulesProblem, RulesProblems, slip } from './rules-problems.js'

export interface ReadRules {
  readonly rules: Rules
  /** Changes of the guard's own rules, by id. Only the user has any. */
  readonly guard: readonly Rule[]
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
  /** Whether this machine is in a fleet. Asked for rules that count with one. */
  readonly isInFleet?: () => boolean
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
  readonly #isInFleet: () => boolean
  readonly #problems = new RulesProblems()
  readonly #check: RuleCheck
  /** The preset's rules by id. */
  #shipped: ReadonlyMap<string, Rule> = new Map()

  constructor({ owner, now, agents, isInFleet = () => true }: RulesReading) {
    this.#owner = owner
    this.#now = now
    this.#isInFleet = isInFleet
    this.#check = new RuleCheck(this.#problems, agents)
  }

  read(value: unknown): ReadRules {
    if (!isObject(value)) {
      this.#problems.wrong(`the file must be a JSON object, got ${shown(value)}`, null, WHOLE)
      return { rules: { rules: [] }, guard: [], problems: this.#problems.all }
    }
    for (const key of Object.keys(value)) {
      if (!FILE_KEYS.includes(key) && !isRemark(key)) this.#unknownKey(key, FILE_KEYS, under(null, key))
    }
    const preset = this.#preset(value.preset)
    this.#shipped = new Map(presetRules(preset).map((rule) => [rule.id, rule]))
    const all = this.#list(value.rules)
    const rules = all.filter(({ rule }) => !isOfGuard(rule))
    this.#contradictions(rules)
    return {
      rules: { ...(preset && { preset }), rules: rules.map(({ rule }) => rule) },
      guard: all.map(({ rule }) => rule).filter(isOfGuard),
      problems: this.#problems.all,
    }
  }

  #preset(value: unknown): PresetName | undefined {
    if (value === undefined || PRESET_NAMES.includes(value as PresetName))
      return value as PresetName | undefined
    const known = PRESET_NAMES.map((name) => `"${name}"`).join(', ')
    this.#problems.wrong(
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
      this.#problems.wrong(`"rules" must be a list, got ${shown(value)}`, at, WHOLE)
      return []
    }
    if (value.length > MOST_RULES) {
      this.#problems.wrong(
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
        this.#problems.wrong(
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
      this.#problems.wrong(`a rule must be an object, got ${shown(value)}`, at, RULE)
      return undefined
    }
    const before = this.#problems.all.length
    const name = typeof value.id === 'string' ? `the rule ${shown(value.id)}` : 'a rule'
    const rule: Record<string, unknown> = {}
    for (const [key, [[accepts, wanted]]] of Object.entries(RULE_FIELDS)) {
      const given = value[key]
      if (given === undefined) continue
      if (accepts(given)) rule[key] = key === 'effects' ? effectsIn(given) : given
      else
        this.#problems.wrong(
          `${name}: "${key}" must be ${wanted}, got ${shown(given)}`,
          under(at, key),
          slipOf(key, given),
        )
    }
    const known = Object.keys(RULE_FIELDS)
    for (const key of Object.keys(value)) {
      if (!known.includes(key) && !isRemark(key)) this.#unknownKey(key, known, under(at, key), name)
    }
    if (this.#problems.all.length > before) return undefined
    return this.#complete(rule as Fields & Partial<Rule>, name, at)
  }

  #complete(rule: Partial<Rule>, name: string, at: JsonPath): Rule | undefined {
    if (rule.id === undefined) return this.#problems.wrong('a rule needs "id"', at, RULE)
    if (isOfGuard(rule)) return this.#ofGuard(rule, name, at)
    const shipped = this.#shipped.get(rule.id)
    if (shipped) return this.#override(rule, shipped, name, at)
    if (rule.id.includes('/')) return this.#notShipped(rule.id, under(at, 'id'))
    if (rule.off !== undefined) {
      const todo = 'Remove the rule, or write "mode": "shadow".'
      return this.#problems.wrong(`${name}: "off" is only for rules of a preset`, under(at, 'off'), todo)
    }
    if (rule.redact) return this.#redaction(rule, name, at)
    for (const key of ['effects', 'then'] as const) {
      if (rule[key] === undefined)
        return this.#problems.wrong(`${name} needs "${key}"`, at, this.#meantOfPreset(rule.id) ?? RULE)
    }
    const whole = rule as Rule
    if (!this.#check.isSound(whole, name, at)) return undefined
    if (whole.then === 'allow' && this.#owner === 'project') {
      const text = `${name} was left out: the rules of a project cannot allow anything`
      this.#problems.note(
        text,
        under(at, 'then'),
        'Move it to ~/.amplifier/rules.json, if you agree with it.',
      )
      return undefined
    }
    this.#noteEnd(whole, name, at)
    this.#noteFleet(whole, name, at)
    return whole
  }

  /** A rule about texts, not about what a call would do. */
  #redaction(rule: Partial<Rule>, name: string, at: JsonPath): Rule | undefined {
    if (!this.#isRedaction(rule, name, at)) return undefined
    this.#noteEnd(rule, name, at)
    return rule as Rule
  }

  #isRedaction(rule: Partial<Rule>, name: string, at: JsonPath): boolean {
    const before = this.#problems.all.length
    const key = NOT_WITH_REDACT.find((one) => rule[one] !== undefined)
    if (key !== undefined) {
      const todo = `Remove "${key}", or write a rule of its own.`
      this.#problems.wrong(`${name}: a rule with "redact" has no "${key}"`, under(at, key), todo)
    }
    this.#check.isForSomebody(rule, name, at)
    return this.#problems.all.length === before
  }

  /** A rule of the preset with some fields of its own. */
  #override(given: Partial<Rule>, shipped: Rule, name: string, at: JsonPath): Rule | undefined {
    const whole = { ...shipped, ...given } as Rule
    if (!(shipped.redact ? this.#isRedaction(given, name, at) : this.#check.isSound(whole, name, at)))
      return undefined
    if (this.#owner === 'project' && !isTighter(given, shipped)) {
      const text = `${name} was left out: a project may make a rule of the preset stricter, but not looser`
      this.#problems.note(
        text,
        at,
        'Change only "then" and "say", or change the rule in ~/.amplifier/rules.json.',
      )
      return undefined
    }
    this.#noteEnd(whole, name, at)
    this.#noteFleet(whole, name, at)
    return given as Rule
  }

  /** A rule of the guard, which counts no calls and changes none. */
  #ofGuard(given: Partial<Rule>, name: string, at: JsonPath): Rule | undefined {
    const all = new Map(guardRules().map((rule) => [rule.id, rule]))
    const shipped = all.get(given.id ?? '')
    if (!shipped) {
      const todo = slip(given.id, all.keys()) ?? 'carabiner rules guard prints the rules of the guard.'
      return this.#problems.wrong(`${name} is not a rule of the guard`, under(at, 'id'), todo)
    }
    if (this.#owner === 'project') {
      const todo = 'Give the project a rule of its own, or change this one in ~/.amplifier/rules.json.'
      this.#problems.note(`${name} was left out: only the user may change the guard`, at, todo)
      return undefined
    }
    const key = NOT_OF_GUARD.find((one) => given[one] !== undefined)
    if (key !== undefined)
      return this.#problems.wrong(`${name}: a rule of the guard has no "${key}"`, under(at, key), WITHOUT)
    if (given.then !== undefined && !/^(?:deny|ask|allow)$/.test(given.then)) {
      const todo = 'Write "deny", "ask" or "allow", or a rule of your own.'
      return this.#problems.wrong(`${name}: the guard cannot ${given.then}`, under(at, 'then'), todo)
    }
    return this.#override(given, shipped, name, at)
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
      return this.#problems.wrong(
        `${shown(id)} is the id of a rule of a preset, and this file has no preset`,
        at,
        todo,
      )
    }
    const todo = slip(id, all) ?? `Choose from ${all.join(', ')}.`
    this.#problems.wrong(`${shown(id)} is not a rule of the preset of this file`, at, todo)
  }

  #noteEnd({ until }: Partial<Rule>, name: string, at: JsonPath): void {
    const end = until === undefined ? undefined : endOf(until)
    if (end === undefined || end > this.#now) return
    this.#problems.note(
      `${name} ended on ${until} and no longer applies`,
      under(at, 'until'),
      'Remove the rule, or give it a later date.',
    )
  }

  #noteFleet(rule: Rule, name: string, at: JsonPath): void {
    if (rule.across === undefined || this.#isInFleet()) return
    const follows = uncountedOf(rule) === 'warn' ? 'its limit is off' : 'it denies every call that meets it'
    this.#problems.note(
      `${name} counts with the fleet, and this machine is in none: ${follows}`,
      under(at, 'across'),
      'Join a fleet with carabiner fleet join, or remove "across".',
      'rule-uncounted',
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
        const key = JSON.stringify([limit.kind, limit.per, limit.across, rule.then, subjectKey(rule)])
        const same = limits.get(key)
        if (same && limitOf(same)?.most !== limit.most)
          this.#problems.note(
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
      this.#problems.note(text, at, 'Remove one of them.')
    }
  }

  #unknownKey(key: string, known: readonly string[], at: JsonPath, name = 'the file'): void {
    this.#problems.wrong(
      `${name}: ${shown(key)} is not known`,
      at,
      slip(key, known) ?? `Choose from ${known.join(', ')}.`,
    )
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
  'across',
  'uncounted',
  'to',
  'otherwise',
  'people',
] as const
const NOT_OF_GUARD = [
  ...LIMIT_KINDS,
  'per',
  'across',
  'uncounted',
  'to',
  'otherwise',
  'people',
  'redact',
] as const
const WITHOUT = 'Remove it, or write a rule of your own.'

function isOfGuard({ id }: Partial<Rule>): boolean {
  return id?.startsWith(`${GUARD}/`) === true
}

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

function slipOf(key: string, value: unknown): string | undefined {
  if (key === 'then') return slip(value, THENS)
  if (key === 'to') return slip(value, REWRITE_NAMES)
  if (key === 'per') return slip(value, PERIODS)
  if (key === 'across') return slip(value, ACROSS)
  if (key === 'uncounted') return slip(value, UNCOUNTED)
  if (key === 'mode') return slip(value, ['enforce', 'shadow'])
  return undefined
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
