import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GUARD, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const HOOKS = '.amplifier/hooks/hooks.json'
const command = (text: string) => ({ type: 'command', command: text })
const settings = (text = GUARD) => ({
  model: 'opus',
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [command(text)] }], Start: [{ hooks: [command('x')] }] },
})

describe('carabiner migrate', () => {
  it('shows what would change and what stays, and writes nothing', async () => {
    project.file('.claude/settings.json', settings('./check.sh'))
    const { code, stdout, stderr } = await project.call(['migrate'])
    expect(stdout).toBe(`${HOOKS} (new)
@@ -0,0 +1,16 @@
+{
+  "hooks": {
+    "PreToolUse": [
+      {
+        "matcher": "Bash",
+        "hooks": [
+          {
+            "type": "command",
+            "command": "./check.sh",
+            "timeout": 600
+          }
+        ]
+      }
+    ]
+  }
+}
stays .claude/settings.json:15 there is no event "Start", so its hooks never run
1 hook would be migrated; 1 entry stays where it is; nothing was written
next carabiner migrate --write
`)
    expect([code, stderr, project.has('.amplifier')]).toEqual([0, '', false])
  })

  it('writes, and is blocked until trusted, and denies then', async () => {
    project.file('.claude/settings.json', settings())
    const { code, stdout } = await project.call(['migrate', '--write'])
    expect(code).toBe(0)
    expect(stdout).toContain('migrated 1 hook; 1 entry stays where it is\n')
    expect(stdout).toContain(
      'next carabiner trust\nnext carabiner migrate --write --remove-source   # otherwise',
    )
    const call = { input: { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } } }
    expect((await project.call(['fire', 'PreToolUse'], call)).stdout).toContain('untrusted')
    await project.call(['trust', '--yes'])
    expect((await project.call(['fire', 'PreToolUse'], call)).code).toBe(2)
    const again = await project.call(['migrate', '--write', '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ written: false, files: [], hooks: [{ isNew: false }] })
    const moved = await project.call(['migrate', '--write', '--remove-source', '--json'])
    expect(JSON.parse(moved.stdout)).toMatchObject({
      written: true,
      next: ['carabiner setup claude-code --engine   # makes Claude Code run them'],
    })
  })

  it('P5: takes the variables along; the review shows them, and the hook gets them', async () => {
    const closed = { ...settings('[ "$CLOSED" = yes ] && exit 2; exit 0'), env: { CLOSED: 'yes', PORT: 1 } }
    project.file('.claude/settings.json', closed)
    await project.call(['migrate', '--write'])
    const { stdout } = await project.call(['trust', '--show'])
    expect(stdout).toContain('sets CLOSED to yes')
    await project.call(['trust', '--yes'])
    const call = { input: { tool_name: 'Bash', tool_input: { command: 'ls' } } }
    expect((await project.call(['fire', 'PreToolUse'], call)).code).toBe(2)
    const changed = JSON.parse(project.read(HOOKS))
    project.file(HOOKS, { ...changed, env: { CLOSED: 'no' } })
    expect((await project.call(['trust', '--json'])).stdout).toContain('"modified"')
    await project.call(['migrate', '--to', 'claude-code', '--write'])
    expect(JSON.parse(project.read('.claude/settings.json')).env).toEqual({ CLOSED: 'yes', PORT: 1 })
  })

  it('takes the source out, keeps what was there, and goes back', async () => {
    const before = readFileSync(project.file('.claude/settings.json', settings()), 'utf8')
    const { stdout } = await project.call(['migrate', '--write', '--remove-source', '--json'])
    const { files, written } = JSON.parse(stdout) as {
      written: boolean
      files: { file: string; backup: string | null; isNew: boolean }[]
    }
    expect(written).toBe(true)
    expect(files.map(({ file, isNew }) => [file, isNew])).toEqual([
      [project.path(HOOKS), true],
      [project.path('.claude/settings.json'), false],
    ])
    expect(readFileSync(files[1]?.backup ?? '', 'utf8')).toBe(before)
    expect(JSON.parse(project.read('.claude/settings.json'))).toEqual({
      model: 'opus',
      hooks: { Start: settings().hooks.Start },
    })
    await project.call(['migrate', '--to', 'claude-code', '--write', '--remove-source'])
    expect(JSON.parse(project.read('.claude/settings.json'))).toEqual({
      model: 'opus',
      hooks: { Start: settings().hooks.Start, PreToolUse: settings().hooks.PreToolUse },
    })
    expect(JSON.parse(project.read(HOOKS))).toEqual({})
  })

  it('adds nothing twice where several are at it at once', async () => {
    project.file('.claude/settings.json', settings())
    const runs = await Promise.all([1, 2, 3].map(() => project.carabiner(['migrate', '--write'])))
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(JSON.parse(project.read(HOOKS)).hooks.PreToolUse).toMatchObject(settings().hooks.PreToolUse)
  })

  it('says where it looked where there is nothing', async () => {
    const { code, stdout } = await project.call(['migrate', '--write'])
    expect(stdout).toBe(
      'nothing to migrate: there is no .claude/settings.json or .claude/settings.local.json\n',
    )
    expect(code).toBe(0)
  })

  it('of the user', async () => {
    const file = join(project.home, '.amplifier/hooks/hooks.json')
    project.file('../home/.claude/settings.json', settings())
    const { stdout } = await project.call(['migrate', '--user', '--write'])
    expect(stdout).not.toContain('carabiner trust')
    expect(existsSync(file)).toBe(true)
    const call = { input: { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } } }
    expect((await project.call(['fire', 'PreToolUse'], call)).code).toBe(2)
  })

  it('shows nothing that controls a terminal', async () => {
    project.file('.claude/settings.json', settings('\u001b[2Jhidden'))
    const { stdout } = await project.call(['migrate'])
    expect(stdout).not.toContain('\u001b')
  })

  it.each([
    [['--to', 'claude'], '--to does not accept "claude"'],
    [['--to', 'claude-cod'], 'did you mean claude-code?'],
    [['--wirte'], 'has no option --wirte; did you mean --write?'],
    [['--user', '--project', '.'], 'Give --user or --project, not both'],
    [['--name', 'x'], '--name needs a PLUGIN'],
    [['--yes'], '--yes needs a PLUGIN'],
    [['x', '--out', 'y'], '--out needs --to claude-code'],
    [['x', '--to', 'claude-code'], 'Give --out DIR'],
    [['x', '--remove-source'], '--remove-source is for settings'],
    [['x', 'y'], 'does not accept "y"'],
  ])('%j is wrong usage', async (args, said) => {
    const { code, stderr, stdout } = await project.call(['migrate', ...args])
    expect(stderr).toContain(said)
    expect([code, stdout]).toEqual([64, ''])
  })

  it('leaves a broken file alone', async () => {
    project.file('.claude/settings.json', '{ "hooks": {')
    const { code, stdout } = await project.call(['migrate', '--write', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'SETTINGS_UNUSABLE', hint: 'Fix it first.' },
    })
    expect(code).toBe(1)
  })
})

