// `carabiner fire --as HOST`: the program as the hook of an agent.

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HOST_NAMES } from '../../src/hosts/hosts.js'
import { BASH, ended, GUARD, Project, programFile, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const fireAs = (host: string, args: readonly string[], input?: RunOptions['input'], more: RunOptions = {}) =>
  project.call(['fire', '--trust-all', '--as', host, ...args], {
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
    // However the command line spells the event: the payload is Copilot's own, and so must the answer be.
    for (const event of ['preToolUse', 'PreToolUse']) {
      expect(JSON.parse((await fireAs('copilot', [event], copilot)).stdout)).toEqual({
        permissionDecision: 'deny',
        permissionDecisionReason: 'rm -rf is not allowed here',
      })
    }
  })

  it('has the shape that the payload asks for also where a field of it cannot be read', async () => {
    const broken = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: '{oops' }
    expect(JSON.parse((await fireAs('copilot', [], broken)).stdout)).toEqual(
      specific({ permissionDecision: 'deny', permissionDecisionReason: expect.stringContaining('not JSON') }),
    )
  })

  it('is none where nobody objects', async () => {
    const harmless = { ...CALL, tool_input: { command: 'ls' } }
    expect(await fireAs('claude-code', [], harmless)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await fireAs('cursor', [], harmless)).toEqual({ code: 0, stdout: '{}\n', stderr: '' })
  })

  it('is found from any folder of the project', async () => {
    mkdirSync(project.path('below'))
    const cwd = project.path('below')
    expect((await fireAs('claude-code', [], CALL, { cwd })).code).toBe(2)
    const elsewhere = { cwd: project.home }
    expect((await fireAs('claude-code', [], CALL, elsewhere)).code).toBe(0)
    for (const name of ['CLAUDE_PROJECT_DIR', 'AMPLIFIER_PROJECT_DIR']) {
      const env = { [name]: project.folder }
      expect((await fireAs('claude-code', [], CALL, { ...elsewhere, env })).code).toBe(2)
    }
    // As the payload says it.
    expect((await fireAs('claude-code', [], { ...CALL, cwd }, elsewhere)).code).toBe(2)
    expect((await fireAs('claude-code', ['--project', project.home], { ...CALL, cwd })).code).toBe(0)
  })
})

describe('a tool that the agent calls by another name', () => {
  const SHELL = { tool_input: BASH.tool_input, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' }
  const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
  const CHANGES = patch('*** Add File: a', '+rm -rf', '*** Update File: b', '-x', '+rm -rf')
  const PATCH = { ...CALL, tool_name: 'apply_patch', tool_input: { command: CHANGES } }
  const OTHER = 'cat > /dev/null'

  it.each<[string, object, readonly (readonly string[])[]]>([
    ['gemini', SHELL, [['Bash', GUARD]]],
    // Whoever wrote its own name is not forgotten.
    ['gemini', SHELL, [['run_shell_command', GUARD]]],
    [
      'gemini',
      SHELL,
      [
        ['', OTHER],
        ['Bash|run_shell_command', GUARD],
      ],
    ],
    ['codex', PATCH, [['Write', GUARD]]],
    ['codex', PATCH, [['Edit', GUARD]]],
    ['codex', PATCH, [['apply_patch', GUARD]]],
  ])('%s: %j is guarded by %j', async (host, input, groups) => {
    project.hooks({ PreToolUse: groups })
    const { stdout } = await fireAs(host, [], input)
    expect(stdout).toContain('deny')
    expect(stdout).toContain('rm -rf is not allowed here')
  })

  it('is judged for each thing that it does, by the paths that Claude Code would send', async () => {
    const guard = `grep -q '"file_path":"/proj/secret"' && { echo 'not that file' >&2; exit 2; } || exit 0`
    project.hooks({ PreToolUse: [['Write|Edit', guard]] })
    const change = (...paths: string[]) => ({
      ...PATCH,
      cwd: '/proj',
      tool_input: { command: patch(...paths.flatMap((path) => [`*** Update File: ${path}`, '+x'])) },
    })
    expect((await fireAs('codex', [], change('a', 'b'))).stdout).toBe('')
    expect((await fireAs('codex', [], change('a', 'secret', 'b'))).stdout).toContain('not that file')
  })

  it('is allowed without a question only if everything that it does is', async () => {
    const allow = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
    })
    project.hooks({
      PreToolUse: [['Write|Edit', `grep -q '"file_path":"[^"]*safe' && echo '${allow}'; exit 0`]],
    })
    const add = (...paths: string[]) => ({
      ...PATCH,
      hook_event_name: 'preToolUse',
      tool_input: { command: patch(...paths.flatMap((path) => [`*** Add File: ${path}`, '+x'])) },
    })
    expect((await fireAs('copilot', [], add('safe1', 'safe2'))).stdout).toContain('"allow"')
    expect((await fireAs('copilot', [], add('other', 'safe'))).stdout).not.toContain('allow')
  })

  it('has both names for the hook', async () => {
    project.hooks({ PreToolUse: [['Bash', 'cat > seen.json']] })
    await fireAs('gemini', [], SHELL)
    expect(JSON.parse(project.read('seen.json'))).toMatchObject({
      tool_name: 'Bash',
      host_tool_name: 'run_shell_command',
    })
  })

  it('is refused where no one name would ask every gate', async () => {
    project.hooks({
      PreToolUse: [
        ['Bash', OTHER],
        ['run_shell_command', GUARD],
      ],
    })
    expect(JSON.parse((await fireAs('gemini', [], SHELL)).stdout)).toEqual({
      decision: 'deny',
      reason: expect.stringContaining('write Bash|run_shell_command as their matcher'),
    })
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
    const { code, stdout } = await project.call(['fire', '--as', 'claude-code'], { input: CALL })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).systemMessage).toContain('trust')
  })

  it.each(HOST_NAMES)(
    'of hooks that nobody trusts somebody is told also where %s shows no messages',
    async (host) => {
      project.hooks({ PreToolUse: [['Bash', GUARD]] })
      const { code, stderr } = await project.call(['fire', '--as', host], { input: CALL })
      expect([code, stderr]).toEqual([0, expect.stringContaining('carabiner trust')])
    },
  )
})

