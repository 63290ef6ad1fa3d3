// Live in a real browser: finding a call by keyboard, events as they happen, what needs a person now, and many rows.

import { describe, expect, it, vi } from 'vitest'
import type { FireEntry } from '../../src/store/audit/entry-words.js'
import { fileAuditLog } from '../../src/store/file-stores.js'
import { Project } from '../cli/program.js'
import { chromiumFile, openTab } from './chromium.js'
import { servePage } from './served-page.js'
import { fireBash } from './shop.js'
import { withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('Live', () => {
  const shop = withShopPage({ expected: /ERR_INTERNET_DISCONNECTED/ })

  it('finds the denied call by keyboard, and who denied it', async () => {
    const { page } = shop
    await shop.show('Live', '#/live')
    await page.keyboard.press('/')
    await page.keyboard.type('rm home folder')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    expect(await shop.focused()).toContain('rm -rf ~/*')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.axis')
    const details = await page.textContent('.details')
    expect(details).toContain('This command deletes a home folder and was not run.')
    expect(details).toContain('bash-guard:PreToolUse#1')
    expect(details).toContain('formatter:PreToolUse#1')
    expect(page.url()).toMatch(/#\/live\/6$/)
    expect(await shop.faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.waitForSelector('.details', { state: 'detached' })
    const found = await page.locator('.row').count()
    await page.keyboard.press('/')
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(found)
  })

  it('leaves the arrow keys to the browser, which scrolls with them', async () => {
    const { page } = shop
    await shop.show('Live', '#/live')
    await page.keyboard.press('j')
    const before = await shop.focused()
    await page.keyboard.press('ArrowDown')
    expect(await shop.focused()).toBe(before)
    await page.keyboard.press('j')
    expect(await shop.focused()).not.toBe(before)
  })

  it('shows a changed call as a diff, and what the model was told', async () => {
    const { page } = shop
    await shop.show('Live', '#/live/5')
    await page.waitForSelector('.row .diff')
    expect(await page.textContent('.row .diff .gone')).toBe('- const total = 1\n')
    expect(await page.textContent('.row .diff .new')).toBe('+ const total = 1;\n')
    await shop.show('Live', '#/live/1')
    await page.waitForSelector('.part pre')
    expect(await page.textContent('.details')).toContain('Prices are in cents.')
  })

  it('shows an event as it happens', async () => {
    const { page } = shop
    await shop.show('Live', '#/live')
    await fireBash(shop.project, 'ls live')
    await page.waitForSelector('text=ls live')
    expect(await page.textContent('.row .head .call code')).toBe('ls live')
  })

  it('goes on where it was after the browser was offline', async () => {
    const { page } = shop
    await shop.show('Live', '#/live')
    await shop.tab.context.setOffline(true)
    await fireBash(shop.project, 'ls offline')
    await shop.tab.context.setOffline(false)
    await page.waitForSelector('text=ls offline')
    await page.waitForSelector('.state .listening')
  })

  it('shows beside it what waits for a person, which gate was changed, and that the record is whole', async () => {
    const { page, project } = shop
    const check = project.file('check.sh', '#!/bin/sh\nexit 0\n', 0o755)
    project.hooks({ PreToolUse: [['Bash', `"${check}"`]] })
    await project.call(['trust', '--yes'])
    project.file('check.sh', '#!/bin/sh\nexit 0 # changed\n', 0o755)
    await fireBash(project, 'deploy beside')
    // Leaving Trust looks again at what waits for a review.
    await shop.show('Trust', '#/trust')
    await shop.show('Live', '#/live')
    await page.waitForSelector('.side >> text=/^\\d+ more questions?$/')
    expect(await page.locator('.side .card.waiting').count()).toBe(1)
    const gate = page.locator('.side .card[aria-label="A gate was changed"]')
    await gate.waitFor()
    expect(await gate.textContent()).toContain('The version that you trusted still runs.')
    expect(await gate.locator('.diff .new').textContent()).toContain('exit 0 # changed')
    expect(await page.textContent('nav li:has-text("Trust") .count')).toBe('1 to review')
    await page.focus('.side button:text("Check the record")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.side >> text=The record is whole')
    expect(await shop.faults()).toEqual([])
    await gate.locator('text=Review the change').focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('h1:text("Trust")')
  })

  it('says which keys there are', async () => {
    const { page } = shop
    await shop.show('Live', '#/live')
    await page.keyboard.press('?')
    await page.waitForSelector('dialog[open]')
    expect(await shop.faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
  })

  it('stays usable with two thousand rows while more arrive, and opens one that it does not list', async () => {
    const crowd = new Project()
    vi.stubEnv('HOME', crowd.home)
    const log = fileAuditLog({ projectDir: crowd.folder })
    await log.append(Array.from({ length: 2000 }, (_, n) => entry(n)))
    const busy = await servePage(crowd)
    const { page, errors } = await openTab(shop.browser)
    await page.goto(busy.link())
    await page.waitForSelector('.row')
    for (let burst = 0; burst < 20; burst++) await log.append(Array.from({ length: 100 }, (_, n) => entry(n)))
    await page.waitForSelector('.head[data-seq="4000"]')
    expect(await page.locator('.row').count()).toBeLessThan(200)
    const toTheEnd = async () => {
      await page.locator('.row').last().scrollIntoViewIfNeeded()
      return page.locator('.row').count()
    }
    await expect.poll(toTheEnd, { timeout: 30_000 }).toBe(2000)
    await page.locator('h1').scrollIntoViewIfNeeded()
    await expect.poll(() => page.locator('.row').count()).toBeLessThan(200)
    await page.selectOption('.session select', 's3')
    await page.locator('h1').click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.details .foot')
    expect(page.url()).toMatch(/#\/live\/\d+\?session=s3$/)
    for (const screen of ['live', 'audit']) {
      await page.goto(`${page.url().replace(/#.*/, '')}#/${screen}/7`)
      await page.waitForSelector('[aria-label="Entry 7"] .details .foot:has-text("record 7 ")')
    }
    expect(errors).toEqual([])
    await page.close()
    await busy.close()
    crowd.remove()
    vi.stubEnv('HOME', shop.project.home)
  })
})

function entry(n: number): Omit<FireEntry, 'seq' | 'prev' | 'hash'> {
  return {
    kind: 'fire',
    time: new Date().toISOString(),
    session: `s${n % 7}`,
    event: 'PreToolUse',
    tool: 'Bash',
    digest: 'd',
    action: n % 50 === 0 ? 'deny' : 'continue',
    hooks: [],
    injections: [],
    diagnostics: [],
    ms: n % 90,
  } as Omit<FireEntry, 'seq' | 'prev' | 'hash'>
}
