// The limit of a rule: what it counts, how much there may be in which period, and what follows while nothing can be counted.

import { PERIODS, type Period } from '../core/hooks/count.js'

/** What may be limited. In a rule, each is a field of this name. */
export const LIMITS = {
  at_most: {
    most: 1_000_000,
    whole: true,
    means: 'The rule counts only after this many calls that meet it.',
    text: (n: number) => `${n} such ${n === 1 ? 'call' : 'calls'}`,
  },
  same_call: {
    most: 1_000_000,
    whole: true,
    means: 'The rule counts only after the same call was made this many times.',
    text: (n: number) => `the same call ${n === 1 ? 'once' : `${n} times`}`,
  },
  tokens: {
    most: 1_000_000_000_000,
    whole: true,
    means: 'The rule counts only after models used this many tokens.',
    text: (n: number) => `${n} ${n === 1 ? 'token' : 'tokens'}`,
  },
  cost: {
    most: 1_000_000,
    whole: false,
    means:
      'The rule counts only after models cost this much, in the currency that their responses name it in.',
    text: (n: number) => `a cost of ${n}`,
  },
  denies: {
    most: 1_000_000,
    whole: true,
    means: 'The rule counts only after this many calls were denied.',
    text: (n: number) => `${n} denied ${n === 1 ? 'call' : 'calls'}`,
  },
} as const

export type LimitKind = keyof typeof LIMITS
export const LIMIT_KINDS = Object.keys(LIMITS) as readonly LimitKind[]
export { PERIODS, type Period }

export const UNCOUNTED = ['deny', 'warn'] as const
export const ACROSS = ['fleet'] as const

/** The fields of a rule that are about its limit. */
export type Limited = { readonly [K in LimitKind]?: number } & {
  readonly per?: Period
  /** All machines of the fleet count together. Absent: this machine counts for itself. */
  readonly across?: (typeof ACROSS)[number]
  /** What follows while it cannot be counted. Default: what follows beyond it; across the fleet, `deny`. */
  readonly uncounted?: (typeof UNCOUNTED)[number]
}

export interface Limit {
  readonly kind: LimitKind
  readonly most: number
  readonly per: Period
  readonly across: Limited['across']
}

/** Those that the rule has. A file that was checked has at most one. */
export function limitKindsOf(rule: Limited): readonly LimitKind[] {
  return LIMIT_KINDS.filter((kind) => rule[kind] !== undefined)
}

export function limitOf(rule: Limited): Limit | undefined {
  const [kind] = limitKindsOf(rule)
  const most = kind && rule[kind]
  return kind === undefined || most === undefined || rule.per === undefined
    ? undefined
    : { kind, most, per: rule.per, across: rule.across }
}

/** What follows while the limit cannot be counted. Undefined: what follows beyond it. */
export function uncountedOf({ uncounted, across }: Limited): Limited['uncounted'] {
  return uncounted ?? (across && 'deny')
}

/** `at most 3 such calls per session`. */
export function limitText({ kind, most, per, across }: Limit): string {
  return `at most ${LIMITS[kind].text(most)} per ${per}${across ? ' in the whole fleet' : ''}`
}

/** Costs are counted in millionths, because counts are whole numbers. */
export const MILLIONTHS = 1_000_000

/** The most in whole numbers. */
export function countedMost({ kind, most }: Limit): number {
  return kind === 'cost' ? Math.ceil(most * MILLIONTHS) : most
}