it('of hooks that nobody trusts the model is told where no person looks at the screen', async () => {
  project.hooks({ PreToolUse: [['Bash', GUARD]] })
  const told = async (attended: string) => {
    const env = { CLAUDE_CODE_SESSION_ATTENDED: attended }
    const { stdout } = await project.call(['fire', '--as', 'claude-code'], { input: CALL, env })
    return JSON.parse(stdout).hookSpecificOutput?.additionalContext
  }
  expect(await told('0')).toMatch(/^A hook of this project did not run.* Mention this to the user/)
  expect(await told('1')).toBeUndefined()
})

describe('an event for which an agent does not wait', () => {
  const after = { ...CALL, hook_event_name: 'PostToolUse', tool_response: 'ok' }

  it('is judged to its end, although the agent ends its hooks with all their processes', async () => {
    project.hooks({ PostToolUse: [['Bash', 'sleep 0.2; echo "$PPID" > done']] })
    const args = [programFile(), 'fire', '--as', 'kimi', '--trust-all']
    const options = { cwd: project.folder, env: project.env(), detached: true }
    const agent = spawn(process.execPath, args, options)
    agent.stdin.end(JSON.stringify(after))
    expect(await ended(agent)).toMatchObject({ code: 0 })
    try {
      process.kill(-(agent.pid as number), 'SIGKILL')
    } catch {
      // Its group is empty.
    }
    const waiting = { timeout: 20_000, interval: 20 }
    const pid = await vi.waitFor(() => {
      const judge = Number(readFileSync(project.path('done'), 'utf8'))
      expect(judge).toBeGreaterThan(1)
      return judge
    }, waiting)
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), waiting)
  })

  it('is answered after it elsewhere', async () => {
    project.hooks({ PostToolUse: [['Bash', 'touch done']] })
    const { code } = await project.carabiner(['fire', '--as', 'codex', '--trust-all'], { input: after })
    expect([code, project.has('done')]).toEqual([0, true])
  })
})

describe('a question', () => {
  const ask = specific({ permissionDecision: 'ask', permissionDecisionReason: 'really?' })
  const asking = () => project.hooks({ PreToolUse: [['Bash', answering(ask)]] })

  it.each(['claude-code', 'qwen', 'copilot', 'vscode', 'droid'])('is asked by %s itself', async (host) => {
    asking()
    const { code, stdout } = await fireAs(host, [], CALL)
    expect([code, JSON.parse(stdout)]).toEqual([0, ask])
  })

  it.each(['codex', 'gemini', 'kimi', 'letta', 'cline', 'opencode', 'pi'])(
    'is a deny under %s, with what to do about it',
    async (host) => {
      asking()
      const { stdout, stderr } = await fireAs(host, [], CALL)
      expect(stdout + stderr).toMatch(/A person must approve this.*carabiner approvals.* asks: really\?/)
    },
  )

  it('is a deny where it cannot be approved later', async () => {
    asking()
    const { session_id: _, ...unnamed } = CALL
    const { code, stderr } = await fireAs('kimi', [], unnamed)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot do so later: .* asks: really\?/)])
  })

  it('waits in the queue for whoever waits there', async () => {
    asking()
    const { stdout } = await fireAs('claude-code', ['--wait', '0.1'], CALL)
    expect(JSON.parse(stdout)).toMatchObject(specific({ permissionDecision: 'deny' }))
  })

  it('about one part of a call does not hide what refuses another', async () => {
    project.hooks({
      PreToolUse: [
        ['Edit', answering(ask)],
        ['Write', 'echo no >&2; exit 2'],
      ],
    })
    const patch = '*** Begin Patch\n*** Delete File: a\n*** Add File: b\n+x\n*** End Patch'
    const sent = { ...CALL, tool_name: 'ApplyPatch', tool_input: { patch } }
    const { stdout } = await fireAs('droid', [], sent)
    expect(JSON.parse(stdout)).toMatchObject(specific({ permissionDecision: 'deny' }))
  })

  it('about a call that an agent cannot change as a hook wants is a deny', async () => {
    const change = specific({ updatedInput: { command: 'safe' } })
    project.hooks({
      PreToolUse: [
        ['Bash', answering(change)],
        ['Bash', answering(ask)],
      ],
    })
    const { stdout } = await fireAs('qwen', [], CALL)
    expect(stdout).toContain('cannot apply the change')
    expect(JSON.parse(stdout)).toMatchObject(specific({ permissionDecision: 'deny' }))
  })
})

