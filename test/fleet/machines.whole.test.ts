// Two machines: two users with their own homes, networks and /etc, joined to a gateway on a third one over TLS.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { madeAuthority } from './authority.js'
import { hasNamespaces, Namespace, type Ran, type User } from './namespace.js'
import { isOurServer, Postgres, run } from './postgres.js'

/** What somebody types: as the user unless `root`, with `more` variables. */
interface Typed {
  readonly root?: boolean
  readonly input?: string
  readonly more?: NodeJS.ProcessEnv
}

const PORT = 8443
const ETC = '/etc/carabiner'
/** In every namespace: root’s own, as an installed program is. */
const PROGRAM = '/srv/carabiner/bin/carabiner.js'

/** A server that somebody else runs cannot be reached from another network. */
const canRun = isOurServer('two machines and a gateway') && hasNamespaces

describe.runIf(canRun)('two machines and a gateway', () => {
  let server: Postgres
  let folder: string
  let owner: string
  let auditor: string
  let hub: Namespace
  let gateway: ChildProcess
  let rootKey = ''
  const machines: Machine[] = []

  class Machine {
    readonly user: User
    readonly url: string
    readonly net: string
    namespace!: Namespace

    constructor(name: string, number: number) {
      this.user = { name, id: 64_000 + number, home: join(folder, name) }
      this.net = `10.27.${number}`
      this.url = `https://${this.net}.1:${PORT}`
      mkdirSync(join(this.user.home, 'project'), { recursive: true })
      for (const path of [this.user.home, join(this.user.home, 'project')])
        chownSync(path, this.user.id, this.user.id)
      chmodSync(this.user.home, 0o700)
    }

    async start(): Promise<void> {
      this.namespace = await Namespace.start(join(folder, `${this.user.name}-etc`), [this.user])
      hub.connect(this.namespace, this.user.name, this.net)
      const fresh = ['mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/srv']
      expect(await this.type(fresh, { root: true })).toMatchObject({ code: 0 })
      await this.mounted(join(folder, 'alone'), dirname(dirname(PROGRAM)))
    }

    /** A folder in another place, where only root can write to what is above it. */
    async mounted(from: string, to: string): Promise<void> {
      const script = 'mkdir -p "$2" && mount --bind "$1" "$2"'
      expect(await this.type(['sh', '-c', script, 'sh', from, to], { root: true })).toMatchObject({ code: 0 })
    }

    /** As the user, unless `root`; then as `sudo` does it for the user. */
    type(words: readonly string[], { root = false, input = '', more = {} }: Typed = {}): Promise<Ran> {
      const { id, home } = this.user
      const env = {
        PATH: process.env.PATH,
        HOME: root ? join(folder, 'root') : home,
        NO_COLOR: '1',
        ...(root && { SUDO_UID: String(id), SUDO_GID: String(id), SUDO_USER: this.user.name }),
        ...more,
      }
      const options = { env, cwd: join(home, 'project'), input, ...(!root && { user: this.user }) }
      return this.namespace.run(words, options)
    }

    carabiner(words: readonly string[], options: Typed = {}): Promise<Ran> {
      return this.type([process.execPath, PROGRAM, ...words], options)
    }

    fire(session: string): Promise<Ran> {
      const call = { session_id: session, tool_name: 'Bash', tool_input: { command: 'ls' } }
      return this.carabiner(['fire', 'PreToolUse'], { input: JSON.stringify(call) })
    }

    async status(): Promise<Record<string, unknown>> {
      return JSON.parse((await this.carabiner(['fleet', 'status', '--json'])).out)
    }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-machines-'))
    chmodSync(folder, 0o755)
    const { alone, withPackages } = inject('programBundle')
    cpSync(dirname(alone), join(folder, 'alone'), { recursive: true })
    mkdirSync(join(folder, 'root'))
    madeAuthority(folder, ['IP:10.27.1.1', 'IP:10.27.2.1', 'IP:10.27.3.1'])
    chmodSync(join(folder, 'ca.pem'), 0o644)
    server = await Postgres.start()
    const database = await server.database()
    owner = database.owner
    const init = await administrator(['fleet', 'init'])
    rootKey = /public key of the fleet: (\S+)/.exec(init.out)?.[1] ?? ''
    const [serving, reading] = [`serves_${process.pid}`, `reads_${process.pid}`]
    await run(owner, [
      `create role ${serving} login in role fleet_gateway`,
      `create role ${reading} login in role fleet_auditor`,
    ])
    auditor = database.as(reading)
    hub = await Namespace.start(join(folder, 'hub-etc'))
    for (const [i, name] of ['ann', 'bob'].entries()) machines.push(new Machine(name, i + 1))
    for (const machine of machines) await machine.start()
    const [program = '', ...words] = [
      ...hub.inside(),
      ...[process.execPath, join(withPackages, 'carabiner.js'), 'fleet', 'serve', '--host', '0.0.0.0'],
      ...['--port', String(PORT), '--cert', join(folder, 'cert.pem'), '--cert-key', join(folder, 'key.pem')],
    ]
    const local = new URL(database.as(serving))
    local.search = new URLSearchParams({ host: server.socketFolder, port: String(server.port) }).toString()
    gateway = spawn(program, words, {
      env: { PATH: process.env.PATH, HOME: join(folder, 'root'), CARABINER_FLEET_DATABASE: local.href },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await Promise.race([
      once(gateway.stdout as NodeJS.ReadableStream, 'data'),
      once(gateway, 'exit').then(() => ['ended']),
    ])
    expect(String(said)).toContain(`https://0.0.0.0:${PORT}`)
  })
  afterAll(async () => {
    if (gateway?.exitCode === null) {
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    }
    for (const { namespace } of machines) await namespace?.end()
    await hub?.end()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function administrator(words: readonly string[], database = owner): Promise<Ran> {
    const program = join(inject('programBundle').withPackages, 'carabiner.js')
    const child = spawn(process.execPath, [program, ...words], {
      cwd: folder,
      env: {
        ...{ PATH: process.env.PATH, HOME: join(folder, 'root'), NO_COLOR: '1' },
        CARABINER_FLEET_DATABASE: database,
      },
    })
    let out = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        out += part
      })
    const [code] = await once(child, 'close')
    return { code: Number(code), out }
  }

  async function joining(machine: Machine, more: readonly string[] = []): Promise<readonly string[]> {
    const token = (await administrator(['fleet', 'token'])).out.split('\n')[0] ?? ''
    const { url, user } = machine
    return [
      'fleet',
      'join',
      url,
      '--token',
      token,
      '--name',
      user.name,
      '--ca',
      join(folder, 'ca.pem'),
      ...more,
    ]
  }

  it('join: with root it binds, and without it is advisory', async () => {
    const [ann, bob] = machines as [Machine, Machine]
    const before = existsSync(ETC)
    const bound = await ann.carabiner(await joining(ann), { root: true })
    expect(bound).toMatchObject({ code: 0, out: expect.stringContaining('binding') })
    expect(await ann.status()).toMatchObject({ binding: true, marker: `${ETC}/fleet.json`, name: 'ann' })
    const own = await bob.carabiner(await joining(bob))
    expect(own).toMatchObject({ code: 0, out: expect.stringContaining('advisory') })
    expect(await bob.status()).toMatchObject({ binding: false, name: 'bob' })
    // The /etc of the machine that runs the tests is another one.
    expect(existsSync(ETC)).toBe(before)
  })

  it('what root wrote is not for the user to change', async () => {
    const [ann] = machines as [Machine]
    for (const words of [
      ['rm', '-f', `${ETC}/fleet.json`],
      ['mv', ETC, `${ETC}-away`],
      ['sh', '-c', `echo x > ${ETC}/fleet.json`],
      ['sh', '-c', `echo x > ${ETC}/fleet.key`],
      ['touch', `${ETC}/other`],
    ])
      expect(await ann.type(words), words.join(' ')).toMatchObject({
        code: expect.toSatisfy((code) => code !== 0),
      })
    const again = await ann.carabiner(await joining(ann))
    expect(again).toMatchObject({ code: 1, out: expect.stringContaining('in a fleet already') })
    expect(await ann.status()).toMatchObject({ binding: true })
  })

  it('a marker that others can write does not bind', async () => {
    const [ann] = machines as [Machine]
    const marker = `${ETC}/fleet.json`
    const chmod = (mode: string) => ann.type(['chmod', mode, marker], { root: true })
    await chmod('666')
    const said = await ann.carabiner(['fleet', 'status'])
    expect(said).toMatchObject({
      code: 1,
      out: expect.stringContaining(`others than root may write to ${marker}`),
    })
    await chmod('644')
    expect(await ann.status()).toMatchObject({ binding: true })
  })

  it('a machine reaches the gateway, and neither the database nor another machine', async () => {
    const [ann, bob] = machines as [Machine, Machine]
    const reach = `const [host, port] = process.argv.slice(1)
      require('node:net').connect(port, host).on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
    const reaches = (address: string, port: number) =>
      ann.type([process.execPath, '-e', reach, address, String(port)])
    expect(await reaches(`${ann.net}.1`, PORT)).toMatchObject({ code: 0 })
    expect(await reaches('127.0.0.1', server.port)).toMatchObject({ code: 1 })
    expect(await reaches(`${bob.net}.2`, PORT)).toMatchObject({ code: 1 })
    expect(await ann.type(['ls', bob.user.home])).toMatchObject({ code: 2 })
  })

  it('join only a gateway that shows a certificate of the authority for its own name', async () => {
    const [, bob] = machines as [Machine, Machine]
    const dataDir = { CARABINER_HOME: join(bob.user.home, 'other') }
    const tried = async (change: (words: readonly string[]) => readonly string[]) => {
      const words = change(await joining(bob))
      const env = { PATH: process.env.PATH, HOME: bob.user.home, NO_COLOR: '1', ...dataDir }
      return bob.namespace.run([process.execPath, PROGRAM, ...words], {
        ...{ user: bob.user, env, cwd: bob.user.home },
      })
    }
    const withoutCa = await tried((words) =>
      words.filter((_, i) => i !== words.indexOf('--ca') && i !== words.indexOf('--ca') + 1),
    )
    expect(withoutCa).toMatchObject({ code: 1, out: expect.stringMatching(/certificate/) })
    bob.namespace.ip('addr', 'add', '10.27.9.2/30', 'dev', 'bob')
    hub.ip('addr', 'add', '10.27.9.1/30', 'dev', 'bob')
    const otherName = await tried((words) =>
      words.map((word) => (word === bob.url ? `https://10.27.9.1:${PORT}` : word)),
    )
    expect(otherName).toMatchObject({ code: 1, out: expect.stringMatching(/10\.27\.9\.1/) })
    expect(existsSync(join(bob.user.home, 'other', 'fleet', 'fleet.json'))).toBe(false)
  })

  it('write records, ship them, and an auditor finds them whole', async () => {
    for (const machine of machines) {
      const { name } = machine.user
      expect(await machine.fire(`of-${name}`)).toMatchObject({ code: 0 })
      expect(await machine.carabiner(['fleet', 'ship'])).toEqual({
        code: 0,
        out: '1 record of 1 log shipped\n',
      })
    }
    const found = JSON.parse((await administrator(['fleet', 'audit', '--json'], auditor)).out)
    expect(
      found.entries
        .map((one: { machine: string; entry: { session: string } }) => [one.machine, one.entry.session])
        .sort(),
    ).toEqual([
      ['ann', 'of-ann'],
      ['bob', 'of-bob'],
    ])
  })

  it('without a network events go on, and what was written meanwhile is shipped afterwards', async () => {
    const [, bob] = machines as [Machine, Machine]
    bob.namespace.ip('link', 'set', 'bob', 'down')
    for (const session of ['off-1', 'off-2']) expect(await bob.fire(session)).toMatchObject({ code: 0 })
    expect(await bob.carabiner(['fleet', 'ship'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('cannot be reached'),
    })
    expect(await bob.status()).toMatchObject({
      gateway: { reached: false },
      logs: [{ written: 3, shipped: 1 }],
    })
    bob.namespace.ip('link', 'set', 'bob', 'up')
    expect(await bob.carabiner(['fleet', 'ship'])).toEqual({ code: 0, out: '2 records of 1 log shipped\n' })
    expect(await bob.status()).toMatchObject({
      ...{ gateway: { reached: true }, logs: [{ written: 3, shipped: 3, there: 3, breaks: [] }] },
    })
  })

  it('are in the signed checkpoint, and a record that somebody removes is missed', async () => {
    const checkpoint = join(folder, 'checkpoint.txt')
    expect(
      await administrator(['fleet', 'checkpoint', '--key', 'fleet-root.key', '--out', checkpoint]),
    ).toMatchObject({
      code: 0,
    })
    const verify = ['fleet', 'audit', 'verify', '--checkpoint', checkpoint, '--root-key', rootKey]
    expect(await administrator(verify, auditor)).toMatchObject({
      ...{ code: 0, out: expect.stringContaining('whole: 4 records in 2 chains') },
    })
    await run(owner, [`delete from fleet.record where session = 'off-1'`])
    expect(await administrator(verify, auditor)).toMatchObject({
      code: 1,
      out: expect.stringContaining('bob'),
    })
  })

  describe('a machine that joined with sudo', () => {
    let cid: Machine
    const units = '/etc/systemd/system'
    const timer = 'carabiner-fleet.timer'
    const inEtc = (path: string) => join(folder, 'cid-etc', path.replace('/etc/', ''))
    /** What systemctl was asked. It fails while there is a file "broken". */
    const asked = () => {
      const log = join(folder, 'systemctl.log')
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
      rmSync(log, { force: true })
      return lines
    }
    const asRoot = (words: readonly string[]) =>
      cid.carabiner(words, {
        root: true,
        more: { PATH: `${join(folder, 'systemd-bin')}:${process.env.PATH}` },
      })
    /** What systemd does each minute. */
    const tick = async () => {
      const unit = readFileSync(inEtc(`${units}/carabiner-fleet.service`), 'utf8')
      const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
      const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin' }
      const ran = await cid.namespace.run(words, { env: { ...env, HOME: join(folder, 'root') }, cwd: '/' })
      expect(ran).toMatchObject({ code: 0 })
    }
    const remove = (more: NodeJS.ProcessEnv = {}, words: readonly string[] = []) => {
      const call = { session_id: 's', tool_name: 'Bash', tool_input: { command: 'rm a.txt' } }
      return cid.carabiner(['fire', 'PreToolUse', ...words], { input: JSON.stringify(call), more })
    }
    const publish = async (n: number, then: string) => {
      const rules = [{ id: 'files', effects: ['delete'], then, say: `Files stay, says policy ${n}.` }]
      mkdirSync(join(folder, `policy-${n}`))
      writeFileSync(join(folder, `policy-${n}`, 'rules.json'), JSON.stringify({ rules }))
      const plan = { rings: [{ name: '1' }] }
      writeFileSync(join(folder, `policy-${n}`, 'policy.json'), JSON.stringify(plan))
      await administered('policy', 'build', `policy-${n}`, '--out', `${n}.bundle`)
      await administered('policy', 'publish', `${n}.bundle`, '--key', 'fleet-root.key')
    }
    const administered = async (...words: string[]) => {
      const ran = await administrator(['fleet', ...words])
      if (ran.code !== 0) throw new Error(ran.out)
    }

    beforeAll(async () => {
      const { withPackages } = inject('programBundle')
      mkdirSync(join(folder, 'systemd-bin'))
      const script = `#!/bin/sh\necho "$*" >> ${folder}/systemctl.log\n[ ! -e ${folder}/broken ] || { echo 'no bus' >&2; exit 1; }\n`
      writeFileSync(join(folder, 'systemd-bin', 'systemctl'), script, { mode: 0o755 })
      cid = new Machine('cid', 3)
      machines.push(cid)
      await cid.start()
      await cid.mounted(join(dirname(withPackages), 'node_modules'), '/srv/node_modules')
      mkdirSync(inEtc(units), { recursive: true })
    })

    it('cannot join where /etc cannot be written, and keeps its token', async () => {
      const mount = (how: string) => cid.type(['mount', '-o', `remount,bind,${how}`, '/etc'], { root: true })
      await mount('ro')
      const words = await joining(cid)
      expect(await asRoot(words)).toMatchObject({
        code: 1,
        out: expect.stringMatching(/Nothing can be written to \/etc\/carabiner: EROFS.*\n {2}--user joins/),
      })
      await mount('rw')
      const joined = await asRoot([...words, '--no-timer'])
      expect(joined).toMatchObject({ code: 0, out: expect.not.stringContaining('crontab') })
      expect(await asRoot(['fleet', 'leave'])).toMatchObject({ code: 0 })
    })

    it('without systemd says which line root’s crontab needs', async () => {
      const { code, out } = await asRoot(await joining(cid))
      expect(code).toBe(0)
      expect(out).toContain(`add this line: * * * * * ${process.execPath} ${PROGRAM} fleet ship >/dev/null`)
      expect(await asRoot(['fleet', 'leave'])).toMatchObject({
        ...{ code: 0, out: expect.stringContaining('remove that line') },
      })
      expect(asked()).toEqual([])
    })

    it('joins also where systemctl fails, and says what to type', async () => {
      await cid.type(['mkdir', '-p', '/run/systemd/system'], { root: true })
      writeFileSync(join(folder, 'broken'), '')
      expect(await asRoot(await joining(cid))).toMatchObject({
        code: 0,
        out: expect.stringMatching(/systemctl: no bus\nnext .*sudo systemctl enable --now/),
      })
      const left = await asRoot(['fleet', 'leave'])
      expect(left).toMatchObject({ code: 0, out: expect.stringContaining('timer could not be removed') })
      expect(existsSync(inEtc(`${units}/${timer}`))).toBe(false)
      rmSync(join(folder, 'broken'))
      asked()
    })

    it('makes no timer for a program that somebody else can change', async () => {
      const program = join(folder, 'alone', 'bin', 'carabiner.js')
      expect(await asRoot(await joining(cid))).toMatchObject({ code: 0 })
      expect(asked()).toEqual(['daemon-reload', `enable --now ${timer}`])
      chownSync(program, cid.user.id, cid.user.id)
      const again = await asRoot(['fleet', 'join'])
      expect(again).toMatchObject({
        ...{
          code: 1,
          out: expect.stringContaining(`${PROGRAM} belongs to user ${cid.user.id}, not to root`),
        },
      })
      chownSync(program, 0, 0)
      expect(asked()).toEqual([])
      const left = await asRoot(['fleet', 'leave', '--json'])
      expect([left.code, JSON.parse(left.out).timer]).toEqual([0, { status: 'removed' }])
      expect(asked()).toEqual([`disable --now ${timer}`, 'stop carabiner-fleet.service', 'daemon-reload'])
      expect(existsSync(inEtc(`${units}/${timer}`))).toBe(false)
    })

    it('gets each policy from root’s timer, and its user cannot loosen it', async () => {
      await publish(1, 'tell')
      expect(await asRoot(await joining(cid))).toMatchObject({ code: 0 })
      expect(await cid.status()).toMatchObject({ policy: { inForce: { enforced: { version: 1 } } } })
      expect(await remove()).toMatchObject({ code: 0 })

      await publish(2, 'deny')
      await tick()
      const denied = { code: 2, out: expect.stringContaining('Files stay, says policy 2.') }
      expect(await remove()).toMatchObject(denied)
      for (const name of ['fleet', 'fleet:rules']) await cid.carabiner(['disable', name, '--user'])
      for (const words of [
        ['rm', '-f', `${ETC}/fleet.json`],
        ['rm', '-rf', `${ETC}/fleet-policy`],
        ['mv', ETC, '/etc/away'],
        ['rm', '-f', `${units}/${timer}`],
      ])
        expect((await cid.type(words)).code, words.join(' ')).not.toBe(0)
      expect(await cid.carabiner(['fleet', 'leave', '--anyway'])).toMatchObject({
        code: 1,
        out: expect.stringContaining('Only root may change'),
      })
      for (const more of [
        {},
        { CARABINER_OFF: '1' },
        { CARABINER_HOME: join(cid.user.home, 'other') },
        { HOME: join(cid.user.home, 'project') },
      ])
        expect(await remove(more, ['--trust-all']), JSON.stringify(more)).toMatchObject(denied)

      await administered('policy', 'rollback', '--key', 'fleet-root.key')
      await tick()
      expect(await remove()).toMatchObject({ code: 0 })
    })

    it('its report from root does not replace the one of its user', async () => {
      await cid.carabiner(['fleet', 'ship'])
      await tick()
      const { machines } = JSON.parse((await administrator(['fleet', 'status', '--json'], auditor)).out)
      const { report, others } = machines.find(({ name }: { name: string }) => name === 'cid')
      expect([report.user, others.map(({ user }: { user: string }) => user)]).toEqual(['root', ['cid']])
    })

    it('says when root has not fetched for an hour', async () => {
      const found = async () => {
        const { findings } = JSON.parse((await cid.carabiner(['doctor', '--json'])).out)
        return findings.map(({ code }: { code: string }) => code)
      }
      expect(await found()).not.toContain('fleet-unfetched')
      await cid.type(['touch', '-d', '61 minutes ago', `${ETC}/fleet-policy/fetched`], { root: true })
      expect(await found()).toContain('fleet-unfetched')
      expect((await cid.carabiner(['fleet', 'status'])).out).toMatch(
        /root has not fetched the policy since .*\nnext sudo carabiner fleet ship/s,
      )
      await tick()
      expect(await found()).not.toContain('fleet-unfetched')
      expect(await cid.status()).not.toHaveProperty('unfetched')
    })

    it('that cannot remove its files says so, and not that the gateway was not told', async () => {
      const marker = `${ETC}/fleet.json`
      await cid.type(['mount', '--bind', marker, marker], { root: true })
      const left = await asRoot(['fleet', 'leave'])
      expect(left).toMatchObject({
        code: 1,
        out: expect.stringContaining('The files of the fleet cannot be removed: EBUSY'),
      })
      await cid.type(['umount', marker], { root: true })
      expect(await asRoot(['fleet', 'leave', '--anyway'])).toMatchObject({ code: 0 })
    })
  })
})
