// The answer to a call: the strictest of the rules that it met, in words for the agent and the person.

import {
  abortTurn,
  askUser,
  CONTINUE,
  deny,
  type HookResult,
  inject,
  proceed,
} from '../core/events/result.js'
import type { Effect } from '../effects/effect.js'
import { effectText } from './effect-kinds.js'
import { limitOf, limitText } from './limit.js'
import type { Then } from './rule.js'
import type { Hit } from './rules-in-force.js'

/** Whose words may be shown, and how far the rules may go. */
export interface Authority {
  /** `deny`: the file is not trusted, so it can only refuse, in our words. */
  readonly may: 'all' | 'deny'
  /** The file, for people. */
  readonly file: string
}

export interface Verdict {
  readonly result: HookResult
  /** What rules in shadow mode would have done. */
  readonly shadows: readonly string[]
}

/** The hits of rules that have a say. */
export function countedOf(hits: readonly Hit[], { may }: Authority): readonly Hit[] {
  return may === 'all' ? hits : hits.filter(({ rule }) => rule.then === 'deny')
}

export function verdictOf(hits: readonly Hit[], effects: readonly Effect[], authority: Authority): Verdict {
  const counted = countedOf(hits, authority)
  const enforced = counted.filter(({ rule }) => rule.mode !== 'shadow')
  return { result: resultOf(enforced, effects, authority), shadows: shadowsOf(counted, authority) }
}

/** What untrusted rules would have done that only trusted ones may. Their limits are not counted, so they may be exceeded. */
export function untrustedOf(hits: readonly Hit[], { may, file }: Authority): readonly string[] {
  if (may === 'all') return []
  const held = hits.filter(({ rule }) => HELD.has(rule.then) && rule.mode !== 'shadow')
  const texts = held.map(({ rule, effect }) => {
    const beyond = limitOf(rule) === undefined ? '' : ' beyond its limit'
    return `a rule in ${file} would ${DOES[rule.then]}${beyond}, but does not count until you trust it (carabiner trust): the call would ${shortened(effectText(effect))}`
  })
  return [...new Set(texts)].slice(0, MOST_NAMED)
}

/** What may stop or change a call. */
const HELD: ReadonlySet<Then> = new Set(['end_turn', 'ask', 'rewrite'])

function resultOf(hits: readonly Hit[], effects: readonly Effect[], authority: Authority): HookResult {
  if (hits.length === 0) return CONTINUE
  const told = [...new Set(of(hits, 'tell').map(({ rule }) => rule.say ?? ''))].join('\n')
  const more = told === '' ? {} : { contextInjection: told }
  const ends = of(hits, 'end_turn')
  if (ends.length > 0) return abortTurn(reasonOf([...ends, ...of(hits, 'deny')], authority), more)
  const denies = of(hits, 'deny')
  if (denies.length > 0) return deny(reasonOf(denies, authority), more)
  const asks = of(hits, 'ask')
  if (asks.length > 0) {
    const text = reasonOf(asks, authority)
    const people = Math.max(...asks.map(({ rule }) => rule.people ?? 1))
    return askUser(text, { ...more, reason: text, ...(people > 1 && { approvalPeople: people }) })
  }
  const allowed = new Set(of(hits, 'allow').map(({ effect }) => effect))
  if (allowed.size > 0 && effects.every((effect) => allowed.has(effect)))
    return proceed({ ...more, permission: 'allow' })
  return told === '' ? CONTINUE : inject(told)
}

/** Every rule that the call meets, for people who ask in advance. */
export function foreseen(
  hits: readonly Hit[],
  effects: readonly Effect[],
  authority: Authority,
): readonly string[] {
  const met = hits.map((hit) => {
    const { rule, effect } = hit
    const counts =
      authority.may === 'all' || rule.then === 'deny' ? '' : ', which does not count without trust'
    const shadow = rule.mode === 'shadow' ? ', in shadow mode' : ''
    const words = effect.by === '' ? '' : ` (${shortened(effect.by)})`
    const limit = limitOf(rule)
    const beyond = limit ? ` beyond ${limitText(limit)}` : ''
    return `${thenOf(hit)} by ${rule.id}${beyond}${shadow}${counts}: it would ${shortened(effectText(effect))}${words}`
  })
  const others = effects.filter((effect) => hits.every((hit) => hit.effect !== effect))
  const rest = others
    .slice(0, MOST_NAMED)
    .map((effect) => `no rule: it would ${shortened(effectText(effect))}`)
  return [...new Set([...met, ...rest])]
}

function of(hits: readonly Hit[], then: Then): readonly Hit[] {
  return hits.filter((hit) => thenOf(hit) === then)
}

/** What follows from a hit. */
export function thenOf({ rule, as }: Hit): Then {
  return as ?? rule.then
}

/** So many rules are named in one reason. */
const MOST_NAMED = 3

/** One sentence for each rule, with the first effect that met it. */
function reasonOf(hits: readonly Hit[], authority: Authority): string {
  const first = new Map(hits.toReversed().map((hit) => [hit.rule.id, hit]))
  const named = [...first.values()].reverse()
  const texts = named.slice(0, MOST_NAMED).map((hit) => hitText(hit, authority))
  const rest = named.length - texts.length
  return rest > 0
    ? `${texts.join('\n')}\n${rest} more ${rest === 1 ? 'rule applies' : 'rules apply'}.`
    : texts.join('\n')
}

function hitText(hit: Hit, { may, file }: Authority): string {
  const { rule, effect, because } = hit
  const words = effect.by === '' ? '' : ` (${shortened(effect.by)})`
  const what = `the call would ${shortened(effectText(effect))}${words}`
  const reason = because === undefined ? '' : `, because ${because}`
  if (may === 'deny') return `A rule in ${file} ${hit.as ? 'may forbid' : 'forbids'} this${reason}: ${what}.`
  const why = `The rule ${rule.id} ${VERBS[thenOf(hit)]}${reason}: ${what}.`
  return rule.say === undefined ? why : `${sentence(rule.say)} ${why}`
}

function shadowsOf(hits: readonly Hit[], authority: Authority): readonly string[] {
  const first = new Map(
    hits
      .filter(({ rule }) => rule.mode === 'shadow')
      .toReversed()
      .map((hit) => [hit.rule.id, hit]),
  )
  return [...first.values()].reverse().map(({ rule, effect, as }) => {
    const name = authority.may === 'all' ? `the rule ${rule.id}` : `a rule in ${authority.file}`
    return `${name} is in shadow mode and would ${DOES[as ?? rule.then]}: it would ${shortened(effectText(effect))}`
  })
}

const VERBS: Readonly<Record<Then, string>> = {
  end_turn: 'ends the turn',
  deny: 'forbids this',
  ask: 'asks first',
  rewrite: 'rewrites this',
  tell: 'tells something',
  allow: 'allows this',
}

const DOES: Readonly<Record<Then, string>> = {
  end_turn: 'have ended the turn',
  deny: 'have denied this call',
  ask: 'have asked about this call',
  rewrite: 'have rewritten this call',
  tell: 'have told the agent something',
  allow: 'have allowed this call',
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

const LONGEST = 300

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}
