import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CaseResult } from '../../src/cli/test-cases/run-cases.js'
import {
  ended,
  isRunning,
  Project,
  programFile,
  programWithPackages,
  type RunOptions,
  withProgram,
} from './program.js'

withProgram()

interface Report {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly cases: readonly (Pick<CaseResult, 'status' | 'misses' | 'problem' | 'outcome'> & {
    readonly name: string
    readonly line: number
  })[]
  readonly untrusted: readonly { readonly name: string; readonly path: string }[]
  readonly diagnostics: readonly { readonly line: number; readonly text: string }[]
}

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }

/** A plugin with one command on PreToolUse and its cases. */
function plugin(command: string, cases: readonly object[], more: object = {}): Project {
  const project = new Project()
  onTestFinished(() => project.remove())
  const hook = { type: 'command', command, timeout: 300 }
  project.file('.amplifier/hooks/gate/hooks.json', { hooks: { PreToolUse: [{ hooks: [hook] }] } })
  project.file('.amplifier/hooks/gate/hooks.test.json', { ...more, cases })
  return project
}

async function report(
  project: Project,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Report> {
  const { stdout, stderr } = await project.call(['test', '--json', ...args], options)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Report
}

const pre = (expect: object, more: object = {}) => ({ event: 'PreToolUse', payload: BASH, expect, ...more })
const answer = (specific: object) =>
  `printf '%s' '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...specific } })}'`

describe('what is expected', () => {
  const deny = answer({ permissionDecision: 'deny', permissionDecisionReason: 'never in 2026' })

  const table: readonly (readonly [expected: object, misses: readonly string[]])[] = [
    [{ action: 'deny' }, []],
    [{ action: 'continue' }, ['action']],
    [{ reason: 'never' }, []],
    [{ reason: { matches: '^never in \\d{4}$' } }, []],
    [{ reason: { matches: '^in' } }, ['reason']],
    [{ reason: null }, ['reason']],
    [{ context: null, messages: null, permission: null, modified: false }, []],
    [{ context: 'x', messages: ['y', 'z'] }, ['context', 'messages', 'messages']],
    [{ ran: ['gate:PreToolUse#1'] }, []],
    [{ ran: ['PreToolUse#1'] }, []],
    [{ ran: [] }, ['ran']],
    [{ ran: ['PreToolUse#1', 'PreToolUse#2'] }, ['ran']],
    [{ failed: ['PreToolUse#1'] }, ['failed']],
    [{ permission: 'allow', modified: true }, ['permission', 'modified']],
  ]

  it('is compared with a deny', async () => {
    const { cases } = await report(
      plugin(
        deny,
        table.map(([expected]) => pre(expected)),
      ),
    )
    const missed = cases.map(({ misses, status }) => [misses.map(({ what }) => what), status])
    expect(missed).toEqual(table.map(([, misses]) => [misses, misses.length === 0 ? 'passed' : 'failed']))
  })

  it('a part of what was changed is enough, of a list it is not', async () => {
    const change = answer({
      permissionDecision: 'allow',
      updatedInput: { command: 'ls -l', also: [1, { a: 2, b: 3 }] },
    })
    const { cases } = await report(
      plugin(change, [
        pre({ modified: { tool_input: { command: 'ls -l' } }, permission: 'allow' }),
        pre({ modified: { tool_input: { also: [1, { a: 2 }] } } }),
        pre({ modified: { tool_input: { also: [1] } } }),
        pre({ modified: { tool_input: { command: 'ls', missing: 'x' } } }),
      ]),
    )
    expect(cases.map(({ misses }) => misses.map(({ what }) => what))).toEqual([
      [],
      [],
      ['modified.tool_input.also'],
      ['modified.tool_input.command', 'modified.tool_input.missing'],
    ])
  })

  it('context and messages', async () => {
    const command = `printf '%s' '{"systemMessage": "for you", "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "for it"}}'`
    const { passed } = await report(
      plugin(command, [pre({ context: 'for it', messages: ['for', { matches: 'you$' }] })]),
    )
    expect(passed).toBe(1)
  })

  it('a hook that fails fails its case, unless that is expected', async () => {
    const { cases } = await report(
      plugin('exit 7', [pre({ action: 'continue' }), pre({ action: 'continue', failed: ['PreToolUse#1'] })]),
    )
    expect(cases.map(({ status }) => status)).toEqual(['failed', 'passed'])
    expect(cases[0]?.misses).toEqual([
      { what: 'failed', expected: 'none', received: 'gate:PreToolUse#1 (HOOK_EXIT)' },
    ])
  })

  it('a plugin of which a part cannot be read fails every case', async () => {
    const project = plugin('true', [pre({ action: 'continue' })])
    project.file('.amplifier/hooks/gate/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }, { type: 'command' }] }] },
    })
    const { cases } = await report(project)
    expect(cases[0]?.misses.map(({ what }) => what)).toEqual(['configuration'])
  })

  it('a payload that no agent would send is no case', async () => {
    const { cases } = await report(
      plugin('true', [{ event: 'PreToolUse', payload: {}, expect: { action: 'continue' } }]),
    )
    expect(cases[0]).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('PreToolUse: the required field tool_name is missing'),
    })
  })
})

