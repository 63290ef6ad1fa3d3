// Public keys as text: one key has one spelling.

import { expect, it } from 'vitest'
import { newKeyPair, publicKeyFrom } from '../../src/files/ed25519.js'
import {
  type Person,
  type PersonKey,
  personCode,
  readPersonCode,
  signedPeople,
} from '../../src/files/fleet/people.js'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const root = newKeyPair()
const key = newKeyPair().publicKey
const text = key.toString('base64url')
/** All spellings that Node reads as the same bytes. */
const spellings = [...LETTERS]
  .map((last) => `${text.slice(0, -1)}${last}`)
  .filter((one) => {
    return Buffer.from(one, 'base64url').equals(key)
  })

it('a public key is read from its only spelling', () => {
  expect(spellings).toHaveLength(4)
  expect(spellings.filter((one) => publicKeyFrom(one))).toEqual([text])
  expect(publicKeyFrom(text)).toEqual(key)
  for (const bad of ['', `${text}=`, ` ${text}`, text.slice(1), `${text}AA`, key.toString('base64')])
    expect(publicKeyFrom(bad) === undefined || bad === text).toBe(true)
})

it('a person cannot be given a key under another spelling', () => {
  for (const publicKey of spellings.filter((one) => one !== text)) {
    expect(() => readPersonCode(personCode({ kind: 'ed25519', publicKey }))).toThrow('must be')
    const passkey = {
      kind: 'passkey',
      id: publicKey,
      publicKey: text,
      rpId: 'a.example',
      origin: 'https://a.example',
    }
    expect(() => readPersonCode(personCode(passkey as PersonKey))).toThrow('must be base64url')
  }
})

it('a list is not signed if two people have one key, or names that count as one', () => {
  const passkey = (id: string): PersonKey => {
    return { kind: 'passkey', id, publicKey: text, rpId: 'a.example', origin: 'https://a.example' }
  }
  const person = (name: string, ...keys: readonly PersonKey[]): Person => ({ name, role: 'approver', keys })
  const sign = (...people: readonly Person[]) => signedPeople({ version: 1, people }, root)
  expect(() => sign(person('ann', passkey('AAAA')), person('ben', passkey('BBBB')))).toThrow('the same key')
  expect(() => sign(person('ann'), person('Ann '))).toThrow('the same name')
  expect(sign(person('ann', passkey('AAAA'), passkey('BBBB')), person('ben'))).toBeDefined()
})