describe('carabiner migrate PLUGIN', () => {
  beforeEach(() => {
    project.file('../plugin/.claude-plugin/plugin.json', { name: 'guard' })
    project.file('../plugin/hooks/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [command('sh "$CLAUDE_PLUGIN_ROOT/guard.sh"')] }] },
    })
    project.file('../plugin/guard.sh', `#!/bin/sh\n${GUARD}\n`, 0o755)
  })

  const call = { input: { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } } }

  it('shows its files and hooks, then what it would run, and it runs once somebody agreed', async () => {
    const shown = await project.call(['migrate', '../plugin'])
    expect(shown.stdout).toBe(`.amplifier/hooks/guard (new)
  + .claude-plugin/plugin.json
  + guard.sh
  + hooks/hooks.json
hook PreToolUse: sh "$CLAUDE_PLUGIN_ROOT/guard.sh"
guard with 1 hook would be migrated; nothing was written
next carabiner migrate ../plugin --write
`)
    expect(project.has('.amplifier')).toBe(false)
    const { stdout } = await project.call(['migrate', '../plugin', '--write', '--yes'])
    expect(stdout).toContain(`│ From folder ${project.base}/plugin\n`)
    expect(stdout).toContain('migrated guard with 1 hook and trusted it\nnext carabiner list\n')
    expect((await project.call(['fire', 'PreToolUse'], call)).code).toBe(2)
    const again = await project.call(['migrate', '../plugin', '--write'])
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('guard with 1 hook is there already: nothing to do\n'),
    })
  })

  it.each([[[]], [['--user']]])('%j is not written where nobody agrees', async (scope) => {
    const args = ['migrate', '../plugin', '--write', ...scope]
    const shown = await project.call(args)
    expect(shown).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('not allowed here'),
      stderr: expect.stringContaining('guard was shown but not migrated: there is no terminal to ask at'),
    })
    const json = await project.call([...args, '--json'])
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      1,
      { written: false, review: { hooks: [{ event: 'PreToolUse' }] }, next: [] },
    ])
    const no = await project.onTerminal(args, { input: 'n\n' })
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('guard was not migrated')])
    for (const folder of [project.folder, project.home])
      expect(existsSync(join(folder, '.amplifier'))).toBe(false)
    expect((await project.onTerminal(args, { input: 'y\n' })).code).toBe(0)
    expect((await project.call(['fire', 'PreToolUse'], call)).code).toBe(2)
  })

  it('trusts one that was cut off before that, and nothing that was not shown', async () => {
    await project.call(['migrate', '../plugin', '--write', '--yes'])
    await project.call(['untrust', 'guard'])
    const no = await project.onTerminal(['migrate', '../plugin', '--write'], { input: 'n\n' })
    expect([no.code, no.stdout]).toEqual([
      1,
      expect.stringMatching(/is there already, and was not trusted\r\n.*next.* carabiner trust guard\r\n$/),
    ])
    const { stdout } = await project.call(['migrate', '../plugin', '--write', '--yes', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ written: false, isThere: true, trusted: true })
    project.file('.amplifier/hooks/guard/guard.sh', '#!/bin/sh\n', 0o755)
    const other = await project.call(['migrate', '../plugin', '--write', '--yes'])
    expect(other.stderr).toContain('already exists and is a different plugin')
  })

  it('proposes the whole of the same command', async () => {
    project.file('.amplifier/hooks/own/hooks.json', { hooks: { Stop: [{ hooks: [command('x')] }] } })
    const { stdout } = await project.call(['migrate', 'own', '--to', 'claude-code', '--out', 'own'])
    expect(stdout).toMatch(/\nnext carabiner migrate own --to claude-code --out own --write\n$/)
  })

  it('of a later format is refused', async () => {
    project.file('../plugin/.claude-plugin/plugin.json', { name: 'guard', carabiner: 2 })
    const { code, stderr } = await project.call(['migrate', '../plugin'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('says "carabiner": 2')])
  })

  it.each(['.amplifier', '.amplifier/hooks', '../home/.amplifier/hooks', '../linked'])(
    'for Claude Code does not go to %s, where it would run here',
    async (out) => {
      project.file('../home/dotfiles/x', '')
      symlinkSync(join(project.home, 'dotfiles'), join(project.home, '.amplifier'))
      symlinkSync(join(project.home, 'dotfiles'), join(project.base, 'linked'))
      const args = ['migrate', '../plugin', '--to', 'claude-code', '--out', out, '--write']
      const { code, stderr } = await project.call(args)
      expect([code, stderr]).toEqual([64, expect.stringContaining('is where Carabiner keeps hooks')])
    },
  )

  it('and back', async () => {
    project.file('.amplifier/hooks/own/hooks.json', { hooks: { Stop: [{ hooks: [command('x')] }] } })
    const { stdout } = await project.call([
      'migrate',
      'own',
      '--to',
      'claude-code',
      '--out',
      'out',
      '--write',
      '--json',
    ])
    expect(JSON.parse(stdout)).toMatchObject({
      written: true,
      name: 'own',
      hooks: ['Stop: x'],
      next: ['claude --plugin-dir out/own'],
    })
    expect(project.has('out/own/hooks/hooks.json')).toBe(true)
  })

  it('and back again, the same hooks each time, whatever its plugin.json says', async () => {
    const guard = command('sh "$CLAUDE_PLUGIN_ROOT/guard.sh"')
    project.file('mine/.claude-plugin/plugin.json', { name: 'mine', hooks: ['./hooks.json', './stop.json'] })
    project.file('mine/hooks.json', { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [guard] }] } })
    project.file('mine/stop.json', { hooks: { Stop: [{ hooks: [guard] }] } })
    const listed = async (...args: readonly string[]) => {
      const { stdout } = await project.call(['list', '--json', ...args])
      const { hooks, diagnostics } = JSON.parse(stdout) as Record<string, Record<string, unknown>[]>
      const what = hooks?.map(({ name, matcher, command: text }) => [name, matcher, text])
      return { what, diagnostics }
    }
    const before = await listed('--plugin', 'mine')
    expect(before.what).toHaveLength(2)
    await project.call(['migrate', './mine', '--to', 'claude-code', '--out', 'out', '--write'])
    expect(project.has('out/mine/hooks.json')).toBe(false)
    expect(await listed('--plugin', 'out/mine')).toEqual({ what: expect.anything(), diagnostics: [] })
    expect((await listed('--plugin', 'out/mine')).what?.toSorted()).toEqual(before.what?.toSorted())
    await project.call(['migrate', 'out/mine', '--write', '--yes'])
    expect((await listed()).what?.toSorted()).toEqual(before.what?.toSorted())
  })

  it('says what is wrong', async () => {
    const { code, stderr } = await project.call(['migrate', '../nowhere'])
    expect(stderr).toContain('There is no folder')
    expect(code).toBe(1)
  })
})

