// Passkeys of this browser: making one, and signing with it.

import type { ActChallengeView, ActDoneView, ChallengeView } from '../view/passkeys.js'
import { tell } from './ask.js'

const TIMEOUT_MS = 120_000

/** Signs exactly this question and answer, after the passkey has verified its person. */
export async function allowWithPasskey(id: string): Promise<ActDoneView> {
  const given = await tell<ChallengeView>('api/challenge', { id })
  return tell('api/allow', { id, ...(await signed(given)) })
}

/** Signs exactly this act, after the passkey has verified its person, and has it done. */
export async function actWithPasskey(act: object): Promise<ActDoneView> {
  const given = await tell<ActChallengeView>('api/act/challenge', act)
  return tell('api/act', { ...act, ...(await signed(given)) })
}

/** What the passkey says to this challenge, after it has verified its person. Without `passkeys`, the person chooses one. */
export async function signed({
  challenge,
  nonce,
  host,
  passkeys,
}: Omit<ChallengeView, 'option'>): Promise<object> {
  const found = await navigator.credentials.get({
    publicKey: {
      challenge: bytesOf(challenge),
      rpId: host,
      allowCredentials: passkeys.map((one) => ({ type: 'public-key' as const, id: bytesOf(one) })),
      userVerification: 'required',
      timeout: TIMEOUT_MS,
    },
  })
  const { id: passkey, response } = found as PublicKeyCredential
  const { authenticatorData, clientDataJSON, signature } = response as AuthenticatorAssertionResponse
  return {
    nonce,
    passkey,
    authenticatorData: textOf(authenticatorData),
    clientDataJSON: textOf(clientDataJSON),
    signature: textOf(signature),
  }
}

/** Resolves to the command that an administrator types. `required`: the passkey is found without its id. */
export async function makePasskey(
  name: string,
  residentKey: 'preferred' | 'required' = 'preferred',
): Promise<string> {
  const { challenge, host } = await tell<{ challenge: string; host: string }>('api/passkey/challenge')
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(challenge),
      rp: { id: host, name: 'Carabiner' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key' as const, alg })),
      authenticatorSelection: { userVerification: 'required', residentKey },
      attestation: 'none',
      timeout: TIMEOUT_MS,
    },
  })
  const { id, response } = made as PublicKeyCredential
  const { attestationObject, clientDataJSON } = response as AuthenticatorAttestationResponse
  const sent = {
    challenge,
    name,
    id,
    attestationObject: textOf(attestationObject),
    clientDataJSON: textOf(clientDataJSON),
  }
  return (await tell<{ command: string }>('api/passkey', sent)).command
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(plain, (char) => char.charCodeAt(0))
}

function textOf(buffer: ArrayBuffer): string {
  const plain = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(plain).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
