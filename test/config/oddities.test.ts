// The twenty oddities of ../shared/corpus/README.md, as far as they are a matter of reading files, and more hostile ones.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { resolveEvent } from '../../src/core/events/events.js'
import type { Hook } from '../../src/core/hooks/hook.js'
import { HookSet } from '../../src/core/hooks/hook-set.js'
import { planOf } from '../../src/core/run/plan.js'
import { isLarge } from '../property/runs.js'
import {
  codesOf,
  command,
  commandsOf,
  hooksFile,
  load,
  loadPlugin,
  loadRoot,
  namesOf,
  only,
  sourcesIn,
  tree,
} from './temp-tree.js'

const group = (text = 'x', more: object = {}) => ({ hooks: [command(text)], ...more })

describe('1: no "hooks" around the events', () => {
  it('is read', async () => {
    const config = await loadPlugin({
      description: 'x',
      version: 1,
      PostToolUse: [group('a')],
      Stop: [group('b')],
    })
    expect(commandsOf(config)).toEqual(['a', 'b'])
    expect(config.diagnostics).toEqual([])
  })

  it('says which keys are no events, if they look like hooks', async () => {
    const config = await loadPlugin({
      PostToolUze: [group('a')],
      Stop: [group('b')],
      list: [1, 2],
      text: 'x',
    })
    expect(commandsOf(config)).toEqual(['b'])
    expect(codesOf(config)).toEqual(['unknown-event', 'unknown-key'])
    expect(config.diagnostics[0]?.text).toContain('did you mean PostToolUse?')
  })

  it('says so if events stand beside "hooks"', async () => {
    const config = await loadPlugin({ hooks: { Stop: [group('a')] }, PreToolUse: [group('b')], stop: [1] })
    expect(commandsOf(config)).toEqual(['a'])
    expect(only(config)).toMatchObject({
      code: 'entry-invalid',
      text: expect.stringContaining('PreToolUse beside'),
    })
  })

  it('says so if "hooks" is misspelt', async () => {
    for (const key of ['Hooks', 'hook', 'HOOKS']) {
      const config = await loadPlugin({ [key]: { Stop: [group()] } })
      expect(only(config)).toMatchObject({
        code: 'unknown-key',
        text: expect.stringContaining('did you mean "hooks"?'),
      })
    }
  })

  it('leaves keys of other agents’ settings alone', async () => {
    const config = await load({
      'project/.amplifier/settings.json': {
        permissions: { allow: 7 },
        model: 5,
        env: {},
        stop: true,
        setup: { x: 1 },
      },
    })
    expect(config.diagnostics).toEqual([])
  })
})

describe('2: "hooks" of other shapes', () => {
  it('a list of { event, … } is read', async () => {
    const config = await loadPlugin({
      hooks: [
        { event: 'PreToolUse', matcher: 'Bash', ...group('a') },
        { event: 'tool:post', ...group('b') },
        { event: 'Nope', ...group('c') },
        { event: 'Stop', type: 'command', command: 'd' },
        group('e'),
        'f',
      ],
    })
    expect(namesOf(config)).toEqual(['guard:PreToolUse#1', 'guard:PostToolUse#1'])
    expect(codesOf(config)).toEqual(['unknown-event', 'entry-invalid', 'entry-invalid', 'entry-invalid'])
  })

  it('an alias beside its event in such a list is left out', async () => {
    const config = await loadPlugin({
      hooks: [
        { event: 'preToolUse', ...group('a') },
        { event: 'PreToolUse', ...group('b') },
      ],
    })
    expect(commandsOf(config)).toEqual(['b'])
    expect(codesOf(config)).toEqual(['unknown-event'])
  })

  it('a path is for plugin.json alone', async () => {
    const config = await loadPlugin('{\n"name": "x",\n"hooks": "./hooks/hooks.json"}')
    expect(config.specs).toEqual([])
    expect(only(config)).toMatchObject({ code: 'config-invalid', line: 3 })
  })

  it('twice around the events is read', async () => {
    expect(commandsOf(await loadPlugin({ hooks: { hooks: { Stop: [group('a')] } } }))).toEqual(['a'])
  })

  it('without end is not followed without end', async () => {
    const deep = `${'{"hooks": '.repeat(10_000)}{}${'}'.repeat(10_000)}`
    const config = await loadPlugin(deep)
    expect(codesOf(config)).toEqual(['unknown-event'])
  })
})