describe('is the same when it is run again', () => {
  const TIMES = [undefined, 0, 5, 59.5, 60, 600, 601, 3600, 1e6, '30', null, -1]
  const HANDLERS: readonly object[] = [
    ...TIMES.map((timeout) => ({ type: 'command', command: `echo ${timeout}`, timeout })),
    { type: 'command', command: 'echo a', async: true },
    { type: 'command', command: 'echo o', once: true, statusMessage: 'x' },
    { type: 'command', command: 'echo b', shell: 'bash', if: 'Bash(git *)' },
    { type: 'command', command: 'echo', args: ['a b', '$HOME'], timeout: 700 },
    { type: 'command', command: 'echo dup' },
    { type: 'command', command: 'echo dup', timeout: 600 },
    { type: 'prompt', prompt: 'fine?', timeout: 700 },
    { type: 'prompt', prompt: 'fine?' },
    { type: 'http', url: 'https://example.com/hook', timeout: 700 },
    { type: 'agent', prompt: 'look', timeout: 900 },
    { type: 'mcp_tool', server: 's', tool: 't' },
  ]
  const GROUPS: readonly object[] = [{}, { matcher: '' }, { matcher: '*' }, { matcher: 'Bash' }]
  const everything = {
    env: { A: 'b' },
    hooks: Object.fromEntries(
      ['PreToolUse', 'Stop', 'SessionStart'].map((event) => [
        event,
        GROUPS.map((group) => ({ ...group, hooks: HANDLERS })),
      ]),
    ),
  }
  const texts = () =>
    ['.amplifier/hooks/hooks.json', '.amplifier/settings.json', '.claude/settings.json'].map((path) =>
      project.has(path) ? readFileSync(project.path(path), 'utf8') : '',
    )

  it.each([
    ['to Carabiner', '.claude/settings.json', []],
    ['to Claude Code', '.amplifier/hooks/hooks.json', ['--to', 'claude-code']],
    ['there and back', '.claude/settings.json', ['there and back']],
  ])('%s', async (_, path, more) => {
    project.file(path, everything)
    const runs =
      more[0] === 'there and back'
        ? [
            ['migrate', '--write'],
            ['migrate', '--write', '--to', 'claude-code'],
          ]
        : [['migrate', '--write', ...more]]
    for (const run of runs) await project.call(run)
    const first = texts()
    if (more.length === 0) {
      // Moved by an older version, or changed by hand.
      const target = project.path('.amplifier/hooks/hooks.json')
      first[0] = (first[0] ?? '').replace(/"timeout": (?:600|3600)\b/g, '"timeout": 7')
      writeFileSync(target, first[0])
    }
    for (const run of runs) {
      const { stdout } = await project.call([...run, '--json'])
      expect(JSON.parse(stdout)).toMatchObject({ written: false, files: [] })
    }
    expect(texts()).toEqual(first)
  })
})
