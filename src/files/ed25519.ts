// Ed25519 keys: of machines and people, who sign requests and answers, and of a fleet, which signs lists and checkpoints. Public ones are 32 bytes.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

export const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: Buffer
}

export function newKeyPair(): KeyPair {
  return pairOf(generateKeyPairSync('ed25519').privateKey)
}

/** PKCS#8 in PEM form, as openssl writes it. With a passphrase, nobody can use it without. */
export function pemOf({ privateKey }: KeyPair, passphrase = ''): string {
  const plain = { type: 'pkcs8', format: 'pem' } as const
  return String(
    privateKey.export(passphrase === '' ? plain : { ...plain, cipher: 'aes-256-cbc', passphrase }),
  )
}

/** Throws if it is not a private Ed25519 key in PEM form. */
export function keyPairFrom(pem: string, passphrase = ''): KeyPair {
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey({ key: pem, format: 'pem', passphrase })
  } catch (error) {
    const isLocked = pem.includes('ENCRYPTED')
    throw new Error(
      !isLocked
        ? 'is not a private key in PEM form'
        : passphrase === ''
          ? 'needs its passphrase, and none was given'
          : 'needs its passphrase, and this is not it',
      { cause: error },
    )
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('is not an Ed25519 key')
  return pairOf(privateKey)
}

function pairOf(privateKey: KeyObject): KeyPair {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: Buffer.from(x, 'base64url') }
}

export function signatureOf({ privateKey }: Pick<KeyPair, 'privateKey'>, text: string | Buffer): Buffer {
  return sign(null, Buffer.from(text), privateKey)
}

export function isSignedBy(publicKey: Buffer, text: string | Buffer, signature: Buffer): boolean {
  if (publicKey.length !== KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  })
  return verify(null, Buffer.from(text), key, signature)
}

/** Undefined if it is not base64url of 32 bytes. One key has one spelling: the last character has bits that say nothing. */
export function publicKeyFrom(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === KEY_BYTES && bytes.toString('base64url') === text ? bytes : undefined
}
