// Fetches the policy of the fleet: checks every signature and version, unpacks the bundles for this machine, and puts them in force last.

import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { isIntact } from '../../files/fleet/bundles.js'
import {
  type BundleInForce,
  CLOCK_BEHIND_MS,
  type InForce,
  readInForce,
  trustList,
} from '../../files/fleet/policy.js'
import { type PolicyPlace, policyPlace } from '../../files/fleet-places.js'
import { namesIn } from '../../files/folder.js'
import { Mutex } from '../../files/mutex.js'
import { bundleIn, type PolicyFile } from '../policy/bundle.js'
import { type Accepted, checkedPolicy, type Published } from '../policy/checked-policy.js'
import { versionOf as bundleVersion, POLICY_ROLES, type PolicyRow } from '../policy/metadata.js'
import { reliedOnDays, ringOf, rolloutIn } from '../policy/rollout.js'
import { tufModels } from '../policy/tuf.js'
import type { BundleAnswer, PolicyAnswer, PolicyRequest } from '../protocol.js'
import type { GatewayClient } from './gateway-client.js'
import type { Member } from './membership.js'
import {
  makeFolder,
  noteFetched,
  putInForce,
  readAccepted,
  signedPart,
  sweepBundles,
  sweepLeftovers,
  unpack,
  unpackedPolicy,
  writeAccepted,
} from './policy-files.js'

export interface PolicyFetch {
  /** `none`: the fleet has no policy. `busy`: another process fetches now. */
  readonly status: 'none' | 'same' | 'changed' | 'busy'
  readonly inForce?: InForce
  /** Which ring this machine is in. */
  readonly group?: string
  readonly ring?: string
}

export interface FetchOptions {
  /** Where it goes. Default: where the membership is. */
  readonly place?: PolicyPlace
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
}

/** In a folder of root, only root may. */
export function mayFetchPolicy({ place }: Pick<Member, 'place'>): boolean {
  return !place.binding || process.geteuid?.() === 0
}

/**
 * Throws if the gateway serves anything that people of the fleet have not signed, that is older than what this machine has
 * had, or that has expired. Then everything stays in force as it was.
 */
export async function fetchPolicy(
  client: GatewayClient,
  member: Member,
  options: FetchOptions = {},
): Promise<PolicyFetch> {
  const { place = policyPlace(member.place), now = Date.now } = options
  makeFolder(place.folder)
  const mutex = new Mutex(place.folder)
  if (!mutex.tryTake()) return { status: 'busy' }
  try {
    mutex.sweep(namesIn(place.folder))
    sweepLeftovers(place.folder)
    const fetched = await new Fetching(client, member, place, now).run()
    if (member.place.binding) noteFetched(place.folder)
    return fetched
  } finally {
    mutex.release()
  }
}

const DAY_MS = 24 * 3_600_000
/** How old `time` in in-force.json may get while nothing else changes. */
const TIME_MS = 3_600_000

class Fetching {
  readonly #client: GatewayClient
  readonly #member: Member
  readonly #place: PolicyPlace
  readonly #now: () => number

  constructor(client: GatewayClient, member: Member, place: PolicyPlace, now: () => number) {
    this.#client = client
    this.#member = member
    this.#place = place
    this.#now = now
  }

