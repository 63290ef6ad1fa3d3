// What machines say about themselves, and what an administrator sees of it: who does not enforce what they should.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../src/fleet/database/connection.js'
import { fleetStatus, isMinor, MOST_REPORTS, SILENT_MS } from '../../src/fleet/database/machine-status.js'
import { shadowsIn } from '../../src/fleet/database/shadow-query.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import type { MachineReport } from '../../src/fleet/machine-report.js'
import { policyAnswers } from '../../src/page/fleet/policy-answers.js'
import type { PolicyView } from '../../src/page/view/fleet.js'
import { addedMachine, type Fleet, joined, madeFleet, madeLines, opened } from './fleet-scene.js'
import { numbered, ONE_RING, publish } from './policy-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const NOW = () => new Date().toISOString()
const PROOF = { at: '2026-11-18T10:00:00Z', ok: true, stale: false }

const report = (more: Partial<MachineReport> = {}): MachineReport => ({
  carabiner: '1.0.0',
  time: NOW(),
  binding: true,
  policy: { rollout: 3, enforced: 7, expires: '2030-01-01T00:00:00Z' },
  agents: [{ name: 'claude-code', asks: true, proof: PROOF }],
  missing: [],
  ...more,
})

describe.runIf(hasPostgres)('the state of machines', () => {
  let server: Postgres
  let fleet: Fleet
  let asGateway: Database
  let asAdmin: Database
  let listening: Listening
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-status-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    asGateway = await opened(fleet.gateway)
    asAdmin = await opened(fleet.admin)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database: asGateway }))
    await run(fleet.owner, [
      `insert into fleet.policy_file (org, role, version, content) select org, 'rollout', 3, '{}' from fleet.org where name = 'acme'`,
    ])
  })
  afterAll(async () => {
    await listening?.close()
    await asGateway?.close()
    await asAdmin?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const told = async (name: string, body: object) => {
    const client = clientOf(await joined(fleet, listening.url, join(folder, name), name))
    try {
      return await client.ask('report', { body })
    } finally {
      client.close()
    }
  }
  const kindsOf = async (now?: number) => {
    const { machines } = await fleetStatus(asAdmin, now)
    return machines.map(({ name, troubles }) => [name, ...troubles.map(({ kind }) => kind)])
  }

  it('is shown worst first, and the newest report counts', async () => {
    const broken = { problem: 'rules.json is not as it was signed', binding: false }
    const unguarded = { agents: [{ name: 'codex', asks: false }], missing: ['cursor'] }
    const unproven = { agents: [{ name: 'codex', asks: true, proof: { ...PROOF, stale: true } }] }
    const late = { time: new Date(Date.now() - 3_600_000).toISOString() }
    await told('well', report())
    await told('advisory', report({ binding: false }))
    await told('late', report(late))
    await told('behind', report({ policy: { rollout: 2, expires: '2030-01-01T00:00:00Z' } }))
    await told('unproven', report(unproven))
    await told('unguarded', report(unguarded))
    await told('broken', report(broken))
    await joined(fleet, listening.url, join(folder, 'silent'), 'silent')
    expect(await kindsOf()).toEqual([
      ['broken', 'broken', 'advisory'],
      ['unguarded', 'unguarded'],
      ['silent', 'silent'],
      ['behind', 'behind'],
      ['unproven', 'unproven'],
      ['late', 'clock'],
      ['advisory', 'advisory'],
      ['well'],
    ])
    const { machines, ok, rollout } = await fleetStatus(asAdmin)
    expect([ok, rollout]).toEqual([false, 3])
    expect(machines[1]?.troubles[0]?.detail).toBe('cursor, codex')
    const days = await kindsOf(Date.now() + SILENT_MS + 60_000)
    expect(days.every((one) => one.includes('silent'))).toBe(true)
  })

  describe('of a machine with several users', () => {
    let own: Fleet
    let admin: Database
    let served: Database
    let machine: string

    beforeAll(async () => {
      own = await madeFleet(server)
      ;[admin, served] = await Promise.all([opened(own.admin), opened(own.gateway)])
    })
    beforeEach(async () => {
      await run(own.owner, ['delete from fleet.machine_report', 'delete from fleet.machine'])
      machine = await addedMachine(own, 'shared')
    })
    afterAll(async () => {
      await admin?.close()
      await served?.close()
    })

    const policy = { rollout: 1, expires: '2030-01-01T00:00:00Z' }
    const none = { policy, agents: [], missing: [] }
    const kept = (more: Partial<MachineReport>) =>
      served.rows('select fleet.keep_report($1, $2)', [machine, JSON.stringify(report(more))])
    const aged = (user: string, time: string) =>
      run(own.owner, [
        `update fleet.machine_report set at = clock_timestamp() - interval '${time}' where whose = '${user}'`,
      ])
    const status = async () => (await fleetStatus(admin)).machines[0] ?? expect.unreachable()
    const troubles = async () =>
      Object.fromEntries((await status()).troubles.map(({ kind, detail }) => [kind, detail]))
    const users = async () =>
      (await run(own.owner, ['select whose from fleet.machine_report order by at'])).map(({ whose }) => whose)

    it('what root says hides no agent of another user', async () => {
      await kept({ ...none, user: 'ann', agents: [{ name: 'codex', asks: false }] })
      await kept({ ...none, user: 'root' })
      expect(await troubles()).toEqual({ unguarded: 'codex (ann)' })
      const { report, others } = await status()
      expect([report?.user, others?.map(({ user }) => user)]).toEqual(['root', ['ann']])
      await kept({ ...none, user: 'bob', agents: [{ name: 'codex', asks: false }], problem: 'it expired' })
      expect(await troubles()).toEqual({ unguarded: 'codex (bob, ann)', broken: 'it expired (bob)' })
      await kept({ ...none, user: 'ann' })
      await kept({ ...none, user: 'bob' })
      expect(await troubles()).toEqual({})
    })

    it('a report of an older version has no user, and counts beside the others', async () => {
      await kept({ ...none, agents: [{ name: 'codex', asks: false }] })
      expect(await troubles()).toEqual({ unguarded: 'codex' })
      await kept({ ...none, user: 'root' })
      expect(await troubles()).toEqual({ unguarded: 'codex (an older Carabiner)' })
    })

    it('clock, advisory and missing agents are told once, by the newest', async () => {
      const late = { time: new Date(Date.now() - 3_600_000).toISOString() }
      await kept({ ...none, ...late, user: 'ann', binding: false, missing: ['cursor'] })
      await kept({ ...none, user: 'root' })
      expect(await troubles()).toEqual({})
      await kept({ ...none, ...late, user: 'root', missing: ['cursor'] })
      expect(await troubles()).toEqual({ clock: expect.stringContaining('behind'), unguarded: 'cursor' })
    })

    it('an agent that one user has guarded need not be root’s', async () => {
      const guarded = { name: 'codex', asks: true, proof: PROOF }
      const unused = { name: 'codex', asks: false, unused: true as const }
      await kept({ ...none, user: 'root', agents: [unused], missing: ['codex'] })
      expect(await troubles()).toEqual({ unguarded: 'codex' })
      await kept({ ...none, user: 'ann', agents: [guarded] })
      await kept({ ...none, user: 'root', agents: [unused], missing: ['codex'] })
      expect(await troubles()).toEqual({})
      await kept({ ...none, user: 'root', agents: [{ name: 'codex', asks: false }] })
      expect(await troubles()).toEqual({ unguarded: 'codex (root)' })
    })

    it('after a week, a report counts only if it is the newest, and the next one removes it', async () => {
      await kept({ ...none, user: 'ann', problem: 'it expired' })
      await kept({ ...none, user: 'root' })
      await aged('ann', '6 days 23 hours')
      expect(await troubles()).toEqual({ broken: 'it expired (ann)' })
      await aged('ann', '7 days 1 hour')
      expect(await troubles()).toEqual({})
      await aged('root', '8 days')
      expect(await troubles()).toMatchObject({ broken: 'it expired' })
      await kept({ ...none, user: 'bob' })
      expect(await users()).toEqual(['bob'])
    })

    it('a machine that makes up users has a limit', async () => {
      await kept({ ...none, user: 'first' })
      await run(own.owner, [
        `insert into fleet.machine_report (org, machine, whose, report) select org, machine, 'u' || n, report from fleet.machine_report, generate_series(1, ${MOST_REPORTS - 2}) n`,
      ])
      expect(await troubles()).toEqual({})
      for (const user of ['last', 'more', 'u1', '']) await kept({ ...none, user })
      const left = await users()
      expect([left.length, left.includes('first'), left.at(-1)]).toEqual([MOST_REPORTS, false, ''])
      expect(await troubles()).toEqual({ silent: expect.stringContaining(`${MOST_REPORTS} users`) })
    })
  })

  it.each([
    ['no report', {}],
    ['a long name of a user', report({ user: 'x'.repeat(101) })],
    ['a long text', report({ problem: 'x'.repeat(2000) })],
    ['too many agents', report({ agents: Array(101).fill({ name: 'x', asks: true }) })],
  ])('refuses %s', async (name, body) => {
    await expect(told(name, body)).rejects.toThrow('The request is not valid')
  })

  it('are behind if their own ring has something else, or news do not reach them', async () => {
    const own = await madeFleet(server)
    const admin = await opened(own.admin)
    try {
      const rings = {
        'policy.json': JSON.stringify({ rings: [{ name: '1', machines: ['ann'] }, { name: '2' }] }),
      }
      await publish(admin, numbered(1, rings), { ring: '2' })
      await publish(admin, numbered(2, rings), { ring: '1' })
      const signed = NOW()
      const says = async (name: string, policy: MachineReport['policy']) => {
        await addedMachine(own, name)
        await run(own.owner, [
          `insert into fleet.machine_report (org, machine, report) select org, machine, '${JSON.stringify(report(policy && { policy }))}' from fleet.machine where name = '${name}'`,
        ])
      }
      const has = { rollout: 1, enforced: 1, expires: '2030-01-01T00:00:00Z', signed }
      await says('ann', has)
      await says('bob', has)
      await says('eve', { ...has, signed: '2026-01-01T00:00:00Z' })
      const details = async (now?: number) =>
        (await fleetStatus(admin, now)).machines
          .flatMap(({ name, troubles }) =>
            troubles.filter(({ kind }) => kind === 'behind').map(({ detail }) => [name, detail]),
          )
          .sort()
      const ann = ['ann', 'it enforces version 1, and its ring version 2']
      expect(await details()).toEqual([ann])
      expect(await details(Date.now() + SILENT_MS + 60_000)).toEqual([
        ann,
        ['eve', expect.stringContaining('signed 2026-01-01T00:00:00Z')],
      ])
    } finally {
      await admin.close()
    }
  })

  it('are shown on the page with a roll-out whose signatures were checked, or with the reason why not', async () => {
    const own = await madeFleet(server)
    const [admin, page] = [await opened(own.admin), await opened(own.page)]
    const shown = async (load?: () => Promise<never>) => {
      const asked = { query: new URLSearchParams() } as never
      return (await policyAnswers(page, load)['GET api/policy']?.answer(asked)) as PolicyView
    }
    try {
      expect(await shown()).toMatchObject({ groups: [] })
      await publish(admin, numbered(1, ONE_RING))
      expect(await shown()).toMatchObject({ groups: [{ rings: [{ name: '1', enforced: 1 }] }] })
      expect((await shown()).doubt).toBeUndefined()
      expect(await shown()).not.toHaveProperty('shadows')
      const missing = () => Promise.reject(new Error('the package @tufjs/models is missing'))
      expect((await shown(missing)).doubt).toEqual({
        kind: 'unchecked',
        why: 'The signatures of this roll-out could not be checked here: install @tufjs/models beside Carabiner',
      })
      await run(own.owner, [
        `update fleet.policy_file set target = replace(target, '"machines":["*"]', '"machines":["x"]') where role = 'rollout'`,
      ])
      expect((await shown()).doubt).toMatchObject({
        ...{ kind: 'wrong', why: expect.stringContaining('rollout.json has another digest') },
      })
      for (const damaged of [
        `target = '{}' where role = 'rollout'`,
        `target = 'nonsense' where role = 'rollout'`,
        `content = 'nonsense' where role = 'targets'`,
      ]) {
        await run(own.owner, [`update fleet.policy_file set ${damaged}`])
        expect((await shown()).doubt).toMatchObject({
          ...{ kind: 'wrong', why: expect.stringContaining('do not count') },
        })
        expect((await shown(missing)).doubt).toMatchObject({
          ...{ kind: 'wrong', why: expect.stringContaining('The roll-out cannot be read') },
        })
      }
    } finally {
      await admin.close()
      await page.close()
    }
  })

  it('are shown on the page with a bundle that somebody changed or removed, and not with its files', async () => {
    const own = await madeFleet(server)
    const [admin, page] = [await opened(own.admin), await opened(own.page)]
    const asked = (query = '') => ({ query: new URLSearchParams(query) }) as never
    const doubt = async () => {
      const view = (await policyAnswers(page)['GET api/policy']?.answer(asked())) as PolicyView
      return view.doubt
    }
    const diff = async () => policyAnswers(page)['GET api/policy/diff']?.answer(asked('from=1&to=2'))
    try {
      await publish(admin, numbered(1, ONE_RING))
      await publish(admin, numbered(2, ONE_RING))
      expect([await doubt(), await diff()]).toEqual([undefined, { changes: [expect.anything()] }])
      for (const [change, why] of [
        [`update fleet.policy_bundle set content = content || ' '`, 'is not the one that was published'],
        ['delete from fleet.policy_bundle', 'is missing'],
      ] as const) {
        await run(own.owner, [change])
        const words = `The bundle of version 2 in the database ${why}; machines refuse it`
        expect(await doubt()).toEqual({ kind: 'wrong', why: words })
        await expect(diff()).rejects.toThrow(why)
      }
    } finally {
      await admin.close()
      await page.close()
    }
  })

  it('only the gateway writes reports, and an administrator sees those of the own organisation', async () => {
    const insert = `insert into fleet.machine_report (org, machine, report) select org, machine, '{}' from fleet.machine limit 1`
    for (const url of [fleet.gateway, fleet.admin, fleet.auditor, fleet.page])
      await expect(run(url, [`select fleet.enter('acme')`, insert])).rejects.toThrow('permission denied')
    const other = await opened(fleet.admin, 'other')
    expect((await fleetStatus(other)).machines).toEqual([])
    await other.close()
  })

  it('tells of a broken history, which nobody can mend and which alone is not a failure', async () => {
    await told('broke', report())
    await run(fleet.owner, [
      `insert into fleet.evidence (org, machine, log, epoch, kind, seq) select org, machine, '${'c'.repeat(32)}', 1, 'cut', 7 from fleet.machine where name = 'broke'`,
    ])
    const { machines } = await fleetStatus(asAdmin)
    const { troubles } = machines.find(({ name }) => name === 'broke') ?? expect.unreachable()
    expect(troubles).toEqual([
      { kind: 'history', detail: 'once; carabiner fleet audit evidence --machine "broke"' },
    ])
    expect(troubles.every(({ kind }) => isMinor(kind))).toBe(true)
  })

  it('counts what a policy in shadow mode would have changed, from the records of all machines', async () => {
    const hook = (version: number) => ({
      name: `fleet@${version}:rules`,
      source: `fleet@${version}`,
      mode: 'shadow',
      would: { action: 'deny', reason: 'The rule no-push forbids this: the call would push main.' },
    })
    for (const name of ['one', 'two']) {
      const client = clientOf(await joined(fleet, listening.url, join(folder, name), name))
      const { text } = madeLines(
        [8, 8, 9].map((version) => ({
          session: 's',
          event: 'PreToolUse',
          tool: 'Bash',
          action: 'continue',
          hooks: [hook(version)],
        })),
      )
      await client.ask('append', { query: `log=${'b'.repeat(32)}&epoch=1`, body: Buffer.from(`${text}\n`) })
      client.close()
    }
    const since = new Date('2026-01-01')
    const { table } = await shadowsIn(asAdmin, { since, version: 8 })
    expect(table.rows()).toMatchObject([
      { version: 8, what: 'rule no-push', would: 'deny', calls: 4, changed: 4, machines: ['one', 'two'] },
    ])
    const all = await shadowsIn(asAdmin, { since })
    expect(all.table.rows().map(({ version }) => version)).toEqual([9, 8])
    expect(all.cutAt).toBeUndefined()
    const few = await shadowsIn(asAdmin, { since, lookAt: 2 })
    expect(few.table.trials().reduce((sum, { calls }) => sum + calls, 0)).toBe(2)
    expect(few.cutAt).toBe('2026-11-18T06:00:00.000Z')
    expect((await shadowsIn(asAdmin, { since: new Date('2027-01-01') })).table.rows()).toEqual([])
    const page = await opened(fleet.page)
    const answer = () => policyAnswers(page)['GET api/policy/shadows']?.answer({} as never)
    expect(await answer()).toMatchObject({ days: 30, trials: expect.any(Array) })
    await page.close()
  })
})
