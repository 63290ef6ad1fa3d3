import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ConfiguredHook } from '../../src/config/configured-hook.js'
import { type LoadedConfig, loadConfig } from '../../src/config/load.js'
import { resolveEvent } from '../../src/core/events/events.js'
import type { Hook } from '../../src/core/hooks/hook.js'
import { HookSet } from '../../src/core/hooks/hook-set.js'
import { planOf } from '../../src/core/run/plan.js'
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

const first = (config: LoadedConfig): ConfiguredHook => {
  const [spec] = config.specs
  if (!spec) throw new Error(`no hook; ${JSON.stringify(config.diagnostics)}`)
  return spec
}
const ids = ({ specs }: LoadedConfig) => specs.map(({ hook }) => hook.id)

describe('what a hook is by default', () => {
  it('has every field that the engine needs', async () => {
    const { type, handler, hook } = first(await loadPlugin(hooksFile()))
    expect(type).toBe('command')
    expect(handler).toEqual({ command: './check.sh' })
    expect(hook).toMatchObject({
      name: 'guard:PreToolUse#1',
      kind: 'command',
      events: new Set(['PreToolUse']),
      matcher: null,
      role: 'intercept',
      priority: 20,
      lane: hook.id,
      detached: false,
      once: false,
      timeoutMs: 30_000,
      onFailure: 'continue',
    })
    expect(hook.condition).toBeUndefined()
  })
})

describe('the id', () => {
  it('is made of scope, source, event and content', async () => {
    expect(first(await loadPlugin(hooksFile())).hook.id).toMatch(/^project:guard:PreToolUse:[0-9a-f]{16}$/)
  })

  it('stays when neighbours, order of keys and layout change', async () => {
    const [before] = ids(await loadPlugin(hooksFile([command('x', { timeout: 5, shell: 'sh' })])))
    const [, after] = ids(
      await loadPlugin(
        `// moved\n{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "y"}, {"shell": "sh", "timeout": 5, "command": "x", "type": "command"}]}]}}`,
      ),
    )
    expect(after).toBe(before)
  })

  it.each([
    ['the command', [command('y')], {}],
    ['the arguments', [command('x', { args: [] })], {}],
    ['the shell', [command('x', { shell: 'bash' })], {}],
    ['the time-out', [command('x', { timeout: 5 })], {}],
    ['the rule', [command('x', { if: 'Bash(rm *)' })], {}],
    ['the matcher', [command('x')], { matcher: 'Bash' }],
  ])('changes with %s', async (_, handlers, group) => {
    const [before] = ids(await loadPlugin(hooksFile([command('x')])))
    const [after] = ids(await loadPlugin(hooksFile(handlers, group)))
    expect(after).not.toBe(before)
  })

  it('cannot be forged by moving text from one field into another', async () => {
    const messages = ['a\nif b', 'a\nif 1 b', 'a"\nif "b']
    const [one] = ids(await loadPlugin(hooksFile([command('x', { statusMessage: 'a', if: 'b' })])))
    const others = ids(
      await loadPlugin(hooksFile(messages.map((text) => command('x', { statusMessage: text })))),
    )
    expect(new Set([one, ...others]).size).toBe(4)
  })

  it('is unique if the same hook stands twice', async () => {
    const [one, two, three] = ids(await loadPlugin(hooksFile([command(), command(), command()])))
    expect(two).toBe(`${one}~2`)
    expect(three).toBe(`${one}~3`)
  })
})

