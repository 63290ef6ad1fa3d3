// `fleet trust`: what reviewers decided for all machines: hooks that run without another review, and hooks that never run.

import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { TrustDecision, TrustList } from '../../files/fleet/policy.js'
import { signerOf, trustOf } from '../../fleet/policy/publication.js'
import { isDigest } from '../../store/trust-records.js'
import { chosen } from '../command.js'
import { findUnits } from '../plugins/review.js'
import { columns, nextLines } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { Refusal, usage } from '../refusal.js'
import { sourcesOf } from '../sources.js'
import { again, type Given } from './action.js'
import { atDesk, atSigningDesk, publish, type SigningDesk } from './policy/desk.js'

const VERBS = ['list', 'add', 'revoke', 'forget'] as const

export async function run(given: Given): Promise<number> {
  const [first = 'list', what] = given.words
  const verb = chosen(first, VERBS, 'carabiner fleet trust has no action')
  if (verb === 'list' && what !== undefined) throw usage('Type carabiner fleet trust list')
  if (verb !== 'revoke' && given.options.reason !== undefined)
    throw usage('--reason is for carabiner fleet trust revoke')
  if (verb === 'list') return listed(given)
  if (what === undefined)
    throw usage(`What? Type carabiner fleet trust ${verb} NAME, or the digest of a review`)
  const digest = await digestOf(what)
  return atSigningDesk(given, async (desk) => {
    const trust = decided(trustOf(desk.state), digest, verb, decisionOf(desk, given.options.reason))
    await publish(desk, { trust })
    return given.output.result({ [DONE[verb].key]: digest }, () => [DONE[verb].line(what)])
  })
}

interface Done {
  /** In JSON. */
  readonly key: string
  line(what: string): string
}

const DONE: Readonly<Record<Exclude<(typeof VERBS)[number], 'list'>, Done>> = {
  add: {
    key: 'added',
    line: (what) => `${visible(what)} is trusted on every machine that has fetched this`,
  },
  revoke: {
    key: 'revoked',
    line: (what) => `${visible(what)} never runs again on a machine that has fetched this, whoever trusts it`,
  },
  forget: { key: 'forgotten', line: (what) => `${visible(what)} is up to each machine again` },
}

/** Whoever signs it, under the name that the policy has for them. */
function decisionOf({ signers, publisher }: SigningDesk, why: string | undefined): TrustDecision {
  const signer = signerOf(signers, publisher.key, 'trust')
  if (!signer)
    throw new Refusal('FLEET_POLICY', 'The key is not one of a reviewer', {
      hint: 'With the key of the fleet: carabiner fleet policy signers add NAME CODE --role trust',
    })
  return { by: signer.name, at: new Date().toISOString(), ...(why !== undefined && { why }) }
}

/** The last decision counts, so a digest is on one list, or on none. */
function decided(
  { trusted, revoked }: TrustList,
  digest: string,
  verb: Exclude<(typeof VERBS)[number], 'list'>,
  decision: TrustDecision,
): TrustList {
  const without = (list: TrustList['trusted']) =>
    Object.fromEntries(Object.entries(list).filter(([one]) => one !== digest))
  const add = (to: 'add' | 'revoke') => (verb === to ? { [digest]: decision } : {})
  return {
    trusted: { ...without(trusted), ...add('add') },
    revoked: { ...without(revoked), ...add('revoke') },
  }
}

/** A digest, or the name or path of something in this project. */
async function digestOf(what: string): Promise<string> {
  const wanted = what.toLowerCase()
  if (isDigest(wanted)) return wanted
  const { store, units } = await findUnits(sourcesOf(undefined), undefined)
  const found = [...units.keys()].filter(({ name, path }) => name === what || path.endsWith(`/${what}`))
  const [unit, another] = found
  if (!unit || another)
    throw usage(
      `${JSON.stringify(what)} ${unit ? 'means more than one thing' : 'is nothing'} that can be trusted in this project`,
      'carabiner trust --show shows all of them with their digests.',
    )
  return store.look(unit).digest
}

async function listed(given: Given): Promise<number> {
  return atDesk(given, async ({ state }) => {
    const list = trustOf(state)
    const rows = [...rowsOf('trusted', list.trusted), ...rowsOf('revoked', list.revoked)]
    const expires = state?.expires
    const isOver = expires !== undefined && Date.parse(expires) <= Date.now()
    return given.output.result({ ...list, ...(expires !== undefined && { expires }) }, (paint) =>
      rows.length === 0
        ? ['no reviewer has decided anything']
        : [
            ...columns(rows).map((row) => row.join('  ').trimEnd()),
            ...(expires === undefined ? [] : [untilLine(expires, isOver, paint)]),
            ...(isOver ? nextLines([again('carabiner fleet policy renew', given)], paint) : []),
          ],
    )
  })
}

/** Revoked hooks do not come back. */
function untilLine(expires: string, isOver: boolean, paint: Paint): string {
  const until = `  machines count what is trusted until ${localTime(expires)}`
  return isOver ? `${until}${paint.red(': that is over')}` : until
}

function rowsOf(word: string, list: TrustList['trusted']): string[][] {
  return Object.entries(list).map(([digest, { by, at, why = '' }]) => {
    return [word, digest, `by ${visibleName(by)}, ${localTime(at)}`, visible(why)]
  })
}
