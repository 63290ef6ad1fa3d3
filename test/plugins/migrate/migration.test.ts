// Hooks of Claude Code and of Carabiner, moved there and back: what goes, what stays and why, and what must not be lost.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as they stand in files

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { replaceSettings } from '../../../src/hosts/settings-file.js'
import { SetupProblem } from '../../../src/hosts/setup-problem.js'
import { carryOut, type Migration, planMigration } from '../../../src/plugins/migrate/migration.js'
import { type Direction, migrationFiles } from '../../../src/plugins/migrate/migration-files.js'
import { type Files, command as plain, tree } from '../../config/temp-tree.js'
import { withOwnHome } from './own-home.js'

withOwnHome()

const SETTINGS = '.claude/settings.json'
const LOCAL = '.claude/settings.local.json'
const HOOKS = '.amplifier/hooks/hooks.json'
const OWN = '.amplifier/hooks/local/hooks.json'

interface Done extends Migration {
  readonly project: string
  readonly backups: ReadonlyMap<string, string>
  readonly json: (path: string) => unknown
  readonly text: (path: string) => string
}

async function migrated(
  files: Files,
  direction: Direction = 'carabiner',
  removeSource = false,
): Promise<Done> {
  return again(tree(files), direction, removeSource)
}

async function again(
  project: string,
  direction: Direction = 'carabiner',
  removeSource = false,
): Promise<Done> {
  const plan = () => planMigration(migrationFiles(direction, project), removeSource)
  const shown = plan()
  const backups = shown.changes.length > 0 ? await carryOut(shown, plan) : new Map<string, string>()
  if (!backups) throw new Error('somebody else changed the files')
  const text = (path: string) => readFileSync(join(project, path), 'utf8')
  return { ...shown, project, backups, text, json: (path) => JSON.parse(text(path)) }
}

/** With a time-out of its own, which both sides read in the same way. */
const command = (text?: string, more: object = {}) => plain(text, { timeout: 5, ...more })
/** The seconds of Claude Code, which `migrate` writes where a hook names none. */
const timed = (text?: string, more: object = {}) => plain(text, { ...more, timeout: 600 })

const group = (handler: unknown, more: object = {}) => ({ ...more, hooks: [handler] })
const settings = (event: string, ...groups: readonly unknown[]) => ({ hooks: { [event]: groups } })
const whys = ({ left }: Migration) => left.map(({ what, why }) => `${what ?? ''}|${why}`)
const carried = async (files: Files, direction: Direction) => {
  const { json, left } = await migrated(files, direction)
  return { hooks: json(direction === 'carabiner' ? HOOKS : SETTINGS), left }
}

describe('a hook without a time-out', () => {
  it('silently keeps the 600 seconds of Claude Code, so that no gate opens earlier', async () => {
    const http = { type: 'http', url: 'https://example.com/' }
    const { json, notes, project } = await migrated({
      [SETTINGS]: settings('PreToolUse', group(plain('a')), group(command('b', { timeout: 5 })), group(http)),
    })
    expect(json(HOOKS)).toEqual(
      settings('PreToolUse', group(timed('a')), group(command('b', { timeout: 5 })), group(http)),
    )
    expect(notes).toEqual([])
    for (const direction of ['carabiner', 'claude-code'] as const) {
      expect(planMigration(migrationFiles(direction, project)).changes).toEqual([])
    }
  })

  it('has none again on the way back, and one of Carabiner gets none', async () => {
    const ours = settings('Stop', group(timed('a')), group(plain('b')), group(command('c', { timeout: 5 })))
    const { json, notes } = await migrated({ [HOOKS]: ours }, 'claude-code')
    expect(json(SETTINGS)).toEqual(
      settings('Stop', group(plain('a')), group(plain('b')), group(command('c', { timeout: 5 }))),
    )
    expect(notes).toEqual([])
  })

  it('is not added twice where Claude Code has its 600 seconds in writing', async () => {
    const { project } = await migrated({ [SETTINGS]: settings('Stop', group(timed('a'))) })
    expect(planMigration(migrationFiles('claude-code', project)).changes).toEqual([])
  })
})