describe('the name', () => {
  it('counts the handlers of an event, those that were left out too', async () => {
    const config = await loadPlugin({
      hooks: {
        PreToolUse: [{ hooks: [command('a'), { type: 'zzz' }] }, { hooks: [command('b')] }],
        Stop: [{ hooks: [command('c')] }],
      },
    })
    expect(namesOf(config)).toEqual(['guard:PreToolUse#1', 'guard:PreToolUse#3', 'guard:Stop#1'])
    expect(only(config).text).toMatch(/^guard:PreToolUse#2 was left out/)
  })

  it('of root files and settings is that of the scope, counted on', async () => {
    const config = await load({
      'home/.amplifier/hooks/hooks.json': hooksFile([command('a')]),
      'home/.amplifier/settings.json': hooksFile([command('b')]),
      'project/.amplifier/settings.json': hooksFile([command('c')]),
    })
    expect(namesOf(config)).toEqual(['user:PreToolUse#1', 'user:PreToolUse#2', 'project:PreToolUse#1'])
  })

  it('is unique where user and project have a plugin of one name', async () => {
    const config = await load({
      'home/.amplifier/hooks/p/hooks.json': hooksFile(),
      'project/.amplifier/hooks/p/hooks.json': hooksFile(),
    })
    expect(namesOf(config)).toEqual(['p:PreToolUse#1', 'p:PreToolUse#1~2'])
    expect(new Set(ids(config)).size).toBe(2)
  })
})

describe('the origin', () => {
  const text =
    '{\n  "hooks": { "Stop": [{ "hooks": [\n    {"type": "command", "command": "a"},\n    {"type": "command", "command": "b"}\n  ] }] }\n}'

  it('has file and line, which copies of it have as well', async () => {
    const root = tree({ 'project/.amplifier/hooks/p/hooks.json': text })
    const { specs } = await loadConfig(sourcesIn(root))
    const file = join(root, 'project/.amplifier/hooks/p/hooks.json')
    const [a, b] = specs.map(({ hook }) => hook.origin)
    expect(a).toMatchObject({ scope: 'project', source: 'p', file, line: 3 })
    expect({ ...b }).toMatchObject({ scope: 'project', source: 'p', file, line: 4 })
    expect(JSON.parse(JSON.stringify(b))).toEqual({ ...b })
  })

  it('looks for the line when it is asked, not before', async () => {
    const { specs } = await loadPlugin(text)
    const line = Object.getOwnPropertyDescriptor(first({ specs } as LoadedConfig).hook.origin, 'line')
    expect(line).toMatchObject({ enumerable: true, get: expect.any(Function) })
  })
})

describe('the matcher', () => {
  const matches = async (matcher: unknown, value: string, more: object = {}, event = 'PreToolUse') =>
    first(await loadPlugin({ ...more, ...hooksFile([command()], { matcher }, event) })).hook.matcher?.test(
      value,
    ) ?? 'all'

  it.each([
    ['Edit|Write', 'Write', true],
    ['Edit|Write', 'MultiEdit', false],
    ['(Write|Edit)', 'MultiEdit', true],
    ['', 'X', 'all'],
    ['*', 'X', 'all'],
    [{ tool_name: 'Write|Edit' }, 'Edit', true],
    [{ tool_name: 'Write|Edit' }, 'MultiEdit', false],
    [{}, 'X', 'all'],
  ])('%j on %s: %s', async (matcher, value, expected) => {
    expect(await matches(matcher, value)).toBe(expected)
  })

  it('wants the whole value where the file says "matching": "fullmatch"', async () => {
    expect(await matches('Note.*', 'MyNote', { matching: 'fullmatch' })).toBe(false)
    expect(await matches('Note.*', 'Notebook', { matching: 'fullmatch' })).toBe(true)
    expect(await matches('Note.*', 'MyNote')).toBe(true)
  })

  it('of one file does not depend on what another says about matching', async () => {
    const file = hooksFile([command()], { matcher: 'Note.*' })
    const { specs } = await load({
      'project/.amplifier/hooks/a/hooks.json': file,
      'project/.amplifier/hooks/b/hooks.json': { matching: 'fullmatch', ...file },
      'project/.amplifier/hooks/c/hooks.json': file,
    })
    expect(specs.map(({ hook }) => hook.matcher?.test('MyNote'))).toEqual([true, false, true])
  })

  it('"matching" of another word is said, and search is in force', async () => {
    const config = await loadPlugin({ matching: 'exact', ...hooksFile([command()], { matcher: 'N.*' }) })
    expect(only(config).code).toBe('setting-invalid')
    expect(first(config).hook.matcher?.test('xNy')).toBe(true)
  })

  it('of FileChanged and StopFailure splits on | alone', async () => {
    expect(await matches('a.b|c', 'c', {}, 'FileChanged')).toBe(true)
    expect(await matches('rate_limit,overloaded', 'overloaded', {}, 'StopFailure')).toBe(false)
    expect(await matches('Write,Edit', 'Edit')).toBe(true)
  })

  it('that is no valid pattern is compared as it stands, and said with its line', async () => {
    const config = await loadPlugin(
      '{"hooks": {"PreToolUse": [{\n"matcher": "Bash[",\n"hooks": [{"type": "command", "command": "x"}]}]}}',
    )
    const { matcher } = first(config).hook
    expect([matcher?.test('Bash['), matcher?.test('Bash')]).toEqual([true, false])
    expect(only(config)).toMatchObject({ code: 'matcher-invalid', line: 2 })
  })

  it.each([
    [{ tools: ['Write'] }],
    [{ tool_name: 7 }],
    [{ tool_name: 'x', more: 1 }],
    [null],
    [true],
    [7],
    [['Write']],
  ])('that is %j drops its group, loudly, and nothing else', async (matcher) => {
    const config = await loadPlugin({
      hooks: { PreToolUse: [{ matcher, hooks: [command('a')] }, { hooks: [command('b')] }] },
    })
    expect(commandsOf(config)).toEqual(['b'])
    expect(only(config)).toMatchObject({
      code: 'entry-invalid',
      text: expect.stringContaining('matcher must be'),
    })
  })

  it('that cannot run in linear time matches everything, and is said', async () => {
    const config = await loadPlugin(hooksFile([command()], { matcher: '^(a+)+\\1$' }))
    expect(first(config).hook.matcher?.test('anything')).toBe(true)
    expect(only(config).code).toBe('matcher-unsafe')
  })

  it.each([
    'Bash(git commit*)',
    'Write(docs/prds/**)',
    'tool == "Bash" && x',
    'tools:Write AND file_paths:**/*.py',
  ])('%s, which no tool’s name can match, is said aloud', async (matcher) => {
    const config = await loadPlugin(hooksFile([command()], { matcher }))
    expect(config.specs).toHaveLength(1)
    expect(codesOf(config)).toContain('matcher-invalid')
  })

  it.each(['mcp__.*', 'mcp__(a|b)__write', '^Bash$', 'Notebook.*', 'Write|Edit.*', '[ /]x', '.*'])(
    '%s is an honest pattern: nothing is said',
    async (matcher) => {
      expect((await loadPlugin(hooksFile([command()], { matcher }))).diagnostics).toEqual([])
    },
  )
})

describe('the time-out', () => {
  const timeout = async (value: unknown, settings: object = {}) => {
    const config = await load({
      'home/.amplifier/settings.json': { hooks: settings },
      'project/.amplifier/hooks/p/hooks.json': hooksFile([
        command('x', value === undefined ? {} : { timeout: value }),
      ]),
    })
    return { seconds: first(config).hook.timeoutMs / 1000, config }
  }

  it('is in seconds, and may be a fraction', async () => {
    expect((await timeout(0.5)).seconds).toBe(0.5)
    expect((await timeout(120)).seconds).toBe(120)
  })

  it('is default_timeout if none is given', async () => {
    expect((await timeout(undefined)).seconds).toBe(30)
    expect((await timeout(undefined, { default_timeout: 5 })).seconds).toBe(5)
  })

  it('is lowered to max_timeout, and said', async () => {
    const { seconds, config } = await timeout(301)
    expect(seconds).toBe(300)
    expect(only(config)).toMatchObject({ code: 'timeout-clamped', line: 9 })
    expect(only(config).text).not.toContain('milliseconds')
  })

  it('from 1000 on looks like milliseconds, and the diagnostic says so', async () => {
    const { seconds, config } = await timeout(5000)
    expect(seconds).toBe(300)
    expect(only(config).text).toContain('looks like milliseconds')
  })

  it('may be longer where max_timeout says so', async () => {
    const { seconds, config } = await timeout(900, { max_timeout: 1000 })
    expect(seconds).toBe(900)
    expect(config.diagnostics).toEqual([])
  })

  it('of each type has its default', async () => {
    const config = await loadPlugin(
      hooksFile([
        command(),
        { type: 'prompt', prompt: 'x' },
        { type: 'http', url: 'http://localhost/' },
        { type: 'mcp_tool', server: 's', tool: 't' },
        { type: 'agent', prompt: 'x' },
      ]),
    )
    expect(config.specs.map(({ hook }) => hook.timeoutMs / 1000)).toEqual([30, 30, 30, 30, 60])
  })
})

describe('types', () => {
  it('each has its own fields', async () => {
    const config = await loadPlugin(
      hooksFile([
        command('node', {
          args: [`\${CLAUDE_PLUGIN_ROOT}/x.mjs`, ''],
          shell: 'bash',
          envPassthrough: ['TOKEN'],
          statusMessage: 'checking',
          onFailure: 'block',
        }),
        { type: 'http', url: 'https://x.test/y', headers: { A: '$B' }, allowedEnvVars: ['B'], timeout: 2 },
        { type: 'prompt', prompt: 'ok? $ARGUMENTS', model: 'm', continueOnBlock: true },
        { type: 'agent', prompt: 'verify', model: 'm' },
        { type: 'mcp_tool', server: 's', tool: 't', input: { a: [`\${tool_name}`] } },
      ]),
    )
    expect(config.diagnostics).toEqual([])
    expect(config.specs.map(({ type, handler }) => ({ type, handler }))).toEqual([
      {
        type: 'command',
        handler: {
          command: 'node',
          args: [`\${CLAUDE_PLUGIN_ROOT}/x.mjs`, ''],
          shell: 'bash',
          envPassthrough: ['TOKEN'],
          statusMessage: 'checking',
        },
      },
      { type: 'http', handler: { url: 'https://x.test/y', headers: { A: '$B' }, allowedEnvVars: ['B'] } },
      { type: 'prompt', handler: { prompt: 'ok? $ARGUMENTS', model: 'm', continueOnBlock: true } },
      { type: 'agent', handler: { prompt: 'verify', model: 'm' } },
      { type: 'mcp_tool', handler: { server: 's', tool: 't', input: { a: [`\${tool_name}`] } } },
    ])
    expect(config.specs.map(({ hook }) => hook.onFailure)).toEqual(['block', ...Array(4).fill('continue')])
  })

  it.each([
    [{ type: 'command' }, 'needs "command"'],
    [{ type: 'command', command: '' }, '"command" must be a non-empty string'],
    [{ type: 'command', command: '  \n' }, '"command" must be'],
    [{ type: 'command', command: 7 }, '"command" must be'],
    [{ type: 'command', command: 'a\0b' }, '"command" must be'],
    [command('x', { args: 'a b' }), '"args" must be a list of strings, got "a b"'],
    [command('x', { args: [1] }), '"args" must be'],
    [command('x', { args: ['a\0b'] }), '"args" must be'],
    [command('x', { shell: 'fish' }), '"shell" must be "bash" or "sh" or "powershell", got "fish"'],
    [command('x', { timeout: '30' }), '"timeout" must be a number of seconds above 0, got "30"'],
    [command('x', { timeout: 0 }), '"timeout" must be'],
    [command('x', { timeout: -1 }), '"timeout" must be'],
    [command('x', { timeout: null }), '"timeout" must be'],
    [command('x', { if: ['Bash'] }), '"if" must be a string'],
    [command('x', { async: 'yes' }), '"async" must be true or false'],
    [command('x', { once: 'yes' }), '"once" must be true or false'],
    [{ type: 'http', url: 'not a url' }, '"url" must be a URL'],
    [{ type: 'http', url: 'file:///etc/passwd' }, '"url" must be a URL'],
    [{ type: 'http', url: 'http://x/', headers: { a: 1 } }, '"headers" must be'],
    [{ type: 'prompt' }, 'needs "prompt"'],
    [{ type: 'mcp_tool', command: 'ghost-server/some-tool' }, 'needs "server"'],
    [{ type: 'mcp_tool', server: 's', tool: 't', input: [] }, '"input" must be an object'],
    [{ type: 'info', message: 'x' }, '"info" is not a hook type'],
    [{ type: 'suggest' }, '"suggest" is not a hook type; the types are'],
    [{ type: 'promt', prompt: 'x' }, '"promt" is not a hook type; did you mean prompt?'],
    [{ type: 'constructor' }, '"constructor" is not a hook type'],
    [{ type: 7, command: 'x' }, '7 is not a hook type'],
    [{ command: 'x' }, 'it has no "type"'],
    ['./x.sh', 'a handler must be an object'],
    [null, 'a handler must be an object'],
    [[command()], 'a handler must be an object'],
  ])('%j is left out with the reason, its neighbours are not', async (handler, reason) => {
    const config = await loadPlugin(hooksFile([command('before'), handler, command('after')]))
    expect(commandsOf(config)).toEqual(['before', 'after'])
    const diagnostic = only(config)
    expect(diagnostic).toMatchObject({
      code: 'entry-invalid',
      file: expect.any(String),
      line: expect.any(Number),
    })
    expect(diagnostic.text).toContain('guard:PreToolUse#2 was left out')
    expect(diagnostic.text).toContain(reason)
  })

  it.each(['deny', 'Block', 'closed', true, null])(
    'onFailure %j is said, and the hook stays and fails closed',
    async (onFailure) => {
      const config = await loadPlugin(hooksFile([command('x', { onFailure })]))
      expect(config.specs.map(({ hook }) => [hook.name, hook.onFailure])).toEqual([
        ['guard:PreToolUse#1', 'block'],
      ])
      expect(only(config)).toMatchObject({
        code: 'entry-invalid',
        line: 9,
        text: `guard:PreToolUse#1: "onFailure" must be "block" or "continue", got ${JSON.stringify(onFailure)}; "block" is in force`,
      })
    },
  )

  it.each(['Shadow', 'strict', true, null])(
    'mode %j is said, and the hook stays and counts',
    async (mode) => {
      const config = await loadPlugin(hooksFile([command('x', { mode })]))
      expect(config.specs.map(({ hook }) => [hook.name, hook.mode])).toEqual([
        ['guard:PreToolUse#1', 'enforce'],
      ])
      expect(only(config)).toMatchObject({
        code: 'entry-invalid',
        text: `guard:PreToolUse#1: "mode" must be "enforce" or "shadow", got ${JSON.stringify(mode)}; "enforce" is in force`,
      })
    },
  )

  it('an input without end is left out, its neighbours are not', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const config = await loadPlugin(
      `{"hooks": {"Stop": [{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": ${deep}}}, {"type": "command", "command": "x"}]}]}}`,
    )
    expect(commandsOf(config)).toEqual(['x'])
    expect(only(config)).toMatchObject({ code: 'entry-invalid', line: 1 })
  })
})