describe('3: flat groups', () => {
  it.each([
    [{ matcher: 'Bash', command: 'x' }, 'must be inside the "hooks"'],
    [{ type: 'command', command: 'x' }, 'must be inside the "hooks"'],
    [{ matcher: 'Bash' }, 'it has no "hooks"'],
    [{ hooks: command() }, '"hooks" must be a list'],
    [{ hooks: null }, '"hooks" must be a list'],
    ['x', 'must be an object'],
    [null, 'must be an object'],
    [[group()], 'must be an object'],
  ])('%j is left out, its neighbours are not', async (flat, reason) => {
    const config = await loadPlugin({ hooks: { Stop: [group('a'), flat, group('b')] } })
    expect(commandsOf(config)).toEqual(['a', 'b'])
    const diagnostic = only(config)
    expect(diagnostic.code).toBe('entry-invalid')
    expect(diagnostic.text).toContain(reason)
  })
})

describe('4: odd values of events', () => {
  it('a string is left out', async () => {
    const config = await loadPlugin('{"hooks": {"Stop": [],\n"PreToolUse": "./x.sh",\n"PostToolUse": null}}')
    expect(config.diagnostics.map(({ code, line }) => [code, line])).toEqual([
      ['entry-invalid', 2],
      ['entry-invalid', 3],
    ])
  })

  it('comment keys beside events and empty lists need no word', async () => {
    const config = await loadPlugin({
      hooks: { '// PostToolUse': 'later', _note: 1, Stop: [], PreToolUse: [group()] },
    })
    expect(config.specs).toHaveLength(1)
    expect(config.diagnostics).toEqual([])
  })

  it('a single group counts as a list of one', async () => {
    expect(commandsOf(await loadPlugin({ hooks: { Stop: group('a') } }))).toEqual(['a'])
  })
})

describe('5: text', () => {
  it('comments and trailing commas are fine', async () => {
    const text =
      '// head\n{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"},]},], /* end */}}'
    const config = await loadPlugin(text)
    expect(commandsOf(config)).toEqual(['x'])
    expect(config.diagnostics).toEqual([])
    expect(config.specs[0]?.hook.origin.line).toBe(2)
  })

  it('\\r\\n and a byte-order mark are fine', async () => {
    const config = await loadPlugin(`\uFEFF${JSON.stringify(hooksFile(), null, 1).replaceAll('\n', '\r\n')}`)
    expect(config.specs[0]?.hook.origin.line).toBe(6)
    expect(config.diagnostics).toEqual([])
  })

  it('that is broken takes nothing else down', async () => {
    const config = await load({
      'project/.amplifier/hooks/a/hooks.json': '{\n"hooks": {\n"Stop": [}\n}',
      'project/.amplifier/hooks/b/hooks.json': hooksFile(),
      'project/.amplifier/hooks/hooks.json': '',
      'project/.amplifier/settings.json': '[]',
    })
    expect(namesOf(config)).toEqual(['b:PreToolUse#1'])
    expect(config.diagnostics.map(({ code, line, text }) => [code, line, text])).toEqual([
      ['config-invalid', 1, 'the file is not valid JSON: the text ends too early'],
      ['config-invalid', 1, 'the file must be a JSON object, got []'],
      ['config-invalid', 3, 'the file is not valid JSON: unexpected "}"'],
    ])
  })

  it('that is not UTF-8 is read as far as it goes, and said', async () => {
    const bytes = Buffer.concat([
      Buffer.from(JSON.stringify(hooksFile())),
      Buffer.from('\n// caf\xe9', 'latin1'),
    ])
    const config = await loadPlugin(bytes)
    expect(config.specs).toHaveLength(1)
    expect(only(config)).toMatchObject({ code: 'config-invalid', text: expect.stringContaining('not UTF-8') })
  })
})

