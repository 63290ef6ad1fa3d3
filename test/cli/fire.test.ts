import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { BASH, GUARD, Project, programFile, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

/** With trust in everything, as most tests need it. */
const fire = (args: readonly string[], input?: RunOptions['input'], more: RunOptions = {}) =>
  project.call(['fire', '--trust-all', ...args], { ...(input !== undefined && { input }), ...more })

const json = async (args: readonly string[], input?: RunOptions['input'], more: RunOptions = {}) => {
  const { code, stdout } = await fire(['--json', ...args], input, more)
  return { code, outcome: JSON.parse(stdout) as Outcome & { error?: Record<string, string> } }
}

const answering = (answer: object) => `echo '${JSON.stringify(answer)}'`

describe('S7: a payload in the terms of another system', () => {
  const { tool_name, tool_input } = BASH as { tool_name: string; tool_input: object }

  it.each([
    ['camelCase', [], { hookEventName: 'preToolUse', toolName: tool_name, toolInput: tool_input }],
    ['PicoClaw', ['before_tool'], { tool: tool_name, arguments: tool_input, meta: { SessionKey: 's' } }],
    ['BeamAgent', [], { event: 'pre_tool_use', tool_name, tool_input }],
  ])('%s is judged', async (_, args, payload) => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { code, outcome } = await json(args, payload)
    expect([code, outcome.action]).toEqual([2, 'deny'])
  })
})

it('tells of an untrusted rule once', async () => {
  project.file('.amplifier/rules.json', '{"rules":[{"id":"a","effects":["delete"],"then":"ask"}]}')
  const input = { tool_name: 'Bash', tool_input: { command: 'rm notes' } }
  const { stdout } = await project.call(['fire', 'PreToolUse'], { input })
  expect(stdout.match(/would have asked/g)).toEqual(['would have asked'])
})

