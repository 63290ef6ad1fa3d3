import { expect } from 'vitest'
import { contract } from '../contract.js'

contract({
  name: 'ai-sdk',
  version: '5',
  noExample: true,
  differs: {
    // There is no approval flow: the call fails, and the model is told the question.
    'ask, yes': ({ ran, requests }) => {
      expect(ran).toEqual([])
      expect(requests[1]).toContain('really?')
    },
  },
})
contract({ name: 'ai-sdk', version: '6' })
contract({ name: 'ai-sdk', version: '7', node: 'node@22' })
