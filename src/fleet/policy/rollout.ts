// The roll-out: which machines enforce which bundle, and which only try one. Pure: from one roll-out to the next.

import { hash } from 'node:crypto'
import { quoted } from '../../core/base/text.js'
import { fieldsOf, listOf, optional, type Reader, text } from '../../files/fields.js'
import { DEFAULT_EXPIRES_DAYS, MOST_EXPIRES_DAYS, sha256Field } from '../../files/fleet/policy.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import type { TargetEntry } from './metadata.js'

/** Who is in a ring: names with `*`, or a share of all machines, or, with neither, whoever is left. */
export interface RingPlan {
  readonly name: string
  readonly machines?: readonly string[]
  /** Up to this share. Rings count from the same end: 10 and then 50 is a tenth, and then four tenths more. */
  readonly percent?: number
}

export interface Ring extends RingPlan {
  /** Digests of bundles. */
  readonly enforced?: string
  readonly shadow?: string
  /** What was enforced before, for a rollback, the last one last. */
  readonly before?: readonly string[]
}

/** Machines that have rings of their own. The first group with a matching pattern counts. */
export interface GroupOf<R extends RingPlan> {
  readonly name: string
  readonly machines: readonly string[]
  readonly rings: readonly R[]
}

export type RolloutPlan = readonly GroupOf<RingPlan>[]
export type Rollout = readonly GroupOf<Ring>[]

/** The group of every machine that is in no other one. */
export const ALL = 'all'

export const DEFAULT_PLAN: RolloutPlan = [
  { name: ALL, machines: ['*'], rings: [{ name: '1', percent: 10 }, { name: '2' }] },
]

// ---- a machine finds itself -----------------------------------------------------------------------------------

export interface MachineName {
  readonly machine: string
  readonly name: string
}

/** Undefined if the roll-out has no group for it. */
export function ringOf(
  rollout: Rollout,
  machine: MachineName,
): { readonly group: string; readonly ring: Ring } | undefined {
  const group = rollout.find(({ machines }) => machines.some((pattern) => matches(pattern, machine.name)))
  const ring = group?.rings.find((one) => isIn(one, machine)) ?? group?.rings.at(-1)
  return group && ring && { group: group.name, ring }
}

function isIn({ machines, percent }: RingPlan, { machine, name }: MachineName): boolean {
  if (machines?.some((pattern) => matches(pattern, name))) return true
  if (percent !== undefined) return shareOf(machine) < percent
  return machines === undefined
}

/** From 0 up to 100, the same for ever. */
function shareOf(machine: string): number {
  return (Number.parseInt(hash('sha256', `carabiner-ring\n${machine}`).slice(0, 8), 16) / 2 ** 32) * 100
}

/** `*` stands for any letters. Takes time in proportion to both lengths, whatever the pattern is. */
export function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === name
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false
  const end = name.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

// ---- from one to the next -------------------------------------------------------------------------------------

/** Which rings of which group. Without a group: of all. */
export interface Where {
  readonly ring?: string
  readonly group?: string
}

/** Rings that are named as before keep their bundles. Others begin with what the last ring enforced, as they were part of it. */
export function planned(rollout: Rollout, plan: RolloutPlan): Rollout {
  return plan.map(({ name, machines, rings }) => {
    const before = rollout.find((group) => group.name === name) ?? rollout.find((group) => group.name === ALL)
    const { enforced, before: history } = before?.rings.at(-1) ?? {}
    return {
      ...{ name, machines },
      rings: rings.map((ring): Ring => {
        const known = before?.rings.find((one) => one.name === ring.name)
        return { ...planOf(ring), ...bundles(known ?? { enforced, before: history }) }
      }),
    }
  })
}

function bundles(ring: {
  enforced?: string | undefined
  shadow?: string | undefined
  before?: readonly string[] | undefined
}): Partial<Ring> {
  const { enforced, shadow, before = [] } = ring
  return {
    ...(enforced !== undefined && { enforced }),
    ...(shadow !== undefined && { shadow }),
    ...(before.length > 0 && { before }),
  }
}

