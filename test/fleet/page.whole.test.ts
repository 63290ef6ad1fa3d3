// docs/use/fleet.md, typed by an administrator and on two machines with their own homes, with the real program over TLS.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { attribute, Collector } from '../cli/collector.js'
import { madeAuthority } from './authority.js'
import { hasNamespaces } from './namespace.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const PAGE = readFileSync(new URL('../../docs/use/fleet.md', import.meta.url), 'utf8')
/** All of the page but its first walk, which another test types. */
const LINES = [
  ...PAGE.replace(/^## Try it in ten minutes\n[\s\S]*?^## /m, '## ').matchAll(
    /^```console\n([\s\S]*?)^```/gm,
  ),
].flatMap(([, block = '']) => block.trim().split('\n'))

const GUARD = { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] }

/** What another process does happens a moment later. */
const soon = (isSo: () => boolean | Promise<boolean>) =>
  vi.waitUntil(isSo, { timeout: 120_000, interval: 200 })

interface Ran {
  readonly code: number
  readonly out: string
}

describe.runIf(hasPostgres)('docs/use/fleet.md', () => {
  let server: Postgres
  let folder: string
  let owner: string
  let as: (user: string) => string
  let gateway: ChildProcess | undefined
  /** Programs that go on until they are told to end. */
  const running: ChildProcess[] = []
  const left = [...LINES]

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-fleet-page-'))
    const program = join(inject('programBundle').withPackages, 'carabiner.js')
    writeFileSync(join(folder, 'carabiner'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
    writeFileSync(join(folder, 'sudo'), '#!/bin/sh\nexec "$@"\n')
    for (const name of ['carabiner', 'sudo']) chmodSync(join(folder, name), 0o755)
    const { ca, cert, key } = madeAuthority(folder)
    expect([ca, cert, key].every((text) => text.includes('BEGIN'))).toBe(true)
    server = await Postgres.start()
    const database = await server.database()
    owner = database.owner
    as = database.as
  })
  afterAll(async () => {
    for (const child of [...running, ...(gateway ? [gateway] : [])]) await ended(child)
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const envOf = (who: string, database = owner) => {
    const home = join(folder, who)
    mkdirSync(join(home, 'project'), { recursive: true })
    const { PATH = '' } = process.env
    return { PATH: `${folder}:${PATH}`, HOME: home, NO_COLOR: '1', CARABINER_FLEET_DATABASE: database }
  }

  async function type(line: string, who = 'admin', database?: string, input = ''): Promise<Ran> {
    const env = envOf(who, database)
    const child = spawn('sh', ['-c', `exec 2>&1\n${line}`], {
      env,
      cwd: who === 'admin' ? folder : join(env.HOME, 'project'),
    })
    child.stdin.end(input)
    let out = ''
    child.stdout.on('data', (part) => {
      out += part
    })
    const [code] = await once(child, 'close')
    return { code: Number(code), out }
  }

  /** Types a line that goes on until it is ended. */
  function started(line: string, who: string, more: NodeJS.ProcessEnv = {}): ChildProcess {
    const env = { ...envOf(who), ...more }
    const cwd = who === 'admin' ? folder : join(env.HOME, 'project')
    const child = spawn('sh', ['-c', `exec ${line}`], { env, cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    running.push(child)
    return child
  }

  async function ended(child: ChildProcess): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    return code as number | null
  }

  /** A chat that keeps what it is told. */
  async function openChat() {
    const messages: { readonly body: string; readonly signature: unknown }[] = []
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(folder, name)))
    const server = createServer({ cert, key }, (request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (part: string) => {
        body += part
      })
      request.on('end', () => {
        messages.push({ body, signature: request.headers['x-carabiner-signature'] })
        response.end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { messages, port: (server.address() as AddressInfo).port, close: () => server.close() }
  }

  /** With an /etc of its own: the real one is not for tests. */
  function inOwnEtc(line: string): string {
    const etc = join(folder, 'etc')
    mkdirSync(etc)
    copyFileSync('/etc/passwd', join(etc, 'passwd'))
    return `unshare -m sh -c 'mount --bind "${etc}" /etc && mount -t tmpfs tmpfs /run && ${line}'`
  }

  /** The next line of the page, which has to begin like this. */
  function next(beginning: string): string {
    const line = left.shift() ?? ''
    expect(line).toContain(beginning)
    return line
  }

  it('takes an administrator from nothing to two machines and a verified audit', async () => {
    expect(next('export CARABINER_FLEET_DATABASE=')).toContain('postgres://')
    const init = await type(next('carabiner fleet init'))
    expect(init).toMatchObject({ code: 0, out: expect.stringContaining('public key of the fleet') })
    const rootKey = /public key of the fleet: (\S+)/.exec(init.out)?.[1] ?? ''
    expect(await type('carabiner fleet init')).toMatchObject({
      code: 0,
      out: expect.stringContaining('as before'),
    })

    const role = `gateway_${process.pid}`
    const made = next('psql').replace('create role gateway', `create role ${role}`)
    expect(await type(made)).toMatchObject({ code: 0, out: expect.stringContaining('CREATE ROLE') })

    const serve = next('carabiner fleet serve').replace(/^CARABINER_FLEET_DATABASE=\S+ /, 'exec ')
    const { PATH, HOME, NO_COLOR } = envOf('server')
    const database = as(role)
    gateway = spawn('sh', ['-c', `${serve} --port 0`], {
      cwd: folder,
      env: { PATH, HOME, NO_COLOR, CARABINER_FLEET_DATABASE: database },
    })
    let told = ''
    gateway.stderr?.on('data', (part) => {
      told += part
    })
    const [said] = await Promise.race([
      once(gateway.stdout as NodeJS.ReadableStream, 'data'),
      once(gateway, 'exit').then(() => [`ended: ${told}`]),
    ])
    const port = /https:\/\/0\.0\.0\.0:(\d+)/.exec(String(said))?.[1]
    expect(port, String(said)).toBeDefined()

    const token = next('carabiner fleet token')
    const [tokens, revoke] = [next('carabiner fleet token list'), next('carabiner fleet token revoke')]
    const unused = JSON.parse((await type(`${token} --json`)).out) as { id: string }
    expect((await type(tokens)).out).toContain(unused.id)
    expect(await type(revoke.replace('ID', unused.id))).toMatchObject({ code: 0 })
    expect((await type(tokens)).out).toContain('revoked')
    const joinAsRoot = next('sudo carabiner fleet join')
    const status = next('carabiner fleet status')
    const joinAsUser = next('carabiner fleet join')
    const tokenIn = async (line: string) => {
      const [made = ''] = (await type(token)).out.split('\n')
      return line
        .replace('https://fleet.example:8443', `https://127.0.0.1:${port}`)
        .replace('TOKEN', made)
        .replace('ca.pem', join(folder, 'ca.pem'))
    }
    if (hasNamespaces) {
      const bound = await type(inOwnEtc(`${await tokenIn(joinAsRoot)} && ${status}`), 'root')
      const said = /binding: only root can change[\s\S]*nobody can allow calls here/
      expect(bound).toMatchObject({ code: 0, out: expect.stringMatching(said) })
      expect(await type(`carabiner fleet machines retire ${hostname()}`)).toMatchObject({ code: 0 })
    }
    const people = ['key', 'people add', 'people', 'people renew'].map((word) =>
      next(`carabiner fleet ${word}`),
    )
    const answering = ['approvals', 'answer k7f3-9qxd allow', 'answer k7f3-9qxd deny'].map((word) =>
      next(`carabiner fleet ${word}`),
    )
    const secret = next('export CARABINER_FLEET_WEBHOOK_SECRET=').split('=')[1] ?? ''
    const telling = next('carabiner fleet serve --webhook')
    const ship = next('carabiner fleet ship')
    for (const who of ['ann', 'bob']) {
      const plugin = join(envOf(who).HOME, '.amplifier', 'hooks', 'guard')
      mkdirSync(plugin, { recursive: true })
      writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks: GUARD }))
      const line = await tokenIn(joinAsUser)
      const joined = await type(`${line} --name ${who}`, who)
      expect(joined).toMatchObject({ code: 0, out: expect.stringContaining(`${who} is in the fleet`) })
      expect(await type(`${line} --name again`, who)).toMatchObject({ code: 1 })
      const event = JSON.stringify({
        session_id: `of-${who}`,
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
      })
      expect(await type('carabiner fire PreToolUse', who, undefined, event)).toMatchObject({ code: 0 })
      expect(await type(ship, who)).toEqual({ code: 0, out: '1 record of 1 log shipped\n' })
      const now = await type(status, who)
      expect(now).toMatchObject({ code: 0, out: expect.stringContaining('everything is shipped') })
      expect(now.out).toContain('advisory')
    }

    // The end of a session ships by itself. A process of its own does it, so the record arrives a moment later.
    const follow = next('carabiner fleet ship --follow')
    await type(
      'carabiner fire SessionEnd',
      'ann',
      undefined,
      JSON.stringify({ session_id: 'of-ann', reason: 'other' }),
    )
    const shipped = (wanted: number) =>
      soon(async () => {
        const [row] = await run(owner, ['select count(*)::int as records from fleet.record'])
        return Number(row?.records) >= wanted
      })
    await shipped(3)

    expect(await type(next('carabiner fleet audit --decision deny'))).toEqual({
      code: 0,
      out: 'no entries match\n',
    })
    const search = next('carabiner fleet audit --machine').replace('laptop-7', 'bob')
    expect(JSON.parse((await type(search)).out)).toMatchObject({
      entries: [{ machine: 'bob', entry: { session: 'of-bob' } }],
    })
    expect((await type('carabiner fleet machines')).out).toMatch(/^ann .*\nbob .*1 record/m)

    const collector = new Collector()
    await collector.start()
    const send = next('carabiner fleet audit export --to').replace('http://localhost:4318', collector.url)
    expect(await type(send)).toEqual({ code: 0, out: `3 records sent to ${collector.url}\n` })
    expect(await type(send)).toEqual({ code: 0, out: `0 records sent to ${collector.url}\n` })
    const names = collector.logs.map(({ resource }) => attribute(resource, 'host.name'))
    expect(names.sort()).toEqual(['ann', 'ann', 'bob'])
    await collector.stop()

    const all = await type(next('carabiner fleet status --database'))
    expect(all.out).toMatch(/^2 machines, \d as they should be; no policy is published/m)
    const trusting = ['add guard', '--key', 'revoke guard', 'forget guard'].map((words) =>
      next(`carabiner fleet trust ${words}`.trim()),
    )
    const plugin = join(folder, '.amplifier', 'hooks', 'guard')
    mkdirSync(plugin, { recursive: true })
    writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks: GUARD }))
    const decided: string[] = []
    for (const line of trusting) {
      const { code, out } = await type(line)
      expect(code, out).toBe(0)
      decided.push(out)
    }
    expect(decided[0]).toContain('guard is trusted on every machine')
    expect(decided[1]).toMatch(/^trusted +[0-9a-f]{64} +by fleet/)
    expect(decided[2]).toContain('guard never runs again')
    expect(decided[3]).toContain('guard is up to each machine again')

    expect(await type(next('carabiner fleet checkpoint'))).toMatchObject({ code: 0 })
    const verify = next('carabiner fleet audit verify').replace('KEY', rootKey)
    expect(await type(verify)).toMatchObject({
      code: 0,
      out: expect.stringContaining('whole: 3 records in 2 chains'),
    })
    expect(await type(next('carabiner fleet audit export'))).toMatchObject({
      ...{ code: 0, out: expect.stringContaining('3 records in 2 chains and 1 checkpoint are in') },
    })
    const verifyFile = next('carabiner fleet audit verify records.jsonl').replace('KEY', rootKey)
    expect(await type(verifyFile, 'admin', 'postgres://127.0.0.1:1/none')).toMatchObject({
      ...{ code: 0, out: expect.stringContaining('whole: 3 records in 2 chains, 1 checkpoint') },
    })
    expect(await type('carabiner fleet checkpoint --out checkpoints')).toMatchObject({ code: 0 })
    expect(await type('carabiner fleet checkpoint --out elsewhere')).toMatchObject({ code: 1 })
    expect((await type('carabiner fleet audit evidence')).out).toBe('no break was noticed\n')
    expect((await type(`carabiner fleet token --root-key ${'A'.repeat(43)}`)).out).toContain(
      'is not the key of the fleet',
    )
    await run(owner, [`delete from fleet.record where session = 'of-bob'`])
    expect(await type(verify)).toMatchObject({ code: 1, out: expect.stringContaining('bob') })

    // Whatever happens on a machine that follows is shipped without another command.
    const follower = started(follow, 'bob')
    const more = JSON.stringify({ session_id: 'of-bob-2', tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect(await type('carabiner fire PreToolUse', 'bob', undefined, more)).toMatchObject({ code: 0 })
    await soon(
      async () => (await run(owner, [`select 1 from fleet.record where session = 'of-bob-2'`])).length > 0,
    )
    expect(await ended(follower)).toBe(0)

    // An approver with a key of her own, and one question of a machine, which she allows from elsewhere.
    const [makeKey = '', addPerson = '', listPeople = '', renew = ''] = people
    const code = /people add NAME (\S+)/.exec((await type(makeKey, 'pia')).out)?.[1] ?? ''
    const added = await type(addPerson.replace('ann CODE', `pia ${code}`))
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('pia is on the list as approver') })
    expect((await type(listPeople)).out).toMatch(/^pia +approver +key /)
    expect(await type(renew)).toMatchObject({
      code: 0,
      out: expect.stringContaining('the list counts until'),
    })
    const guard = join(folder, 'ann', 'project', '.amplifier', 'hooks')
    mkdirSync(guard, { recursive: true })
    const asks = `echo '{"action":"ask_user","approval_prompt":"Deploy?"}'`
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: asks }] }] }
    writeFileSync(join(guard, 'hooks.json'), JSON.stringify({ hooks }))
    expect(await type('carabiner trust --yes', 'ann')).toMatchObject({ code: 0 })
    expect(await type(ship, 'ann')).toMatchObject({ code: 0 })
    const deployment = JSON.stringify({
      session_id: 'of-ann-2',
      tool_name: 'Bash',
      tool_input: { command: 'make deploy' },
    })
    const chat = await openChat()
    const teller = started(`${telling.replace('chat.example', `127.0.0.1:${chat.port}`)} --port 0`, 'admin', {
      CARABINER_FLEET_WEBHOOK_SECRET: secret,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    })
    expect(String(await once(teller.stdout as NodeJS.ReadableStream, 'data'))).toContain('http://127.0.0.1:')
    const fire = () => type('carabiner fire PreToolUse', 'ann', undefined, deployment)
    const question = await fire()
    expect(question.out).toContain('A person of the fleet must approve this')
    const id = /fleet answer (\w{4}-\w{4}) allow/.exec(question.out)?.[1] ?? ''
    const [approvals = '', allow = '', deny = ''] = answering.map((line) =>
      line
        .replace('https://fleet.example:8443', `https://127.0.0.1:${port}`)
        .replace('ca.pem', join(folder, 'ca.pem'))
        .replace('k7f3-9qxd', id),
    )
    // A process of its own sends the question.
    await soon(async () => (await type(approvals, 'pia')).out.includes(id))
    await soon(() => chat.messages.length > 0)
    expect(JSON.parse(chat.messages[0]?.body ?? '')).toMatchObject({
      link: `https://fleet.example:8443/#/approvals/${id}`,
    })
    expect(chat.messages[0]?.signature).toMatch(/^sha256=[0-9a-f]{64}$/)
    expect(await ended(teller)).toBe(0)
    chat.close()
    expect((await type(`carabiner approvals allow ${id}`, 'ann')).out).toContain(
      'only the people of the fleet',
    )
    expect(await type(`${allow} --yes`, 'pia')).toMatchObject({ code: 0 })
    expect((await type(`${deny} ${allow.split('allow')[1]}`, 'pia')).code).toBe(1)
    await soon(async () => (await fire()).code === 0)
    const second = /fleet answer (\w{4}-\w{4}) allow/.exec((await fire()).out)?.[1] ?? ''
    expect(await type(`carabiner approvals deny ${second}`, 'ann')).toMatchObject({ code: 0 })
    expect(await type(ship, 'ann')).toMatchObject({ code: 0 })
    expect(await run(owner, [`select how, by_name from fleet.settled where how = 'used'`])).toEqual([
      { how: 'used', by_name: 'pia' },
    ])
    expect((await type('carabiner fleet audit --kind approval --json')).out).toContain('"by":"pia"')

    expect(await type('carabiner fleet leave', 'bob')).toMatchObject({ code: 0 })
    expect((await type('carabiner fleet machines')).out).toMatch(/^bob +asked to leave/m)
    expect(await type('carabiner fleet machines retire bob')).toMatchObject({ code: 0 })
    expect((await type('carabiner fleet machines')).out).toMatch(/^bob +retired/m)

    const granted = next('grant fleet_page').replace('to gateway', `to ${role}`)
    const page = next('--page').replace(/^CARABINER_FLEET_DATABASE=\S+ /, 'exec ')
    const refused = await type(`${page} --port 0`, 'admin', database)
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('may not serve the page') })
    expect(await type(granted)).toMatchObject({ code: 0, out: expect.stringContaining('GRANT ROLE') })
    gateway.kill('SIGTERM')
    await once(gateway, 'exit')
    gateway = spawn('sh', ['-c', `${page} --port 0`], {
      cwd: folder,
      env: { PATH, HOME, NO_COLOR, CARABINER_FLEET_DATABASE: database },
    })
    const [serving] = await once(gateway.stdout as NodeJS.ReadableStream, 'data')
    expect(String(serving)).toContain('people find its page at https://fleet.example:8443')
    const again = /https:\/\/0\.0\.0\.0:(\d+)/.exec(String(serving))?.[1]
    const asked = `curl -s --cacert ca.pem`
    const shown = await type(`${asked} -H 'Host: fleet.example:8443' https://localhost:${again}/`)
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('sign-in.js') })
    const private_ = await type(
      `${asked} -H 'Host: fleet.example:8443' https://localhost:${again}/api/machines`,
    )
    expect(private_.out).toContain('You are not signed in')
    expect(left).toEqual([])
  })
})
