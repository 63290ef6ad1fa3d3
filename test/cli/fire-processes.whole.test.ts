import { spawn } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { until } from '../runners/until.js'
import { BASH, ended, isRunning, Project, programFile, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const json = async (args: readonly string[], input?: RunOptions['input']) => {
  const all = ['fire', '--trust-all', '--json', ...args]
  const { code, stdout } = await project.carabiner(all, input === undefined ? {} : { input })
  return { code, outcome: JSON.parse(stdout) as Outcome }
}

describe('time and processes', () => {
  it('--timeout bounds the whole fire', async () => {
    project.hooks({ PreToolUse: [['Bash', 'sleep 300']] })
    const { code, outcome } = await json(['PreToolUse', '--timeout', '0.3'], BASH)
    expect([code, outcome.hooks[0]?.why]).toEqual([2, 'HOOK_TIMEOUT'])
  })

  it('waits for async hooks', async () => {
    const hooks = [{ type: 'command', command: 'sleep 0.3; touch done', async: true }]
    project.file('.amplifier/hooks/hooks.json', { hooks: { Stop: [{ hooks }] } })
    const { code, outcome } = await json(['Stop'])
    expect([code, outcome.hooks[0]?.status, project.has('done')]).toEqual([0, 'detached', true])
  })

  it('has printed its verdict by the time it waits for async hooks, and keeps it if it is ended then', async () => {
    const hooks = [
      { type: 'command', command: 'echo no >&2; exit 2' },
      { type: 'command', command: 'echo $$ > pid; sleep 300', async: true },
    ]
    project.file('.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks }] } })
    project.file('call.json', { ...BASH, session_id: 's1' })
    const args = ['fire', 'PreToolUse', '--payload', 'call.json', '--trust-all', '--json']
    const child = spawn(process.execPath, [programFile(), ...args], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const run = ended(child)
    await new Promise((resolve) => child.stdout.once('data', resolve))
    await until('the async hook runs', () => project.has('pid') && project.read('pid').endsWith('\n'))
    child.kill('SIGTERM')
    const { code, stdout } = await run
    expect([code, JSON.parse(stdout).action]).toEqual([2, 'deny'])
    expect(isRunning(Number(project.read('pid')))).toBe(false)
    const next = await json(['PreToolUse', '--payload', 'call.json'])
    expect(next.outcome.diagnostics).toMatchObject([{ code: 'late-failed' }])
  })

  it('leaves no process behind', async () => {
    project.hooks({ Stop: [['', 'sleep 300 & echo $! > pid']] })
    expect((await json(['Stop'])).code).toBe(0)
    expect(isRunning(Number(project.read('pid')))).toBe(false)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends the hooks, then the program with %i', async (signal, expected) => {
    project.hooks({ Stop: [['', `trap '' TERM INT; echo $$ > pid; sleep 300 & wait`]] })
    const child = spawn(process.execPath, [programFile(), 'fire', 'Stop', '--trust-all', '--json'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const run = ended(child)
    await until('the hook runs', () => project.has('pid') && project.read('pid').endsWith('\n'))
    child.kill(signal)
    const { code, stdout } = await run
    expect(code).toBe(expected)
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'ABORTED' })
    expect(isRunning(Number(project.read('pid')))).toBe(false)
  })

  it('SIGTERM ends an async hook that nobody would wait for; the verdict was told, and stands', async () => {
    const command = `trap '' TERM; echo $$ > pid; sleep 300 & wait`
    project.file('.amplifier/hooks/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command, async: true }] }] },
    })
    const child = spawn(process.execPath, [programFile(), 'fire', 'Stop', '--trust-all'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const run = ended(child)
    await until('the hook runs', () => project.has('pid') && project.read('pid').endsWith('\n'))
    child.kill('SIGTERM')
    expect((await run).code).toBe(0)
    expect(isRunning(Number(project.read('pid')))).toBe(false)
  })
})
