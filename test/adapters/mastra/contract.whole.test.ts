import { contract } from '../contract.js'

contract({ name: 'mastra', version: '1', node: 'node@22' })
