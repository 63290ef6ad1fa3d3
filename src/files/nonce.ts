// A random name that no other process uses.

import { randomHex } from './random.js'

export function nonce(): string {
  return randomHex(8)
}
