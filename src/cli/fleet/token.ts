// `fleet token`: makes a token with which one machine joins, lists tokens, revokes one.

import { localTime } from '../../core/base/time.js'
import { publicKeyFrom } from '../../files/ed25519.js'
import type { Database } from '../../fleet/database/connection.js'
import { newToken, secretDigest, tokenText } from '../../fleet/join-token.js'
import { timeOf } from '../../store/audit/filter.js'
import { chosen } from '../command.js'
import { columns, nextLines } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { type Given, withDatabase } from './action.js'
import { checkRootKey, rootKeyIn } from './root-key.js'

const VERBS = ['new', 'list', 'revoke'] as const

export async function run(given: Given): Promise<number> {
  const { options, words } = given
  const verb = chosen(words[0] ?? 'new', VERBS, 'carabiner fleet token has no action')
  if (verb !== 'revoke' && words[1] !== undefined) throw usage(`carabiner fleet token ${verb} takes no name`)
  if (verb !== 'new' && options.expires !== undefined) throw usage('--expires is for a new token')
  const lasts = lastsOf(options.expires)
  return withDatabase(options, (database) => {
    switch (verb) {
      case 'new':
        return made(database, { lasts, rootKey: publicKeyOf(options) }, given)
      case 'list':
        return listed(database, given)
      case 'revoke':
        return revoked(database, words[1], given)
    }
  })
}

/** In milliseconds. */
function lastsOf(text = '1h'): number {
  try {
    const lasts = /^\d/.test(text) && !text.includes('-') ? -timeOf(text, 'expires', 0) : Number.NaN
    if (lasts > 0) return lasts
  } catch {
    // Told below, in the words of this option.
  }
  throw usage(`--expires must be a length of time such as 30m, 2h or 1d, got ${JSON.stringify(text)}`)
}

/**
 * Machines trust the key that their token has. So it comes from whoever makes the token, not from the database, whose
 * administrator could put another one there.
 */
function publicKeyOf(options: Given['options']): Buffer {
  const { 'root-key': given } = options
  if (given === undefined) return rootKeyIn(options, 'Give --key FILE, or --root-key KEY.').publicKey
  const key = publicKeyFrom(given)
  if (key) return key
  throw usage('--root-key must be the public key that carabiner fleet init printed')
}

async function made(
  database: Database,
  { lasts, rootKey }: { readonly lasts: number; readonly rootKey: Buffer },
  { options, output }: Given,
): Promise<number> {
  await checkRootKey(database, rootKey, options, '--key FILE or --root-key KEY')
  const token = newToken(rootKey)
  const [row] = await database.rows<{ expires: Date }>(
    `insert into fleet.join_token (org, token, secret_digest, expires)
      values (fleet.own_org(), $1, $2, clock_timestamp() + $3 * interval '1 millisecond') returning expires`,
    [token.id, secretDigest(token.secret), lasts],
  )
  const expires = row?.expires.toISOString() ?? ''
  const text = tokenText(token)
  return output.result({ token: text, id: token.id, expires }, (paint) => [
    text,
    `  for one machine, until ${localTime(expires)}; it is shown only now`,
    ...nextLines(
      ['carabiner fleet join URL --token TOKEN   # on the machine, with the address of the gateway'],
      paint,
    ),
  ])
}

interface TokenRow {
  readonly token: string
  readonly created_by: string
  readonly expires: Date
  readonly used: Date | null
  readonly revoked: Date | null
}

async function listed(database: Database, { output }: Given): Promise<number> {
  const rows = await database.rows<TokenRow & { isOver: boolean }>(
    'select token, created_by, expires, used, revoked, expires <= clock_timestamp() as "isOver" from fleet.join_token where org = fleet.own_org() order by created desc limit 1000',
  )
  const tokens = rows.map((row) => ({
    id: row.token,
    by: row.created_by,
    state: row.revoked ? 'revoked' : row.used ? 'used' : row.isOver ? 'expired' : 'open',
    expires: row.expires.toISOString(),
  }))
  return output.result({ tokens }, () =>
    tokens.length === 0
      ? ['no tokens']
      : columns(
          tokens.map(({ id, state, by, expires }) => [id, state, `by ${by}`, `until ${localTime(expires)}`]),
        ).map((row) => row.join('  ')),
  )
}

/** A machine that has joined with it stays. */
async function revoked(database: Database, id: string | undefined, { output }: Given): Promise<number> {
  if (id === undefined) throw usage('Which token? Type carabiner fleet token revoke ID')
  const rows = await database.rows<{ used: Date | null }>(
    'update fleet.join_token set revoked = coalesce(revoked, clock_timestamp()) where org = fleet.own_org() and token = $1 returning used',
    [id],
  )
  const [row] = rows
  if (!row)
    throw new Refusal('UNKNOWN_TOKEN', `There is no token ${JSON.stringify(id)}`, {
      hint: 'carabiner fleet token list shows them.',
    })
  const rest = row.used ? '; a machine had joined with it already, and stays' : ''
  return output.result({ revoked: id }, () => [`nobody can join with ${id} any more${rest}`])
}