describe('exit codes', () => {
  it('0: hooks let it go on', async () => {
    project.hooks({ PreToolUse: [['Bash', 'exit 0']] })
    const { code, outcome } = await json(['PreToolUse'], BASH)
    expect([code, outcome.action]).toEqual([0, 'continue'])
  })

  it('0: there are no hooks', async () => {
    const { code, outcome } = await json(['PreToolUse'], BASH)
    expect([code, outcome.action, outcome.hooks]).toEqual([0, 'continue', []])
  })

  it('2: a hook denied', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { code, outcome } = await json(['PreToolUse'], BASH)
    expect([code, outcome.action, outcome.reason]).toEqual([2, 'deny', 'rm -rf is not allowed here'])
  })

  it('3: a person must approve, and nobody is asked', async () => {
    const ask = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }
    project.hooks({ PreToolUse: [['Bash', answering(ask)]] })
    const { code, outcome } = await json(['PreToolUse'], BASH)
    expect([code, outcome.action]).toEqual([3, 'ask_user'])
  })

  it('4: the turn is aborted', async () => {
    project.hooks({ PreToolUse: [['Bash', answering({ continue: false, stopReason: 'enough' })]] })
    const { code, outcome } = await json(['PreToolUse'], BASH)
    expect([code, outcome.action, outcome.reason]).toEqual([4, 'abort_turn', 'enough'])
  })

  it('0: a deny where nothing can be blocked stays continue', async () => {
    project.hooks({ PostToolUse: [['Bash', 'echo too late >&2; exit 2']] })
    const { code, outcome } = await json(['PostToolUse'], { ...BASH, tool_response: 'gone' })
    expect([code, outcome.action, outcome.injections[0]?.text]).toEqual([0, 'continue', 'too late'])
  })

  it.each([
    ['a payload that is not JSON', ['PreToolUse'], '{oops', 'PAYLOAD_NOT_JSON'],
    ['a payload that is not UTF-8', ['Stop', '--payload', 'latin1.json'], undefined, 'PAYLOAD_NOT_JSON'],
    ['a payload that is no object', ['Stop'], '[1]', 'PAYLOAD_INVALID'],
    ['a payload that lacks a field', ['PreToolUse'], '{"tool_name":"Bash"}', 'PAYLOAD_INVALID'],
    ['a session that is no text', ['Stop'], '{"session_id":7}', 'PAYLOAD_INVALID'],
    ['a payload without end', ['Stop'], `${'{"a":'.repeat(9999)}1${'}'.repeat(9999)}`, 'PAYLOAD_INVALID'],
    ['a key that is there twice', ['Stop'], '{"hook_event_name":"Stop","a":1,"a":1}', 'PAYLOAD_INVALID'],
    [
      'a key that is there twice, deep inside and spelt differently',
      ['PreToolUse'],
      '{"tool_name":"Bash","tool_input":{"command":"rm x","c\\u006fmmand":"ls"}}',
      'PAYLOAD_INVALID',
    ],
    ['no event at all', [], '{}', 'PAYLOAD_INVALID'],
    ['an empty input and no event', [], '', 'PAYLOAD_INVALID'],
    ['a payload that is not there', ['Stop', '--payload', 'none.json'], undefined, 'PAYLOAD_UNREADABLE'],
    ['a payload that is a folder', ['Stop', '--payload', '.'], undefined, 'PAYLOAD_UNREADABLE'],
    ['a project that is not there', ['Stop', '--project', 'none'], '{}', 'PROJECT_NOT_FOUND'],
  ])('1: %s cannot be evaluated', async (_, args, input, expected) => {
    await project.run('sh', ['-c', `printf '{"a":"\\351"}' > latin1.json`])
    const { code, outcome } = await json(args, input)
    expect([code, outcome.error?.code]).toEqual([1, expected])
  })

  it.each([
    ['PreToolUs', 'PreToolUse'],
    ['preTooluse', 'PreToolUse'],
    ['tool:pree', 'tool:pre'],
  ])('64: the event %s is misspelt', async (event, meant) => {
    const { code, stdout, stderr } = await fire([event], BASH)
    expect([code, stdout, stderr]).toEqual([
      64,
      '',
      `carabiner: There is no event "${event}"; did you mean ${meant}?\n  To fire an event of your own, name it in the payload: {"hook_event_name":"${event}"}\n`,
    ])
  })

  it('0: an event of that name is meant where the payload has it too, or a hook listens to it', async () => {
    expect((await fire(['stopp'], { hook_event_name: 'stopp' })).code).toBe(0)
    expect((await fire(['stopp'], {})).code).toBe(64)
    project.file('.amplifier/hooks/hooks.json', {
      processes: { spy: { command: ['true'], observe: ['stopp'] } },
    })
    expect((await fire(['stopp'], {})).code).toBe(0)
  })

  it('64: the event of the command line is not that of the payload', async () => {
    const { code, outcome } = await json(['PreToolUse'], { ...BASH, hook_event_name: 'PostToolUse' })
    expect([code, outcome.error?.code]).toEqual([64, 'USAGE'])
  })
})

