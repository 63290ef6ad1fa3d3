// Commands of an administrator of a fleet, and what they say when a key, a user or a list is not the right one.

import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refusing } from '../../src/cli/fleet/failure.js'
import { newKeyPair, pemOf } from '../../src/files/ed25519.js'
import { personCode } from '../../src/files/fleet/people.js'
import { keyIdOf } from '../../src/fleet/policy/signers.js'
import { recordAnswers } from '../../src/page/fleet/record-answers.js'
import type { FleetRows } from '../../src/page/view/fleet.js'
import { Project, withProgram } from '../cli/program.js'
import { madeAuthority } from './authority.js'
import {
  addedMachine,
  type Fleet,
  type Lines,
  listingIn,
  madeFleet,
  madeLines,
  ORG,
  opened,
  ROOT,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

withProgram()

describe.runIf(hasPostgres)('an administrator of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let project: Project

  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    fleet = await madeFleet(server)
    project = new Project()
    writeFileSync(project.path('fleet-root.key'), pemOf(ROOT), { mode: 0o600 })
    writeFileSync(project.path('wrong.key'), pemOf(WRONG), { mode: 0o600 })
  })
  afterEach(() => project.remove())

  const WRONG = newKeyPair()
  const code = () => personCode({ kind: 'ed25519', publicKey: newKeyPair().publicKey.toString('base64url') })
  const typeAs = (url: string, ...args: string[]) =>
    project.call(['fleet', ...args], {
      env: { CARABINER_HOME: join(project.home, 'data'), CARABINER_FLEET_DATABASE: url },
    })
  const type = (...args: string[]) => typeAs(fleet.admin, ...args, '--org', ORG)
  const versions = async () => {
    const rows = await run(fleet.owner, ['select version from fleet.people order by version'])
    return rows.map(({ version }) => version)
  }

  describe('people', () => {
    it('are signed only with the key of the fleet, also the first of them', async () => {
      const wrong = { code: 1, stderr: expect.stringContaining('not the key of the fleet acme') }
      expect(await type('people', 'add', 'ann', code(), '--key', 'wrong.key')).toMatchObject(wrong)
      expect(await versions()).toEqual([])
      expect(await type('people', 'add', 'ann', code())).toMatchObject({ code: 0 })
      for (const words of [['add', 'ben', code()], ['remove', 'ann'], ['renew']]) {
        const found = await type('people', ...words, '--key', 'wrong.key')
        expect(found).toMatchObject(wrong)
        expect(found.stderr).toContain('with the key that carabiner fleet init made')
        expect(found.stderr).not.toContain('newer key')
      }
      expect(await versions()).toEqual([1])
    })

    it('need the first key also after the policy has got a newer one', async () => {
      const root = JSON.stringify({ signed: { roles: { root: { keyids: [keyIdOf(WRONG.publicKey)] } } } })
      await run(fleet.owner, [
        `insert into fleet.policy_file (org, role, version, content) select org, 'root', 2, '${root}' from fleet.org where name = '${ORG}'`,
      ])
      for (const words of [['people', 'add', 'ann', code()], ['checkpoint'], ['token']])
        expect((await type(...words, '--key', 'wrong.key')).stderr).toContain(
          'It is the newer key of the policy',
        )
    })

    const forge = (version: number) =>
      `insert into fleet.people (org, version, list, signature) select org, ${version}, '{}', 'x' from fleet.org where name = '${ORG}'`
    it.each([
      ['is forged', forge(3), 'is not signed by the key of the fleet'],
      ['is changed', `update fleet.people set list = '{}' where version = 2`, 'is not signed by'],
      [
        'is an older one',
        'insert into fleet.people (org, version, list, signature) select org, 3, list, signature from fleet.people where version = 1',
        'is a copy of version 1',
      ],
    ])('go on after the highest version when the newest list %s', async (_, attack, why) => {
      await type('people', 'add', 'ann', code())
      await type('people', 'add', 'ben', code())
      await run(fleet.owner, [attack])
      const before = await versions()
      for (const words of [['list'], ['add', 'cid', code()], ['remove', 'ann'], ['renew']]) {
        const { code: exit, stderr } = await type('people', ...words)
        expect(exit).toBe(1)
        expect(stderr).toContain(why)
        expect(stderr).toMatch(/carabiner fleet people renew --to \d/)
      }
      expect(await versions()).toEqual(before)
      const { stdout } = await type('people', 'renew', '--to', '1')
      expect(stdout).toMatch(/^on the list: ann\n(no longer on it: ben\n)?the list counts until/)
      expect(await versions()).toEqual([...before, before.length + 1])
      expect((await type('people')).stdout).toMatch(/^ann +approver/)
    })

    it('say who comes back, who is dropped, and when nobody may allow any more', async () => {
      await type('people', 'add', 'ann', code())
      await type('people', 'add', 'bob', code())
      await type('people', 'remove', 'ann')
      expect((await type('people')).stdout).toMatch(
        /^bob .*\nversion 3 of the list counts .*\n.*renew --to VERSION .*:\n {2}2 with ann, bob\n {2}1 with ann\n$/,
      )
      const { stdout } = await type('people', 'renew', '--to', '1')
      expect(stdout).toMatch(/^on the list: ann\non it again: ann\nno longer on it: bob\nthe list counts/)
      expect((await type('people', 'add', 'vic', code(), '--role', 'viewer')).stdout).not.toContain('nobody')
      expect((await type('people', 'remove', 'ann')).stdout).toContain('nobody on the list may allow calls')
      expect((await type('people')).stdout).toContain('nobody on the list may allow calls')
    })

    it('begin anew after the highest version when the key of the fleet signed no list', async () => {
      await run(fleet.owner, [forge(7)])
      expect((await type('people')).stderr).toContain('begins a new list, as version 8')
      expect((await type('people', 'renew', '--to', '7')).stderr).toContain('There is none.')
      expect(await type('people', 'add', 'ann', code())).toMatchObject({ code: 0 })
      expect(await versions()).toEqual([7, 8])
    })
  })

  it('is named by the list for each machine that was retired', async () => {
    await addedMachine(fleet, 'ann')
    await addedMachine(fleet, 'bob')
    expect(await type('machines', 'retire', 'ann')).toMatchObject({ code: 0 })
    // The same name again is another machine.
    await addedMachine(fleet, 'ann')
    const { stdout } = await type('machines')
    expect(stdout).toMatch(
      /^ann +seen .*\nbob +seen .*\nann +retired .* by database user a_admin {2}0 records\n$/,
    )
    const { machines } = JSON.parse((await type('machines', '--json')).stdout)
    expect(machines[2]).toMatchObject({ name: 'ann', retiredBy: 'database user a_admin' })
  })

  it('is told by the status of a fleet if nobody can allow in it', async () => {
    const status = () => type('status')
    const nobody = (words: string) => ({ code: 1, stdout: expect.stringContaining(words) })
    const none = expect.stringContaining('the fleet has no list of people')
    expect(await status()).toMatchObject({ code: 0, stdout: none })
    await type('people', 'add', 'vic', code(), '--role', 'viewer')
    expect(await status()).toMatchObject(nobody('nobody on the list of people is an approver'))
    await type('people', 'add', 'ann', code())
    expect(await status()).toMatchObject({ code: 0, stdout: 'no machines\n' })
    await run(fleet.owner, ['delete from fleet.people where version = 2'])
    expect(await status()).toMatchObject(
      nobody('version 2 of the list of people in the database was removed'),
    )
    await run(fleet.owner, ['delete from fleet.people'])
    expect(await status()).toMatchObject(
      nobody('version 2 of the list of people in the database was removed'),
    )
  })

  it.each([
    [-1, 'the certificate of the gateway expired on'],
    [5, 'the certificate of the gateway expires on'],
    [30, undefined],
  ])('whose gateway has a certificate for %s days is told when it ends', async (days, words) => {
    const { cert, key } = madeAuthority(project.folder, [], days)
    writeFileSync(project.path('cert.pem'), cert)
    writeFileSync(project.path('cert-key.pem'), key)
    // A port that is taken ends the command.
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const options = ['--cert', 'cert.pem', '--cert-key', 'cert-key.pem', '--port', String(port)]
    const { code: exit, stderr } = await typeAs(fleet.gateway, 'serve', '--org', ORG, ...options)
    taken.close()
    expect([exit, stderr]).toEqual([1, expect.stringContaining('Choose another --port')])
    expect(stderr).not.toContain('give --cert')
    if (words === undefined) expect(stderr).not.toContain('the certificate')
    else expect(stderr).toContain(words)
  })

  it('who wants others to reach a gateway without a certificate is told to give one', async () => {
    const { stderr } = await typeAs(fleet.gateway, 'serve', '--org', ORG, '--host', '0.0.0.0')
    expect(stderr).toContain('Give --cert and --cert-key')
  })

  describe('what was seen before', () => {
    it('shows that the newest list of people was removed, so nobody who left comes back', async () => {
      for (const name of ['ann', 'ben']) await type('people', 'add', name, code())
      await type('people', 'remove', 'ben')
      await run(fleet.owner, ['delete from fleet.people where version = 3'])
      for (const words of [['list'], ['add', 'cid', code()], ['renew']]) {
        const { code: exit, stderr } = await type('people', ...words)
        expect(exit).toBe(1)
        expect(stderr).toContain('Version 3 of the list of people in the database was removed')
      }
      expect(await type('people', 'renew', '--to', '3')).toMatchObject({ code: 0 })
      expect(await versions()).toEqual([1, 2, 4])
      expect((await type('people')).stdout).not.toMatch(/^ben /m)
    })

    it('shows that somebody went on from a list before the newest', async () => {
      for (const name of ['ann', 'ben']) await type('people', 'add', name, code())
      await type('people', 'remove', 'ben')
      await run(fleet.owner, ['delete from fleet.people where version = 3'])
      const elsewhere = { CARABINER_HOME: join(project.home, 'other'), CARABINER_FLEET_DATABASE: fleet.admin }
      const add = (name: string) =>
        project.call(['fleet', 'people', 'add', name, code(), '--org', ORG], { env: elsewhere })
      expect(await add('cid')).toMatchObject({ code: 0 })
      expect((await type('people')).stderr).toContain('is another one than you have seen')
      expect(await add('dan')).toMatchObject({ code: 0 })
      expect((await type('people')).stderr).toContain('follows another version 3 than you have seen')
      expect(await type('people', 'renew', '--to', '4')).toMatchObject({ code: 0 })
      expect((await type('people')).stdout).toMatch(/^ann .*\nben .*\ncid .*\ndan /)
    })

    it.each([
      ['is no JSON', 'nonsense'],
      ['is of nobody', '{}'],
      ['is a link', undefined],
    ])(
      'stops everything that would go on without it if it %s, and says how to repair it',
      async (_, text) => {
        mkdirSync(project.path('policy'))
        writeFileSync(project.path('policy/rules.json'), '{"rules":[]}')
        await typeAs(fleet.admin, 'policy', 'build', 'policy', '--out', 'one.bundle')
        await type('people', 'add', 'ann', code())
        await type('people', 'add', 'ben', code())
        await type('policy', 'publish', 'one.bundle')
        const seen = join(project.home, 'data', 'fleet', 'seen')
        const files = readdirSync(seen, { recursive: true, encoding: 'utf8' }).filter((path) =>
          path.endsWith('.json'),
        )
        expect(files.map((path) => basename(path)).sort()).toEqual(['accepted.json', 'people.json'])
        for (const file of files) {
          const path = join(seen, file)
          rmSync(path)
          if (text === undefined) symlinkSync('/dev/null', path)
          else writeFileSync(path, text)
        }
        await run(fleet.owner, ['delete from fleet.people where version = 2'])
        const before = await versions()
        for (const words of [
          ['people', 'list'],
          ['people', 'add', 'cid', code()],
          ['people', 'renew', '--to', '1'],
          ['policy', 'list'],
          ['policy', 'renew'],
        ]) {
          const { code: exit, stderr } = await type(...words)
          expect([words, exit]).toEqual([words, 1])
          expect(stderr).toContain(words[0] === 'people' ? 'people.json' : 'accepted.json')
          expect(stderr).toContain('then remove')
        }
        expect(await versions()).toEqual(before)
        for (const file of files) rmSync(join(seen, file))
        expect(await type('people', 'list')).toMatchObject({ code: 0 })
        expect(await type('policy', 'renew')).toMatchObject({ code: 0 })
      },
    )

    it('shows that the newest state of the policy was removed, so no signer who left comes back', async () => {
      mkdirSync(project.path('policy'))
      writeFileSync(project.path('policy/rules.json'), '{"rules":[]}')
      await typeAs(fleet.admin, 'policy', 'build', 'policy', '--out', 'one.bundle')
      for (const words of [
        ['publish', 'one.bundle'],
        ['signers', 'add', 'eve', code()],
        ['signers', 'remove', 'eve'],
      ])
        expect(await type('policy', ...words)).toMatchObject({ code: 0 })
      await run(fleet.owner, [
        `delete from fleet.policy_file f where version = (select max(version) from fleet.policy_file o where o.role = f.role) and role <> 'targets'`,
      ])
      for (const words of [['list'], ['renew'], ['signers', 'threshold', '1']]) {
        const { code: exit, stderr } = await type('policy', ...words)
        expect(exit).toBe(1)
        expect(stderr).toMatch(/was there before|is missing/)
        expect(stderr).toContain('put an older copy back')
      }
      await run(fleet.owner, ['delete from fleet.policy_file'])
      expect(await type('policy', 'list')).toMatchObject({
        ...{ code: 1, stderr: expect.stringContaining('is missing') },
      })
      rmSync(join(project.home, 'data', 'fleet', 'seen'), { recursive: true })
      expect(await type('policy', 'list')).toMatchObject({
        ...{ code: 0, stdout: expect.stringContaining('no policy is published') },
      })
    })
  })

  describe('a bundle', () => {
    beforeEach(async () => {
      mkdirSync(project.path('policy'))
      writeFileSync(project.path('policy/rules.json'), '{"rules":[]}')
      await typeAs(fleet.admin, 'policy', 'build', 'policy', '--out', 'one.bundle')
    })

    it('is signed by nobody who may not', async () => {
      const { code, stderr } = await type(
        ...['policy', 'sign', 'one.bundle', '--key', 'wrong.key'],
        ...['--root-key', ROOT.publicKey.toString('base64url')],
      )
      expect(code).toBe(1)
      expect(stderr).toContain('This key may not sign bundles; those of fleet may')
      expect(existsSync(project.path('one.bundle.signatures'))).toBe(false)
    })

    it('has to be signed by enough people before the threshold is raised', async () => {
      await type('policy', 'publish', 'one.bundle')
      await type('policy', 'signers', 'add', 'ann', code())
      const raised = await type('policy', 'signers', 'threshold', '2')
      expect(raised).toMatchObject({ code: 1, stderr: expect.stringContaining('1 of the 2 signatures') })
    })

    it('is followed by commands with the same options', async () => {
      const given = ['--database', fleet.admin, '--org', ORG, '--key', 'fleet-root.key']
      const { stdout } = await project.call(['fleet', 'policy', 'publish', 'one.bundle', ...given], {
        env: { CARABINER_HOME: join(project.home, 'data') },
      })
      const database = new URL(fleet.admin).password === '' ? fleet.admin : 'URL'
      expect(stdout).toContain(`carabiner fleet policy promote --database ${database} --org ${ORG} --key`)
    })

    describe('in shadow mode', () => {
      const LOG = '0'.repeat(32)
      const publish = (...more: string[]) => type('policy', 'publish', 'one.bundle', ...more)
      const tried = async () => {
        const machine = await addedMachine(fleet, 'laptop-7')
        const hook = {
          ...{ name: 'fleet@1:rules', source: 'fleet@1', status: 'ran', mode: 'shadow' },
          would: { action: 'deny', reason: 'The rule no-push forbids this: it pushes.' },
        }
        const entry = { event: 'PreToolUse', tool: 'Bash', action: 'continue', hooks: [hook] }
        const lines = madeLines([{ time: new Date().toISOString(), ...entry }])
        const database = await opened(fleet.gateway)
        await database.rows('select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
          ...[
            machine,
            LOG,
            lines.first,
            lines.prev,
            lines.count,
            lines.last.hash,
            lines.text,
            listingIn(lines),
          ],
        ])
        await database.close()
      }

      it('is followed by what it would have changed, with the options that this command takes', async () => {
        const { stdout } = await publish('--shadow', '--key', 'fleet-root.key')
        expect(stdout).toContain(`carabiner fleet shadow 1 --org ${ORG}\n`)
        const [line = ''] = /carabiner fleet (shadow .*)/.exec(stdout)?.slice(1) ?? []
        expect(await typeAs(fleet.admin, ...line.trim().split(' '))).toMatchObject({ code: 0 })
        expect((await publish()).stdout).not.toContain('fleet shadow')
      })

      it('is promoted after the table of what it would have changed, also in JSON', async () => {
        await publish('--shadow')
        await tried()
        const { code: exit, stdout } = await type('policy', 'promote')
        expect(exit).toBe(0)
        expect(stdout).toMatch(
          /^version 1 was tried at 1 event on 1 machine, .*\n +rule no-push +would deny 1 call.*[\s\S]*\nversion 1 is promoted/,
        )
        await publish('--shadow', '--ring', '2')
        const said = JSON.parse((await type('policy', 'promote', '--json')).stdout)
        expect(said.shadow).toMatchObject({ trials: [{ version: 1 }], rows: [{ what: 'rule no-push' }] })
      })

      it('says before it is promoted that it was tried at no event', async () => {
        await publish('--shadow')
        expect((await type('policy', 'promote')).stdout).toMatch(
          /^version 1 was tried at no event since .*, so nobody knows what it changes\nversion 1 is promoted/,
        )
        expect((await type('policy', 'promote', '--ring', '2')).stdout).toMatch(/^version 1 is promoted/)
      })
    })

    it('whose signatures are no file is refused with their name, and not as a fault of the database', async () => {
      mkdirSync(project.path('one.bundle.signatures'))
      for (const verb of ['sign', 'publish']) {
        const { code: exit, stderr } = await type('policy', verb, 'one.bundle')
        expect(exit).toBe(1)
        expect(stderr).toContain('one.bundle.signatures')
        expect(stderr).not.toContain('database')
      }
    })

    it('that was never tried is not called one that changes nothing', async () => {
      expect((await type('shadow', '99')).stdout).toContain('version 99 was not tried in shadow mode since')
    })
  })

  describe('a token', () => {
    it('is listed, and works no more when it was revoked', async () => {
      const { stdout } = await type('token', '--json')
      const { id } = JSON.parse(stdout) as { id: string }
      expect((await type('token', 'list')).stdout).toContain(id)
      expect(await type('token', 'revoke', id)).toMatchObject({ code: 0 })
      expect((await type('token', 'list')).stdout).toMatch(/revoked/)
      expect((await type('token', 'revoke', 'nope')).code).toBe(1)
    })
  })

  const LOG = '0'.repeat(32)
  const shipped = async (machine: string, lines: Lines) => {
    const database = await opened(fleet.gateway)
    const { first, prev, count, last, text } = lines
    await database.rows('select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
      ...[machine, LOG, first, prev, count, last.hash, text, listingIn(lines)],
    ])
    await database.close()
  }

  describe('who searches the records', () => {
    it('is told which of two machines with one name was retired', async () => {
      const entry = { event: 'Stop', action: 'continue', hooks: [], injections: [], diagnostics: [] }
      const machine = await addedMachine(fleet, 'one')
      await shipped(machine, madeLines([entry]))
      await run(fleet.owner, [
        `insert into fleet.evidence (org, machine, log, epoch, kind, seq) select org, machine, '${LOG}', 1, 'gap', 1 from fleet.machine`,
      ])
      await type('machines', 'retire', 'one')
      await shipped(await addedMachine(fleet, 'one'), madeLines([entry]))
      const names = (text: string) =>
        text.match(/ one( \(retired \d{4}-\d\d-\d\d\))? /g)?.map((one) => one.trim())
      const today = new Date().toISOString().slice(0, 10)
      const { stdout } = await type('audit', '--machine', 'one')
      expect(names(stdout)?.sort()).toEqual(['one', `one (retired ${today})`])
      expect(names((await type('audit', 'evidence')).stdout)).toEqual([`one (retired ${today})`])
      const database = await opened(fleet.page)
      const answer = recordAnswers(database)['GET api/records']?.answer ?? expect.unreachable()
      const { rows } = (await answer({ query: new URLSearchParams() } as never)) as FleetRows
      expect(rows.map((row) => row.machine).sort()).toEqual(['one', `one (retired ${today})`])
      await expect(answer({ query: new URLSearchParams('machine=onee') } as never)).rejects.toThrow(
        'did you mean one?',
      )
      await database.close()
    })

    it('is told that no machine has a name, and which one was meant', async () => {
      await addedMachine(fleet, 'two')
      for (const words of [['audit'], ['audit', 'evidence']]) {
        const refused = { code: 1, stderr: expect.stringContaining('is called tow; did you mean two?') }
        expect(await type(...words, '--machine', 'tow')).toMatchObject(refused)
        expect(await type(...words, '--machine', 'two')).toMatchObject({ code: 0 })
      }
      expect((await type('machines', 'retire', 'tow')).stderr).toContain('did you mean two?')
      expect((await type('audit', '--since', 'soon')).stderr).toContain('--since must be a time')
    })

    it('reads what an open question asks, as on the machine itself', async () => {
      const machine = await addedMachine(fleet, 'one')
      const question = { asks: [{ hook: 'user:rules', prompt: 'The rule ask-delete asks first' }] }
      const asked = { event: 'PreToolUse', tool: 'Bash', session: 's-1', action: 'ask_user' }
      const more = { hooks: [], injections: [], diagnostics: [], approval: { question } }
      const answered = { kind: 'approval', event: 'PreToolUse', decision: 'allow', session: 's-1' }
      await shipped(
        machine,
        madeLines([
          { ...asked, ...more, reason: 'A person of the fleet must approve this.' },
          { ...answered, by: 'bob', people: ['ann', 'bob'] },
        ]),
      )
      const { stdout } = await type('audit')
      expect(stdout).toContain('ask_user  user:rules asks: The rule ask-delete asks first · s-1\n')
      expect(stdout).toContain('by ann and bob · s-1\n')
      expect(stdout).not.toContain('A person of the fleet must approve')
    })
  })

  describe('a checkpoint', () => {
    beforeEach(async () => {
      const machine = await addedMachine(fleet, 'laptop-7')
      await shipped(machine, madeLines([{}, {}, {}]))
      expect(await type('checkpoint', '--out', 'kept')).toMatchObject({ code: 0 })
    })

    it('is not signed after the last record is gone, and names the machine', async () => {
      await run(fleet.owner, ['delete from fleet.record where seq = 3'])
      const { code, stderr } = await type('checkpoint', '--out', 'kept')
      expect(code).toBe(1)
      expect(stderr).toContain('record 3 of the machine laptop-7')
      expect(stderr).toContain('carabiner fleet audit verify --checkpoint FOLDER')
      expect(stderr).not.toContain('--out')
    })

    it('leaves the records before the last to verify, as the docs say', async () => {
      await run(fleet.owner, ['delete from fleet.record where seq = 2'])
      const { code, stdout } = await type('checkpoint', '--out', 'kept')
      expect(code).toBe(0)
      expect(stdout).toContain('carabiner fleet audit verify reads all records')
      expect((await type('audit', 'verify', '--checkpoint', 'kept')).code).toBe(1)
    })

    it('and its key from elsewhere are what proves an export', async () => {
      expect(await type('audit', 'export', '--out', 'signed.jsonl')).toMatchObject({ code: 0 })
      const key = ROOT.publicKey.toString('base64url')
      const pinned = await type('audit', 'verify', 'signed.jsonl', '--root-key', key)
      expect(pinned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whole: 3 records/) })
      const own = await type('audit', 'verify', 'signed.jsonl')
      expect(own).toMatchObject({ code: 1, stdout: expect.stringMatching(/^not proven: .*\n.*--root-key/) })
      await run(fleet.owner, ['delete from fleet.checkpoint'])
      expect(await type('audit', 'export', '--out', 'unsigned.jsonl')).toMatchObject({ code: 0 })
      const unsigned = await type('audit', 'verify', 'unsigned.jsonl', '--root-key', key)
      expect(unsigned).toMatchObject({ code: 1, stdout: expect.stringContaining('no checkpoint signs') })
    })

    it('needs only the newest of those before, and verify needs all that it is given', async () => {
      expect(await type('checkpoint', '--out', 'kept')).toMatchObject({ code: 0 })
      expect(await type('audit', 'export', '--out', 'signed.jsonl')).toMatchObject({ code: 0 })
      const unreadable = (file: string) => {
        rmSync(project.path(file))
        mkdirSync(project.path(file))
      }
      unreadable('kept/checkpoint-1.txt')
      expect(await type('checkpoint', '--out', 'kept')).toMatchObject({ code: 0 })
      const refused = [64, expect.stringContaining('--checkpoint cannot be read: EISDIR')]
      for (const source of [[], ['signed.jsonl']]) {
        const { code, stderr } = await type('audit', 'verify', ...source, '--checkpoint', 'kept')
        expect([code, stderr]).toEqual(refused)
      }
      rmSync(project.path('kept/checkpoint-1.txt'), { recursive: true })
      unreadable('kept/checkpoint-3.txt')
      for (const source of [[], ['signed.jsonl']]) {
        const { code, stderr } = await type('audit', 'verify', ...source, '--checkpoint', 'kept')
        expect([code, stderr]).toEqual(refused)
      }
    })

    it('is not proven without its key, for a reason that JSON has, too', async () => {
      await type('audit', 'export', '--out', 'signed.jsonl')
      const { code, stdout } = await type('audit', 'verify', 'signed.jsonl', '--json')
      expect(code).toBe(1)
      expect(JSON.parse(stdout)).toMatchObject({
        ...{ ok: false, problems: [], pinned: false },
        notes: [expect.stringContaining('--root-key'), expect.stringContaining('--checkpoint')],
      })
    })

    it('is verified with the key of the fleet, and with files that are checkpoints', async () => {
      await type('audit', 'export', '--out', 'signed.jsonl')
      const key = WRONG.publicKey.toString('base64url')
      for (const [source, where] of [
        [['signed.jsonl'], 'export'],
        [[], 'database'],
      ] as const) {
        const verify = (...more: string[]) => type('audit', 'verify', ...source, ...more)
        const other = await verify('--root-key', key, '--checkpoint', 'kept')
        expect(other.code).toBe(1)
        expect(other.stdout).toMatch(new RegExp(`^not whole: .*\\n {2}the ${where} names another key than`))
        const own = ['--root-key', ROOT.publicKey.toString('base64url')]
        writeFileSync(project.path('notes.txt'), 'nothing')
        const none = await verify(...own, '--checkpoint', 'notes.txt')
        expect(none).toMatchObject({ code: 64, stderr: expect.stringContaining('is not a checkpoint') })
        const whole = readFileSync(project.path('kept/checkpoint-1.txt'), 'utf8')
        writeFileSync(project.path('kept/checkpoint-2.txt'), whole.replace('time 2', 'time 1'))
        const damaged = await verify(...own, '--checkpoint', 'kept')
        expect(damaged.code).toBe(1)
        expect(damaged.stdout).toMatch(/\n {2}kept\/checkpoint-2\.txt, which you kept, is not signed by/)
        rmSync(project.path('kept/checkpoint-2.txt'))
        expect(await verify(...own, '--checkpoint', 'kept')).toMatchObject({ code: 0 })
      }
    })

    it('says where the others should be if they are not in the folder', async () => {
      const { stderr } = await type('checkpoint', '--out', 'elsewhere')
      expect(stderr).toContain('Give --out FOLDER')
    })
  })

  describe('is told what to do', () => {
    it('about a file that an export would replace, or cannot write', async () => {
      writeFileSync(project.path('records.jsonl'), 'mine')
      const taken = await type('audit', 'export', '--out', 'records.jsonl')
      expect(taken).toMatchObject({ code: 64, stderr: expect.stringContaining('name another file') })
      const { stderr } = await type('audit', 'export', '--out', 'missing/records.jsonl')
      expect(stderr).toMatch(/export cannot be written.*\n +Give --out FILE/)
    })

    it('about a key that init cannot write', async () => {
      const { stderr } = await typeAs(fleet.owner, 'init', '--org', 'new', '--key', 'missing/root.key')
      expect(stderr).toMatch(/cannot be written to .*root\.key.*\n +Give --key FILE/)
    })

    it('about something that somebody else has just written', async () => {
      const work = () =>
        run(fleet.owner, ['insert into fleet.org (name, root_key) select name, root_key from fleet.org'])
      await expect(refusing(work)).rejects.toMatchObject({
        hint: 'Somebody else wrote the same thing at the same time. Type the command again.',
      })
    })

    it.each([
      [
        'an older database',
        'delete from fleet.migration where version = (select max(version) from fleet.migration)',
        'brings it up to date: carabiner fleet init',
      ],
      [
        'a database from before a gateway could read its version',
        `revoke select on fleet.migration from fleet_gateway, fleet_page`,
        'brings it up to date: carabiner fleet init',
      ],
      [
        'a newer database',
        `insert into fleet.migration (version, name) values (999, 'later')`,
        'Update Carabiner',
      ],
    ])('about %s, before a machine asks', async (_, change, hint) => {
      await run(fleet.owner, [change])
      expect(await typeAs(fleet.gateway, 'serve', '--org', ORG, '--port', '0')).toMatchObject({
        ...{ code: 1, stderr: expect.stringContaining(hint) },
      })
    })

    it.each([
      ['a user without the role', () => typeAs(fleet.auditor, 'token', '--org', ORG), 'fleet_admin'],
      ['init by another user', () => typeAs(fleet.auditor, 'init', '--org', ORG), 'may create roles'],
      [
        'a gateway that may not append',
        () => typeAs(fleet.auditor, 'serve', '--org', ORG, '--port', '0'),
        'grant fleet_gateway to a_auditor',
      ],
      [
        'a page that may not read',
        () => typeAs(fleet.gateway, 'serve', '--org', ORG, '--port', '0', '--page', 'http://page.localhost'),
        'grant fleet_page to a_gateway',
      ],
      [
        'a user whose name has to be quoted',
        async () => {
          await run(fleet.owner, ['create role "a-user" login in role fleet_auditor'])
          return typeAs(fleet.admin.replace('a_admin', 'a-user'), 'serve', '--org', ORG, '--port', '0')
        },
        'grant fleet_gateway to "a-user"',
      ],
      [
        'an unknown organisation',
        () => typeAs(fleet.admin, 'machines', '--org', 'nope'),
        'carabiner fleet init --org',
      ],
      [
        'a database that is not there',
        () => typeAs(`${fleet.admin}_not`, 'machines'),
        'Check the name of the database',
      ],
      [
        'a database that is not prepared',
        async () => typeAs((await server.database()).owner, 'machines'),
        'Its owner prepares it',
      ],
    ])('about %s', async (_, act, hint) => {
      expect(await act()).toMatchObject({ code: 1, stderr: expect.stringContaining(hint) })
    })
  })
})
