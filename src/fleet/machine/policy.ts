// Fetches the policy of the fleet: checks every signature and version, unpacks the bundles for this machine, and puts them in force last.

import type { TargetFile } from 'tuf-js'
import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import {
  type BundleInForce,
  type InForce,
  type PolicyPlace,
  policyPlace,
  readInForce,
  trustList,
} from '../../files/fleet-policy.js'
import { namesIn } from '../../files/folder.js'
import { Mutex } from '../../files/mutex.js'
import { bundleIn } from '../policy/bundle.js'
import {
  bundleName,
  checkedFirstRoot,
  DELEGATED,
  type Delegated,
  metadataIn,
  POLICY_ROLES,
  type PolicyRole,
  type PolicyRow,
  targetName,
} from '../policy/metadata.js'
import { ringOf, rolloutIn } from '../policy/rollout.js'
import { type Models, type TrustedStore, trustedStore, tufModels } from '../policy/tuf.js'
import type { BundleAnswer, PolicyAnswer } from '../protocol.js'
import type { GatewayClient } from './gateway-client.js'
import type { Member } from './membership.js'
import {
  type Accepted,
  makeFolder,
  putInForce,
  readAccepted,
  signedPart,
  sweepBundles,
  unpack,
  unpackedList,
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
    return await new Fetching(client, member, place, now).run()
  } finally {
    mutex.release()
  }
}