describe('context on an event where an agent takes none', () => {
  const start = { hook_event_name: 'SessionStart', session_id: 's', source: 'startup' }
  const prompt = { hook_event_name: 'UserPromptSubmit', session_id: 's', prompt: 'hello' }
  const before = { ...CALL, session_id: 's' }
  const after = { ...before, hook_event_name: 'PostToolUse', tool_response: 'ok' }

  it.each([
    ['kimi', [start, prompt]],
    ['kimi', [after, before, prompt]],
    ['gemini', [before, before, after]],
    ['qwen', [before, after]],
    ['opencode', [before, after]],
    ['cline', [start, prompt]],
  ])('of %s goes with the next that can carry it, once', async (host, events) => {
    const [first] = events as [typeof start]
    project.hooks({ [first.hook_event_name]: [['', 'test -e once || echo remember this; touch once']] })
    if (first.hook_event_name !== 'SessionStart') {
      const context = { hookEventName: first.hook_event_name, additionalContext: 'remember this' }
      const answer = answering({ hookSpecificOutput: context })
      project.hooks({ [first.hook_event_name]: [['', `test -e once || ${answer}; touch once`]] })
    }
    const told: boolean[] = []
    for (const sent of [...events, events.at(-1)]) {
      const { code, stdout } = await fireAs(host, [], sent)
      expect(code).toBe(0)
      told.push(stdout.includes('remember this'))
    }
    expect(told).toEqual([...events.slice(1).map(() => false), true, false])
  })

  it('is lost aloud where no event carries it', async () => {
    project.hooks({ SessionStart: [['', 'echo remember this']] })
    const { stdout, stderr } = await fireAs('letta', [], start)
    expect(stdout + stderr).toContain('Letta Code cannot add context for the model here')
  })
})

