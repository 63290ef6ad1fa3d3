// What went wrong in a command of a fleet: in the database, in a file of this machine, or in our own code.

import { textOf } from '../../core/base/errors.js'
import { Unready } from '../../fleet/database/connection.js'
import { Refusal } from '../refusal.js'

/** What goes wrong in the database or in a file is a refusal. Anything else is a bug, and stays one. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    if (isOfDatabase(error))
      throw new Refusal('FLEET_DATABASE', `The database of the fleet cannot be used: ${wordsOf(error)}`, {
        hint: hintFor(error),
        mayPass: mayPass(error),
      })
    if (isOfFile(error))
      throw new Refusal('FLEET_UNUSABLE', `A file cannot be used: ${textOf(error)}`, { hint: FILE_HINT })
    throw error
  }
}

export const FILE_HINT = 'Check that the folder is there, its rights, and the space on its disk.'

interface Coded {
  readonly code?: unknown
  readonly syscall?: unknown
}

/**
 * A server that refuses a query, a user or a certificate does so again, and a wrong address stays wrong. A server that is
 * away, busy or restarting comes back.
 */
function mayPass(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(mayPass)
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as Coded
  if (typeof code !== 'string') return OF_LOST_CONNECTION.test(error.message)
  return SYSCALLS.has(String(syscall)) || OF_SOCKET.test(code) || OF_SERVER.test(code)
}

/** Codes of PostgreSQL about connections, conflicts, resources, an operator and the system, and of a copy that only reads. */
const OF_SERVER = /^(?:(?:08|40|53|55|57|58)[0-9A-Z]{3}|25006)$/

export function isOfDatabase(error: unknown): boolean {
  if (error instanceof Unready || error instanceof AggregateError) return true
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as Coded
  if (typeof code !== 'string') return OF_LOST_CONNECTION.test(error.message) || OF_CLIENT.test(error.message)
  if (SYSCALLS.has(String(syscall)) || OF_SOCKET.test(code) || OF_TLS.test(code)) return true
  return syscall === undefined && SQLSTATE.test(code)
}

/** Of the operating system, about a file. Only some of them name it. */
export function isOfFile(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as Coded
  return typeof code === 'string' && typeof syscall === 'string' && !isOfDatabase(error)
}

const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/
const SYSCALLS = new Set(['connect', 'getaddrinfo'])
/** Of connections and of names of hosts. */
const OF_SOCKET = /^E(CONN\w+|TIMEDOUT|PIPE|HOST\w+|NET\w+|ADDR\w+|NOTFOUND|NOTCONN|AI_\w+)$/
/** Of TLS, and of an address that is none. */
const OF_TLS = /^(EPROTO|ERR_(TLS|SSL|INVALID_URL)\w*|(CERT|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME)_\w+)$/
/** What the package pg says without a code when a connection ends or nothing comes. */
const OF_LOST_CONNECTION =
  /^(Connection terminated|timeout e|Query read timeout|Client (has encountered|was closed))/
/** What else it says without a code. */
const OF_CLIENT =
  /^(Cannot use a pool|SASL: |The server does not support SSL|There was an error establishing an SSL|Received unexpected |Unknown authenticationOk)/

const UNPREPARED = 'Its owner prepares it, or brings it up to date: carabiner fleet init.'

/** By the code of PostgreSQL. */
const HINTS: Readonly<Record<string, string>> = {
  '23505': 'Somebody else wrote the same thing at the same time. Type the command again.',
  '28000': 'Check the user in its address, and that pg_hba.conf of the server lets them in.',
  '28P01': 'Check the user and the password in its address.',
  '3D000': 'Check the name of the database in its address, or create it with createdb.',
  '3F000': UNPREPARED,
  '42501':
    'Use a user with the right role. init: the owner of the database, who may create roles. serve: fleet_gateway. audit, shadow and status: fleet_auditor. All others: fleet_admin.',
  '42703': UNPREPARED,
  '42883': UNPREPARED,
  '42P01': UNPREPARED,
  P0002: 'Give --org NAME, one that is there. carabiner fleet init --org NAME makes a new one.',
}

function hintFor(error: unknown): string {
  if (error instanceof Unready) return error.hint
  const code = String((error as Coded).code)
  return (
    HINTS[code] ??
    (SQLSTATE.test(code)
      ? 'The log of PostgreSQL may say more.'
      : textOf(error).startsWith('SASL: ')
        ? 'The server wants a password: postgresql://USER:PASSWORD@HOST/NAME.'
        : 'Check its address, and that PostgreSQL runs there.')
  )
}

/** An error of several addresses has no words of its own. */
function wordsOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : []
  return textOf(first ?? error)
}
