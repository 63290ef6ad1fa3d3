// Checkpoints: the tree of RFC 6962, signed notes, and what an administrator of the database cannot do unnoticed.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { checkedCheckpoint, checkpointText, makeCheckpoint } from '../../src/fleet/checkpoint/checkpoint.js'
import { readExport, writeExport } from '../../src/fleet/checkpoint/export.js'
import { databaseSource } from '../../src/fleet/checkpoint/source.js'
import { treeRoot } from '../../src/fleet/checkpoint/tree.js'
import { verifyFleet } from '../../src/fleet/checkpoint/verify.js'
import { searchRecords } from '../../src/fleet/database/audit-query.js'
import type { Database } from '../../src/fleet/database/connection.js'
import {
  addedMachine,
  type Fleet,
  type Lines,
  listingIn,
  madeFleet,
  madeLines,
  ORG,
  opened,
  rawLines,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

describe('the tree', () => {
  const LEAVES = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ]
  const leaves = LEAVES.map((hex) => Buffer.from(hex, 'hex').toString('latin1'))

  // Roots of the reference implementation of Certificate Transparency.
  it.each([
    [0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    [1, '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
    [2, 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
    [3, 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
    [4, 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
    [5, '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
    [6, '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
    [7, 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
    [8, '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
  ])('of %i leaves has the root that RFC 6962 says', (count, root) => {
    expect(treeRoot(leaves.slice(0, count)).toString('hex')).toBe(root)
  })
})

describe.runIf(hasPostgres)('checkpoints', () => {
  const LOG = 'c'.repeat(32)
  const key = newKeyPair()
  const options = { rootKey: key.publicKey }
  let server: Postgres
  let fleet: Fleet
  let databases: Database[]
  let machines: string[]
  const time = '2026-11-18T07:00:00.000Z'
  /** The first and the newest checkpoint, as somebody keeps them. */
  let first: string
  let kept: string
  let last: string | undefined
  let folder: string
  let made = 0

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-export-'))
    server = await Postgres.start()
  })
  afterAll(() => {
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const append = async (machine: string, lines: Lines, epoch = 1) => {
    const { first, prev, count, last, text } = lines
    const sql = 'select * from fleet.append($1, $2, $3, $4, $5, $6, $7, $8, $9)'
    await databases[0]?.rows(sql, [
      machine,
      LOG,
      epoch,
      first,
      prev,
      count,
      last.hash,
      text,
      listingIn(lines),
    ])
  }
  const admin = () => databases[1] as Database
  const checkpoint = () =>
    admin().snapshot((client) => makeCheckpoint(client, { org: ORG, key, time, ...(last && { kept: last }) }))
  /** Whatever the database says, its export says the same, but for what only searches see. */
  const verify = async (...kept: string[]) => {
    const found = await admin().snapshot((client) =>
      verifyFleet(databaseSource(client), { ...options, kept }),
    )
    const problems = found.problems.filter((one) => !one.includes('listed under something else'))
    const problemCount = problems.length
    const same = { ...found, ok: problemCount === 0, problems, problemCount }
    expect(await verifyExport(await exported(), ...kept)).toEqual(same)
    return found
  }
  const exported = async () => {
    const path = join(folder, `export-${made++}.jsonl`)
    const head = { org: ORG, rootKey: key.publicKey.toString('base64url'), time }
    await admin().snapshot((client) => writeExport(path, head, databaseSource(client)))
    return path
  }
  const verifyExport = async (path: string, ...kept: string[]) => {
    const source = await readExport(path)
    return verifyFleet(source, { ...options, kept }).finally(() => source.close())
  }
  const lines: Lines[] = []
  /** Nothing here reads what is in it. */
  const signedList = (what: string, version: number) => {
    const org = `(select org from fleet.org where name = '${ORG}')`
    return run(fleet.owner, [
      what === 'people'
        ? `insert into fleet.people (org, version, list, signature) values (${org}, ${version}, '{"v":${version}}', 's')`
        : `insert into fleet.policy_file (org, role, version, content, target) values (${org}, '${what}', ${version}, '{}', 't')`,
    ])
  }

  beforeEach(async () => {
    fleet = await madeFleet(server)
    databases = [await opened(fleet.gateway), await opened(fleet.admin)]
    machines = [await addedMachine(fleet, 'ann'), await addedMachine(fleet, 'bob')]
    lines.length = 0
    for (const [i, machine] of machines.entries()) {
      const made = madeLines(
        Array.from({ length: 5 }, (_, n) => ({
          ...{
            session: `${i}-${n}`,
            event: 'PreToolUse',
            tool: 'Bash',
            action: n === 3 ? 'deny' : 'continue',
          },
          hooks: [{ name: n === 2 ? 'guard:x' : 'other' }],
        })),
      )
      lines.push(made)
      await append(machine, made)
    }
    await signedList('people', 1)
    await signedList('targets', 1)
    await signedList('trust', 3)
    last = undefined
    last = first = await checkpoint()
    const [ann] = lines
    if (ann) await append(machines[0] ?? '', madeLines([{ session: 'later' }], ann.last))
    await signedList('people', 2)
    last = kept = await checkpoint()
    return () => Promise.all(databases.map((one) => one.close()))
  })

  it('are signed, chained and whole', async () => {
    expect(checkedCheckpoint(kept, key.publicKey)).toMatchObject({ org: ORG, number: 2 })
    expect(kept).toMatch(
      /^carabiner-fleet\/acme\n7\n[\w+/]{43}=\nnumber 2\n.*\nprevious [0-9a-f]{64}\n\n— carabiner-fleet\/acme /,
    )
    expect(await verify(kept)).toEqual({
      ...{ ok: true, chains: 2, records: 11, checkpoints: 2, evidence: 0, problems: [], problemCount: 0 },
    })
    expect(() => checkedCheckpoint(kept, newKeyPair().publicKey)).toThrow('is not signed by the key')
    const doctored = kept.replace(/ 6:/, ' 5:')
    expect(() => checkedCheckpoint(doctored, key.publicKey)).toThrow('another list of chains')
  })

  it('find any change of an export, and any part that is missing', async () => {
    const text = readFileSync(await exported(), 'utf8')
    const path = join(folder, 'changed.jsonl')
    const isFound = async (changed: string) => {
      writeFileSync(path, changed)
      const found = await verifyExport(path, kept).catch((error: Error) => error)
      return found instanceof Error ? found.message !== '' : !found.ok
    }
    expect(await isFound(text)).toBe(false)
    const lines = text.split('\n').slice(0, -1)
    const without = (n: number) => lines.filter((_, i) => i !== n)
    for (const [i, line] of lines.entries()) {
      const end = (some: readonly string[]) => [...some.slice(0, -1), `{"type":"end","lines":${some.length}}`]
      expect(await isFound(`${without(i).join('\n')}\n`), `without ${line}`).toBe(true)
      expect(await isFound(`${end(without(i)).join('\n')}\n`), `cut ${line}`).toBe(true)
      const at = (i * 37) % line.length
      const other = `${line.slice(0, at)}${line[at] === '5' ? '6' : '5'}${line.slice(at + 1)}`
      if (i === 0) continue
      expect(await isFound(`${lines.toSpliced(i, 1, other).join('\n')}\n`), other).toBe(true)
      expect(await isFound(`${end(lines.toSpliced(i, 0, line)).join('\n')}\n`), `twice ${line}`).toBe(true)
    }
    for (const cut of [0, 1, text.length >> 1, text.length - 2])
      expect(await isFound(text.slice(0, cut))).toBe(true)
    expect(await isFound(`${text}${lines[1]}\n`)).toBe(true)
    await expect(readExport(join(folder, 'none'))).rejects.toThrow('ENOENT')
    await expect(readExport(folder)).rejects.toThrow('EISDIR')
  })

  it('stay valid while machines go on', async () => {
    const [, bob] = lines
    if (bob) await append(machines[1] ?? '', madeLines([{ session: 'new' }], bob.last))
    expect(await verify(kept)).toMatchObject({ ok: true, records: 12 })
  })

  const chain = (which: number) => `(select chain from fleet.chain where machine = '${machines[which]}')`
  const cutTo = (which: number, seq: number) => [
    `delete from fleet.record where chain = ${chain(which)} and seq > ${seq}`,
    `update fleet.chain c set seq = ${seq}, hash = r.hash from fleet.record r where r.chain = c.chain and c.chain = ${chain(which)} and r.seq = ${seq}`,
  ]
  const gone = (which: number) => [
    `delete from fleet.record where chain = ${chain(which)}`,
    `delete from fleet.chain where machine = '${machines[which]}'`,
    `delete from fleet.machine where machine = '${machines[which]}'`,
  ]

  it.each<[string, string, () => string[]]>([
    [
      'removes a record',
      'record 2 is missing',
      () => [`delete from fleet.record where chain = ${chain(0)} and seq = 2`],
    ],
    [
      'changes a byte',
      'record 2 was changed',
      () => [
        `update fleet.record set line = replace(line, '0-1', '0-x') where chain = ${chain(0)} and seq = 2`,
      ],
    ],
    ['cuts the end off, and puts the head back', 'which a checkpoint has, is missing', () => cutTo(0, 3)],
    [
      'writes a chain anew, with the right hashes',
      'is another one than in a checkpoint',
      () => {
        const made = madeLines(Array.from({ length: 6 }, (_, n) => ({ session: `forged-${n}` })))
        const values = made.text
          .split('\n')
          .map(
            (line, i) =>
              `(${chain(0)}, ${i + 1}, (select org from fleet.org where name = '${ORG}'), '2026-11-18T06:00:00Z', now(), 'fire', 'forged-${i}', decode('${line.slice(-66, -2)}', 'hex'), '${line}')`,
          )
        return [
          `delete from fleet.record where chain = ${chain(0)}`,
          `insert into fleet.record (chain, seq, org, at, received, kind, session, hash, line) values ${values.join(', ')}`,
          `update fleet.chain set hash = decode('${made.last.hash}', 'hex') where chain = ${chain(0)}`,
        ]
      },
    ],
    ['removes a machine', 'all of it is gone', () => gone(1)],
    [
      'removes a machine, also from the list of heads',
      'another list of chains than the one that was signed',
      () => [
        ...gone(1),
        `update fleet.checkpoint set note = regexp_replace(note, '\\n${machines[1]}[^\\n]*', '')`,
      ],
    ],
    [
      'removes the newest checkpoint and cuts back',
      'checkpoint 2, which you kept, is missing',
      () => ['delete from fleet.checkpoint where number = 2', ...cutTo(0, 5)],
    ],
    [
      'lists a record under another verdict',
      'listed under something else',
      () => [`update fleet.record set verdict = 'continue' where verdict = 'deny'`],
    ],
    [
      'lists a record as unreadable, at another time',
      'listed under something else',
      () => [
        `update fleet.record set kind = 'unreadable', at = '1970-01-01', verdict = null, session = null where verdict = 'deny'`,
      ],
    ],
    [
      'gives machines the names of each other',
      'the machine ann is listed under another name, bob',
      () => [
        `update fleet.machine set name = name || 'x'`,
        `update fleet.machine set name = case name when 'annx' then 'bob' else 'ann' end`,
      ],
    ],
    [
      'removes the newest list of people',
      'version 2 of the list of people is gone',
      () => ['delete from fleet.people where version = 2'],
    ],
    [
      'changes a list of people',
      'version 2 of the list of people is another one',
      () => [`update fleet.people set list = list || ' '`],
    ],
    [
      'removes a version of the policy',
      'version 3 of trust of the policy is gone',
      () => [`delete from fleet.policy_file where role = 'trust'`],
    ],
    [
      'changes what a role of the policy points to',
      'version 1 of targets of the policy is another one',
      () => [`update fleet.policy_file set target = 'another' where role = 'targets'`],
    ],
    [
      'replaces an older checkpoint',
      'is not signed',
      () => [`update fleet.checkpoint set note = replace(note, 'number 1', 'number 9') where number = 1`],
    ],
  ])('an administrator who %s is found out', async (_, problem, attack) => {
    await run(fleet.owner, attack())
    const found = await verify(kept)
    expect(found.ok).toBe(false)
    expect(found.problems.join('\n')).toContain(problem)
  })

  it('find records before the beginning of a chain', async () => {
    await append(await addedMachine(fleet, 'late'), madeLines([{}], { seq: 7, hash: 'a'.repeat(64) }))
    const add = (seq: number | string, name: string) =>
      `insert into fleet.record (chain, seq, org, at, received, kind, verdict, session, hash, line)
        select c.chain, ${seq}, c.org, at, received, 'fire', 'deny', 'forged', r.hash, '{"kind":"fire","session":"forged"}'
        from fleet.chain c join fleet.machine using (machine), fleet.record r
        where name = '${name}' and r.chain = ${chain(1)} and r.seq = 1`
    await run(fleet.owner, [add(0, 'ann'), add(-5, 'ann'), add(7, 'late'), add(3, 'late')])
    expect(await searchRecords(admin(), { limit: 9, session: 'forged' })).toHaveLength(4)
    const { problems, records } = await verify(kept)
    expect(records).toBe(16)
    expect(problems.map((one) => one.replace(/, log \w+/, '')).sort()).toEqual([
      'ann: record -5 is before the beginning of the chain',
      'ann: record 0 is before the beginning of the chain',
      'late: it begins with record 8, and nothing says why',
      'late: record 3 is before the beginning of the chain',
      'late: record 7 is before the beginning of the chain',
    ])
  })

  it.each([
    ['at the end of a page', 2000, 9],
    ['within a page', 1000, 9],
    ['longer than a page, and so is the genuine one', 2000, 9 * 1024 * 1024],
  ])('find a second record of the same number: %s', async (_, seq, length) => {
    await append(await addedMachine(fleet, 'long'), madeLines(Array.from({ length: 2500 }, () => ({}))))
    const org = `(select org from fleet.org where name = '${ORG}')`
    const its = `chain = (select chain from fleet.chain join fleet.machine using (machine) where name = 'long')`
    await run(fleet.owner, [
      'alter table fleet.record drop constraint record_pkey',
      'create index on fleet.record (chain, seq)',
      ...(length > 9
        ? [`update fleet.record set line = repeat('x', ${length}) where ${its} and seq = ${seq}`]
        : []),
      `insert into fleet.record (chain, seq, org, at, received, kind, verdict, session, hash, line)
        select chain, seq, ${org}, at, received, 'fire', 'deny', 'forged', hash, repeat('x', ${length})
        from fleet.record where ${its} and seq = ${seq}`,
    ])
    const { problems, records } = await verify(kept)
    expect(records).toBe(11 + 2501)
    expect(problems.join('\n')).toContain(`record ${seq} is there twice`)
  })

  it('find records of an export that are out of order', async () => {
    const lines = readFileSync(await exported(), 'utf8').split('\n')
    const at = lines.findIndex((line) => line.includes('"type":"record","seq":2,'))
    const path = join(folder, 'order.jsonl')
    writeFileSync(path, lines.toSpliced(at, 2, lines[at + 1] ?? '', lines[at] ?? '').join('\n'))
    const { problems } = await verifyExport(path, kept)
    expect(problems.map((one) => one.replace(/^.*: /, ''))).toEqual([
      'record 2 is missing',
      'record 2 is listed after record 3',
    ])
  })

  it('find a chain that was written anew between two checkpoints, if the older one is kept', async () => {
    const made = madeLines(Array.from({ length: 5 }, (_, n) => ({ session: `forged-${n}` })))
    const org = `(select org from fleet.org where name = '${ORG}')`
    const values = made.text
      .split('\n')
      .map(
        (line, i) =>
          `(${chain(1)}, ${i + 1}, ${org}, '2026-11-18T06:00:00Z', now(), 'fire', 'forged-${i}', decode('${line.slice(-66, -2)}', 'hex'), '${line}')`,
      )
    await run(fleet.owner, [
      'delete from fleet.checkpoint where number = 2',
      `delete from fleet.record where chain = ${chain(1)}`,
      `insert into fleet.record (chain, seq, org, at, received, kind, session, hash, line) values ${values.join(', ')}`,
      `update fleet.chain set hash = decode('${made.last.hash}', 'hex') where chain = ${chain(1)}`,
    ])
    last = first
    await expect(checkpoint()).rejects.toThrow('record 5 of the machine bob')
    // A signer who kept nothing signs it all the same: whoever kept the first checkpoint still finds it.
    await run(fleet.owner, ['delete from fleet.checkpoint'])
    last = undefined
    const forged = await checkpoint()
    for (const kept of [[first], [first, forged], [forged, first]]) {
      const { problems } = await verify(...kept)
      expect(problems.join('\n')).toContain('record 5 is another one than in a checkpoint')
      expect(problems.join('\n')).toContain('checkpoint 1 is not the one that you kept')
    }
  })

  it('tell each one that is missing or was replaced, and go on with the next', async () => {
    const made = [first, kept]
    while (made.length < 8) {
      last = await checkpoint()
      made.push(last)
    }
    const other = { ...checkedCheckpoint(made[6] ?? '', key.publicKey), time: '2026-11-18T08:00:00.000Z' }
    const withdrawn = 'delete from fleet.checkpoint where number in'
    const org = `(select org from fleet.org where name = '${ORG}')`
    await run(fleet.owner, [
      `${withdrawn} (2, 4, 5, 7)`,
      `insert into fleet.checkpoint (org, number, note) values (${org}, 7, '${checkpointText(other, key)}')`,
      'insert into fleet.checkpoint (org, number, note) select org, 0, note from fleet.checkpoint where number = 1',
    ])
    expect((await verify()).problems).toEqual([
      'checkpoint 1 is listed as checkpoint 0',
      'checkpoint 0 is before the first one',
      'checkpoint 2 is missing',
      'checkpoints 4 to 5 are missing',
      'checkpoint 7 was replaced: checkpoint 8 follows another one',
    ])
    await run(fleet.owner, [
      `${withdrawn} (0, 1, 7)`,
      'update fleet.checkpoint set number = 9 where number = 3',
      "update fleet.checkpoint set note = 'none' where number = 6",
    ])
    expect((await verify(...made)).problems).toEqual([
      'checkpoint 6 is not a checkpoint',
      'checkpoints 1 to 5 are missing',
      'checkpoint 7 is missing',
      'checkpoint 3 is listed as checkpoint 9',
      ...[1, 2, 3, 4, 5].map((number) => `checkpoint ${number}, which you kept, is missing`),
      'checkpoint 6 is not the one that you kept',
      'checkpoint 7, which you kept, is missing',
    ])
  })

  it('are not made where the one before is not kept, or was replaced', async () => {
    last = undefined
    await expect(checkpoint()).rejects.toThrow('not among those that you kept')
    last = first
    await expect(checkpoint()).rejects.toThrow('somebody changed them there')
    last = kept
    await run(fleet.owner, ['delete from fleet.checkpoint where number = 2'])
    expect(await checkpoint()).toContain('\nnumber 3\n')
    expect(await verify(first, kept)).toMatchObject({ ok: true, checkpoints: 3 })
  })

  it.each([
    ['the machine bob', `update fleet.machine set name = 'rob' where name = 'bob'`],
    ['the machine bob', `update fleet.machine set name = E'bob\\nmachine' where name = 'bob'`],
    ['version 2 of the list of people', 'delete from fleet.people where version = 2'],
    ['version 1 of targets', `update fleet.policy_file set content = '' where role = 'targets'`],
  ])('are not made where %s is gone or another one', async (what, sql) => {
    await run(fleet.owner, [sql])
    await expect(checkpoint()).rejects.toThrow(what)
    expect((await verify(kept)).problems.join()).toContain(what)
  })

  it('without names and signed lists, as older versions made them, stay readable', async () => {
    const { names: _, signed: __, ...old } = checkedCheckpoint(first, key.publicKey)
    const text = checkpointText({ ...old, names: new Map(), signed: [] }, key)
    expect(text).not.toContain('\nmachine ')
    expect(checkedCheckpoint(text, key.publicKey)).toMatchObject({ ...old, signed: [] })
  })

  it('have names of any letters', async () => {
    const name = 'a"b\\c\u2028d\nsigned people 9 x'
    await run(fleet.owner, [`update fleet.machine set name = '${name}' where name = 'bob'`])
    await run(fleet.owner, ['delete from fleet.checkpoint'])
    last = undefined
    last = await checkpoint()
    expect(checkedCheckpoint(last, key.publicKey).names.get(machines[1] ?? '')).toBe(name)
    expect(await verify(last)).toMatchObject({ ok: true })
  })

  it('have all evidence, so that none can be removed', async () => {
    const machine = machines[1] ?? ''
    await append(machine, madeLines([{ session: 'other' }]))
    last = await checkpoint()
    expect(await verify(last)).toMatchObject({ ok: true, evidence: 1 })
    await run(fleet.owner, [`delete from fleet.evidence where machine = '${machine}'`])
    const found = await verify(last)
    expect(found.problems).toEqual([expect.stringContaining('evidence is gone that a checkpoint has')])
  })

  it.each<[string, string, number, number]>([
    ['a new chain without evidence', 'no evidence of a break', 2, 0],
    ['a first chain that begins late', 'begins with record 8, and nothing says why', 1, 7],
  ])('miss the reason for %s', async (_, problem, epoch, seq) => {
    const machine = await addedMachine(fleet, 'carl')
    const base = { seq, hash: '0'.repeat(64) }
    await append(machine, madeLines([{ session: 'x' }], base))
    await run(fleet.owner, [`update fleet.chain set epoch = ${epoch} where machine = '${machine}'`])
    expect((await verify()).problems).toEqual([expect.stringContaining(problem)])
    await run(fleet.owner, [
      `insert into fleet.evidence (org, machine, log, epoch, kind, seq) select org, machine, log, 1, 'gap', 0 from fleet.chain where machine = '${machine}'`,
    ])
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('take no other evidence for the reason why a chain begins late', async () => {
    const machine = await addedMachine(fleet, 'emil')
    await append(machine, madeLines([{ session: 'x' }], { seq: 7, hash: '0'.repeat(64) }))
    const evidence = (kind: string, epoch: number) =>
      run(fleet.owner, [
        `insert into fleet.evidence (org, machine, log, epoch, kind, seq) select org, machine, log, ${epoch}, '${kind}', 0 from fleet.chain where machine = '${machine}'`,
      ])
    for (const kind of ['fork', 'cut', 'behind']) await evidence(kind, 1)
    await evidence('gap', 2)
    expect((await verify()).problems).toEqual([expect.stringContaining('begins with record 8, and nothing')])
    await evidence('damaged', 1)
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('let a chain go on after any record that the fleet has of the log', async () => {
    const [ann = ''] = machines
    const [{ text, last } = madeLines([{}])] = lines
    const third = { seq: 3, hash: text.split('\n')[2]?.slice(-66, -2) ?? '' }
    await run(fleet.owner, [
      `insert into fleet.evidence (org, machine, log, epoch, kind, seq) select org, machine, log, 1, 'cut', 6 from fleet.chain where machine = '${ann}'`,
    ])
    await append(ann, madeLines([{ session: 'after' }], third), 2)
    expect(await verify()).toMatchObject({ ok: true })
    const other = { ...third, hash: last.hash }
    await run(fleet.owner, [
      `update fleet.chain set base_hash = decode('${other.hash}', 'hex') where machine = '${ann}' and epoch = 2`,
    ])
    expect((await verify()).problems.join()).toContain('begins with record 4, and nothing says why')
  })

  it('need no evidence where the machine recorded that it removed older records', async () => {
    const base = { seq: 7, hash: 'a'.repeat(64) }
    const entry = { kind: 'pruned', segments: 1, first: 1, last: 7, lastHash: base.hash }
    await append(await addedMachine(fleet, 'dora'), madeLines([{ session: 'x' }, entry], base))
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('do not blame an administrator for what a machine wrote', async () => {
    const odd = [
      { kind: 5, time, action: { a: 1 } },
      { kind: 'fire', time: 'now', session: 7 },
      { kind: 'fire', time: '2026-02-30T00:00:00.000Z', action: 'continue', decision: 'deny' },
      { kind: 'fire', time: '0001-01-01T00:00:00.000Z', session: 'a\u0000b' },
      { kind: 'fire', time: '9999-12-31T23:59:60.000Z', session: '\\u0000' },
    ]
    await append(await addedMachine(fleet, 'odd'), rawLines(odd.map((one) => JSON.stringify(one))))
    expect(await verify()).toMatchObject({ ok: true, problems: [] })
    const deny = await searchRecords(admin(), { limit: 100, decision: 'deny', machine: 'odd' })
    expect(deny).toHaveLength(1)
    const early = { limit: 100, until: '1970-01-01T00:00:00Z', machine: 'odd' }
    expect(await searchRecords(admin(), early)).toHaveLength(1)
    await run(fleet.owner, [`update fleet.record set at = '1970-01-01' where kind = 'unreadable'`])
    expect((await verify()).problems.join()).toContain('listed under something else')
  })

  it('find a hook whose name is written with escapes', async () => {
    const line = `{"kind":"fire","time":"${time}","hooks":[{"name":"\\u0067uard:y"}]}`
    await append(await addedMachine(fleet, 'escapes'), rawLines([line]))
    expect(await searchRecords(admin(), { limit: 9, hook: 'guard', machine: 'escapes' })).toHaveLength(1)
  })

  it('are read in pages of few bytes, however long the lines and how much evidence there is', async () => {
    const machine = await addedMachine(fleet, 'verbose')
    const MIB = 1024 * 1024
    const lines = rawLines(
      Array.from({ length: 12 }, () => `{"kind":"fire","time":"${time}","x":"${'x'.repeat(3 * MIB)}"}`),
    )
    await append(machine, lines)
    await run(fleet.owner, [
      `insert into fleet.evidence (org, machine, log, epoch, kind, seq, line)
        select c.org, machine, log, 1, 'fork', n, repeat('x', 65536)
        from fleet.chain c, generate_series(1, 500) n where machine = '${machine}'`,
      `insert into fleet.evidence (org, machine, log, epoch, kind, seq)
        select c.org, machine, log, 1, 'cut', n from fleet.chain c, generate_series(1, 2500) n where machine = '${machine}'`,
      `insert into fleet.checkpoint (org, number, note)
        select org, n, repeat('x', ${3 * MIB}) from fleet.org, generate_series(3, 10) n where name = '${ORG}'`,
    ])
    const pages: { readonly rows: number; readonly bytes: number }[] = []
    const found = await admin().snapshot((client) => {
      const counting = {
        query: async (sql: string, values: unknown[]) => {
          const result = await client.query(sql, values)
          const long = result.rows.map(({ line, note }) => String(line ?? note ?? '').length)
          pages.push({ rows: long.length, bytes: long.reduce((sum, one) => sum + one, 0) })
          return result
        },
      } as unknown as typeof client
      return verifyFleet(databaseSource(counting), options)
    })
    expect(found).toMatchObject({ records: 11 + 12, evidence: 3000, problemCount: 8 })
    expect(Math.max(...pages.map(({ bytes }) => bytes))).toBeLessThanOrEqual(16 * MIB)
    expect(Math.max(...pages.map(({ rows }) => rows))).toBeLessThanOrEqual(2000)
  })

  it('and searches of the owner of the tables stay within the organisation', async () => {
    const theirs = await opened(fleet.owner, 'other')
    try {
      expect(await searchRecords(theirs, { limit: 100 })).toEqual([])
      expect(await theirs.snapshot((client) => verifyFleet(databaseSource(client), options))).toMatchObject({
        ...{ ok: true, chains: 0, records: 0, checkpoints: 0 },
      })
    } finally {
      await theirs.close()
    }
  })

  it('are searched by time, session, machine, hook and verdict', async () => {
    const sessions = async (query: object) =>
      (await searchRecords(admin(), { limit: 100, ...query })).map(({ machine, entry }) => [
        machine,
        (entry as { session?: string }).session,
      ])
    expect(await sessions({ decision: 'deny' })).toEqual(
      expect.arrayContaining([
        ['ann', '0-3'],
        ['bob', '1-3'],
      ]),
    )
    expect(await sessions({ decision: 'deny' })).toHaveLength(2)
    expect(await sessions({ hook: 'guard', machine: 'bob' })).toEqual([['bob', '1-2']])
    expect(await sessions({ session: 'later' })).toEqual([['ann', 'later']])
    expect(await sessions({ until: '2026-11-18T05:59:59Z' })).toEqual([])
    expect(await sessions({ since: '2026-11-18T05:59:59Z', until: '2026-11-18T06:00:01Z' })).toHaveLength(11)
    expect(await searchRecords(admin(), { limit: 3 })).toHaveLength(3)
    await expect(searchRecords(admin(), { limit: 3, decision: 'nope' })).rejects.toThrow(
      'there is no decision',
    )
  })
})
