import { expect } from 'vitest'
import { contract } from '../contract.js'

for (const [version, more] of [
  ['0.3.322', { isLowEnd: true }],
  ['0.3.325', {}],
] as const)
  contract({
    name: 'claude-agent-sdk',
    version,
    ...more,
    // The SDK has no hooks around model calls.
    leftOut: [
      ...(['respond for the model', 'deny a request'] as const),
      ...(['deny a response', 'deny a call in a response'] as const),
      ...(['rewrite a request', 'rewrite a response', 'rewrite a call in a response'] as const),
    ],
    differs: {
      inject: ({ requests, text }) => {
        expect(requests[1]).toContain('it rains')
        expect(text).toBe('All done.')
      },
      respond: ({ ran, errors, requests }) => {
        expect(ran).toEqual([])
        expect(errors).toBe(1)
        expect(requests[1]).toContain('from the cache')
      },
      abort: ({ ran, error }) => {
        expect(ran).toEqual(['wait a'])
        expect(error?.message).toContain('aborted')
      },
      'abort in a hook': ({ ran, error }) => {
        expect(ran).toEqual([])
        expect(error?.message).toContain('aborted')
      },
      'parallel, abort': ({ ran, error }) => {
        expect(ran).toContain('wait b')
        expect(error?.message).toContain('aborted')
      },
    },
  })