describe('the payload', () => {
  it('names its event itself, under any name the event has', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    for (const name of ['PreToolUse', 'pre_tool_use', 'tool:pre']) {
      const { code } = await fire([], { ...BASH, hook_event_name: name })
      expect([name, code]).toEqual([name, 2])
    }
  })

  it('may name the same event by another name than the command line', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    expect((await fire(['tool:pre'], { ...BASH, hook_event_name: 'PreToolUse' })).code).toBe(2)
  })

  it('comes from a file', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    project.file('event.json', BASH)
    expect((await fire(['PreToolUse', '--payload', 'event.json'])).code).toBe(2)
  })

  it('comes from standard input with --payload -', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    expect((await fire(['PreToolUse', '--payload', '-'], BASH)).code).toBe(2)
  })

  it('may be empty where the event is named', async () => {
    expect((await fire(['Stop'])).code).toBe(0)
  })

  it('reaches the hook whole, with the session and folder it names', async () => {
    project.hooks({ PreToolUse: [['Bash', 'cat > got.json']] })
    const sent = { ...BASH, session_id: 's-1', cwd: project.folder, tool_use_id: 't-1', extra: { a: [1] } }
    await fire(['PreToolUse'], sent)
    expect(JSON.parse(project.read('got.json'))).toMatchObject({ ...sent, hook_event_name: 'PreToolUse' })
  })

  it('may have a byte order mark, and be large', async () => {
    project.hooks({ PreToolUse: [['Bash', 'wc -c > size']] })
    const sent = `\uFEFF${JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'x'.repeat(3_000_000) } })}`
    expect((await fire(['PreToolUse'], sent)).code).toBe(0)
    expect(Number(project.read('size'))).toBeGreaterThan(3_000_000)
  })

  it('comes slowly through a pipe that does not block', async () => {
    const script = `
import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(r, fcntl.F_SETFL, os.O_NONBLOCK)
p = subprocess.Popen(sys.argv[1:], stdin=r)
os.close(r)
for part in (b'{"extra"', b':1}'):
    time.sleep(0.3)
    os.write(w, part)
os.close(w)
sys.exit(p.wait())`
    const program = [process.execPath, programFile(), 'fire', 'Stop', '--json']
    const { code, stdout } = await project.run('python3', ['-c', script, ...program])
    expect([code, JSON.parse(stdout).data.extra]).toEqual([0, 1])
  })

  it('that lacks a field is answered with the field and an example', async () => {
    const { code, stdout, stderr } = await fire(['PreToolUse'], { tool_name: 'Bash' })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('the required field tool_input is missing')
    expect(stderr).toContain('{"tool_name":"Bash","tool_input":{"command":"ls"}}')
  })

  it('is not waited for at a terminal', async () => {
    const { code, stdout } = await project.onTerminal(['fire', 'PreToolUse'])
    expect(code).toBe(64)
    expect(stdout).toContain('standard input is a terminal')
    expect(stdout).toContain('| carabiner fire PreToolUse')
  })
})