/** Puts a bundle into a ring (the first, unless it is named). With `shadow`, what is enforced there stays. */
export function published(rollout: Rollout, digest: string, where: Where, shadow: boolean): Rollout {
  return changed(rollout, where, (rings) => {
    const at = where.ring === undefined ? 0 : rings.findIndex(({ name }) => name === where.ring)
    return rings.map((ring, i) => (i === at ? withBundle(ring, digest, shadow) : ring))
  })
}

/** The named ring and all before it enforce the bundle; without a name, the first ring that does not yet. */
export function promoted(rollout: Rollout, digest: string, where: Where): Rollout {
  return changed(rollout, where, (rings) => {
    const at =
      where.ring === undefined
        ? rings.findIndex(({ enforced }) => enforced !== digest)
        : rings.findIndex(({ name }) => name === where.ring)
    return rings.map((ring, i) => (i <= at ? withBundle(ring, digest, false) : ring))
  })
}

/** For a rollback: no policy at all. */
export const NO_POLICY = 'none'

/**
 * Rings that enforce or try the bundle go back to what they enforced before, or to `to`: a digest or `NO_POLICY`. Without a
 * bundle: rings that have none.
 */
export function rolledBack(rollout: Rollout, digest: string | undefined, where: Where, to?: string): Rollout {
  return changed(rollout, where, (rings) =>
    rings.map((ring) => {
      const isChosen = where.ring === undefined || where.ring === ring.name
      if (!isChosen || (ring.enforced !== digest && ring.shadow !== digest)) return ring
      const { enforced, before = [] } = ring
      if (enforced !== digest || enforced === to) return { ...planOf(ring), ...bundles({ enforced, before }) }
      const next = to === NO_POLICY ? undefined : (to ?? before.at(-1))
      return { ...planOf(ring), ...bundles({ enforced: next, before: before.slice(0, -1) }) }
    }),
  )
}

/** Rings that enforced a bundle before a change and none after it. */
export function strippedRings(before: Rollout, after: Rollout): readonly string[] {
  return before.flatMap((group, i) =>
    group.rings.flatMap(({ name, enforced }, j) => {
      const isStripped = enforced !== undefined && after[i]?.rings[j]?.enforced === undefined
      if (!isStripped) return []
      return [before.length > 1 ? `ring ${name} of ${group.name}` : `ring ${name}`]
    }),
  )
}

function planOf({ name, machines, percent }: RingPlan): RingPlan {
  return { name, ...(machines && { machines }), ...(percent !== undefined && { percent }) }
}

function withBundle(ring: Ring, digest: string, shadow: boolean): Ring {
  const { enforced, before } = ring
  if (shadow) return { ...planOf(ring), ...bundles({ enforced, before, shadow: digest }) }
  if (enforced === undefined || enforced === digest)
    return { ...planOf(ring), ...bundles({ enforced: digest, before }) }
  const [first, ...rest] = [...(before ?? []), enforced]
  const history = first === undefined ? [] : [first, ...rest.slice(1 - MOST_BEFORE)]
  return { ...planOf(ring), ...bundles({ enforced: digest, before: history }) }
}

/** The oldest always stays, so that no rollback leaves a ring without a policy that had one. */
const MOST_BEFORE = 5

/** Throws if there is no such group, or no such ring. */
function changed(
  rollout: Rollout,
  { group, ring }: Where,
  change: (rings: readonly Ring[]) => readonly Ring[],
): Rollout {
  const chosen = rollout.filter(({ name }) => group === undefined || name === group)
  if (chosen.length === 0)
    throw new Error(
      `there is no group ${quoted(group ?? '')}; there are: ${rollout.map(({ name }) => name).join(', ')}`,
    )
  const withRing = chosen.filter(({ rings }) => ring === undefined || rings.some(({ name }) => name === ring))
  if (withRing.length === 0) {
    const names = new Set(chosen.flatMap(({ rings }) => rings.map(({ name }) => name)))
    throw new Error(`there is no ring ${quoted(ring ?? '')}; there are: ${[...names].join(', ')}`)
  }
  return rollout.map((one) => (withRing.includes(one) ? { ...one, rings: change(one.rings) } : one))
}

/** Bundles that machines enforce or try now. */
export function digestsInUse(rollout: Rollout): ReadonlySet<string> {
  return new Set(
    rollout.flatMap(({ rings }) =>
      rings.flatMap(({ enforced, shadow }) => [enforced, shadow].filter((one) => one !== undefined)),
    ),
  )
}

