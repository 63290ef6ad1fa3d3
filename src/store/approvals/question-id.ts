// What a person types to say which question they mean: short, nobody's guess, and hard to misread.

import { randomBytes } from 'node:crypto'

/** Five bits a letter. No i, l, o, u: whoever reads one of them has misread 1, 0 or v, and is understood. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 8
const BITS = 5

const ID = new RegExp(`^[${LETTERS}]{4}-[${LETTERS}]{4}$`)

/** `k7f3-9qxd`: 40 bits. */
export function newId(): string {
  let number = BigInt(`0x${randomBytes((LENGTH * BITS) / 8).toString('hex')}`)
  let letters = ''
  for (let i = 0; i < LENGTH; i++, number >>= BigInt(BITS)) letters += LETTERS[Number(number & 31n)]
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

export function isId(text: string): boolean {
  return ID.test(text)
}

/** As it is written: in any case, with or without the dash; also of a beginning. */
export function readId(typed: string): string {
  const letters = typed
    .toLowerCase()
    .replace(/[\s-]/g, '')
    .replace(/[il]/g, '1')
    .replaceAll('o', '0')
    .replaceAll('u', 'v')
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters
}
