// A device in place of the kernel's random one that gives only zeros.

import { expect, it, vi } from 'vitest'
import { randomHex } from '../../src/files/random.js'

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  return { ...fs, readSync: (_: number, bytes: Uint8Array) => bytes.fill(0).length }
})

it.runIf(process.platform !== 'win32')('is not used', () => {
  expect(new Set(Array.from({ length: 8 }, () => randomHex(8))).size).toBe(8)
})
