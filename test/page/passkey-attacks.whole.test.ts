// A fake page in a real browser, and a program with the cookie: neither turns a passkey into another allow than its person gave.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { pageQueue } from './served-page.js'
import { fireBash } from './shop.js'
import { isRoot, withShopPage } from './shop-page.js'
import { type Ask, tabOf } from './visitor.js'

/** Runs in a page, and returns what the page of Carabiner would send. */
const SIGN = `async ({ challenge, nonce, passkeys, host }) => {
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  const { id, response } = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(challenge),
      rpId: host,
      allowCredentials: passkeys.map((one) => ({ type: 'public-key', id: bytes(one) })),
      userVerification: 'required',
    },
  })
  return {
    nonce,
    passkey: id,
    authenticatorData: text(response.authenticatorData),
    clientDataJSON: text(response.clientDataJSON),
    signature: text(response.signature),
  }
}`

describe.skipIf(chromiumFile === undefined || !isRoot)('a passkey', () => {
  const shop = withShopPage({ expected: /net::ERR_FAILED/ })
  let fake: Server
  /** A program that has the cookie. */
  let attacker: Ask
  beforeAll(async () => {
    await shop.enrol()
    attacker = await tabOf(shop.served)
    fake = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Carabiner</title>')
    })
    await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void fake.close())

  const statusOf = async (id: string) => pageQueue(shop.project).get(id).status

  /** A new question. Returns its id. */
  async function asked(command: string): Promise<string> {
    const before = new Set(
      pageQueue(shop.project)
        .open()
        .map(({ id }) => id),
    )
    await fireBash(shop.project, command)
    const found = pageQueue(shop.project)
      .open()
      .find(({ id }) => !before.has(id))
    if (!found) throw new Error(`nobody asks about ${command}`)
    return found.id
  }

  async function signedOn(name: string, challenge: object): Promise<object> {
    const tab = await shop.tab.context.newPage()
    try {
      await tab.goto(`http://${name}:${(fake.address() as AddressInfo).port}/`)
      await shop.givePasskey(tab)
      return await tab.evaluate<object>(`(${SIGN})(${JSON.stringify(challenge)})`)
    } finally {
      await tab.close()
    }
  }

  /** What ann signs on the real page about this call. It never arrives. */
  async function heldBack(command: string): Promise<{ readonly nonce: string }> {
    const { page } = shop
    await shop.show('Approvals', '#/approvals')
    let body: string | null = null
    await page.route('**/api/allow', async (route) => {
      body = route.request().postData()
      await route.abort()
    })
    const card = page.locator(`.card:has-text("${command}")`)
    await card.locator('text=Allow once with a passkey').click()
    await card.locator('.answer .bad').waitFor()
    await page.unroute('**/api/allow')
    return JSON.parse(body ?? '') as { nonce: string }
  }

  it('that signs on a fake page of the same name, on another port, allows nothing', async () => {
    const id = await asked('deploy one')
    const { answer } = await attacker('POST', 'api/challenge', { id })
    const signature = await signedOn('carabiner.localhost', answer)
    expect(await attacker('POST', 'api/allow', { id, ...signature })).toMatchObject({
      status: 403,
      answer: { problem: expect.stringContaining('it was signed on another page') },
    })
    expect(await statusOf(id)).toBe('open')
  })

  it('does not sign on a fake page of another name', async () => {
    const id = await asked('deploy two')
    const { answer } = await attacker('POST', 'api/challenge', { id })
    await expect(signedOn('localhost', answer)).rejects.toThrow('SecurityError')
  })

  it('allows once: the same signature counts neither again nor for the same call later', async () => {
    const id = await asked('deploy three')
    const held = await heldBack('deploy three')
    expect(await attacker('POST', 'api/allow', held)).toMatchObject({ status: 200, answer: { by: 'ann' } })
    expect(await statusOf(id)).toBe('answered')
    await fireBash(shop.project, 'deploy three')
    expect(await statusOf(id)).toBe('used')
    const next = await asked('deploy three')
    for (const more of [{}, { id: next }])
      expect((await attacker('POST', 'api/allow', { ...held, ...more })).status).toBeGreaterThanOrEqual(400)
    const fresh = (await attacker('POST', 'api/challenge', { id: next })).answer as { nonce: string }
    expect(await attacker('POST', 'api/allow', { ...held, nonce: fresh.nonce })).toMatchObject({
      status: 403,
    })
    expect(await statusOf(next)).toBe('open')
  })

  it('allows the call that it signed, whatever card or id it is sent with', async () => {
    const [shown, swapped] = [await asked('deploy four'), await asked('deploy five')]
    const other = (await attacker('POST', 'api/challenge', { id: swapped })).answer as { nonce: string }
    const held = await heldBack('deploy four')
    const mixed = { ...held, id: swapped, nonce: other.nonce }
    expect(await attacker('POST', 'api/allow', mixed)).toMatchObject({ status: 403 })
    expect([await statusOf(shown), await statusOf(swapped)]).toEqual(['open', 'open'])
    expect(await attacker('POST', 'api/allow', { ...held, id: swapped })).toMatchObject({ status: 200 })
    expect([await statusOf(shown), await statusOf(swapped)]).toEqual(['answered', 'open'])
  })
})
