// The rules of one file, ready to judge: which of them a call's effects meet, and which words of the call do it.

import type { Effect, EffectKind } from '../effects/effect.js'
import { EFFECT_KINDS, fieldsOf, patternsOf, type Subject, subjectsOf } from './effect-kinds.js'
import { type Certainty, type PlaceTest, pathPattern, type Roots } from './path-pattern.js'
import { presetRules } from './presets.js'
import { endOf, listOf, MOST_ALTERNATIVES, type RedactedText, type Rule, type Rules } from './rule.js'
import { alternatives, textPattern } from './text-pattern.js'

/** A rule that an effect of the call met. */
export interface Hit {
  readonly rule: Rule
  readonly effect: Effect
  /** Why the rule counts now, if it has a limit. */
  readonly because?: string
}

/** What counts besides the effects. */
export interface Situation {
  readonly permissionMode: string | undefined
  /** Such as `codex`. Undefined if it is not known. */
  readonly agent?: string | undefined
  /** In milliseconds. */
  readonly now: number
}

export interface RulesInForce {
  /** Also those that have ended. */
  readonly all: readonly Rule[]
  /** In the order of the effects, then of the file. */
  judge(effects: readonly Effect[], situation: Situation): readonly Hit[]
  /** The rules that remove secrets from such texts. */
  redacting(text: RedactedText, situation: Situation): readonly Rule[]
}

interface Compiled {
  readonly rule: Rule
  /** When it begins and ends, in milliseconds. */
  readonly from: number
  readonly until: number
  readonly meets: Meets
}

type Meets = (effect: Effect, subjects: readonly Subject[]) => boolean

export function rulesInForce(rules: Rules, roots: Roots): RulesInForce {
  const byKind = new Map<EffectKind, Compiled[]>(EFFECT_KINDS.map((kind) => [kind, []]))
  const conditions = new Map<string, Meets>()
  const timedAll = timedRules(rules)
  for (const timed of timedAll) {
    const { rule } = timed
    if (rule.redact) continue
    for (const kind of rule.effects === '*' ? EFFECT_KINDS : new Set(rule.effects)) {
      const key = JSON.stringify([kind, rule.then === 'allow', rule.where, rule.of, rule.except])
      const meets = conditions.get(key) ?? onceForEach(meeting(rule, kind, roots))
      conditions.set(key, meets)
      byKind.get(kind)?.push({ ...timed, meets })
    }
  }
  return {
    all: timedAll.map(({ rule }) => rule),
    judge: (effects, { permissionMode, agent, now }) => {
      const hits: Hit[] = []
      for (const effect of effects) {
        const subjects = subjectsOf(effect)
        for (const { rule, from, until, meets } of byKind.get(effect.kind) ?? []) {
          if (!meets(effect, subjects) || now < from || now >= until) continue
          if (!isIn(rule, permissionMode, agent)) continue
          if (!effect.guess || rule.where?.guess === true) hits.push({ rule, effect })
        }
      }
      return hits
    },
    redacting: (text, { permissionMode, agent, now }) =>
      timedAll
        .filter(({ rule, from, until }) => rule.redact?.includes(text) && now >= from && now < until)
        .map(({ rule }) => rule)
        .filter((rule) => isIn(rule, permissionMode, agent)),
  }
}

/** Rules with the same condition ask one after another about the same effect. */
function onceForEach(meets: Meets): Meets {
  let last: Effect | undefined
  let isMet = false
  return (effect, subjects) => {
    if (effect !== last) {
      isMet = meets(effect, subjects)
      last = effect
    }
    return isMet
  }
}

/** An agent that is not known could be any: a rule that forbids counts for it, and one that allows does not. */
function isIn(
  { in: only, then }: Rule,
  permissionMode: string | undefined,
  agent: string | undefined,
): boolean {
  if (only === undefined) return true
  if (only.modes && !only.modes.includes(permissionMode ?? 'default')) return false
  return only.agents === undefined || (agent === undefined ? then !== 'allow' : only.agents.includes(agent))
}

// ---- the preset and what the file changes in it ---------------------------------------------------------------

type Timed = Pick<Compiled, 'rule' | 'from' | 'until'>

