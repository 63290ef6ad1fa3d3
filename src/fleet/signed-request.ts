// The signature of a machine or a person on a request: who, when, and every byte of what they ask.

/*
 * Signatures and not client certificates: a gateway often stands behind something that ends TLS; a machine that left is a
 * row, not a list of revoked certificates; and nobody has to run an authority for machines. TLS still shows the machine
 * that it speaks to the right gateway. A request that is sent again does nothing new (see ROUTES), so there is no nonce.
 */

import { hash } from 'node:crypto'
import { isSignedBy, type KeyPair, signatureOf } from '../files/ed25519.js'
import { UUID } from './protocol.js'

export const SIGNATURE_HEADER = 'authorization'
const SCHEME = 'Carabiner-Fleet'
const FORM =
  /^Carabiner-Fleet (?:machine=([0-9a-f-]{36})|person=([\w-]{43})), time=(\d{1,15}), signature=([\w-]{86})$/

/** How far the clock of a machine may be off. A machine that is told the time asks again. */
export const CLOCK_MS = 300_000

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body: Buffer
}

export interface Claim {
  /** Empty for a person. */
  readonly machine: string
  /** The public key of a person, base64url. */
  readonly person?: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly signature: Buffer
}

type Who = Pick<Claim, 'machine' | 'person'>

function textOf({ method, path, body }: Asked, { machine, person }: Who, time: number): string {
  const who = person === undefined ? machine : `person:${person}`
  return ['carabiner-fleet-request-v1', method, path, who, time, hash('sha256', body)].join('\n')
}

/** Who signs: a machine, or, without its id, the person who has the key. */
export interface Sender {
  readonly machine?: string
  readonly key: KeyPair
}

/** The value of the header. */
export function signedHeader(asked: Asked, { machine, key }: Sender, time: number): string {
  const person = key.publicKey.toString('base64url')
  const who: Who = machine === undefined ? { machine: '', person } : { machine }
  const signature = signatureOf(key, textOf(asked, who, time)).toString('base64url')
  const name = machine === undefined ? `person=${person}` : `machine=${machine}`
  return `${SCHEME} ${name}, time=${time}, signature=${signature}`
}

/** Undefined if the header is missing or has another form. It says nothing about who really sent it. */
export function claimIn(header: string | undefined): Claim | undefined {
  const [, machine = '', person, time, signature] = FORM.exec(header ?? '') ?? []
  if (!time || !signature || (person === undefined && !UUID.test(machine))) return undefined
  const who = { machine, ...(person !== undefined && { person }) }
  return { ...who, time: Number(time), signature: Buffer.from(signature, 'base64url') }
}

export function isSigned(asked: Asked, claim: Claim, publicKey: Buffer): boolean {
  return isSignedBy(publicKey, textOf(asked, claim, claim.time), claim.signature)
}
