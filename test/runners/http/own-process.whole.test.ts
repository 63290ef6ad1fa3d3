// HTTP hooks in a process of their own: what it loads, whether it can end, and whom it believes.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { has } from '../../conformance/shell-project.js'
import { certified } from './certificate.js'
import { DENY, Station } from './station.js'

const folder = mkdtempSync(join(tmpdir(), 'carabiner-http-'))
let station: Station

/** Makes the hook, asks it where a URL is given, and writes what came of it without a stream: streams load modules, too. */
const PROGRAM = `
import { writeSync } from 'node:fs'
import { httpHook } from './http-hook.mjs'

const [url, abortMs] = process.argv.slice(2)
const terms = () => ({ allowed_http_urls: null, http_allowed_env_vars: null, allowed_private_hosts: [] })
const hook = { name: 'guard', onFailure: 'continue', detached: false, origin: { scope: 'user', source: 'test' } }
const place = { projectDir: '/nowhere', hooksDir: '/nowhere' }
const handler = { url: url ?? 'http://127.0.0.1:9/' }
const { run } = httpHook({ hook, handler, place }, { report() {} }, terms)
const { signal } = abortMs ? { signal: AbortSignal.timeout(Number(abortMs)) } : new AbortController()
const context = { signal, onAbort: (l) => signal.addEventListener('abort', l), note() {}, printed() {} }
const event = { name: 'PreToolUse', data: {}, session: { id: 's1' } }
const came = url && await run(event, context).catch(({ code, message, hint }) => ({ code, message, hint }))
writeSync(1, JSON.stringify({ came, loaded: process.moduleLoadList }))
`

beforeAll(async () => {
  // Into one file, as the command line is: there imports of modules are pulled to its top.
  const entryPoints = ['src/runners/http/http-hook.ts']
  await build({
    entryPoints,
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(folder, 'http-hook.mjs'),
  })
  writeFileSync(join(folder, 'program.mjs'), PROGRAM)
})

afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(() => {
  station = new Station()
})

afterEach(async () => {
  await station.close()
})

interface Ran {
  readonly came?: {
    readonly action?: string
    readonly code?: string
    readonly message: string
    readonly hint: string
  }
  readonly loaded: readonly string[]
}

/** Returns when the process has ended by itself. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs'), ...args], {
    env: { ...process.env, ...env },
    timeout: 50_000,
  })
  return namesOf(JSON.parse(stdout))
}

async function httpAlone(): Promise<Ran> {
  const code = "import 'node:http'; console.log(JSON.stringify({ loaded: process.moduleLoadList }))"
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  return namesOf(JSON.parse(stdout))
}

const namesOf = (ran: Ran): Ran => ({
  ...ran,
  loaded: ran.loaded.map((line) => line.replace('NativeModule ', '')),
})

const NETWORK = ['http', 'https', 'net', 'tls', 'dns', '_http_client', '_http_agent']
const networkOf = ({ loaded }: Ran) => NETWORK.filter((name) => loaded.includes(name))

describe('a process', () => {
  test('that has such a hook and never asks it loads nothing of the network', async () => {
    expect(networkOf(await run([]))).toEqual([])
  })

  test('that asks it over http loads no encryption, and ends although the connection is kept', async () => {
    const ran = await run([await station.says(DENY)])
    expect(ran.came).toMatchObject({ action: 'deny' })
    expect(networkOf(ran)).toContain('http')
    expect(networkOf(ran)).not.toContain('https')
    // Node 24 loads tls with http.
    if (!networkOf(await httpAlone()).includes('tls')) expect(networkOf(ran)).not.toContain('tls')
  })

  test.for([
    ['never answers', ''],
    ['stops in its answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'],
    ['stops in an answer that does not count', 'HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n{'],
  ])('that gave up a server which %s ends', async ([, text]) => {
    const url = await station.raw((socket) => socket.write(text as string))
    expect((await run([url, '300'])).came?.code).toMatch(/^(?:ABORTED|HOOK_FAILED)$/)
    await station.noneOpen()
  })
})

describe.skipIf(!has('openssl'))('over https', () => {
  async function serving(name: string) {
    const { file, key, cert } = certified(folder, name)
    const port = await station.listen(createServer({ key, cert }, (_, response) => response.end(DENY)))
    return { file, url: `https://localhost:${port}/`, port }
  }

  test('a server whose authority is known is believed, and the process ends', async () => {
    const { file, url } = await serving('localhost')
    expect((await run([url], { NODE_EXTRA_CA_CERTS: file })).came).toMatchObject({ action: 'deny' })
  })

  test.for([{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }])('any other is not, with %j', async (env) => {
    const { url } = await serving('localhost')
    const { came } = await run([url], env)
    expect(came).toMatchObject({ code: 'HOOK_FAILED' })
    expect(came?.message).toMatch(/certificate is not signed by a known authority .*SELF_SIGNED/)
    expect(came?.hint).toContain('NODE_EXTRA_CA_CERTS')
  })

  test('one with the certificate of another is not', async () => {
    const { file, url } = await serving('other.example')
    const { came } = await run([url], { NODE_EXTRA_CA_CERTS: file })
    expect(came?.message).toMatch(/certificate is for another host/)
  })

  test('one that does not speak it is told apart', async () => {
    const url = await station.says(DENY)
    const { came } = await run([url.replace('http:', 'https:')])
    expect(came?.message).toMatch(/the TLS connection failed/)
    expect(came?.hint).toContain('http://')
  })

  test('a hook that does not speak it is told, too', async () => {
    const { port } = await serving('localhost')
    expect(await station.failure(`http://127.0.0.1:${port}/`)).toMatch(/^HOOK_FAILED/)
  })
})
