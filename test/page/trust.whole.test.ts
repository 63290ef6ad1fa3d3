// Trust in a real browser: what waits, what changed since it was trusted, and trusting exactly that.

import { symlinkSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { isRoot, withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('Trust', () => {
  // Content that changed before it was trusted.
  const shop = withShopPage({ expected: /a status of 409/ })

  /** A new name for each test: nobody has seen it before. */
  let script = ''
  let tests = 0
  beforeEach(() => {
    const { project } = shop
    script = `check-${++tests}.sh`
    const check = project.file(script, '#!/bin/sh\nexit 0\n', 0o755)
    project.hooks({ PreToolUse: [['Bash', `"${check}"`]] })
  })

  it('shows what waits, without a button that trusts while nobody has a passkey', async () => {
    const { page } = shop
    await shop.press('Trust')
    await page.waitForSelector('main .card h2')
    expect(await page.textContent('.typed')).toContain('carabiner trust')
    expect(await page.locator('.card button').allTextContents()).toEqual(['Copy'])
    await page.focus('summary')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.files pre')
    expect((await page.locator('.files pre').allTextContents()).join()).toContain('exit 0')
    expect(await page.textContent('.files')).toMatch(/check-\d+\.sh \d+ bytes, executable/)
    expect(await shop.faults()).toEqual([])
    await shop.press('Live')
  })

  it('says what a link leads to, and which file cannot be shown', async () => {
    const { page, project } = shop
    const folder = '.amplifier/hooks/odd'
    project.file(`${folder}/check.sh`, '#!/bin/sh\nexit 0\n', 0o755)
    project.file(`${folder}/data.bin`, '\u0000\u0001\u0002')
    symlinkSync('check.sh', project.path(`${folder}/also.sh`))
    const entry = { hooks: [{ type: 'command', command: `"${project.path(`${folder}/check.sh`)}"` }] }
    project.file(`${folder}/hooks.json`, { hooks: { Stop: [entry] } })
    await shop.show('Trust', '#/trust')
    const card = page.locator('.card[aria-label=odd]')
    await card.locator('summary').focus()
    await page.keyboard.press('Enter')
    await card.locator('.files pre').first().waitFor()
    const text = await card.locator('.files').textContent()
    expect(text).toContain('also.sh a link to check.sh')
    expect(text).toMatch(/data\.bin 3 bytesIt cannot be shown/)
  })

  it('shows what changed since it was trusted, once, and what runs meanwhile', async () => {
    const { page, project } = shop
    await project.call(['trust', '--yes'])
    project.file(script, '#!/bin/sh\nexit 0 # changed\n', 0o755)
    await shop.show('Trust', '#/trust')
    await page.waitForSelector('.diff .new')
    expect(await page.textContent('.diff .new')).toContain('exit 0 # changed')
    const text = (await page.textContent('main')) ?? ''
    expect(text).toContain('The version that you trusted still runs; this one does not.')
    expect(text.split('was changed since it was trusted').length).toBe(2)
    expect(await shop.faults()).toEqual([])
  })

  it.runIf(isRoot)('trusts exactly what is shown, with a passkey and by keyboard', async () => {
    const { page, project } = shop
    await shop.enrol()
    await shop.show('Trust', '#/trust')
    const card = page.locator('.card[aria-label=project]')
    const button = card.locator('text=Trust exactly this with a passkey')
    await button.waitFor()
    project.file(script, '#!/bin/sh\nexit 0 # changed meanwhile\n', 0o755)
    await button.focus()
    await page.keyboard.press('Enter')
    await card.locator('.act .bad').waitFor()
    expect(await card.locator('.act .bad').textContent()).toContain('It has changed since you looked')
    await shop.show('Trust', '#/trust')
    await button.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=project is trusted.')
    await card.waitFor({ state: 'detached' })
    await shop.show('Audit', '#/audit?kind=change')
    await page.waitForSelector('.row:has-text("by ann")')
    expect(await page.textContent('.row')).toContain('trusted')
  })
})
