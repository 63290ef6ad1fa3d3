// Tabs of the page in a real browser that are hidden, refused or lost, and the end of the page.

import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Project, programFile, withProgram } from '../cli/program.js'
import { chromiumFile, openTab, startChromium, type Tab } from './chromium.js'
import { type Served, servePage } from './served-page.js'
import { fireBash, shopHooks } from './shop.js'

withProgram()

describe.skipIf(chromiumFile === undefined)('a tab', () => {
  let project: Project
  let served: Served
  let browser: Browser
  let tab: Tab
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    project = new Project()
    vi.stubEnv('HOME', project.home)
    shopHooks(project)
    await fireBash(project, 'ls first')
    served = await servePage(project)
    tab = await openTab(browser)
    await tab.page.goto(served.link())
    await listening(tab.page)
  })
  afterEach(async () => {
    await tab.context.close()
    await served.close()
    vi.unstubAllEnvs()
    project.remove()
  })

  const listening = (page: Page) => page.waitForSelector('.state .listening')
  const another = async () => {
    const page = await tab.context.newPage()
    await page.goto(tab.page.url())
    await listening(page)
    return page
  }
  /** As if the person looked at another tab, or came back. */
  const become = (page: Page, state: 'hidden' | 'visible') =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => ${JSON.stringify(state)} })
      document.dispatchEvent(new Event('visibilitychange'))
    `)

  it('that nobody sees has no stream, and goes on where it was once it is seen', async () => {
    const ended = tab.page.waitForEvent('requestfailed', (one) => one.url().includes('api/stream'))
    await become(tab.page, 'hidden')
    await ended
    await fireBash(project, 'ls unseen')
    const begun = tab.page.waitForEvent('request', (one) => one.url().includes('api/stream'))
    await become(tab.page, 'visible')
    expect(new URL((await begun).url()).searchParams.get('after')).toBe('2')
    await tab.page.waitForSelector('text=ls unseen')
    await fireBash(project, 'ls seen again')
    await tab.page.waitForSelector('text=ls seen again')
    expect(await tab.page.locator('.row .head').count()).toBe(3)
  })

  it('works however many others are open behind it', async () => {
    for (let i = 0; i < 8; i++) await become(await another(), 'hidden')
    const last = await another()
    await fireBash(project, 'ls for the last')
    await last.waitForSelector('text=ls for the last')
  })

  it('of which there are too many says so, and goes on once another is closed', async () => {
    const streams: AbortController[] = []
    const cookies = await tab.context.cookies(tab.page.url())
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const address = new URL('api/stream', tab.page.url()).href.replace('carabiner.localhost', '127.0.0.1')
    await become(tab.page, 'hidden')
    for (let i = 0; i < 16; i++) {
      const stream = new AbortController()
      streams.push(stream)
      await visitStream(address, { cookie, host: new URL(tab.page.url()).host }, stream.signal)
    }
    await become(tab.page, 'visible')
    await tab.page.waitForSelector('text=too many tabs of this page are open')
    for (const stream of streams) stream.abort()
    await listening(tab.page)
    await tab.page.waitForSelector('text=too many tabs', { state: 'detached' })
  })

  /** Whoever takes the port after the page, and every path that it is asked for. */
  async function successor(port: number): Promise<{ readonly asked: string[]; readonly server: Server }> {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return { asked, server }
  }

  it('ends for good when somebody stops the page in another one, and asks the port nothing more', async () => {
    const other = await another()
    const { port } = served
    await other.click('button:text("Stop")')
    expect(await served.ended).toBe('stopped')
    await served.close()
    for (const page of [tab.page, other]) {
      await page.waitForSelector('.state .ended')
      await page.waitForSelector('.banner:has-text("Type carabiner open")')
    }
    const { asked, server } = await successor(port)
    for (const page of [tab.page, other]) {
      await page.clock.install()
      for (const key of ['a', '3', '5', '6', '1']) await page.keyboard.press(key)
      await become(page, 'hidden')
      await become(page, 'visible')
      await page.clock.runFor(120_000)
      expect(await page.textContent('.state p')).toContain('ended')
    }
    expect(asked).toEqual([])
    await new Promise((resolve) => server.close(resolve))
  })

  it('ends for good when nobody answers any more', async () => {
    const child = spawn(process.execPath, [programFile(), 'open', '--json'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const line = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data) => resolve(String(data))),
    )
    const { port, link } = JSON.parse(line) as { port: number; link: string }
    const { page } = tab
    await page.goto(link)
    await listening(page)
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await gone
    await page.waitForSelector('.state .lost')
    await page.waitForSelector('.state .ended', { timeout: 30_000 })
    const { asked, server } = await successor(port)
    await become(page, 'hidden')
    await become(page, 'visible')
    expect(await page.textContent('.state p')).toContain('ended')
    expect(asked).toEqual([])
    await new Promise((resolve) => server.close(resolve))
  })
})

/** Opens a stream and leaves it open until the signal aborts. */
async function visitStream(
  address: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const { request } = await import('node:http')
  await new Promise<void>((resolve, reject) => {
    const sent = request(address, { headers, signal }, (response) => {
      response.on('error', () => undefined)
      response.once('data', () => resolve())
    })
    sent.on('error', reject)
    sent.end()
  })
}
