// The metadata of a policy's repository: what each role says, and how it is signed.

import type { Metadata, Root, Snapshot, Targets, Timestamp } from '@tufjs/models'
import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { type KeyPair, signatureOf } from '../../files/ed25519.js'
import { bytesOf, keyIdOf, keyJson, type Signer, signersWith } from './signers.js'
import type { Models } from './tuf.js'

/** In the order in which they are checked. `rollout` and `trust` are delegated by `targets`. */
export const POLICY_ROLES = ['root', 'timestamp', 'snapshot', 'targets', 'rollout', 'trust'] as const
export type PolicyRole = (typeof POLICY_ROLES)[number]

/** One version of a role, as it is stored and served. */
export interface PolicyRow {
  readonly role: PolicyRole
  readonly version: number
  readonly content: string
  /** The file that `rollout` or `trust` vouches for: rollout.json, trust.json. */
  readonly target?: string
}

type Kind = 'root' | 'timestamp' | 'snapshot' | 'targets'
type Signed = Readonly<Record<string, unknown>>
interface SignedOf {
  readonly root: Root
  readonly timestamp: Timestamp
  readonly snapshot: Snapshot
  readonly targets: Targets
  readonly rollout: Targets
  readonly trust: Targets
}

export const kindOf = (role: PolicyRole): Kind => (role === 'rollout' || role === 'trust' ? 'targets' : role)

/** Each vouches for one file, and one signature is enough. */
export const DELEGATED = ['rollout', 'trust'] as const
export type Delegated = (typeof DELEGATED)[number]

export const targetName = (role: Delegated): string => `${role}.json`
export const bundleName = (digest: string): string => `${digest}.json`

/** Throws, naming the file, unless the text is exactly what `signedText` makes: no byte of it is without meaning. */
export function metadataIn<R extends PolicyRole>(
  models: Models,
  role: R,
  content: string,
): Metadata<SignedOf[R]> {
  const metadata = readable(models, role, content)
  const isOurs = Object.values(metadata.signatures).every(({ sig }) => /^[0-9a-f]{128}$/.test(sig))
  if (!isOurs || JSON.stringify(metadata.toJSON()) !== content)
    throw new Error(`${role}.json is not in the form that Carabiner writes`)
  return metadata
}

function readable<R extends PolicyRole>(models: Models, role: R, content: string): Metadata<SignedOf[R]> {
  try {
    return parsed(models, role, JSON.parse(content))
  } catch (error) {
    throw new Error(`${role}.json cannot be read: ${textOf(error)}`)
  }
}

function parsed<R extends PolicyRole>({ Metadata }: Models, role: R, json: unknown): Metadata<SignedOf[R]> {
  // The overloads of fromJSON have one kind each.
  return Metadata.fromJSON(kindOf(role) as never, json as never) as unknown as Metadata<SignedOf[R]>
}

/** Signs with each key. `kept` are signatures of others over the very same. */
export function signedText(
  models: Models,
  role: PolicyRole,
  signed: Signed,
  keys: readonly KeyPair[],
  kept: Metadata<Targets>['signatures'] = {},
): string {
  const metadata = parsed(models, role, { signed, signatures: [] })
  Object.assign(metadata.signatures, kept)
  for (const key of keys)
    metadata.sign((bytes) => {
      const sig = signatureOf(key, bytes).toString('hex')
      return new models.Signature({ keyID: keyIdOf(key.publicKey), sig })
    })
  return JSON.stringify(metadata.toJSON())
}

// ---- what each role says --------------------------------------------------------------------------------------

const HEAD = { spec_version: '1.0.31' } as const
const YEAR_MS = 365 * 24 * 3_600_000

/** Only `timestamp` limits how long a machine goes on without news. The others end when a newer one replaces them. */
export function longExpiry(now: number): string {
  return new Date(now + 10 * YEAR_MS).toISOString()
}

export interface Signers {
  readonly signers: readonly Signer[]
  /** How many have to sign a bundle. */
  readonly threshold: number
}

