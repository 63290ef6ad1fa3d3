import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { proofStates } from '../../src/cli/proof-state.js'
import { keepProof, keptProofs, type ProofRecord } from '../../src/verify/proof-record.js'

beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-proof-record-')))
  vi.stubEnv('CARABINER_HOME', root)
  vi.stubEnv('PATH', root)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(root, { recursive: true, force: true })
  })
})

const HELD = { name: 'command', state: 'held', text: 'it held' } as const
const CIRCUMSTANCES = { program: 'p', configuration: 'c', hooks: 'h', carabiner: '1' }

function proof(more: Partial<ProofRecord>): ProofRecord {
  return {
    host: 'codex',
    title: 'Codex',
    at: 1,
    quick: false,
    network: 'none',
    facts: [HELD],
    bypasses: [],
    circumstances: CIRCUMSTANCES,
    ...more,
  }
}

const kept = () => keptProofs().map(({ at, quick }) => ({ at, quick }))

describe('the last proof', () => {
  it('is a full one, also after a quick one that held', () => {
    keepProof(proof({ at: 1 }))
    keepProof(proof({ at: 2, quick: true }))
    expect(kept()).toEqual([{ at: 1, quick: false }])
  })

  it.each<[string, Partial<ProofRecord>, Partial<ProofRecord>]>([
    ['failed', {}, { facts: [{ ...HELD, state: 'failed' }] }],
    ['was made after a change', {}, { circumstances: { ...CIRCUMSTANCES, program: 'q' } }],
    ['held where the full one did not', { facts: [{ ...HELD, state: 'failed' }] }, {}],
  ])('is the quick one if it %s', (_, full, quick) => {
    keepProof(proof({ at: 1, ...full }))
    keepProof(proof({ at: 2, quick: true, ...quick }))
    expect(kept()).toEqual([{ at: 2, quick: true }])
  })

  it('is stale once the agent is gone', async () => {
    keepProof(proof({ quick: true }))
    expect(await proofStates([])).toMatchObject([
      { host: 'codex', ok: true, quick: true, held: 1, stale: ['the agent is no longer in PATH'] },
    ])
  })
})
