// Playground in a real browser: a payload of one's own, one from the record, and what hooks do about it in a copy.

import { describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('Playground', () => {
  const shop = withShopPage()
  const payload = () => shop.page.inputValue('#payload')
  const type = async (text: string) => {
    await shop.page.focus('#payload')
    await shop.page.keyboard.press('Control+A')
    await shop.page.keyboard.insertText(text)
  }

  it('corrects a payload where it is wrong, and fires it in a copy, by keyboard', async () => {
    const { page } = shop
    await shop.press('Playground')
    await expect.poll(payload).toContain('"command": "ls"')
    await type('{\n  "tool_name": "Bash",\n  "tool_input": "rm -rf ~/play"\n}')
    await page.waitForSelector('text=Line 3:')
    expect(await page.textContent('#payload-problems')).toContain('tool_input must be an object')
    expect(await page.isDisabled('button:text("Fire in a copy")')).toBe(true)
    expect(await shop.faults()).toEqual([])
    await type('{\n  "tool_name": "Bash",\n  "tool_input": {"command": "rm -rf ~/play"}\n}')
    await page.waitForSelector('#payload-problems li', { state: 'detached' })
    await page.focus('button:text("Fire in a copy")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.played', { timeout: 60_000 })
    const result = await page.textContent('.played')
    expect(result).toContain('denied')
    expect(result).toContain('This command deletes a home folder and was not run.')
    expect(result).toContain('formatter:PreToolUse#1')
    expect(await shop.faults()).toEqual([])
    await shop.show('Live', '#/live')
    await page.waitForSelector('.row')
    expect(await page.textContent('main')).not.toContain('~/play')
  })

  it('begins with a call from the record, and keeps what somebody typed', async () => {
    const { page } = shop
    await shop.show('Playground', '#/playground')
    await page.selectOption('.choice select', '6')
    await expect.poll(payload).toContain('"command": "rm -rf ~/*"')
    await page.selectOption('label:has-text("Event") select', 'UserPromptSubmit')
    await page.waitForSelector('dt code:text("prompt")')
    await page.waitForSelector('text=Begin with the example')
    expect(await payload()).toContain('rm -rf ~/*')
    await page.focus('text=Begin with the example')
    await page.keyboard.press('Enter')
    await expect.poll(payload).toContain('"prompt"')
    expect(await payload()).not.toContain('rm -rf')
    await shop.show('Live', '#/live/6')
    await page.click('text=Try it again in a copy')
    await expect.poll(payload).toContain('"command": "rm -rf ~/*"')
  })
})
