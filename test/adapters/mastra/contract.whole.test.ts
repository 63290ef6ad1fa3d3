import { contract } from '../contract.js'

for (const version of ['1.60', '1.71']) contract({ name: 'mastra', version, node: 'node@22' })
