import { contract } from '../contract.js'

for (const version of ['0.14', '0.20']) contract({ name: 'openai-agents', version })
