// The limits of the rules of one file: which of the rules that a call met are beyond theirs, and what is counted for them.

import { digest, grantDigest } from '../../core/base/digest.js'
import type { Count, Counted, Counting } from '../../core/hooks/count.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { sameCallDigest } from '../../effects/tools/same-call.js'
import { countedMost, type Limit, limitOf, limitText, MILLIONTHS, uncountedOf } from '../../rules/limit.js'
import type { Rule } from '../../rules/rule.js'
import type { Hit } from '../../rules/rules-in-force.js'
import { usageOf } from '../../rules/usage.js'

/** The file that rules are in. */
export interface RulesSource {
  readonly file: string
  /** The same on every machine: whose file it is. */
  readonly owner: readonly string[]
  readonly isTrusted: boolean
}

/** Hits of rules within their limit are gone. Warnings are about limits that nobody could count. */
export interface Settled {
  readonly hits: readonly Hit[]
  readonly warnings: readonly string[]
}

export async function settled(
  hits: readonly Hit[],
  event: HookEvent,
  source: RulesSource,
  count: Count = cannotCount,
): Promise<Settled> {
  const limited = new Map(hits.flatMap(({ rule }) => (limitOf(rule) ? [[rule.id, rule]] : [])))
  if (limited.size === 0) return { hits, warnings: [] }
  const warnings: string[] = []
  const beyond = new Map<string, (hit: Hit) => Hit>()
  // At one time: a fleet that does not answer costs its time-out once.
  const all = await Promise.all(
    [...limited.values()].map(async (rule) => {
      const limit = limitOf(rule) as Limit
      return { rule, limit, counted: await countedFor(rule, limit, event, source, count) }
    }),
  )
  for (const { rule, limit, counted } of all) {
    if ('problem' in counted) {
      if (uncountedOf(rule) === 'warn') warnings.push(uncountedText(rule, limit, counted.problem))
      else beyond.set(rule.id, (hit) => uncountedHit(hit, limit, counted.problem))
    } else if (counted.isReached)
      beyond.set(rule.id, (hit) => ({ ...hit, because: `there may be ${limitText(limit)}` }))
  }
  return {
    hits: hits.flatMap((hit) => (limited.has(hit.rule.id) ? (beyond.get(hit.rule.id)?.(hit) ?? []) : [hit])),
    warnings,
  }
}

function countedFor(
  rule: Rule,
  limit: Limit,
  event: HookEvent,
  source: RulesSource,
  count: Count,
): ReturnType<Count> {
  // Nobody agreed to tell other machines what calls meet it.
  if (limit.across && !source.isTrusted) return { problem: 'the file is not trusted' }
  return count(countingOf(rule, limit, event, source))
}

const cannotCount: Count = (): Counted => ({ problem: 'the call belongs to no session' })

/** Without a word about it, the rule does what it would do beyond its limit. */
function uncountedHit({ rule, effect, as }: Hit, limit: Limit, problem: string): Hit {
  const then = uncountedOf(rule) === 'deny' || rule.then === 'end_turn' ? 'deny' : rule.then
  const because = `there may be ${limitText(limit)}, which cannot be counted (${problem})`
  return { rule: { ...rule, then }, effect, because, ...(as ? { as } : {}) }
}

function uncountedText({ id }: Rule, limit: Limit, problem: string): string {
  return `The limit of the rule ${id} is off, ${limitText(limit)}: it cannot be counted (${problem})`
}

function countingOf(rule: Rule, limit: Limit, event: HookEvent, source: RulesSource): Counting {
  const key = keyOf(rule, limit, source)
  const shared = { per: limit.per, most: countedMost(limit), call: callOf(event), ...acrossOf(limit) }
  switch (limit.kind) {
    case 'at_most':
      return { ...shared, key }
    case 'same_call':
      return { ...shared, key: `${key}${sameCallDigest(event.name, event.data).slice(0, 16)}`, among: key }
    case 'denies':
      // countAfter counts it. A call that another registration has denied just now is not one more.
      return { ...shared, key, isBrief: true, add: 0 }
    default:
      // countAfter counts it.
      return { ...shared, key, call: undefined, add: 0 }
  }
}