  async run(): Promise<PolicyFetch> {
    const { folder } = this.#place
    const before = this.#inForce()
    const kept = readAccepted(folder, this.#member.rootKey)
    const known = { root: versionOf(kept.root), timestamp: versionOf(kept.timestamp) }
    const had = [before?.enforced, before?.shadow].filter((one) => one !== undefined)
    const intact = had.filter((one) => isIntact(this.#place, one))
    const isWhole = before !== undefined && intact.length === had.length && isComplete(kept, before)
    const body: PolicyRequest = {
      ...(isWhole ? known : { ...known, timestamp: 0 }),
      name: this.#member.name,
      has: intact.map(({ digest }) => digest),
    }
    const answer = policyAnswer(await this.#client.ask('policy', { body }), 'its answer')
    const isNothing = answer.files.length === 0
    if (isNothing && (answer.newest < known.timestamp || (answer.newest === 0 && before)))
      throw unusable(
        `it has version ${answer.newest}, and this machine has had ${known.timestamp}: somebody removed the newer ones`,
      )
    if (isNothing && answer.newest === 0) return { status: 'none' }
    // An older policy would look as if it had not expired.
    if (answer.time - this.#now() > CLOCK_BEHIND_MS)
      throw new Error(
        `the clock of this machine is ${Math.round((answer.time - this.#now()) / 60_000)} minutes behind the gateway’s, so nobody can tell what has expired; set it right`,
      )
    if (isWhole && isNothing && answer.newest === known.timestamp) return this.#same(before, answer.time)
    return this.#changed({ before, kept, intact }, answer)
  }

  /** One that cannot be used is replaced, and so is one of another fleet. */
  #inForce(): InForce | undefined {
    try {
      const found = readInForce(this.#place)
      return found?.rootKey === this.#member.rootKey ? found : undefined
    } catch {
      return undefined
    }
  }

  #same(before: InForce, time: number): PolicyFetch {
    if (time - Date.parse(before.time) > TIME_MS)
      putInForce(this.#place.folder, { ...before, time: new Date(time).toISOString() })
    return { status: 'same', inForce: before }
  }

  async #changed(had: Had, answer: PolicyAnswer): Promise<PolicyFetch> {
    const { before, kept, intact } = had
    const { folder } = this.#place
    const served = await this.#checked(had, answer.files)
    const { rollout, trust: reviewed } = served.rows
    // Only if the metadata was lost. It tells who signed that version, and whether they still count.
    if (before && kept.rollout === undefined && rollout.version < before.rollout)
      throw unusable(
        `its roll-out has version ${rollout.version}, and this machine has had ${before.rollout}`,
      )
    const plan = rolloutIn(rollout.target ?? '')
    const found = ringOf(plan, this.#member)
    const has: Has = { intact, sent: new Map(answer.bundles?.map((one) => [sha256(one), one])) }
    const enforced = await this.#bundle(served, has, found?.ring.enforced)
    const shadow = await this.#bundle(served, has, found?.ring.shadow)
    const trust = trustList(JSON.parse(reviewed.target ?? ''), 'trust.json')
    const days = [enforced, shadow].flatMap((one) => one?.policy.expiresDays ?? [])
    const said = this.#said(before, served, Math.min(reliedOnDays(served.entries, plan), ...days))
    const next: InForce = {
      rootKey: this.#member.rootKey,
      rollout: rollout.version,
      ...(enforced && { enforced: enforced.bundle }),
      ...(shadow && { shadow: shadow.bundle }),
      ...said,
      afterExpiry: (enforced ?? shadow)?.policy.afterExpiry ?? 'close',
      time: timeAfter(before, said, answer.time),
      ...(Object.keys({ ...trust.trusted, ...trust.revoked }).length > 0 && { trust }),
    }
    putInForce(folder, next)
    sweepBundles(folder, [before, next])
    return {
      status: 'changed',
      inForce: next,
      ...(found && { group: found.group, ring: found.ring.name }),
    }
  }

  /**
   * How old the news are, and until when they hold. The fleet counts from when it signed them, but a machine believes no
   * signer who says so much: it counts from now at the latest, and what it has heard before does not hold longer when it is
   * heard again.
   */
  #said(before: InForce | undefined, { rows, expires, signed }: Published, days: number): Said {
    const timestamp = sha256(rows.timestamp.content)
    const [at, now] = [Date.parse(signed), this.#now()]
    const known = before?.timestamp === timestamp ? Date.parse(before.expires) : Number.POSITIVE_INFINITY
    const until = Math.min(Date.parse(expires), Math.min(at, now) + days * DAY_MS, known)
    if (until <= now) throw unusable(`what was signed at ${signed} holds for ${days} days, and that is over`)
    const heard = Math.min(at, now + CLOCK_BEHIND_MS)
    return { timestamp, expires: new Date(until).toISOString(), signed: new Date(heard).toISOString() }
  }

  /** On top of what the machine has. Whatever is newer and good is kept, even if the rest is not. */
  async #checked({ before, kept }: Had, files: readonly PolicyRow[]): Promise<Published> {
    const models = await tufModels()
    const accepted: Accepted = { ...kept }
    const { rootKey } = this.#member
    // Also if the clock was set back: nothing that has expired comes back.
    const oldest = before ? Date.parse(before.time) - MOST_CORRECTED_MS : 0
    const now = Math.max(this.#now(), oldest)
    const checking = { rootKey: Buffer.from(rootKey, 'base64url'), accepted, now }
    try {
      return checkedPolicy(models, files, checking)
    } catch (error) {
      throw unusable(textOf(error))
    } finally {
      if (POLICY_ROLES.some((role) => accepted[role] !== kept[role]))
        writeAccepted(this.#place.folder, rootKey, accepted)
    }
  }

  async #bundle(
    { entries }: Published,
    { intact, sent }: Has,
    digest: string | undefined,
  ): Promise<Unpacked | undefined> {
    if (digest === undefined) return undefined
    const { folder } = this.#place
    const entry = entries.find((one) => one.digest === digest)
    if (!entry) throw unusable(`its roll-out names a bundle that nobody signed: ${digest}`)
    const version = bundleVersion(entry)
    const unpacked = intact.find((one) => one.digest === digest)
    if (unpacked)
      return {
        bundle: { ...unpacked, version },
        policy: unpackedPolicy(folder, digest),
      }
    const bundle = bundleIn(sent.get(digest) ?? (await this.#asked(digest)))
    return {
      bundle: { digest, version, list: unpack(folder, bundle) },
      policy: bundle.policy,
    }
  }

  async #asked(digest: string): Promise<string> {
    const { bundle } = await this.#client.ask<BundleAnswer>('bundle', { query: `digest=${digest}` })
    if (typeof bundle === 'string' && sha256(bundle) === digest) return bundle
    throw unusable(`it does not have the bundle ${digest}, or has another one under this name`)
  }
}

/** What the machine has before a fetch. */
interface Had {
  readonly before: InForce | undefined
  readonly kept: Accepted
  /** Bundles in force, every file as it was. */
  readonly intact: readonly BundleInForce[]
}

/** What need not be asked for. */
interface Has {
  readonly intact: readonly BundleInForce[]
  /** Texts of bundles, by digest. */
  readonly sent: ReadonlyMap<string, string>
}

interface Unpacked {
  readonly bundle: BundleInForce
  readonly policy: PolicyFile
}

type Said = Required<Pick<InForce, 'timestamp' | 'expires' | 'signed'>>

function unusable(why: string): Error {
  return new Error(
    `the policy that the gateway serves is not used: ${why}; what this machine has stays in force`,
  )
}

function versionOf(content: string | undefined): number {
  const { version } = content === undefined ? {} : (signedPart(content) ?? {})
  return Number.isSafeInteger(version) ? (version as number) : 0
}

/** Whether a fetch before this one came to its end. */
function isComplete(kept: Accepted, { rollout, timestamp }: InForce): boolean {
  return sha256(kept.timestamp ?? '') === timestamp && versionOf(kept.rollout) === rollout
}

// ---- time -----------------------------------------------------------------------------------------------------

/*
 * A gateway that somebody took must not say an earlier time than before: whoever also sets the clock of the machine back
 * would bring back what has expired. So the time only goes forward. A gateway whose clock was ahead is not believed if that
 * of the machine was right, so only if both were ahead, as in a data centre whose hosts take their time zone for UTC, does
 * the machine have a time that is to come. After somebody has corrected both clocks, it would refuse every call until then.
 * So newer news may set the time back, up to a day, which is more than any mistake about time zones: no gateway can make
 * news, as somebody of the fleet signs them (`carabiner fleet policy renew`), and they set it back no further than to when
 * they were signed. News that were kept back and are given out one by one reach no further back than the newest of them,
 * and they are themselves judged by a time that is at most a day before the latest.
 */

const MOST_CORRECTED_MS = DAY_MS

function timeAfter(before: InForce | undefined, { timestamp, signed }: Said, time: number): string {
  const latest = before === undefined ? Number.NEGATIVE_INFINITY : Date.parse(before.time)
  const oldest = before?.timestamp === timestamp ? latest : latest - MOST_CORRECTED_MS
  return new Date(Math.max(time, Date.parse(signed), oldest)).toISOString()
}

// ---- fields ---------------------------------------------------------------------------------------------------

const policyRow: Reader<PolicyRow> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    role: oneOf(...POLICY_ROLES)(fields.role, `${where}.role`),
    version: count(fields.version, `${where}.version`),
    content: text(fields.content, `${where}.content`),
    ...optional('target', fields.target, text, where),
  }
}

const policyAnswer: Reader<PolicyAnswer> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    time: count(fields.time, `${where}.time`),
    newest: count(fields.newest, `${where}.newest`),
    files: listOf(policyRow)(fields.files, `${where}.files`),
    ...optional('bundles', fields.bundles, listOf(text), where),
  }
}
