// Another user of the same machine: sees that a port is open, and nothing else.

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startBrowser } from '../../src/cli/open/browser.js'
import { Project, withProgram } from '../cli/program.js'
import { type Served, servePage } from './served-page.js'
import { shopDay, shopHooks } from './shop.js'
import { enter } from './visitor.js'

withProgram()

/** The user nobody, on every Linux and macOS. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('SKIPPED: what a second user of the machine can do, which only root can try')

/** Sends a request as written and prints what comes back, with the file of it as standard input. */
const CALLER = `
import socket, sys
port, request = int(sys.argv[1]), sys.stdin.buffer.read()
with socket.create_connection(('127.0.0.1', port), 10) as link:
    link.sendall(request)
    while True:
        part = link.recv(65536)
        if not part:
            break
        sys.stdout.buffer.write(part)
`

/** Begins more requests than the server has connections, ends none of them, and says when all are open. */
const HOLDER = `
import socket, sys, time
links = []
for _ in range(200):
    link = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10)
    link.sendall(b'GET / HTTP/1.1\\r\\nHost: ')
    links.append(link)
print('held', flush=True)
time.sleep(600)
`

describe.runIf(isRoot)('a second user of the machine', () => {
  let project: Project
  let served: Served
  beforeEach(async () => {
    project = new Project()
    // Others may look into this folder, as they may into /home. What is in it protects itself.
    for (const folder of [project.base, project.folder, project.home]) chmodSync(folder, 0o755)
    vi.stubEnv('HOME', project.home)
    shopHooks(project)
    await shopDay(project)
    served = await servePage(project)
  })
  afterEach(async () => {
    await served.close()
    vi.unstubAllEnvs()
    project.remove()
  })

  const asNobody = (program: string, args: readonly string[]) =>
    spawnSync(program, args, { uid: NOBODY, gid: NOBODY, encoding: 'utf8', cwd: '/' })

  /** Without blocking this process, which serves the page. */
  const call = (request: string) =>
    new Promise<string>((resolve, reject) => {
      const child = spawn('/usr/bin/python3', ['-c', CALLER, String(served.port)], {
        uid: NOBODY,
        gid: NOBODY,
        cwd: '/',
      })
      let text = ''
      child.stdout.on('data', (part) => {
        text += part
      })
      child.on('error', reject)
      child.on('close', () => resolve(text))
      child.stdin.end(request)
    })

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const lines = Object.entries({
      Host: `carabiner.localhost:${served.port}`,
      Connection: 'close',
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`)
    return call(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  }

  /** Without what differs between any two answers. */
  const told = (reply: string) => reply.replace(/^date: .*$/im, '')

  it('reads no file of Carabiner: records, calls, questions, keys', () => {
    const own = join(project.home, '.local')
    const files = readdirSync(own, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isSocket())
      .map((entry) => join(entry.parentPath, entry.name))
    expect(files.length).toBeGreaterThan(5)
    const open = project.file('open.txt', 'anybody may read this', 0o644)
    expect(asNobody('/bin/cat', [open]).stdout).toBe('anybody may read this')
    const read = files.filter((file) => asNobody('/bin/cat', [file]).status === 0)
    expect(read).toEqual([])
  })

  it('does not read the file that leads the browser to the link, nor its folder, nor the link among the arguments', () => {
    const bin = join(project.base, 'bin')
    mkdirSync(bin)
    const seen = join(project.base, 'seen')
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$1" > ${JSON.stringify(seen)}\n`, {
      mode: 0o755,
    })
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
    const link = served.link()
    const remove = startBrowser(link, { port: served.port, project: project.folder })
    const folder = join(project.home, '.local/state/carabiner/page')
    const [name = ''] = readdirSync(folder)
    const file = join(folder, name)
    expect(statSync(folder).mode & 0o077).toBe(0)
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(asNobody('/bin/cat', [file]).status).not.toBe(0)
    expect(asNobody('/bin/ls', [folder]).status).not.toBe(0)
    expect(file).not.toContain(new URL(link).searchParams.get('t'))
    remove?.()
  })

  it('gets the same refusal for every address, whether something is there or not', async () => {
    const { base } = await enter(served.port, served.link())
    const paths = [
      '/',
      base,
      `${base}api/rows`,
      `${base}main.js`,
      `${base}nothing`,
      '/nothing',
      '/favicon.ico',
    ]
    const replies = await Promise.all(paths.map((path) => get(path)))
    expect(new Set(replies.map(told)).size).toBe(1)
    expect(replies[0]).toMatch(/^HTTP\/1\.1 401 /)
    for (const reply of replies) {
      expect(reply).not.toMatch(/set-cookie/i)
      expect(reply).not.toContain('deploy')
      expect(reply).not.toContain(project.folder)
      expect(reply).not.toContain(base)
    }
  })

  it('learns nothing from guesses: of the link, of the cookie, of its length', async () => {
    const { base, cookie } = await enter(served.port, served.link())
    const [name = '', value = ''] = cookie.split('=')
    const guesses = ['', 'a', value.slice(0, -1), `${value}a`, 'a'.repeat(value.length), value.slice(1)]
    const byCookie = await Promise.all(
      guesses.map((guess) => get(`${base}api/rows`, { Cookie: `${name}=${guess}` })),
    )
    expect(new Set(byCookie.map(told)).size).toBe(1)
    expect(byCookie[0]).toMatch(/^HTTP\/1\.1 401 /)
    const token = new URL(served.link()).searchParams.get('t') ?? ''
    const links = ['', 'a', token.slice(0, -1), `${token}a`, 'a'.repeat(token.length)]
    const byLink = await Promise.all(links.map((guess) => get(`/open?t=${guess}`)))
    expect(new Set(byLink.map(told)).size).toBe(1)
    expect(byLink[0]).toMatch(/^HTTP\/1\.1 403 /)
    // Wrong guesses do not use the link up.
    expect(await get(`/open?t=${token}`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('does not keep the person from the page by holding connections', async () => {
    const { base, cookie } = await enter(served.port, served.link())
    const holder = spawn('/usr/bin/python3', ['-c', HOLDER, String(served.port)], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
    })
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    const reply = await get(`${base}api/about`, { Cookie: cookie })
    expect(reply).toMatch(/^HTTP\/1\.1 200 /)
    holder.kill()
  })
})
