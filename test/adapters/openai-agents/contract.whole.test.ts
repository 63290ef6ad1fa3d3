import { expect } from 'vitest'
import { contract, denied } from '../contract.js'

for (const [version, more] of [
  ['0.14', { isLowEnd: true }],
  ['0.20', { holds: true }],
] as const)
  contract({
    name: 'openai-agents',
    version,
    ...more,
    differs: {
      // The SDK marks no result as an error.
      deny: denied,
      // The SDK wraps the error of the hook.
      'abort in a hook': ({ ran, requests, told, error }) => {
        expect(ran).toEqual([])
        expect(requests).toHaveLength(1)
        expect(told).toEqual([expect.stringContaining('AbortError')])
        expect(error?.message).toContain('AbortError')
      },
    },
  })
