// A person's signature on an act: made by their passkey after it verified them, for this one act and time.

import { createHash } from 'node:crypto'
import { digest as digestOf } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { canonicalJson, type Data } from '../../core/base/json.js'
import { type Pending, type Signature, shownOf } from '../approvals.js'
import type { Approver } from '../approvers.js'

/** Passkeys are bound to this name, and so are separate from those of everything else on localhost. */
export const PAGE_HOST = 'carabiner.localhost'
const PAGE_ORIGIN = new RegExp(`^http://${PAGE_HOST.replace('.', '\\.')}:\\d{1,5}$`)

/** What the passkey signs. Anything that makes it another call, answer or time makes it another text. */
export function challengeOf(
  { id, question, project, expires }: Pending,
  option: string,
  nonce: string,
): string {
  const { binding, digest } = question
  const shown = digestOf(shownOf(question))
  return challengeFor({ what: 'answer', id, binding, digest, shown, project, option, expires, nonce })
}

/** The challenge of any act. `what` names the kind of act, so that no act is signed in place of another. */
export function challengeFor(act: Data & { readonly what: string }): string {
  return createHash('sha256').update(canonicalJson(act)).digest('base64url')
}

/** Returns the person who signed. Throws with the reason if nobody on the list did. `page`: the only origin that counts. */
export async function signerOf(
  signature: Signature,
  challenge: string,
  approvers: readonly Approver[],
  page?: string,
): Promise<Approver> {
  const approver = approvers.find(({ id }) => id === signature.id)
  if (!approver) throw new Error('its passkey is not on the list of approvers')
  const origin = originIn(signature)
  if (!PAGE_ORIGIN.test(origin) || (page !== undefined && origin !== page))
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
    expectedRPID: PAGE_HOST,
    // Only root could keep a count of uses.
    credential: { id, publicKey: new Uint8Array(Buffer.from(approver.publicKey, 'base64url')), counter: 0 },
    requireUserVerification: true,
  })
  if (!verified) throw new Error('its signature is wrong')
  return approver
}

function originIn({ clientDataJSON }: Signature): string {
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
  expected: { readonly challenge: string; readonly origin: string },
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
    expectedRPID: PAGE_HOST,
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
