// What reviewers of the fleet decided about hooks, as this machine has it: digests that are trusted, and revoked ones.

import { inForcePath, type PolicyPlace } from '../fleet-places.js'
import { exactLstatIfThere } from '../if-there.js'
import { moment, stampOf } from '../stamp.js'
import { expiryText, type InForce, readInForce, type TrustList } from './policy.js'

const NONE: TrustList = { trusted: {}, revoked: {} }

/** By file: what it said when it had this stamp. */
const known = new Map<string, { readonly stamp: string; readonly said: Said }>()

/** The same objects while the file stays as it is. */
interface Said {
  readonly inForce: InForce | undefined
  readonly list: TrustList
  /** What counts of it when nobody can tell any more what the fleet would say: what was revoked stays so. */
  readonly revoked: TrustList
}

/**
 * All lists together. One that has expired trusts nothing and still revokes. A digest that one of them revokes is trusted by none. Throws if one cannot be relied on, each time
 * until it was mended. With one list, which is the usual case, the same object while its file stays as it is.
 */
export function fleetTrust(places: readonly PolicyPlace[]): TrustList {
  const lists = places.map(listAt).filter((list) => list !== NONE)
  const [only = NONE, ...more] = lists
  return more.length === 0 ? only : together(lists)
}

function together(lists: readonly TrustList[]): TrustList {
  const revoked = Object.assign({}, ...lists.map((list) => list.revoked))
  const trusted = Object.assign({}, ...lists.map((list) => list.trusted))
  const kept = Object.entries(trusted).filter(([digest]) => !Object.hasOwn(revoked, digest))
  return { trusted: Object.fromEntries(kept) as TrustList['trusted'], revoked }
}

function listAt(place: PolicyPlace): TrustList {
  const path = inForcePath(place.folder)
  const seen = moment()
  const stats = statsAt(path)
  if (!stats) return NONE
  const stamp = stampOf(stats, seen)
  const before = known.get(path)
  if (stamp !== '' && before?.stamp === stamp) return counting(before.said)
  const said = saidIn(readInForce(place))
  known.set(path, { stamp, said })
  return counting(said)
}

function saidIn(inForce: InForce | undefined): Said {
  const { trust } = inForce ?? {}
  const list = trust ? together([trust]) : NONE
  return { inForce, list, revoked: trust ? { ...list, trusted: {} } : NONE }
}

/** News that revoke something may have been kept back from this machine. */
function counting({ inForce, list, revoked }: Said): TrustList {
  return inForce && expiryText(inForce) !== undefined ? revoked : list
}

function statsAt(path: string) {
  try {
    return exactLstatIfThere(path)
  } catch (error) {
    // A file in the place of a folder holds no list.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}
