// The hooks of seed 003 as programs: what goes in, what comes out, with the real bundle. Where semantics.md decides otherwise the test says so.

import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ended, Project, programFile, type Run, withProgram } from '../cli/program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
  mkdirSync(project.path('.git'))
  writeFileSync(project.path('.git/HEAD'), 'ref: refs/heads/feature\n')
})
afterEach(() => project.remove())

/** The answer, and what came with it. */
async function hook(name: string, input: string | object, env: Record<string, string> = {}) {
  const run = await project.carabiner(['hook', name, '--memory'], { input, env })
  const telemetry = run.stderr.trimEnd().split('\n').at(-1) ?? ''
  return { ...run, answer: run.stdout === '' ? {} : JSON.parse(run.stdout), telemetry: JSON.parse(telemetry) }
}

const said = (answer: { hookSpecificOutput?: { additionalContext?: string } }) =>
  answer.hookSpecificOutput?.additionalContext ?? ''

const ALL = [
  'session-start',
  'stop',
  'pre-tool-use',
  'post-tool-use',
  'workflow-classification-reminder',
  'user-prompt-submit',
  'pre-compact',
  'session-end',
]

describe('names', () => {
  it.each([
    ['agentStop', 'Stop'],
    ['session-stop', 'SessionEnd'],
    ['session-stop-event', 'SessionEnd'],
    ['sessionEnd', 'SessionEnd'],
    ['user-prompt', 'UserPromptSubmit'],
  ])('%s is understood as well', async (name, event) => {
    const { code, telemetry } = await hook(name, {})
    expect({ code, event: telemetry.event, result: telemetry.result }).toEqual({
      code: 0,
      event,
      result: 'ok',
    })
  })

  it('that are unknown are a usage error that says what was meant (upstream: exit 1)', async () => {
    const run = await project.carabiner(['hook', 'pre-tool'], { input: '{}' })
    expect(run).toMatchObject({ code: 64, stdout: '' })
    expect(run.stderr).toContain('There is no hook "pre-tool"')
    const slip = await project.carabiner(['hook', 'session-strat'], { input: '{}' })
    expect(slip.stderr).toContain('did you mean session-start?')
    for (const name of ALL) expect(slip.stderr).toContain(name)
    expect((await project.carabiner(['hook'])).code).toBe(64)
    expect((await project.carabiner(['hook', 'stop', '--lokc'])).code).toBe(64)
  })
})

describe('the protocol', () => {
  it.each(ALL)('%s answers an event-less payload as its own event', async (name) => {
    const { code, telemetry } = await hook(name, { tool_name: 'Read', tool_input: { file_path: 'a' } })
    expect(code).toBe(0)
    expect(telemetry).toMatchObject({ hook: name, result: 'ok' })
    expect(telemetry.event).not.toBe('Unknown')
  })

  it.each(ALL)('%s lets pass an event that it does not answer, or that nobody knows', async (name) => {
    for (const event of ['FutureEvent', 'Notification']) {
      const { code, answer, telemetry } = await hook(name, { hook_event_name: event, message: 'x' })
      expect({ code, answer, result: telemetry.result }).toEqual({ code: 0, answer: {}, result: 'ok' })
    }
  })

  it('does not override an event that is named', async () => {
    const { answer, telemetry } = await hook('stop', { hook_event_name: 'SessionStart' })
    expect(telemetry.event).toBe('SessionStart')
    expect(answer).toEqual({})
  })

  it('takes a reader that has gone away for success', async () => {
    const script = `"$0" "$1" hook session-start < "$2" | true; echo "\${PIPESTATUS[0]}"`
    const payload = project.file('payload.json', {})
    const run = await project.run('bash', ['-c', script, process.execPath, programFile(), payload])
    expect(run.stdout).toBe('0\n')
  })

  it('is told that the pack is bypassed, unless the user forbids it', async () => {
    const rm = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }
    const off = await hook('pre-tool-use', rm, { CARABINER_OFF: '1' })
    expect(off).toMatchObject({
      code: 0,
      answer: { systemMessage: expect.stringContaining('nothing is guarded') },
    })
    mkdirSync(join(project.home, '.amplifier'))
    writeFileSync(join(project.home, '.amplifier/settings.json'), '{"hooks":{"bypass":false}}')
    const refused = await hook('pre-tool-use', rm, { CARABINER_OFF: '1' })
    expect(refused.code).toBe(2)
    writeFileSync(join(project.home, '.amplifier/settings.json'), '{ // comments\n')
    expect((await hook('pre-tool-use', rm, { CARABINER_OFF: '1' })).code).toBe(2)
  })

  it('tells a broken settings file with every answer, and keeps guarding', async () => {
    mkdirSync(join(project.home, '.amplifier'))
    writeFileSync(join(project.home, '.amplifier/pack.json'), '{ "selfProtection": false, ')
    const harmless = await hook('post-tool-use', { tool_name: 'Read', tool_input: {} })
    expect(harmless.answer.systemMessage).toMatch(
      /pack\.json: the file is not valid JSON \(line 1\); all of it was ignored/,
    )
    const denied = await hook('pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } })
    expect(denied.code).toBe(2)
  })

  it('guards where nothing can be kept', async () => {
    writeFileSync(join(project.base, 'a file'), '')
    const nowhere = { CARABINER_HOME: join(project.base, 'a file') }
    const denied = await hook(
      'pre-tool-use',
      { tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } },
      nowhere,
    )
    expect(denied.code).toBe(2)
    const passed = await hook('pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'ls' } }, nowhere)
    expect(passed).toMatchObject({
      code: 0,
      answer: { systemMessage: expect.stringMatching(/cannot be written/) },
    })
  })
})