describe('where a case runs', () => {
  it('in a project and a home of its own, with its files and variables, and nothing is left', async () => {
    const command =
      'printf "%s|" "$(cat src/a.txt)" "$GREETING" "$PWD" "$CLAUDE_PROJECT_DIR" "$HOME" "$CARABINER_OFF" >&2; ls -a "$HOME" | wc -l >&2; touch left; exit 2'
    const files = { 'src/a.txt': 'text in {{project}}' }
    const reason = {
      matches: '^text in {{project}}\\|hello\\|{{project}}\\|{{project}}\\|{{home}}\\|\\|\\s*2\\s*$',
    }
    const project = plugin(command, [pre({ action: 'deny', reason }, { files, env: { GREETING: 'hello' } })])
    const folder = join(project.base, 'temporary')
    mkdirSync(folder)
    const env = { CARABINER_OFF: '1', GREETING: 'no', TMPDIR: folder }
    const told = await report(project, [], { env })
    expect(told.cases[0]?.misses).toEqual([])
    expect(told.cases[0]?.outcome?.reason).toContain('{{project}}')
    expect(project.has('left')).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })

  it('the payload has what an agent sends along', async () => {
    const { cases } = await report(plugin('cat >&2; exit 2', [pre({ action: 'deny' })]))
    expect(JSON.parse(cases[0]?.outcome?.reason ?? '')).toMatchObject({
      session_id: 'test',
      cwd: '{{project}}',
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_use_id: 'toolu_test',
      ...BASH,
    })
  })

  it('hooks of the project itself run from a copy, without its plugins', async () => {
    const project = plugin('echo plugin >&2; exit 2', [pre({ action: 'deny', reason: 'plugin' })])
    project.hooks({ PreToolUse: [['', '"$AMPLIFIER_HOOKS_DIR/own.sh"']] })
    project.file('.amplifier/hooks/own.sh', '#!/bin/sh\necho own >&2\nexit 2\n', 0o755)
    project.file('.amplifier/hooks/hooks.test.json', {
      cases: [pre({ reason: 'own', ran: ['PreToolUse#1'] })],
    })
    const { cases } = await report(project)
    expect(cases.map(({ status }) => status)).toEqual(['passed', 'passed'])
    for (const where of ['.amplifier/hooks', '.amplifier/hooks/hooks.test.json']) {
      expect((await report(project, [where])).passed).toBe(where.endsWith('.json') ? 1 : 2)
    }
  })

  it("a plugin in Claude Code's layout, with its cases beside its hooks", async () => {
    const project = new Project()
    onTestFinished(() => project.remove())
    const hook = { type: 'command', command: 'echo no >&2; exit 2' }
    project.file('mine/.claude-plugin/plugin.json', { name: 'mine' })
    project.file('mine/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks: [hook] }] } })
    project.file('mine/payload.json', BASH)
    project.file('mine/hooks/hooks.test.json', {
      cases: [{ event: 'tool:pre', payloadFile: '../payload.json', expect: { action: 'deny' } }],
    })
    expect((await report(project, ['mine'])).passed).toBe(1)
    expect((await report(project, ['mine/hooks/hooks.test.json'])).passed).toBe(1)
  })

  it('cases of a file that is sequential never run at once', async () => {
    const command = 'cd "$CLAUDE_PLUGIN_ROOT" && mkdir busy && sleep 0.3 && rmdir busy'
    const names = ['case 1', 'case 2', 'case 3', 'case 4']
    const cases = names.map((name) => pre({ action: 'continue' }, { name }))
    const told = await report(plugin(command, cases, { sequential: true }))
    expect(told.cases.map(({ name, status }) => [name, status])).toEqual(
      names.map((name) => [name, 'passed']),
    )
  })
})

describe('hooks that nobody trusted', () => {
  const LINE =
    'carabiner: running what you have not trusted: gate from .amplifier/hooks/gate (untrusted); ' +
    'it runs as you, without your variables and settings\n'

  it('run, and it is said whose they are', async () => {
    const project = plugin('true', [pre({ action: 'continue' })])
    const said = await project.call(['test'])
    expect([said.code, said.stderr]).toEqual([0, LINE])
    const path = project.path('.amplifier/hooks/gate')
    expect(await report(project)).toMatchObject({ untrusted: [{ name: 'gate', path, state: 'untrusted' }] })
    const trusted = await project.call(['trust', '--yes'])
    expect(trusted.code).toBe(0)
    expect((await project.call(['test'])).stderr).toBe('')
    expect(await report(project)).toMatchObject({ untrusted: [] })
  })

  it('of the user need no word, a folder and a file of the project do', async () => {
    const project = plugin('true', [pre({ action: 'continue' })])
    project.hooks({ PreToolUse: [['', 'true']] })
    project.file('.amplifier/hooks/hooks.test.json', { cases: [pre({ action: 'continue' })] })
    await project.run('cp', ['-r', '.amplifier/hooks/gate', 'mine'])
    await project.run('mkdir', ['-p', join(project.home, '.amplifier/hooks')])
    await project.run('cp', ['-r', 'mine', join(project.home, '.amplifier/hooks/yours')])
    const names = async (...args: readonly string[]) =>
      (await report(project, args)).untrusted.map(({ name, path }) => [name, path])
    expect(await names(join(project.home, '.amplifier/hooks/yours'))).toEqual([])
    expect(await names('mine')).toEqual([['mine', project.path('mine')]])
    expect(await names()).toEqual([
      ['project', project.path('.amplifier/hooks/hooks.json')],
      ['gate', project.path('.amplifier/hooks/gate')],
      ['cases', project.path('.amplifier/hooks/hooks.test.json')],
    ])
  })

  it('cases that no plugin holds are told of, also where the hooks are trusted', async () => {
    const project = new Project()
    onTestFinished(() => project.remove())
    project.hooks({ PreToolUse: [['', 'true']] })
    expect((await project.call(['trust', '--yes'])).code).toBe(0)
    for (const file of ['.amplifier/hooks/hooks.test.json', 'some/cases.json']) {
      const path = project.file(file, { cases: [pre({ action: 'continue' })] })
      const { code, stderr } = await project.call(['test', file])
      const line = `running what you have not trusted: cases from ${file} (untrusted); it runs as you`
      expect([code, stderr]).toEqual([0, `carabiner: ${line}, without your variables and settings\n`])
      expect(await report(project, [file])).toMatchObject({
        untrusted: [{ name: 'cases', path, state: 'untrusted' }],
      })
    }
  })

  it('a case replaces no file that is tested, by no link either', async () => {
    const project = new Project()
    onTestFinished(() => project.remove())
    project.hooks({ PreToolUse: [['', 'sh .amplifier/hooks/check.sh']] })
    project.file('.amplifier/hooks/check.sh', 'exit 0')
    const away = project.path('away')
    symlinkSync(away, project.path('.amplifier/hooks/link'))
    const evil = `touch '${project.path('ran')}'`
    const replaced = ['check.sh', './x/../check.sh', 'hooks.json', 'link']
    const cases = replaced.map((name) =>
      pre({ action: 'continue' }, { name, files: { [`.amplifier/hooks/${name}`]: evil } }),
    )
    project.file('.amplifier/hooks/hooks.test.json', { cases })
    const told = await report(project)
    expect(told.cases.map(({ status, problem }) => [status, problem])).toEqual(
      ['check.sh', 'check.sh', 'hooks.json', 'link'].map((name) => [
        'failed',
        `".amplifier/hooks/${name}" in "files" would replace a file of the project under test: remove it`,
      ]),
    )
    expect([existsSync(project.path('ran')), existsSync(away)]).toEqual([false, false])
  })

  it('get none of the variables, and nothing of the state, of whoever runs them', async () => {
    const project = plugin('env >&2; exit 2', [pre({ action: 'deny' }, { env: { OWN: 'of the case' } })])
    const env = {
      DEPLOY_KEY: 'hush',
      AWS_PROFILE: 'prod',
      XDG_DATA_HOME: project.home,
      NODE_OPTIONS: '--no-warnings',
      LANG: 'C',
    }
    const { cases } = await report(project, [], { env })
    const names = (cases[0]?.outcome?.reason ?? '').split('\n').map((line) => line.replace(/=.*/, ''))
    expect(names).toEqual(expect.arrayContaining(['OWN', 'PATH', 'LANG', 'HOME', 'CARABINER_HOME']))
    expect(Object.keys(env).filter((name) => names.includes(name))).toEqual(['LANG'])
    expect(cases[0]?.outcome?.reason).not.toContain(project.home)
    expect(readdirSync(project.home)).toEqual([])
  })

  it('write no file of a case where a link leads', async () => {
    const project = plugin('true', [])
    project.hooks({ PreToolUse: [['', 'true']] })
    project.file('.amplifier/hooks/gate/hooks.test.json', { cases: [pre({ action: 'continue' })] })
    symlinkSync(project.home, project.path('.amplifier/hooks/out'))
    project.file('.amplifier/hooks/hooks.test.json', {
      cases: [pre({ action: 'continue' }, { files: { '.amplifier/hooks/out/x/y': 'text' } })],
    })
    const { cases } = await report(project)
    expect(cases[0]?.problem).toBe('".amplifier/hooks/out/x/y" leads out of the project, through a link')
    expect(readdirSync(project.home)).toEqual([])
  })
})

describe('what is tested', () => {
  const named = async (project: Project, ...args: readonly string[]) =>
    (await report(project, args)).cases.map(({ name, status }) => [name, status])

  it('a plugin by its name, of the project or of the user', async () => {
    const project = plugin('true', [pre({ action: 'continue' }, { name: 'here' })])
    const yours = join(project.home, '.amplifier/hooks/yours')
    await project.run('mkdir', ['-p', dirname(yours)])
    await project.run('cp', ['-r', '.amplifier/hooks/gate', yours])
    expect(await named(project, 'gate')).toEqual([['here', 'passed']])
    expect(await named(project, 'yours')).toEqual([['here', 'passed']])
    project.file('gate/README', 'a folder without cases that is called like it')
    expect(await named(project, 'gate')).toEqual([['here', 'passed']])
    const { code, stderr } = await project.call(['test', 'gaet'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('carabiner: There is no gaet; did you mean gate?\n'),
    ])
  })

  it('what was recorded beside a project, against all of its hooks', async () => {
    const project = plugin('echo no >&2; exit 2', [])
    project.hooks({ PreToolUse: [['', 'true']] })
    const recorded = await project.call(['fire', 'PreToolUse', '--trust-all', '--record', 'calls/rec.json'], {
      input: BASH,
    })
    expect([recorded.code, recorded.stderr]).toEqual([
      2,
      expect.stringContaining('recorded as "deny Bash: ls"'),
    ])
    expect(await named(project, 'calls/rec.json')).toEqual([['deny Bash: ls', 'passed']])
    project.file('.amplifier/hooks/gate/hooks.json', { hooks: {} })
    expect(await named(project, 'calls/rec.json')).toEqual([['deny Bash: ls', 'failed']])
  })

  it('nothing where a file of cases is beside no hooks', async () => {
    const project = new Project()
    onTestFinished(() => project.remove())
    project.file('rec.json', { cases: [pre({ action: 'continue' })] })
    const { code, stderr } = await project.call(['test', 'rec.json'])
    expect(code).toBe(1)
    expect(stderr).toContain('rec.json does not belong to any hooks')
  })
})

describe('a case that hangs', () => {
  it('ends at its time-out, and its processes with it', async () => {
    const command = 'echo $$ > "$CLAUDE_PLUGIN_ROOT/pid"; exec sleep 300'
    const project = plugin(command, [pre({ action: 'deny' }, { timeout: 1 })])
    const { cases } = await report(project)
    expect(cases[0]?.misses.map(({ what }) => what)).toEqual(['failed'])
    expect(isRunning(Number(project.read('.amplifier/hooks/gate/pid')))).toBe(false)
  })

  it('ends with the test, when that is interrupted', async () => {
    const fifo =
      'echo $$ > "$CLAUDE_PLUGIN_ROOT/pid"; echo ready > "$CLAUDE_PLUGIN_ROOT/started"; exec sleep 300'
    const project = plugin(fifo, [pre({ action: 'continue' })])
    await project.run('mkfifo', [project.path('.amplifier/hooks/gate/started')])
    const child = spawn(process.execPath, [programFile(), 'test'], {
      cwd: project.folder,
      env: project.env(),
    })
    const end = ended(child)
    // Opening it waits for the hook.
    await project.run('cat', [project.path('.amplifier/hooks/gate/started')])
    child.kill('SIGINT')
    const { code, stderr } = await end
    expect(code).toBe(130)
    expect(stderr).toMatch(/\ncarabiner: Interrupted by SIGINT; every hook process is gone\n$/)
    expect(isRunning(Number(project.read('.amplifier/hooks/gate/pid')))).toBe(false)
  })

  it('is ended where an async hook goes on and on, and fails whatever was decided', async () => {
    const project = plugin('', [pre({ action: 'continue' }, { timeout: 0.5 })])
    const command = 'echo $$ > "$CLAUDE_PLUGIN_ROOT/pid"; exec sleep 300'
    project.file('.amplifier/hooks/gate/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command, async: true, timeout: 300 }] }] },
    })
    const { cases } = await report(project)
    expect(cases[0]?.problem).toBe('It did not end within 10.5 seconds; the case has a "timeout" of 0.5')
    expect(isRunning(Number(project.read('.amplifier/hooks/gate/pid')))).toBe(false)
  })
})

