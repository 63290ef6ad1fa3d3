// Checks the metadata of a policy as a client of The Update Framework does: from the key of the fleet down to every byte.

import type { Metadata, MetaFile, Root, Targets } from '@tufjs/models'
import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { isSignedBy, KEY_BYTES } from '../../files/ed25519.js'
import { count } from '../../files/fields.js'
import { timeField } from '../../files/fleet/policy.js'
import {
  DELEGATED,
  type Delegated,
  entriesOf,
  metadataIn,
  type PolicyRole,
  type PolicyRow,
  type Signers,
  type TargetEntry,
  targetName,
} from './metadata.js'
import { bytesOf, signerList, signersWith } from './signers.js'
import type { Models } from './tuf.js'

/** What is published now. */
export interface Published extends Signers {
  readonly rootVersion: number
  /** The key that signs the next root. The first one, until it was replaced. */
  readonly rootKey: Buffer
  readonly rows: Readonly<Record<Exclude<PolicyRole, 'root'>, PolicyRow>>
  readonly targets: Metadata<Targets>
  /** The bundles, the newest last. */
  readonly entries: readonly TargetEntry[]
  /** When machines stop relying on it, ISO-8601. */
  readonly expires: string
  /** When its newest part was signed, ISO-8601. */
  readonly signed: string
}

/** The newest metadata that has passed, by role. Those below `root` are signed by its keys, except for delegated ones. */
export type Accepted = Partial<Record<PolicyRole, string>>

export interface Checking {
  /** The key that signs the first root. */
  readonly rootKey: Buffer
  /** Nothing may be older than this. Whatever passes is added to it, even if the rest does not. */
  readonly accepted: Accepted
  /** Milliseconds since 1970. Undefined: expiry does not count. */
  readonly now?: number
}

/**
 * For an administrator, who must sign nothing on top of what others put into the database. Expiry does not count: a policy
 * that has expired is renewed. Nothing may be older than `accepted`, which gets what passes. Throws with what is wrong.
 */
export function verified(
  models: Models,
  rows: readonly PolicyRow[],
  rootKey: Buffer,
  accepted: Accepted = {},
): Published {
  try {
    return checkedPolicy(models, rows, { rootKey, accepted })
  } catch (error) {
    throw new Error(`the policy in the database cannot be relied on: ${textOf(error)}`)
  }
}

/*
 * A file that was accepted sets the lowest version only while those who signed it still count, so nobody who was removed
 * has the last word with a very high version; and the root that removes them names the timestamp published with it, so
 * nothing from before comes back, whoever signed it. The root alone can remove a signer: where several people have to sign
 * `targets`, its delegations name the removed one until they have. So a roll-out and a list of trust also need a key that the
 * root gives this role, which is stricter than the specification.
 */