/** After the last day of a change, the preset's own rule counts again. */
function timedRules({ preset, rules }: Rules): readonly Timed[] {
  const shipped = new Map(presetRules(preset).map((rule) => [rule.id, rule]))
  const own = rules.flatMap((given): Timed[] => {
    const before = shipped.get(given.id)
    shipped.delete(given.id)
    const rule = before ? { ...before, ...given } : given
    const until = (rule.until === undefined ? undefined : endOf(rule.until)) ?? Infinity
    return [
      ...(rule.off ? [] : [{ rule, from: -Infinity, until }]),
      ...(before ? [{ rule: before, from: until, until: Infinity }] : []),
    ]
  })
  return [...[...shipped.values()].map((rule) => ({ rule, from: -Infinity, until: Infinity })), ...own]
}

// ---- one rule -------------------------------------------------------------------------------------------------

/**
 * A rule that forbids counts for everything that it could mean, and its exceptions only if they certainly apply. A rule
 * that allows is the other way round.
 */
function meeting(rule: Rule, kind: EffectKind, roots: Roots): Meets {
  const [forOf, forExcept]: readonly Certainty[] = rule.then === 'allow' ? ['must', 'may'] : ['may', 'must']
  const where = whereTest(rule, kind)
  const of = rule.of === undefined ? undefined : subjectTest(listOf(rule.of), kind, roots)
  const except = rule.except === undefined ? undefined : subjectTest(listOf(rule.except), kind, roots)
  if (!of && !except) return where
  const isMeant = (subject: Subject) =>
    (!of || of(subject, forOf as Certainty)) && !except?.(subject, forExcept as Certainty)
  return (effect, subjects) => {
    if (!where(effect)) return false
    if (subjects.length === 0) return !of && rule.then !== 'allow'
    return rule.then === 'allow' ? subjects.every(isMeant) : subjects.some(isMeant)
  }
}

function whereTest({ where }: Rule, kind: EffectKind): (effect: Effect) => boolean {
  const fields = fieldsOf(kind)
  const tests = Object.entries(where ?? {}).map(([key, wanted]) => {
    const read = fields[key]?.[1] ?? (() => undefined)
    if (typeof wanted === 'boolean') return (effect: Effect) => read(effect) === wanted
    const words = listOf(wanted).map(textPattern)
    return (effect: Effect) => {
      const value = read(effect)
      return listOf(value as string | readonly string[] | undefined).some((one) =>
        words.some((test) => test(one, true)),
      )
    }
  })
  return (effect) => tests.every((test) => test(effect))
}

type SubjectTest = (subject: Subject, certainty: Certainty) => boolean

function subjectTest(patterns: readonly string[], kind: EffectKind, roots: Roots): SubjectTest {
  const all = patterns.flatMap((pattern) => alternatives(pattern, MOST_ALTERNATIVES) ?? [pattern])
  const places: readonly PlaceTest[] =
    patternsOf(kind) === 'paths' ? all.map((one) => pathPattern(one, roots)) : []
  const texts = all.map((one) => textPattern(one))
  const commands = all.map(commandPattern)
  return (subject, certainty) => {
    if ('place' in subject) return places.some((test) => test(subject.place, certainty))
    const { text } = subject
    if (text === undefined) return 'any' in subject && certainty === 'may'
    if ('isCommand' in subject) return commands.some((test) => test(text))
    return texts.some((test) => test(text, true))
  }
}

/** `npm publish` means every command that begins so, and `npm` also `/usr/bin/npm`. */
function commandPattern(pattern: string): (command: string) => boolean {
  const isMeant = /[*?]/.test(pattern) ? beginsLike(pattern) : beginsWith(pattern)
  return (command) => {
    if (isMeant(command)) return true
    const end = command.indexOf(' ')
    const slash = command.lastIndexOf('/', end < 0 ? undefined : end)
    return slash >= 0 && isMeant(command.slice(slash + 1))
  }
}

function beginsWith(words: string): (command: string) => boolean {
  return (command) =>
    command.startsWith(words) && (command.length === words.length || command[words.length] === ' ')
}

function beginsLike(pattern: string): (command: string) => boolean {
  const whole = textPattern(pattern)
  const longer = textPattern(`${pattern} *`)
  return (command) => whole(command, false) || longer(command, false)
}
