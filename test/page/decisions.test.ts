// What people decided, as the page tells it: grants, which anybody takes back, and who answered what.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnswerView, GrantsView } from '../../src/page/view/approvals.js'
import { writeApprovers } from '../../src/store/approvers.js'
import { Project, withProgram } from '../cli/program.js'
import { approversFile, pageQueue, type Served, servePage } from './served-page.js'
import { fireBash, shopHooks } from './shop.js'
import { type Ask, tabOf } from './visitor.js'

withProgram()

const isRoot = process.getuid?.() === 0

let project: Project
let served: Served
let ask: (path: string, body?: object) => ReturnType<Ask>
beforeEach(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  shopHooks(project)
  served = await servePage(project)
  const tab = await tabOf(served)
  ask = (path, body) => tab(body ? 'POST' : 'GET', path, body)
})
afterEach(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
})

const openId = () => pageQueue(project).open()[0]?.id ?? ''
const answers = async () => ((await ask('api/answers')).answer as { answers: readonly AnswerView[] }).answers
const grants = async () => (await ask('api/grants')).answer as GrantsView

/** A person typed that this is always allowed, and the agent made the call again. */
async function alwaysAllowed(command: string): Promise<void> {
  await fireBash(project, command)
  expect((await project.call(['approvals', 'allow', openId(), '--always'])).code).toBe(0)
  await fireBash(project, command)
}

describe('a grant', () => {
  it('says what is allowed, by whom and since when, and is taken back with the cookie alone', async () => {
    await alwaysAllowed('deploy staging')
    const { grants: all, troubles } = await grants()
    expect(troubles).toEqual([])
    expect(all).toMatchObject([
      {
        what: 'Bash',
        about: '{"command":"deploy staging"}',
        hook: expect.stringContaining('deploy-gate'),
        by: expect.stringMatching(/./),
        since: expect.stringMatching(/^\d{4}-/),
      },
    ])
    expect(await ask('api/revoke', { id: all[0]?.id })).toEqual({ status: 200, answer: {} })
    expect((await grants()).grants).toEqual([])
    await fireBash(project, 'deploy staging')
    expect(openId()).not.toBe('')
    const [revoked] = await answers()
    expect(revoked).toMatchObject({ said: 'revoked', by: 'tester', tool: 'Bash' })
  })

  it('is taken back once', async () => {
    await alwaysAllowed('deploy staging')
    const [one] = (await grants()).grants
    await ask('api/revoke', { id: one?.id })
    expect(await ask('api/revoke', { id: one?.id })).toMatchObject({
      status: 409,
      answer: { problem: 'There is no such grant any more' },
    })
    expect(await ask('api/revoke', { id: '' })).toMatchObject({ status: 409 })
  })

  it.runIf(isRoot)('does not count where passkeys are needed, and the page says so', async () => {
    await alwaysAllowed('deploy staging')
    writeApprovers([{ name: 'ann', id: 'aWQ', publicKey: 'a2V5' }], approversFile(project))
    const { grants: all, troubles } = await grants()
    expect(all).toEqual([])
    expect(troubles).toEqual([expect.stringContaining('1 grant does')])
  })
})

describe('who answered', () => {
  it('is told with the call, the question, the way and whether it was used', async () => {
    await fireBash(project, 'deploy production')
    await project.call(['approvals', 'allow', openId()])
    expect(await answers()).toMatchObject([
      {
        said: 'allowed once',
        how: 'in a terminal',
        tool: 'Bash',
        gist: 'deploy production',
        asks: [{ hook: 'deploy-gate:PreToolUse#1', prompt: 'Deploy to production?' }],
        session: 's-91c4',
      },
    ])
    expect((await answers())[0]?.used).toBeUndefined()
    await fireBash(project, 'deploy production')
    const after = await answers()
    expect(after).toHaveLength(1)
    expect(after[0]?.used).toMatch(/^\d{4}-/)
  })

  it('tells a deny on the page from one in a terminal, and two calls apart', async () => {
    await fireBash(project, 'deploy one')
    await ask('api/deny', { id: openId(), reason: 'use staging' })
    await fireBash(project, 'deploy two')
    await project.call(['approvals', 'deny', openId()])
    expect(await answers()).toMatchObject([
      { said: 'denied', gist: 'deploy two', how: 'in a terminal' },
      { said: 'denied', gist: 'deploy one', how: 'on the page', by: 'tester', reason: 'use staging' },
    ])
  })

  it('is empty where nobody was asked', async () => {
    await fireBash(project, 'ls')
    expect(await answers()).toEqual([])
  })
})
