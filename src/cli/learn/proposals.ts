// Exceptions for what people allowed again and again, each no wider than what they allowed.

import { canonicalJson, type Data, type Json } from '../../core/base/json.js'
import type { Effect } from '../../effects/effect.js'
import { type EffectContext, effectsOf } from '../../effects/effects-of.js'
import { limitOf } from '../../rules/limit.js'
import type { Exception, Rule, Rules } from '../../rules/rule.js'
import { type Hit, rulesInForce, type Situation } from '../../rules/rules-in-force.js'
import type { KeptCall } from '../../store/audit-calls.js'
import type { RuleFile } from '../replay/rule-files.js'
import type { Decided } from './decided.js'
import { exceptionFor, secretTest, type Unlearnable } from './exception.js'

/** So often must a person have allowed something. */
export const LEAST = 3

export interface Proposal {
  /** The id of the rule that asked. */
  readonly rule: string
  readonly exception: Exception
  readonly effect: Effect
  /** The oldest first. */
  readonly approved: readonly Decided[]
}

/** Why nothing was proposed for calls that a person allowed. */
export type Withheld = Unlearnable | 'few' | 'denied' | 'forbidden' | 'others' | 'settled'

export const WITHHELD: Readonly<Record<Withheld, string>> = {
  few: `were allowed fewer than ${LEAST} times`,
  denied: 'were also denied by a person',
  forbidden: 'are forbidden by a rule or by the preset',
  secret: 'are about secrets',
  broad: 'name no path, host, program, branch or resource that could be excepted by itself',
  others: 'are asked about by other hooks, or by rules of the project or of plugins',
  settled: 'are no longer asked about',
}

export interface Learned {
  readonly proposals: readonly Proposal[]
  /** How many calls. */
  readonly withheld: ReadonlyMap<Withheld, number>
}

type Surroundings = Pick<EffectContext, 'projectDir' | 'home' | 'env' | 'settings'>

/** A decided call with what it would do. */
interface Looked {
  readonly decided: Decided
  readonly effects: readonly Effect[]
  readonly found: readonly Candidate[] | Withheld
}

interface Candidate {
  readonly rule: Rule
  readonly effect: Effect
  readonly exception: Exception
  readonly key: string
}

export async function learned(
  decided: readonly Decided[],
  files: readonly RuleFile[],
  around: Surroundings,
): Promise<Learned> {
  const own = files.find(({ isOwn }) => isOwn)
  const looker = new Looker(files, around)
  const looked: Looked[] = []
  for (const one of decided) looked.push(await looker.look(one))
  const allowed = looked.filter((one) => one.decided.decision === 'allow')
  const denied = looked.filter((one) => one.decided.decision === 'deny')
  const refused = new Set(denied.flatMap(({ found }) => candidatesIn(found).map(({ key }) => key)))
  const groups = groupsOf(allowed)
  const withheld = new Map<Withheld, number>()
  const withhold = (why: Withheld) => withheld.set(why, (withheld.get(why) ?? 0) + 1)
  for (const { found } of allowed) {
    if (typeof found === 'string') withhold(found)
    else if (found.some(({ key }) => refused.has(key))) withhold('denied')
    else if (found.every(({ key }) => (groups.get(key)?.calls.length ?? 0) < LEAST)) withhold('few')
  }
  const proposals = [...groups.values()]
    .filter(({ candidate, calls }) => calls.length >= LEAST && !refused.has(candidate.key))
    .map(({ candidate, calls }): Proposal & { readonly looked: readonly Looked[] } => ({
      rule: candidate.rule.id,
      exception: candidate.exception,
      effect: candidate.effect,
      approved: calls.map((one) => one.decided),
      looked: calls,
    }))
    .filter((proposal) => own !== undefined && holds(proposal, own.rules, denied, around))
    .map(({ looked: _, ...proposal }) => proposal)
  return { proposals, withheld }
}

class Looker {
  readonly #files: readonly RuleFile[]
  readonly #around: Surroundings
  readonly #isSecret
  readonly #preset