describe('a stop that is refused again and again', () => {
  const STOPPING = { gemini: ['AfterAgent', 'BeforeAgent'], copilot: ['agentStop', 'userPromptSubmitted'] }

  it.each(['claude-code', 'codex', 'copilot', 'cursor', 'gemini', 'kimi', 'pi', 'qwen', 'vscode'] as const)(
    'ends under %s, also where the reason comes back as a prompt',
    async (host) => {
      project.file('../home/.amplifier/settings.json', { hooks: { stop_block_cap: 2 } })
      project.hooks({ Stop: [['', 'echo the tests do not pass yet >&2; exit 2']] })
      const [stop, prompt] = (STOPPING as Record<string, string[]>)[host] ?? ['Stop', 'UserPromptSubmit']
      const refused: boolean[] = []
      for (let i = 0; i < 3; i++) {
        const sent = { hook_event_name: stop, session_id: 's', stop_hook_active: i > 0 }
        const { stdout, stderr } = await fireAs(host, [], sent)
        refused.push(/the tests do not pass yet/.test(stdout + stderr))
        const prompted = { hook_event_name: prompt, session_id: 's', prompt: 'the tests do not pass yet' }
        await fireAs(host, [], prompted)
      }
      expect(refused).toEqual([true, true, false])
    },
  )
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
    ['a gate where another event was named', ['Stop'], CALL],
    ['another event about a tool', ['Stop'], { ...CALL, hook_event_name: 'PostToolUse' }],
    ['a misspelt gate', ['preToolUs'], BASH],
    ['a misspelt gate about nothing', ['UserPromtSubmit'], {}],
    ['a misspelt gate in the payload', [], { ...CALL, hook_event_name: 'PreTolUse' }],
    ['a misspelt gate and no JSON', ['preToolUs'], '{oops'],
    ['an event that nobody knows, about a tool', ['Whatever'], BASH],
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

  it('of a misspelt event says what was meant, in the words of the agent', async () => {
    const { stdout } = await fireAs('gemini', ['BeforeTol'], BASH)
    expect(JSON.parse(stdout)).toEqual({
      decision: 'deny',
      reason: expect.stringContaining('There is no event BeforeTol; did you mean PreToolUse?'),
    })
    const { code, stdout: told } = await fireAs('claude-code', ['SessionStrat'], {})
    expect([code, JSON.parse(told).systemMessage]).toEqual([0, expect.stringContaining('SessionStart?')])
  })

  it('is none of the events that only the agent knows', async () => {
    const input = { hook_event_name: 'BrandNewThing', tool_name: 'Bash', tool_input: {} }
    expect(await fireAs('claude-code', [], input)).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it.each([
    [2, 'an agent', ['--as', 'claude-code']],
    [1, 'a person', []],
  ])('as standard input stays open ends with %i in time for %s', async (expected, _, who) => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const args = [programFile(), 'fire', ...who, '--timeout', '0.3']
    const child = spawn(process.execPath, args, { cwd: project.folder, env: project.env() })
    child.stdin.write(JSON.stringify(CALL).slice(0, -1))
    const { code, stderr } = await ended(child)
    expect([code, stderr]).toEqual([expected, expect.stringContaining('was not complete after 0.3 seconds')])
  })

  it('is none where the payload is whole, and its sender only leaves the pipe open', async () => {
    project.hooks({ PreToolUse: [['Bash', 'echo not this >&2; exit 2']] })
    const args = [programFile(), 'fire', '--as', 'claude-code', '--trust-all']
    const child = spawn(process.execPath, args, { cwd: project.folder, env: project.env() })
    child.stdin.write(JSON.stringify(CALL))
    expect(await ended(child)).toMatchObject({ code: 2, stderr: expect.stringContaining('not this') })
  })

  it('names the key that is there twice, and denies', async () => {
    const sent = '{"session_id":"s","tool_name":"Bash","tool_input":{"command":"rm x"},"tool_name":"Read"}'
    const { code, stderr } = await fireAs('claude-code', ['PreToolUse'], sent)
    expect([code, stderr]).toEqual([2, expect.stringContaining('one object has the key tool_name twice')])
  })

  it.each([
    { ...CALL, toolName: 'Read' },
    { ...CALL, hook_event_name: 'PostToolUse', hookEventName: 'PreToolUse' },
  ])('denies a call that has two values under two names', async (sent) => {
    const { code, stderr } = await fireAs('claude-code', [], sent)
    expect([code, stderr]).toEqual([2, expect.stringContaining('has two names here')])
  })

  it('is told without a word of what was sent', async () => {
    const { code, stdout, stderr } = await fireAs('claude-code', ['PreToolUse'], '{"hunter2": hunter2}')
    expect([code, stderr]).toEqual([2, expect.stringContaining('it is not JSON at character 13')])
    expect(stdout + stderr).not.toContain('hunter2')
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
    expect(stdout).toContain('The hooks did not finish within 0.2 seconds')
  })

  it('D8: in time keeps an agent from stopping once, and then lets it stop aloud', async () => {
    project.hooks({ Stop: [['', 'sleep 600']] })
    const stop = (stop_hook_active?: boolean) =>
      fireAs('claude-code', ['Stop', '--timeout', '0.2'], { session_id: 's', stop_hook_active })
    expect(JSON.parse((await stop(false)).stdout)).toMatchObject({ decision: 'block' })
    for (const again of [true, undefined]) {
      const { code, stdout } = await stop(again)
      expect([code, Object.keys(JSON.parse(stdout))]).toEqual([0, ['systemMessage']])
    }
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

describe('wrong usage is a refusal: any code but 2 would open the gate', () => {
  it.each<[readonly string[], string]>([
    [['fire', '--as', 'claude', 'PreToolUse'], 'claude-code, cline, cline-core, codex'],
    [['fire', '--as', 'claude', '--json'], 'There is no agent "claude"'],
    [['fire', '--as=claude-code', '--timeout', 'soon'], '--timeout must be a number'],
    [['fire', '--as', 'claude-code', '--trustall'], 'did you mean --trust-all?'],
    [['fire', '--as', 'claude-code', 'PreToolUse', 'Stop'], 'does not accept "Stop"'],
    [['fire', '--as'], '--as needs a value'],
    [['fier', '--as', 'claude-code'], 'did you mean fire?'],
  ])('%j', async (args, says) => {
    const { code, stdout, stderr } = await project.call(args, { input: CALL })
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(says)])
  })

  it('without an agent it stays one', async () => {
    expect((await project.call(['fire', '--timeout', 'soon', '--', '--as'])).code).toBe(64)
  })
})
