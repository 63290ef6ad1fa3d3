// The records of trust in files and in memory keep the same contract; files promise more.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileTrustRecords } from '../../src/store/file-stores.js'
import { MemoryTrustRecords } from './contracts/memory-trust-records.js'
import { contract, trustRecord } from './contracts/trust-records.js'

function dataDir(): string {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-trust-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return join(root, 'data')
}

contract('FileTrustRecords', () => {
  const folder = dataDir()
  return [fileTrustRecords(folder), fileTrustRecords(folder)]
})

contract('MemoryTrustRecords', () => {
  const records = new MemoryTrustRecords()
  return [records, records]
})

describe('records in files', () => {
  it('are not read from a folder that others can write, nor for a project that holds them', () => {
    const folder = dataDir()
    const records = fileTrustRecords(folder)
    records.write(trustRecord(), trustRecord())
    chmodSync(join(folder, 'trust'), 0o777)
    expect(() => records.checkPrivate()).toThrow(/can be written by others/)
    expect(() => fileTrustRecords(folder).load(trustRecord())).toThrow(/can be written by others/)
    const project = join(folder, '..')
    mkdirSync(project, { recursive: true })
    expect(() => records.checkOutside(project)).toThrow(/must not decide about itself/)
  })
})