describe('6: events that do not exist', () => {
  it.each([
    ['Start', undefined],
    ['PreTooluse', 'PreToolUse'],
    ['pre-tool-use', 'PreToolUse'],
    ['PreToolUses', 'PreToolUse'],
    ['SessionStrat', 'SessionStart'],
    ['UserPromptSubmits', 'UserPromptSubmit'],
    ['Stopp', 'Stop'],
    ['x'.repeat(1000), undefined],
    ['', undefined],
    ['constructor', undefined],
  ])('%j never becomes a hook', async (event, meant) => {
    const text = `{"hooks": {\n${JSON.stringify(event)}: [${JSON.stringify(group())}], "Stop": [${JSON.stringify(group('b'))}]}}`
    const config = await loadPlugin(text)
    expect(commandsOf(config)).toEqual(['b'])
    const diagnostic = only(config)
    expect(diagnostic).toMatchObject({ code: 'unknown-event', line: 2 })
    if (meant) expect(diagnostic.text).toContain(`did you mean ${meant}?`)
    else expect(diagnostic.text).not.toContain('did you mean')
  })

  it.each([
    ['beforeShellExecution', 'PreToolUse'],
    ['BeforeModel', 'ModelRequest'],
    ['agentStop', 'Stop'],
  ])('%s is another agent’s', async (event, here) => {
    const config = await loadRoot({ hooks: { [event]: [{ command: 'x' }] } })
    expect(only(config).text).toBe(
      `${event} is another agent’s event, so its hooks never run; here it is called ${here}`,
    )
  })

  it('a name of another agent in a file of ours is not read in its terms', async () => {
    const config = await loadPlugin({
      hooks: { PreToolUse: [group('a')], beforeShellExecution: [{ command: 'b' }] },
    })
    expect(commandsOf(config)).toEqual(['a'])
    expect(only(config).text).toContain('beforeShellExecution is another agent’s event')
  })

  it.each(['tool:pre', 'pre_tool_use', 'preToolUse', 'hook.before_tool'])(
    '%s is PreToolUse',
    async (event) => {
      const config = await loadPlugin({ hooks: { [event]: [group()] } })
      expect(config.specs[0]?.hook.events).toEqual(new Set(['PreToolUse']))
      expect(config.diagnostics).toEqual([])
    },
  )

  it('an alias beside its event is left out: it would run twice', async () => {
    for (const file of [
      { hooks: { postToolUse: [group('a')], PostToolUse: [group('b')] } },
      { postToolUse: [group('a')], PostToolUse: [group('b')] },
    ]) {
      const config = await loadPlugin(file)
      expect(commandsOf(config)).toEqual(['b'])
      expect(only(config)).toMatchObject({
        code: 'unknown-event',
        text: expect.stringContaining('would run twice'),
      })
    }
  })

  it('two aliases of one event both count', async () => {
    const config = await loadPlugin({ hooks: { postToolUse: [group('a')], 'tool:post': [group('b')] } })
    expect(commandsOf(config)).toEqual(['a', 'b'])
  })
})

describe('7: types', () => {
  it('other than command become hooks of their type, invented ones do not', async () => {
    const config = await loadPlugin(
      hooksFile([
        { type: 'prompt', prompt: 'x' },
        { type: 'info', message: 'x' },
        { type: 'agent', prompt: 'x' },
        { type: 'suggest', message: 'x' },
        { type: 'http', url: 'https://x.test' },
        { type: 'mcp_tool', server: 's', tool: 't' },
        { type: 'mcp_tool', command: 's/t' },
      ]),
    )
    expect(config.specs.map(({ hook }) => hook.kind)).toEqual(['prompt', 'agent', 'http', 'mcp_tool'])
    expect(codesOf(config)).toEqual(['entry-invalid', 'entry-invalid', 'entry-invalid'])
  })
})

describe('8 and 9: matchers', () => {
  it('are looked at one by one', async () => {
    const config = await loadPlugin({
      hooks: {
        PreToolUse: [
          group('rule', { matcher: 'Write(docs/prds/**)' }),
          group('expression', { matcher: 'tool == "Bash" && tool_input.command matches "x("' }),
          group('object', { matcher: { tools: ['Write'] } }),
          group('fine', { matcher: 'Bash' }),
        ],
      },
    })
    expect(commandsOf(config)).toEqual(['rule', 'expression', 'fine'])
    expect(codesOf(config)).toEqual(['matcher-invalid', 'matcher-invalid', 'entry-invalid'])
  })
})

