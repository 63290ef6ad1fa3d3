import { expect, it } from 'vitest'
import { randomHex, randomUUID } from '../../src/files/random.js'

it('are all different, from the device and from the library', () => {
  const ids = Array.from({ length: 100 }, randomUUID)
  expect(new Set(ids).size).toBe(100)
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

it('has two digits for each byte', () => {
  expect(randomHex(8)).toMatch(/^[0-9a-f]{16}$/)
})
