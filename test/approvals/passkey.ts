// A passkey in software: it signs what an authenticator would, with whatever is changed for a test.

import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import { challengeOf, PAGE_HOST } from '../../src/store/approvals/signature.js'
import type { PasskeySignature, Pending } from '../../src/store/approvals.js'
import type { Asker, LocalApprover } from '../../src/store/approvers.js'

const PRESENT = 0x01
const VERIFIED = 0x04

export interface Passkey {
  readonly approver: LocalApprover
  /** Signs the answer with this option. */
  sign(pending: Pending, option: string, changes?: Changes): PasskeySignature
  /** Signs this challenge, whatever it is about. */
  signChallenge(challenge: string, nonce: string, changes?: Changes): PasskeySignature
}

interface Changes {
  readonly origin?: string
  readonly host?: string
  readonly type?: string
  readonly flags?: number
  /** The machine that the answer is for. */
  readonly asker?: Asker
}

export function passkey(name: string): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16).toString('base64url')
  const approver = { name, id, publicKey: cosePoint(x, y).toString('base64url') }
  return {
    approver,
    sign(pending, option, changes) {
      const nonce = randomBytes(16).toString('base64url')
      return this.signChallenge(
        challengeOf(pending, { option, nonce, asker: changes?.asker }),
        nonce,
        changes,
      )
    },
    signChallenge(challenge, nonce, changes = {}) {
      const { origin = `http://${PAGE_HOST}:7810`, host = PAGE_HOST, type = 'webauthn.get' } = changes
      const { flags = PRESENT | VERIFIED } = changes
      const client = { type, challenge, origin, crossOrigin: false }
      const clientDataJSON = Buffer.from(JSON.stringify(client))
      const authenticatorData = Buffer.concat([sha256(Buffer.from(host)), Buffer.from([flags, 0, 0, 0, 0])])
      const signer = createSign('sha256').update(authenticatorData).update(sha256(clientDataJSON))
      return {
        id,
        nonce,
        authenticatorData: authenticatorData.toString('base64url'),
        clientDataJSON: clientDataJSON.toString('base64url'),
        signature: signer.sign(privateKey).toString('base64url'),
      }
    },
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y} in CBOR. */
function cosePoint(x: string, y: string): Buffer {
  const bytes = (value: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(value, 'base64url')])
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    bytes(x),
    Buffer.from([0x22]),
    bytes(y),
  ])
}
