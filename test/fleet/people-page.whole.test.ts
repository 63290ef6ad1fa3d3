// The page of a gateway in a real browser: from a new passkey to somebody who is signed in, looks, and acts.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser, CDPSession, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Person, readPersonCode } from '../../src/files/fleet/people.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { madeQuestion } from '../approvals/made-question.js'
import { withProgram } from '../cli/program.js'
import { chromiumFile, openTab, startChromium, type Tab } from '../page/chromium.js'
import { addedMachine, type Fleet, joined, listingIn, madeFleet, madeLines, opened } from './fleet-scene.js'
import { numbered, publish } from './policy-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'
import { PeopleList, ServedFleetPage } from './served-fleet-page.js'

withProgram()

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const LOG = 'c'.repeat(32)
const KEPT = process.env.CARABINER_PICTURES
const SHADOW = {
  name: 'fleet@2:rules',
  source: 'fleet@2',
  mode: 'shadow',
  status: 'ran',
  ms: 1,
  would: { action: 'deny', reason: 'The rule no-push forbids this: the call would push main.' },
}
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

/** A browser whose authenticator verifies its person. */
async function authenticated(tab: Tab): Promise<[CDPSession, string]> {
  const session = await tab.context.newCDPSession(tab.page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  return [session, authenticatorId]
}

describe.runIf(hasPostgres && chromiumFile !== undefined)('the page of a gateway in Chromium', () => {
  let server: Postgres
  let fleet: Fleet
  let admin: Database
  let served: ServedFleetPage
  let people: PeopleList
  let browser: Browser
  let tab: Tab
  let page: Page
  let key: Person['keys'][number]
  let folder: string
  let authenticator: CDPSession
  let authenticatorId: string
  let asking: Awaited<ReturnType<typeof askingMachine>>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-people-page-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    admin = await opened(fleet.admin)
    people = new PeopleList(admin)
    served = await ServedFleetPage.start(fleet)
    const machine = await addedMachine(fleet, 'laptop-7')
    await addedMachine(fleet, 'build-3')
    const gateway = await opened(fleet.gateway)
    const { first, prev, count, last, text } = madeLines(
      Array.from({ length: 130 }, (_, i) => ({
        event: 'PreToolUse',
        tool: 'Bash',
        session: `s-${i}`,
        action: i % 10 === 0 ? 'deny' : 'continue',
        hooks: i === 128 ? [SHADOW] : [],
        injections: [],
        diagnostics: [],
        reason: i === 129 ? HOSTILE : 'This command deletes a home folder.',
        time: new Date(Date.parse('2026-11-18T06:00:00Z') + i * 1000).toISOString(),
      })),
    )
    await gateway.rows('select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
      ...[machine, LOG, first, prev, count, last.hash, text, listingIn({ text })],
    ])
    await publish(admin, numbered(1))
    await publish(admin, numbered(2, { 'hooks/guard/check.sh': 'true' }), { shadow: true })
    const proof = { at: '2026-11-18T06:00:00Z', ok: true, stale: false }
    const report = {
      ...{ carabiner: '1.0.0', time: new Date().toISOString(), binding: true, problem: HOSTILE },
      agents: [{ name: 'codex', asks: true, proof }],
      missing: ['claude-code'],
    }
    await gateway.rows('select fleet.keep_report($1, $2)', [machine, JSON.stringify(report)])
    await gateway.close()
    browser = await startChromium()
    tab = await openTab(browser, { width: 380, height: 760 })
    page = tab.page
    page.setDefaultTimeout(20_000)
    ;[authenticator, authenticatorId] = await authenticated(tab)
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    await admin?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
    expect(served?.problems).toEqual([])
  })

  /** What axe finds wrong, light and dark, wide and narrow; and whatever is wider than the window. */
  async function faults(): Promise<readonly string[]> {
    const found: string[] = []
    for (const colorScheme of ['dark', 'light'] as const)
      for (const width of [1280, 380]) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.setViewportSize({ width, height: 760 })
        const violations = await page.evaluate(`${AXE}; axe.run().then(({ violations }) => violations)`)
        for (const { id, nodes } of violations as { id: string; nodes: { html: string }[] }[])
          found.push(`${colorScheme} ${width} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        if (wide) found.push(`${colorScheme} ${width}: wider than the window`)
      }
    return found
  }

  /** For the documentation, where CARABINER_PICTURES says. */
  async function pictures(name: string): Promise<void> {
    if (KEPT === undefined) return
    mkdirSync(KEPT, { recursive: true })
    for (const [kind, colorScheme, width, height] of [
      ['light', 'light', 1000, 480],
      ['phone', 'dark', 380, 760],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height })
      await page.evaluate('scrollTo(0, 0)')
      const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' })
      writeFileSync(join(KEPT, `${name}-${kind}.png`), picture)
    }
  }

  /** A machine whose hook has just asked. */
  async function askingMachine(name = 'build-9') {
    const home = join(folder, name)
    const member = await joined(fleet, served.url, home, name)
    const client = clientOf(member)
    const learnPeople = () => fetchPeople(client, member, { dataDir: home })
    await learnPeople()
    const queue = new FileApprovals({
      stateDir: join(home, 'state'),
      dataDir: home,
      approversFile: join(home, 'none'),
    })
    const mirror = new Mirror({ client, queue, learnPeople, dataDir: home })
    const question = madeQuestion({
      call: { tool_name: 'Bash', tool_input: { command: 'deploy production --service checkout' } },
      session: 's-4f2c',
      cwd: '/home/ann/shop',
      prompt: 'Deploy to production?',
      hook: 'deploy-gate',
    })
    await queue.raise(question, { project: '/home/ann/shop' })
    await mirror.exchange(0)
    return { queue, mirror, question }
  }

  const role = (wanted: Person['role']) => people.write({ name: 'ann', role: wanted, keys: [key] })

  it('lets nobody in who is not on the list, and says so', async () => {
    await page.goto(served.origin)
    await page.fill('input', 'ann')
    await page.click('text=Make a passkey')
    const command = await page.textContent('.typed code')
    const [, code = ''] =
      /^carabiner fleet people add ann ([\w-]+) --role approver$/.exec(command ?? '') ?? []
    key = readPersonCode(code)
    expect(key).toMatchObject({ kind: 'passkey', rpId: 'fleet.localhost', origin: served.origin })
    expect(await faults()).toEqual([])
    await page.click('text=Sign in with a passkey')
    await page.waitForSelector('text=not on the list of the fleet')
  })

  it('lets somebody in whom the administrator has added', async () => {
    await role('viewer')
    await page.click('text=Sign in with a passkey')
    await page.waitForSelector('text=No question waits for an answer.')
    expect(await page.textContent('.state')).toContain('ann viewer')
    const [cookie] = await tab.context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict' })
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  it('Approvals: shows a question of a machine as it is asked, without a way to answer for a viewer', async () => {
    asking = await askingMachine()
    await page.waitForSelector('.card.waiting')
    expect(await page.textContent('.card')).toMatch(/machine.*build-9/s)
    expect(await page.locator('.card button').count()).toBe(0)
    expect(await page.textContent('.count')).toBe('1 open')
    expect(await faults()).toEqual([])
  })

  it('Approvals: an approver allows it with a passkey, and the machine uses that once', async () => {
    const { queue, mirror, question } = asking
    await role('approver')
    await page.reload()
    await page.waitForSelector('text=Allow once with a passkey')
    await pictures('approvals')
    expect(await faults()).toEqual([])
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.click('text=Allow once with a passkey')
    await page.waitForSelector('.answer .bad')
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.click('text=Allow once with a passkey')
    await page.waitForSelector('text=is allowed, once')
    await page.waitForSelector('text=No question waits for an answer.')
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    expect(await queue.take(question)).toBeUndefined()
  })

  it('Approvals: denies with a reason', async () => {
    const { queue, mirror, question } = await askingMachine('build-10')
    await page.waitForSelector('.card.waiting')
    await page.fill('.reasoning', 'use staging')
    await page.click('text=Deny')
    await page.waitForSelector('text=is denied.')
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'deny', reason: 'use staging' })
  })

  it('Approvals: opens the question of a link, also one that waits behind too many', async () => {
    const { queue, mirror, question } = await askingMachine('build-11')
    const [row] = await run(fleet.owner, ['select id from fleet.question order by asked desc limit 1'])
    const id = String(row?.id)
    await run(fleet.owner, [
      `insert into fleet.question (org, id, machine, body, people, expires, asked)
        select org, 'zzzz-' || lpad(n::text, 4, '0'), machine, replace(body, id, 'zzzz-' || lpad(n::text, 4, '0')),
          people, expires, asked - interval '1 hour'
        from fleet.question, generate_series(1, 120) n where id = '${id}'`,
    ])
    await page.goto(`${served.origin}/#/approvals/${id}`)
    await page.waitForSelector(`#question-${id}`)
    expect(await page.locator('.card.waiting h2').first().getAttribute('id')).toBe(`question-${id}`)
    await run(fleet.owner, [`delete from fleet.question where id like 'zzzz-%'`])
    await page.fill('.reasoning', 'no')
    await page.click('text=Deny')
    await page.waitForSelector('text=The question of this link does not wait for an answer any more.')
    expect(await faults()).toEqual([])
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'deny' })
  })

  it('asks a gateway that is slow once at a time, and again after what changed meanwhile', async () => {
    const questions = /\/api\/questions/
    let [running, most, count] = [0, 0, 0]
    page.on('request', (request) => {
      if (!questions.test(request.url())) return
      count++
      most = Math.max(most, ++running)
    })
    const ended = (request: Request) => {
      if (questions.test(request.url())) running--
    }
    page.on('requestfinished', ended)
    page.on('requestfailed', ended)
    await page.route(questions, async (route) => {
      await setTimeout(300)
      await route.continue()
    })
    await page.reload()
    await page.waitForSelector('text=No question waits for an answer.')
    await expect.poll(() => running).toBe(0)
    most = 0
    const before = count
    for (let i = 0; i < 10; i++) {
      served.changed()
      await setTimeout(60)
    }
    await expect.poll(() => running).toBe(0)
    expect(count).toBeGreaterThan(before)
    expect([most, count < before + 5]).toEqual([1, true])
    await page.unroute(questions)
  })

  it('Machines: shows what was shipped, without a way to retire for a viewer', async () => {
    await role('viewer')
    await page.goto(`${served.origin}/#/machines`)
    await page.reload()
    await page.waitForSelector('text=laptop-7')
    expect(await page.textContent('.card:has-text("laptop-7")')).toMatch(/last contact.*130 records/s)
    expect(await page.locator('text=Retire this machine').count()).toBe(0)
    expect(await faults()).toEqual([])
  })

  it('Policy: shows rings, what machines enforce, what a shadow would have changed, and differences', async () => {
    await page.click('nav >> text=Policy')
    await page.waitForSelector('text=all, ring 1')
    expect(await page.textContent('.card:has-text("all, ring 1")')).toContain(
      'version 1, and version 2 in shadow mode',
    )
    const card = await page.textContent('.card:has-text("laptop-7")')
    expect(card).toContain(HOSTILE)
    expect(card).toContain('unguarded: has an agent that does not ask Carabiner: claude-code')
    expect(await page.textContent('.card:has-text("build-3")')).toContain('silent')
    const shadow = await page.textContent('.card:has-text("rule no-push")')
    expect(shadow).toContain('would deny 1 call on 1 machine, 1 of them went on')
    await page.waitForSelector('text=hooks/guard/check.sh')
    expect(await page.textContent('section:has-text("Differences") ul')).toMatch(
      /added hooks\/guard\/check\.sh.*changed rules\.json/s,
    )
    expect(await faults()).toEqual([])
  })

  it('Audit: shows the newest first, hostile text as text, and older ones on demand', async () => {
    await page.click('nav >> text=Audit')
    await page.waitForSelector('.record')
    expect(await page.locator('.record').count()).toBe(100)
    expect(await page.textContent('.record')).toContain(HOSTILE)
    expect(await page.title()).toBe('Audit · acme · Carabiner')
    await page.click('.record')
    await page.waitForSelector('.details .foot')
    expect(await page.textContent('.details')).toContain('session s-129')
    expect(await faults()).toEqual([])
    await page.click('.record')
    await page.click('text=Show older entries')
    await expect.poll(() => page.locator('.record').count()).toBe(130)
    await page.selectOption('select', 'deny')
    await expect.poll(() => page.locator('.record').count()).toBe(13)
  })

  it('is still open after it was left and entered by a link from another site', async () => {
    await page.goto('about:blank')
    await page.evaluate(`location.href = '${served.origin}/#/audit'`)
    await page.waitForSelector('.record')
  })

  it('Machines: an admin retires one with a passkey', async () => {
    await role('admin')
    await page.goto(`${served.origin}/#/machines`)
    await page.reload()
    const card = page.locator('.card:has-text("build-3")')
    await card.locator('summary').click()
    expect(await faults()).toEqual([])
    await card.locator('text=Retire build-3 with a passkey').click()
    await page.waitForSelector('text=build-3 is retired.')
    await page.waitForSelector('.gone:has-text("by ann")')
    expect(await run(fleet.owner, ["select retired_by from fleet.machine where name = 'build-3'"])).toEqual([
      { retired_by: 'ann' },
    ])
  })

  it('shows the way in to somebody who was removed, at once', async () => {
    await people.write()
    served.changed()
    await page.waitForSelector('text=Sign in with a passkey')
    expect(await page.locator('text=laptop-7').count()).toBe(0)
    expect((await page.goto(`${served.origin}/main.js`))?.status()).toBe(401)
  })

  it('has no error but the refusals above', async () => {
    expect(tab.errors.filter((text) => !/status of 40[13]/.test(text))).toEqual([])
  })
})