export interface RootFacts {
  readonly rootKey: Buffer
  readonly version: number
  /** The version of `timestamp` that is published with it. No older one counts beside this root. */
  readonly timestamp: number
  readonly now: number
}

export function rootSigned(
  { signers, threshold }: Signers,
  { rootKey, version, timestamp, now }: RootFacts,
): Signed {
  const all = [...new Set(signers.map(({ key }) => key))].map((key) => Buffer.from(key, 'base64url'))
  const everybody = all.map(keyIdOf).sort()
  const keys = Object.fromEntries([rootKey, ...all].map((key) => [keyIdOf(key), keyJson(key)]))
  const policy = signersWith(signers, 'policy').map((one) => keyIdOf(bytesOf(one)))
  return {
    _type: 'root',
    ...HEAD,
    version,
    expires: longExpiry(now),
    keys,
    roles: {
      root: { keyids: [keyIdOf(rootKey)], threshold: 1 },
      timestamp: { keyids: everybody, threshold: 1 },
      snapshot: { keyids: everybody, threshold: 1 },
      targets: { keyids: [...new Set(policy)].sort(), threshold },
    },
    consistent_snapshot: true,
    signers,
    oldest_timestamp: timestamp,
  }
}

export interface TargetEntry {
  readonly digest: string
  readonly length: number
  readonly custom?: Signed
}

function targetJson({ digest, length, custom }: TargetEntry): Signed {
  return { length, hashes: { sha256: digest }, ...(custom && { custom }) }
}

/** The bundles, and who may sign the roll-out and the list of trust. */
export function targetsSigned(
  entries: readonly TargetEntry[],
  signers: readonly Signer[],
  version: number,
  expires: string,
): Signed {
  const delegated = DELEGATED.map((role) => ({ role, keys: signersWith(signers, role).map(bytesOf) }))
  const keys = Object.fromEntries(
    delegated.flatMap((one) => one.keys).map((key) => [keyIdOf(key), keyJson(key)]),
  )
  return {
    _type: 'targets',
    ...HEAD,
    version,
    expires,
    targets: Object.fromEntries(entries.map((one) => [bundleName(one.digest), targetJson(one)])),
    delegations: {
      keys,
      roles: delegated.map(({ role, keys: its }) => ({
        name: role,
        keyids: its.map(keyIdOf).sort(),
        threshold: 1,
        terminating: true,
        paths: [targetName(role)],
      })),
    },
  }
}

export function delegatedSigned(role: Delegated, target: string, version: number, now: number): Signed {
  const entry = { digest: sha256(target), length: Buffer.byteLength(target) }
  return {
    _type: 'targets',
    ...HEAD,
    version,
    expires: longExpiry(now),
    targets: { [targetName(role)]: targetJson(entry) },
  }
}

function metaOf({ version, content }: PolicyRow): Signed {
  return { version, length: Buffer.byteLength(content), hashes: { sha256: sha256(content) } }
}

export function snapshotSigned(rows: readonly PolicyRow[], version: number, now: number): Signed {
  const meta = Object.fromEntries(rows.map((row) => [`${row.role}.json`, metaOf(row)]))
  return { _type: 'snapshot', ...HEAD, version, expires: longExpiry(now), meta }
}

/** `signed_at` tells a machine how old the newest is that it was told. */
export function timestampSigned(
  snapshot: PolicyRow,
  version: number,
  { expires, now }: { readonly expires: string; readonly now: number },
): Signed {
  const meta = { 'snapshot.json': metaOf(snapshot) }
  return { _type: 'timestamp', ...HEAD, version, expires, meta, signed_at: new Date(now).toISOString() }
}

export function entriesOf({ signed }: Metadata<Targets>): readonly TargetEntry[] {
  return Object.values(signed.targets)
    .map(({ length, hashes, custom }) => ({ digest: hashes.sha256 ?? '', length, custom }))
    .sort((a, b) => versionOf(a) - versionOf(b))
}

export function versionOf({ custom }: Pick<TargetEntry, 'custom'>): number {
  return typeof custom?.version === 'number' ? custom.version : 0
}
