// One publication: from what is published now and a change to the rows of the next state, signed.

import type { Metadata, Targets } from '@tufjs/models'
import { canonicalJson, type Json } from '../../core/base/json.js'
import type { KeyPair } from '../../files/ed25519.js'
import { type TrustList, trustList } from '../../files/fleet/policy.js'
import type { Bundle } from './bundle.js'
import { type Published, verified } from './checked-policy.js'
import {
  bundleName,
  type Delegated,
  delegatedSigned,
  entriesOf,
  longExpiry,
  metadataIn,
  type PolicyRow,
  rootSigned,
  type Signers,
  signedText,
  snapshotSigned,
  type TargetEntry,
  targetsSigned,
  timestampSigned,
  versionOf,
} from './metadata.js'
import { DEFAULT_PLAN, digestsIn, type Rollout, reliedOnDays, rolloutIn, rolloutText } from './rollout.js'
import {
  bytesOf,
  FLEET_SIGNER,
  keyIdOf,
  keyJson,
  SIGNER_ROLES,
  type Signer,
  type SignerRole,
  signersWith,
} from './signers.js'
import type { Models } from './tuf.js'

const DAY_MS = 24 * 3_600_000
/** How many bundles stay beside those that a ring needs. */
const KEPT = 10

export interface Change {
  readonly signers?: Signers
  /** The key of the fleet that the publisher's key replaces. Both sign the change. */
  readonly replaces?: KeyPair
  /** A `targets.json` with signatures, of `proposedTargets`. */
  readonly targets?: string
  readonly rollout?: Rollout
  readonly trust?: TrustList
}

