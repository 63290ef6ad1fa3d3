import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha256, sha256OfBytes, shortHash } from '../../src/core/base/digest.js'
import { runs } from '../property/runs.js'

const expected = (text: string) => createHash('sha256').update(text).digest('hex')

it('is what Node makes of it, at every length around its blocks', () => {
  for (let length = 0; length <= 200; length++) {
    const text = 'a'.repeat(length)
    expect([sha256(text), shortHash(text)]).toEqual([expected(text), expected(text)])
  }
  for (const length of [4095, 4096, 4097, 100_000]) {
    const text = 'é'.repeat(length)
    expect([sha256(text), shortHash(text)]).toEqual([expected(text), expected(text)])
  }
})

it('is what Node makes of any text, also of one that is no good Unicode', () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 })
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes)
      expect(shortHash(text)).toBe(expected(text))
    }),
    { numRuns: runs(2000) },
  )
})

it('is what Node makes of bytes, for the first few records and all others', () => {
  for (const length of [700, 0, 4096, 4097, 64, 63, 1, 100_000]) {
    const bytes = Buffer.alloc(length, 'a record ')
    expect(sha256OfBytes(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(sha256OfBytes(bytes.subarray(length / 3))).toBe(
      createHash('sha256')
        .update(bytes.subarray(length / 3))
        .digest('hex'),
    )
  }
})