describe('to Carabiner', () => {
  it('carries groups as they are written, in their order, with all keys', async () => {
    const hooks = (one: typeof plain) => ({
      PreToolUse: [
        {
          matcher: 'Bash',
          description: 'mine',
          hooks: [plain('a', { timeout: 5000, once: true }), one('b')],
        },
        group(one('c', { if: 'Bash(git *)', async: true, note: 'x' }), { matcher: '^mcp__.*' }),
        group({ type: 'http', url: 'https://example.com/', headers: { A: '$B' }, allowedEnvVars: ['B'] }),
      ],
      Stop: [group({ type: 'prompt', prompt: '$ARGUMENTS' }), group(one('"$CLAUDE_PROJECT_DIR"/x.sh'))],
    })
    const { json, left, moved, notes } = await migrated({ [SETTINGS]: { hooks: hooks(plain), model: 'x' } })
    expect(json(HOOKS)).toEqual({ hooks: hooks(timed) })
    expect(left).toEqual([])
    expect(moved.map(({ title, line, isNew }) => [title, line, isNew])).toEqual([
      ['PreToolUse Bash: a', 8, true],
      ['PreToolUse Bash: b', 14, true],
      ['PreToolUse ^mcp__.*: c', 23, true],
      ['PreToolUse: http https://example.com/', 34, true],
      ['Stop: prompt $ARGUMENTS', 50, true],
      ['Stop: "$CLAUDE_PROJECT_DIR"/x.sh', 58, true],
    ])
    expect(notes.map(({ why }) => why)).toEqual([
      '"once" has no effect in a configuration file: the hook runs every time',
      '"note" is not a key of a hook and is ignored',
      'the timeout of 5000 seconds was lowered to 300; it looks like milliseconds, but timeouts are seconds; max_timeout in your settings may allow more',
    ])
  })

  it('reads the forms that are odd, and writes the plain one', async () => {
    const list = {
      hooks: [
        { event: 'Stop', ...group(command('a')) },
        { event: 'Stop', ...group(command('b')) },
      ],
    }
    expect((await carried({ [SETTINGS]: list }, 'carabiner')).hooks).toEqual(
      settings('Stop', group(command('a')), group(command('b'))),
    )
    const bare = { preToolUse: [group(command('a'))] }
    expect((await carried({ [SETTINGS]: bare }, 'carabiner')).hooks).toEqual(
      settings('PreToolUse', group(command('a'))),
    )
    const single = { hooks: { Stop: group(command('a')) } }
    expect((await carried({ [SETTINGS]: single }, 'carabiner')).hooks).toEqual(
      settings('Stop', group(command('a'))),
    )
  })

  it('names what stays, with line and reason', async () => {
    const file = {
      hooks: {
        PreToolUse: [group(command('good')), { matcher: 'Write', command: 'flat' }, group({ type: 'info' })],
        Start: [group(command('never'))],
      },
    }
    const { left, json } = await migrated({ [SETTINGS]: file })
    expect(json(HOOKS)).toEqual(settings('PreToolUse', group(command('good'))))
    expect(left.map(({ code, line }) => [code, line])).toEqual([
      ['entry-invalid', 13],
      ['entry-invalid', 20],
      ['unknown-event', 25],
    ])
    expect(left[0]?.why).toContain('a handler must be inside the "hooks"')
  })

  it('leaves what carabiner setup registered: fire would run itself', async () => {
    const own = command('"/usr/bin/node" "/opt/carabiner.js" fire PreToolUse --as claude-code')
    const pack = command('carabiner hook pre-tool-use')
    const done = await migrated({
      [SETTINGS]: settings('PreToolUse', group(own), group(pack), group(command('x'))),
    })
    expect(done.json(HOOKS)).toEqual(settings('PreToolUse', group(command('x'))))
    expect(whys(done)).toEqual([
      'PreToolUse: "/usr/bin/node" "/opt/carabiner.js" fire PreToolUse --as claude-code|it belongs to carabiner setup, which adds and removes it',
      'PreToolUse: carabiner hook pre-tool-use|it belongs to carabiner setup, which adds and removes it',
    ])
  })

  it('moves a hook that is read differently from how it is written, and reports it', async () => {
    const { json, left, notes } = await migrated({
      [SETTINGS]: settings('Stop', group(command('x', { onFailure: 'deny', timeout: 5 }))),
    })
    expect(json(HOOKS)).toEqual(settings('Stop', group(command('x', { onFailure: 'deny', timeout: 5 }))))
    expect(left).toEqual([])
    expect(notes.map(({ why }) => why)).toEqual([
      'settings.json:Stop#1: "onFailure" must be "block" or "continue", got "deny"; "block" is in force',
    ])
  })

  it('names what else hooks may count on', async () => {
    const done = await migrated({
      [SETTINGS]: {
        env: { TOKEN: 'x' },
        enabledPlugins: { 'guard@market': true, 'off@market': false },
        ...settings('Stop', group(command())),
      },
    })
    expect(whys(done)).toEqual([
      'the plugin "guard@market"|it has its own files: run carabiner migrate DIR with the folder of the plugin',
    ])
  })

  it('P5: carries the variables that hooks get, and back', async () => {
    const file = { env: { TOKEN: 'x', LEVEL: 3 }, ...settings('Stop', group(command())) }
    const there = await migrated({ [SETTINGS]: file })
    expect(there.json(HOOKS)).toEqual(file)
    expect(whys(there)).toEqual([])
    const other = await migrated({ [SETTINGS]: file, [HOOKS]: { env: { TOKEN: 'y' }, hooks: {} } })
    expect(other.json(HOOKS)).toMatchObject({ env: { TOKEN: 'y' } })
    expect(whys(other)).toEqual([
      `"env"|${join(other.project, HOOKS)} already says {"TOKEN":"y"}, which is kept`,
    ])
    const none = await migrated({ [SETTINGS]: { env: { TOKEN: 'x' } } })
    expect(none.left).toEqual([])
  })

  it('moves the switches, unless the target has others', async () => {
    const file = { disableAllHooks: true, allowedHttpHookUrls: ['https://a/*'] }
    const fresh = await migrated({ [SETTINGS]: { ...file, ...settings('Stop', group(command())) } })
    expect(fresh.json(HOOKS)).toEqual({ ...file, ...settings('Stop', group(command())) })
    const there = await migrated({ [SETTINGS]: file, [HOOKS]: { disableAllHooks: false, hooks: {} } })
    expect(there.json(HOOKS)).toEqual({
      disableAllHooks: false,
      hooks: {},
      allowedHttpHookUrls: ['https://a/*'],
    })
    expect(whys(there)).toEqual([
      `"disableAllHooks"|${join(there.project, HOOKS)} already says false, which is kept`,
    ])
  })
})

