import { expect } from 'vitest'
import { contract, type Seen } from '../contract.js'

const five = {
  name: 'ai-sdk',
  noExample: true as const,
  differs: {
    // There is no approval flow: the call fails, and the model is told the question.
    'ask, yes': ({ ran, requests }: Seen) => {
      expect(ran).toEqual([])
      expect(requests[1]).toContain('really?')
    },
  },
}
contract({ ...five, version: '5.0', isLowEnd: true })
contract({ ...five, version: '5' })
contract({ name: 'ai-sdk', version: '6.0', isLowEnd: true })
contract({ name: 'ai-sdk', version: '6' })
contract({ name: 'ai-sdk', version: '7.0', node: 'node@22', isLowEnd: true })
contract({ name: 'ai-sdk', version: '7', node: 'node@22' })
