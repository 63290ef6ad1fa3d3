// Signed notes, against the example in the documentation of golang.org/x/mod/sumdb/note, which defined their form.

import { createPrivateKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { isNoteSigned, noteIn, signedNote } from '../../src/fleet/checkpoint/note.js'

describe('a signed note of the Go reference implementation', () => {
  const NAME = 'PeterNeumann'
  const ID = 'c74f20a3'
  // Each begins with a byte for the algorithm.
  const publicKey = Buffer.from('ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'base64').subarray(1)
  const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)
  const TEXT =
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
  const SIGNATURE =
    'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM='
  const NOTE = `${TEXT}\n— ${NAME} ${SIGNATURE}\n`

  it('is read and verified', () => {
    const found = noteIn(`${NOTE}and more`)
    expect(found?.note).toMatchObject({ text: TEXT, name: NAME })
    expect(found?.rest).toBe('and more')
    expect(found?.note.signature.toString('hex', 0, 4)).toBe(ID)
    expect(found && isNoteSigned(found.note, publicKey)).toBe(true)
  })

  it('is what we sign with the same key, byte by byte', () => {
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    expect(signedNote(TEXT, NAME, { privateKey, publicKey })).toBe(NOTE)
  })

  it.each([
    ['another text', NOTE.replace('answer', 'Answer')],
    ['another name', NOTE.replace(NAME, 'EnochRoot')],
    ['another id of the key', NOTE.replace('x08go/', 'x08gp/')],
    ['another signature', NOTE.replace('JkuBS', 'JkuBT')],
  ])('is refused with %s', (_, text) => {
    const found = noteIn(text)
    expect(found && isNoteSigned(found.note, publicKey)).toBe(false)
  })

  it('is refused with another key', () => {
    const found = noteIn(NOTE)
    expect(found && isNoteSigned(found.note, newKeyPair().publicKey)).toBe(false)
  })
})
