import { expect } from 'vitest'
import { contract, denied } from '../contract.js'

for (const version of ['0.14', '0.20'])
  contract({
    name: 'openai-agents',
    version,
    holds: true,
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