describe('10: a matcher on an event without one', () => {
  it('is ignored: the hook fires', async () => {
    const { specs } = await loadPlugin({ hooks: { Stop: [group('x', { matcher: 'Bash' })] } })
    const hooks = specs.map(({ hook }): Hook => ({ ...hook, run: () => undefined }))
    const event = { name: 'Stop', data: {}, session: undefined }
    expect(planOf(resolveEvent('Stop'), event, new HookSet([hooks]), undefined).candidates).toMatchObject([
      { matched: true },
    ])
  })
})

describe('11: time-outs in milliseconds', () => {
  it('are clamped, one diagnostic each', async () => {
    const config = await loadPlugin(
      hooksFile([
        command('a', { timeout: 5000 }),
        command('b', { timeout: 120000 }),
        command('c', { timeout: 60 }),
      ]),
    )
    expect(config.specs.map(({ hook }) => hook.timeoutMs)).toEqual([300_000, 300_000, 60_000])
    expect(codesOf(config)).toEqual(['timeout-clamped', 'timeout-clamped'])
  })
})

describe('12: exec form', () => {
  it('keeps each argument as it stands', async () => {
    const args = [`\${CLAUDE_PLUGIN_ROOT}/x y.mjs`, '$HOME', '']
    const { specs } = await loadPlugin(hooksFile([command('node', { args })]))
    expect(specs[0]?.handler).toEqual({ command: 'node', args })
  })
})

describe('13: keys on the group that belong elsewhere', () => {
  it('are ignored and reported', async () => {
    const keys = { if: 'Bash(git *)', once: true, async: true, enabled: false, priority: 5, description: 'x' }
    const config = await loadPlugin({ hooks: { PreToolUse: [group('x', keys)] } })
    const [spec] = config.specs
    expect(spec?.hook).toMatchObject({ once: false, detached: false, priority: 20 })
    expect(spec?.hook.condition).toBeUndefined()
    expect(codesOf(config)).toEqual(Array(5).fill('unknown-key'))
  })
})

// 14 to 17 are about what hooks print and how they end: nothing of them is in a file.

describe('18: one script with different environments', () => {
  it('is as many hooks', async () => {
    const { specs } = await loadPlugin(
      hooksFile([command('MODE=a ./x.sh'), command('MODE=b ./x.sh'), command('MODE=a ./x.sh')]),
    )
    expect(specs).toHaveLength(3)
    expect(new Set(specs.map(({ hook }) => hook.sameAs)).size).toBe(2)
  })
})

describe('19: the name of the folder', () => {
  it('is that of the plugin, unless plugin.json has another; the root stays the folder', async () => {
    const root = tree({
      'hookify/hooks/hooks.json': hooksFile(),
      'other/hooks/hooks.json': hooksFile(),
      'other/.claude-plugin/plugin.json': { name: 'named' },
    })
    const { specs } = await loadConfig({ plugins: [join(root, 'hookify'), join(root, 'other')] })
    expect(specs.map(({ place }) => [place.plugin?.name, place.plugin?.root])).toEqual([
      ['hookify', join(root, 'hookify')],
      ['named', join(root, 'other')],
    ])
  })
})

describe('20: commands', () => {
  it('are kept to the letter', async () => {
    const text = `node -e "const a = '\\u00e9'; if (!a) { process.exit(2) }" \\\n && bash -c '[[ "$CLAUDE_TOOL_FILE_PATH" ]]'  `
    const { specs } = await loadPlugin(hooksFile([command(text)]))
    expect(specs[0]?.handler).toEqual({ command: text })
  })
})

