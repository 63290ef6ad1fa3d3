// Audit in a real browser: what was denied today, the filters of the command line, charts, the check, and the export.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('Audit', () => {
  // A filter that is not a time.
  const shop = withShopPage({ expected: /a status of 400/ })

  it('answers what was denied today, by keyboard', async () => {
    const { page } = shop
    await shop.press('Audit')
    await page.focus('button:text("Denied today")')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.row').count()).toBe(1)
    await page.keyboard.press('j')
    expect(await shop.focused()).toContain('rm -rf ~/*')
    // Since midnight, and not for the last 24 hours.
    expect(decodeURIComponent(page.url())).toMatch(/decision=deny&since=\d{4}-\d\d-\d\dT00:00$/)
    expect(await page.getAttribute('button:text("Denied today")', 'aria-pressed')).toBe('true')
    expect(await page.textContent('.hooks table')).toContain('bash-guard:PreToolUse#1')
    await page.focus('.hooks button:has-text("bash-guard")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.measure')
    expect(await page.locator('.measure figcaption').allTextContents()).toEqual([
      expect.stringMatching(/^Runs at most \d+$/),
      'Denied at most 1',
      'Failed none',
      expect.stringMatching(/^Median at most .*ms$/),
    ])
    expect(await shop.faults()).toEqual([])
  })

  it('checks the whole record, by keyboard', async () => {
    const { page } = shop
    await shop.show('Audit', '#/audit')
    await page.focus('button:text("Check the record")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=The record is whole')
    expect(await page.textContent('.verify button')).toBe('Check again')
  })

  it('has every filter of the command line, by keyboard', async () => {
    const { page } = shop
    await shop.show('Audit', '#/audit')
    await page.focus('label:has-text("Outcome") select')
    await page.keyboard.type('modify')
    await expect.poll(() => page.locator('.row').allTextContents()).toHaveLength(1)
    expect(await page.textContent('.row')).toContain('src/checkout.ts')
    await shop.show('Audit', '#/audit?until=1d')
    await page.waitForSelector('text=No entry matches.')
    await shop.show('Audit', '#/audit?until=soon')
    await page.waitForSelector('.banner')
    expect(await page.textContent('.banner')).toContain('until must be a time')
    await shop.show('Audit', '#/audit?kind=fire')
    await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(0)
    const names = ['Event', 'Outcome', 'Kind of entry', 'Tool', 'Hook', 'Session', 'Since', 'Until']
    const labels = await page.locator('.fieldrow label').allTextContents()
    expect(labels.map((label) => names.find((name) => label.startsWith(name)))).toEqual(names)
  })

  it('exports the entries that are shown', async () => {
    const { page } = shop
    await shop.show('Audit', '#/audit?decision=deny&since=1d')
    const download = page.waitForEvent('download')
    await page.click('text=Export')
    const saved = readFileSync(await (await download).path(), 'utf8')
    const entries = saved
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toMatchObject([{ seq: 6, action: 'deny' }])
  })
})
