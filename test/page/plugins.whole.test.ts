// Plugins and rules in a real browser: the command to type, or the switch with a passkey, and what shadow mode says.

import { describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { fireBash } from './shop.js'
import { isRoot, withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('Plugins and rules', () => {
  const shop = withShopPage()

  it('shows the command that switches a hook off while nobody has a passkey', async () => {
    const { page } = shop
    await shop.press('Plugins and rules')
    const card = page.locator('.card[aria-label=briefing]')
    await card.locator('article > .switches summary, > .switches summary').first().focus()
    await page.keyboard.press('Enter')
    expect(await card.locator('.typed code').last().textContent()).toBe(
      'carabiner disable user:briefing --for 1h',
    )
    expect(await card.locator('.act button').count()).toBe(0)
    await card.locator('.hooked > summary').focus()
    await page.keyboard.press('Enter')
    expect(await card.textContent()).toContain('briefing/hooks.json:')
    expect(await card.locator('.switches').count()).toBe(1)
    expect(await shop.faults()).toEqual([])
  })

  it.runIf(isRoot)('switches a guard to shadow mode for 1 h, and on again', async () => {
    const { page, project } = shop
    await shop.enrol()
    await shop.show('Plugins and rules', '#/plugins')
    const card = page.locator('.card[aria-label=bash-guard]')
    const all = card.locator('> .switches')
    await all.locator('summary').focus()
    await page.keyboard.press('Enter')
    await all.locator('select').first().selectOption('shadow')
    await all.locator('.act button').focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=bash-guard is in shadow mode.')
    const switched = card.locator('.switched .open').first()
    await switched.waitFor()
    expect(await switched.textContent()).toMatch(/^in shadow mode by ann for .+, until /)
    await fireBash(project, 'rm -rf ~/shadow')
    await shop.show('Plugins and rules', '#/plugins')
    const shadow = page.locator('.row:has-text("bash-guard:PreToolUse#1"):has-text("1 time")')
    await shadow.locator('summary').focus()
    await page.keyboard.press('Enter')
    expect(await shadow.textContent()).toContain('would deny')
    expect(await shop.faults()).toEqual([])
    await card.locator('.switched .act button').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=bash-guard is switched on.')
    await card.locator('.switched').first().waitFor({ state: 'detached' })
  })
})
