// Limits of rules where every call is a process of its own.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { Project, withProgram } from '../cli/program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

function rules(...list: readonly object[]): void {
  project.file('../home/.amplifier/rules.json', { rules: list })
}

const INSTALL = { tool_name: 'Bash', tool_input: { command: 'npm install x' } }
const FEW = { id: 'few', effects: ['install'], then: 'deny', at_most: 3, per: 'session' }

async function fire(input: object, ...more: readonly string[]): Promise<Outcome> {
  const { stdout } = await project.carabiner(['fire', 'PreToolUse', '--json', ...more], { input })
  return JSON.parse(stdout) as Outcome
}

describe('a limit', () => {
  it('lets exactly so many of the calls pass that are made at the same time', async () => {
    rules(FEW)
    const fired = await Promise.all(Array.from({ length: 8 }, () => fire({ session_id: 's', ...INSTALL })))
    expect(fired.map(({ action }) => action).sort()).toEqual([
      ...Array(3).fill('continue'),
      ...Array(5).fill('deny'),
    ])
  })

  it('counts a call once that two processes judge', async () => {
    rules({ ...FEW, at_most: 1 })
    const call = { session_id: 's', tool_use_id: 'toolu_1', ...INSTALL }
    const fired = await Promise.all([fire(call), fire(call)])
    expect(fired.map(({ action }) => action)).toEqual(['continue', 'continue'])
    expect((await fire({ ...call, tool_use_id: 'toolu_2' })).action).toBe('deny')
  })

  it('cannot be counted without a session, and says so', async () => {
    rules(FEW)
    expect(await fire(INSTALL)).toMatchObject({
      action: 'deny',
      reason: expect.stringContaining('cannot be counted (the event names no session (session_id))'),
    })
  })

  it('counts denied calls, and ends the turn', async () => {
    rules(
      { id: 'keep', effects: ['delete'], then: 'deny' },
      { id: 'stuck', effects: '*', then: 'end_turn', denies: 2, per: 'turn' },
    )
    const rm = { session_id: 's', tool_name: 'Bash', tool_input: { command: 'rm a' } }
    const actions: string[] = []
    for (let i = 0; i < 3; i++) actions.push((await fire(rm)).action)
    expect(actions).toEqual(['deny', 'deny', 'abort_turn'])
  })
})

describe('a rule for one agent', () => {
  it('counts if that agent asks', async () => {
    rules({ id: 'only', effects: ['install'], then: 'deny', in: { agents: ['codex'] } })
    const sent = { hook_event_name: 'PreToolUse', session_id: 's', cwd: project.folder, ...INSTALL }
    const as = async (agent: string) =>
      (await project.carabiner(['fire', '--as', agent], { input: sent })).stdout.includes('The rule only')
    expect([await as('codex'), await as('claude-code')]).toEqual([true, false])
  })
})
