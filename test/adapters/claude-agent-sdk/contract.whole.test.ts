import { expect } from 'vitest'
import { contract } from '../contract.js'

for (const version of ['0.3.322', '0.3.325'])
  contract({
    name: 'claude-agent-sdk',
    version,
    // The SDK has no hooks around model calls.
    leftOut: [
      ...(['respond for the model', 'deny a request'] as const),
      ...(['deny a response', 'deny a call in a response'] as const),
      ...(['rewrite a response', 'rewrite a call in a response'] as const),
    ],
    differs: {
      inject: ({ requests, text }) => {
        expect(requests[1]).toContain('it rains')
        expect(text).toBe('All done.')
      },
      abort: ({ ran, error }) => {
        expect(ran).toEqual(['wait a'])
        expect(error?.message).toContain('aborted')
      },
      // Tools of a program are called mcp__SERVER__TOOL, so the hook of this scene refuses none.
      subagent: ({ ran, events, text }) => {
        expect(ran).toEqual(['helper the river', 'look a'])
        const helpers = expect.objectContaining({ tool_name: 'mcp__test__look', agent_id: 'helper-1' })
        expect(events).toContainEqual(helpers)
        expect(text).toBe('All done.')
      },
    },
  })
