// How much memory it takes to verify many checkpoints of many machines, and to export them.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import {
  type Checkpoint,
  checkpointText,
  digestOf,
  type Leaf,
} from '../../src/fleet/checkpoint/checkpoint.js'
import { readExport, writeExport } from '../../src/fleet/checkpoint/export.js'
import type { FleetSource, NumberedNote } from '../../src/fleet/checkpoint/source.js'
import { verifyFleet } from '../../src/fleet/checkpoint/verify.js'

const MIB = 1024 * 1024
const [MACHINES, CHECKPOINTS] = [1000, 60]

const NOTHING: FleetSource = {
  names: async () => new Map(),
  checkpoints: async function* () {},
  evidence: async function* () {},
  signed: async function* () {},
  chains: async function* () {},
  records: async function* () {},
}

describe('exporting checkpoints', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-export-'))
    return () => rmSync(folder, { recursive: true, force: true })
  })
  const path = () => join(folder, 'export.jsonl')
  const exported = (notes: readonly string[]) =>
    writeExport(
      path(),
      { org: 'acme', rootKey: 'k', time: 't' },
      {
        ...NOTHING,
        checkpoints: async function* () {
          for (const [i, note] of notes.entries()) yield { number: i + 1, note }
        },
      },
    )

  it('has short lines, however many machines are in one', async () => {
    // Its parts end within a character.
    const notes = [`a${'🔒'.repeat(33 * MIB)}`, '', 'short']
    expect(await exported(notes)).toMatchObject({ checkpoints: 3 })
    const source = await readExport(path())
    const found: number[] = []
    await source.names()
    for await (const { number, note } of source.checkpoints())
      if (note === notes[number - 1]) found.push(number)
    await source.close()
    expect(found).toEqual([1, 2, 3])
  })

  it('is damaged without the end of one', async () => {
    await exported(['x'.repeat(2 * MIB), 'short'])
    const [begin = '', part = '', last, short = '', ...rest] = readFileSync(path(), 'utf8').split('\n')
    expect([last, ...rest]).toHaveLength(3)
    const nothing = '{"type":"checkpoint","number":1,"note":"","continued":true}'
    for (const parts of [[part], [nothing], [part, short], [nothing, short], [part, nothing, short]]) {
      const end = `{"type":"end","lines":${parts.length + 2}}`
      writeFileSync(path(), [begin, ...parts, end, ''].join('\n'))
      const source = await readExport(path())
      await expect(verifyFleet(source, { rootKey: Buffer.alloc(32) })).rejects.toThrow(
        'the rest of checkpoint 1 is missing',
      )
      await source.close()
    }
  })
})

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
        ...NOTHING,
        names: async () => names,
        checkpoints: notes,
        signed: async function* () {
          after = used()
          yield* []
        },
      },
      { rootKey: key.publicKey },
    )
    expect(found).toMatchObject({ checkpoints: CHECKPOINTS, problemCount: MACHINES + 1 })
    // 40 bytes for each head, at most twice as much while they grow, and a line for each machine.
    expect(after - before).toBeLessThan(2 + (MACHINES * (1000 + 80 * CHECKPOINTS)) / MIB)
  })
})