describe('what is private', () => {
  it('goes into a plugin that git does not see', async () => {
    const done = await migrated({
      [SETTINGS]: settings('Stop', group(command('shared'))),
      [LOCAL]: { disableAllHooks: true, ...settings('Stop', group(command('mine'))) },
    })
    expect(done.json(HOOKS)).toEqual(settings('Stop', group(command('shared'))))
    expect(done.json(OWN)).toEqual(settings('Stop', group(command('mine'))))
    expect(done.text('.amplifier/hooks/local/.gitignore')).toBe('*\n')
    expect(whys(done)[0]).toMatch(/^"disableAllHooks"\|it is in your private settings/)
  })

  it('comes back to where it was', async () => {
    const { project, json } = await migrated(
      {
        [HOOKS]: settings('Stop', group(command('shared'))),
        [OWN]: settings('Stop', group(command('mine'))),
      },
      'claude-code',
    )
    expect(json(SETTINGS)).toEqual(settings('Stop', group(command('shared'))))
    expect(json(LOCAL)).toEqual(settings('Stop', group(command('mine'))))
    expect(existsSync(join(project, '.claude/.gitignore'))).toBe(false)
  })

  it('is not carried where the project has the same: Claude Code runs it once', async () => {
    const { project, moved } = await migrated({
      [SETTINGS]: settings('Stop', group(command('same'))),
      [LOCAL]: settings('Stop', group(command('same'))),
    })
    expect(existsSync(join(project, OWN))).toBe(false)
    expect(moved.map(({ isNew }) => isNew)).toEqual([true, false])
  })
})