describe('lanes', () => {
  it('are one for each hook, or one for a sequential group', async () => {
    const config = await loadPlugin({
      hooks: {
        Stop: [
          { hooks: [command('a'), command('b')] },
          { sequential: true, hooks: [command('c'), command('d')] },
          { sequential: true, hooks: [command('e')] },
        ],
      },
    })
    const lanes = config.specs.map(({ hook }) => hook.lane)
    expect(new Set(lanes).size).toBe(4)
    expect(lanes[2]).toBe(lanes[3])
    expect(config.diagnostics).toEqual([])
  })

  it('are lanes of one step in the plan', async () => {
    const config = await loadPlugin({
      hooks: { Stop: [{ sequential: true, hooks: [command('c'), command('d')] }, { hooks: [command('e')] }] },
    })
    const hooks = config.specs.map(({ hook }): Hook => ({ ...hook, run: () => undefined }))
    const event = { name: 'Stop', data: {}, session: undefined }
    const plan = planOf(resolveEvent('Stop'), event, new HookSet([hooks]), undefined)
    expect(plan.steps).toEqual([
      { priority: 20, lanes: [['guard:Stop#1', 'guard:Stop#2'], ['guard:Stop#3']] },
    ])
  })

  it('"sequential" of another kind is ignored, and said', async () => {
    const config = await loadPlugin(hooksFile([command('a'), command('b')], { sequential: 'yes' }))
    expect(new Set(config.specs.map(({ hook }) => hook.lane)).size).toBe(2)
    expect(only(config)).toMatchObject({
      code: 'unknown-key',
      text: expect.stringContaining('true or false'),
    })
  })
})

