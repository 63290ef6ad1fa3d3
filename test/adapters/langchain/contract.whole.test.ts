import { contract } from '../contract.js'

for (const version of ['1.0', '1.5']) contract({ name: 'langchain', version })