describe('a file that is wrong', () => {
  it.each([
    ['{\n "cases": [\n  {,}\n ]\n}', 3, 'this is not valid JSON: unexpected'],
    ['[]', 1, 'expected { "cases": [ … ] }, got []'],
    ['{}', 1, 'expected "cases", a list of cases'],
    ['{\n "case": []\n}', 2, '"case" is not a key here; did you mean cases?'],
    ['{\n "cases": {}\n}', 2, '"cases" must be a list of cases, got {}'],
    ['{ "cases": [\n 1\n] }', 2, 'a case must be an object, got 1'],
    ['{ "cases": [\n {}\n] }', 2, 'the case has no "event"'],
    ['{ "cases": [{ "event": "Stop",\n "expect": {} }] }', 2, 'expected at least one expectation'],
    [
      '{ "cases": [{ "event": "Stop", "expect": {\n "action": "block" } }] }',
      2,
      '"action" must be one of continue, deny,',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {\n "reason": { "matches": "(" } } }] }',
      2,
      '"reason" must be a text',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {\n "reason": { "matches": "(a+)+$" } } }] }',
      2,
      '"reason" must be a text',
    ],
    [
      '{ "cases": [{ "event": "stopp",\n "expect": {"action": "deny"} }] }',
      1,
      'there is no event "stopp"; did you mean Stop?',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "timeout": 6000 }] }',
      2,
      '"timeout" must be seconds',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "files": {"../x": ""} }] }',
      2,
      '"../x" must be a path inside the project',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "files": {"/x": ""} }] }',
      2,
      '"/x" must be a path inside the project',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "payloadFile": "none.json" }] }',
      2,
      'none.json: ENOENT',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "payload": {"hook_event_name": "PreToolUse"} }] }',
      2,
      'the payload is for "PreToolUse", the case for "Stop"',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {\n "action": "deny",\n "action": "continue" } }] }',
      2,
      '"action" appears twice',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "env": {"CARABINER_HOME": "/x"} }] }',
      2,
      '"CARABINER_HOME" is set for the case itself',
    ],
    ...['NODE_OPTIONS', 'LD_PRELOAD', 'PATH', 'Path', 'BASH_ENV', 'PYTHONPATH', 'PERL5OPT', 'GIT_SSH'].map(
      (name): [string, number, string] => [
        `{ "cases": [{ "event": "Stop", "expect": {"action": "deny"},\n "env": {"${name}": "/x"} }] }`,
        2,
        `"${name}" would make programs run other code than the hooks`,
      ],
    ),
    ['{ "cases": [{ "event": "Stop",\n "__proto__": {"skip": true} }] }', 2, '"__proto__" is not a key here'],
    [
      '{ "cases": [{ "event": "Stop", "expect": {\n "__proto__": {} } }] }',
      2,
      '"__proto__" is not a key here',
    ],
    ['{ "cases": [{ "event": 1,\n "expect": [] }] }', 1, '"event" must be the name of an event, got 1'],
    [`{ "cases":\n ${'['.repeat(100_000)}`, 2, 'this is not valid JSON'],
    [`{ "cases": ["${'x'.repeat(5 << 20)}"] }`, 1, 'the file is larger than 4194304 bytes'],
    ['', 1, 'the file is empty'],
  ])('%j: line %i', async (text, line, problem) => {
    const project = plugin('true', [])
    const file = project.file('.amplifier/hooks/gate/hooks.test.json', text)
    const { code, stdout } = await project.call(['test', '--json'])
    const { diagnostics } = JSON.parse(stdout) as Report
    expect([code, diagnostics[0]]).toEqual([
      1,
      { code: 'config-invalid', file, line, text: expect.stringContaining(problem) },
    ])
  })

  it('of very many mistakes the first are told', async () => {
    const project = plugin('true', [])
    project.file('.amplifier/hooks/gate/hooks.test.json', {
      cases: Array.from({ length: 10_000 }, () => ({ event: 'Stop' })),
    })
    const { code, stdout } = await project.call(['test', '--json'])
    const { diagnostics } = JSON.parse(stdout) as Report
    expect([code, diagnostics.length]).toEqual([1, 101])
    expect(diagnostics.at(-1)?.text).toBe('there are 100 mistakes before this case: correct them first')
  })

  it('does not keep the cases that are right from running', async () => {
    const told = await report(plugin('true', [pre({ action: 'continue' }), { event: 'Stop' }]))
    expect([told.passed, told.diagnostics.length]).toEqual([1, 1])
  })
})