describe('a key of a hook', () => {
  it.each([
    ['on_failure', '"on_failure" is not a key of a hook and is ignored: did you mean "onFailure"?'],
    ['async-rewake', '"async-rewake" is not a key of a hook and is ignored: did you mean "asyncRewake"?'],
    ['blocking', '"blocking" is not a key of a hook and is ignored: a command blocks with exit code 2'],
    ['timeout_ms', '"timeout_ms" is not a key of a hook and is ignored: write "timeout", in seconds'],
    ['onFailur', '"onFailur" is not a key of a hook and is ignored: did you mean "onFailure"?'],
    ['statusMesage', '"statusMesage" is not a key of a hook and is ignored: did you mean "statusMessage"?'],
  ])('%s is told, with what was meant', async (key, text) => {
    const config = await loadPlugin(hooksFile([{ ...command('a'), [key]: 'block' }]))
    expect(only(config)).toMatchObject({ code: 'unknown-key', text })
  })
})

describe('priority', () => {
  it('is the plugin’s', async () => {
    expect(first(await loadPlugin({ priority: -5, ...hooksFile() })).hook.priority).toBe(-5)
  })

  it('of another kind is ignored, and said', async () => {
    const config = await loadPlugin({ priority: 'high', ...hooksFile() })
    expect(first(config).hook.priority).toBe(20)
    expect(only(config).code).toBe('setting-invalid')
  })

  it('of a root file is ignored, and said', async () => {
    const config = await loadRoot({ priority: 1, ...hooksFile() })
    expect(first(config).hook.priority).toBe(20)
    expect(only(config).code).toBe('unknown-key')
  })
})

