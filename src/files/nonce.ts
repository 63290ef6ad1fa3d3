// A name that nobody else has.

import { randomBytes } from 'node:crypto'

export function nonce(): string {
  return randomBytes(8).toString('hex')
}