  constructor(files: readonly RuleFile[], around: Surroundings) {
    this.#files = files
    this.#around = around
    const roots = rootsOf(around)
    this.#isSecret = secretTest(roots)
    // Without changes by the user.
    const preset = files.find(({ isOwn }) => isOwn)?.rules.preset ?? 'standard'
    this.#preset = rulesInForce({ preset, rules: [] }, roots)
  }

  async look(decided: Decided): Promise<Looked> {
    const { call, cwd } = decided.kept
    const use = { name: String(call.tool_name), input: (call.tool_input ?? null) as Json }
    const effects = await effectsOf(use, { ...this.#around, cwd: cwd ?? this.#around.projectDir })
    return { decided, effects, found: this.#candidates(decided, effects) }
  }

  #candidates({ kept, hooks }: Decided, effects: readonly Effect[]): readonly Candidate[] | Withheld {
    const situation = situationOf(kept)
    const met = this.#files.map((file) => ({ ...file, hits: file.inForce.judge(effects, situation) }))
    const all = [...met.flatMap(({ hits }) => hits), ...this.#preset.judge(effects, situation)]
    // What a rule in shadow mode would deny is not for learning either.
    if (all.some(({ rule }) => rule.then === 'deny' || rule.then === 'end_turn')) return 'forbidden'
    const isOtherAsking = hooks.some(
      ({ kind, source, action }) => action === 'ask_user' && (kind !== 'rules' || source !== 'user'),
    )
    if (isOtherAsking || met.some(({ isOwn, hits }) => !isOwn && hits.some(isAsking))) return 'others'
    const asking = met.flatMap(({ isOwn, hits }) => (isOwn ? hits.filter(isAsking) : []))
    if (asking.length === 0) return 'settled'
    const found: Candidate[] = []
    for (const { rule, effect } of asking) {
      const exception = limitOf(rule) ? 'broad' : exceptionFor(effect, this.#isSecret)
      if (typeof exception === 'string') return exception
      const key = canonicalJson([rule.id, exception] as unknown as Data)
      found.push({ rule, effect, exception, key })
    }
    return found
  }
}

function situationOf({ mode, agent }: KeptCall): Situation {
  return { permissionMode: mode, agent, now: Date.now() }
}

function isAsking({ rule }: Hit): boolean {
  return rule.then === 'ask' && rule.mode !== 'shadow'
}

function candidatesIn(found: Looked['found']): readonly Candidate[] {
  return typeof found === 'string' ? [] : found
}

interface Group {
  readonly candidate: Candidate
  readonly calls: readonly Looked[]
}

function groupsOf(allowed: readonly Looked[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>()
  for (const looked of allowed)
    for (const candidate of new Map(candidatesIn(looked.found).map((one) => [one.key, one])).values()) {
      const before = groups.get(candidate.key)
      groups.set(candidate.key, { candidate, calls: [...(before?.calls ?? []), looked] })
    }
  return groups
}

// ---- proof ----------------------------------------------------------------------------------------------------

function rootsOf({ projectDir, home }: Surroundings): { readonly project: string; readonly home: string } {
  return { project: projectDir, home }
}

/** Whether the rule would then pass over what was allowed, and everything that was denied would still be asked about. */
function holds(
  { rule, exception, looked }: Proposal & { readonly looked: readonly Looked[] },
  rules: Rules,
  denied: readonly Looked[],
  around: Surroundings,
): boolean {
  const before = rulesInForce(rules, rootsOf(around))
  const after = rulesInForce(withException(rules, rule, exception), rootsOf(around))
  const hits = (inForce: typeof before, { effects, decided }: Looked) =>
    inForce.judge(effects, situationOf(decided.kept))
  const key = (one: Looked) => hits(before, one).length - hits(after, one).length
  return looked.every((one) => key(one) > 0) && denied.every((one) => key(one) === 0)
}

function withException(rules: Rules, id: string, exception: Exception): Rules {
  const changed = rules.rules.find((one) => one.id === id)
  const shipped = changed ?? ({ id } as Rule)
  const rule: Rule = { ...shipped, unless: [...(shipped.unless ?? []), exception] }
  return { ...rules, rules: [...rules.rules.filter((one) => one !== changed), rule] }
}
