// The records of trust in files and in memory keep the same contract; files promise more.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
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
  it('are found by their project after a version without an index wrote or removed some', () => {
    const folder = dataDir()
    const one = trustRecord()
    const two = trustRecord({ path: '/project/two' })
    fileTrustRecords(folder).write(one, one)
    const names = () =>
      fileTrustRecords(folder)
        .ofProject('/project')
        .map(({ path }) => path)
    expect(names()).toEqual([one.path])
    // What such a version writes: a record, and nothing else.
    const index = join(folder, 'trust-projects')
    renameSync(index, `${index}-before`)
    fileTrustRecords(folder).write(two, two)
    rmSync(index, { recursive: true })
    renameSync(`${index}-before`, index)
    expect(names()).toEqual([one.path, two.path].sort())
    rmSync(index, { recursive: true })
    expect(names()).toEqual([one.path, two.path].sort())
  })

  it('of one project are found without reading those of others', () => {
    const folder = dataDir()
    const records = fileTrustRecords(folder)
    const other = trustRecord({ projectDir: '/other' })
    records.write(other, other)
    records.write(trustRecord(), trustRecord())
    const names = readdirSync(join(folder, 'trust'))
    const mine = readdirSync(join(folder, 'trust-projects')).flatMap((name) =>
      name === 'complete' ? [] : readdirSync(join(folder, 'trust-projects', name)),
    )
    expect(mine.sort()).toEqual(names.sort())
    const reads = fileTrustRecords(folder)
    const file = names.map((name) => join(folder, 'trust', name, '1.json'))
    for (const path of file) {
      const { value } = JSON.parse(readFileSync(path, 'utf8'))
      if (value.projectDir === '/other') {
        chmodSync(path, 0o600)
        writeFileSync(path, 'damaged')
      }
    }
    expect(reads.ofProject('/project')).toHaveLength(1)
    expect(() => reads.ofProject('/other')).toThrow(/is not valid JSON/)
  })

  it('are not read from a folder that others can write, nor for a project that holds them', () => {
    const folder = dataDir()
    const records = fileTrustRecords(folder)
    records.write(trustRecord(), trustRecord())
    chmodSync(join(folder, 'trust'), 0o777)
    expect(() => records.checkPrivate()).toThrow(/is writable by others/)
    expect(() => fileTrustRecords(folder).load(trustRecord())).toThrow(/is writable by others/)
    const project = join(folder, '..')
    mkdirSync(project, { recursive: true })
    expect(() => records.checkOutside(project)).toThrow(/must not trust itself/)
  })
})