describe('async', () => {
  it.each([
    [{ async: true }, true],
    [{ asyncRewake: true }, true],
    [{ async: false }, false],
    [{}, false],
  ])('%j: detached %s', async (more, detached) => {
    expect(first(await loadPlugin(hooksFile([command('x', more)]))).hook.detached).toBe(detached)
  })
})

describe('once', () => {
  it('has no effect, and that is said', async () => {
    for (const config of [
      await loadRoot(hooksFile([command('x', { once: true })])),
      await loadPlugin(hooksFile([command('x', { once: true })])),
    ]) {
      expect(first(config).hook.once).toBe(false)
      expect(only(config)).toMatchObject({ code: 'unknown-key', text: expect.stringContaining('"once"') })
    }
  })

  it('that is false needs no word', async () => {
    expect((await loadRoot(hooksFile([command('x', { once: false })]))).diagnostics).toEqual([])
  })
})

describe('G7: a matcher that takes nothing', () => {
  it.each([
    ['PreToolUse', 'bash', 'did you mean Bash? Case matters'],
    ['PreToolUse', 'Bsah', 'did you mean Bash?'],
    ['PreToolUse', '^(write|edit)$', 'case matters, and the name is Write'],
    ['PreToolUse', 'mcp__files', 'that server’s tools are called mcp__files__…'],
    ['SessionStart', 'Bash', 'matches no known source'],
    ['SessionStart', 'Startup', 'did you mean startup?'],
    ['PreCompact', '^Nothing$', 'matches no known trigger'],
  ])('is told when the file is read: %s %s', async (event, matcher, text) => {
    const config = await loadPlugin(hooksFile([command()], { matcher }, event))
    expect(only(config)).toMatchObject({ code: 'matcher-never', text: expect.stringContaining(text) })
    expect(only(config)).toMatchObject({ file: expect.any(String), line: expect.any(Number) })
  })

  it.each([
    ['PreToolUse', 'Bash|bash'],
    ['PreToolUse', 'my_own_tool'],
    ['PreToolUse', '^my_'],
    ['PreToolUse', 'mcp__files__.*'],
    ['PreToolUse', '*'],
    ['Stop', 'Bash'],
    ['my:event', 'bash'],
  ])('may be fine: %s %s', async (event, matcher) => {
    const { diagnostics } = await loadPlugin(hooksFile([command()], { matcher }, event))
    expect(diagnostics.filter(({ code }) => code === 'matcher-never')).toEqual([])
  })
})

