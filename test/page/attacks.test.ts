// Everything that another site, another program or another user on the machine can send to the page.

import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listen, PortTaken } from '../../src/page/listener.js'
import { Project, withProgram } from '../cli/program.js'
import { type Served, servePage } from './served-page.js'
import { enter, exchange, replyIn, type Sent, visit } from './visitor.js'

withProgram()

let project: Project
let served: Served
let base: string
let cookie: string
beforeAll(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  served = await servePage(project)
  ;({ base, cookie } = await enter(served.port, served.link()))
})
afterAll(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
})

const send = (sent: Partial<Sent>, headers: Readonly<Record<string, string>> = {}) =>
  visit(served.port, { path: `${base}api/rows`, ...sent, headers: { Cookie: cookie, ...headers } })
const own = () => ({ Origin: served.origin, 'Content-Type': 'application/json' })

describe('the own page', () => {
  it('gets its rows', async () => {
    const { status, headers, body } = await send({}, { 'Sec-Fetch-Site': 'same-origin' })
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(body).toContain('"rows":[]')
  })

  it('answers on both loopback addresses, and nowhere else', async () => {
    const request = `GET / HTTP/1.1\r\nHost: carabiner.localhost:${served.port}\r\nConnection: close\r\n\r\n`
    expect(replyIn(await exchange(served.port, request, '127.0.0.1')).status).toBe(401)
    const six: string = await exchange(served.port, request, '::1').catch((error) => error.code)
    // Only a machine without IPv6 has nobody there.
    const isMissing = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(six)
    expect(isMissing ? 401 : replyIn(six).status).toBe(401)
    const other = await exchange(served.port, request, '127.0.0.2').catch((error) => error.code)
    expect(other).toBe('ECONNREFUSED')
  })

  it('forbids inline code, frames and other hosts on every answer', async () => {
    for (const path of [base, `${base}main.js`, `${base}api/rows`, `${base}nothing`, '/']) {
      const { headers } = await send({ path })
      expect(headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'")
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe('a link', () => {
  it('works once', async () => {
    const { pathname, search } = new URL(served.link())
    const path = `${pathname}${search}`
    expect(await visit(served.port, { path })).toMatchObject({ status: 200 })
    expect(await visit(served.port, { path })).toMatchObject({
      status: 403,
      body: expect.stringContaining('used already'),
    })
  })

  it('gives a cookie that no script reads, no other site causes to be sent, and no other path gets', async () => {
    const { pathname, search } = new URL(served.link())
    const { headers } = await visit(served.port, { path: `${pathname}${search}` })
    expect(headers['set-cookie']).toMatch(
      /^carabiner-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/[\w-]{12}\/$/,
    )
  })

  it('is not used up by what looks ahead, nor by a frame or an image', async () => {
    const { pathname, search } = new URL(served.link())
    const path = `${pathname}${search}`
    const ahead: readonly Readonly<Record<string, string>>[] = [
      { 'Sec-Purpose': 'prefetch' },
      { 'Sec-Purpose': 'prefetch;prerender' },
      { Purpose: 'preview' },
      { 'X-Moz': 'prefetch' },
      { 'Sec-Fetch-Dest': 'iframe' },
      { 'Sec-Fetch-Dest': 'image' },
    ]
    for (const headers of ahead)
      expect(await visit(served.port, { path, headers })).toMatchObject({ status: 403 })
    expect(await visit(served.port, { path, method: 'POST' })).toMatchObject({ status: 405 })
    expect(await visit(served.port, { path })).toMatchObject({ status: 200 })
  })

  it('ends the link before it, and cannot be guessed', async () => {
    const { pathname, search } = new URL(served.link())
    served.link()
    expect(await visit(served.port, { path: `${pathname}${search}` })).toMatchObject({ status: 403 })
    for (const path of ['/open', '/open?t=', '/open?t=undefined', `/open?t=${'A'.repeat(43)}`])
      expect(await visit(served.port, { path })).toMatchObject({ status: 403 })
  })
})

describe('refused', () => {
  const names = (port: number) => [
    'evil.example',
    `evil.example:${port}`,
    'carabiner.localhost',
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `[::1]:${port}`,
    `carabiner.localhost.:${port}`,
    `carabiner.localhost:${port}.evil.example`,
    '',
  ]
  it('another name in Host, as after DNS rebinding', async () => {
    for (const host of names(served.port)) expect([host, (await send({ host })).status]).toEqual([host, 421])
  })

  it('two names in Host', async () => {
    const name = `carabiner.localhost:${served.port}`
    const bytes = `GET ${base}api/rows HTTP/1.1\r\nHost: ${name}\r\nHost: evil.example\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`
    expect(replyIn(await exchange(served.port, bytes)).status).toBe(421)
  })

  it('no cookie, a wrong one, and one of another port, as for another user on the machine', async () => {
    const value = cookie.split('=')[1] ?? ''
    for (const given of [
      '',
      'carabiner=1',
      `carabiner-${served.port}=`,
      `carabiner-${served.port}=${'A'.repeat(43)}`,
      `carabiner-${served.port + 1}=${value}`,
      `x-${cookie}`,
    ])
      for (const path of [
        base,
        `${base}api/rows`,
        `${base}api/stream`,
        `${base}main.js`,
        '/',
        '/favicon.ico',
      ])
        expect([given, path, (await send({ path }, { Cookie: given })).status]).toEqual([given, path, 401])
  })

  it('the cookie with another path', async () => {
    for (const path of ['/api/rows', '/x/api/rows', base.slice(0, -1), `${base}../api/rows`])
      expect([path, (await send({ path })).status]).toEqual([path, 401])
  })

  it('what another site causes, even with the cookie', async () => {
    for (const site of ['cross-site', 'same-site', 'none, cross-site'])
      for (const path of [base, `${base}api/rows`, `${base}api/stream`])
        expect([site, path, (await send({ path }, { 'Sec-Fetch-Site': site })).status]).toEqual([
          site,
          path,
          403,
        ])
  })

  it('another origin, also for reading', async () => {
    for (const Origin of [
      'http://evil.example',
      'null',
      `http://localhost:${served.port}`,
      `https://carabiner.localhost:${served.port}`,
      'http://carabiner.localhost:7811',
    ])
      for (const method of ['GET', 'POST'])
        expect([Origin, (await send({ method }, { ...own(), Origin })).status]).toEqual([Origin, 403])
  })

  it('a form: no origin, or a type that forms can send', async () => {
    const post = { method: 'POST', path: `${base}api/stop`, body: '{}' }
    expect(await send(post, { 'Content-Type': 'application/json' })).toMatchObject({ status: 403 })
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json; x',
      '',
    ])
      expect(await send(post, { ...own(), 'Content-Type': type })).toMatchObject({ status: 403 })
  })

  it('other methods, upgrades and addresses of proxies', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE'])
      expect([method, (await send({ method }, own())).status]).toEqual([method, 405])
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }
    expect(await send({}, { ...upgrade, Connection: 'Upgrade, close' })).toMatchObject({ status: 400 })
    for (const path of [`http://evil.example${base}api/rows`, `//evil.example${base}`, '*'])
      expect([path, (await send({ path })).status]).toEqual([path, 400])
    expect(replyIn(await exchange(served.port, 'CONNECT evil.example:443 HTTP/1.1\r\n\r\n')).status).not.toBe(
      200,
    )
    expect(replyIn(await exchange(served.port, 'nonsense\r\n\r\n')).status).toBe(400)
  })

  it('a path to a file', async () => {
    for (const path of [
      '../carabiner.js',
      '..%2fcarabiner.js',
      'api/../../carabiner.js',
      '%00',
      'constructor',
      'api/constructor',
      '__proto__',
    ])
      expect([404, 401]).toContain((await send({ path: `${base}${path}` })).status)
  })

  it('a body that is too long, or no JSON', async () => {
    const post = { method: 'POST', path: `${base}api/stop` }
    expect(await send({ ...post, body: `"${'x'.repeat(70_000)}"` }, own())).toMatchObject({ status: 413 })
    expect(await send({ ...post, body: '{' }, own())).toMatchObject({ status: 400 })
    expect(await send({}, own())).toMatchObject({ status: 200 })
  })

  it('headers that are too long', async () => {
    expect((await send({}, { 'X-Long': 'x'.repeat(40_000) })).status).toBe(400)
  })
})

describe('the port', () => {
  it('is refused if another program has it, on either address', async () => {
    for (const host of ['127.0.0.1', '::1']) {
      const other = createServer()
      const port = await new Promise<number | undefined>((resolve) => {
        other.once('error', () => resolve(undefined))
        other.listen({ host, port: 0 }, () => resolve((other.address() as { port: number }).port))
      })
      if (port === undefined) continue
      await expect(listen(port, () => undefined)).rejects.toThrow(PortTaken)
      await new Promise((resolve) => other.close(resolve))
      const own = await listen(port, () => undefined)
      expect(own.port).toBe(port)
      await own.close()
    }
  })
})
