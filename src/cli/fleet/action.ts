// An action of `carabiner fleet`, and what several of them need: the database, the membership, the gateway.

import { textOf } from '../../core/base/errors.js'
import { callerEnv } from '../../files/caller.js'
import { type Database, openDatabase } from '../../fleet/database/connection.js'
import {
  type GatewayClient,
  Refusal as GatewayRefusal,
  Unreachable,
} from '../../fleet/machine/gateway-client.js'
import { clientOf } from '../../fleet/machine/joining.js'
import { type Member, readMember } from '../../fleet/machine/membership.js'
import type { Options } from '../command.js'
import type { Output } from '../output.js'
import { Refusal, usage } from '../refusal.js'
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
  if (url) return url
  throw usage(`Which database? Set ${DATABASE_VARIABLE}, or give --database postgres://USER@HOST/NAME`)
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
  return refusing('FLEET_DATABASE', async () => {
    const database = await openDatabase({ url, org, connections: 2 })
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  })
}

/** What goes wrong in a database is a refusal, not a bug. */
export async function refusing<T>(code: 'FLEET_DATABASE', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(code, `The database of the fleet cannot be used: ${wordsOf(error)}`, {
      hint: 'Check its address, and that carabiner fleet init has prepared it.',
    })
  }
}

/** An error of several addresses has no words of its own. */
function wordsOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : []
  return textOf(first ?? error)
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
    return await asked(() => work(client))
  } finally {
    client.close()
  }
}

/** Tells a gateway that refuses from one that does not answer. */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GatewayRefusal)
      throw new Refusal('FLEET_REFUSED', `The gateway refuses: ${error.message}`)
    if (error instanceof Unreachable) throw new Refusal('FLEET_UNREACHABLE', sentence(error.message))
    throw error
  }
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
