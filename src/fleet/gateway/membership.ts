// Machines that join, leave, ask about themselves and their people, and report what they are.

import { isSignedBy, publicKeyFrom } from '../../files/ed25519.js'
import { fieldsOf, type Reader, text } from '../../files/fields.js'
import { readList } from '../database/people.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import { secretDigest } from '../join-token.js'
import { machineReport } from '../machine-report.js'
import {
  type JoinAnswer,
  type JoinRequest,
  joinText,
  MACHINE_NAME,
  type MachineAnswer,
  type PeopleAnswer,
} from '../protocol.js'
import { type Handler, read } from './request.js'

const joinRequest: Reader<JoinRequest> = (value, where) => {
  const fields = fieldsOf(value, where)
  const names = ['token', 'secret', 'name', 'key', 'signature'] as const
  return Object.fromEntries(
    names.map((name) => [name, text(fields[name], `${where}.${name}`)]),
  ) as unknown as JoinRequest
}

const WHY: Readonly<Record<string, string>> = {
  unknown: 'is not a token of this fleet',
  used: 'was used already',
  revoked: 'was revoked',
  expired: 'has expired',
}

export const join: Handler = async (request): Promise<JoinAnswer> => {
  const asked = read(request, joinRequest)
  const key = publicKeyFrom(asked.key)
  if (!key || !isSignedBy(key, joinText(asked), Buffer.from(asked.signature, 'base64url')))
    throw new GatewayRefusal('UNSIGNED', 'The request is not signed by the key that wants to join')
  if (!MACHINE_NAME.test(asked.name))
    throw new GatewayRefusal('INVALID', 'A name has at most 100 letters, digits, spaces and . _ @ + -')
  const [row] = await request.database.rows<{ status: string; id: string | null }>(
    'select * from fleet.join_machine($1, $2, $3, $4)',
    [asked.token, secretDigest(asked.secret), asked.name, key],
  )
  if (row?.status === 'key-used')
    throw new GatewayRefusal('KEY_USED', 'A machine of the fleet has or had this key')
  if (row?.status === 'name-taken')
    throw new GatewayRefusal('NAME_TAKEN', 'Another machine of the fleet has this name')
  if (row?.status !== 'joined' || row.id === null)
    throw new GatewayRefusal('TOKEN', `The token ${WHY[row?.status ?? 'unknown']}`)
  return { machine: row.id }
}

/** Whoever can use the key of a machine can ask this, an agent on it too. So it stays a machine of the fleet until it is retired. */
export const leave: Handler = async ({ database, machine }) => {
  await database.rows('select fleet.ask_to_leave($1)', [machine])
  return {}
}

export const self: Handler = async ({ database, machine }): Promise<MachineAnswer> => {
  const [row] = await database.rows<{ name: string; joined: Date; evidence: number }>(
    'select name, joined, fleet.evidence_of($1) as evidence from fleet.machine where org = fleet.own_org() and machine = $1',
    [machine],
  )
  await database.rows('select fleet.saw($1)', [machine])
  return {
    machine,
    name: row?.name ?? '',
    joined: row?.joined.toISOString() ?? '',
    evidence: row?.evidence ?? 0,
  }
}

/** What a machine says about itself. */
export const report: Handler = async (request) => {
  const said = read(request, machineReport)
  await request.database.rows('select fleet.keep_report($1, $2)', [request.machine, JSON.stringify(said)])
  return {}
}

/** The list of people, for machines that check who may allow. */
export const people: Handler = async ({ database }): Promise<PeopleAnswer> => {
  const newest = await readList(database)
  return newest ? { people: newest.signed } : {}
}
