// `carabiner fire --as HOST`: the program as the hook of an agent.

import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, GUARD, Project, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const fireAs = (host: string, args: readonly string[], input?: RunOptions['input'], more: RunOptions = {}) =>
  project.carabiner(['fire', '--trust-all', '--as', host, ...args], {
    ...(input !== undefined && { input }),
    ...more,
  })

const CALL = { hook_event_name: 'PreToolUse', session_id: 's', ...BASH }
const answering = (answer: object) => `echo '${JSON.stringify(answer)}'`
const specific = (more: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } })

describe('the answer', () => {
  beforeEach(() => project.hooks({ PreToolUse: [['Bash', GUARD]] }))

  it('of Claude Code', async () => {
    const { code, stdout, stderr } = await fireAs('claude-code', ['PreToolUse'], CALL)
    const permissionDecisionReason = 'rm -rf is not allowed here'
    expect([code, stderr]).toEqual([2, 'rm -rf is not allowed here\n'])
    expect(JSON.parse(stdout)).toEqual(specific({ permissionDecision: 'deny', permissionDecisionReason }))
  })

  it('of an agent with names of its own, for its events and tools', async () => {
    const matched = { ...BASH, hook_event_name: 'BeforeTool' }
    expect(JSON.parse((await fireAs('gemini', [], matched)).stdout)).toEqual({
      decision: 'deny',
      reason: 'rm -rf is not allowed here',
    })
    const copilot = {
      sessionId: 's',
      timestamp: 1,
      toolName: 'Bash',
      toolArgs: JSON.stringify(BASH.tool_input),
    }
    expect(JSON.parse((await fireAs('copilot', ['preToolUse'], copilot)).stdout)).toEqual({
      permissionDecision: 'deny',
      permissionDecisionReason: 'rm -rf is not allowed here',
    })
  })

  it('is none where nobody objects', async () => {
    const harmless = { ...CALL, tool_input: { command: 'ls' } }
    expect(await fireAs('claude-code', [], harmless)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await fireAs('cursor', [], harmless)).toEqual({ code: 0, stdout: '{}\n', stderr: '' })
  })

  it('is found from any folder of the project', async () => {
    mkdirSync(project.path('below'))
    const cwd = project.path('below')
    const env = { CLAUDE_PROJECT_DIR: project.folder }
    expect((await fireAs('claude-code', [], CALL, { cwd, env })).code).toBe(2)
    expect((await fireAs('claude-code', [], CALL, { cwd })).code).toBe(0)
  })
})

describe('what hooks say beside', () => {
  it('reaches the agent', async () => {
    const said = {
      ...specific({ updatedInput: { command: 'ls' }, additionalContext: 'ctx' }),
      systemMessage: 'msg',
    }
    project.hooks({ PreToolUse: [['Bash', answering(said)]] })
    const { code, stdout } = await fireAs('claude-code', [], CALL)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(said)
  })

  it('a stop comes with a deny', async () => {
    project.hooks({ PreToolUse: [['Bash', answering({ continue: false, stopReason: 'enough' })]] })
    expect(JSON.parse((await fireAs('claude-code', [], CALL)).stdout)).toEqual({
      continue: false,
      stopReason: 'enough',
      ...specific({ permissionDecision: 'deny', permissionDecisionReason: 'enough' }),
    })
  })

  it('of hooks that nobody trusts the user is told', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { code, stdout } = await project.carabiner(['fire', '--as', 'claude-code'], { input: CALL })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).systemMessage).toContain('trust')
  })
})

describe('a question that nobody answered', () => {
  it('is a deny', async () => {
    const ask = specific({ permissionDecision: 'ask', permissionDecisionReason: 'really?' })
    project.hooks({ PreToolUse: [['Bash', answering(ask)]] })
    const { code, stdout } = await fireAs('claude-code', [], CALL)
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toEqual(
      specific({
        permissionDecision: 'deny',
        permissionDecisionReason: 'A person must approve this, and nobody was asked: really?',
      }),
    )
  })
})

describe('what cannot be evaluated', () => {
  it.each<[string, readonly string[], RunOptions['input'], RunOptions?]>([
    ['no payload', ['PreToolUse'], ''],
    ['no JSON', ['PreToolUse'], '{oops'],
    ['a list', ['PreToolUse'], '[]'],
    ['no event', [], '{}'],
    ['a payload that lacks a field', ['PreToolUse'], { tool_name: 'Bash' }],
    ['arguments that are no JSON', ['PreToolUse'], { tool_name: 'Bash', toolArgs: '{oops' }],
    ['another event', ['PreToolUse'], { hook_event_name: 'Stop' }],
    ['a session that is no text', ['PreToolUse'], { ...CALL, session_id: 7 }],
    ['no project', ['PreToolUse', '--project', 'none'], CALL],
    ['a configuration that is gone', ['PreToolUse', '--config', 'none.json'], CALL],
  ])('%s: is a deny', async (_, args, input, more) => {
    const { code, stdout, stderr } = await fireAs('claude-code', args, input, more)
    expect(code).toBe(2)
    expect(`${stdout}`).toContain('carabiner could not evaluate the hooks: ')
    expect(stderr).toContain('carabiner could not evaluate the hooks: ')
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('is a deny as the agent understands it', async () => {
    const { code, stdout } = await fireAs('cline', ['PreToolUse'], '{oops')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { cancel: true, errorMessage: expect.stringContaining('could not evaluate') },
    ])
  })

  it('does not keep an agent from stopping', async () => {
    const { code, stdout } = await fireAs('claude-code', ['Stop'], '{oops')
    expect(code).toBe(0)
    expect(Object.keys(JSON.parse(stdout))).toEqual(['systemMessage'])
  })

  it('in time is a deny, before the agent loses patience', async () => {
    project.hooks({ PreToolUse: [['Bash', 'sleep 600']] })
    const { code, stdout } = await fireAs('claude-code', ['--timeout', '0.2'], CALL)
    expect(code).toBe(2)
    expect(stdout).toContain('The hooks were not done within 0.2 seconds')
  })

  it('a deny stands although a configuration is gone', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { stdout } = await fireAs('claude-code', ['--config', 'none.json'], CALL)
    expect(stdout).toContain('rm -rf is not allowed here')
  })
})

describe('the switch', () => {
  it('lets everything pass, and says so', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { code, stdout } = await fireAs('claude-code', [], CALL, { env: { CARABINER_OFF: '1' } })
    expect([code, JSON.parse(stdout).systemMessage]).toEqual([0, expect.stringContaining('CARABINER_OFF=1')])
  })
})

it('an agent that is not known is wrong usage', async () => {
  const { code, stderr } = await fireAs('claude', ['PreToolUse'], CALL)
  expect([code, stderr]).toEqual([64, expect.stringContaining('claude-code, cline, codex')])
})
