// Checks the values of one rule of a file: its effects, fields, patterns, limits and agents.

import { shown } from '../core/base/text.js'
import type { EffectKind } from '../effects/effect.js'
import { type JsonPath, under } from '../files/json-text.js'
import { EFFECT_KINDS, type FieldType, fieldsOf, patternsOf } from './effect-kinds.js'
import { LIMIT_KINDS, limitKindsOf, PERIODS } from './limit.js'
import { meantMode, neverHad, neverMeant, PERMISSION_MODES } from './never-met.js'
import { REWRITE_NAMES } from './rewrite-names.js'
import {
  type Exception,
  LONGEST_PATTERN,
  listOf,
  MOST_ALTERNATIVES,
  MOST_EXPANDED,
  type Rule,
} from './rule.js'
import { type RulesProblems, slip } from './rules-problems.js'
import { alternatives } from './text-pattern.js'

export class RuleCheck {
  readonly #problems: RulesProblems
  readonly #agents: readonly string[]
  /** How many patterns there are so far in the file, with every alternative. */
  #expanded = 0

  constructor(problems: RulesProblems, agents: readonly string[]) {
    this.#problems = problems
    this.#agents = agents
  }

  /** Reports what is wrong. */
  isSound(rule: Rule, name: string, at: JsonPath): boolean {
    const before = this.#problems.all.length
    const kinds = rule.effects === '*' ? EFFECT_KINDS : rule.effects
    for (const kind of rule.effects === '*' ? [] : rule.effects) {
      if (!EFFECT_KINDS.includes(kind))
        this.#problems.wrong(
          `${name}: ${shown(kind)} is not an effect`,
          under(at, 'effects'),
          meantEffect(kind),
        )
    }
    if (this.#problems.all.length > before) return false
    for (const [key, value] of Object.entries(rule.where ?? {})) this.#where(key, value, kinds, name, at)
    for (const key of ['of', 'except'] as const) this.#patterns(rule, key, kinds, name, at)
    for (const [i, one] of (rule.unless ?? []).entries())
      this.#exception(one, kinds, name, under(under(at, 'unless'), i))
    this.isForSomebody(rule, name, at)
    this.#limit(rule, name, at)
    this.#rewrite(rule, name, at)
    if (rule.people !== undefined && rule.then !== 'ask')
      this.#problems.wrong(
        `${name}: "people" is only for rules that ask`,
        under(at, 'people'),
        'Write "then": "ask", or remove "people".',
      )
    if (rule.redact)
      this.#problems.wrong(
        `${name}: a rule of the preset cannot get "redact"`,
        under(at, 'redact'),
        'Write a rule of its own.',
      )
    if (rule.then === 'tell' && rule.say === undefined)
      this.#problems.wrong(`${name} needs "say": it only tells something`, at)
    return this.#problems.all.length === before
  }

  #exception(exception: Exception, kinds: readonly EffectKind[], name: string, at: JsonPath): void {
    const { effects = kinds, where = {} } = exception
    const other = effects.find((kind) => !kinds.includes(kind))
    if (other !== undefined) {
      const todo = slip(other, kinds) ?? `Choose from ${kinds.join(', ')}.`
      this.#problems.wrong(
        `${name}: ${shown(other)} is not an effect of this rule`,
        under(at, 'effects'),
        todo,
      )
      return
    }
    for (const [key, value] of Object.entries(where)) this.#where(key, value, effects, name, at)
    this.#patterns({ effects, ...exception }, 'of', effects, name, at)
  }

  #rewrite(rule: Rule, name: string, at: JsonPath): void {
    const { then, to } = rule
    if (then === 'rewrite') {
      const known = REWRITE_NAMES.map((one) => `"${one}"`).join(' or ')
      if (to === undefined)
        this.#problems.wrong(`${name} needs "to": how it rewrites`, at, `Add "to": ${known}.`)
      const [limit] = limitKindsOf(rule)
      if (limit !== undefined)
        this.#problems.wrong(
          `${name}: a rule that rewrites cannot have a limit`,
          under(at, limit),
          `Remove "${limit}".`,
        )
      return
    }
    const without = (['to', 'otherwise'] as const).find((key) => rule[key] !== undefined)
    if (without !== undefined)
      this.#problems.wrong(
        `${name}: "${without}" is only for rules that rewrite`,
        under(at, without),
        `Write "then": "rewrite", or remove "${without}".`,
      )
  }

  #limit(rule: Rule, name: string, at: JsonPath): void {
    const [kind, other] = limitKindsOf(rule)
    if (kind === undefined) {
      const without = (['per', 'across', 'uncounted'] as const).find((key) => rule[key] !== undefined)
      if (without === undefined) return
      const todo = `Add one of ${LIMIT_KINDS.join(', ')}, or remove "${without}".`
      this.#problems.wrong(`${name}: "${without}" needs a limit`, under(at, without), todo)
    } else if (other !== undefined)
      this.#problems.wrong(
        `${name} has two limits, "${kind}" and "${other}"`,
        under(at, other),
        'Write two rules.',
      )
    else if (rule.per === undefined) {
      const todo = `Add "per": ${PERIODS.map((one) => `"${one}"`).join(' or ')}.`
      this.#problems.wrong(`${name}: "${kind}" needs "per"`, under(at, kind), todo)
    } else if (rule.across !== undefined && rule.per !== 'hour') {
      const todo = 'Write "per": "hour", or remove "across".'
      this.#problems.wrong(`${name}: a ${rule.per} is on one machine, not in a fleet`, under(at, 'per'), todo)
    } else if (rule.then === 'allow') {
      const todo = 'Allow it without a limit, and write a rule with the limit that asks.'
      this.#problems.wrong(`${name}: a rule that allows cannot have a limit`, under(at, kind), todo)
    }
  }

  /** Reports agents and modes that it cannot be for. */
  isForSomebody(rule: Partial<Rule>, name: string, at: JsonPath): void {
    for (const mode of rule.in?.modes ?? []) {
      const place = under(under(at, 'in'), 'modes')
      const meant = meantMode(mode)
      if (meant !== undefined)
        this.#problems.wrong(
          `${name}: there is no permission mode ${shown(mode)}`,
          place,
          `Did you mean "${meant}"?`,
        )
      else if (!PERMISSION_MODES.includes(mode))
        this.#problems.note(
          `${name}: no known agent has the permission mode ${shown(mode)}`,
          place,
          `Agents have ${PERMISSION_MODES.join(', ')}.`,
        )
    }
    for (const agent of rule.in?.agents ?? []) {
      if (this.#agents.includes(agent)) continue
      this.#problems.wrong(
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
      this.#problems.wrong(`${name}: ${shown(key)} is not a field of the effect ${lacking}`, place, todo)
      return
    }
    for (const kind of kinds) {
      const type = fieldsOf(kind)[key]?.[0] as FieldType
      const problem = valueProblem(type, value)
      if (problem === undefined) continue
      this.#problems.wrong(
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
        this.#problems.wrong(`${name}: "${key}" is never ${shown(one)}: ${never.why}`, place, never.todo)
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
      this.#problems.wrong(
        `${name}: the effect ${bare} has nothing that "${key}" could mean`,
        place,
        `Remove "${key}", or the effect.`,
      )
    for (const [i, pattern] of patterns.entries()) {
      // Said once; the rest of such a file is not worth the time.
      if (this.#expanded > MOST_EXPANDED) return
      const where = typeof rule[key] === 'string' ? place : under(place, i)
      if (pattern.length > LONGEST_PATTERN)
        this.#problems.wrong(`${name}: a pattern may have at most ${LONGEST_PATTERN} characters`, where)
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
      this.#problems.wrong(`${name}: ${shown(pattern)} never applies: ${never.why}`, at, never.todo)
      return
    }
  }

  #expand(pattern: string, name: string, at: JsonPath): readonly string[] {
    const all = alternatives(pattern, MOST_ALTERNATIVES) ?? []
    this.#expanded += all.length
    if (all.length === 0)
      this.#problems.wrong(
        `${name}: the braces in ${shown(pattern)} cannot be read`,
        at,
        `Write {a,b} with at most ${MOST_ALTERNATIVES} alternatives.`,
      )
    else if (this.#expanded > MOST_EXPANDED)
      this.#problems.wrong(
        `${name}: the file has more than ${MOST_EXPANDED} patterns; {a,b} counts as two`,
        at,
        'Use stars, so that fewer patterns say the same.',
      )
    return all
  }
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

function valueProblem(type: FieldType, value: unknown): string | undefined {
  if (type === 'flag') return typeof value === 'boolean' ? undefined : 'true or false'
  const texts = typeof value === 'string' ? [value] : value
  const areTexts =
    Array.isArray(texts) && texts.length > 0 && texts.every((one) => typeof one === 'string' && one !== '')
  if (type === 'text') return areTexts ? undefined : 'a text or a list of texts'
  const known = type.map((word) => `"${word}"`).join(', ')
  return areTexts && texts.every((one) => type.includes(one)) ? undefined : `one or more of ${known}`
}