function acrossOf({ across }: Limit): Pick<Counting, 'across'> {
  return across ? { across } : {}
}

/** A rule that is changed in its file goes on with its count. In a fleet, the rules of one id and owner count together. */
function keyOf({ id, mode }: Rule, { kind, per, across }: Limit, { file, owner }: RulesSource): string {
  // In shadow mode it counts apart: it must not change what happens on other machines.
  const where = across ? [across, ...owner, mode === 'shadow'] : [file]
  return digest([...where, id, kind, per]).slice(0, 16)
}

/** With its input, because models may give two calls the same id. */
function callOf({ name, data }: HookEvent): string | undefined {
  const id = idOf(data)
  return id === undefined ? undefined : `${id}${grantDigest(name, data).slice(0, 16)}`
}

function idOf({ tool_use_id: id }: HookEvent['data']): string | undefined {
  return typeof id === 'string' && id !== '' ? digest([id]).slice(0, 16) : undefined
}

// ---- what is counted after an event ---------------------------------------------------------------------------

/** The events that have to be watched for these rules. */
export function watchedFor(rules: readonly Rule[]): readonly string[] {
  const kinds = new Set(rules.map((rule) => limitOf(rule)?.kind))
  return [
    ...(kinds.has('denies') || isOfCalls(kinds) ? ['PreToolUse'] : []),
    ...(isOfCalls(kinds) ? ['PostToolUse', 'PostToolUseFailure'] : []),
    ...(kinds.has('tokens') || kinds.has('cost') ? ['ModelResponse'] : []),
  ]
}

function isOfCalls(kinds: ReadonlySet<string | undefined>): boolean {
  return kinds.has('at_most') || kinds.has('same_call')
}

/** Throws an Error if something could not be counted, which is then reported. */
export async function countAfter(
  rules: readonly Rule[],
  event: HookEvent,
  isDenied: boolean,
  source: RulesSource,
  count: Count = cannotCount,
): Promise<void> {
  const { name, data } = event
  const usage = name === 'ModelResponse' ? usageOf(data) : undefined
  const counting = rules.flatMap((rule): readonly (Counting | string)[] => {
    const limit = limitOf(rule)
    if (!limit || (limit.across && !source.isTrusted)) return []
    const { kind, per } = limit
    const key = keyOf(rule, limit, source)
    const shared = { key, per, most: Number.POSITIVE_INFINITY, ...acrossOf(limit) }
    const isRefused = name === 'PreToolUse' && isDenied
    // Briefly: an agent that uses ids again may send the same call until it passes.
    if (kind === 'denies') return isRefused ? [{ ...shared, call: callOf(event), isBrief: true }] : []
    if (kind === 'at_most' || kind === 'same_call') {
      const call = idOf(data)
      const isOver = isRefused || name === 'PostToolUse' || name === 'PostToolUseFailure'
      return isOver && call !== undefined ? [{ ...shared, call, isOver }] : []
    }
    if (!usage) return []
    const used = usage[kind]
    if (used === undefined) return [`the response of ${String(data.model)} does not say its ${kind}`]
    const add = Math.ceil(kind === 'cost' ? used * MILLIONTHS : used)
    return [{ ...shared, add: Math.min(add, Number.MAX_SAFE_INTEGER) }]
  })
  const problems: string[] = []
  for (const one of counting) {
    const counted = typeof one === 'string' ? { problem: one } : await count(one)
    if ('problem' in counted) problems.push(counted.problem)
  }
  if (problems.length > 0)
    throw new Error(`a limit in ${source.file} could not be counted: ${[...new Set(problems)].join('; ')}`)
}