/** The steps are in the order of the specification. Throws with what is wrong. */
export function checkedPolicy(models: Models, rows: readonly PolicyRow[], checking: Checking): Published {
  const { accepted, now } = checking
  const root = newestRoot(models, rows, checking)
  if (now !== undefined) checkExpiry('root', root, now)
  const signers = signerList(root.signed.unrecognizedFields.signers, 'signers')
  /** Of those who may sign it now. `targets` may still delegate to somebody whom a newer root has removed. */
  const keysFor = (role: PolicyRole) =>
    role === 'rollout' || role === 'trust'
      ? new Set(signersWith(signers, role).map((one) => bytesOf(one).toString('hex')))
      : undefined
  const newest = {
    timestamp: newestOf(rows, 'timestamp'),
    snapshot: newestOf(rows, 'snapshot'),
    targets: newestOf(rows, 'targets'),
    rollout: newestOf(rows, 'rollout'),
    trust: newestOf(rows, 'trust'),
  }
  const read = <R extends keyof typeof newest>(role: R, by: Metadata<Root> | Metadata<Targets>) => {
    const { content, version } = newest[role]
    const metadata = metadataIn(models, role, content)
    if (!(by === root && content === accepted[role])) checkSigned(models, role, metadata, by, keysFor(role))
    if (metadata.signed.version !== version) throw new Error(`${role}.json has another version than its row`)
    if (now !== undefined) checkExpiry(role, metadata, now)
    return metadata
  }
  const timestamp = read('timestamp', root).signed
  const oldest = count(root.signed.unrecognizedFields.oldest_timestamp ?? 0, 'root.json: oldest_timestamp')
  if (timestamp.version < oldest) throw older('timestamp', timestamp.version, oldest)
  if (accepted.timestamp !== undefined && accepted.timestamp !== newest.timestamp.content) {
    const before = metadataIn(models, 'timestamp', accepted.timestamp).signed
    if (timestamp.version <= before.version) throw older('timestamp', timestamp.version, before.version)
    checkNotOlder('snapshot', timestamp.snapshotMeta, before.snapshotMeta)
  }
  accepted.timestamp = newest.timestamp.content

  checkMeta(timestamp.snapshotMeta, newest.snapshot)
  const { meta } = read('snapshot', root).signed
  if (accepted.snapshot !== undefined) {
    const before = metadataIn(models, 'snapshot', accepted.snapshot).signed.meta
    for (const role of ['targets', ...DELEGATED] as const)
      checkNotOlder(role, meta[`${role}.json`], before[`${role}.json`])
  }
  accepted.snapshot = newest.snapshot.content

  checkMeta(meta['targets.json'], newest.targets)
  const targets = read('targets', root)
  const checkAccepted = (role: 'targets' | Delegated, by: Metadata<Root> | Metadata<Targets>) => {
    const before = accepted[role] === undefined ? undefined : metadataIn(models, role, accepted[role])
    if (!before || newest[role].version >= before.signed.version) return
    if (isSigned(models, role, before, by, keysFor(role)))
      throw older(role, newest[role].version, before.signed.version)
  }
  checkAccepted('targets', root)
  accepted.targets = newest.targets.content
  for (const role of DELEGATED) {
    checkMeta(meta[`${role}.json`], newest[role])
    const file = read(role, targets).signed.targets[targetName(role)]
    if (file?.hashes.sha256 !== sha256(newest[role].target ?? ''))
      throw new Error(`${targetName(role)} has another digest`)
    checkAccepted(role, targets)
    accepted[role] = newest[role].content
  }
  return {
    signers,
    threshold: root.signed.roles.targets?.threshold ?? 1,
    rootVersion: root.signed.version,
    rootKey: rootKeyIn(root),
    rows: newest,
    targets,
    entries: entriesOf(targets),
    expires: new Date(timestamp.expires).toISOString(),
    signed: timeField(timestamp.unrecognizedFields.signed_at, 'timestamp.json: signed_at'),
  }
}

// ---- roots ----------------------------------------------------------------------------------------------------

/** Follows every root after the accepted one: the keys of the one before and its own must both have signed it. */
function newestRoot(
  models: Models,
  rows: readonly PolicyRow[],
  { rootKey, accepted }: Checking,
): Metadata<Root> {
  const roots = rows.filter(({ role }) => role === 'root').sort((a, b) => a.version - b.version)
  if (accepted.root === undefined) {
    const first = roots.find(({ version }) => version === 1)
    if (!first) throw new Error('version 1 of root.json is missing')
    checkFirstRoot(models, first.content, rootKey)
    accepted.root = first.content
  }
  let root = metadataIn(models, 'root', accepted.root)
  for (const { content } of roots.filter(({ version }) => version > root.signed.version)) {
    const next = metadataIn(models, 'root', content)
    for (const by of [root, next]) checkSigned(models, 'root', next, by)
    if (next.signed.version !== root.signed.version + 1)
      throw new Error(`version ${root.signed.version + 1} of root.json is missing`)
    root = next
    accepted.root = content
    forgetUnsigned(models, root, accepted)
  }
  return root
}

/** What was published is of another fleet than the key. */
export class OtherKey extends Error {
  override readonly name = 'OtherKey'

  constructor() {
    super('the first root.json is not one of the key of the fleet')
  }
}

/** Throws unless the key of the fleet, and nobody else, signs this first root. */
function checkFirstRoot(models: Models, content: string, rootKey: Buffer): void {
  const root = metadataIn(models, 'root', content)
  if (root.signed.version !== 1 || !rootKeyIn(root).equals(rootKey)) throw new OtherKey()
  checkSigned(models, 'root', root, root)
}

