// `carabiner open` as a process: it serves until a signal comes, and no other command opens a port or loads the page.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { enter, visit } from '../page/visitor.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

/** The program, once it has printed its link. */
async function open(...args: readonly string[]) {
  const child = spawn(process.execPath, [programFile(), 'open', '--json', ...args], {
    cwd: project.folder,
    env: project.env(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  )
  return { child, closed, ...(JSON.parse(line) as { port: number; link: string; origin: string }) }
}

describe('the page', () => {
  it('is served until Ctrl-C, and then its port is free', async () => {
    const { child, closed, port, link } = await open()
    const { base, cookie } = await enter(port, link)
    const reply = await visit(port, { path: base, headers: { Cookie: cookie } })
    expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('<title>Carabiner</title>')])
    child.kill('SIGINT')
    expect(await closed).toBe(0)
    await expect(visit(port, { path: base })).rejects.toThrow('ECONNREFUSED')
  })

  it('gets another port if one is open already, unless it should be this one', async () => {
    const first = await open()
    const second = await open()
    expect(second.port).toBeGreaterThan(first.port)
    const third = await project.carabiner(['open', '--no-browser', '--port', String(first.port)])
    expect([third.code, third.stderr]).toEqual([1, expect.stringContaining('Another program listens on')])
    for (const { child } of [first, second]) child.kill('SIGTERM')
    expect(await Promise.all([first.closed, second.closed])).toEqual([0, 0])
  })
})

describe('every other command', () => {
  it.each([['list'], ['audit'], ['audit', 'verify'], ['doctor'], ['approvals'], ['open', '--help'], []])(
    '%s %s opens no port and does not load what serves the page',
    async (...args) => {
      const found = join(project.base, 'found')
      const probe = join(project.base, 'probe.cjs')
      writeFileSync(
        probe,
        `const { appendFileSync } = require('node:fs')
         const { Server } = require('node:net')
         const { listen } = Server.prototype
         Server.prototype.listen = function (...args) { appendFileSync(${JSON.stringify(found)}, 'listens\\n'); return listen.apply(this, args) }
         process.on('exit', () => appendFileSync(${JSON.stringify(found)}, process.moduleLoadList.includes('NativeModule http') ? 'http\\n' : 'ended\\n'))`,
      )
      const given = args.filter((arg) => arg !== undefined)
      await project.run(process.execPath, ['--require', probe, programFile(), ...given])
      expect(existsSync(found)).toBe(true)
      const said = readFileSync(found, 'utf8').trim().split('\n')
      expect(new Set(given[0] === 'open' ? said.filter((one) => one !== 'http') : said).has('listens')).toBe(
        false,
      )
      if (given[0] !== 'open') expect(said).not.toContain('http')
    },
  )
})