describe('duplicates', () => {
  const same = async (...handlers: object[]) => {
    const { specs } = await loadPlugin(hooksFile(handlers))
    return new Set(specs.map(({ hook }) => hook.sameAs)).size === 1
  }

  it('are the same by command, args and if', async () => {
    expect(await same(command('x'), command('x', { statusMessage: 'y' }))).toBe(true)
    expect(await same(command('x'), command('x', { args: [] }))).toBe(false)
    expect(await same(command('x', { args: ['a', 'b'] }), command('x', { args: ['a b'] }))).toBe(false)
    expect(await same(command('x'), command('x', { if: 'Bash(rm *)' }))).toBe(false)
    expect(await same(command('x'), command('x', { if: '' }))).toBe(true)
    expect(await same(command('A=1 x'), command('A=2 x'))).toBe(false)
  })

  it('do not hide a gate behind one that decides nothing or fails open', async () => {
    expect(await same(command('x', { async: true }), command('x'))).toBe(false)
    expect(await same(command('x'), command('x', { onFailure: 'block' }))).toBe(false)
  })

  it('G9: do not hide a gate behind one with another time-out, shell or environment', async () => {
    expect(await same(command('x', { timeout: 1 }), command('x'))).toBe(false)
    expect(await same(command('x', { timeout: 30 }), command('x'))).toBe(true)
    expect(await same(command('x', { shell: 'bash' }), command('x'))).toBe(false)
    expect(await same(command('x', { shell: 'sh' }), command('x'))).toBe(true)
    expect(await same(command('x'), command('x', { envPassthrough: ['TOKEN'] }))).toBe(false)
  })

  it('G9: do not hide a gate whose settings give it more time', async () => {
    const { specs } = await load({
      'home/.amplifier/hooks/hooks.json': hooksFile(),
      'project/.amplifier/hooks/hooks.json': hooksFile(),
      'project/.amplifier/settings.json': { hooks: { default_timeout: 1 } },
    })
    expect(specs.map(({ hook }) => hook.timeoutMs)).toEqual([30_000, 1000])
    expect(new Set(specs.map(({ hook }) => hook.sameAs)).size).toBe(2)
  })

  it('of other types are the same by their content', async () => {
    const prompt = { type: 'prompt', prompt: 'a' }
    expect(await same(prompt, { ...prompt, statusMessage: 'y' })).toBe(false)
    expect(await same(prompt, { ...prompt, timeout: 3 })).toBe(false)
    expect(await same({ type: 'prompt', prompt: 'a' }, { type: 'prompt', prompt: 'b' })).toBe(false)
    expect(await same({ type: 'prompt', prompt: 'a' }, { type: 'agent', prompt: 'a' })).toBe(false)
  })

  it('count within one source: all settings and root files together, each plugin alone', async () => {
    const root = tree({
      'home/.amplifier/hooks/hooks.json': hooksFile(),
      'home/.amplifier/settings.json': hooksFile(),
      'project/.amplifier/hooks/hooks.json': hooksFile(),
      'project/.amplifier/settings.json': hooksFile(),
      'project/.amplifier/hooks/p/hooks.json': hooksFile(),
      'project/.amplifier/hooks/q/hooks.json': hooksFile(),
      'home/.amplifier/hooks/p/hooks.json': hooksFile(),
      'x.json': hooksFile(),
    })
    const { specs } = await loadConfig(sourcesIn(root, { files: [join(root, 'x.json')] }))
    expect(specs).toHaveLength(8)
    expect(new Set(specs.map(({ hook }) => hook.sameAs)).size).toBe(4)
  })

  it('are not the same if they name a folder that is another for each file', async () => {
    const file = hooksFile([command('"$AMPLIFIER_HOOKS_DIR/check.sh"')])
    const { specs } = await load({
      'home/.amplifier/hooks/hooks.json': file,
      'project/.amplifier/hooks/hooks.json': file,
      'project/.amplifier/settings.json': file,
    })
    expect(new Set(specs.map(({ hook }) => hook.sameAs)).size).toBe(2)
  })
})

