// Commands on a machine of a fleet: leaving it, its status, and what doctor says about it.

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { entryOf } from '../../src/cli/answer-record.js'
import { userName } from '../../src/cli/person.js'
import { newKeyPair, pemOf } from '../../src/files/ed25519.js'
import { signedPeople } from '../../src/files/fleet/people.js'
import type { Database } from '../../src/fleet/database/connection.js'
import type { FleetStatus } from '../../src/fleet/database/machine-status.js'
import { addPeople } from '../../src/fleet/database/people.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { newToken, tokenText } from '../../src/fleet/join-token.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { keyAt, type Member, readMember } from '../../src/fleet/machine/membership.js'
import { putInForce } from '../../src/fleet/machine/policy-files.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import { readShipped, writeShipped } from '../../src/store/audit/shipped.js'
import { madeQuestion } from '../approvals/made-question.js'
import { Project, withProgram } from '../cli/program.js'
import { madeAuthority } from './authority.js'
import { type Fleet, joined, madeFleet, madeToken, ORG, opened, ROOT } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

withProgram()

describe.runIf(hasPostgres)('on a machine of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let project: Project
  let member: Member
  let log: FileAuditLog
  let made = 0

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database }))
  })
  afterAll(async () => {
    await listening?.close()
    await database?.close()
    server?.stop()
  })
  beforeEach(async () => {
    project = new Project()
    member = await joined(fleet, listening.url, data(), `commands-${made++}`)
    log = new FileAuditLog({ projectDir: project.folder, dataDir: data() })
    log.append([{ kind: 'fire', time: '2026-11-18T06:00:00.000Z' }])
  })
  afterEach(() => project.remove())

  const data = () => join(project.home, 'data')
  const type = (...args: string[]) => project.call(args, { env: { CARABINER_HOME: data() } })
  const anyToken = () => tokenText(newToken(ROOT.publicKey))
  const findings = async () => {
    const { findings } = JSON.parse((await type('doctor', '--json')).stdout) as {
      findings: { code: string }[]
    }
    return findings.map(({ code }) => code)
  }
  const records = async () => {
    const [row] = await run(fleet.owner, [
      `select count(*)::int as count from fleet.record r join fleet.chain c using (chain) where c.machine = '${member.machine}'`,
    ])
    return row?.count
  }
  /** Until `repair` is called, the log cannot be read. */
  const unreadable = () => {
    log.close()
    const segment = join(log.place, '00000001.jsonl')
    renameSync(segment, `${segment}.moved`)
    mkdirSync(segment)
    return () => {
      rmSync(segment, { recursive: true })
      renameSync(`${segment}.moved`, segment)
    }
  }

  it('leave ships first', async () => {
    const { code, stdout } = await type('fleet', 'leave')
    expect([code, stdout]).toEqual([0, expect.stringContaining('this machine is no longer in the fleet')])
    expect(stdout).not.toContain('does not have')
    expect(await records()).toBe(1)
    expect(readMember(member.place)).toBeUndefined()
  })

  it('leave refuses while the fleet does not have every record, unless with --anyway', async () => {
    const repair = unreadable()
    const { code, stderr } = await type('fleet', 'leave')
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not have 1 record of this machine yet')])
    expect(readMember(member.place)).toBeDefined()
    const anyway = await type('fleet', 'leave', '--anyway')
    expect(anyway).toMatchObject({ code: 0, stdout: expect.stringContaining('does not have 1 record of it') })
    expect(readMember(member.place)).toBeUndefined()
    repair()
  })

  it('status and leave of a retired machine say that the gateway refuses it, and how to leave', async () => {
    await run(fleet.owner, [
      `update fleet.machine set retired = clock_timestamp() where machine = '${member.machine}'`,
    ])
    const { code, stdout } = await type('fleet', 'status')
    expect([code, stdout]).toEqual([1, expect.stringMatching(/not accepted: .*fleet leave --anyway/)])
    expect(stdout).not.toContain('does not answer')
    expect(await type('fleet', 'leave')).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('carabiner fleet leave --anyway') },
    })
    const anyway = await type('fleet', 'leave', '--anyway')
    expect(anyway).toMatchObject({ code: 0, stdout: expect.stringContaining('unless it is retired already') })
    expect(readMember(member.place)).toBeUndefined()
  })

  describe.each([
    ['with a damaged marker', () => writeFileSync(member.place.marker, '{')],
    ['without its key', () => rmSync(member.place.key)],
    ['with a damaged key', () => writeFileSync(member.place.key, 'x')],
  ])('%s', (_, damage) => {
    it('every command names the way out, and leave --anyway takes it', async () => {
      damage()
      const way = 'carabiner fleet leave --anyway'
      for (const words of [
        ['status'],
        ['ship'],
        ['leave'],
        ['join', listening.url, '--user', '--token', anyToken()],
      ])
        expect(await type('fleet', ...words)).toMatchObject({
          ...{ code: 1, stderr: expect.stringContaining(way) },
        })
      const found = JSON.parse((await type('doctor', '--json')).stdout).findings
      expect(found).toContainEqual(expect.objectContaining({ fix: `${way}   # then join again` }))
      expect(await findings()).not.toContain('check-failed')
      const left = await type('fleet', 'leave', '--anyway')
      expect(left).toMatchObject({ code: 0, stdout: expect.stringContaining('the gateway was not told') })
      expect(left.stdout).toContain('carabiner fleet machines retire')
      expect((await type('fleet', 'status')).stdout).toContain('this machine is in no fleet')
      expect(keyAt(member.place)).toBeUndefined()
    })
  })

  it('a membership that a newer version wrote is no damage: no command removes it, or calls it a bug', async () => {
    const marker = readFileSync(member.place.marker, 'utf8')
    const newer = JSON.stringify({ ...JSON.parse(marker), format: 99 })
    writeFileSync(member.place.marker, newer)
    const key = join(data(), 'person.pem')
    writeFileSync(key, pemOf(newKeyPair()), { mode: 0o600 })
    for (const words of [
      ['status'],
      ['ship'],
      ['leave'],
      ['leave', '--anyway'],
      ['approvals', '--key', key],
      ['join', listening.url, '--user', '--token', anyToken()],
    ]) {
      const { code, stderr } = await type('fleet', ...words)
      expect([words, code]).toEqual([words, 1])
      expect(stderr).toContain('newer version')
      expect(stderr).not.toMatch(/bug in carabiner|--anyway/)
    }
    expect(await findings()).not.toContain('check-failed')
    expect(readFileSync(member.place.marker, 'utf8')).toBe(newer)
  })

  it('approvals allow says why nobody can allow, which is no bug', async () => {
    const places = { stateDir: join(data(), 'state'), dataDir: data(), approversFile: join(data(), 'none') }
    writeFileSync(member.place.people, JSON.stringify(signedPeople({ version: 1, people: [] }, ROOT)))
    const { id } = new FileApprovals(places).raise(madeQuestion(), { project: project.folder })
    writeFileSync(member.place.marker, '{')
    const { code, stderr } = await type('approvals', 'allow', id)
    expect([code, stderr]).toEqual([1, expect.stringContaining('carabiner fleet leave --anyway')])
    expect(stderr).not.toContain('bug')
    expect(await type('approvals', 'deny', id)).toMatchObject({ code: 0 })
  })

  it('a machine reports as it joins, and so is not silent', async () => {
    await type('fleet', 'leave')
    const name = `reports-${made++}`
    const token = tokenText(await madeToken(fleet))
    expect(
      await type('fleet', 'join', listening.url, '--user', '--token', token, '--name', name),
    ).toMatchObject({
      ...{ code: 0, stderr: '' },
    })
    const options = ['--database', fleet.auditor, '--org', ORG, '--json']
    const { machines } = JSON.parse((await type('fleet', 'status', ...options)).stdout) as FleetStatus
    const { troubles } = machines.find((one) => one.name === name) ?? expect.unreachable()
    expect(troubles.map(({ kind }) => kind)).not.toContain('silent')
  })

  it('ship, status and leave say of a gateway without its database that it answers', async () => {
    const lost = await opened(fleet.gateway)
    await lost.close()
    const without = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database: lost }))
    const marker = JSON.parse(readFileSync(member.place.marker, 'utf8'))
    writeFileSync(member.place.marker, JSON.stringify({ ...marker, url: without.url }))
    try {
      const ship = await type('fleet', 'ship')
      expect(ship).toMatchObject({ code: 1, stderr: expect.stringContaining('The gateway answered') })
      const { code, stdout } = await type('fleet', 'status')
      expect([code, stdout]).toEqual([1, expect.stringMatching(/gateway is not ready: .* Its own output/)])
      expect(stdout).not.toContain('does not answer')
      const leave = await type('fleet', 'leave')
      expect(leave.stderr).toMatch(/cannot be told.*\n.*[Ii]ts own output says why.*leave --anyway/)
    } finally {
      await without.close()
    }
  })

  it('join checks what --ca names before it sends anything', async () => {
    await type('fleet', 'leave')
    const { ca, cert, key } = madeAuthority(project.folder)
    const secure = await listen({ host: '127.0.0.1', port: 0, tls: { cert, key } }, gateway({ database }))
    const token = tokenText(await madeToken(fleet))
    const join_ = (file: string) =>
      type('fleet', 'join', secure.url, '--token', token, '--user', '--ca', file, '--name', `ca-${made++}`)
    try {
      const damaged = '-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n'
      for (const [content, words] of [
        ['nonsense', '--ca has no certificate'],
        [key, 'it has a PRIVATE KEY'],
        [`${ca}${key}`, 'it has a PRIVATE KEY'],
        [damaged, '--ca cannot be used'],
      ] as const) {
        writeFileSync(project.path('given.pem'), content)
        expect(await join_('given.pem')).toMatchObject({ code: 64, stderr: expect.stringContaining(words) })
      }
      mkdirSync(project.path('other'))
      writeFileSync(project.path('other.pem'), madeAuthority(project.path('other')).ca)
      const other = await join_('other.pem')
      expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('that --ca named')])
      writeFileSync(project.path('given.pem'), `Comment\n${ca}`)
      expect(await join_('given.pem')).toMatchObject({ code: 0 })
      expect(readMember(member.place)?.ca?.trim()).toBe(ca.trim())
    } finally {
      await secure.close()
    }
  })

  it('ship reports for its user, and ships also what a gateway does that cannot keep the report', async () => {
    const rename = (from: string, to: string) =>
      run(fleet.owner, [`alter function fleet.${from}(uuid, jsonb) rename to ${to}`])
    await rename('keep_report', 'kept_report')
    try {
      const { code, stdout, stderr } = await type('fleet', 'ship')
      expect([code, stdout]).toEqual([0, '1 record of 1 log shipped\n'])
      expect(stderr).toContain('could not report what it enforces')
    } finally {
      await rename('kept_report', 'keep_report')
    }
    await type('fleet', 'ship')
    const said = await run(fleet.owner, [
      `select whose from fleet.machine_report where machine = '${member.machine}'`,
    ])
    expect(said).toEqual([{ whose: userName() }])
  })

  it('status and doctor say which log could not be shipped', async () => {
    const repair = unreadable()
    expect(await type('fleet', 'ship')).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('could not be shipped') },
    })
    repair()
    const status = await type('fleet', 'status')
    expect(status).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/not shipped: the log in .* could not/),
    })
    expect(await findings()).toContain('fleet-failed')
    expect(await type('fleet', 'ship')).toMatchObject({ code: 0 })
    expect((await type('fleet', 'status')).stdout).toContain('everything is shipped')
    expect(await findings()).not.toContain('fleet-failed')
  })

  it('status and doctor say how old the newest is that the fleet said about its policy', async () => {
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    const digest = 'a'.repeat(64)
    const put = (signed: string) => {
      const enforced = { digest, version: 4, list: digest }
      putInForce(member.place.policy, {
        ...{ rollout: 1, enforced, signed, expires: at(2), afterExpiry: 'close', time: at(0) },
      })
    }
    mkdirSync(member.place.policy, { mode: 0o755 })
    put(at(-1))
    expect(await findings()).not.toContain('fleet-silent')
    put(at(-3))
    expect(await findings()).toContain('fleet-silent')
    const status = await type('fleet', 'status')
    expect(status.code).toBe(1)
    expect(status.stdout).toMatch(
      /policy: version 4 is in force; the newest from the fleet was signed .* it holds until .*cannot be relied on/s,
    )
  })

  it('status, list and doctor say that news may be kept back from a machine that only trusts hooks', async () => {
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    const trusted = { ['a'.repeat(64)]: { by: 'ann', at: at(-9) } }
    const put = (signed: string, expires: string) => {
      const more = { signed, expires, afterExpiry: 'close', time: at(-1) } as const
      putInForce(member.place.policy, { rollout: 1, trust: { trusted, revoked: {} }, ...more })
    }
    rmSync(member.place.policy, { recursive: true, force: true })
    mkdirSync(member.place.policy, { recursive: true, mode: 0o755 })
    put(at(-3), at(2))
    expect(await findings()).toContain('fleet-silent')
    put(at(-8), at(-1))
    const lapsed = 'what reviewers of the fleet trusted no longer counts'
    expect((await type('fleet', 'status')).stdout).toContain(lapsed)
    expect((await type('doctor')).stdout).toContain(lapsed)
    const list = await type('list')
    expect(list.stdout + list.stderr).toContain(lapsed)
    rmSync(member.place.policy, { recursive: true })
  })

  it('ship and status say that the fleet has lost what it acknowledged, and send it again', async () => {
    log.append([{ kind: 'fire', time: '2026-11-18T06:01:00.000Z' }])
    await type('fleet', 'ship')
    expect(await records()).toBe(2)
    const chain = `(select chain from fleet.chain where machine = '${member.machine}')`
    await run(fleet.owner, [
      `delete from fleet.record where chain = ${chain} and seq = 2`,
      `update fleet.chain c set seq = 1, hash = r.hash from fleet.record r where c.chain = ${chain} and r.chain = c.chain and r.seq = 1`,
    ])
    log.append([{ kind: 'fire', time: '2026-11-18T06:02:00.000Z' }])
    const { stderr } = await type('fleet', 'ship')
    expect(stderr).toContain('was acknowledged further than record 1')
    expect((await type('fleet', 'status')).stdout).toContain('was acknowledged further than record 1')
    expect(await findings()).toContain('fleet-history')
    expect(await records()).toBe(3)
  })

  it('doctor says if the history broke, but not what a former membership saw', async () => {
    await type('fleet', 'ship')
    const shipped = readShipped(log.place) ?? expect.unreachable()
    const breaks = [{ kind: 'fork', seq: 1, time: shipped.time }]
    writeShipped(log.place, { ...shipped, breaks })
    expect(await findings()).toContain('fleet-history')
    writeShipped(log.place, { ...shipped, breaks, machine: 'another one' })
    expect(await findings()).not.toContain('fleet-history')
  })

  it('a question that cannot be used hides none of the others, and is told', async () => {
    const key = newKeyPair()
    const publicKey = key.publicKey.toString('base64url')
    const people = [
      { name: 'pia', role: 'approver' as const, keys: [{ kind: 'ed25519' as const, publicKey }] },
    ]
    const admin = await opened(fleet.admin)
    await addPeople(admin, 1, signedPeople({ version: 1, people }, ROOT))
    await type('fleet', 'ship')
    writeFileSync(project.path('pia.key'), pemOf(key), { mode: 0o600 })
    const places = { stateDir: join(data(), 'state'), dataDir: data(), approversFile: join(data(), 'none') }
    const queue = new FileApprovals(places)
    const client = clientOf(member)
    const ids: string[] = []
    for (const session of ['well', 'damaged', 'exchanged']) {
      const pending = queue.raise(madeQuestion({ session }), { project: project.folder })
      ids.push(pending.id)
      await client.ask('ask', { body: pending })
    }
    client.close()
    const [well = '', damaged = '', exchanged = ''] = ids
    await run(fleet.owner, [
      `update fleet.question set body = 'nonsense' where id = '${damaged}'`,
      `update fleet.question set body = (select body from fleet.question where id = '${well}') where id = '${exchanged}'`,
    ])
    const asPia = (...args: string[]) => type('fleet', ...args, '--key', 'pia.key')
    const { code, stdout } = await asPia('approvals')
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^${well}  `, 'm'))
    expect(stdout).toContain(`The question ${exchanged} that the gateway sent is another one, ${well}`)
    expect(stdout).toContain(`The question ${damaged} that the gateway sent is not valid`)
    expect(JSON.parse((await asPia('approvals', '--json')).stdout)).toMatchObject({
      ...{ questions: [{ id: well }], unusable: [expect.any(String), expect.any(String)] },
    })
    expect(stdout).toContain(`next carabiner fleet answer ${well} allow`)
    const viewers = people.map((one) => ({ ...one, role: 'viewer' as const }))
    await addPeople(admin, 2, signedPeople({ version: 2, people: viewers }, ROOT))
    expect((await asPia('approvals')).stdout).not.toContain('next')
    await addPeople(admin, 3, signedPeople({ version: 3, people }, ROOT))
    await admin.close()
    expect(await asPia('answer', exchanged, 'allow', '--yes')).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('is another one') },
    })
    expect(await asPia('answer', well, 'allow', '--yes')).toMatchObject({ code: 0 })
    await run(fleet.owner, ['delete from fleet.people'])
  })

  it('approvals says who of how many have allowed a question', async () => {
    const keys = new Map(['ann', 'ben'].map((name) => [name, newKeyPair()]))
    const people = [...keys].map(([name, key]) => ({
      ...{ name, role: 'approver' as const },
      keys: [{ kind: 'ed25519' as const, publicKey: key.publicKey.toString('base64url') }],
    }))
    writeFileSync(member.place.people, JSON.stringify(signedPeople({ version: 1, people }, ROOT)), {
      mode: 0o600,
    })
    const places = { stateDir: join(data(), 'state'), dataDir: data(), approversFile: join(data(), 'none') }
    const queue = new FileApprovals(places)
    const pending = queue.raise(madeQuestion({ answer: { approvalPeople: 2 } }), { project: project.folder })
    const typed = async () => [
      (await type('approvals')).stdout,
      (await type('approvals', 'show', pending.id)).stdout,
    ]
    for (const text of await typed()) expect(text).toContain('0 of 2 have allowed it')
    const works = `carabiner fleet answer ${pending.id} allow`
    const [listed] = await typed()
    expect(listed).toContain(works)
    expect(listed).not.toContain('approvals allow')
    const key = keys.get('ann') ?? newKeyPair()
    const challenge = challengeOf(pending, { option: 'Allow', nonce: 'n', asker: member })
    await queue.answer(pending.id, { option: 'Allow', by: 'ann', signature: signedWith(key, challenge, 'n') })
    for (const text of await typed()) expect(text).toContain('1 of 2 have allowed it (ann)')
    const second = signedWith(
      keys.get('ben') ?? newKeyPair(),
      challengeOf(pending, { option: 'Allow', nonce: 'm', asker: member }),
      'm',
    )
    const given = await queue.answer(pending.id, { option: 'Allow', by: 'ben', signature: second })
    if (given.status !== 'answered') expect.unreachable(given.status)
    log.append([entryOf(given.pending, given.answer)])
    expect((await type('audit', '--kind', 'approval')).stdout).toContain('by ann and ben')
    await type('fleet', 'ship')
    const searched = await type(
      'fleet',
      'audit',
      '--kind',
      'approval',
      '--database',
      fleet.auditor,
      '--org',
      ORG,
    )
    expect(searched.stdout).toContain('by ann and ben')
  })

  it('status and doctor say when the list of people ends, and renewing it helps', async () => {
    const key = join(project.home, 'root.pem')
    writeFileSync(key, pemOf(ROOT), { mode: 0o600 })
    const admin = ['--database', fleet.admin, '--org', ORG]
    const publicKey = ROOT.publicKey.toString('base64url')
    const people = [{ name: 'ann', role: 'admin' as const, keys: [{ kind: 'ed25519' as const, publicKey }] }]
    const written = async (version: number, days: number) => {
      const { list, signature } = signedPeople({ version, people }, ROOT, Date.now() - days * 86_400_000)
      await run(fleet.owner, [
        `insert into fleet.people (org, version, list, signature) select org, ${version}, '${list}', '${signature}' from fleet.org where name = '${ORG}'`,
      ])
      await type('fleet', 'ship')
    }
    expect(await findings()).toContain('fleet-people')
    await written(1, 0)
    expect(await findings()).not.toContain('fleet-people')
    expect((await type('fleet', 'status')).stdout).not.toContain('renew')
    expect((await type('fleet', 'ship')).code).toBe(0)
    for (const [version, days, words] of [
      [2, 25, 'expires on'],
      [3, 31, 'expired on'],
    ] as const) {
      await written(version, days)
      expect((await type('fleet', 'ship')).code).toBe(days > 30 ? 1 : 0)
      expect(await findings()).toContain('fleet-people')
      expect((await type('fleet', 'status')).stdout).toContain(words)
      expect((await type('fleet', 'status', ...admin)).stdout).toContain(words)
      expect((await type('fleet', 'people', ...admin)).stdout).toContain(words)
    }
    const renewed = await type('fleet', 'people', 'renew', '--key', key, ...admin)
    expect(renewed).toMatchObject({ code: 0, stdout: expect.stringContaining('the list counts until') })
    await type('fleet', 'ship')
    expect(await findings()).not.toContain('fleet-people')
    expect((await type('fleet', 'status')).stdout).toContain('calls here may be allowed by ann')
  })

  it('status of a machine where nobody can allow says so, in words and with its exit code', async () => {
    const list = (content: string) => writeFileSync(member.place.people, content, { mode: 0o600 })
    const signedOne = (days = 0, people: Parameters<typeof signedPeople>[0]['people'] = []) =>
      JSON.stringify(signedPeople({ version: 1, people }, ROOT, Date.now() - days * 86_400_000))
    const publicKey = ROOT.publicKey.toString('base64url')
    const ann = { name: 'ann', role: 'admin' as const, keys: [{ kind: 'ed25519' as const, publicKey }] }
    for (const [content, words] of [
      ['x\n', 'cannot be used: it is not valid JSON;'],
      [signedOne(31, [ann]), 'expired on'],
      [signedOne(), 'the fleet has no approver'],
    ] as const) {
      list(content)
      const { code, stdout } = await type('fleet', 'status')
      expect([code, stdout]).toEqual([1, expect.stringContaining('nobody can allow calls here')])
      expect(stdout).toContain(words)
    }
    list(signedOne(0, [ann]))
    expect(await type('fleet', 'status')).toMatchObject({ code: 0 })
  })

  it.skipIf(process.getuid?.() === 0)('doctor says if the key cannot be read', async () => {
    chmodSync(member.place.key, 0o000)
    expect(await findings()).toContain('fleet-key')
  })
})