describe('hostile files', () => {
  it('keys such as __proto__ change nothing and hide nothing', async () => {
    const config = await loadPlugin(
      `{"__proto__": {"hooks": {}}, "hooks": {"Stop": [{"__proto__": {"hooks": []}, "hooks": [
        {"__proto__": {"type": "command", "command": "evil"}, "type": "command", "command": "x"},
        {"__proto__": {"type": "command", "command": "evil"}}
      ]}]}}`,
    )
    expect(commandsOf(config)).toEqual(['x'])
    expect(codesOf(config)).toEqual(['entry-invalid'])
    expect(({} as Record<string, unknown>).hooks).toBeUndefined()
  })

  it('a key that stands twice is said where hooks are lost by it', async () => {
    const lost = `{"hooks": {\n"Stop": [${JSON.stringify(group('first'))}],\n"Stop": [${JSON.stringify(group('last'))}]}}`
    const config = await loadPlugin(lost)
    expect(commandsOf(config)).toEqual(['last'])
    expect(only(config)).toMatchObject({
      code: 'entry-invalid',
      line: 2,
      text: expect.stringContaining('"Stop" appears twice'),
    })
    const whole = await loadPlugin(`{"hooks": {"Stop": [${JSON.stringify(group('a'))}]},\n"hooks": {}}`)
    expect(only(whole)).toMatchObject({ code: 'entry-invalid', line: 1 })
    const handlers = await loadPlugin(
      `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}],\n"hooks": []}]}}`,
    )
    expect(only(handlers)).toMatchObject({ code: 'entry-invalid', line: 1 })
  })

  it.each([
    ['command', '"type": "command", "command": "exit 2", "command": "true"', ''],
    ['command', '"type": "command", "command": "exit 2", "\\u0063ommand": "true"', ''],
    ['matcher', '"type": "command", "command": "true"', '"matcher": "Bash", "matcher": "Write",'],
  ])('a %s that stands twice is said', async (key, handler, matcher) => {
    const config = await loadPlugin(`{"hooks": {"PreToolUse": [{${matcher} "hooks": [{${handler}}]}]}}`)
    expect(config.diagnostics).toMatchObject([{ text: expect.stringContaining(`"${key}" appears twice`) }])
  })

  it('many bad entries leave a bounded number of diagnostics', async () => {
    const config = await loadPlugin({ hooks: { Stop: [{ hooks: Array(20_000).fill(7) }, group('fine')] } })
    expect(commandsOf(config)).toEqual(['fine'])
    expect(config.diagnostics).toHaveLength(501)
    expect(config.diagnostics.at(-1)).toMatchObject({
      text: '19500 more problems in this file are not listed',
      line: 1,
    })
  })

  it.runIf(isLarge)('of more plugins than anybody has reads the first thousand, and says so', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1002 }, (_, i) => [
        `project/.amplifier/hooks/p${String(i).padStart(4, '0')}/hooks.json`,
        JSON.stringify({ hooks: { Stop: [{ hooks: [command()] }] } }),
      ]),
    )
    const config = await loadConfig(sourcesIn(tree(files)))
    expect(config.specs).toHaveLength(1000)
    expect(config.diagnostics.map(({ code, text }) => [code, text])).toEqual([
      ['config-invalid', expect.stringContaining('1002 plugins')],
    ])
  })

  it('of more text than anybody writes keeps the user’s hooks, and says what was not read', async () => {
    const large = JSON.stringify({
      description: 'x'.repeat(1_000_000),
      hooks: { Stop: [{ hooks: [command()] }] },
    })
    const files = Object.fromEntries(
      Array.from({ length: 18 }, (_, i) => [`project/.amplifier/hooks/p${10 + i}/hooks.json`, large]),
    )
    const root = tree({ ...files, 'home/.amplifier/hooks/hooks.json': large })
    const config = await loadConfig(sourcesIn(root))
    expect(config.specs[0]?.hook.origin.scope).toBe('user')
    expect(config.specs).toHaveLength(16)
    expect(config.diagnostics.filter(({ text }) => text.includes('16 MiB'))).toHaveLength(3)
  })

  it('many good entries load', async () => {
    const config = await loadPlugin({ hooks: { Stop: [{ hooks: Array(10_000).fill(command()) }] } })
    expect(config.specs).toHaveLength(10_000)
    expect(new Set(config.specs.map(({ hook }) => hook.id)).size).toBe(10_000)
    expect(config.specs.at(-1)?.hook.origin.line).toBeGreaterThan(10_000)
  })

  it('settings in a hooks file are said to belong elsewhere, and have no effect', async () => {
    const config = await loadPlugin({
      disableAllHooks: true,
      hooks: { enabled: false, max_timeout: 1, Stop: [group()] },
    })
    expect(config.specs[0]).not.toHaveProperty('disabled')
    expect(config.settings.max_timeout).toBe(300)
    expect(codesOf(config)).toEqual(['unknown-key', 'unknown-key', 'unknown-key'])
  })
})