describe('output', () => {
  it('--junit writes what CI reads, whatever the texts are', async () => {
    const cases = [
      pre({ action: 'deny' }, { name: 'a <b> & "c"' }),
      pre({ action: 'continue' }, { name: 'fine' }),
      pre({ action: 'deny' }, { name: 'later', skip: 'not & yet' }),
    ]
    const project = plugin('printf "]]>\\001<x>" >&2', cases)
    const { code, stderr } = await project.call(['test', '--junit', 'out/report.xml'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('created the folder out for the report\n')])
    const again = await project.call(['test', '--junit', 'out/report.xml'])
    expect(again.stderr).not.toContain('created the folder')
    const xml = project.read('out/report.xml')
    expect(xml).toContain('<testsuite name="gate" tests="3" failures="1" errors="0" skipped="1"')
    expect(xml).toContain('name="a &lt;b&gt; &amp; &quot;c&quot;"')
    expect(xml).toContain('<failure message="action: expected deny, received continue">')
    expect(xml).toContain('<skipped message="not &amp; yet"/>')
    expect(xml).toContain('<system-err>gate:PreToolUse#1: ]]&gt;&lt;x&gt;</system-err>')
  })

  it('--junit is XML whatever a case is called', async () => {
    const names = ['\ud800 ]]> \u0001 \ufffe', '\udc00&amp;<!--', `\u202e'"\u0085\r\n`]
    const cases = names.map((name) => pre({ action: 'deny', reason: name }, { name }))
    const project = plugin(`printf '\\377]]>\\001&#0; <![CDATA[' >&2`, cases)
    expect((await project.call(['test', '--junit', 'report.xml'])).code).toBe(1)
    const read =
      'import sys, xml.etree.ElementTree as t; print(len(t.parse(sys.argv[1]).findall(".//testcase/failure")))'
    expect(await project.run('python3', ['-c', read, 'report.xml'])).toEqual({
      code: 0,
      stdout: '3\n',
      stderr: '',
    })
  })

  it('says when no hook ran, and shows no control character and no secret', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    const project = plugin(`printf '\\033[31m${secret}' >&2; exit 2`, [
      pre({ action: 'continue' }, { name: 'coloured\u001b[2J' }),
      { name: 'idle', event: 'Stop', expect: { action: 'continue' } },
    ])
    const { stdout } = await project.call(['test'])
    expect(stdout).toMatch(/ok {4}idle .* ms {2}\(no hook ran\)/)
    expect(stdout).toContain('coloured⟨U+001B⟩[2J')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).not.toContain(secret)
    expect((await project.call(['test', '--json'])).stdout).not.toContain(secret)
  })

  it('--env hands a variable on, and only that', async () => {
    const project = plugin('[ "$TOKEN/$OTHER" = abc/ ] || exit 2', [pre({ action: 'continue' })])
    const run = (...args: string[]) => project.call(['test', ...args], { env: { TOKEN: 'abc', OTHER: 'x' } })
    expect((await run()).code).toBe(1)
    expect((await run('--env', 'TOKEN')).code).toBe(0)
    expect(await run('--env', 'TOKEM')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('--env TOKEM: the variable is not set'),
    })
    for (const name of ['HOME', 'CARABINER_HOME'])
      expect((await run('--env', name)).stderr).toContain(`every case has its own ${name}`)
  })

  it('no case is no success', async () => {
    for (const [project, args, expected] of [
      [plugin('true', []), [], '"cases" is empty in .amplifier/hooks/gate/hooks.test.json'],
      [plugin('true', [pre({ action: 'continue' })]), ['--filter', 'none'], 'has "none" in its name'],
      [plugin('true', []), ['nowhere'], 'There is no nowhere'],
    ] as const) {
      const { code, stdout, stderr } = await project.call(['test', ...args])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(expected)
    }
  })
})