describe('keys that are not part of the format', () => {
  it('of a group are said once for each kind in a file, with what to do', async () => {
    const group = { async: true, if: 'Bash', enabled: false, id: 7, hooks: [command()] }
    const config = await loadPlugin({ hooks: { PreToolUse: [group, group] } })
    expect(config.specs).toHaveLength(2)
    expect(config.diagnostics.map(({ code, text }) => [code, text])).toEqual([
      [
        'unknown-key',
        '"async" is not a key of a group and is ignored: it belongs on the handler, inside "hooks"',
      ],
      [
        'unknown-key',
        '"if" is not a key of a group and is ignored: it belongs on the handler, inside "hooks"',
      ],
      ['unknown-key', '"enabled" is not a key of a group and is ignored: remove the entry to disable it'],
      ['unknown-key', '"id" is not a key of a group and is ignored'],
    ])
  })

  it('of a handler are said once for each kind in a file, with what to do', async () => {
    const handler = command('x', {
      enabled: false,
      timeoutSec: 5,
      matcher: 'Bash',
      prompt: 'y',
      constructor: 1,
    })
    const config = await loadPlugin(hooksFile([handler, handler]))
    expect(config.specs).toHaveLength(2)
    expect(config.diagnostics.map(({ text }) => text)).toEqual([
      '"enabled" is not a key of a hook and is ignored: remove the entry to disable it',
      '"timeoutSec" is not a key of a hook and is ignored: write "timeout", in seconds',
      '"matcher" is not a key of a hook and is ignored: it belongs on the group',
      '"prompt" has no effect on a hook of type command',
      '"constructor" is not a key of a hook and is ignored',
    ])
  })

  it('that are remarks need no word', async () => {
    const remarks = { description: 'x', name: 'x', $schema: 'x', '// why': 'x', _comment: 'x', comment: 'x' }
    const config = await loadPlugin({
      ...remarks,
      hooks: { ...remarks, Stop: [{ ...remarks, statusMessage: 'x', hooks: [command('x', remarks)] }] },
    })
    expect(config.specs).toHaveLength(1)
    expect(config.diagnostics).toEqual([])
  })

  it('"enabled" of a file is said', async () => {
    const config = await loadPlugin({ enabled: false, ...hooksFile() })
    expect(config.specs).toHaveLength(1)
    expect(only(config)).toMatchObject({ code: 'unknown-key', text: expect.stringContaining('"enabled"') })
  })
})
