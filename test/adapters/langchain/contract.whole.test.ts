import { contract } from '../contract.js'

contract({ name: 'langchain', version: '1.0', isLowEnd: true })
contract({ name: 'langchain', version: '1.5' })
