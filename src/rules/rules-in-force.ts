// The rules of one file, ready to judge: which of them a call's effects meet, and which words of the call do it.

import type { Effect, EffectKind } from '../effects/effect.js'
import { onMatchedFiles } from '../effects/matched-files.js'
import { subjectsOf } from './effect-kinds.js'
import { limitOf } from './limit.js'
import type { Roots } from './path-pattern.js'
import { presetRules } from './presets.js'
import { endOf, type RedactedText, type Rule, type Rules, type Then } from './rule.js'
import { type MayMeet, type Meets, mayMeeting, meeting } from './rule-condition.js'
import { type Candidates, candidatesAmong } from './rule-index.js'

/** A rule that an effect of the call met. */
export interface Hit {
  readonly rule: Rule
  readonly effect: Effect
  /** Why the rule counts now, if it has a limit, or if it is not certain that it does. */
  readonly because?: string
  /** What follows, if it is less than the rule says. */
  readonly as?: 'ask'
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

interface Timed {
  readonly rule: Rule
  /** When it begins and ends, in milliseconds. */
  readonly from: number
  readonly until: number
  /** Whether its condition is that of a preset, which has rules of its own for what is only known when a call runs. */
  readonly isShipped: boolean
}

interface Compiled extends Timed {
  readonly meets: Meets
  /** For effects that depend on something that is only known when the call runs. */
  readonly mayMeet: MayMeet | undefined
}

/** The rules about one kind of effect. */
interface OfKind {
  readonly rules: readonly Compiled[]
  readonly candidates: Candidates
}

/** `shipped`: the rules that those of the file change by id. */
export function rulesInForce(
  { preset, rules }: Rules,
  roots: Roots,
  shipped: readonly Rule[] = presetRules(preset),
): RulesInForce {
  const timedAll = timedRules(rules, shipped)
  const compiled = new Map<EffectKind, OfKind>()
  /** Most calls have effects of few kinds. */
  const rulesOf = (kind: EffectKind): OfKind => {
    const known = compiled.get(kind) ?? compiledFor(kind, timedAll, roots)
    compiled.set(kind, known)
    return known
  }
  return {
    all: timedAll.map(({ rule }) => rule),
    judge: (effects, { permissionMode, agent, now }) => {
      const hits: Hit[] = []
      const isNow = ({ rule, from, until }: Timed) =>
        now >= from && now < until && isIn(rule, permissionMode, agent)
      for (const effect of effects) {
        const { rules, candidates } = rulesOf(effect.kind)
        if (rules.length === 0 && !isUnparsed(effect) && effect.kind !== 'move') continue
        const before = hits.length
        const subjects = subjectsOf(effect)
        for (const i of candidates(subjects)) {
          const one = rules[i] as Compiled
          const { rule, meets, mayMeet } = one
          const isMet = meets(effect, subjects)
          const because = isMet ? undefined : mayMeet?.(effect, subjects)
          if ((!isMet && because === undefined) || !isNow(one)) continue
          if (effect.guess && rule.where?.guess !== true) continue
          hits.push(because === undefined ? { rule, effect } : uncertainHit(rule, effect, because))
        }
        hits.push(...onFiles(effect, rules.filter(isNow), hits.slice(before)))
        if (effect.kind === 'move' && effect.place.known && effect.to.known)
          hits.push(...lostByMove(effect, rulesOf('delete').rules.filter(isNow)))
        if (isUnparsed(effect) && !hits.slice(before).some(decides))
          hits.push(...maybeMet(timedAll.filter(isNow), effect))
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

/** A pattern is never judged more mildly than a file that it matches. Rules that it has met already are left out. */
function onFiles(effect: Effect, rules: readonly Compiled[], met: readonly Hit[]): readonly Hit[] {
  const files = onMatchedFiles(effect)
  if (files.length === 0) return []
  return rules
    .filter(({ rule }) => rule.then !== 'allow' && !met.some((hit) => hit.rule === rule))
    .filter(({ rule }) => !effect.guess || rule.where?.guess === true)
    .flatMap(({ rule, meets }) => {
      const file = files.find((one) => meets(one, subjectsOf(one)))
      return file ? [{ rule, effect: file }] : []
    })
}

function isUnparsed(effect: Effect): boolean {
  return effect.kind === 'unknown' && effect.unparsed === true && !effect.guess
}

/** Whether the rule says what follows. One that only tells something, or is in shadow mode, does not. */
function decides({ rule: { then, mode } }: Hit): boolean {
  return mode !== 'shadow' && (then === 'allow' || FORBIDDING.has(then))
}

/** What was not read may do what a rule forbids or asks about. Asking is enough: most such calls are only long. */
function maybeMet(rules: readonly Timed[], effect: Effect): readonly Hit[] {
  const forbidding = rules
    .map(({ rule }) => rule)
    .filter((rule) => !rule.redact && !limitOf(rule) && FORBIDDING.has(rule.then))
  // A rule in shadow mode asks nobody, so it does not stand for the others.
  const rule = forbidding.find(({ mode }) => mode !== 'shadow') ?? forbidding[0]
  return rule ? [{ rule, effect, as: 'ask', because: 'it may be met' }] : []
}

/** A rule about deletes counts for what leaves the places that it is about. Within them, it only gets another name. */
function lostByMove(
  effect: Extract<Effect, { readonly kind: 'move' }>,
  rules: readonly Compiled[],
): readonly Hit[] {
  const { to, ...rest } = effect
  const gone: Effect = { ...rest, kind: 'delete' }
  const there: Effect = { ...gone, place: { ...to, deep: effect.place.deep } }
  return rules
    .filter(({ rule }) => FORBIDDING.has(rule.then) && !rule.effects.includes('move') && rule.effects !== '*')
    .filter(({ rule }) => !effect.guess || rule.where?.guess === true)
    .filter(({ meets }) => meets(gone, subjectsOf(gone)) && !meets(there, subjectsOf(there)))
    .map(({ rule }) => ({ rule, effect }))
}

function compiledFor(kind: EffectKind, all: readonly Timed[], roots: Roots): OfKind {
  const conditions = new Map<string, Meets>()
  const rules = all
    .filter(({ rule }) => !rule.redact && (rule.effects === '*' || rule.effects.includes(kind)))
    .map((timed): Compiled => {
      const { then, where, of, except, unless } = timed.rule
      const key = JSON.stringify([then === 'allow', where, of, except, unless])
      const meets = conditions.get(key) ?? onceForEach(meeting(timed.rule, kind, roots))
      conditions.set(key, meets)
      const asks = !timed.isShipped && (FORBIDDING.has(then) || then === 'rewrite')
      return { ...timed, meets, mayMeet: asks ? mayMeeting(timed.rule, kind, roots) : undefined }
    })
  const candidates = candidatesAmong(
    rules.map(({ rule }) => rule),
    kind,
    roots,
  )
  return { rules, candidates }
}

/** Rewriting is safe in any case, and asks where it is not possible. */
function uncertainHit(rule: Rule, effect: Effect, because: string): Hit {
  return rule.then === 'rewrite' ? { rule, effect } : { rule, effect, as: 'ask', because }
}

const FORBIDDING: ReadonlySet<Then> = new Set<Then>(['deny', 'ask', 'end_turn'])

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

/** After the last day of a change, the preset's own rule counts again. */
function timedRules(rules: readonly Rule[], shipped: readonly Rule[]): readonly Timed[] {
  const others = new Map(shipped.map((rule) => [rule.id, rule]))
  const own = rules.flatMap((given): Timed[] => {
    const before = others.get(given.id)
    others.delete(given.id)
    const rule = before ? { ...before, ...given } : given
    const until = (rule.until === undefined ? undefined : endOf(rule.until)) ?? Infinity
    return [
      ...(rule.off
        ? []
        : [{ rule, from: -Infinity, until, isShipped: before !== undefined && !given.of && !given.where }]),
      ...(before ? [{ rule: before, from: until, until: Infinity, isShipped: true }] : []),
    ]
  })
  return [
    ...[...others.values()].map((rule) => ({
      ...{ rule, from: -Infinity, until: Infinity },
      isShipped: true,
    })),
    ...own,
  ]
}
