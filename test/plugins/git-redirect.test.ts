// Repositories on a server that redirects: we follow and check each redirect, and git never follows by itself.

import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { fetchTree } from '../../src/plugins/sources/fetch-source.js'
import { withHome } from './plugin-sources.js'

vi.mock('node:dns/promises', () => ({ lookup: vi.fn() }))
const bench = withHome()
const env = { ...process.env }

let server: Server
let origin = ''
let commit = ''
/** The requested paths, without the part that git adds. */
let asked: string[] = []
/** Redirects by the beginning of a path. */
let leads: Readonly<Record<string, string>> = {}

beforeAll(async () => {
  commit = bench.repository(bench.plugin('guard'))
  server = createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})
beforeEach(() => {
  asked = []
  leads = {}
  for (const key of ['http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY', 'all_proxy', 'ALL_PROXY'])
    vi.stubEnv(key, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

/** git's own server, behind the redirects. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', origin)
  asked.push(`${request.method} ${url.host} ${url.pathname}`)
  const from = Object.keys(leads).find((one) => url.pathname.startsWith(`${one}/`))
  if (from !== undefined) {
    const location = `${leads[from]}${url.pathname.slice(from.length)}${url.search}`
    response.writeHead(301, { location }).end()
    return
  }
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: env.PATH, HOME: bench.home, GIT_PROJECT_ROOT: bench.base, GIT_HTTP_EXPORT_ALL: '1' },
      ...{ REQUEST_METHOD: request.method, PATH_INFO: url.pathname, QUERY_STRING: url.search.slice(1) },
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => undefined)
  request.pipe(child.stdin)
  const out: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.once('close', () => {
    const all = Buffer.concat(out)
    const end = all.indexOf('\r\n\r\n')
    const lines = all.toString('latin1', 0, end).split('\r\n')
    const headers = lines.map((line) => line.split(': ') as [string, string])
    const status = headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? '200'
    response.writeHead(Number(status), Object.fromEntries(headers)).end(all.subarray(end + 4))
  })
}

const fetched = (path: string, at = origin) => fetchTree({ kind: 'git', url: `${at}${path}` })

describe('a repository that has moved', () => {
  it('is fetched from where it is now', async () => {
    leads = { '/old': '/older', '/older': `${origin}/guard/.git` }
    const { tree, commit: got } = await fetched('/old')
    expect([got, tree.top()]).toEqual([commit, ['.claude-plugin', 'guard.sh', 'hooks']])
  })

  it('again and again is not followed forever', async () => {
    leads = { '/a': '/b', '/b': '/a' }
    await expect(fetched('/a')).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: `${origin}/a redirects too many times`,
    })
  })

  it.each([
    ['to another protocol', 'ftp://example.com/x', 'redirects to ftp://example.com, which is not http'],
    ['to no address', 'http://[', 'which is not a valid address'],
    ['to what is no repository', '/login?from=', 'which is not a git repository'],
  ])('%s is told', async (_, location, said) => {
    leads = { '/old': location }
    await expect(fetched('/old')).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringContaining(said),
    })
  })
})

describe('a public address that leads into this network', () => {
  /** git and our own requests reach every host name through our server. */
  beforeEach(() => {
    vi.stubEnv('http_proxy', origin)
    vi.mocked(lookup).mockImplementation((async (host: string) => {
      const address = host === 'inside.example' ? '192.168.0.1' : '93.184.216.34'
      return [{ address, family: 4 }]
    }) as never)
    const real = fetch
    vi.stubGlobal('fetch', (url: URL, init: RequestInit) =>
      real(`${origin}${url.pathname}${url.search}`, init),
    )
  })

  it('is fetched if it does not redirect', async () => {
    expect((await fetched('/guard/.git', 'http://public.example')).commit).toBe(commit)
    expect(asked[0]).toBe('GET public.example /guard/.git/info/refs')
  })

  it.each(['10.0.0.1', 'inside.example', 'localhost'])('%s is not asked for anything', async (host) => {
    leads = { '/old': `http://${host}/guard/.git` }
    await expect(fetched('/old', 'http://public.example')).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringMatching(`^http://public.example/old redirects to ${host}, .+`),
    })
    expect(asked.filter((one) => !one.includes('/old/'))).toEqual([])
  })
})