describe('stop', () => {
  it('approves by saying nothing (upstream: {"decision":"approve"}, which no host needs)', async () => {
    expect(await hook('stop', { hook_event_name: 'Stop' })).toMatchObject({ code: 0, answer: {} })
  })

  it('counts while it is locked, and has a safety valve', async () => {
    mkdirSync(join(project.home, '.amplifier'))
    writeFileSync(join(project.home, '.amplifier/pack.json'), '{"lock":{"maxIterations":2}}')
    const locked = await project.carabiner(['hook', 'stop', '--lock', '--goal', 'All tests pass.'])
    expect(locked).toMatchObject({ code: 0, stdout: expect.stringContaining('Locked') })
    const payload = { hook_event_name: 'Stop', session_id: 's', stop_hook_active: true }
    for (const count of [1, 2]) {
      const { answer } = await hook('stop', payload)
      expect(answer.decision).toBe('block')
      expect(answer.reason).toMatch(new RegExp(`\\(${count} of at most 2\\)\\nAll tests pass\\.$`))
    }
    const { code, answer } = await hook('stop', payload)
    expect({ code, answer }).toMatchObject({
      code: 0,
      answer: { systemMessage: expect.stringMatching(/Lock mode has ended/) },
    })
    expect(await hook('stop', payload)).toMatchObject({ code: 0, answer: {} })
  })

  it('is locked for who works in a folder of the project, and for the host that knows the project', async () => {
    mkdirSync(project.path('src'))
    await project.carabiner(['hook', 'stop', '--lock'], { cwd: project.path('src') })
    const env = { CLAUDE_PROJECT_DIR: project.path('src') }
    expect((await hook('stop', {}, env)).answer.decision).toBe('block')
    expect((await hook('stop', { cwd: project.folder })).answer.decision).toBe('block')
    const unlocked = await project.carabiner(['hook', 'stop', '--unlock', '--json'])
    expect(JSON.parse(unlocked.stdout)).toEqual({ project: project.folder, locked: false })
    expect((await hook('stop', {})).answer).toEqual({})
  })

  it('has options that go together', async () => {
    for (const args of [
      ['--lock', '--unlock'],
      ['--goal', 'x'],
      ['--unlock', '--goal', 'x'],
    ])
      expect((await project.carabiner(['hook', 'stop', ...args])).code).toBe(64)
    expect((await project.carabiner(['hook', 'pre-compact', '--lock'])).code).toBe(64)
  })
})

describe('prompts', () => {
  it.each([
    ['user_prompt', { user_prompt: 'Fix it' }],
    ['userPrompt', { userPrompt: 'Fix it' }],
    ['prompt', { prompt: 'Fix it' }],
    ['userMessage', { userMessage: 'Fix it' }],
    ['userMessage with text', { userMessage: { text: 'Fix it' } }],
  ])('are found as %s, and get context without being changed', async (_, payload) => {
    const { answer } = await hook('workflow-classification-reminder', payload)
    expect(said(answer)).toContain('decide what kind of work')
    expect(Object.keys(answer)).toEqual(['hookSpecificOutput'])
    expect(Object.keys(answer.hookSpecificOutput).sort()).toEqual(['additionalContext', 'hookEventName'])
  })

  it('are not reminded while a workflow is active', async () => {
    const { answer } = await hook(
      'workflow-classification-reminder',
      { prompt: 'x' },
      { CARABINER_WORKFLOW: 'a' },
    )
    expect(answer).toEqual({})
  })

  it('get preferences, and the memory of agents that they name', async () => {
    mkdirSync(join(project.home, '.amplifier'))
    writeFileSync(join(project.home, '.amplifier/preferences.md'), 'Be brief.\n')
    await hook('post-tool-use', {
      tool_name: 'Task',
      tool_input: { subagent_type: 'reviewer', prompt: 'look' },
      tool_response: { content: [{ type: 'text', text: 'Three faults.' }] },
    })
    const { answer } = await hook('user-prompt-submit', { prompt: 'Ask @reviewer again' })
    expect(said(answer)).toContain('Be brief.')
    expect(said(answer)).toContain('Three faults.')
  })
})