describe('what is printed', () => {
  it('for people: who ran, what each answered, what came of it', async () => {
    project.hooks({
      PreToolUse: [
        ['Bash', GUARD, 'exit 0'],
        ['Write', 'true'],
      ],
    })
    const { code, stdout, stderr } = await fire(['PreToolUse'], BASH)
    expect([code, stderr]).toEqual([2, ''])
    expect(
      stdout
        .replace(/ +[\d.]+ ms/g, '')
        .trimEnd()
        .split('\n'),
    ).toEqual([
      'PreToolUse',
      expect.stringMatching(/^ {2}project:PreToolUse#1 +deny$/),
      expect.stringMatching(/^ {2}project:PreToolUse#2 +continue$/),
      '  (1 not matched)',
      '  denied: rm -rf is not allowed here',
    ])
  })

  it('a failure is told, with what the hook printed', async () => {
    project.hooks({ PreToolUse: [['Bash', 'echo no such thing >&2; exit 1']] })
    const { code, stdout } = await fire(['PreToolUse'], BASH)
    expect(code).toBe(0)
    expect(stdout).toContain('failed: HOOK_EXIT')
    expect(stdout).toContain('no such thing')
  })

  it('an untrusted gate is told, and does not run', async () => {
    project.hooks({ PreToolUse: [['Bash', 'touch ran; exit 2']] })
    const { code, stdout } = await project.call(['fire', 'PreToolUse'], { input: BASH })
    expect([code, project.has('ran')]).toEqual([0, false])
    expect(stdout).toContain('skipped: untrusted')
    expect(stdout).toContain('went on without its gate')
  })

  it('a broken file is in the outcome, and does not take the others down', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const broken = project.file('broken.json', '{ "hooks": ')
    const { code, outcome } = await json(['PreToolUse', '--config', 'broken.json'], BASH)
    expect(code).toBe(2)
    expect(outcome.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'config-invalid', file: broken, line: 1 }),
    )
  })

  it('G6: a misspelt event in the payload is refused, unless the command names it, too', async () => {
    for (const event of ['PreToolUze', 'preTooluse']) {
      const input = { ...BASH, hook_event_name: event }
      const { code, stdout, stderr } = await project.call(['fire'], { input })
      expect([code > 0, stdout]).toEqual([true, ''])
      expect(stderr).toContain(`there is no event "${event}"; did you mean PreToolUse?`)
      expect((await project.call(['fire', event], { input })).code).toBe(0)
    }
    const own = await project.call(['fire', 'deploy:done', '--json'], { input: {} })
    expect([own.code, own.stderr]).toEqual([0, ''])
  })

  it('where only Claude Code has hooks for it: that they do not run here, and what carries them over', async () => {
    const command = { type: 'command', command: 'true' }
    project.file('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [command, command] }] } })
    const { stdout } = await fire(['PreToolUse'], BASH)
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      '(no hook listens to this event; .claude/settings.json has 2 that Carabiner does not run: carabiner migrate)',
    )
    expect((await fire(['Stop'], {})).stdout).toContain('(no hook listens to this event)')
  })

  it.each([
    ['no hook of its own', {}],
    ['a hook that ran', { PreToolUse: [['Bash', 'true']] }],
  ])('with %s: that Claude Code also asks the guard, for people only', async (_, hooks) => {
    await project.call(['setup', 'claude-code', '--only', 'guard'])
    project.hooks(hooks)
    const also =
      'went on Claude Code also asks the guard, which is not asked here. Ask it: carabiner hook pre-tool-use, with the same payload'
    const isHeard = 'PreToolUse' in hooks
    const notYet = ' Claude Code does not ask your own hooks and rules yet: carabiner setup --engine'
    const said = async () => (await fire(['PreToolUse'], BASH)).stdout.replace(/\s+/g, ' ').trim()
    expect(await said()).toMatch(new RegExp(`${also}${isHeard ? notYet : ''}$`))
    expect((await fire(['PostToolUse'], BASH)).stdout).not.toContain('Claude Code')
    for (const more of [['--json'], ['--as', 'claude-code']]) {
      const { stdout, stderr } = await fire(['PreToolUse', ...more], {
        ...BASH,
        hook_event_name: 'PreToolUse',
      })
      expect(stdout + stderr).not.toContain('Claude Code')
    }
    await project.call(['setup', 'claude-code', '--engine'])
    expect(await said()).toMatch(new RegExp(`${also}$`))
  })

  it('of a gate that failed, how it would close', async () => {
    project.hooks({ PreToolUse: [['Bash', 'exit 1']], PostToolUse: [['Bash', 'exit 1']] })
    const { stdout } = await fire(['PreToolUse', '--trust-all'], BASH)
    expect(stdout.replace(/\s+/g, ' ')).toContain('add "onFailure": "block" to the hook')
    expect((await fire(['PostToolUse', '--trust-all'], BASH)).stdout).not.toContain('onFailure')
  })

  it('--tool, which explain has: how fire reads a call', async () => {
    expect((await fire(['PreToolUse', '--tool', 'Bash'], BASH)).stderr).toContain('fire reads a call: echo ')
  })

  it('an event in the payload that is two letters off is told people once', async () => {
    const { stdout, stderr } = await project.call(['fire'], { input: { hook_event_name: 'PreTolUze' } })
    expect((stdout + stderr).match(/did you mean PreToolUse\?/g)).toHaveLength(1)
  })

  it('as JSON: the outcome and nothing else', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { stdout, stderr } = await fire(['PreToolUse', '--json'], BASH)
    expect([stdout.trimEnd().split('\n').length, stderr]).toEqual([1, ''])
    expect(Object.keys(JSON.parse(stdout)).sort()).toEqual(
      ['action', 'data', 'diagnostics', 'hooks', 'injections', 'messages', 'modified', 'reason'].sort(),
    )
  })
})

