// Amplifier's shell hooks module: every behaviour its own tests show, through the front door and with real scripts, and
// every defect of it the right way round. A test that begins with a comment "≠" checks a rule of ours that differs from
// upstream on purpose. Not here: prompt hooks ($ARGUMENTS, reading a model's answer), which come with their own issue.

import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  codes,
  group,
  has,
  matching,
  NO_HANG,
  printing,
  ShellProject,
  texts,
  traces,
} from './shell-project.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls -la', description: 'List files' } }
const WRITE = { tool_name: 'Write', tool_input: { file_path: '/tmp/a.txt', content: 'old' } }
const DONE = { ...BASH, tool_response: { stdout: 'a b', stderr: '', returncode: 0 } }

let project: ShellProject
beforeEach(() => {
  project = new ShellProject()
})
afterEach(async () => {
  await project.settled()
  const left = project.running()
  await project.remove()
  expect(left).toEqual([])
}, NO_HANG.timeout)

/** A command that leaves a line in `ran`. */
const leaves = (line: string) => `echo ${line} >> "$AMPLIFIER_PROJECT_DIR/ran"`
const ran = () => project.lines('ran').sort()

describe('bridge', NO_HANG, () => {
  it('without a hooks folder goes on, and has nothing to say', async () => {
    const hooks = await project.open()
    expect([hooks.list(), hooks.diagnostics]).toEqual([[], []])
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'continue', hooks: [] })
  })

  it('loads .amplifier/hooks', async () => {
    project.root({ PreToolUse: [matching('Bash', 'exit 0')] })
    const [hook] = (await project.open()).list()
    expect(hook).toMatchObject({
      kind: 'command',
      events: ['PreToolUse'],
      matcher: 'Bash',
      command: 'exit 0',
    })
    expect(hook).toMatchObject({ file: project.path('.amplifier/hooks/hooks.json'), line: 7, state: 'ready' })
  })

  it('enabled: false switches every hook off, and the trace says so', async () => {
    project.root({ PreToolUse: [group('exit 2')] })
    project.json('.amplifier/settings.json', { hooks: { enabled: false } })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'skipped', why: 'disabled' }] })
    expect(outcome.hooks[0]?.detail).toContain('settings.json:3')
  })

  it('starts nothing before an event asks for it', async () => {
    project.root({ PreToolUse: [group(leaves('early'))] })
    await project.open()
    await project.settled()
    expect(ran()).toEqual([])
  })

  it('serves every session with its own id', async () => {
    // ≠ upstream keeps the id of the first session it saw.
    project.root({ PreToolUse: [group(leaves('$AMPLIFIER_SESSION_ID'))] })
    const hooks = await project.open()
    for (const id of ['one', 'two']) await hooks.session({ id }).fire('tool:pre', BASH)
    expect(ran()).toEqual(['one', 'two'])
  })

  it('goes on for an event that nobody knows', async () => {
    project.root({ PreToolUse: [group('exit 2')] })
    expect(await project.fire('my:event', { a: 1 })).toMatchObject({ action: 'continue', hooks: [] })
  })

  it('leaves hooks of an unknown event out, and says so with file and line', async () => {
    // ≠ upstream says nothing.
    const file = project.root({ PreTolUse: [group('exit 2')] })
    const hooks = await project.open()
    expect(hooks.list()).toEqual([])
    expect(hooks.diagnostics).toMatchObject([{ code: 'unknown-event', file, line: 3 }])
    expect(texts(hooks.diagnostics)[0]).toContain('did you mean PreToolUse?')
  })

  it('goes on where nothing matches, and starts nothing', async () => {
    project.root({ PreToolUse: [matching('Write', `${leaves('x')}; exit 2`)] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'skipped', why: 'matcher' }] })
    expect(ran()).toEqual([])
  })

  it('goes on where a matching hook exits with 0', async () => {
    project.root({ PreToolUse: [matching('Bash', leaves('x'))] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', messages: [], diagnostics: [] })
    expect(outcome.permission).toBeUndefined()
    expect(ran()).toEqual(['x'])
  })

  it('denies where a matching hook exits with 2', async () => {
    project.root({ PreToolUse: [matching('Bash', 'echo not here >&2; exit 2')] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'not here' })
  })

  it('denies where a hook prints decision: block', async () => {
    project.root({ PreToolUse: [group(printing({ decision: 'block', reason: 'no' }))] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('injects what a hook prints as contextInjection', async () => {
    project.root({ PostToolUse: [group(printing({ contextInjection: 'lint: 2 errors' }))] })
    const outcome = await project.fire('tool:post', DONE)
    expect(outcome.action).toBe('continue')
    expect(texts(outcome.injections)).toEqual(['lint: 2 errors'])
  })

  it('leaves a hook of an unknown type out, not its neighbour, and says so', async () => {
    // ≠ upstream says nothing.
    const file = project.root({
      PreToolUse: [{ hooks: [{ type: 'zap', command: 'exit 0' }] }, group('exit 2')],
    })
    expect((await project.fire('tool:pre', BASH)).action).toBe('deny')
    const { diagnostics } = await project.open()
    expect(diagnostics).toMatchObject([{ code: 'entry-invalid', file, line: 7 }])
    expect(texts(diagnostics)[0]).toContain('"zap"')
  })

  it('ends a sequential group at its first deny', async () => {
    project.root({
      PreToolUse: [
        { ...group(leaves('first'), `${leaves('second')}; exit 2`, leaves('third')), sequential: true },
      ],
    })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome.action).toBe('deny')
    expect(ran()).toEqual(['first', 'second'])
    expect(outcome.hooks.map(({ status }) => status)).toEqual(['ran', 'ran', 'skipped'])
  })

  it('lets the siblings of a deny finish', async () => {
    // ≠ upstream stops at the first deny: hooks of a group run one after another there, and at once here.
    project.root({
      PreToolUse: [group('exit 2', `until [ -e gone ]; do sleep 0.01; done; ${leaves('sibling')}`)],
    })
    const fired = project.fire('tool:pre', BASH)
    project.file('gone', '')
    expect((await fired).action).toBe('deny')
    expect(ran()).toEqual(['sibling'])
  })

  it('gives a hook its own time-out', async () => {
    project.root({ PreToolUse: [group({ command: 'sleep 60', timeout: 0.3 }, { command: 'exit 0' })] })
    const hooks = await project.open()
    expect(hooks.list().map(({ timeout }) => timeout)).toEqual([0.3, 30])
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome.hooks).toMatchObject([{ why: 'HOOK_TIMEOUT', status: 'failed' }, { status: 'ran' }])
  })

  const PAYLOADS: readonly (readonly [string, string, object])[] = [
    ['tool:pre', 'PreToolUse', BASH],
    ['tool:post', 'PostToolUse', DONE],
    ['prompt:submit', 'UserPromptSubmit', { prompt: 'hello' }],
    ['session:start', 'SessionStart', {}],
    ['session:end', 'SessionEnd', {}],
    ['prompt:complete', 'Stop', {}],
    ['orchestrator:stop', 'Stop', {}],
    ['context:pre_compact', 'PreCompact', {}],
    ['approval:required', 'PermissionRequest', BASH],
    ['tool:ask_user', 'PermissionRequest', BASH],
    ['user:notification', 'Notification', { message: 'waiting' }],
    ['task:post', 'SubagentStop', {}],
  ]

  it.each(PAYLOADS)('%s runs the hooks of %s', async (alias, event, data) => {
    project.root({ [event]: [group(leaves(event))] })
    const outcome = await project.fire(alias, data)
    expect(outcome).toMatchObject({ action: 'continue', data: { hook_event_name: event } })
    expect(ran()).toEqual([event])
  })

  it('takes either name of an event in a file', async () => {
    project.root({ 'tool:pre': [group('exit 2')], pre_compact: [group('exit 2')] })
    expect((await project.fire('PreToolUse', BASH)).action).toBe('deny')
    expect((await project.fire('PreCompact', {})).action).toBe('deny')
  })

  it('session:resume is a SessionStart whose trigger is resume', async () => {
    project.root({
      SessionStart: [
        matching('resume', `cat > seen; ${leaves('resume')}`),
        matching('startup', leaves('startup')),
      ],
    })
    await project.fire('session:resume', {})
    expect(ran()).toEqual(['resume'])
    expect(JSON.parse(project.read('seen'))).toMatchObject({ trigger: 'resume', source: 'resume' })
  })

  it('a SessionStart that resumes, is cleared or compacted matches on its trigger', async () => {
    project.root({
      SessionStart: ['startup', 'resume', 'clear', 'compact'].map((trigger) =>
        matching(trigger, leaves(trigger)),
      ),
    })
    await project.fire('session:start', {})
    expect(ran()).toEqual(['startup'])
    await project.fire('session:start', { trigger: 'resume' })
    await project.fire('session:start', { source: 'clear' })
    expect(ran()).toEqual(['clear', 'resume', 'startup'])
  })

  it('matches tool_name; a call that has only a name is refused, not let pass', async () => {
    // ≠ upstream matches `name` where there is no `tool_name`; here the required field is missing (PAYLOAD_INVALID).
    project.root({ PreToolUse: [matching('Bash', 'exit 2')] })
    expect((await project.fire('tool:pre', BASH)).action).toBe('deny')
    await expect(project.fire('tool:pre', { name: 'Bash', input: {} })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
  })

  it('Stop: exit 2 keeps the agent going, with stderr as its next instruction', async () => {
    project.root({ Stop: [group('echo run the tests >&2; exit 2')] })
    expect(await project.fire('Stop', {})).toMatchObject({ action: 'deny', reason: 'run the tests' })
  })

  it('PreCompact: exit 2 keeps the context', async () => {
    project.root({ PreCompact: [group('echo not now >&2; exit 2')] })
    expect(await project.fire('PreCompact', {})).toMatchObject({ action: 'deny', reason: 'not now' })
  })

  it('PermissionRequest is decided by its own field; exit 2 decides nothing, which is said', async () => {
    // ≠ upstream denies on exit 2 whatever the event.
    const decision = { behavior: 'deny', message: 'policy' }
    project.root({
      PermissionRequest: [
        matching('Write', printing({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })),
        matching('Bash', 'echo no >&2; exit 2'),
      ],
    })
    expect(await project.fire('approval:required', WRITE)).toMatchObject({ action: 'deny', reason: 'policy' })
    const ignored = await project.fire('approval:required', BASH)
    expect(ignored.action).toBe('continue')
    expect(ignored.diagnostics).toMatchObject([{ code: 'verdict-ignored' }])
    expect(texts(ignored.diagnostics)[0]).toMatch(/exit code 2 does not block PermissionRequest.*no/)
  })

  it('Notification: a hook is told, and cannot block', async () => {
    // ≠ upstream lets any event be denied.
    project.root({ Notification: [group('cat > seen; exit 2')] })
    const outcome = await project.fire('user:notification', { message: 'waiting' })
    expect(outcome.action).toBe('continue')
    expect(codes(outcome.diagnostics)).toEqual(['verdict-ignored'])
    expect(JSON.parse(project.read('seen'))).toMatchObject({ message: 'waiting' })
  })

  it('PostToolUse: exit 2 tells the model; the action is continue', async () => {
    // ≠ upstream answers deny for a tool that has run.
    project.root({ PostToolUse: [group('echo it leaks a key >&2; exit 2')] })
    const outcome = await project.fire('tool:post', DONE)
    expect(outcome.action).toBe('continue')
    expect(texts(outcome.injections)).toEqual(['it leaks a key'])
  })
})

describe('parallel', NO_HANG, () => {
  /** Ends only while the other one runs, too. */
  const meeting = (mine: string, other: string) => ({
    command: `touch ${mine}; until [ -e ${other} ]; do sleep 0.01; done; ${leaves(mine)}`,
    timeout: 20,
  })

  it('hooks of one group run at once, without being asked to', async () => {
    // ≠ upstream runs them one after another unless the group says "parallel": true.
    project.root({ PreToolUse: [group(meeting('a', 'b'), meeting('b', 'a'))] })
    expect(traces(await project.fire('tool:pre', BASH), 'ran')).toHaveLength(2)
    expect(ran()).toEqual(['a', 'b'])
  })

  it('groups, files and plugins of one priority run at once, too', async () => {
    // ≠ upstream runs groups one after another.
    project.root({ PreToolUse: [group(meeting('a', 'b')), group(meeting('b', 'c'))] })
    project.plugin('other', { PreToolUse: [group(meeting('c', 'a'))] })
    expect(traces(await project.fire('tool:pre', BASH), 'ran')).toHaveLength(3)
  })

  it('a deny among them is returned, whoever is first', async () => {
    project.root({
      PreToolUse: [group('exit 0', 'echo stop >&2; exit 2', printing({ contextInjection: 'x' }))],
    })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'stop' })
  })

  it('among denies the first in the file gives the reason, not the first to end', async () => {
    const slow = `until [ -e late ]; do sleep 0.01; done; echo first >&2; exit 2`
    project.root({
      PreToolUse: [group({ command: slow, timeout: 20 }, 'touch late; echo second >&2; exit 2')],
    })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'first' })
  })

  it('one that fails does not take the others down, and is reported', async () => {
    // ≠ upstream logs it.
    project.root({ PreToolUse: [group('echo oops >&2; exit 3', leaves('other'))] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', messages: [{ level: 'warning' }] })
    expect(texts(outcome.messages)[0]).toMatch(/project:PreToolUse#1 .*failed.*exited with 3: oops/)
    expect(ran()).toEqual(['other'])
  })

  it('"sequential": true is what runs one after another, in order', async () => {
    project.root({
      PreToolUse: [{ ...group(leaves('1'), leaves('2'), leaves('3')), sequential: true }],
    })
    await project.fire('tool:pre', BASH)
    expect(project.lines('ran')).toEqual(['1', '2', '3'])
  })

  it('a sequential group threads what its hooks change', async () => {
    const first = printing({ newContent: 'first' })
    project.root({ PreToolUse: [{ ...group(first, 'cat > seen'), sequential: true }] })
    await project.fire('tool:pre', WRITE)
    expect(JSON.parse(project.read('seen'))).toMatchObject({ tool_input: { content: 'first' } })
  })

  it('mixes: a sequential group is one lane beside others', async () => {
    project.root({
      PreToolUse: [
        { ...group(meeting('a', 'c'), meeting('b', 'a')), sequential: true },
        group(meeting('c', 'a')),
      ],
    })
    const outcome = await project.fire('tool:pre', BASH)
    expect(traces(outcome, 'ran')).toHaveLength(3)
    expect(project.lines('ran').filter((line) => line !== 'c')).toEqual(['a', 'b'])
  })

  it.each([true, false])(
    '"parallel": %s is no key here, which is said; hooks run at once',
    async (parallel) => {
      // ≠ upstream knows the key; the seed's own schema does not.
      project.root({ PreToolUse: [{ ...group(meeting('a', 'b'), meeting('b', 'a')), parallel }] })
      const { diagnostics } = await project.open()
      expect(diagnostics).toMatchObject([{ code: 'unknown-key' }])
      expect(texts(diagnostics)[0]).toContain('"sequential"')
      expect(traces(await project.fire('tool:pre', BASH), 'ran')).toHaveLength(2)
    },
  )

  it('a deny keeps later steps from starting', async () => {
    project.plugin('gate', { PreToolUse: [group('exit 2')] }, { priority: 10 })
    project.plugin('later', { PreToolUse: [group(leaves('later'))] }, { priority: 30 })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks).toMatchObject([{ status: 'ran' }, { status: 'skipped', why: 'ended' }])
    expect(ran()).toEqual([])
  })
})

describe('executor', NO_HANG, () => {
  const seen = async (event: string, data: object) => {
    project.root({ [event]: [group('cat > seen')] })
    await project.fire(event, data)
    return JSON.parse(project.read('seen')) as Record<string, unknown>
  }

  it('sets the environment, in Amplifier’s names and in Claude Code’s', async () => {
    project.plugin('mine', { PreToolUse: [group('env > seen')] })
    await project.fire('tool:pre', BASH)
    const env = new Map(project.lines('seen').map((line) => line.split('=', 2) as [string, string]))
    const hooksDir = project.path('.amplifier/hooks')
    for (const [name, value] of Object.entries({
      AMPLIFIER_PROJECT_DIR: project.dir,
      CLAUDE_PROJECT_DIR: project.dir,
      AMPLIFIER_HOOKS_DIR: hooksDir,
      AMPLIFIER_SESSION_ID: 'session-1',
      CLAUDE_CODE_SESSION_ID: 'session-1',
      CLAUDE_PLUGIN_ROOT: `${hooksDir}/mine`,
      PLUGIN_ROOT: `${hooksDir}/mine`,
    }))
      expect([name, env.get(name)]).toEqual([name, value])
    expect(env.get('CLAUDE_PLUGIN_DATA')).toMatch(/\/mine$/)
  })

  it('inherits the parent’s environment', async () => {
    project.root({ PreToolUse: [group('printf %s "$PATH" > seen')] })
    await project.fire('tool:pre', BASH)
    expect(project.read('seen')).toBe(process.env.PATH)
  })

  it('with env: "minimal" inherits only what programs need', async () => {
    project.root({ PreToolUse: [group('env > seen')] })
    vi.stubEnv('CARABINER_TEST_SECRET', 'sk-1')
    try {
      await project.fire('tool:pre', BASH, { settings: { env: 'minimal' } })
      expect(project.read('seen')).toContain(`PATH=${process.env.PATH}`)
      expect(project.read('seen')).not.toContain('sk-1')
      await project.fire('tool:pre', BASH)
      expect(project.read('seen')).toContain('sk-1')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('gives the event on stdin, as one line of JSON', async () => {
    project.root({ PreToolUse: [group('cat > seen')] })
    await project.fire('tool:pre', BASH)
    expect(project.lines('seen')).toHaveLength(1)
    expect(JSON.parse(project.read('seen'))).toMatchObject(BASH)
  })

  it('takes another exit code for a failure that lets the operation pass, visibly', async () => {
    // ≠ upstream says nothing.
    project.root({ PreToolUse: [group('exit 7')] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'failed', why: 'HOOK_EXIT' }] })
    expect(texts(outcome.messages)).toEqual([expect.stringContaining('exited with 7')])
  })

  it('keeps what was printed in the trace', async () => {
    project.root({ PreToolUse: [group('echo out; echo err >&2')] })
    const [trace] = (await project.fire('tool:pre', BASH)).hooks
    expect(trace).toMatchObject({ stdout: 'out\n', stderr: 'err\n' })
  })

  it('suppressOutput keeps it out', async () => {
    project.root({ PreToolUse: [group(`echo err >&2; ${printing({ suppressOutput: true })}`)] })
    const [trace] = (await project.fire('tool:pre', BASH)).hooks
    expect(trace).not.toHaveProperty('stdout')
    expect(trace).not.toHaveProperty('stderr')
  })

  it('ends a hook that is out of time, and says so', async () => {
    project.root({ PreToolUse: [group({ command: 'sleep 60', timeout: 0.2 })] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'failed', why: 'HOOK_TIMEOUT' }] })
    expect(texts(outcome.messages)).toEqual([expect.stringContaining('did not answer within its 0.2 s')])
  })

  it('takes a command that is not there for a failure, and says which', async () => {
    project.root({ PreToolUse: [group('no-such-program-xyz')] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome.hooks).toMatchObject([{ status: 'failed', why: 'HOOK_EXIT' }])
    expect(texts(outcome.messages)[0]).toMatch(/exited with 127.*no-such-program-xyz/)
  })

  it('runs in the project', async () => {
    project.root({ PreToolUse: [group('pwd -P > seen')] })
    const hooks = await project.open()
    await hooks.session({ id: 's' }).fire('tool:pre', BASH)
    expect(project.lines('seen')).toEqual([project.dir])
  })

  it('lets the shell expand variables; no value becomes syntax', async () => {
    // ≠ upstream expands them into the text of the command first, with the parent’s values.
    const odd = new ShellProject('a; touch pwned; "$(touch pwned2)')
    try {
      odd.root({ PreToolUse: [group(`printf '%s|%s' "$CLAUDE_PROJECT_DIR" '$CLAUDE_PROJECT_DIR' > seen`)] })
      expect((await odd.fire('tool:pre', BASH)).messages).toEqual([])
      expect(odd.read('seen')).toBe(`${odd.dir}|$CLAUDE_PROJECT_DIR`)
      expect([odd.read('pwned'), odd.read('pwned2')]).toEqual(['', ''])
    } finally {
      await odd.remove()
    }
  })

  it('carries nested JSON', async () => {
    const tool_input = { edits: [{ a: [1, { b: null }] }, []], deep: { x: { y: { z: true } } } }
    expect(await seen('PreToolUse', { tool_name: 'MultiEdit', tool_input })).toMatchObject({ tool_input })
  })

  it('carries any text', async () => {
    const tool_input = { command: 'echo "日本語 💥 \u2028 é" \\ \n\t\u0001' }
    expect(await seen('PreToolUse', { tool_name: 'Bash', tool_input })).toMatchObject({ tool_input })
    project.root({ PreToolUse: [group(printing({ decision: 'block', reason: 'nicht erlaubt: 日本語 💥' }))] })
    expect((await project.fire('tool:pre', BASH)).reason).toBe('nicht erlaubt: 日本語 💥')
  })

  describe('the environment file', () => {
    const say = 'echo "[$AMPLIFIER_ENV_FILE|$CLAUDE_ENV_FILE]" >> "$CLAUDE_PROJECT_DIR/files"'
    const tell = 'printf %s "$GREETING" > "$CLAUDE_PROJECT_DIR/greeting"'

    it('is there on SessionStart, Setup, CwdChanged and FileChanged, under both names, and nowhere else', async () => {
      const events = ['SessionStart', 'Setup', 'CwdChanged', 'FileChanged', 'PreToolUse']
      project.root(
        Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: 'command', command: say }] }]])),
      )
      const session = (await project.open()).session({ cwd: project.dir })
      const data = { old_cwd: '/', new_cwd: '/', file_path: '/x', event: 'change', ...BASH }
      for (const event of events) await session.fire(event, data)
      const files = project.lines('files')
      expect(files.map((line) => /^\[(.+)\|\1\]$/.test(line))).toEqual([true, true, true, true, false])
    })

    it('reaches later hooks of the session; quotes, export and comments are understood', async () => {
      project.root({
        SessionStart: [
          {
            hooks: [
              {
                type: 'command',
                command: `printf '# hi\\nexport GREETING="hello you"\\n' >> "$CLAUDE_ENV_FILE"`,
              },
            ],
          },
        ],
        PreToolUse: [{ hooks: [{ type: 'command', command: tell }] }],
      })
      const hooks = await project.open()
      const session = hooks.session({ cwd: project.dir })
      await session.fire('SessionStart', {})
      await session.fire('PreToolUse', BASH)
      expect(project.lines('greeting')).toEqual(['hello you'])
      await hooks.session({ cwd: project.dir }).fire('PreToolUse', BASH)
      expect(project.lines('greeting')).toEqual([])
    })

    it('is removed with the session, and persists across its hooks', async () => {
      project.root({
        SessionStart: [{ hooks: [{ type: 'command', command: `${say}; echo A=1 >> "$CLAUDE_ENV_FILE"` }] }],
      })
      const session = (await project.open()).session({ cwd: project.dir })
      await session.fire('SessionStart', {})
      await session.fire('SessionStart', {})
      const [first, second] = project.lines('files').map((line) => line.slice(1, line.indexOf('|')))
      expect(second).toBe(first)
      expect(readFileSync(first as string, 'utf8')).toBe('A=1\nA=1\n')
      await session.close()
      expect(existsSync(first as string)).toBe(false)
    })

    it.each([
      ['a pipe that nobody fills', 'rm "$CLAUDE_ENV_FILE"; mkfifo "$CLAUDE_ENV_FILE"', /not a regular file/],
      ['a link', 'rm "$CLAUDE_ENV_FILE"; ln -s /etc/passwd "$CLAUDE_ENV_FILE"', /cannot be read/],
      ['a megabyte', 'head -c 1000000 /dev/zero >> "$CLAUDE_ENV_FILE"', /larger than 65536 bytes/],
      ['nothing at all', 'rm "$CLAUDE_ENV_FILE"', /is gone/],
    ])('that became %s holds nobody up, and is reported', async (_what, command, said) => {
      project.root({ SessionStart: [{ hooks: [{ type: 'command', command }] }] })
      const session = (await project.open()).session({ cwd: project.dir })
      const { diagnostics } = await session.fire('SessionStart', {})
      expect(diagnostics.map(({ text }) => text)).toEqual([expect.stringMatching(said)])
    })

    it('of a project’s hook does not reach hooks of the user, and overrides nothing of ours', async () => {
      const set = `printf 'GREETING=evil\\nCLAUDE_PROJECT_DIR=/evil\\n' >> "$CLAUDE_ENV_FILE"`
      project.root({ SessionStart: [{ hooks: [{ type: 'command', command: set }] }] })
      project.json('../home/.amplifier/hooks/hooks.json', {
        hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: tell }] }] },
      })
      const session = (await project.open()).session({ cwd: project.dir })
      await session.fire('SessionStart', {})
      await session.fire('PreToolUse', BASH)
      expect(existsSync(project.path('greeting'))).toBe(true)
      expect(project.lines('greeting')).toEqual([])
    })
  })
})

