// "Try it in ten minutes" of docs/use/fleet.md, typed line by line with the real program, and nothing else.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { hasPostgres, Postgres } from './postgres.js'

const PAGE = readFileSync(new URL('../../docs/use/fleet.md', import.meta.url), 'utf8')
const SECTION = /^## Try it in ten minutes\n([\s\S]*?)^## /m.exec(PAGE)?.[1] ?? ''
const blocks = (kind: string) =>
  [...SECTION.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, one = '']) => one)

const isOwnServer = process.env.CARABINER_TEST_PG === undefined
if (!isOwnServer)
  console.warn('SKIPPED: the first walk of docs/use/fleet.md, which creates a database of its own')

describe.runIf(hasPostgres && isOwnServer)('ten minutes with a fleet', () => {
  let server: Postgres
  let folder: string
  let env: NodeJS.ProcessEnv
  const running: ReturnType<typeof spawn>[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-ten-minutes-'))
    const program = join(inject('programBundle').withPackages, 'carabiner.js')
    writeFileSync(join(folder, 'carabiner'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
    chmodSync(join(folder, 'carabiner'), 0o755)
    server = await Postgres.start()
    const place = { PGHOST: server.socketFolder, PGPORT: String(server.port), PGUSER: 'owner' }
    const { PATH = '' } = process.env
    env = { PATH: `${folder}:${PATH}`, HOME: folder, NO_COLOR: '1', CARABINER_SERVICE: 'off', ...place }
  }, 60_000)
  afterAll(async () => {
    for (const child of running) {
      if (child.exitCode !== null) continue
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    server?.stop()
    // What ships after an event may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })

  /** A terminal: where it is and what it exported stays. */
  function terminal(replaced: (line: string) => string) {
    const before: string[] = []
    const start = (line: string) => {
      const child = spawn('bash', ['-c', [...before, line].join('\n')], { cwd: folder, env })
      child.stdin.end()
      return child
    }
    return {
      start: (line: string) => start(`exec ${replaced(line)}`),
      type: async (line: string): Promise<{ readonly code: number; readonly out: string }> => {
        if (/^(?:cd|export|mkdir) /.test(line)) {
          before.push(replaced(line))
          return { code: 0, out: '' }
        }
        const child = start(`exec 2>&1\n${replaced(line)}`)
        let out = ''
        child.stdout.setEncoding('utf8').on('data', (part: string) => {
          out += part
        })
        const [code] = await once(child, 'close')
        return { code: Number(code), out }
      },
    }
  }

  it('ends with an approval that was used once and a verified audit', async () => {
    const [prepare = '', people = '', join_ = '', call = '', prove = ''] = blocks('console')
    const lines = (block: string) => block.trim().split('\n')
    let port = '0'
    const names = new Map([['/var/run/postgresql', `${server.socketFolder}&port=${server.port}&user=owner`]])
    const replaced = (line: string) =>
      [...names].reduce((text, [name, value]) => text.replaceAll(name, value), line)
    const done = async (given: { readonly code: number; readonly out: string }, wanted = 0) => {
      expect(given, given.out).toMatchObject({ code: wanted })
      return given.out
    }

    const first = terminal(replaced)
    let told = ''
    for (const line of lines(prepare).slice(0, -1)) told += await done(await first.type(line))
    const serve = lines(prepare).at(-1) ?? ''
    expect(serve).toBe('carabiner fleet serve')
    const gateway = first.start(`${serve} --port 0`)
    running.push(gateway)
    const [said] = await once(gateway.stdout as NodeJS.ReadableStream, 'data')
    port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(String(said))?.[1] ?? ''
    expect(port, String(said)).not.toBe('')
    names.set('127.0.0.1:8443', `127.0.0.1:${port}`)
    names.set('root-key KEY', `root-key ${/public key of the fleet: (\S+)/.exec(told)?.[1]}`)

    const second = terminal(replaced)
    const [enter = '', choose = '', makeKey = '', add = ''] = lines(people)
    for (const line of [enter, choose]) await done(await second.type(line))
    names.set('CODE', /people add NAME (\S+)/.exec(await done(await second.type(makeKey)))?.[1] ?? '')
    names.set('NAME', 'me')
    expect(await done(await second.type(add))).toContain('me is on the list as approver')
    for (const line of lines(join_))
      expect(await done(await second.type(line))).toContain('may allow its calls, signed: me')

    const [rules = ''] = blocks('json')
    writeFileSync(join(folder, 'try', 'one', '.amplifier', 'rules.json'), rules)
    const [write = '', fire = '', list = '', answer = ''] = lines(call)
    await done(await second.type(write))
    const refused = await done(await second.type(fire), 3)
    expect(refused).toContain('A person of the fleet must approve this')
    let id: string | undefined
    // A process of its own sends the question.
    await expect
      .poll(
        async () => {
          id = /^(\w{4}-\w{4}) /m.exec((await second.type(list)).out)?.[1]
          return id
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBeDefined()
    names.set('answer ID', `answer ${id} --yes`)
    await done(await second.type(answer))
    await expect.poll(async () => (await second.type(fire)).code, { timeout: 60_000, interval: 200 }).toBe(0)
    expect((await second.type(fire)).code).toBe(3)

    const out: string[] = []
    for (const line of lines(prove)) out.push(await done(await second.type(line)))
    expect(out[3]).toMatch(/one .*Bash/)
    expect(out[3]).toMatch(/two .*Bash/)
    expect(out.at(-1)).toContain('whole: ')
  }, 300_000)
})
