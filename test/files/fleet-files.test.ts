// A process that began without a fleet, and what it says of one that has just come: never that there is none.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { userPlace } from '../../src/files/fleet-places.js'
import type { Hooks } from '../../src/hooks.js'
import { madeQuestion } from '../approvals/made-question.js'
import { putPolicyAt } from '../config/fleet-place.js'

// As in a new process, nothing is loaded.
beforeEach(() => void vi.resetModules())

const RULES =
  '{ "rules": [{ "id": "no-removal", "effects": ["delete"], "then": "deny", "say": "the fleet says no" }] }'
const REMOVES = { tool_name: 'Bash', tool_input: { command: 'rm a.txt' } }
const REVOKED = { ['0'.repeat(64)]: { by: 'Ada', at: '2026-11-18T09:00:00Z' } }

function machine() {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const { marker, policy } = userPlace(dataDir)
  const rootKey = newKeyPair().publicKey.toString('base64url')
  return {
    ...{ folder, dataDir },
    place: { folder: policy, owner: process.getuid?.() ?? 0 },
    fetch: () =>
      putPolicyAt(policy, {
        enforced: { 'rules.json': RULES },
        trust: { trusted: {}, revoked: REVOKED },
      }),
    join: () => {
      mkdirSync(dirname(marker), { recursive: true, mode: 0o700 })
      const text = { format: 1, url: 'https://fleet.example', machine: 'id', name: 'm', rootKey }
      writeFileSync(marker, JSON.stringify(text), { mode: 0o600 })
    },
  }
}

it('without a fleet there is nothing, and nothing is loaded', async () => {
  const { dataDir, place } = machine()
  const files = await import('../../src/files/fleet-files.js')
  await files.readyForFleet(dataDir)
  await files.readyForPolicies([place])
  expect(files.fleetPolicies(place)).toEqual([])
  expect(files.fleetTrust([place])).toEqual({ trusted: {}, revoked: {} })
  expect(() => files.fleetReader()).toThrow(/not read yet; try again/)
})

it('a policy that comes meanwhile is a problem until it is read, and is read by itself', async () => {
  const { place, fetch } = machine()
  const files = await import('../../src/files/fleet-files.js')
  const { Looks, recordLooks } = await import('../../src/files/looks.js')
  const policies = () => files.fleetPolicies(place)
  const [before, between] = [new Looks(), new Looks()]
  recordLooks(before, policies)
  expect(before.hold()).toBe(true)
  fetch()
  expect(before.hold()).toBe(false)
  expect(() => files.fleetTrust([place])).toThrow(/not read yet; try again/)
  expect(recordLooks(between, policies)).toEqual([
    expect.objectContaining({ problem: expect.stringContaining('not read yet'), todo: 'Try again.' }),
  ])
  await vi.waitFor(() => expect(files.fleetTrust([place])).toEqual({ trusted: {}, revoked: REVOKED }))
  // What was made of the problem does not count any more.
  expect(between.hold()).toBe(false)
  expect(policies()).toEqual([expect.objectContaining({ source: 'fleet', folder: expect.any(String) })])
  expect(policies()[0]).not.toHaveProperty('problem')
})

it('after waiting for it, it is read at once', async () => {
  const { place, fetch } = machine()
  fetch()
  const files = await import('../../src/files/fleet-files.js')
  await files.readyForPolicies([place])
  expect(files.fleetPolicies(place)[0]).not.toHaveProperty('problem')
  expect(files.fleetTrust([place]).revoked).toEqual(REVOKED)
})

it('hooks obey a policy that was there, and one that came while they were in use', async () => {
  const { folder, place, fetch } = machine()
  const project = join(folder, 'project')
  mkdirSync(project)
  const { hooksUnder } = await import('../../src/runtime.js')
  const company = { path: join(folder, 'none'), fleet: [place] }
  const fired = (hooks: Hooks) => hooks.session({ cwd: project }).fire('PreToolUse', REMOVES)
  const denied = { action: 'deny', reason: expect.stringContaining('the fleet says no') }
  const begun = async () => {
    const hooks = await hooksUnder(company, { projectDir: project, home: folder, globals: false })
    onTestFinished(() => hooks.close())
    return hooks
  }
  const resident = await begun()
  expect(await fired(resident)).toMatchObject({ action: 'continue' })
  fetch()
  await resident.reload()
  expect(await fired(resident)).toMatchObject(denied)
  vi.resetModules()
  expect(await fired(await begun())).toMatchObject(denied)
})

describe('on a machine that joins while a program runs, nobody allows by typing', () => {
  // There is no list of people yet.
  const NO_LIST = /list of people/

  async function asking() {
    const { folder, dataDir, join: enter } = machine()
    const { fileApprovals } = await import('../../src/store/approvals/file-approvals.js')
    const queue = fileApprovals({
      stateDir: join(folder, 'state'),
      dataDir,
      approversFile: join(folder, 'none'),
    })
    return { queue, enter, question: madeQuestion() }
  }
  const PROJECT = { project: '/project' }
  const ALLOW = { option: 'allow', by: 'ada' }

  it('a question that is raised', async () => {
    const { queue, enter, question } = await asking()
    enter()
    await expect(queue.raise(question, PROJECT)).rejects.toThrow(NO_LIST)
  })

  it('a question that is answered', async () => {
    const { queue, enter, question } = await asking()
    const { id } = await queue.raise(question, PROJECT)
    enter()
    await expect(queue.answer(id, ALLOW)).rejects.toThrow(NO_LIST)
    await expect(queue.take(question)).rejects.toThrow(NO_LIST)
  })

  it('an answer that is used, and one that is waited for', async () => {
    const { queue, enter, question } = await asking()
    const { id } = await queue.raise(question, PROJECT)
    let looks = 0
    const isWorthwhile = async () => {
      looks++
      // The machine joins between two looks.
      if (looks === 1) enter()
      await Promise.resolve(queue.answer(id, ALLOW)).catch(() => {})
      return true
    }
    const waiting = queue.wait(question, { until: performance.now() + 60_000, isWorthwhile })
    await expect(waiting).rejects.toThrow(NO_LIST)
    expect(looks).toBe(1)
  })
})
