// A person's signature on an act, for this one act and time: by a passkey after it verified them, or by an Ed25519 key.

import { createHash } from 'node:crypto'
import { digest as digestOf } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { canonicalJson, type Data } from '../../core/base/json.js'
import { isSignedBy, type KeyPair, signatureOf } from '../../files/ed25519.js'
import {
  type KeySignature,
  type PasskeySignature,
  type Pending,
  type Signature,
  shownOf,
} from '../approvals.js'
import type { Approver, Asker } from '../approvers.js'

/** Passkeys are bound to this name, and so are separate from those of everything else on localhost. */
export const PAGE_HOST = 'carabiner.localhost'
const PAGE_ORIGIN = new RegExp(`^http://${PAGE_HOST.replace('.', '\\.')}:\\d{1,5}$`)

/** An answer, where it is given, and one try to sign it. */
export interface SignedAnswer {
  readonly option: string
  readonly nonce: string
  /** Absent on a machine that is in no fleet. */
  readonly asker?: Asker | undefined
}

/** What the key signs. Anything that makes it another call, answer, machine or time makes it another text. */
export function challengeOf(
  { id, question, project, expires }: Pick<Pending, 'id' | 'question' | 'project' | 'expires'>,
  { option, nonce, asker }: SignedAnswer,
): string {
  const { binding, digest, session } = question
  const shown = digestOf(shownOf(question))
  const where = { project, session, ...(asker && { machine: asker.machine, name: asker.name }) }
  return challengeFor({ what: 'answer', id, binding, digest, shown, ...where, option, expires, nonce })
}

/** The challenge of any act. `what` names the kind of act, so that no act is signed in place of another. */
export function challengeFor(act: Data & { readonly what: string }): string {
  return createHash('sha256').update(canonicalJson(act)).digest('base64url')
}

/** The key of a signature is of nobody on the list. */
export class UnlistedKey extends Error {
  override readonly name = 'UnlistedKey'

  constructor() {
    super('its key is not on the list of approvers')
  }
}

/** Returns who signed. Throws with the reason if nobody on the list did: an UnlistedKey, or what is wrong. `page`: the only page that counts. */
export async function signerOf(
  signature: Signature,
  challenge: string,
  approvers: readonly Approver[],
  page?: string,
): Promise<Approver> {
  const found = approvers.find(({ key }) => isKeyOf(signature, key))
  if (!found) throw new UnlistedKey()
  const { key } = found
  if (signature.kind === 'ed25519') {
    const publicKey = Buffer.from(key.publicKey, 'base64url')
    if (!isSignedBy(publicKey, textFor(challenge), Buffer.from(signature.signature, 'base64url')))
      throw new Error('its signature is wrong, or is for another question, answer, machine or time')
    return found
  }
  if (key.kind !== 'ed25519') await checkPasskey(signature, challenge, key, page)
  return found
}

function isKeyOf(signature: Signature, key: Approver['key']): boolean {
  if (key.kind === 'ed25519') return signature.kind === 'ed25519' && signature.id === key.publicKey
  return signature.kind !== 'ed25519' && signature.id === key.id
}

/** Keeps the signature of an answer from being one of anything else. */
function textFor(challenge: string): string {
  return `carabiner-answer-v1\n${challenge}`
}

/** Signs with the Ed25519 key of a person. */
export function signedWith(key: KeyPair, challenge: string, nonce: string): KeySignature {
  const signature = signatureOf(key, textFor(challenge)).toString('base64url')
  return { kind: 'ed25519', id: key.publicKey.toString('base64url'), signature, nonce }
}

/** Throws unless this passkey signed on its own page, or on `page`. */
async function checkPasskey(
  signature: PasskeySignature,
  challenge: string,
  key: Exclude<Approver['key'], { kind: 'ed25519' }>,
  page: string | undefined,
): Promise<void> {
  const origin = originIn(signature)
  const isItsPage = key.kind === 'passkey' ? origin === key.origin : PAGE_ORIGIN.test(origin)
  if (!isItsPage || (page !== undefined && origin !== page))
    throw new Error(`it was signed on another page (${origin})`)
  const { verifyAuthenticationResponse } = await webauthn()
  const { id, authenticatorData, clientDataJSON } = signature
  const { verified } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { authenticatorData, clientDataJSON, signature: signature.signature },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: key.kind === 'passkey' ? key.rpId : PAGE_HOST,
    // Only root could keep a count of uses.
    credential: { id, publicKey: new Uint8Array(Buffer.from(key.publicKey, 'base64url')), counter: 0 },
    requireUserVerification: true,
  })
  if (!verified) throw new Error('its signature is wrong')
}

function originIn({ clientDataJSON }: PasskeySignature): string {
  try {
    const { origin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { origin?: unknown }
    return String(origin)
  } catch (error) {
    throw new Error(`it is not a signature of a passkey: ${textOf(error)}`)
  }
}

/** What a browser returns for a new passkey. Every field is base64url. */
export interface Registration {
  readonly id: string
  readonly attestationObject: string
  readonly clientDataJSON: string
}

/** The public key of a new passkey in COSE form, base64url. Throws if it did not verify its person on this page. */
export async function publicKeyIn(
  { id, attestationObject, clientDataJSON }: Registration,
  expected: { readonly challenge: string; readonly origin: string; readonly rpId?: string },
): Promise<string> {
  const { verifyRegistrationResponse } = await webauthn()
  const { registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { attestationObject, clientDataJSON },
    },
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpId ?? PAGE_HOST,
    requireUserVerification: true,
  })
  if (!registrationInfo || registrationInfo.credential.id !== id) throw new Error('it is not a new passkey')
  return Buffer.from(registrationInfo.credential.publicKey).toString('base64url')
}

type WebAuthn = typeof import('@simplewebauthn/server')

async function webauthn(): Promise<WebAuthn> {
  try {
    return await import('@simplewebauthn/server')
  } catch (error) {
    throw new Error(
      `passkeys cannot be checked without the package @simplewebauthn/server (${textOf(error)}); install it where Carabiner is installed`,
      { cause: error },
    )
  }
}
