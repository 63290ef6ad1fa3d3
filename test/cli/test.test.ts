import { spawn } from 'node:child_process'
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CaseResult } from '../../src/cli/test-cases/run-case.js'
import { ended, isRunning, Project, programFile, type RunOptions, withProgram } from './program.js'

withProgram()

interface Report {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly cases: readonly (Pick<CaseResult, 'status' | 'misses' | 'problem' | 'outcome'> & {
    readonly name: string
    readonly line: number
  })[]
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
  const { stdout, stderr } = await project.carabiner(['test', '--json', ...args], options)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Report
}

const pre = (expect: object, more: object = {}) => ({ event: 'PreToolUse', payload: BASH, expect, ...more })
const answer = (specific: object) =>
  `printf '%s' '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...specific } })}'`

describe('what is expected', () => {
  const deny = answer({ permissionDecision: 'deny', permissionDecisionReason: 'never in 2026' })

  it.each([
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
  ])('%j of a deny misses %j', async (expected, misses) => {
    const { cases } = await report(plugin(deny, [pre(expected)]))
    expect(cases[0]?.misses.map(({ what }) => what)).toEqual(misses)
    expect(cases[0]?.status).toBe(misses.length === 0 ? 'passed' : 'failed')
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
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('carabiner-test-'))
    const told = await report(project, [], { env: { CARABINER_OFF: '1', GREETING: 'no' } })
    expect(told.cases[0]?.misses).toEqual([])
    expect(project.has('left')).toBe(false)
    const left = readdirSync(tmpdir()).filter((name) => name.startsWith('carabiner-test-'))
    expect(left.filter((name) => !before.includes(name))).toEqual([])
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

describe('a case that hangs', () => {
  it('ends at its time-out, and its processes with it', async () => {
    const command = 'echo $$ > "$CLAUDE_PLUGIN_ROOT/pid"; exec sleep 300'
    const project = plugin(command, [pre({ action: 'continue' }, { timeout: 1 })])
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
    expect([code, stderr]).toEqual([130, 'carabiner: Interrupted by SIGINT; every hook process is gone\n'])
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
    ['{\n "cases": [\n  {,}\n ]\n}', 3, 'this is no JSON: unexpected'],
    ['[]', 1, 'expected { "cases": [ … ] }, got []'],
    ['{}', 1, 'expected "cases", a list of cases'],
    ['{\n "case": []\n}', 2, '"case" means nothing here; did you mean cases?'],
    ['{\n "cases": {}\n}', 2, '"cases" must be a list of cases, got {}'],
    ['{ "cases": [\n 1\n] }', 2, 'a case must be an object, got 1'],
    ['{ "cases": [\n {}\n] }', 2, 'the case has no "event"'],
    ['{ "cases": [{ "event": "Stop",\n "expect": {} }] }', 2, 'expected at least one of what to expect'],
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
      'the payload is of "PreToolUse", the case of "Stop"',
    ],
    [
      '{ "cases": [{ "event": "Stop", "expect": {\n "action": "deny",\n "action": "continue" } }] }',
      2,
      '"action" stands twice',
    ],
    ['', 1, 'the file is empty'],
  ])('%j: line %i', async (text, line, problem) => {
    const project = plugin('true', [])
    const file = project.file('.amplifier/hooks/gate/hooks.test.json', text)
    const { code, stdout } = await project.carabiner(['test', '--json'])
    const { diagnostics } = JSON.parse(stdout) as Report
    expect([code, diagnostics[0]]).toEqual([
      1,
      { code: 'config-invalid', file, line, text: expect.stringContaining(problem) },
    ])
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
    const { code } = await project.carabiner(['test', '--junit', 'out/report.xml'])
    expect(code).toBe(1)
    const xml = project.read('out/report.xml')
    expect(xml).toContain('<testsuite name="gate" tests="3" failures="1" errors="0" skipped="1"')
    expect(xml).toContain('name="a &lt;b&gt; &amp; &quot;c&quot;"')
    expect(xml).toContain('<failure message="action: expected deny, received continue">')
    expect(xml).toContain('<skipped message="not &amp; yet"/>')
    expect(xml).toContain('<system-err>gate:PreToolUse#1: ]]&gt;&lt;x&gt;</system-err>')
  })

  it('says when no hook ran, and shows no control character and no secret', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    const project = plugin(`printf '\\033[31m${secret}' >&2; exit 2`, [
      pre({ action: 'continue' }, { name: 'coloured\u001b[2J' }),
      { name: 'idle', event: 'Stop', expect: { action: 'continue' } },
    ])
    const { stdout } = await project.carabiner(['test'])
    expect(stdout).toMatch(/ok {4}idle .* ms {2}\(no hook ran\)/)
    expect(stdout).toContain('coloured⟨U+001B⟩[2J')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).not.toContain(secret)
    expect((await project.carabiner(['test', '--json'])).stdout).not.toContain(secret)
  })

  it('no case is no success', async () => {
    for (const [project, args, expected] of [
      [plugin('true', []), [], '"cases" is empty in .amplifier/hooks/gate/hooks.test.json'],
      [plugin('true', [pre({ action: 'continue' })]), ['--filter', 'none'], 'has "none" in its name'],
      [plugin('true', []), ['nowhere'], 'There is no nowhere'],
    ] as const) {
      const { code, stdout, stderr } = await project.carabiner(['test', ...args])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(expected)
    }
  })
})

/** Where the program is installed, so are the packages that it needs. */
function installPackages(): void {
  const modules = join(dirname(programFile()), '..', 'node_modules')
  if (!existsSync(modules))
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), modules)
}

it('--watch runs again when a file changes, whatever a hook writes', async () => {
  installPackages()
  const project = plugin('echo x >> "$CLAUDE_PLUGIN_ROOT/log"', [pre({ action: 'continue' })])
  const child = spawn(process.execPath, [programFile(), 'test', '--watch'], {
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
        resolve()
      }
      child.stdout.on('data', look)
      child.once('close', () => reject(new Error(`it ended: ${said}`)))
      look('')
    })
  await until(/1 case: 1 passed\s*waiting for changes/)
  project.file('.amplifier/hooks/gate/hooks.test.json', { cases: [pre({ action: 'deny' })] })
  await until(/1 case: 1 failed\s*waiting for changes/)
  project.file('.amplifier/hooks/gate/hooks.test.json', '{')
  await until(/0 cases: 1 mistake\s*waiting for changes/)
  child.kill('SIGTERM')
  expect(await end).toMatchObject({ code: 1, stderr: '' })
})
