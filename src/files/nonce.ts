// A random name that no other process uses.

import { randomBytes } from 'node:crypto'

export function nonce(): string {
  return randomBytes(8).toString('hex')
}
