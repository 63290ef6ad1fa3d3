import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ResidentAudit } from '../../src/cli/project-audit.js'
import { DEFAULT_MERGED } from '../../src/config/merged-settings.js'
import type { AuditedHook, AuditRecord } from '../../src/core/session/audit-record.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-audit-'))
  mkdirSync(join(folder, 'home'), { mode: 0o700 })
  vi.stubEnv('CARABINER_HOME', join(folder, 'home'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const RECORD: AuditRecord = {
  kind: 'fire',
  time: '2026-01-01T00:00:00.000Z',
  session: 's1',
  event: 'PreToolUse',
  tool: 'mcp__x__y',
  digest: 'd',
  action: 'continue',
  hooks: [],
  injections: [],
  diagnostics: [],
  ms: 0,
}
const skipped = (why: AuditedHook['why']): AuditedHook =>
  ({ id: 'h', name: 'h', source: 'user', status: 'skipped', why, ms: 0 }) as never
const ran: AuditedHook = { id: 'h', name: 'h', source: 'user', status: 'ran', ms: 1 } as never

/** Whether the record is there when write() returns, and at the end. */
async function written(record: AuditRecord): Promise<readonly [boolean, boolean]> {
  const projectDir = join(folder, 'project')
  mkdirSync(projectDir)
  const lost: string[] = []
  const audit = new ResidentAudit(
    projectDir,
    () => DEFAULT_MERGED,
    (text) => lost.push(text),
  )
  await audit.write(record)
  const first = isThere()
  await audit.end()
  expect(lost).toEqual([])
  return [first, isThere()]
}

function isThere(): boolean {
  const files = readdirSync(join(folder, 'home'), { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .some(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8').includes('mcp__x__y'))
}

describe('a program that stays', () => {
  it.each([
    ['no hook hears', {}],
    ['hooks for other tools do not hear', { hooks: [skipped('matcher'), skipped('if')] }],
  ])('writes events later that %s', async (_, fields) => {
    expect(await written({ ...RECORD, ...fields })).toEqual([false, true])
  })

  it.each([
    ['a hook heard', { hooks: [skipped('matcher'), ran] }],
    ['a hook was kept from hearing', { hooks: [skipped('untrusted')] }],
    ['went on without a gate', { unguarded: [{ hook: 'h', source: 'user', why: 'matcher' as const }] }],
    ['was refused', { action: 'deny' as const }],
  ])('writes an event at once that %s', async (_, fields) => {
    expect(await written({ ...RECORD, ...fields })).toEqual([true, true])
  })
})