describe('sources', () => {
  it('a plugin folder and a settings file of another agent', async () => {
    const group = (command: string) => ({ PreToolUse: [{ hooks: [{ type: 'command', command }] }] })
    project.file('plug/.claude-plugin/plugin.json', { name: 'plug' })
    project.file('plug/hooks/hooks.json', { hooks: group('touch "$CLAUDE_PLUGIN_ROOT/ran"') })
    project.file('.claude/settings.json', { hooks: group('touch settings-ran') })
    await fire(['PreToolUse', '--plugin', 'plug', '--config', '.claude/settings.json'], BASH)
    expect([project.has('plug/ran'), project.has('settings-ran')]).toEqual([true, true])
  })

  it('a project that is elsewhere', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    const { code } = await fire(['PreToolUse', '--project', project.folder], BASH, { cwd: project.base })
    expect(code).toBe(2)
  })

  it('matchers that need the regex engine', async () => {
    project.hooks({ PreToolUse: [['^mcp__.*__(write|delete)$', 'echo no >&2; exit 2']] })
    const { code } = await fire(['PreToolUse'], { tool_name: 'mcp__files__delete', tool_input: {} })
    expect(code).toBe(2)
  })
})

describe('a plugin or file that was named in vain', () => {
  it.each(['--plugin', '--config'])('%s: exit 1, unless a hook denies', async (option) => {
    expect((await fire(['PreToolUse', option, 'nope'], BASH)).code).toBe(1)
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    expect((await fire(['PreToolUse', option, 'nope'], BASH)).code).toBe(2)
  })
})

describe('CARABINER_OFF=1', () => {
  const OFF = { env: { CARABINER_OFF: '1' } }

  it('runs no hook, and says so loudly', async () => {
    project.hooks({ PreToolUse: [['Bash', 'touch ran; exit 2']] })
    const { code, stdout, stderr } = await fire(['PreToolUse', '--json'], BASH, OFF)
    expect([code, project.has('ran')]).toEqual([0, false])
    expect(stderr).toContain('CARABINER_OFF=1 is set: no hook runs')
    expect(JSON.parse(stdout)).toMatchObject({
      action: 'continue',
      data: BASH,
      hooks: [],
      diagnostics: [{ code: 'bypassed' }],
    })
  })

  it('lets pass whatever the payload is', async () => {
    expect((await fire([], '{oops', OFF)).code).toBe(0)
  })

  it('is on for 1 alone', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    expect((await fire(['PreToolUse'], BASH, { env: { CARABINER_OFF: '0' } })).code).toBe(2)
  })

  it('does not make a project that is not there pass', async () => {
    expect((await fire(['PreToolUse', '--project', 'nope'], BASH, OFF)).code).toBe(1)
  })

  it('has no effect where your settings say "bypass": false', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    project.file('home/.amplifier/settings.json', { hooks: { bypass: false } })
    const { code, stdout } = await fire(['PreToolUse', '--json'], BASH, {
      env: { CARABINER_OFF: '1', HOME: `${project.folder}/home` },
    })
    expect(code).toBe(2)
    expect(JSON.parse(stdout).diagnostics).toMatchObject([{ code: 'bypass-refused' }])
  })
})

it('tells a slip in a matcher once, and at a terminal what to type next', async () => {
  project.hooks({ PreToolUse: [['bash', GUARD]] })
  const { stdout } = await fire(['PreToolUse'], BASH)
  expect(stdout.match(/matcher "bash"/g)?.length).toBe(1)
  expect(stdout).not.toContain('matcher-never')
  expect(stdout).not.toContain('next ')
  const shown = await project.onTerminal(['fire', 'Stop', '--payload', '/dev/null'], {
    env: { PAGER: 'cat', NO_COLOR: '1' },
    input: '',
  })
  expect(shown.stdout).toContain('next carabiner list')
})