describe('guards', NO_HANG, () => {
  const REWRITE = printing({
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'rm -rf /' } },
  })
  const GUARD = 'grep -q "rm -rf" && { echo no rm >&2; exit 2; }; exit 0'

  it('a rewrite is judged by every later step', async () => {
    project.plugin('rewriter', { PreToolUse: [group(REWRITE)] }, { priority: 10 })
    project.plugin('guard', { PreToolUse: [group(GUARD)] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'no rm' })
  })

  it('R1: a guard of the same step is shown the rewritten call; with recheck: "skipped" it is only named', async () => {
    project.root({ PreToolUse: [group(REWRITE, GUARD)] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'no rm' })
    const once = await project.fire('tool:pre', BASH, { settings: { recheck: 'skipped' } })
    expect(once).toMatchObject({ action: 'continue', data: { tool_input: { command: 'rm -rf /' } } })
    expect(codes(once.diagnostics)).toContain('stale')
    const again = await project.fire('tool:pre', BASH, { settings: { recheck: 'all' } })
    expect(again).toMatchObject({ action: 'deny', reason: 'no rm' })
  })

  it('a guard whose matcher takes only the rewritten call gets its turn', async () => {
    project.root({ UserPromptSubmit: [group(printing({ newContent: 'rm -rf' }))] })
    project.plugin('guard', { UserPromptSubmit: [group(GUARD)] }, { priority: 30 })
    expect(await project.fire('prompt:submit', { prompt: 'hi' })).toMatchObject({ action: 'deny' })
  })

  it('nothing that came with the project runs until it is trusted, and a gate says so', async () => {
    project.root({ PreToolUse: [group(`${leaves('x')}; exit 2`)] })
    const outcome = await project.fire('tool:pre', BASH, { trust: 'enforce' })
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'skipped', why: 'untrusted' }] })
    expect(texts(outcome.messages)).toEqual([expect.stringContaining('went on without its gate')])
    expect(ran()).toEqual([])
  })

  it('the user’s own hooks run without being asked for', async () => {
    project.json('../home/.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [group('exit 2')] } })
    expect((await project.fire('tool:pre', BASH, { trust: 'enforce' })).action).toBe('deny')
  })
})

