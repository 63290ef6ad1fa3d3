// The audit log in files, and in memory with answers that come later, keep the same contract.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { fileStores } from '../../src/store/file-stores.js'
import { contract } from './contracts/audit-log.js'
import { MemoryAuditLog } from './contracts/memory-audit-log.js'

contract('FileAuditLog', () => {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-audit-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const projectDir = join(root, 'project')
  mkdirSync(projectDir)
  const open = () => fileStores({ projectDir, dataDir: join(root, 'data') }).audit
  return [open(), open()]
})

contract('MemoryAuditLog', () => {
  const log = new MemoryAuditLog()
  return [log, log.another()]
})
