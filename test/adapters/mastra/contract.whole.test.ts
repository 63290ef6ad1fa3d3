import { contract } from '../contract.js'

const mastra = { name: 'mastra', node: 'node@22', ways: ['all tools of the agent', 'single tools'] }
contract({ ...mastra, version: '1.60', isLowEnd: true })
contract({ ...mastra, version: '1.71', holds: true })
