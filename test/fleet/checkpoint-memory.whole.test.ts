// How much memory it takes to verify many checkpoints of many machines.

import { randomBytes, randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import {
  type Checkpoint,
  checkpointText,
  digestOf,
  type Leaf,
} from '../../src/fleet/checkpoint/checkpoint.js'
import type { NumberedNote } from '../../src/fleet/checkpoint/source.js'
import { verifyFleet } from '../../src/fleet/checkpoint/verify.js'

const MIB = 1024 * 1024
const [MACHINES, CHECKPOINTS] = [1000, 60]

describe('verifying checkpoints', () => {
  const key = newKeyPair()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / MIB
  }

  const machines = Array.from({ length: MACHINES }, () => ({
    machine: randomUUID() as string,
    log: randomBytes(16).toString('hex'),
  }))
  const names = new Map(machines.map(({ machine }, n) => [machine, `machine-${n}`]))
  const base = { seq: 0, hash: '0'.repeat(64) }

  /** In each, every chain is longer than in the one before. */
  async function* notes(): AsyncGenerator<NumberedNote> {
    let previous = base.hash
    for (let number = 1; number <= CHECKPOINTS; number++) {
      const leaves = machines.map(({ machine, log }): Leaf => {
        const head = { seq: number * 1000, hash: randomBytes(32).toString('hex') }
        return { machine, log, epoch: 1, base, head }
      })
      const evidence = [`evidence ${machines[0]?.machine} ${machines[0]?.log} 1 cut 5 ${base.hash}`]
      const rest = { org: 'acme', time: '2026-11-18T07:00:00.000Z', signed: [], names, evidence }
      const one: Checkpoint = { ...rest, number, previous, leaves }
      const note = checkpointText(one, key)
      previous = digestOf(note)
      yield { number, note }
    }
  }

  it('takes the memory of their heads, not of their texts', async () => {
    const before = used()
    let after = 0
    const found = await verifyFleet(
      {
        names: async () => names,
        checkpoints: notes,
        evidence: async function* () {},
        signed: async function* () {
          after = used()
          yield* []
        },
        chains: async function* () {},
        records: async function* () {},
      },
      { rootKey: key.publicKey },
    )
    expect(found).toMatchObject({ checkpoints: CHECKPOINTS, problemCount: MACHINES + 1 })
    // 40 bytes for each head, at most twice as much while they grow, and a line for each machine.
    expect(after - before).toBeLessThan(2 + (MACHINES * (1000 + 80 * CHECKPOINTS)) / MIB)
  })
})
