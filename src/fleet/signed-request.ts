// The signature of a machine on a request: which machine, when, and every byte of what it asks.

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
const FORM = /^Carabiner-Fleet machine=([0-9a-f-]{36}), time=(\d{1,15}), signature=([\w-]{86})$/

/** How far the clock of a machine may be off. A machine that is told the time asks again. */
export const CLOCK_MS = 300_000

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body: Buffer
}

export interface Claim {
  readonly machine: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly signature: Buffer
}

function textOf({ method, path, body }: Asked, { machine, time }: Pick<Claim, 'machine' | 'time'>): string {
  return ['carabiner-fleet-request-v1', method, path, machine, time, hash('sha256', body)].join('\n')
}

/** The value of the header. */
export function signedHeader(
  asked: Asked,
  who: { readonly machine: string; readonly key: KeyPair },
  time: number,
): string {
  const signature = signatureOf(who.key, textOf(asked, { machine: who.machine, time }))
  return `${SCHEME} machine=${who.machine}, time=${time}, signature=${signature.toString('base64url')}`
}

/** Undefined if the header is missing or has another form. It says nothing about who really sent it. */
export function claimIn(header: string | undefined): Claim | undefined {
  const [, machine, time, signature] = FORM.exec(header ?? '') ?? []
  if (!machine || !time || !signature || !UUID.test(machine)) return undefined
  return { machine, time: Number(time), signature: Buffer.from(signature, 'base64url') }
}

export function isSigned(asked: Asked, claim: Claim, publicKey: Buffer): boolean {
  return isSignedBy(publicKey, textOf(asked, claim), claim.signature)
}
