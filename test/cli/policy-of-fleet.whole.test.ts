// The built program on a machine whose fleet sent a policy: every command that judges or tells obeys it from its start.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { inForcePath, userPlace } from '../../src/files/fleet-places.js'
import { fromNow, HOUR_MS, putPolicyAt, type Sent } from '../config/fleet-place.js'
import { Project, withProgram } from './program.js'

withProgram()

const ENFORCED = {
  'rules.json':
    '{ "rules": [{ "id": "no-removal", "effects": ["delete"], "then": "deny", "say": "the fleet says no" }] }',
  'pack.json': { bash: { deny: ['deploy *'] } },
}
const call = (command: string) => ({
  hook_event_name: 'PreToolUse',
  session_id: 's1',
  tool_name: 'Bash',
  tool_input: { command },
})

let project: Project
beforeEach(() => {
  project = new Project()
  onTestFinished(() => project.remove())
})

const dataHome = () => join(project.home, '.local', 'share', 'carabiner')
const policyFolder = () => userPlace(dataHome()).policy

function sends(sent: Sent): void {
  mkdirSync(policyFolder(), { recursive: true, mode: 0o700 })
  putPolicyAt(policyFolder(), sent)
}

const fire = (command: string) => project.carabiner(['fire', '--as', 'claude-code'], { input: call(command) })
const guard = (env = {}) =>
  project.carabiner(['hook', 'pre-tool-use'], { input: call('deploy --to production'), env })

describe('a policy of the fleet', () => {
  it('denies in fire, in the words of its rule', async () => {
    sends({ enforced: ENFORCED })
    const { stdout } = await fire('rm a.txt')
    expect(stdout).toContain('"deny"')
    expect(stdout).toContain('the fleet says no')
  })

  it('denies in the guard, in the words of its list', async () => {
    expect((await guard()).stdout).not.toContain('"deny"')
    sends({ enforced: ENFORCED })
    const { stdout } = await guard()
    expect(stdout).toContain('"deny"')
    expect(stdout).toContain('deploy *')
  })

  it('is shown by list and doctor', async () => {
    sends({ enforced: ENFORCED })
    const { stdout } = await project.carabiner(['list', '--json'])
    expect(stdout).toContain('no-removal')
    expect(stdout).not.toContain('not read yet')
    expect((await project.carabiner(['doctor'])).stdout).not.toContain('not read yet')
  })

  it('trusts and revokes for trust', async () => {
    const revoked = { ['0'.repeat(64)]: { by: 'Ada', at: '2026-11-18T09:00:00Z' } }
    sends({ trust: { trusted: {}, revoked } })
    project.hooks({ PreToolUse: [['Bash', 'true']] })
    const { code, stderr } = await project.carabiner(['trust', '--yes'])
    expect(stderr).not.toContain('not read yet')
    expect(code).toBe(0)
  })

  // A project that says where the user's files are must not make the guard look for the policy there.
  it.for(['CARABINER_HOME', 'XDG_DATA_HOME'])('counts although the project sets %s', async (name) => {
    sends({ enforced: ENFORCED })
    const other = join(project.base, 'other')
    mkdirSync(other)
    project.file('.claude/settings.json', { env: { [name]: other } })
    const { stdout } = await guard({ [name]: other })
    expect(stdout).toContain('"deny"')
    expect(stdout).toContain('deploy *')
    const fired = await project.carabiner(['fire', '--as', 'claude-code'], {
      input: call('rm a.txt'),
      env: { [name]: other },
    })
    // It runs no hook at all.
    expect(fired.stdout).toContain('"block"')
    expect(fired.stdout).toContain('which only you may decide')
  })

  it.for([
    ['damaged', () => writeFileSync(inForcePath(policyFolder()), '{')],
    ['expired', () => sends({ enforced: ENFORCED, expires: fromNow(-HOUR_MS) })],
  ] as const)('that is %s closes fire and the guard', async ([, spoil]) => {
    sends({ enforced: ENFORCED })
    spoil()
    for (const { stdout } of [await fire('ls'), await guard()]) {
      expect(stdout).toContain('"deny"')
      expect(stdout).toContain('cannot be relied on')
      expect(stdout).toContain('carabiner fleet policy fetch')
    }
  })
})
