// The page of the shop in a real browser, for the tests of one screen. Each test begins on its own screen.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { readEnrolment, writeApprovers } from '../../src/store/approvers.js'
import { Project, withProgram } from '../cli/program.js'
import { openTab, startChromium, type Tab } from './chromium.js'
import { approversFile, type Served, servePage } from './served-page.js'
import { shopDay, shopHooks } from './shop.js'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Who may put a passkey on the list. */
export const isRoot = process.getuid?.() === 0

/** `expected`: errors of the browser's console that a test of the file causes. */
export function withShopPage({ expected = /^$/ }: { readonly expected?: RegExp } = {}): ShopPage {
  const shop = new ShopPage()
  withProgram()
  beforeAll(() => shop.open())
  afterAll(async () => {
    await shop.close()
    expect(shop.served.problems).toEqual([])
    expect(shop.tab.errors.filter((error) => !expected.test(error))).toEqual([])
  })
  return shop
}

/** Where passkeys of a tab are. */
interface Device {
  readonly devices: CDPSession
  readonly authenticatorId: string
}

export class ShopPage {
  #device: Device | undefined
  project!: Project
  served!: Served
  browser!: Browser
  tab!: Tab

  async open(): Promise<void> {
    this.project = new Project()
    vi.stubEnv('HOME', this.project.home)
    shopHooks(this.project)
    await shopDay(this.project)
    this.served = await servePage(this.project)
    this.browser = await startChromium()
    this.tab = await openTab(this.browser)
    this.page.setDefaultTimeout(15_000)
    await this.page.goto(this.served.link())
    await this.page.waitForSelector('.rows')
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.served.close()
    vi.unstubAllEnvs()
    this.project.remove()
  }

  get page(): Page {
    return this.tab.page
  }

  /** Goes to an address and waits for its screen, which asks the server again. */
  async show(title: string, address: string): Promise<void> {
    const own = this.page.url().replace(/#.*/, '')
    // Elsewhere first: an address that is already shown would not be loaded again.
    await this.page.goto(`${own}#/agents`)
    await this.page.waitForSelector('h1:text("Agents")')
    await this.page.goto(`${own}${address}`)
    await this.page.waitForSelector(`h1:text("${title}")`)
  }

  /** Goes to a screen by its key. */
  async press(title: string): Promise<void> {
    await this.page.locator('h1').click()
    const screens = await this.page.locator('nav li').allTextContents()
    await this.page.keyboard.press(String(screens.findIndex((text) => text.startsWith(title)) + 1))
    await this.page.waitForSelector(`h1:text("${title}")`)
  }

  /** The text of the element that has the focus. */
  focused(): Promise<string> {
    return this.page.evaluate<string>('document.activeElement.textContent')
  }

  /** Puts a passkey of ann on the list of people who may allow. Returns a function that makes ann absent, or present. */
  async enrol(): Promise<(isPresent: boolean) => Promise<void>> {
    const { page } = this
    const device = await this.#deviceOf(page)
    const { devices, authenticatorId } = device
    this.#device = device
    await this.show('Approvals', '#/approvals')
    await page.fill('[placeholder="Your name"]', 'ann')
    await page.keyboard.press('Enter')
    const command = await page.textContent('.passkeys .typed code')
    const [, code = ''] = /^sudo carabiner approvers add ([\w-]+)$/.exec(command ?? '') ?? []
    writeApprovers([readEnrolment(code)], approversFile(this.project))
    await page.waitForSelector('text=ann may allow, one call at a time.')
    return async (isUserVerified) => {
      await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    }
  }

  /** Every tab of a person has their passkeys. Call it after enrol. */
  async givePasskey(other: Page): Promise<void> {
    if (!this.#device) throw new Error('nobody has a passkey yet')
    const { devices, authenticatorId } = this.#device
    const { credentials } = await devices.send('WebAuthn.getCredentials', { authenticatorId })
    const theirs = await this.#deviceOf(other)
    for (const credential of credentials)
      await theirs.devices.send('WebAuthn.addCredential', {
        authenticatorId: theirs.authenticatorId,
        credential,
      })
  }

  /** A new device that verifies its person. */
  async #deviceOf(page: Page): Promise<Device> {
    const devices = await this.tab.context.newCDPSession(page)
    await devices.send('WebAuthn.enable')
    const kind = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const
    const person = { hasUserVerification: true, isUserVerified: true }
    const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...kind, ...person },
    })
    return { devices, authenticatorId }
  }

  /** What axe finds wrong, and what is wider than the window; light and dark, wide and narrow. */
  async faults(): Promise<readonly string[]> {
    const { page } = this
    const found: string[] = []
    for (const colorScheme of ['dark', 'light'] as const)
      for (const width of [1440, 1100, 380]) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.setViewportSize({ width, height: 860 })
        // A context of its own, where the policy of the page does not apply.
        const violations = await page.evaluate(`${AXE}; axe.run().then(({ violations }) => violations)`)
        for (const { id, nodes } of violations as { id: string; nodes: { html: string }[] }[])
          found.push(`${colorScheme} ${width} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        const wide = await page.evaluate<readonly string[]>(WIDER)
        if (wide.length > 0) found.push(`${colorScheme} ${width}: wider than the window: ${wide.join(' ')}`)
      }
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 1280, height: 860 })
    return found
  }
}

const WIDER = `document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))
  : []`
