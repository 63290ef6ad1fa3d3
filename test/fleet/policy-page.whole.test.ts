// docs/use/fleet-policy.md, typed by an administrator, a second signer and on one machine, with the real program.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { hasPostgres, Postgres } from './postgres.js'

const PAGE = readFileSync(new URL('../../docs/use/fleet-policy.md', import.meta.url), 'utf8')
const blocks = (kind: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block)

interface Ran {
  readonly code: number
  readonly out: string
}

describe.runIf(hasPostgres)('docs/use/fleet-policy.md', () => {
  let server: Postgres
  let folder: string
  let owner: string
  let gateway: ChildProcess | undefined
  const left = blocks('console').flatMap((block) => block.trim().split('\n'))

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-policy-page-'))
    const program = join(inject('programBundle').withPackages, 'carabiner.js')
    writeFileSync(join(folder, 'carabiner'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
    chmodSync(join(folder, 'carabiner'), 0o755)
    server = await Postgres.start()
    owner = (await server.database()).owner
  }, 60_000)
  afterAll(async () => {
    if (gateway && gateway.exitCode === null) {
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    }
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const envOf = (who: string) => {
    const home = join(folder, who)
    mkdirSync(home, { recursive: true })
    const { PATH = '' } = process.env
    return { PATH: `${folder}:${PATH}`, HOME: home, NO_COLOR: '1', CARABINER_FLEET_DATABASE: owner }
  }

  async function type(line: string, who = 'admin', input = ''): Promise<Ran> {
    const env = envOf(who)
    const child = spawn('sh', ['-c', `exec 2>&1\n${line}`], { env, cwd: who === 'admin' ? folder : env.HOME })
    child.stdin.end(input)
    let out = ''
    child.stdout.on('data', (part) => {
      out += part
    })
    const [code] = await once(child, 'close')
    return { code: Number(code), out }
  }

  async function typed(line: string, who?: string): Promise<string> {
    const { code, out } = await type(line, who)
    expect(code, `${line}\n${out}`).toBe(0)
    return out
  }

  /** The next line of the page, which has to begin like this. */
  function next(beginning: string): string {
    const line = left.shift() ?? ''
    expect(
      line.startsWith(`carabiner fleet ${beginning.startsWith('shadow') ? '' : 'policy '}${beginning}`),
      `${line} is not ${beginning}`,
    ).toBe(true)
    return line
  }

  async function push(): Promise<Ran> {
    const event = { session_id: 's', tool_name: 'Bash', tool_input: { command: 'git push origin main' } }
    return type('carabiner fire PreToolUse', 'ann', JSON.stringify(event))
  }

  it('takes an administrator through sign, shadow, promote and rollback', async () => {
    const rootKey = /public key of the fleet: (\S+)/.exec(await typed('carabiner fleet init'))?.[1] ?? ''
    gateway = spawn('sh', ['-c', 'exec carabiner fleet serve --port 0'], {
      cwd: folder,
      env: envOf('server'),
    })
    const [said] = await once(gateway.stdout as NodeJS.ReadableStream, 'data')
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(said))?.[0] ?? ''
    const token = (await typed('carabiner fleet token')).split('\n')[0]
    await typed(`carabiner fleet join ${url} --token ${token} --user --name ann`, 'ann')

    const [rules = '', policy = ''] = blocks('json')
    mkdirSync(join(folder, 'policy'))
    writeFileSync(join(folder, 'policy', 'rules.json'), '{"rules": [{"id": 7}]}')
    const build = next('build')
    expect(await type(build)).toMatchObject({ code: 1, out: expect.stringContaining('rules.json') })
    writeFileSync(join(folder, 'policy', 'rules.json'), rules)
    writeFileSync(join(folder, 'policy', 'policy.json'), policy)
    expect(await typed(build)).toContain('2 files with 1 hook')

    expect((await push()).code).toBe(0)
    expect(await typed(next('publish'))).toMatch(/ring 1 +ann\* +no policy, tries version 1/)
    const fetch = next('fetch')
    expect(await typed(fetch, 'ann')).toContain('no version is in force, version 1 is tried (ring 1)')
    expect((await push()).code).toBe(0)

    await typed('carabiner fleet ship', 'ann')
    const shadow = await typed(next('shadow 1'))
    expect(shadow).toMatch(/^version 1 was tried at \d+ events? on 1 machine, and would have changed this/)
    expect(shadow).toContain('rule no-push')
    expect(await typed(next('promote'))).toMatch(
      /ring 1 +ann\* +enforces version 1\n.*ring 2 +the rest +no policy/,
    )
    expect(await typed('carabiner fleet ship', 'ann')).toContain('shipped')
    expect(await push()).toMatchObject({ code: 2, out: expect.stringContaining('no-push') })
    expect(await typed(next('promote --ring 2'))).toMatch(/ring 2 +the rest +enforces version 1/)
    expect(await typed(next('list'))).toContain('versions: 1 (')

    expect(await typed('carabiner fleet policy diff 1 policy.bundle')).toBe('the same files\n')
    const rollback = next('rollback')
    expect(await type(rollback)).toMatchObject({ code: 1, out: expect.stringContaining('--to none') })
    expect(await typed(`${rollback} --to none`)).toMatch(
      /ring 1 +ann\* +no policy\n.*ring 2 +the rest +no policy/,
    )
    expect(await typed(fetch, 'ann')).toContain('no version is in force')
    expect((await push()).code).toBe(0)
    expect(await type('carabiner fleet policy promote')).toMatchObject({
      code: 1,
      out: expect.stringContaining('rollback --to VERSION'),
    })
    expect(await typed(`${rollback} --to 1`)).toMatch(/ring 1 +ann\* +enforces version 1/)
    await typed(`${rollback} --to none`)
    expect(await typed(next('renew'))).toContain('may rely on the policy until')

    const code = /people add NAME (\S+)/.exec(await typed('carabiner fleet key --out ann.key'))?.[1] ?? ''
    expect(await typed(next('signers add').replace('CODE', code))).toMatch(/ann +policy/)
    expect(await typed(next('sign ').replace('KEY', rootKey))).toContain('signed by ann')
    expect(await typed(next('sign '))).toContain('signed by fleet, ann')
    expect(await typed(next('publish'))).toContain('version 1 is published')
    expect(await typed(next('signers threshold 2'))).toContain('needs 2 signatures')
    expect(await typed(fetch, 'ann')).toContain('version 1 is in force')

    writeFileSync(join(folder, 'policy', 'rules.json'), rules.replace('no-push', 'never-push'))
    await typed(build)
    expect(await type('carabiner fleet policy publish policy.bundle')).toMatchObject({
      code: 1,
      out: expect.stringContaining('2 have to'),
    })
    await typed('carabiner fleet policy signers threshold 1')
    expect(await typed(next('signers remove'))).not.toContain('ann')
    const stolen = `carabiner fleet policy publish policy.bundle --key ann.key --root-key ${rootKey}`
    expect((await type(stolen)).code).toBe(1)
    expect(await typed(fetch, 'ann')).toContain('version 1 is in force')

    expect(await typed(next('rotate'))).toContain('the key of the policy is now')
    expect(await typed(next('renew --key'))).toContain('may rely on the policy until')
    expect(await typed(fetch, 'ann')).toContain('version 1 is in force')
    expect(await type('carabiner fleet policy renew')).toMatchObject({
      code: 1,
      out: expect.stringContaining('belongs to no signer'),
    })
    expect(await type('carabiner fleet token --key new-root.key')).toMatchObject({
      code: 1,
      out: expect.stringContaining('It is the newer key of the policy'),
    })
    await typed('carabiner fleet policy rotate --key new-root.key --out third-root.key')
    await typed('carabiner fleet policy promote --ring 2 --key third-root.key')
    expect(await typed(fetch, 'ann')).toContain('version 1 is in force')
    expect(left).toEqual([])
  }, 300_000)
})