/** How long machines rely on what they were told: the shortest time of all bundles that one of them may have. */
export function reliedOnDays(
  entries: readonly Pick<TargetEntry, 'digest' | 'custom'>[],
  rollout: Rollout,
): number {
  const used = digestsInUse(rollout)
  const days = entries.flatMap(({ digest, custom }) =>
    used.has(digest) && typeof custom?.expires_days === 'number' ? [custom.expires_days] : [],
  )
  return days.length === 0 ? DEFAULT_EXPIRES_DAYS : Math.max(0, Math.min(MOST_EXPIRES_DAYS, ...days))
}

/** Every bundle that a ring may need, for a rollback too. */
export function digestsIn(rollout: Rollout): ReadonlySet<string> {
  return new Set(
    rollout.flatMap(({ rings }) =>
      rings.flatMap(({ enforced, shadow, before = [] }) =>
        [enforced, shadow, ...before].filter((one) => one !== undefined),
      ),
    ),
  )
}

// ---- as text --------------------------------------------------------------------------------------------------

export function rolloutText(rollout: Rollout): string {
  return `${JSON.stringify({ format: FIRST_FORMAT, groups: rollout })}\n`
}

export function rolloutIn(content: string): Rollout {
  const fields = fieldsOf(JSON.parse(content), 'the roll-out')
  checkFormat(fields.format, 'the roll-out')
  const groups = listOf(groupOf(ring))(fields.groups, 'groups')
  checkNames(groups)
  return groups
}

const MOST_RINGS = 100

const percent: Reader<number> = (value, where) => {
  if (typeof value === 'number' && value >= 0 && value <= 100) return value
  throw new Error(`is not valid: ${where} must be a number from 0 to 100`)
}

const name: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (/^[\w.-]{1,50}$/.test(read)) return read
  throw new Error(`is not valid: ${where} must be a word of letters, digits and . _ -`)
}

const ringPlan: Reader<RingPlan> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: name(fields.name, `${where}.name`),
    ...optional('machines', fields.machines, listOf(text), where),
    ...optional('percent', fields.percent, percent, where),
  }
}

const ring: Reader<Ring> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    ...ringPlan(value, where),
    ...optional('enforced', fields.enforced, sha256Field, where),
    ...optional('shadow', fields.shadow, sha256Field, where),
    ...optional('before', fields.before, listOf(sha256Field), where),
  }
}

function groupOf<R extends RingPlan>(one: Reader<R>): Reader<GroupOf<R>> {
  return (value, where) => {
    const fields = fieldsOf(value, where)
    const rings = listOf(one)(fields.rings, `${where}.rings`)
    if (rings.length === 0 || rings.length > MOST_RINGS)
      throw new Error(`is not valid: ${where}.rings must have from 1 to ${MOST_RINGS} rings`)
    return {
      name: name(fields.name, `${where}.name`),
      machines: listOf(text)(fields.machines, `${where}.machines`),
      rings,
    }
  }
}

function checkNames(groups: RolloutPlan): void {
  for (const names of [
    groups.map((group) => group.name),
    ...groups.map(({ rings }) => rings.map((one) => one.name)),
  ])
    if (new Set(names).size < names.length)
      throw new Error('is not valid: two groups, or two rings of a group, have the same name')
}

/** `groups` and `rings` of policy.json: `{"ci": ["ci-*"]}`, and rings that all groups have. */
export function rolloutPlan(value: { groups?: unknown; rings?: unknown }, where: string): RolloutPlan {
  const [defaults] = DEFAULT_PLAN
  const rings =
    value.rings === undefined ? (defaults?.rings ?? []) : listOf(ringPlan)(value.rings, `${where}: rings`)
  const named = Object.entries(fieldsOf(value.groups ?? {}, `${where}: groups`))
  const all = [...named.filter(([group]) => group !== ALL), [ALL, ['*']] as const]
  const plan = all.map(([group, machines]) =>
    groupOf(ringPlan)({ name: group, machines, rings }, `${where}: group ${group}`),
  )
  checkNames(plan)
  return plan
}
