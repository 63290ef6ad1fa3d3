import { expect } from 'vitest'
import { contract, type Seen, tells } from '../contract.js'

const five = {
  name: 'ai-sdk',
  noExample: true as const,
  differs: {
    // There is no approval flow: the call fails, and the model is told the question.
    'ask, yes': ({ ran, requests }: Seen) => {
      expect(ran).toEqual([])
      expect(requests[1]).toContain('really?')
    },
    'rules, ask, yes': ({ ran, requests }: Seen) => {
      expect(ran).toEqual([])
      expect(requests[1]).toContain('The rule out asks first')
    },
    'parallel, ask, yes': tells(['look c'], ['a?', 'b?', 'saw c']),
    'parallel, ask and deny': tells(['look c'], ['a?', 'not to b', 'saw c']),
  },
}
contract({ ...five, version: '5.0', isLowEnd: true })
contract({ ...five, version: '5', holds: true })
contract({ name: 'ai-sdk', version: '6.0', isLowEnd: true })
contract({ name: 'ai-sdk', version: '6', holds: true })
const seven = { name: 'ai-sdk', node: 'node@22', ways: ['needsApproval of the tools', 'toolApproval'] }
contract({ ...seven, version: '7.0', isLowEnd: true })
contract({ ...seven, version: '7', holds: true })
