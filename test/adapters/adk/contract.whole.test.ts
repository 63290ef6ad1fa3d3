import { expect } from 'vitest'
import { contract, named, tells } from '../contract.js'

contract({
  name: 'adk',
  version: '2',
  // The SDK runs calls one after another, so two tools never meet.
  leftOut: ['parallel, at once'],
  differs: {
    // When somebody has answered, the SDK leaves the results of the other calls out of the next request, also without plugins.
    'parallel, ask, yes': (seen) => {
      tells(['look a', 'look b', 'look c'], ['saw a', 'saw b'])(seen)
      expect(named(seen.events).filter((name) => name === 'PreToolUse')).toHaveLength(3)
    },
    'parallel, ask, no': tells(['look c'], []),
    'parallel, ask and deny': tells(['look a', 'look c'], ['saw a']),
    'tool error': ({ events, requests, text }) => {
      const error = "Error in tool 'fail': no such place"
      expect(events.at(-1)).toMatchObject({ hook_event_name: 'PostToolUseFailure', error })
      expect(requests[1]).toContain('no such place')
      expect(text).toBe('All done.')
    },
  },
})
