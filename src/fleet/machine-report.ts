// What a machine says about itself to its fleet: the policy that it obeys, its agents, and whether they are guarded.

import { count, fieldsOf, flag, listOf, optional, type Reader, text } from '../files/fields.js'
import { timeField } from '../files/fleet/policy.js'

export interface MachineReport {
  /** Whose agents these are. Absent in reports of older versions. */
  readonly user?: string
  /** The version of Carabiner. */
  readonly carabiner: string
  /** The clock of the machine, ISO-8601. */
  readonly time: string
  /** Whether the machine's users cannot undo its membership. */
  readonly binding: boolean
  readonly policy?: PolicyReport
  /** Why the policy cannot be relied on. Then every tool call is refused. */
  readonly problem?: string
  readonly agents: readonly AgentReport[]
  /** Agents that the policy wants guarded, and that do not ask Carabiner here. */
  readonly missing: readonly string[]
}

export interface PolicyReport {
  /** The version of the roll-out, and of the bundles that it gives to this machine. */
  readonly rollout: number
  readonly enforced?: number
  readonly shadow?: number
  /** ISO-8601. */
  readonly expires: string
  /** When the newest was signed that the machine was told, ISO-8601. */
  readonly signed?: string
}

/** An agent that was found on the machine. */
export interface AgentReport {
  readonly name: string
  /** Whether it asks Carabiner. */
  readonly asks: boolean
  /** Its program is there, but this user has no settings of it: it may be for others. */
  readonly unused?: true
  /** The last proof that it obeys. */
  readonly proof?: ProofReport
}

export interface ProofReport {
  /** ISO-8601. */
  readonly at: string
  readonly ok: boolean
  /** Something that it depends on has changed since. */
  readonly stale: boolean
}

/** The longest text of a report, in UTF-16 units. */
export const LONGEST_TEXT = 1000
/** The longest name of a user. */
export const LONGEST_USER = 100
const MOST = 100

function noLonger(most: number): Reader<string> {
  return (value, where) => {
    const read = text(value, where)
    if (read.length <= most) return read
    throw new Error(`is not valid: ${where} is longer than ${most} characters`)
  }
}

const short = noLonger(LONGEST_TEXT)

function few<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, where) => {
    const read = listOf(item)(value, where)
    if (read.length <= MOST) return read
    throw new Error(`is not valid: ${where} has more than ${MOST} items`)
  }
}

const policy: Reader<PolicyReport> = (value, where) => {
  const { rollout, enforced, shadow, expires, signed } = fieldsOf(value, where)
  return {
    rollout: count(rollout, `${where}.rollout`),
    ...optional('enforced', enforced, count, where),
    ...optional('shadow', shadow, count, where),
    expires: timeField(expires, `${where}.expires`),
    ...optional('signed', signed, timeField, where),
  }
}

const proof: Reader<ProofReport> = (value, where) => {
  const { at, ok, stale } = fieldsOf(value, where)
  return {
    at: timeField(at, `${where}.at`),
    ok: flag(ok, `${where}.ok`),
    stale: flag(stale, `${where}.stale`),
  }
}

const agent: Reader<AgentReport> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: short(fields.name, `${where}.name`),
    asks: flag(fields.asks, `${where}.asks`),
    ...(fields.unused === true && { unused: true as const }),
    ...optional('proof', fields.proof, proof, where),
  }
}

export const machineReport: Reader<MachineReport> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    ...optional('user', fields.user, noLonger(LONGEST_USER), where),
    carabiner: short(fields.carabiner, `${where}.carabiner`),
    time: timeField(fields.time, `${where}.time`),
    binding: flag(fields.binding, `${where}.binding`),
    ...optional('policy', fields.policy, policy, where),
    ...optional('problem', fields.problem, short, where),
    agents: few(agent)(fields.agents, `${where}.agents`),
    missing: few(short)(fields.missing, `${where}.missing`),
  }
}
