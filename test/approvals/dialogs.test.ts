// Where whoever allows has to sign, nobody allows in a dialog: not in the one of an agent, and not in that of an MCP client.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { mcpApprover } from '../../src/adapters/mcp/approver.js'
import { userPlace } from '../../src/files/fleet-places.js'
import { isSignatureNeeded } from '../../src/store/approvers.js'
import { Project, withProgram } from '../cli/program.js'
import { madeQuestion } from './made-question.js'

withProgram()

describe('on a machine of a fleet', () => {
  let project: Project
  beforeEach(() => {
    project = new Project()
    const { marker } = userPlace(data())
    mkdirSync(dirname(marker), { recursive: true, mode: 0o700 })
    const rootKey = 'A'.repeat(43)
    const machine = '11111111-2222-4333-8444-555555555555'
    const membership = { format: 1, url: 'https://fleet.example', machine, name: 'm', rootKey }
    writeFileSync(marker, JSON.stringify(membership), { mode: 0o600 })
    const rules = '{"rules":[{"id":"no-rm","effects":["delete"],"then":"ask"}]}'
    mkdirSync(join(project.home, '.amplifier'))
    writeFileSync(join(project.home, '.amplifier', 'rules.json'), rules)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    project.remove()
  })
  const data = () => join(project.home, 'data')

  it.each(['claude-code', 'qwen', 'droid', 'codex'])(
    'a question of a hook is denied under %s until somebody has signed',
    async (agent) => {
      const { stdout, stderr, code } = await project.call(['fire', '--as', agent], {
        env: { CARABINER_HOME: data() },
        input: {
          ...{ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash', cwd: project.folder },
          tool_input: { command: 'unlink a.txt' },
        },
      })
      const said = `${code} ${stdout}${stderr}`
      expect(said).toMatch(/deny|denied|block|^2 /)
      expect(said).not.toMatch(/"(?:permissionDecision|decision)":\s*"ask"/)
    },
  )

  it('an MCP client that could ask is not asked', async () => {
    vi.stubEnv('CARABINER_HOME', data())
    const client = { asks: () => true, ask: () => expect.unreachable() }
    const approver = mcpApprover(client, { projectDir: project.folder, log: () => {} })
    const reply = await approver(madeQuestion(), new AbortController().signal)
    expect(reply).toMatchObject({ option: 'Deny', reason: expect.stringContaining('list of people') })
  })

  it('and so it is where a list of approvers is there, whatever is in it', () => {
    const file = project.path('approvers.json')
    const dataDir = project.path('nothing')
    expect(isSignatureNeeded({ approversFile: file, dataDir })).toBe(false)
    writeFileSync(file, 'not a list')
    expect(isSignatureNeeded({ approversFile: file, dataDir })).toBe(true)
    expect(isSignatureNeeded({ approversFile: '/none', dataDir: data() })).toBe(true)
  })
})
