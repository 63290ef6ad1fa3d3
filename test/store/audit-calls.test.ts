// Calls in files, and in memory with answers that come later, keep the same contract.

import { workplace } from './audit-calls/workplace.js'
import { contract } from './contracts/audit-calls.js'
import { MemoryAuditCalls } from './contracts/memory-audit-calls.js'

contract('FileCalls', () => {
  const { open } = workplace()
  return [open(), open()]
})

contract('MemoryAuditCalls', () => {
  const calls = new MemoryAuditCalls()
  return [calls, calls]
})