/** How far this clock may be behind the gateway's: an older policy would look as if it had not expired. */
const MOST_BEHIND_MS = 600_000
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
    const kept = readAccepted(folder)
    const known = { root: versionOf(kept.root), timestamp: versionOf(kept.timestamp) }
    const isWhole = before !== undefined && isComplete(folder, kept, before)
    const body = isWhole ? known : { ...known, timestamp: 0 }
    const answer = policyAnswer(await this.#client.ask('policy', { body }), 'its answer')
    if (answer.newest < known.timestamp || (answer.newest === 0 && before))
      throw unusable(
        `it has version ${answer.newest}, and this machine has had ${known.timestamp}: somebody removed the newer ones`,
      )
    if (answer.newest === 0) return { status: 'none' }
    if (answer.time - this.#now() > MOST_BEHIND_MS)
      throw new Error(
        `the clock of this machine is ${Math.round((answer.time - this.#now()) / 60_000)} minutes behind the gateway’s, so nobody can tell what has expired; set it right`,
      )
    if (isWhole && answer.newest === known.timestamp) return this.#same(before, answer.time)
    return this.#changed(before, answer)
  }

  /** One that cannot be used is replaced. */
  #inForce(): InForce | undefined {
    try {
      return readInForce(this.#place)
    } catch {
      return undefined
    }
  }

  #same(before: InForce, time: number): PolicyFetch {
    if (Math.abs(time - Date.parse(before.time)) > TIME_MS)
      putInForce(this.#place.folder, { ...before, time: new Date(time).toISOString() })
    return { status: 'same', inForce: before }
  }

  async #changed(before: InForce | undefined, answer: PolicyAnswer): Promise<PolicyFetch> {
    const { folder } = this.#place
    const models = await tufModels()
    const served = await checkedState(models, folder, answer.files, this.#member)
    const rollout = rolloutIn(served.rollout)
    if (before && served.rolloutVersion < before.rollout)
      throw unusable(
        `its roll-out has version ${served.rolloutVersion}, and this machine has had ${before.rollout}`,
      )
    const found = ringOf(rollout, this.#member)
    const enforced = await this.#bundle(served, found?.ring.enforced)
    const shadow = await this.#bundle(served, found?.ring.shadow)
    const trust = trustList(JSON.parse(served.trust), 'trust.json')
    const next: InForce = {
      rollout: served.rolloutVersion,
      ...(enforced && { enforced: enforced.bundle }),
      ...(shadow && { shadow: shadow.bundle }),
      expires: served.expires,
      afterExpiry: (enforced ?? shadow)?.afterExpiry ?? 'close',
      time: new Date(answer.time).toISOString(),
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

  async #bundle(served: Served, digest: string | undefined): Promise<Unpacked | undefined> {
    if (digest === undefined) return undefined
    const { folder } = this.#place
    const target = served.bundles[bundleName(digest)]
    if (target?.hashes.sha256 !== digest)
      throw unusable(`its roll-out names a bundle that nobody signed: ${digest}`)
    const { bundle: content } = await this.#client.ask<BundleAnswer>('bundle', { query: `digest=${digest}` })
    if (typeof content !== 'string' || sha256(content) !== digest)
      throw unusable(`it has not the bundle ${digest}, or another one under this name`)
    const bundle = bundleIn(content)
    const list = unpackedList(folder, digest) ?? unpack(folder, bundle)
    const { version } = target.custom
    return {
      bundle: { digest, version: typeof version === 'number' ? version : 0, list },
      afterExpiry: bundle.policy.afterExpiry,
    }
  }
}

interface Unpacked {
  readonly bundle: BundleInForce
  readonly afterExpiry: InForce['afterExpiry']
}

function unusable(why: string): Error {
  return new Error(
    `the policy that the gateway serves is not used: ${why}; what this machine has stays in force`,
  )
}

function versionOf(content: string | undefined): number {
  const { version } = content === undefined ? {} : (signedPart(content) ?? {})
  return Number.isSafeInteger(version) ? (version as number) : 0
}

/** Whether a fetch before this one came to its end, and nothing was damaged since. */
function isComplete(folder: string, kept: Accepted, inForce: InForce): boolean {
  const { rollout, expires, enforced, shadow } = inForce
  return (
    signedPart(kept.timestamp ?? '')?.expires === expires &&
    versionOf(kept.rollout) === rollout &&
    [enforced, shadow].every((one) => one === undefined || unpackedList(folder, one.digest) === one.list)
  )
}

// ---- signatures -----------------------------------------------------------------------------------------------

interface Served {
  readonly rollout: string
  readonly rolloutVersion: number
  readonly trust: string
  /** ISO-8601. */
  readonly expires: string
  readonly bundles: Readonly<Record<string, TargetFile>>
}

/** Checks what was served on top of what the machine has. Whatever is newer and good is kept, even if the rest is not. */
async function checkedState(
  models: Models,
  folder: string,
  files: readonly PolicyRow[],
  { rootKey }: Pick<Member, 'rootKey'>,
): Promise<Served> {
  const kept = readAccepted(folder)
  const accepted: Partial<Record<PolicyRole, string>> = { ...kept }
  try {
    return await accept(models, files, accepted, Buffer.from(rootKey, 'base64url'))
  } catch (error) {
    throw unusable(textOf(error))
  } finally {
    if (POLICY_ROLES.some((role) => accepted[role] !== kept[role])) writeAccepted(folder, accepted)
  }
}

/** The steps of a client of The Update Framework, in its order. Adds to `accepted` what has passed. */
async function accept(
  models: Models,
  files: readonly PolicyRow[],
  accepted: Partial<Record<PolicyRole, string>>,
  rootKey: Buffer,
): Promise<Served> {
  const roots = files.filter(({ role }) => role === 'root').sort((a, b) => a.version - b.version)
  for (const { content } of roots) metadataIn(models, 'root', content)
  accepted.root ??= firstRoot(models, roots, rootKey)
  const store = await trustedStore(accepted.root)
  for (const { content } of roots.filter(({ version }) => version > store.root.signed.version)) {
    store.updateRoot(Buffer.from(content))
    accepted.root = content
  }
  const next = (role: PolicyRole): PolicyRow => {
    const found = files.find((one) => one.role === role)
    if (found) return found
    throw new Error(`${role}.json is missing`)
  }
  /** What the machine has had only keeps it from going back. It may have expired, or be signed by a key that was removed. */
  const remember = (role: PolicyRole, take: (bytes: Buffer) => unknown) => {
    try {
      if (accepted[role] !== undefined) take(Buffer.from(accepted[role]))
    } catch {
      // As the lines above say.
    }
  }
  const timestamp = next('timestamp').content
  const { expires } = metadataIn(models, 'timestamp', timestamp).signed
  remember('timestamp', (bytes) => store.updateTimestamp(bytes))
  if (timestamp !== accepted.timestamp || !store.timestamp) store.updateTimestamp(Buffer.from(timestamp))
  accepted.timestamp = timestamp
  remember('snapshot', (bytes) => store.updateSnapshot(bytes, true))
  store.updateSnapshot(Buffer.from(next('snapshot').content))
  accepted.snapshot = next('snapshot').content
  for (const role of ['targets', ...DELEGATED] as const) {
    const { content } = next(role)
    store.updateDelegatedTargets(Buffer.from(content), role, role === 'targets' ? 'root' : 'targets')
    accepted[role] = content
  }
  const target = (role: Delegated): string => {
    const { target: content = '' } = next(role)
    if (targetsOf(store, role)[targetName(role)]?.hashes.sha256 !== sha256(content))
      throw new Error(`${targetName(role)} has another digest`)
    return content
  }
  return {
    rollout: target('rollout'),
    trust: target('trust'),
    rolloutVersion: store.getRole('rollout')?.signed.version ?? 0,
    expires,
    bundles: targetsOf(store, 'targets'),
  }
}

/** Of a role that was accepted. The digests in `snapshot` cover every byte of these. */
function targetsOf(store: TrustedStore, role: 'targets' | Delegated): Served['bundles'] {
  const signed = store.getRole(role)?.signed
  return signed && 'targets' in signed ? signed.targets : {}
}

function firstRoot(models: Models, roots: readonly PolicyRow[], rootKey: Buffer): string {
  const { content = '' } = roots.find(({ version }) => version === 1) ?? {}
  checkedFirstRoot(models, content, rootKey)
  return content
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
  }
}