describe('what is there already', () => {
  it('stays as it is written, comments and all, and what comes stands behind it', async () => {
    const before = `{
  // ours
  "hooks": {
    "stop": [
      { "hooks": [{ "type": "command", "command": "first" }] } // keep
    ]
  },
  "x": 1
}
`
    const done = await migrated({ [HOOKS]: before, [SETTINGS]: settings('Stop', group(command('second'))) })
    expect(done.text(HOOKS)).toBe(`{
  // ours
  "hooks": {
    "stop": [
      { "hooks": [{ "type": "command", "command": "first" }] }, // keep
      {
        "hooks": [
          {
            "type": "command",
            "command": "second",
            "timeout": 5
          }
        ]
      }
    ]
  },
  "x": 1
}
`)
    expect(readFileSync(done.backups.get(join(done.project, HOOKS)) ?? '', 'utf8')).toBe(before)
  })

  it('is not added again, and twice is twice', async () => {
    const twice = settings('Stop', group(command('a')), group(command('a')), group(command('b')))
    const { project, json } = await migrated({
      [SETTINGS]: twice,
      [HOOKS]: settings('Stop', group(command('a'), { matcher: '*' })),
    })
    expect(json(HOOKS)).toEqual(
      settings('Stop', group(command('a'), { matcher: '*' }), group(command('a')), group(command('b'))),
    )
    const second = await again(project)
    expect(second.changes).toEqual([])
    expect(second.moved.every(({ isNew }) => !isNew)).toBe(true)
  })

  it('differs by matcher; one with another time-out was changed after it was moved', async () => {
    const { json } = await migrated({
      [SETTINGS]: settings(
        'PreToolUse',
        group(command('a', { timeout: 6 })),
        group(command('a'), { matcher: 'Bash' }),
      ),
      [HOOKS]: settings('PreToolUse', group(command('a'))),
    })
    expect((json(HOOKS) as { hooks: { PreToolUse: unknown[] } }).hooks.PreToolUse).toHaveLength(2)
  })

  it('keeps its mode', async () => {
    const project = tree({ [SETTINGS]: settings('Stop', group(command())), [HOOKS]: { hooks: {} } })
    const { mode } = statSync(join(project, HOOKS))
    await again(project)
    expect(statSync(join(project, HOOKS)).mode).toBe(mode)
  })

  it.each([
    ['is broken', '{ "hooks": ', 'is not valid JSON'],
    ['has a key twice', '{ "hooks": { "Stop": [], "Stop": [] } }', '"Stop" occurs twice'],
    ['has a list of events', '{ "hooks": [] }', '"hooks" is not an object of events'],
    ['has events at the top', '{ "Stop": [] }', 'Stop is at the top level'],
    ['has hooks in hooks', '{ "hooks": { "hooks": {} } }', 'contains another "hooks"'],
    ['has no list for the event', '{ "hooks": { "Stop": {} } }', '"Stop" is not a list of groups'],
  ])('is left alone where it %s', async (_, text, said) => {
    const project = tree({ [SETTINGS]: settings('Stop', group(command())), [HOOKS]: text })
    await expect(again(project)).rejects.toThrow(said)
    await expect(again(project)).rejects.toBeInstanceOf(SetupProblem)
    expect(readFileSync(join(project, HOOKS), 'utf8')).toBe(text)
  })

  it('is not reached through a link out of the project', async () => {
    const project = tree({ [SETTINGS]: settings('Stop', group(command())) })
    const outside = tree({ 'hooks.json': '{}' })
    mkdirSync(join(project, '.amplifier/hooks'), { recursive: true })
    symlinkSync(join(outside, 'hooks.json'), join(project, HOOKS))
    await expect(again(project)).rejects.toThrow('which is outside')
    expect(readFileSync(join(outside, 'hooks.json'), 'utf8')).toBe('{}')
  })

  it('is finished by the next one where the first was killed in between', async () => {
    const files = {
      [SETTINGS]: settings('Stop', group(command('a'))),
      [LOCAL]: settings('Stop', group(command('b'))),
    }
    const whole = await migrated(files, 'carabiner', true)
    const paths = whole.changes.map(({ file }) => file.path.slice(whole.project.length + 1))
    expect(paths).toEqual([HOOKS, '.amplifier/hooks/local/.gitignore', OWN, SETTINGS, LOCAL])
    for (const [done] of paths.entries()) {
      const project = tree(files)
      const { changes } = planMigration(migrationFiles('carabiner', project), true)
      for (const { file, after } of changes.slice(0, done + 1)) replaceSettings(file, after)
      const { text } = await again(project, 'carabiner', true)
      expect(paths.map(text)).toEqual(paths.map(whole.text))
    }
  })

  it('was changed in the meantime: nothing is written', async () => {
    const project = tree({ [SETTINGS]: settings('Stop', group(command())) })
    const plan = () => planMigration(migrationFiles('carabiner', project))
    const shown = plan()
    writeFileSync(join(project, SETTINGS), JSON.stringify(settings('Stop', group(command('other')))))
    expect(await carryOut(shown, plan)).toBeUndefined()
    expect(existsSync(join(project, HOOKS))).toBe(false)
  })
})

