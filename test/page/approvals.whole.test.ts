// Approvals in a real browser: deny, allow with a passkey, take back, and who answered.

import { existsSync, renameSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { approversFile, pageQueue } from './served-page.js'
import { fireBash } from './shop.js'
import { isRoot, withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('Approvals', () => {
  const shop = withShopPage()

  it('denies a question with a reason, and says who did, by keyboard', async () => {
    const { page, project } = shop
    await withoutApprovers(async () => {
      await shop.show('Live', '#/live')
      await page.keyboard.press('a')
      await page.waitForSelector('h1:text("Approvals")')
      const card = page.locator('.card:has-text("deploy production --service checkout")')
      await card.waitFor()
      expect(await card.locator('h2').textContent()).toBe('Deploy to production?')
      expect(await card.locator('.typed').textContent()).toMatch(
        /To allow it, type carabiner approvals allow [\w-]+/,
      )
      expect(await card.locator('button').allTextContents()).toEqual(['Deny', 'Copy'])
      expect(await page.textContent('nav li:has-text("Approvals") .count')).toMatch(/^\d+ open$/)
      expect(await shop.faults()).toEqual([])
      await card.locator('.reasoning').focus()
      await page.keyboard.type('use staging')
      await page.keyboard.press('Enter')
      await card.waitFor({ state: 'detached' })
      expect(pageQueue(project).open()).toEqual([])
    })
    await page.keyboard.press('/')
    await page.keyboard.type('deploy checkout')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.answered').count()).toBe(1)
    expect(await page.textContent('.answered')).toMatch(
      /deploy production --service checkout.*asked by deploy-gate.*“use staging”.*tester on the page.*denied/,
    )
    await page.fill('.search input', 'nobody said this')
    await page.waitForSelector('text=No answer has these words.')
    await shop.show('Audit', '#/audit?kind=approval')
    await page.waitForSelector('text=answered by tester')
  })

  it.runIf(isRoot)('allows one call with a passkey, if its person is there, and says who did', async () => {
    const { page, project } = shop
    const bePresent = await shop.enrol()
    await fireBash(project, 'deploy canary')
    await shop.show('Approvals', '#/approvals')
    const card = page.locator('.card:has-text("deploy canary")')
    const button = card.locator('text=Allow once with a passkey')
    await button.waitFor()
    const [pending] = pageQueue(project).open()
    if (!pending) throw new Error('no question is open')
    await bePresent(false)
    await button.click()
    await card.locator('.answer .bad').waitFor()
    expect(pageQueue(project).open().length).toBe(1)
    await bePresent(true)
    await button.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=is allowed, once')
    expect(await shop.faults()).toEqual([])
    expect(await pageQueue(project).take(pending.question)).toMatchObject({ decision: 'allow', by: 'ann' })
    await page.fill('.search input', 'canary')
    await page.waitForSelector('.answered:has-text("deploy canary")')
    expect(await page.textContent('.answered')).toMatch(/ann with a passkey.*allowed once/)
  })

  it('takes back what is always allowed, by keyboard, and links to the record', async () => {
    const { page, project } = shop
    await withoutApprovers(async () => {
      await fireBash(project, 'deploy preview')
      const [pending] = pageQueue(project).open()
      await project.call(['approvals', 'allow', pending?.id ?? '', '--always'])
      await fireBash(project, 'deploy preview')
      await shop.show('Approvals', '#/approvals')
      await page.waitForSelector('button:text("Revoke")')
      expect(await page.textContent('.entry')).toMatch(
        /Bash \{"command":"deploy preview"\}Allowed by \S+ since/,
      )
      expect(await shop.faults()).toEqual([])
      await page.focus('button:text("Revoke")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('text=Bash is not always allowed any more.')
      await page.waitForSelector('text=Nothing. Every call that a hook asks about')
      await fireBash(project, 'deploy preview')
      await page.waitForSelector('.card:has-text("deploy preview")')
      await page.fill('.search input', 'preview revoked')
      await page.keyboard.press('Escape')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.row.expanded .details')
      expect(await page.textContent('.row.expanded')).toContain('grant revoked')
      for (const { id } of pageQueue(project).open()) await project.call(['approvals', 'deny', id])
    })
  })

  /** As on a machine where nobody has a passkey. */
  async function withoutApprovers(work: () => Promise<void>): Promise<void> {
    const file = approversFile(shop.project)
    const aside = `${file}.aside`
    if (existsSync(file)) renameSync(file, aside)
    try {
      await work()
    } finally {
      if (existsSync(aside)) renameSync(aside, file)
    }
  }
})