/** Throws if more than one key could sign the next root, or fewer. */
function rootKeyIn({ signed: { version, roles, keys } }: Metadata<Root>): Buffer {
  const { keyIDs = [], threshold } = roles.root ?? {}
  const [id = '', ...more] = keyIDs
  const key = Buffer.from(keys[id]?.keyVal.public ?? '', 'hex')
  if (more.length === 0 && threshold === 1 && key.length === KEY_BYTES) return key
  throw new Error(`version ${version} of root.json does not name one key that signs the next`)
}

function forgetUnsigned(models: Models, root: Metadata<Root>, accepted: Accepted): void {
  for (const role of ['timestamp', 'snapshot', 'targets'] as const) {
    const content = accepted[role]
    if (content === undefined || isSigned(models, role, metadataIn(models, role, content), root)) continue
    delete accepted[role]
  }
}

// ---- one file -------------------------------------------------------------------------------------------------

type AnyMetadata = Metadata<Root> | Metadata<Targets> | ReturnType<typeof metadataIn>

interface Signatures {
  /** Of different keys that may sign it. */
  readonly count: number
  readonly threshold: number
}

function signaturesOf(
  models: Models,
  role: PolicyRole,
  metadata: AnyMetadata,
  by: Metadata<Root> | Metadata<Targets>,
  /** No other keys count, in hex. Default: all that `by` names. */
  among?: ReadonlySet<string>,
): Signatures {
  const { keys, roles } = 'roles' in by.signed ? by.signed : (by.signed.delegations ?? {})
  const { keyIDs = [], threshold = Number.POSITIVE_INFINITY } = roles?.[role] ?? {}
  const bytes = signedBytes(models, metadata)
  const signers = keyIDs.flatMap((id) => {
    const key = Buffer.from(keys?.[id]?.keyVal.public ?? '', 'hex')
    const signature = Buffer.from(metadata.signatures[id]?.sig ?? '', 'hex')
    const name = key.toString('hex')
    return among?.has(name) !== false && isSignedBy(key, bytes, signature) ? [name] : []
  })
  return { count: new Set(signers).size, threshold: Math.max(1, threshold) }
}

function isSigned(...given: Parameters<typeof signaturesOf>): boolean {
  const { count, threshold } = signaturesOf(...given)
  return count >= threshold
}

function checkSigned(...given: Parameters<typeof signaturesOf>): void {
  const { count, threshold } = signaturesOf(...given)
  if (!(count >= threshold))
    throw new Error(`${given[1]}.json was signed by ${count}/${threshold} of the keys that may`)
}

/** The package makes them only for whoever signs. */
function signedBytes({ Metadata, Signature }: Models, { signed }: AnyMetadata): Buffer {
  let bytes: Buffer = Buffer.alloc(0)
  new Metadata(signed).sign((given) => {
    bytes = given
    return new Signature({ keyID: '', sig: '' })
  })
  return bytes
}

function newestOf(rows: readonly PolicyRow[], wanted: PolicyRole): PolicyRow {
  const [found] = rows.filter(({ role }) => role === wanted).sort((a, b) => b.version - a.version)
  if (found) return found
  throw new Error(`${wanted}.json is missing`)
}

function checkMeta(meta: MetaFile | undefined, { role, version, content }: PolicyRow): void {
  if (meta?.version !== version || meta.hashes?.sha256 !== sha256(content))
    throw new Error(`${role}.json is not the one that was published`)
}

function checkNotOlder(role: PolicyRole, meta: MetaFile | undefined, before: MetaFile | undefined): void {
  if (before && !(meta && meta.version >= before.version)) throw older(role, meta?.version, before.version)
}

function older(role: PolicyRole, version: number | undefined, before: number): Error {
  return new Error(
    `its ${role}.json has version ${version ?? 'none'}, and version ${before} was there before`,
  )
}

function checkExpiry(role: PolicyRole, { signed }: AnyMetadata, now: number): void {
  if (!(now < Date.parse(signed.expires))) throw new Error(`${role}.json expired at ${signed.expires}`)
}