describe('removing it from its source', () => {
  it('leaves all the rest as it is written', async () => {
    const done = await migrated(
      {
        [SETTINGS]: `{
  // about me
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "a" }] },
      { "matcher": "Write", "command": "flat" }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "b" }] }]
  },
  "permissions": {} // mine
}
`,
      },
      'carabiner',
      true,
    )
    expect(done.text(SETTINGS)).toBe(`{
  // about me
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Write", "command": "flat" }
    ]
  },
  "permissions": {} // mine
}
`)
    expect(done.backups.size).toBe(1)
  })

  it('takes `hooks` too where nothing is left in it', async () => {
    const { json } = await migrated(
      { [SETTINGS]: { model: 'x', ...settings('Stop', group(command('a'))) } },
      'carabiner',
      true,
    )
    expect(json(SETTINGS)).toEqual({ model: 'x' })
  })

  it('takes out what was carried over before', async () => {
    const { project } = await migrated({ [SETTINGS]: settings('Stop', group(command('a'))) })
    const { json } = await again(project, 'carabiner', true)
    expect(json(SETTINGS)).toEqual({})
    expect(json(HOOKS)).toEqual(settings('Stop', group(command('a'))))
  })

  it('takes one of two hooks of a group', async () => {
    const own = command('carabiner hook stop')
    const { json } = await migrated(
      { [SETTINGS]: settings('Stop', { hooks: [command('a'), own] }) },
      'carabiner',
      true,
    )
    expect(json(SETTINGS)).toEqual(settings('Stop', group(own)))
  })

  it('leaves a read-only source alone, but can still copy from it', async () => {
    const project = tree({ [SETTINGS]: settings('Stop', group(command('a'))) })
    chmodSync(join(project, SETTINGS), 0o444)
    await expect(again(project, 'carabiner', true)).rejects.toThrow('is read-only')
    expect(existsSync(join(project, HOOKS))).toBe(false)
    const { json } = await again(project)
    expect(json(HOOKS)).toEqual(settings('Stop', group(command('a'))))
    chmodSync(join(project, HOOKS), 0o444)
    writeFileSync(join(project, LOCAL), JSON.stringify(settings('Stop', group(command('b')))))
    expect((await again(project)).json(OWN)).toEqual(settings('Stop', group(command('b'))))
    chmodSync(join(project, OWN), 0o444)
    writeFileSync(join(project, LOCAL), JSON.stringify(settings('Stop', group(command('c')))))
    await expect(again(project)).rejects.toThrow('local/hooks.json is read-only')
  })

  it('does not bring back what another name of the event hid', async () => {
    const file = { hooks: { Stop: [group(command('a'))], stop: [group(command('b'))] } }
    const project = tree({ [SETTINGS]: file })
    await expect(again(project, 'carabiner', true)).rejects.toThrow('would change something else')
    expect(existsSync(join(project, HOOKS))).toBe(false)
  })
})

