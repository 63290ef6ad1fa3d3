// Who may sign what of a policy. The key of the fleet signs the list itself, in `root.json`.

import { hash } from 'node:crypto'
import { canonicalJson } from '../../core/base/json.js'
import { publicKeyFrom } from '../../files/ed25519.js'
import { fieldsOf, listOf, oneOf, type Reader, text } from '../../files/fields.js'

export const SIGNER_ROLES = ['policy', 'rollout', 'trust'] as const
/** `policy` signs bundles, together with others up to the threshold; `rollout` and `trust` each need one signature. */
export type SignerRole = (typeof SIGNER_ROLES)[number]

export interface Signer {
  readonly name: string
  readonly roles: readonly SignerRole[]
  /** An Ed25519 key, base64url. */
  readonly key: string
}

/** The name of the fleet's own key, which is the only signer until others are added. */
export const FLEET_SIGNER = 'fleet'

/** A public key as the metadata has it. */
export function keyJson(publicKey: Buffer): { keytype: string; scheme: string; keyval: { public: string } } {
  return { keytype: 'ed25519', scheme: 'ed25519', keyval: { public: publicKey.toString('hex') } }
}

/** What the metadata calls a key. */
export function keyIdOf(publicKey: Buffer): string {
  return hash('sha256', canonicalJson(keyJson(publicKey)))
}

export function signersWith(signers: readonly Signer[], role: SignerRole): readonly Signer[] {
  return signers.filter(({ roles }) => roles.includes(role))
}

export function bytesOf({ key }: Signer): Buffer {
  return Buffer.from(key, 'base64url')
}

const signer: Reader<Signer> = (value, where) => {
  const fields = fieldsOf(value, where)
  const key = text(fields.key, `${where}.key`)
  if (!publicKeyFrom(key)) throw new Error(`is not valid: ${where}.key must be a public key`)
  return {
    name: text(fields.name, `${where}.name`),
    roles: listOf(oneOf(...SIGNER_ROLES))(fields.roles, `${where}.roles`),
    key,
  }
}

export const signerList: Reader<readonly Signer[]> = listOf(signer)
