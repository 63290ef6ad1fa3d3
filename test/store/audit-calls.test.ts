// Every implementation of AuditCalls keeps its contract.

import { workplace } from './audit-calls/workplace.js'
import { contract } from './contracts/audit-calls.js'

contract('calls in files', () => {
  const { open } = workplace()
  return [open(), open()]
})