export interface Publisher {
  readonly models: Models
  readonly key: KeyPair
  readonly rootKey: Buffer
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The fleet's own key signs everything until others are added. */
export function firstSigners(rootKey: Buffer): Signers {
  const key = rootKey.toString('base64url')
  return { signers: [{ name: FLEET_SIGNER, roles: SIGNER_ROLES, key }], threshold: 1 }
}

export function rolloutOf(state: Published | undefined): Rollout {
  return state ? rolloutIn(state.rows.rollout.target ?? '') : DEFAULT_PLAN
}

export function trustOf(state: Published | undefined): TrustList {
  return state
    ? trustList(JSON.parse(state.rows.trust.target ?? ''), 'trust.json')
    : { trusted: {}, revoked: {} }
}

// ---- bundles --------------------------------------------------------------------------------------------------

export interface Proposal {
  readonly state: Published | undefined
  readonly signers: Signers
  readonly bundle: Bundle | undefined
}

type SignedPart = Readonly<Record<string, unknown>>

/** The bundles after this one was added, as its signers sign them. Its version follows the newest. */
function proposedTargets({ state, signers, bundle }: Proposal, expires: string): SignedPart {
  const before = state?.entries ?? []
  const needed = digestsIn(rolloutOf(state))
  const isKnown = before.some(({ digest }) => digest === bundle?.digest)
  const added = bundle && !isKnown ? [entryOf(bundle, Math.max(0, ...before.map(versionOf)) + 1)] : []
  const kept = before.filter(
    ({ digest }, i) => needed.has(digest) || i >= before.length - KEPT || digest === bundle?.digest,
  )
  const version = (state?.rows.targets.version ?? 0) + 1
  return targetsSigned([...kept, ...added], signers.signers, version, expires)
}

function entryOf({ digest, text, policy }: Bundle, version: number): TargetEntry {
  const custom = { version, expires_days: policy.expiresDays }
  return { digest, length: Buffer.byteLength(text), custom }
}

function versionIn(signed: SignedPart, bundle: Bundle | undefined): number {
  const files = signed.targets as Readonly<Record<string, Pick<TargetEntry, 'custom'>>>
  return bundle ? versionOf(files[bundleName(bundle.digest)] ?? {}) : 0
}

/** Whether what is published already has the bundle, and delegates to the right signers. */
export function hasTargets({ state, signers, bundle }: Proposal): boolean {
  if (!state) return false
  const { expires, version } = state.targets.signed
  const isKnown = !bundle || state.entries.some(({ digest }) => digest === bundle.digest)
  return isKnown && isSame(state.targets, targetsSigned(state.entries, signers.signers, version, expires))
}

export interface SignedTargets {
  readonly text: string
  /** Of the bundle. */
  readonly version: number
  /** Names of those who have signed. */
  readonly by: readonly string[]
  readonly missing: number
}

/** Adds a signature. `given` is the same with signatures of others: throws if it says anything else. */
export function signTargets(
  { models, key, now }: Publisher,
  { state, signers, bundle }: Proposal,
  given?: string,
): SignedTargets {
  const before = given === undefined ? undefined : metadataIn(models, 'targets', given)
  const signed = proposedTargets({ state, signers, bundle }, before?.signed.expires ?? longExpiry(now))
  if (before && !isSame(before, signed))
    throw new Error(
      'the signatures are over another bundle, or something was published after them; remove them and sign again',
    )
  const keys = signerOf(signers, key, 'policy') ? [key] : []
  const text = signedText(models, 'targets', signed, keys, before?.signatures)
  const made = metadataIn(models, 'targets', text)
  const by = namesOn(models, made, signers)
  return { text, version: versionIn(signed, bundle), by, missing: Math.max(0, signers.threshold - by.length) }
}

/** Those who have signed, of all who may. */
function namesOn(models: Models, targets: Metadata<Targets>, { signers }: Signers): readonly string[] {
  return signersWith(signers, 'policy')
    .filter((one) => hasSigned(models, targets, one))
    .map(({ name }) => name)
}

function isSame({ signed }: Metadata<Targets>, other: SignedPart): boolean {
  return canonicalJson(signed.toJSON() as Json) === canonicalJson(other as Json)
}

function hasSigned({ Key }: Models, targets: Metadata<Targets>, signer: Signer): boolean {
  const publicKey = bytesOf(signer)
  const { keytype, scheme, keyval } = keyJson(publicKey)
  const key = new Key({ keyID: keyIdOf(publicKey), keyType: keytype, scheme, keyVal: keyval })
  try {
    key.verifySignature(targets)
    return true
  } catch {
    return false
  }
}

export function signerOf(
  { signers }: Signers,
  { publicKey }: Pick<KeyPair, 'publicKey'>,
  role?: SignerRole,
): Signer | undefined {
  const key = publicKey.toString('base64url')
  return signers.find((one) => one.key === key && (role === undefined || one.roles.includes(role)))
}

// ---- everything -----------------------------------------------------------------------------------------------

/**
 * The rows to add. Machines that have fetched them obey. Throws if the key may not sign the change, and if the result is not
 * one that a machine would accept.
 */
export function publication(
  publisher: Publisher,
  rows: readonly PolicyRow[],
  change: Change,
): readonly PolicyRow[] {
  const { models, key, rootKey, now } = publisher
  const state = rows.length === 0 ? undefined : verified(models, rows, rootKey)
  if (state) checkNoJump(state)
  const signers = signersAfter(publisher, state, change)
  if (!signerOf(signers, key))
    throw new Error(
      'the key belongs to no signer of this policy; after a rotation, give --key with the new key',
    )
  const root = rootRow(publisher, state, change)
  const targets = targetsRow(publisher, state, signers, change)
  const rollout = rolloutText(change.rollout ?? rolloutOf(state))
  const trust = `${JSON.stringify(change.trust ?? trustOf(state))}\n`
  const isAll = !state || change.signers !== undefined || change.replaces !== undefined
  const delegated = [
    delegatedRow(publisher, 'rollout', state, rollout, isAll),
    delegatedRow(publisher, 'trust', state, trust, isAll),
  ]
  const newest = [targets, ...delegated].map((row) => row.row)
  const version = (role: 'snapshot' | 'timestamp') => (state?.rows[role].version ?? 0) + 1
  const row = (role: 'snapshot' | 'timestamp', signed: SignedPart): PolicyRow => {
    return { role, version: version(role), content: signedText(models, role, signed, [key]) }
  }
  const snapshot = row('snapshot', snapshotSigned(newest, version('snapshot'), now))
  const entries = entriesOf(metadataIn(models, 'targets', targets.row.content))
  const expires = new Date(now + reliedOnDays(entries, rolloutIn(rollout)) * DAY_MS).toISOString()
  const timestamp = row('timestamp', timestampSigned(snapshot, version('timestamp'), { expires, now }))
  const added = [...root, ...[targets, ...delegated].filter((one) => one.isNew).map((one) => one.row)]
  const next = [...added, snapshot, timestamp]
  verified(models, [...rows, ...next], rootKey)
  return next
}

/** Each publication adds one. The database counts to 2147483647. */
const HIGHEST_VERSION = 1_000_000_000

/** Whoever signs on top of a version that is too high makes it count, also after its signer was removed. */
function checkNoJump({ rows }: Published): void {
  const skipped = Object.values(rows).filter(({ version }) => version >= HIGHEST_VERSION)
  if (skipped.length === 0) return
  const which = skipped.map(({ role, version }) => `version ${version} of ${role}.json`).join(', ')
  throw new Error(
    `one of the signers has skipped to ${which}; delete this from fleet.policy_file as the owner of the database, and then remove the signer`,
  )
}

interface NextRow {
  readonly row: PolicyRow
  readonly isNew: boolean
}

/** With a new key of the fleet, it also signs whatever the old one did. */
function signersAfter(
  { key, rootKey }: Publisher,
  state: Published | undefined,
  { signers = state ?? firstSigners(rootKey), replaces }: Change,
): Signers {
  if (!replaces) return signers
  const [old, fresh] = [replaces, key].map(({ publicKey }) => publicKey.toString('base64url'))
  const next = signers.signers.map((one) => (one.key === old && fresh ? { ...one, key: fresh } : one))
  return { signers: next, threshold: signers.threshold }
}

/** The first root, other signers or another key. Only the key of the fleet can sign it: the old one, and also the new one. */
function rootRow(publisher: Publisher, state: Published | undefined, change: Change): readonly PolicyRow[] {
  const { models, key, now } = publisher
  const { signers, replaces } = change
  if (state && !signers && !replaces) return []
  const old = replaces ?? key
  if (!old.publicKey.equals(state?.rootKey ?? publisher.rootKey))
    throw new Error(
      `${state ? 'a change of signers' : 'the first publication'} needs the private key of the fleet${state && state.rootVersion > 1 ? ', the newest one' : ''}`,
    )
  const version = (state?.rootVersion ?? 0) + 1
  const timestamp = (state?.rows.timestamp.version ?? 0) + 1
  const facts = { rootKey: key.publicKey, version, timestamp, now }
  const signed = rootSigned(signersAfter(publisher, state, change), facts)
  const keys = replaces ? [replaces, key] : [key]
  return [{ role: 'root', version, content: signedText(models, 'root', signed, keys) }]
}

/**
 * With new signers, the delegations change as soon as enough of them have signed. Throws if those who are left did not sign
 * what is published, and the publisher alone is not enough: machines would refuse it.
 */
function targetsRow(
  publisher: Publisher,
  state: Published | undefined,
  signers: Signers,
  { targets }: Change,
): NextRow {
  const version = (state?.rows.targets.version ?? 0) + 1
  if (targets !== undefined) return { row: { role: 'targets', version, content: targets }, isNew: true }
  const signed = state ? namesOn(publisher.models, state.targets, signers).length : 0
  const isEnough = signed >= signers.threshold
  if (state && isEnough && hasTargets({ state, signers, bundle: undefined }))
    return { row: state.rows.targets, isNew: false }
  const made = signTargets(publisher, { state, signers, bundle: undefined })
  if (made.missing === 0) return { row: { role: 'targets', version, content: made.text }, isNew: true }
  if (state && isEnough) return { row: state.rows.targets, isNew: false }
  throw new Error(
    `the bundles that are published would have ${signed} of the ${signers.threshold} signatures that they would need; before that, let others sign and publish the newest one again, or lower the threshold`,
  )
}

/** Signed again by the publisher after a change of signers: who signed it before may be gone. */
function delegatedRow(
  { models, key, now }: Publisher,
  role: Delegated,
  state: Published | undefined,
  target: string,
  isAgain: boolean,
): NextRow {
  const before = state?.rows[role]
  if (before && before.target === target && !isAgain) return { row: before, isNew: false }
  const version = (before?.version ?? 0) + 1
  const content = signedText(models, role, delegatedSigned(role, target, version, now), [key])
  return { row: { role, version, content, target }, isNew: true }
}
