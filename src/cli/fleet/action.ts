// An action of `carabiner fleet`, and what several of them need: the database, the membership, the gateway.

import { textOf } from '../../core/base/errors.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { callerEnv } from '../../files/caller.js'
import { fleetPlace } from '../../files/fleet-places.js'
import { type Database, openDatabase } from '../../fleet/database/connection.js'
import { GatewayRefusal } from '../../fleet/gateway-refusal.js'
import { type GatewayClient, Unavailable, Unreachable } from '../../fleet/machine/gateway-client.js'
import { clientOf } from '../../fleet/machine/joining.js'
import { type Member, readMember } from '../../fleet/machine/membership.js'
import type { Options } from '../command.js'
import type { Output } from '../output.js'
import { optionOf } from '../print/next-command.js'
import { Refusal, usage } from '../refusal.js'
import { refusing } from './failure.js'
import type { OPTIONS } from './options.js'

export interface Given {
  readonly options: Options<typeof OPTIONS>
  /** The arguments after the action. */
  readonly words: readonly string[]
  readonly output: Output
  readonly signal: AbortSignal | undefined
}

export interface Action {
  /** Returns the exit code. */
  run(given: Given): Promise<number>
}

export const DATABASE_VARIABLE = 'CARABINER_FLEET_DATABASE'

/** The address of the database. The variable keeps the password out of the list of processes. */
export function databaseUrl({ database }: Given['options']): string {
  const url = database ?? callerEnv()[DATABASE_VARIABLE]
  if (!url)
    throw usage(`Which database? Set ${DATABASE_VARIABLE}, or give --database postgresql://USER@HOST/NAME`)
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw usage(
    `The address of the database, in ${database === undefined ? DATABASE_VARIABLE : '--database'}, must begin with postgresql://`,
    'It looks like postgresql://USER:PASSWORD@HOST:5432/NAME.',
  )
}

/** Whether all machines are asked about. A machine of a fleet tells about itself unless a database is named. */
export function isAboutAll({ database, org }: Given['options']): boolean {
  if (database !== undefined || org !== undefined) return true
  return callerEnv()[DATABASE_VARIABLE] !== undefined && fleetPlace() === undefined
}

/** What the next command needs, too. */
const KEPT = ['gateway', 'ca', 'org', 'key', 'root-key'] as const

/** A command to type next, with the options that this one was given. A password is never printed. `taken`: those that it takes. */
export function again(
  line: string,
  { options }: Pick<Given, 'options'>,
  taken: readonly (typeof KEPT)[number][] = KEPT,
): string {
  const { database } = options
  const address = database && URL.canParse(database) ? new URL(database) : undefined
  const isOpen = address?.password === '' && !address.searchParams.has('password')
  const url = (isOpen ? database : undefined) ?? 'URL'
  const kept = taken.flatMap((name) => {
    const value = options[name]
    return value === undefined || line.includes(` --${name} `) ? [] : optionOf(`--${name}`, value)
  })
  const words = [...(database === undefined ? [] : ['--database', url]), ...kept]
  return [line, ...words.map(shellQuoted)].join(' ')
}

export function orgOf({ org = 'main' }: Given['options']): string {
  if (/^[\w.-]{1,100}$/.test(org)) return org
  throw usage(`--org must be a word of letters, digits and . _ -, got ${JSON.stringify(org)}`)
}

/** Opens the database for `work` and closes it. */
export async function withDatabase<T>(
  options: Given['options'],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const url = databaseUrl(options)
  const org = orgOf(options)
  return refusing(async () => {
    const database = await openDatabase({ url, org, connections: 2 })
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  })
}

/** Throws if this machine is in no fleet. */
export function memberOf(): Member {
  let member: Member | undefined
  try {
    member = readMember()
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', textOf(error))
  }
  if (member) return member
  throw new Refusal('NO_FLEET', 'This machine is in no fleet', {
    hint: 'carabiner fleet join URL --token TOKEN joins one.',
  })
}

/** Asks the gateway of this machine. */
export async function withGateway<T>(
  member: Member,
  work: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const client = clientOf(member)
  try {
    return await asked(() => work(client), member)
  } finally {
    client.close()
  }
}

/** Tells a gateway that refuses from one that does not answer. `ca`: what its certificate was checked against. */
export async function asked<T>(work: () => Promise<T>, { ca }: { readonly ca?: string } = {}): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GatewayRefusal)
      throw new Refusal('FLEET_REFUSED', `The gateway refuses: ${error.message}`, todoFor(error.code))
    if (error instanceof Unavailable)
      throw new Refusal('FLEET_UNAVAILABLE', sentence(error.message), { hint: UNAVAILABLE })
    if (error instanceof Unreachable)
      throw new Refusal(
        'FLEET_UNREACHABLE',
        sentence(error.message),
        todoFor(causeOf(error), ca !== undefined),
      )
    throw error
  }
}

/** The gateway tells nobody else what went wrong. */
export const UNAVAILABLE =
  'The gateway answered, so the network is well. Its own output says why, such as a database that is away.'

const OWN_AUTHORITY =
  'If its certificate comes from an authority of your own, give the certificate of that authority with --ca FILE when you join, or beside --gateway.'

const OTHER_AUTHORITY =
  'The certificate of the gateway was not signed by the authority that --ca named. Ask the administrator for the certificate of the right one.'

/** What to do, by the code of a refusal or of a failed connection. */
const TODO: Readonly<Record<string, string>> = {
  TOKEN:
    'A token works once, and not for long. Ask the administrator for a new one: carabiner fleet token makes it.',
  NAME_TAKEN:
    'Give another name with --name, or let the administrator retire the other machine: carabiner fleet machines retire NAME.',
  UNKNOWN_ROUTE: 'Check the address first: it has no path, unless a proxy in front of the gateway needs one.',
  UNKNOWN_MACHINE:
    'If the administrator has retired this machine, carabiner fleet leave --anyway forgets the fleet here.',
  ECONNRESET: 'If the gateway has a certificate, its address begins with https://.',
  EPROTO: 'Check the port. A gateway without a certificate is reached with http://, on its own machine only.',
  DEPTH_ZERO_SELF_SIGNED_CERT: OWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: OWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: OWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: OWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: OWN_AUTHORITY,
}

function todoFor(code: string, hasAuthority = false): { readonly hint?: string } {
  const own = Object.hasOwn(TODO, code) ? TODO[code] : undefined
  const hint = own === OWN_AUTHORITY && hasAuthority ? OTHER_AUTHORITY : own
  return hint === undefined ? {} : { hint }
}

function causeOf({ cause }: Unreachable): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