describe('loader', NO_HANG, () => {
  it('one file', async () => {
    project.plugin('one', { PreToolUse: [group('exit 0')] })
    expect((await project.open()).list()).toMatchObject([{ name: 'one:PreToolUse#1', source: 'one' }])
  })

  it('several files: the root first, then plugins by name', async () => {
    // ≠ upstream takes plugins as the system lists them.
    for (const name of ['b', 'a', 'c']) project.plugin(name, { Stop: [group('exit 0')] })
    project.root({ PreToolUse: [group('exit 0')] })
    const names = (await project.open()).list().map(({ source }) => source)
    expect(names).toEqual(['project', 'a', 'b', 'c'])
  })

  it('merges groups of the same event', async () => {
    project.root({ PreToolUse: [group(leaves('root')), group(leaves('root2'))] })
    project.plugin('p', { PreToolUse: [group(leaves('plugin'))] })
    await project.fire('tool:pre', BASH)
    expect(ran()).toEqual(['plugin', 'root', 'root2'])
  })

  it('an empty folder has no hooks', async () => {
    project.file('.amplifier/hooks/README.md', 'nothing yet')
    project.file('.amplifier/hooks/empty/README.md', 'nothing yet')
    const hooks = await project.open()
    expect([hooks.list(), hooks.diagnostics]).toEqual([[], []])
  })

  it('a file that is no JSON is reported with its line, and takes no other down', async () => {
    const file = project.file('.amplifier/hooks/bad/hooks.json', '{\n  "hooks": {\n    oops\n  }\n}')
    project.plugin('good', { PreToolUse: [group('exit 2')] })
    expect((await project.fire('tool:pre', BASH)).action).toBe('deny')
    expect((await project.open()).diagnostics).toMatchObject([{ code: 'config-invalid', file, line: 3 }])
  })

  it('takes one group in place of a list', async () => {
    project.root({ PreToolUse: group('exit 2') })
    expect((await project.fire('tool:pre', BASH)).action).toBe('deny')
  })

  it('a group without hooks is left out', async () => {
    project.root({ PreToolUse: [{ matcher: 'Bash' }, { matcher: 'Bash', hooks: [] }, group('exit 2')] })
    const hooks = await project.open()
    expect(hooks.list()).toHaveLength(1)
    expect(codes(hooks.diagnostics)).toEqual(['entry-invalid'])
  })
})

