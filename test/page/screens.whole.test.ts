// The page in a real browser, by keyboard, with records that the engine made.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readEnrolment, writeApprovers } from '../../src/store/approvers.js'
import { Project, withProgram } from '../cli/program.js'
import { chromiumFile, openTab, startChromium, type Tab } from './chromium.js'
import { approversFile, pageQueue, type Served, servePage } from './served-page.js'
import { fireBash, shopDay, shopHooks } from './shop.js'

withProgram()

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

const isRoot = process.getuid?.() === 0

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** As on a machine where nobody has a passkey. */
async function withoutApprovers(project: Project, work: () => Promise<void>): Promise<void> {
  const file = approversFile(project)
  const aside = `${file}.aside`
  if (existsSync(file)) renameSync(file, aside)
  try {
    await work()
  } finally {
    if (existsSync(aside)) renameSync(aside, file)
  }
}

describe.skipIf(chromiumFile === undefined)('the page in Chromium', () => {
  let project: Project
  let served: Served
  let browser: Browser
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    project = new Project()
    vi.stubEnv('HOME', project.home)
    shopHooks(project)
    await shopDay(project)
    served = await servePage(project)
    browser = await startChromium()
    tab = await openTab(browser)
    page = tab.page
    page.setDefaultTimeout(15_000)
    await page.goto(served.link())
    await page.waitForSelector('.rows')
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
    vi.unstubAllEnvs()
    project.remove()
    expect(served.problems).toEqual([])
  })

  const show = (address: string) => page.goto(`${page.url().replace(/#.*/, '')}${address}`)
  const firstRow = () => page.textContent('.row')
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  /** What axe finds wrong, light and dark, wide and narrow. */
  async function faults(): Promise<readonly string[]> {
    const found: string[] = []
    for (const colorScheme of ['dark', 'light'] as const)
      for (const width of [1280, 380]) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.setViewportSize({ width, height: 860 })
        // A context of its own, where the policy of the page does not apply.
        const violations = await page.evaluate(`${AXE}; axe.run().then(({ violations }) => violations)`)
        for (const { id, nodes } of violations as { id: string; nodes: { html: string }[] }[])
          found.push(`${colorScheme} ${width} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        const wide = await page.evaluate<readonly string[]>(
          `document.documentElement.scrollWidth > innerWidth
            ? [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))
            : []`,
        )
        if (wide.length > 0) found.push(`${colorScheme} ${width}: wider than the window: ${wide.join(' ')}`)
      }
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 1280, height: 860 })
    return found
  }

  it('Live: finds the denied call by keyboard, and who denied it', async () => {
    await show('#/live')
    await page.keyboard.press('/')
    await page.keyboard.type('rm home folder')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    expect(await focused()).toContain('rm -rf ~/*')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.axis')
    const details = await page.textContent('.details')
    expect(details).toContain('This command deletes a home folder and was not run.')
    expect(details).toContain('bash-guard:PreToolUse#1')
    expect(details).toContain('formatter:PreToolUse#1')
    expect(page.url()).toMatch(/#\/live\/6$/)
    expect(await faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.waitForSelector('.details', { state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.row').count()).toBe(9)
  })

  it('Live: shows a changed call as a diff, and what the model was told', async () => {
    await show('#/live/5')
    await page.waitForSelector('.diff')
    expect(await page.textContent('.diff .gone')).toBe('- const total = 1\n')
    expect(await page.textContent('.diff .new')).toBe('+ const total = 1;\n')
    await show('#/live/1')
    await page.waitForSelector('.part pre')
    expect(await page.textContent('.details')).toContain('Prices are in cents.')
  })

  it('Live: shows an event as it happens', async () => {
    await show('#/live')
    await fireBash(project, 'ls live')
    await page.waitForSelector('text=ls live')
    expect(await page.textContent('.row .head .call code')).toBe('ls live')
  })

  it('Live: goes on where it was after the browser was offline', async () => {
    await tab.context.setOffline(true)
    await fireBash(project, 'ls offline')
    await tab.context.setOffline(false)
    await page.waitForSelector('text=ls offline')
    await page.waitForSelector('.state .listening')
  })

  it('Approvals: denies a question with a reason, by keyboard', async () => {
    await page.keyboard.press('a')
    await page.waitForSelector('text=Deploy to production?')
    expect(await page.textContent('.card')).toContain('deploy production --service checkout')
    expect(await page.textContent('.typed')).toMatch(/To allow it, type carabiner approvals allow [\w-]+/)
    expect(await page.locator('.card button').allTextContents()).toEqual(['Deny', 'Copy'])
    expect(await page.textContent('.count')).toBe('1 open')
    expect(await faults()).toEqual([])
    await page.focus('.reasoning')
    await page.keyboard.type('use staging')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=No question waits for you.')
    await show('#/audit?kind=approval')
    await page.waitForSelector('text=answered by tester')
  })

  it('Trust: shows what waits, without a button that trusts while nobody has a passkey', async () => {
    const check = project.file('check.sh', '#!/bin/sh\nexit 0\n', 0o755)
    project.hooks({ PreToolUse: [['Bash', `"${check}"`]] })
    await page.keyboard.press('3')
    await page.waitForSelector('.card h2')
    expect(await page.textContent('.typed')).toContain('carabiner trust')
    expect(await page.locator('.card button').allTextContents()).toEqual(['Copy'])
    await page.focus('summary')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.files pre')
    expect((await page.locator('.files pre').allTextContents()).join()).toContain('exit 0')
    expect(await faults()).toEqual([])
  })

  const toScreen = async (title: string) => {
    const screens = await page.locator('nav li').allTextContents()
    await page.keyboard.press(String(screens.indexOf(title) + 1))
    await page.waitForSelector(`h1:text("${title}")`)
  }

  it('Plugins and rules: shows the command that switches a hook off while nobody has a passkey', async () => {
    await toScreen('Plugins and rules')
    await page.waitForSelector('.card[aria-label=bash-guard]')
    const card = page.locator('.card[aria-label=bash-guard]')
    await card.locator('.switches summary').first().focus()
    await page.keyboard.press('Enter')
    expect(await card.locator('.typed code').first().textContent()).toBe(
      'carabiner disable user:bash-guard --for 1h',
    )
    expect(await card.locator('.act button').count()).toBe(0)
    await card.locator('.hooked > summary').focus()
    await page.keyboard.press('Enter')
    expect(await card.textContent()).toContain('bash-guard/hooks.json:')
    expect(await faults()).toEqual([])
  })

  it.runIf(isRoot)('Approvals: enrols a passkey, and allows one call with it', async () => {
    const authenticator = await tab.context.newCDPSession(page)
    await authenticator.send('WebAuthn.enable')
    const { authenticatorId } = await authenticator.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    })
    await fireBash(project, 'deploy canary')
    await show('#/approvals')
    await page.waitForSelector('text=deploy canary')
    await page.fill('[placeholder="Your name"]', 'ann')
    await page.keyboard.press('Enter')
    const command = await page.textContent('.passkeys .typed code')
    const [, code = ''] = /^sudo carabiner approvers add ([\w-]+)$/.exec(command ?? '') ?? []
    writeApprovers([readEnrolment(code)], approversFile(project))
    await page.waitForSelector('text=ann may allow, one call at a time.')
    const [pending] = pageQueue(project).open()
    if (!pending) throw new Error('no question is open')
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.click('text=Allow once with a passkey')
    await page.waitForSelector('.answer .bad')
    expect(pageQueue(project).open().length).toBe(1)
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.focus('text=Allow once with a passkey')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=is allowed, once')
    expect(await faults()).toEqual([])
    expect(await pageQueue(project).take(pending.question)).toMatchObject({ decision: 'allow', by: 'ann' })
  })

  it('Approvals: takes back what is always allowed, by keyboard', async () => {
    await withoutApprovers(project, async () => {
      await fireBash(project, 'deploy preview')
      const [pending] = pageQueue(project).open()
      await project.call(['approvals', 'allow', pending?.id ?? '', '--always'])
      await fireBash(project, 'deploy preview')
      await show('#/live')
      await show('#/approvals')
      await page.waitForSelector('button:text("Revoke")')
      expect(await page.textContent('.entry')).toMatch(
        /Bash \{"command":"deploy preview"\}Allowed by \S+ since/,
      )
      expect(await faults()).toEqual([])
      await page.focus('button:text("Revoke")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('text=Bash is not always allowed any more.')
      await page.waitForSelector('text=Nothing. Every call that a hook asks about')
      await fireBash(project, 'deploy preview')
      await page.waitForSelector('.card:has-text("deploy preview")')
    })
  })

  it('Approvals: says who approved the deploy, by keyboard', async () => {
    await show('#/approvals')
    await page.waitForSelector('.answered')
    await page.keyboard.press('/')
    await page.keyboard.type('deploy checkout')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.answered').count()).toBe(1)
    expect(await page.textContent('.answered')).toMatch(
      /deploy production --service checkout.*asked by deploy-gate.*“use staging”.*tester on the page.*denied/,
    )
    if (process.getuid?.() === 0) {
      await page.fill('.search input', 'canary')
      await page.waitForSelector('.answered:has-text("deploy canary")')
      expect(await page.textContent('.answered')).toMatch(/ann with a passkey.*allowed once/)
    }
    await page.fill('.search input', 'nobody said this')
    await page.waitForSelector('text=No answer has these words.')
    expect(await faults()).toEqual([])
    await page.fill('.search input', 'preview revoked')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.row.expanded .details')
    expect(await page.textContent('.row.expanded')).toContain('grant revoked')
  })

  it('Why not: says why the guard did not fire, and what would have to differ, by keyboard', async () => {
    await show('#/live/5')
    await page.focus('text=Why did a hook not run?')
    await page.keyboard.press('Enter')
    await page.waitForSelector('h1:text("Why not")')
    await page.focus('.head.hook:has-text("bash-guard")')
    expect(await focused()).toContain('matcher "Bash" does not match tool_name "Write"')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=What would have to differ')
    expect(await page.textContent('.nexts')).toContain('Change the matcher at')
    expect(await faults()).toEqual([])
    await page.fill('label:has-text("Input") input', '{"command"')
    await page.keyboard.press('Tab')
    await page.waitForSelector('.banner')
    expect(await page.textContent('.banner')).toContain('--input must be a JSON object')
  })

  it.runIf(isRoot)('Trust: trusts exactly what is shown, with a passkey and by keyboard', async () => {
    await page.keyboard.press('Escape')
    await page.keyboard.press('3')
    const button = 'text=Trust exactly this with a passkey'
    await page.waitForSelector(button)
    project.file('check.sh', '#!/bin/sh\nexit 0 # changed meanwhile\n', 0o755)
    await page.focus(button)
    await page.keyboard.press('Enter')
    await page.waitForSelector('.act .bad')
    expect(await page.textContent('.act .bad')).toContain('It has changed since you looked')
    await page.keyboard.press('1')
    await page.waitForSelector('h1:text("Live")')
    await page.keyboard.press('3')
    await page.waitForSelector(button)
    await page.focus(button)
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=is trusted.')
    await page.waitForSelector('text=Nothing waits for a review.')
    await show('#/audit?kind=change')
    await page.waitForSelector('.row:has-text("by ann")')
    expect(await firstRow()).toContain('trusted')
  })

  it.runIf(isRoot)('Plugins and rules: switches a guard to shadow mode for 1 h, and on again', async () => {
    await page.keyboard.press('Escape')
    await toScreen('Plugins and rules')
    const card = page.locator('.card[aria-label=bash-guard]')
    await card.waitFor()
    await card.locator('.switches summary').first().focus()
    await page.keyboard.press('Enter')
    await card.locator('select').first().selectOption('shadow')
    await card.locator('.act button').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=all of bash-guard is in shadow mode.')
    await card.locator('.switched .open').first().waitFor()
    expect(await card.locator('.switched .open').first().textContent()).toMatch(
      /^in shadow mode by ann for .+, until /,
    )
    await fireBash(project, 'rm -rf ~/shadow')
    await page.keyboard.press('1')
    await toScreen('Plugins and rules')
    const shadow = page.locator('.row:has-text("bash-guard:PreToolUse#1"):has-text("1 time")')
    await shadow.locator('summary').focus()
    await page.keyboard.press('Enter')
    expect(await shadow.textContent()).toContain('would deny')
    expect(await faults()).toEqual([])
    await card.locator('.act button').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=bash-guard is switched on.')
    await card.locator('.switched').waitFor({ state: 'detached' })
  })

  it('Trust: shows what changed since it was trusted', async () => {
    await page.keyboard.press('Escape')
    await project.call(['trust', '--yes'])
    project.file('check.sh', '#!/bin/sh\nexit 0 # changed\n', 0o755)
    await page.keyboard.press('1')
    await page.keyboard.press('3')
    await page.waitForSelector('.diff .new')
    expect(await page.textContent('.diff .new')).toContain('exit 0 # changed')
    expect(await faults()).toEqual([])
  })

  it('Doctor: fixes what is safe to fix, by keyboard, and looks again', async () => {
    const own = join(project.home, '.amplifier/hooks/own-check')
    mkdirSync(own, { recursive: true })
    const script = join(own, 'check.sh')
    writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o600 })
    const entry = { matcher: 'Read', hooks: [{ type: 'command', command: `"${script}"` }] }
    writeFileSync(join(own, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: [entry] } }))
    await page.keyboard.press('5')
    await page.waitForSelector('button:text("Make it executable")')
    expect(await faults()).toEqual([])
    await page.focus('button:text("Make it executable")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Fixed not-executable: made ')
    await page.waitForSelector('button:text("Make it executable")', { state: 'detached' })
    expect(statSync(script).mode & 0o777).toBe(0o700)
    rmSync(own, { recursive: true })
    await page.keyboard.press('1')
  })

  it('Doctor: names what is broken, and the fix', async () => {
    await page.keyboard.press('5')
    await page.waitForSelector('text=Something is broken.')
    expect(await page.textContent('main')).toContain('carabiner trust')
    expect(await faults()).toEqual([])
    await page.focus('text=Look again')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Look again')
  })

  it('Audit: answers what was denied today, by keyboard', async () => {
    await page.keyboard.press('6')
    await page.waitForSelector('h1:text("Audit")')
    await page.focus('button:text("Denied today")')
    await page.keyboard.press('Enter')
    // The call that a hook denied, and the answer of a person.
    await expect.poll(() => page.locator('.row').count()).toBe(2)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await focused()).toContain('rm -rf ~/*')
    expect(page.url()).toContain('decision=deny')
    expect(await page.textContent('.hooks table')).toContain('bash-guard:PreToolUse#1')
    await page.focus('button:text("Check the record")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=The record is whole')
    expect(await page.textContent('.verify button')).toBe('Check again')
    await page.focus('.hooks button:has-text("bash-guard")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.measure')
    expect(await page.locator('.measure figcaption').allTextContents()).toEqual([
      expect.stringMatching(/^Runs at most \d+$/),
      'Denied at most 1',
      'Failed none',
      expect.stringMatching(/^Median at most .*ms$/),
    ])
    expect(await faults()).toEqual([])
  })

  it('Audit: has every filter of the command line, by keyboard', async () => {
    await show('#/audit')
    await page.focus('label:has-text("Outcome") select')
    await page.keyboard.type('modify')
    await expect.poll(() => page.locator('.row').allTextContents()).toHaveLength(1)
    expect(await page.textContent('.row')).toContain('src/checkout.ts')
    await show('#/audit?until=1d')
    await page.waitForSelector('text=No entry matches.')
    await show('#/audit?until=soon')
    await page.waitForSelector('.banner')
    expect(await page.textContent('.banner')).toContain('until must be a time')
    await show('#/audit?kind=approval')
    await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(0)
    const names = ['Event', 'Outcome', 'Kind of entry', 'Tool', 'Hook', 'Session', 'Since', 'Until']
    const labels = await page.locator('.fieldrow label').allTextContents()
    expect(labels.map((label) => names.find((name) => label.startsWith(name)))).toEqual(names)
    await show('#/audit?decision=deny&since=1d')
  })

  it('Audit: exports the entries that are shown', async () => {
    const download = page.waitForEvent('download')
    await page.click('text=Export')
    const saved = readFileSync(await (await download).path(), 'utf8')
    const entries = saved
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toMatchObject([
      { seq: 6, action: 'deny' },
      { kind: 'approval', decision: 'deny' },
    ])
  })

  it('Agents: says what an agent runs, and that nobody has proven it, by keyboard', async () => {
    expect((await project.call(['setup', 'claude-code', '--yes'])).code).toBe(0)
    const screens = await page.locator('nav li').allTextContents()
    await page.keyboard.press(String(screens.indexOf('Agents') + 1))
    await page.waitForSelector('.agent')
    const card = await page.textContent('.agent')
    expect(card).toContain('Claude Code not proven')
    expect(card).toMatch(/Runs guard, .*: ~\/\.claude\/settings\.json/)
    expect(await page.textContent('.agents + p')).toContain('Codex')
    expect(await faults()).toEqual([])
  })

  it('Playground: corrects a payload where it is wrong, and fires it in a copy, by keyboard', async () => {
    await toScreen('Playground')
    await expect.poll(() => page.inputValue('#payload')).toContain('"command": "ls"')
    await page.focus('#payload')
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{\n  "tool_name": "Bash",\n  "tool_input": "rm -rf ~/play"\n}')
    await page.waitForSelector('text=Line 3:')
    expect(await page.textContent('#payload-problems')).toContain('tool_input must be an object')
    expect(await page.isDisabled('button:text("Fire in a copy")')).toBe(true)
    expect(await faults()).toEqual([])
    await page.focus('#payload')
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText(
      '{\n  "tool_name": "Bash",\n  "tool_input": {"command": "rm -rf ~/play"}\n}',
    )
    await page.waitForSelector('#payload-problems li', { state: 'detached' })
    await page.focus('button:text("Fire in a copy")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.played', { timeout: 60_000 })
    const result = await page.textContent('.played')
    expect(result).toContain('denied')
    expect(result).toContain('This command deletes a home folder and was not run.')
    expect(result).toContain('formatter:PreToolUse#1')
    expect(await faults()).toEqual([])
    await show('#/live')
    await page.waitForSelector('.row')
    expect(await page.textContent('main')).not.toContain('~/play')
  })

  it('says which keys there are', async () => {
    await page.keyboard.press('?')
    await page.waitForSelector('dialog[open]')
    expect(await faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
  })

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
        const own = page.url().replace(/#.*/, '')
        const evil = await tab.context.newPage()
        await evil.goto(`http://${name}:${(other.address() as AddressInfo).port}/`)
        const results = await evil.evaluate<readonly string[]>(`(${attack})(${JSON.stringify(own)})`)
        expect(results[0]).toContain('TypeError')
        expect(results[1]).not.toContain('Carabiner')
        await evil.close()
        await show('#/live')
        await fireBash(project, `ls after ${name.length}`)
        await page.waitForSelector(`text=ls after ${name.length}`)
      },
    )

    it('never gets the cookie, also not on another port of the same name', async () => {
      const cookies: (string | undefined)[] = []
      other.on('request', ({ headers }) => cookies.push(headers.cookie))
      const evil = await tab.context.newPage()
      await evil.goto(`http://carabiner.localhost:${(other.address() as AddressInfo).port}/`)
      await evil.close()
      expect(cookies.length).toBeGreaterThan(0)
      expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([])
    })
  })

  it('stays usable with two thousand rows while more arrive', async () => {
    const crowd = new Project()
    vi.stubEnv('HOME', crowd.home)
    const { fileAuditLog } = await import('../../src/store/file-stores.js')
    const log = fileAuditLog({ projectDir: crowd.folder })
    const entry = (n: number) => ({
      kind: 'fire' as const,
      time: new Date().toISOString(),
      session: `s${n % 7}`,
      event: 'PreToolUse',
      tool: 'Bash',
      digest: 'd',
      action: n % 50 === 0 ? ('deny' as const) : ('continue' as const),
      hooks: [],
      injections: [],
      diagnostics: [],
      ms: n % 90,
    })
    await log.append(Array.from({ length: 2000 }, (_, n) => entry(n)))
    const busy = await servePage(crowd)
    const { page: full, errors } = await openTab(browser)
    await full.goto(busy.link())
    await full.waitForSelector('.row')
    for (let burst = 0; burst < 20; burst++) await log.append(Array.from({ length: 100 }, (_, n) => entry(n)))
    await full.waitForSelector('.head[data-seq="4000"]')
    expect(await full.locator('.row').count()).toBeLessThan(200)
    const toTheEnd = async () => {
      await full.locator('.row').last().scrollIntoViewIfNeeded()
      return full.locator('.row').count()
    }
    await expect.poll(toTheEnd, { timeout: 30_000 }).toBe(2000)
    await full.locator('h1').scrollIntoViewIfNeeded()
    await expect.poll(() => full.locator('.row').count()).toBeLessThan(200)
    await full.selectOption('.session select', 's3')
    await full.locator('h1').click()
    await full.keyboard.press('j')
    await full.keyboard.press('Enter')
    await full.waitForSelector('.details .foot')
    expect(full.url()).toMatch(/#\/live\/\d+\?session=s3$/)
    expect(errors).toEqual([])
    await full.close()
    await busy.close()
    crowd.remove()
    vi.stubEnv('HOME', project.home)
  })

  it('tells the browser nothing that its policy refuses', () => {
    // Offline, an input that is not JSON, and content that changed before it was trusted.
    const expected = /ERR_INTERNET_DISCONNECTED|a status of 40[09]/
    expect(tab.errors.filter((error) => !expected.test(error))).toEqual([])
  })

  it('stops when somebody says so, and tells', async () => {
    await page.click('button:text("Stop")')
    expect(await served.ended).toBe('stopped')
    await served.close()
    await page.waitForSelector('.state .lost, .state .ended')
  })
})
