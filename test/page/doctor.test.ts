// Fixes on the page: only those that tighten, only of what is found now.

import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DoctorView, FindingView } from '../../src/page/view/doctor.js'
import { Project, withProgram } from '../cli/program.js'
import { pageQueue, type Served, servePage } from './served-page.js'
import { fireBash, shopHooks } from './shop.js'
import { type Ask, tabOf } from './visitor.js'

withProgram()

let project: Project
let served: Served
let ask: (path: string, body?: object) => ReturnType<Ask>
beforeEach(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  served = await servePage(project)
  const tab = await tabOf(served)
  ask = (path, body) => tab(body ? 'POST' : 'GET', path, body)
})
afterEach(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
})

async function found(code: string): Promise<FindingView | undefined> {
  const { families } = (await ask('api/doctor')).answer as DoctorView
  return families.flatMap(({ findings }) => findings).find((one) => one.code === code)
}

const fix = (id: string | undefined) => ask('api/doctor/fix', { id })

/** A hook of the user that starts a script which is not executable. */
function ownScript(): string {
  const folder = join(project.home, '.amplifier/hooks/own')
  const script = join(folder, 'check.sh')
  mkdirSync(folder, { recursive: true })
  writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o640 })
  const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `"${script}"` }] }] }
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks }))
  return script
}

describe('a fix', () => {
  it('that would let a program run has no button, and is refused', async () => {
    const script = ownScript()
    const finding = await found('not-executable')
    expect(finding?.button).toBeUndefined()
    expect(finding?.fix).toContain('chmod +x')
    expect(await fix(finding?.id)).toMatchObject({
      status: 403,
      answer: { problem: expect.stringContaining('carabiner doctor --fix') },
    })
    expect(statSync(script).mode & 0o777).toBe(0o640)
  })

  it('revokes a grant of a hook that is gone', async () => {
    shopHooks(project)
    await fireBash(project, 'deploy staging')
    await project.call(['approvals', 'allow', pageQueue(project).open()[0]?.id ?? '', '--always'])
    await fireBash(project, 'deploy staging')
    rmSync(join(project.home, '.amplifier/hooks/deploy-gate'), { recursive: true })
    const finding = await found('grant-stale')
    expect(finding?.button).toBe('Revoke the grant')
    expect(await fix(finding?.id)).toMatchObject({ status: 200 })
    expect(await found('grant-stale')).toBeUndefined()
    expect(await fix(finding?.id)).toMatchObject({ status: 409 })
  })

  it('is never offered for a script of the project, which is trusted with its mode', async () => {
    const script = project.file('check.sh', '#!/bin/sh\nexit 0\n', 0o644)
    project.hooks({ PreToolUse: [['Bash', `"${script}"`]] })
    const finding = await found('not-executable')
    expect(finding).toBeDefined()
    expect(finding?.button).toBeUndefined()
    expect(await fix(finding?.id)).toMatchObject({ status: 403 })
    expect(statSync(script).mode & 0o777).toBe(0o644)
  })

  it('is refused for a file of the project that a hook of the user starts', async () => {
    const script = ownScript()
    rmSync(script)
    const inside = project.file('check.sh', '#!/bin/sh\nexit 0\n', 0o644)
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `"${inside}"` }] }] }
    writeFileSync(join(dirname(script), 'hooks.json'), JSON.stringify({ hooks }))
    const finding = await found('not-executable')
    expect(await fix(finding?.id)).toMatchObject({ status: 403 })
    expect(statSync(inside).mode & 0o777).toBe(0o644)
  })

  it('takes no path from the page', async () => {
    const script = ownScript()
    chmodSync(script, 0o600)
    for (const id of ['', script, 'f'.repeat(64)]) expect(await fix(id)).toMatchObject({ status: 409 })
    expect(statSync(script).mode & 0o777).toBe(0o600)
  })
})