describe('a session', () => {
  it('starts with the project, and remembers the one before', async () => {
    const transcript = project.file(
      't.jsonl',
      JSON.stringify({ type: 'user', message: { role: 'user', content: 'a' } }),
    )
    const ending = { session_id: 'one', transcript_path: transcript, last_assistant_message: 'Done.' }
    expect((await hook('stop', ending)).code).toBe(0)
    expect((await hook('session-end', { ...ending, reason: 'logout' })).answer).toEqual({})
    const { answer } = await hook('session-start', {
      session_id: 'two',
      source: 'startup',
      cwd: project.folder,
    })
    expect(answer.hookSpecificOutput.hookEventName).toBe('SessionStart')
    expect(said(answer)).toContain('Branch: "feature"')
    expect(said(answer)).toContain('The last answer: "Done."')
  })

  it('that is compacted has its transcript exported', async () => {
    const transcript = project.file(
      't.jsonl',
      '{"type":"user","message":{"role":"user","content":"long ago"}}\n',
    )
    const { code, answer } = await hook('pre-compact', { transcript_path: transcript, trigger: 'auto' })
    expect(code).toBe(0)
    const path = /is in (.*\.jsonl)/.exec(answer.systemMessage)?.[1] ?? ''
    expect(readFileSync(path, 'utf8')).toContain('long ago')
  })

  it('leaves nothing in the project', async () => {
    const before = readdirSync(project.folder, { recursive: true })
    for (const name of ALL) await hook(name, { prompt: 'x', tool_name: 'Read', tool_input: {} })
    expect(readdirSync(project.folder, { recursive: true })).toEqual(before)
  })
})

describe('bad input', () => {
  const DEEP = `{"tool_name":"Bash","tool_input":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`
  const BAD: readonly (readonly [string, string | Buffer])[] = [
    ['nothing', ''],
    ['blanks', ' \n'],
    ['binary', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x7b, 0x7d])],
    ['truncated', '{"tool_name":"Bash","tool_input":{"command":"sk-secret'],
    ['two documents', '{"tool_name":"Bash"}{"tool_name":"Bash"}'],
    ['a list', '[{"tool_name":"Bash"}]'],
    ['null', 'null'],
    ['a text', '"sk-secret"'],
    ['nested too deep', DEEP],
    ['a number as session', '{"session_id":7,"tool_name":"Bash","tool_input":{}}'],
    ['a list as folder', '{"cwd":["sk-secret"],"tool_name":"Bash","tool_input":{}}'],
    ['an object as transcript', '{"transcript_path":{},"tool_name":"Bash","tool_input":{}}'],
  ]

  async function raw(name: string, input: string | Buffer): Promise<Run> {
    const child = spawn(process.execPath, [programFile(), 'hook', name], {
      cwd: project.folder,
      env: project.env(),
    })
    child.stdin.on('error', () => undefined).end(input)
    return ended(child)
  }

  for (const name of ['session-start', 'stop', 'post-tool-use', 'user-prompt-submit', 'pre-compact']) {
    it(`passes ${name} by with a message: it fails open`, async () => {
      for (const [what, input] of BAD) {
        const { code, stdout, stderr } = await raw(name, input)
        expect(code, what).toBe(0)
        expect(JSON.parse(stdout).systemMessage, what).toMatch(/cannot read its input: /)
        expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? ''), what).toMatchObject({
          result: 'invalid_input',
        })
        expect(stdout + stderr, what).not.toMatch(/sk-secret|\n {4}at /)
      }
    })
  }

  it('is refused by the guard', async () => {
    for (const [what, input] of BAD) {
      const { code, stdout, stderr } = await raw('pre-tool-use', input)
      expect(code, what).toBe(2)
      expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision, what).toBe('deny')
      expect(stdout + stderr, what).not.toMatch(/sk-secret|\n {4}at /)
    }
  })

  it.each([
    ['stop', 'last_assistant_message', 0],
    ['user-prompt-submit', 'prompt', 0],
    ['pre-tool-use', 'padding', 0],
  ])('of 50 MB is read by %s', async (name, field, code) => {
    const rest = { tool_name: 'Read', tool_input: { file_path: 'a' } }
    const run = await raw(name, JSON.stringify({ ...rest, [field]: 'x'.repeat(50_000_000) }))
    expect(run.code).toBe(code)
    expect(run.stdout.length).toBeLessThan(20_000)
    expect(JSON.parse(run.stderr)).toMatchObject({ result: 'ok' })
  })

  it('of more than that is refused by the guard, not waited for', async () => {
    const run = await raw('pre-tool-use', `"${'x'.repeat(70_000_000)}"`)
    expect(run.code).toBe(2)
    expect(run.stderr).toContain('larger than 64 MiB')
  })
})
