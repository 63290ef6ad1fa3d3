// Why not, Doctor and Agents in a real browser: what keeps a hook from doing what its file says.

import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { chromiumFile } from './chromium.js'
import { pageQueue } from './served-page.js'
import { fireBash } from './shop.js'
import { withShopPage } from './shop-page.js'

describe.skipIf(chromiumFile === undefined)('a hook that does not do what its file says', () => {
  // An input that is not JSON.
  const shop = withShopPage({ expected: /a status of 400/ })

  it('Why not: says why the guard did not fire, and what would have to differ, by keyboard', async () => {
    const { page } = shop
    await shop.show('Live', '#/live/5')
    await page.focus('text=Why did a hook not run?')
    await page.keyboard.press('Enter')
    await page.waitForSelector('h1:text("Why not")')
    expect(page.url()).toMatch(/#\/why\/5$/)
    await page.waitForSelector('text=The call of record 5, as hooks would judge it now.')
    await page.focus('.head.hook:has-text("bash-guard")')
    expect(await shop.focused()).toContain('matcher "Bash" does not match tool_name "Write"')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=What would have to differ')
    expect(await page.textContent('.nexts')).toContain('Change the matcher at')
    expect(await shop.faults()).toEqual([])
    await page.fill('label:has-text("Input") input', '{"command"')
    await page.keyboard.press('Tab')
    await page.waitForSelector('.banner')
    expect(await page.textContent('.banner')).toContain('--input must be a JSON object')
  })

  it('Why not: begins with a call from the record', async () => {
    const { page } = shop
    await shop.show('Why not', '#/why')
    const choice = page.locator('.choice select')
    await choice.focus()
    await choice.selectOption('6')
    await page.waitForSelector('.family:has(h2:text("Would run")) .head.hook:has-text("bash-guard")')
    expect(await page.inputValue('label:has-text("Input") input')).toBe('{"command":"rm -rf ~/*"}')
  })

  it('Doctor: fixes by keyboard what only tightens, and shows the command for the rest', async () => {
    const { page, project } = shop
    const own = join(project.home, '.amplifier/hooks/own-check')
    mkdirSync(own, { recursive: true })
    const script = join(own, 'check.sh')
    writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o600 })
    const entry = { matcher: 'Read', hooks: [{ type: 'command', command: `"${script}"` }] }
    writeFileSync(join(own, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: [entry] } }))
    await fireBash(project, 'deploy preview')
    const [pending] = pageQueue(project)
      .open()
      .filter(({ question }) => JSON.stringify(question.call).includes('deploy preview'))
    await project.call(['approvals', 'allow', pending?.id ?? '', '--always'])
    await fireBash(project, 'deploy preview')
    const gate = join(project.home, '.amplifier/hooks/deploy-gate')
    renameSync(gate, `${gate}.aside`)
    await shop.press('Doctor')
    const button = 'button:text("Revoke the grant")'
    await page.waitForSelector(button)
    expect(await shop.faults()).toEqual([])
    const card = page.locator('.card:has-text("not-executable")')
    expect(await card.textContent()).toContain('chmod +x')
    expect(await card.locator('button').allTextContents()).toEqual(['Copy'])
    await page.focus(button)
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Fixed grant-stale: revoked the grant ')
    await page.waitForSelector(button, { state: 'detached' })
    expect(statSync(script).mode & 0o777).toBe(0o600)
    renameSync(`${gate}.aside`, gate)
    rmSync(own, { recursive: true })
  })

  it('Doctor: names what is broken, and the fix', async () => {
    const { page, project } = shop
    const check = project.file('check.sh', '#!/bin/sh\nexit 0\n', 0o755)
    project.hooks({ PreToolUse: [['Bash', `"${check}"`]] })
    await shop.show('Doctor', '#/doctor')
    await page.waitForSelector('text=Something is broken.')
    expect(await page.textContent('main')).toContain('carabiner trust')
    expect(await shop.faults()).toEqual([])
    await page.focus('text=Look again')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Look again')
    await shop.show('Live', '#/live')
    expect(await page.textContent('nav li:has-text("Doctor") .count')).toMatch(/^\d+ broken$/)
  })

  it('Agents: says what an agent runs, and that nobody has proven it, by keyboard', async () => {
    const { page, project } = shop
    expect((await project.call(['setup', 'claude-code', '--yes'])).code).toBe(0)
    await shop.press('Live')
    await shop.press('Agents')
    await page.waitForSelector('.agent:has-text("Claude Code")')
    const card = await page.textContent('.agent')
    expect(card).toContain('Claude Code not proven')
    expect(card).toMatch(/Runs guard, .*: ~\/\.claude\/settings\.json/)
    expect(await page.textContent('.agents + p')).toContain('Codex')
    expect(await shop.faults()).toEqual([])
  })
})
