// Other pages in the same browser, and the button that stops the page.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { fireBash } from './shop.js'
import { withShopPage } from './shop-page.js'

/** Runs in the other page, and answers what came of it. */
const attack = `async (address) => {
  const reading = await fetch(address + 'api/rows', { credentials: 'include' }).then((got) => got.text(), String)
  const form = { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{}' }
  await fetch(address + 'api/stop', form).catch(String)
  const frame = document.createElement('iframe')
  frame.src = address
  const framed = new Promise((resolve) => {
    frame.onload = () => {
      try {
        resolve(frame.contentDocument.body.textContent)
      } catch (error) {
        resolve(String(error))
      }
    }
  })
  document.body.append(frame)
  return [reading, await framed]
}`

describe.skipIf(chromiumFile === undefined)('the page in Chromium', () => {
  const shop = withShopPage({ expected: /net::ERR_/ })

  describe('another page in the same browser', () => {
    let other: Server
    beforeAll(async () => {
      other = createServer((_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>')
      })
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => void other.close())

    it.each(['localhost', 'carabiner.localhost'])(
      'on %s reads nothing, frames nothing and stops nothing',
      async (name) => {
        const { page, tab, project } = shop
        const own = page.url().replace(/#.*/, '')
        const evil = await tab.context.newPage()
        await evil.goto(`http://${name}:${(other.address() as AddressInfo).port}/`)
        const results = await evil.evaluate<readonly string[]>(`(${attack})(${JSON.stringify(own)})`)
        expect(results[0]).toContain('TypeError')
        expect(results[1]).not.toContain('Carabiner')
        await evil.close()
        await shop.show('Live', '#/live')
        await fireBash(project, `ls after ${name.length}`)
        await page.waitForSelector(`text=ls after ${name.length}`)
      },
    )

    it('never gets the cookie, also not on another port of the same name', async () => {
      const cookies: (string | undefined)[] = []
      other.on('request', ({ headers }) => cookies.push(headers.cookie))
      const evil = await shop.tab.context.newPage()
      await evil.goto(`http://carabiner.localhost:${(other.address() as AddressInfo).port}/`)
      await evil.close()
      expect(cookies.length).toBeGreaterThan(0)
      expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([])
    })
  })

  it('stops when somebody says so, and tells', async () => {
    await shop.show('Live', '#/live')
    await shop.page.click('button:text("Stop")')
    expect(await shop.served.ended).toBe('stopped')
    await shop.served.close()
    await shop.page.waitForSelector('.state .lost, .state .ended')
  })
})
