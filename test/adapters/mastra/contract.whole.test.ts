import { contract } from '../contract.js'

const ways = ['all tools of the agent', 'single tools']
for (const version of ['1.60', '1.71'])
  contract({ name: 'mastra', version, node: 'node@22', ways, holds: true })
