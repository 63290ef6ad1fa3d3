// A token with which one machine joins: an id, a secret that is nowhere else, and the key of the fleet.

import { hash, randomBytes } from 'node:crypto'
import { publicKeyFrom } from '../files/ed25519.js'

export interface JoinToken {
  readonly id: string
  readonly secret: string
  /** The fleet's public key. It comes with the token, so that no gateway can give a machine another one. */
  readonly rootKey: Buffer
}

const FORM = /^cf1\.([0-9a-f]{12})\.([\w-]{43})\.([\w-]{43})$/

export function newToken(rootKey: Buffer): JoinToken {
  return { id: randomBytes(6).toString('hex'), secret: randomBytes(32).toString('base64url'), rootKey }
}

export function tokenText({ id, secret, rootKey }: JoinToken): string {
  return ['cf1', id, secret, rootKey.toString('base64url')].join('.')
}

/** Undefined for anything that `tokenText` did not make. */
export function tokenFrom(text: string): JoinToken | undefined {
  const [, id, secret, key] = FORM.exec(text.trim()) ?? []
  const rootKey = key === undefined ? undefined : publicKeyFrom(key)
  return id && secret && rootKey ? { id, secret, rootKey } : undefined
}

/** What the database keeps of the secret. */
export function secretDigest(secret: string): Buffer {
  return Buffer.from(hash('sha256', secret), 'hex')
}
