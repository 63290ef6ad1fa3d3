import { expect } from 'vitest'
import { contract } from '../contract.js'

contract({
  name: 'adk',
  version: '2',
  // The SDK runs calls one after another, so two tools never meet.
  leftOut: ['parallel'],
  differs: {
    'tool error': ({ events, requests, text }) => {
      const error = "Error in tool 'fail': no such place"
      expect(events.at(-1)).toMatchObject({ hook_event_name: 'PostToolUseFailure', error })
      expect(requests[1]).toContain('no such place')
      expect(text).toBe('All done.')
    },
  },
})