describe('matcher', NO_HANG, () => {
  const matched = async (matcher: unknown, tool_name: string, more: object = {}) => {
    project.root({ PreToolUse: [matching(matcher, 'exit 2')] }, more)
    return (await project.fire('tool:pre', { tool_name, tool_input: {} })).action === 'deny'
  }

  it('an exact name minds its case', async () => {
    // ≠ upstream ignores case; the seed and Claude Code do not.
    expect(await matched('Bash', 'Bash')).toBe(true)
    expect(await matched('bash', 'Bash')).toBe(false)
  })

  it('a list matches each of its names, whole', async () => {
    expect(await matched('Edit|Write', 'Write')).toBe(true)
    expect(await matched('Edit|Write', 'MultiEdit')).toBe(false)
    expect(await matched('Edit, Write', 'Write')).toBe(true)
  })

  it.each(['*', '', undefined])('%j matches everything', async (matcher) => {
    expect(await matched(matcher, 'Anything')).toBe(true)
  })

  it('a pattern is found anywhere in the name', async () => {
    // ≠ upstream and seed: the whole name; real plugins are written against Claude Code. "matching": "fullmatch" is theirs.
    expect(await matched('(Edit|Write)', 'MultiEdit')).toBe(true)
    expect(await matched('Notebook.*', 'NotebookEdit')).toBe(true)
    expect(await matched('Edit.*', 'MultiEdit')).toBe(true)
  })

  it('"matching": "fullmatch" wants the whole name, case and all', async () => {
    const whole = { matching: 'fullmatch' }
    expect(await matched('(Edit|Write)', 'MultiEdit', whole)).toBe(false)
    expect(await matched('Edit|Write', 'Write', whole)).toBe(true)
    expect(await matched('Edit.*', 'MultiEdit', whole)).toBe(false)
    expect(await matched('mcp__.*__(read|list)_.*', 'mcp__fs__read_file', whole)).toBe(true)
  })

  it('complex patterns', async () => {
    expect(await matched('mcp__[a-z]+__(write|delete)', 'mcp__fs__write_file')).toBe(true)
    expect(await matched('^(?!Read).*$', 'Write')).toBe(true)
    expect(await matched('^(?!Read).*$', 'Read')).toBe(false)
  })

  it('a pattern that is none is compared as it stands, which is said', async () => {
    // ≠ upstream says nothing.
    expect(await matched('Bash(', 'Bash(')).toBe(true)
    expect(await matched('Bash(', 'Bash')).toBe(false)
    expect((await project.open()).diagnostics).toMatchObject([{ code: 'matcher-invalid', line: 5 }])
  })

  it('every hook of a group that matches runs, and of every group that matches', async () => {
    project.root({
      PreToolUse: [
        matching('Bash', leaves('a'), leaves('b')),
        matching('Write', leaves('c')),
        matching('B.*', leaves('d')),
        matching('*', leaves('e')),
      ],
    })
    await project.fire('tool:pre', BASH)
    expect(ran()).toEqual(['a', 'b', 'd', 'e'])
  })

  it('explain shows the groups that match, with what they say', async () => {
    project.root({
      PreToolUse: [matching('Bash', { command: 'exit 0', timeout: 5 }), matching('Write', 'exit 2')],
    })
    const plan = (await project.open()).explain('tool:pre', BASH)
    expect(plan.candidates).toMatchObject([
      { name: 'project:PreToolUse#1', matched: true, priority: 20 },
      { name: 'project:PreToolUse#2', matched: false, why: 'matcher' },
    ])
    expect(plan.steps).toEqual([{ priority: 20, lanes: [['project:PreToolUse#1']] }])
  })
})