describe('--watch', () => {
  /** What it says, and how it ends. */
  function watched(project: Project) {
    const child = spawn(process.execPath, [programWithPackages(), 'test', '--watch'], {
      cwd: project.folder,
      env: project.env(),
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const end = ended(child)
    let said = ''
    const until = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const look = (chunk: Buffer | '') => {
          said += chunk
          if (!pattern.test(said)) return
          child.stdout.off('data', look)
          said = ''
          resolve()
        }
        child.stdout.on('data', look)
        child.once('close', () => reject(new Error(`it ended: ${said}`)))
        look('')
      })
    return { child, end, until }
  }

  it('runs again when a file changes, whatever a hook writes', async () => {
    const project = plugin('echo x >> "$CLAUDE_PLUGIN_ROOT/log"', [pre({ action: 'continue' })])
    const { child, end, until } = watched(project)
    await until(/1 case: 1 passed\s*waiting for changes/)
    project.file('.amplifier/hooks/gate/hooks.test.json', { cases: [pre({ action: 'deny' })] })
    await until(/1 case: 1 failed\s*waiting for changes/)
    project.file('.amplifier/hooks/gate/hooks.test.json', '{')
    await until(/0 cases: 1 mistake\s*waiting for changes/)
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 143 })
  })

  it('follows no link', async () => {
    const project = plugin('true', [pre({ action: 'continue' })])
    symlinkSync('/', project.path('.amplifier/hooks/gate/root'))
    const { child, end, until } = watched(project)
    await until(/1 case: 1 passed\s*waiting for changes/)
    project.file('.amplifier/hooks/gate/hooks.test.json', { cases: [pre({ action: 'deny' })] })
    await until(/1 case: 1 failed\s*waiting for changes/)
    child.kill('SIGTERM')
    const { code, stderr } = await end
    expect([code, stderr]).toEqual([143, expect.stringMatching(/^carabiner: running what .*\n$/)])
  })

  it('goes on when the folder is gone and comes back, and ends as a shell expects', async () => {
    const project = plugin('true', [pre({ action: 'continue' })])
    const { child, end, until } = watched(project)
    await until(/1 case: 1 passed\s*waiting for changes/)
    await project.run('mv', ['.amplifier', 'elsewhere'])
    await until(/waiting for changes/)
    await project.run('mv', ['elsewhere', '.amplifier'])
    await until(/1 case: 1 passed\s*waiting for changes/)
    await project.run('cp', ['-r', '.amplifier/hooks/gate', '.amplifier/hooks/more'])
    await until(/2 cases: 2 passed\s*waiting for changes/)
    child.kill('SIGINT')
    const { code, stderr } = await end
    expect(code).toBe(130)
    expect(stderr).toContain('carabiner: There is no hooks.test.json in')
  })

  it('runs again for what is saved while a run is on, and ends in the midst of one', async () => {
    const project = plugin('', [pre({ action: 'deny' })])
    const began = project.path('began')
    await project.run('mkfifo', [began])
    const script = (rest: string) =>
      project.file('.amplifier/hooks/gate/hook.sh', `#!/bin/sh\necho x > '${began}'\n${rest}\n`, 0o755)
    script('exec sleep 1')
    const hook = { type: 'command', command: '"$CLAUDE_PLUGIN_ROOT/hook.sh"' }
    project.file('.amplifier/hooks/gate/hooks.json', { hooks: { PreToolUse: [{ hooks: [hook] }] } })
    const { child, end, until } = watched(project)
    // Opening it waits for the hook.
    await project.run('cat', [began])
    for (const rest of ['exit 0', 'exec sleep 300']) script(rest)
    await until(/1 case: 1 failed\s*waiting for changes/)
    await project.run('cat', [began])
    child.kill('SIGINT')
    expect((await end).code).toBe(130)
  })
})