describe('to Claude Code', () => {
  const fromHooks = (file: unknown, more: Files = {}) => migrated({ [HOOKS]: file, ...more }, 'claude-code')

  it('carries hooks of both files, and says its folders in the other’s words', async () => {
    const done = await fromHooks(
      settings(
        'PreToolUse',
        group(command('"$AMPLIFIER_HOOKS_DIR/guard/x.sh" $AMPLIFIER_PROJECT_DIR')),
        group(command('node', { args: ['${AMPLIFIER_HOOKS_DIR}/x.mjs'] })),
        group(command('y'), { matcher: { tool_name: 'Bash' } }),
      ),
      { '.amplifier/settings.json': { hooks: { max_timeout: 60, Stop: [group(command('z'))] } } },
    )
    expect(done.json(SETTINGS)).toEqual({
      hooks: {
        PreToolUse: [
          group(command('"${CLAUDE_PROJECT_DIR}/.amplifier/hooks/guard/x.sh" ${CLAUDE_PROJECT_DIR}')),
          group(command('node', { args: ['${CLAUDE_PROJECT_DIR}/.amplifier/hooks/x.mjs'] })),
          group(command('y'), { matcher: 'Bash' }),
        ],
        Stop: [group(command('z'))],
      },
    })
    expect(whys(done)).toEqual(['the setting "max_timeout"|Claude Code has no such setting'])
  })

  it.each<[string, string, object, object, string]>([
    ['an event', 'ModelRequest', {}, {}, 'Claude Code has no such event'],
    ['a model', 'SessionStart', { type: 'prompt', prompt: 'x' }, {}, 'runs no prompt hooks on SessionStart'],
    [
      'a server',
      'SessionStart',
      { type: 'http', url: 'https://a' },
      {},
      'runs no http hooks on SessionStart',
    ],
    ['a shell', 'Stop', { shell: 'sh' }, {}, 'knows the shells bash and powershell'],
    ['a gate', 'Stop', { type: 'prompt', prompt: 'x', onFailure: 'block' }, {}, 'the gate would be open'],
    ['a slip', 'Stop', { onFailure: 'deny' }, {}, '"onFailure" must be "block" or "continue"'],
    ['a name', 'Stop', { command: 'cat $AMPLIFIER_SESSION_ID' }, {}, 'it uses AMPLIFIER_SESSION_ID'],
    ['a default', 'Stop', { command: 'x ${AMPLIFIER_HOOKS_DIR:-.}' }, {}, 'it uses AMPLIFIER_HOOKS_DIR'],
    [
      'a plain name without a shell',
      'Stop',
      { args: ['$AMPLIFIER_HOOKS_DIR'] },
      {},
      'it uses AMPLIFIER_HOOKS_DIR',
    ],
    ['fullmatch', 'PreToolUse', {}, { matching: 'fullmatch' }, 'compares its matcher with the whole name'],
  ])('leaves what it would not run so: %s', async (_, event, handler, top, why) => {
    const file = { ...top, ...settings(event, group({ ...command(), ...handler }, { matcher: 'Ba.h' })) }
    const { project, left } = await fromHooks(file)
    expect(left[0]?.why).toContain(why)
    expect(left).toHaveLength(1)
    expect(existsSync(join(project, SETTINGS))).toBe(false)
  })

  it('leaves hooks that run one after the other, and carries one that is alone', async () => {
    const done = await fromHooks(
      settings(
        'Stop',
        { sequential: true, hooks: [command('a'), command('b')] },
        { sequential: true, hooks: [command('c')] },
      ),
    )
    expect(whys(done)).toHaveLength(2)
    expect(done.json(SETTINGS)).toEqual(settings('Stop', { sequential: true, hooks: [command('c')] }))
  })

  it('leaves resident hooks', async () => {
    const done = await fromHooks({ hooks: {}, processes: { gate: { command: ['x'], observe: ['*'] } } })
    expect(whys(done)).toEqual(['the process gate|Claude Code does not keep processes running for hooks'])
  })

  it('of the user: in the home', async () => {
    const home = process.env.HOME ?? ''
    mkdirSync(join(home, '.amplifier/hooks'), { recursive: true })
    const file = settings(
      'Stop',
      group(command('$AMPLIFIER_HOOKS_DIR/x')),
      group(command('${AMPLIFIER_HOOKS_DIR}/x', { args: [] })),
    )
    writeFileSync(join(home, HOOKS), JSON.stringify(file))
    const plan = () => planMigration(migrationFiles('claude-code', undefined))
    expect(await carryOut(plan(), plan)).toBeDefined()
    expect(JSON.parse(readFileSync(join(home, SETTINGS), 'utf8'))).toEqual(
      settings(
        'Stop',
        group(command('${HOME}/.amplifier/hooks/x')),
        group(command(`${home}/.amplifier/hooks/x`, { args: [] })),
      ),
    )
  })
})