describe('translator', NO_HANG, () => {
  const seen = async (event: string, data: object) => {
    project.root({ [event]: [group('cat > seen')] })
    await project.fire(event, data)
    return JSON.parse(project.read('seen')) as Record<string, unknown>
  }
  const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)

  it('PreToolUse: name, input and time of the call, and what Claude Code sends beside', async () => {
    expect(await seen('PreToolUse', BASH)).toEqual({
      ...BASH,
      timestamp: TIME,
      session_id: 'session-1',
      cwd: project.dir,
      hook_event_name: 'PreToolUse',
    })
  })

  it('PostToolUse: the result under the seed’s name and under Claude Code’s', async () => {
    const { tool_response: result } = DONE
    expect(await seen('PostToolUse', DONE)).toMatchObject({
      ...BASH,
      tool_result: result,
      tool_response: result,
    })
    const { tool_response: _, ...seed } = DONE
    const sent = await seen('PostToolUse', { ...seed, tool_result: 'x' })
    expect(sent).toMatchObject({ tool_result: 'x', tool_response: 'x' })
  })

  it('UserPromptSubmit and SessionStart: prompt, trigger, time', async () => {
    expect(await seen('UserPromptSubmit', { prompt: 'hi' })).toMatchObject({ prompt: 'hi', timestamp: TIME })
    const start = { session_id: 'session-1', trigger: 'startup', source: 'startup', timestamp: TIME }
    expect(await seen('SessionStart', {})).toMatchObject(start)
  })

  it('exit 0 and nothing printed is continue', async () => {
    project.root({ PreToolUse: [group('exit 0')] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({ action: 'continue', modified: false, injections: [], messages: [] })
    expect(outcome.reason).toBeUndefined()
  })

  it('exit 2 is deny, and stderr the reason', async () => {
    project.root({ PreToolUse: [group('echo one >&2; echo two >&2; exit 2')] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({ action: 'deny', reason: 'one\ntwo' })
  })

  it('exit 2 without a word is deny, and names the hook', async () => {
    project.root({ PreToolUse: [group('exit 2')] })
    const { reason } = await project.fire('tool:pre', BASH)
    expect(reason).toContain('project:PreToolUse#1')
  })

  it('block is deny, with reason and message for the user', async () => {
    const answer = { decision: 'block', reason: 'protected', systemMessage: '⛔ ask first' }
    project.root({ PreToolUse: [group(printing(answer))] })
    const outcome = await project.fire('tool:pre', WRITE)
    expect(outcome).toMatchObject({
      action: 'deny',
      reason: 'protected',
      messages: [{ text: '⛔ ask first' }],
    })
  })

  it('contextInjection injects, with a message for the user', async () => {
    const answer = { decision: 'approve', contextInjection: 'unused import', systemMessage: 'lint' }
    project.root({ PostToolUse: [group(printing(answer))] })
    const outcome = await project.fire('tool:post', DONE)
    expect(outcome).toMatchObject({
      action: 'continue',
      injections: [{ text: 'unused import', source: 'project:PostToolUse#1' }],
      messages: [{ text: 'lint' }],
    })
  })

  it('approve goes on, with a message for the user', async () => {
    project.root({ PostToolUse: [group(printing({ decision: 'approve', systemMessage: 'fine' }))] })
    expect(await project.fire('tool:post', DONE)).toMatchObject({
      action: 'continue',
      messages: [{ text: 'fine' }],
    })
  })

  it('what looks like JSON and is none is a failure, and is reported', async () => {
    // ≠ upstream ignores it in silence.
    project.root({ PreToolUse: [group(`echo '{"decision": "block",}'`)] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome).toMatchObject({
      action: 'continue',
      hooks: [{ status: 'failed', why: 'ANSWER_INVALID' }],
    })
    expect(texts(outcome.messages)[0]).toContain('not valid JSON')
  })

  it('other text is ignored where it is no context', async () => {
    project.root({ PreToolUse: [group('echo formatted 3 files')] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({
      action: 'continue',
      injections: [],
      messages: [],
    })
  })
})

describe('defects of upstream, the right way round', NO_HANG, () => {
  it('a validator sees the call', async () => {
    project.root({ PreToolUse: [group('cat > seen')] })
    await project.fire('tool:pre', BASH)
    expect(JSON.parse(project.read('seen'))).toMatchObject(BASH)
  })

  /** Word by word from the seed, Appendix A. */
  const VALIDATE = String.raw`#!/bin/bash
# Read JSON from stdin
input=$(cat)

# Extract command
command=$(echo "$input" | jq -r '.tool_input.command')

# Block dangerous commands
dangerous=("rm -rf /" "dd if=" "mkfs" ":(){ :|:& };:")

for pattern in "${'$'}{dangerous[@]}"; do
    if [[ "$command" == *"$pattern"* ]]; then
        echo "{\"decision\": \"block\", \"reason\": \"Dangerous command blocked: $pattern\", \"systemMessage\": \"⛔ Security: Blocked dangerous operation\"}" 
        exit 2
    fi
done

# Allow command
exit 0
`

  it.skipIf(!has('jq') || !has('bash'))(
    'the seed’s own sample keeps its reason and its message (needs jq and bash)',
    async () => {
      project.script('.amplifier/hooks/bash-validator/validate.sh', VALIDATE)
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
      const command = '${AMPLIFIER_HOOKS_DIR}/bash-validator/validate.sh'
      project.plugin('bash-validator', { PreToolUse: [matching('Bash', { command, timeout: 20 })] })
      const call = (text: string) => ({ tool_name: 'Bash', tool_input: { command: text } })
      expect(await project.fire('tool:pre', call('sudo rm -rf / --no-preserve-root'))).toMatchObject({
        action: 'deny',
        reason: 'Dangerous command blocked: rm -rf /',
        messages: [{ text: '⛔ Security: Blocked dangerous operation' }],
      })
      expect(await project.fire('tool:pre', call('ls'))).toMatchObject({ action: 'continue', messages: [] })
    },
  )

  /** Word by word from the seed, use case 3. */
  const CHECK_FILE = `#!/usr/bin/env python3
import json
import sys

data = json.load(sys.stdin)
file_path = data.get('tool_input', {}).get('file_path', '')

# Block writes to production files
protected = ['.env.production', 'package-lock.json', '.git/']
if any(p in file_path for p in protected):
    print(json.dumps({
        "decision": "block",
        "reason": f"Cannot modify protected file: {file_path}",
        "systemMessage": "⛔ Protected file - manual approval required"
    }))
    sys.exit(2)

sys.exit(0)
`

  it.skipIf(!has('python3'))('and so does the one in Python (needs python3)', async () => {
    project.script('.amplifier/hooks/protection/check-file.py', CHECK_FILE)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
    const command = '${AMPLIFIER_HOOKS_DIR}/protection/check-file.py'
    project.plugin('protection', { PreToolUse: [matching('Edit|Write', { command, timeout: 20 })] })
    const write = (file_path: string) => ({ tool_name: 'Write', tool_input: { file_path, content: '' } })
    expect(await project.fire('tool:pre', write('/w/.env.production'))).toMatchObject({
      action: 'deny',
      reason: 'Cannot modify protected file: /w/.env.production',
      messages: [{ text: '⛔ Protected file - manual approval required' }],
    })
    expect(await project.fire('tool:pre', write('/w/a.ts'))).toMatchObject({
      action: 'continue',
      messages: [],
    })
  })

  const INJECTOR = printing({ contextInjection: 'note' })
  const DENIER = printing({ decision: 'block', reason: 'no' })

  it.each([true, false])(
    '[injector, denier] is a deny that keeps the injection (sequential: %s)',
    async (sequential) => {
      project.root({ PreToolUse: [{ ...group(INJECTOR, DENIER), sequential }] })
      const outcome = await project.fire('tool:pre', BASH)
      expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
      expect(texts(outcome.injections)).toEqual(['note'])
    },
  )

  it.each(['sleep 60', 'sleep 60 | cat', '(sleep 60)', 'sleep 60 & wait'])(
    '%s with a time-out of 0.3 s does not take a minute, nor leave the sleep behind',
    async (command) => {
      project.root({ PreToolUse: [group({ command, timeout: 0.3 })] })
      const started = performance.now()
      const outcome = await project.fire('tool:pre', BASH)
      expect(performance.now() - started).toBeLessThan(30_000)
      expect(outcome.hooks).toMatchObject([{ why: 'HOOK_TIMEOUT' }])
      await project.settled()
      expect(performance.now() - started).toBeLessThan(30_000)
      expect(project.running()).toEqual([])
    },
  )

  it('a time-out is told to the user', async () => {
    project.root({ PreToolUse: [group({ command: 'sleep 60', timeout: 0.1 })] })
    const { messages } = await project.fire('tool:pre', BASH)
    expect(messages).toMatchObject([{ level: 'warning', source: 'project:PreToolUse#1' }])
  })

  it.each(['[1]', '"deny"', '17', 'true', 'null'])('stdout %s is plain text, no crash', async (text) => {
    project.root({ PreToolUse: [group(`echo '${text}'`)], UserPromptSubmit: [group(`echo '${text}'`)] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({
      action: 'continue',
      hooks: [{ status: 'ran' }],
    })
    const outcome = await project.fire('prompt:submit', { prompt: 'hi' })
    expect(outcome.hooks).toMatchObject([{ status: 'ran' }])
    expect(texts(outcome.injections)).toEqual([text])
  })

  it('continue: false ends the turn, and the tool does not run', async () => {
    project.root({ PreToolUse: [group(printing({ continue: false, stopReason: 'budget spent' }))] })
    expect(await project.fire('tool:pre', BASH)).toMatchObject({
      action: 'abort_turn',
      reason: 'budget spent',
    })
    const session = (await project.open()).session()
    let called = false
    const call = session.callTool({ name: 'Bash', input: { command: 'ls' } }, () => {
      called = true
    })
    await expect(call).rejects.toMatchObject({ code: 'TURN_ABORTED' })
    expect(called).toBe(false)
  })

  it('newContent replaces the content and keeps every other field', async () => {
    project.root({ PreToolUse: [group(printing({ newContent: 'new' }))] })
    const outcome = await project.fire('tool:pre', { ...WRITE, tool_use_id: 't-1' })
    expect(outcome).toMatchObject({
      action: 'continue',
      modified: true,
      data: {
        tool_name: 'Write',
        tool_input: { file_path: '/tmp/a.txt', content: 'new' },
        tool_use_id: 't-1',
        session_id: 'session-1',
        hook_event_name: 'PreToolUse',
      },
    })
    expect(outcome.data).not.toHaveProperty('modified_content')
  })

  it.each([
    [
      'PreToolUse',
      { tool_name: 'Edit', tool_input: { file_path: 'a', old_string: 'x', new_string: 'y' } },
      'tool_input.new_string',
    ],
    ['UserPromptSubmit', { prompt: 'old' }, 'prompt'],
    ['PostToolUse', DONE, 'tool_result'],
  ])('newContent on %s %#: what it replaces', async (event, data, path) => {
    project.root({ [event]: [group(printing({ newContent: 'new' }))] })
    const outcome = await project.fire(event, data)
    expect(outcome.data).toHaveProperty(path, 'new')
  })

  it('newContent for another tool changes nothing, which is said', async () => {
    project.root({ PreToolUse: [group(printing({ newContent: 'new' }))] })
    const outcome = await project.fire('tool:pre', BASH)
    expect(outcome.modified).toBe(false)
    expect(codes(outcome.diagnostics)).toEqual(['verdict-ignored'])
  })

  it('a SubagentStop hook runs for task:post, and may keep the subagent going', async () => {
    project.root({ SubagentStop: [group('echo write tests, too >&2; exit 2')] })
    expect(await project.fire('task:post', {})).toMatchObject({ action: 'deny', reason: 'write tests, too' })
  })
})
