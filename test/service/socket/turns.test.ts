// Calls begin one at a time, and the service looks for new callers in between.

import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Turns } from '../../../src/service/socket/turns.js'

it('the first call begins at once, and every other after one more look', async () => {
  const turns = new Turns()
  const begun: number[] = []
  for (const call of [1, 2, 3]) void turns.next().then(() => begun.push(call))
  await Promise.resolve()
  expect(begun).toEqual([1])
  await setImmediate()
  expect(begun).toEqual([1, 2])
  await setImmediate()
  expect(begun).toEqual([1, 2, 3])
})

it('a call that comes alone never waits', async () => {
  const turns = new Turns()
  for (let call = 0; call < 3; call++) {
    await turns.next()
    await setImmediate()
    await setImmediate()
  }
  let hasBegun = false
  void turns.next().then(() => {
    hasBegun = true
  })
  await Promise.resolve()
  expect(hasBegun).toBe(true)
})
