// A whole plugin is moved: Claude Code's unchanged, Carabiner's in Claude Code's layout.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as they stand in files

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { type MoveOptions, placeMove, planMove } from '../../../src/plugins/migrate/plugin-move.js'
import { PluginProblem } from '../../../src/plugins/plugin-problem.js'
import { command, hooksFile, tree } from '../../config/temp-tree.js'
import { withOwnHome } from './own-home.js'

withOwnHome()

const MANIFEST = '.claude-plugin/plugin.json'

function move(root: string, more: Partial<MoveOptions> = {}) {
  const into = join(root, 'project/.amplifier/hooks')
  return planMove({ direction: 'carabiner', from: join(root, 'plugin'), into, name: undefined, ...more })
}

const commandsIn = async (sources: Parameters<typeof loadConfig>[0]) =>
  (await loadConfig(sources)).specs.map(({ hook, handler }) => [
    [...hook.events].join(),
    hook.origin.source,
    handler,
  ])

/** Independent of file and order. */
const whatRuns = (specs: Awaited<ReturnType<typeof loadConfig>>['specs']) =>
  specs.map(({ hook, handler }) => JSON.stringify([[...hook.events], handler])).sort()

const CLAUDE = {
  [`plugin/${MANIFEST}`]: { name: 'my-guard', hooks: './more.json' },
  'plugin/more.json': hooksFile([command('${CLAUDE_PLUGIN_ROOT}/b.sh')], {}, 'Stop'),
  'plugin/hooks/hooks.json': hooksFile([command('${CLAUDE_PLUGIN_ROOT}/a.sh')]),
  'plugin/a.sh': '#!/bin/sh\n',
}

describe('to Carabiner', () => {
  it('is the same folder, and the same hooks', async () => {
    const root = tree(CLAUDE)
    chmodSync(join(root, 'plugin/a.sh'), 0o755)
    const plan = move(root)
    expect([plan.name, plan.isThere, plan.left]).toEqual(['my-guard', false, []])
    expect(plan.hooks).toEqual(['Stop: ${CLAUDE_PLUGIN_ROOT}/b.sh', 'PreToolUse: ${CLAUDE_PLUGIN_ROOT}/a.sh'])
    expect(existsSync(plan.to)).toBe(false)
    await placeMove(plan)
    expect(statSync(join(plan.to, 'a.sh')).mode & 0o111).toBe(0o111)
    expect(await commandsIn({ projectDir: join(root, 'project') })).toEqual(
      await commandsIn({ plugins: [join(root, 'plugin')] }),
    )
    expect(readdirSync(join(plan.to, '..'))).toEqual(['my-guard'])
    expect(move(root).isThere).toBe(true)
  })

  it('leaves a hooks.json of another agent, which would count here', async () => {
    const root = tree({ ...CLAUDE, 'plugin/hooks.json': hooksFile([command('other')]) })
    const plan = move(root)
    expect(plan.left.map(({ what }) => what)).toEqual(['hooks.json'])
    await placeMove(plan)
    expect(await commandsIn({ projectDir: join(root, 'project') })).toEqual(
      await commandsIn({ plugins: [join(root, 'plugin')] }),
    )
  })

  it('takes one with hooks.json alone, and a name that is given', () => {
    const root = tree({ 'plugin/hooks.json': hooksFile() })
    expect(move(root).name).toBe('plugin')
    expect(move(root, { name: 'other' }).to).toMatch(/hooks\/other$/)
  })

  it.each<[string, object, Partial<MoveOptions>, string]>([
    ['nothing', {}, {}, 'SOURCE_NOT_FOUND'],
    ['no hooks', { 'plugin/README.md': 'x' }, {}, 'NO_HOOKS'],
    [
      'another in its place',
      { ...CLAUDE, 'project/.amplifier/hooks/my-guard/x': '' },
      {},
      'ALREADY_INSTALLED',
    ],
    ['a name that leads out', { ...CLAUDE, [`plugin/${MANIFEST}`]: { name: '../x' } }, {}, 'NAME_INVALID'],
    ['a given name that leads out', CLAUDE, { name: '../x' }, 'NAME_INVALID'],
  ])('refuses %s', (_, files, more, code) => {
    const root = tree(files as Parameters<typeof tree>[0])
    expect(() => move(root, more)).toThrow(expect.objectContaining({ code }))
  })

  it('refuses links', () => {
    const root = tree(CLAUDE)
    symlinkSync('/etc/passwd', join(root, 'plugin/passwd'))
    expect(() => move(root)).toThrow(PluginProblem)
  })

  it('refuses a place that leads out of the project', () => {
    const root = tree(CLAUDE)
    const elsewhere = tree({ 'hooks/x': '' })
    mkdirSync(join(root, 'project'))
    symlinkSync(elsewhere, join(root, 'project/.amplifier'))
    expect(() => move(root, { within: join(root, 'project') })).toThrow('which is outside')
  })

  it('leaves nothing behind if it cannot be written', async () => {
    const root = tree({ ...CLAUDE, 'project/.amplifier/hooks/x': '' })
    const hooks = join(root, 'project/.amplifier/hooks')
    const plan = move(root)
    await expect(placeMove({ ...plan, to: join(hooks, 'x/y') })).rejects.toThrow('Cannot create')
    await expect(placeMove({ ...plan, name: 'no/folder' })).rejects.toThrow(/Cannot write .*no\/folder/)
    expect(readdirSync(hooks)).toEqual(['x'])
  })

  it('does not replace a plugin that arrived in the meantime', async () => {
    const root = tree(CLAUDE)
    const plan = move(root)
    await placeMove({ ...plan, tree: move(root, { name: 'other' }).tree })
    await expect(placeMove(plan)).rejects.toThrow('my-guard already exists')
    expect(readdirSync(join(plan.to, '..'))).toEqual(['my-guard'])
  })
})

describe('to Claude Code', () => {
  const OURS = {
    'project/.amplifier/hooks/guard/hooks.json': {
      description: 'Guards',
      priority: 5,
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [command('"$AMPLIFIER_HOOKS_DIR/guard/a.sh"', { timeout: 5 })] },
        ],
        ModelRequest: [{ hooks: [command('never')] }],
      },
    },
    'project/.amplifier/hooks/guard/a.sh': '#!/bin/sh\n',
  }
  const out = (root: string) =>
    move(root, {
      direction: 'claude-code',
      from: join(root, 'project/.amplifier/hooks/guard'),
      into: join(root, 'out'),
    })

  it('has Claude Code’s layout and what Claude Code can run', async () => {
    const root = tree(OURS)
    const plan = out(root)
    await placeMove(plan)
    expect([...plan.tree.files.keys()].sort()).toEqual([MANIFEST, 'a.sh', 'hooks/hooks.json'])
    expect(JSON.parse(readFileSync(join(plan.to, MANIFEST), 'utf8'))).toEqual({
      name: 'guard',
      description: 'Guards',
    })
    expect(JSON.parse(readFileSync(join(plan.to, 'hooks/hooks.json'), 'utf8'))).toEqual({
      description: 'Guards',
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [command('"${CLAUDE_PLUGIN_ROOT}/../guard/a.sh"', { timeout: 5 })] },
        ],
      },
    })
    expect(plan.left.map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'ModelRequest: never: Claude Code has no such event',
      '"priority": Claude Code runs all hooks of an event at once',
    ])
    expect(out(root).isThere).toBe(true)
  })

  it('comes back as the same hooks', async () => {
    const root = tree(OURS)
    await placeMove(out(root))
    const back = tree({})
    await placeMove(
      planMove({
        direction: 'carabiner',
        from: join(root, 'out/guard'),
        into: join(back, '.amplifier/hooks'),
        name: undefined,
      }),
    )
    expect((await commandsIn({ projectDir: back })).map(([event, source]) => [event, source])).toEqual([
      ['PreToolUse', 'guard'],
    ])
  })

  describe('what plugin.json says of hooks.json, which is not there any more', () => {
    const PLACE = 'project/.amplifier/hooks/guard'
    const HOOKS = hooksFile([command('"${CLAUDE_PLUGIN_ROOT}/a.sh"')])
    const MORE = hooksFile([command('"${CLAUDE_PLUGIN_ROOT}/b.sh"')], {}, 'Stop')
    const INLINE = { SessionStart: [{ hooks: [command('c')] }] }
    const named = (hooks: unknown) => ({ name: 'guard', version: '1.0.0', hooks })

    it.each<[string, unknown, unknown]>([
      ['a path', named('./hooks.json'), { name: 'guard', version: '1.0.0' }],
      ['a path by a detour', named('./hooks/../hooks.json'), { name: 'guard', version: '1.0.0' }],
      ['a list of it alone', named(['./hooks.json']), { name: 'guard', version: '1.0.0' }],
      ['a list', named(['./more.json', './hooks.json', INLINE]), named(['./more.json', INLINE])],
      ['another file', named('./more.json'), named('./more.json')],
      ['hooks themselves', named(INLINE), named(INLINE)],
      ['nothing but it, and no name', { hooks: './hooks.json' }, { name: 'guard' }],
      ['no name that is one', { name: 5 }, { name: 'guard' }],
    ])('%s', async (_, before, after) => {
      const root = tree({
        [`${PLACE}/${MANIFEST}`]: before as object,
        [`${PLACE}/hooks.json`]: HOOKS,
        [`${PLACE}/more.json`]: MORE,
      })
      const there = out(root)
      await placeMove(there)
      expect(JSON.parse(readFileSync(join(there.to, MANIFEST), 'utf8'))).toEqual(after)
      const inAmplifier = await loadConfig({ projectDir: join(root, 'project') })
      const inClaude = await loadConfig({ plugins: [there.to] })
      expect([inAmplifier.diagnostics, inClaude.diagnostics]).toEqual([[], []])
      const back = move(root, { from: there.to, into: join(root, 'back/.amplifier/hooks') })
      await placeMove(back)
      const inBack = await loadConfig({ projectDir: join(root, 'back') })
      for (const { specs } of [inClaude, inBack]) expect(whatRuns(specs)).toEqual(whatRuns(inAmplifier.specs))
      for (const { left, hooks } of [there, back]) {
        expect(left).toEqual([])
        expect(hooks).toHaveLength(inAmplifier.specs.length)
      }
    })

    it('is said as it was written, comments and all', () => {
      const text = '{\n  "name": "guard", // ours\n  "hooks": "./hooks.json"\n}\n'
      const { tree: files } = out(tree({ [`${PLACE}/${MANIFEST}`]: text, [`${PLACE}/hooks.json`]: HOOKS }))
      expect(files.text(MANIFEST)).toBe('{\n  "name": "guard" // ours\n}\n')
    })

    it('stays as it is if it cannot be understood, and the reason is reported', () => {
      const plan = out(tree({ [`${PLACE}/${MANIFEST}`]: '{ oops', [`${PLACE}/hooks.json`]: HOOKS }))
      expect(plan.tree.text(MANIFEST)).toBe('{ oops')
      expect(plan.left.map(({ code }) => code)).toEqual(['config-invalid'])
    })
  })

  it('moves unchanged if it already has that layout', () => {
    const root = tree(CLAUDE)
    const plan = move(root, { direction: 'claude-code', into: join(root, 'out') })
    expect([...plan.tree.files.keys()].sort()).toEqual([MANIFEST, 'a.sh', 'hooks/hooks.json', 'more.json'])
  })

  it('refuses one with both layouts', () => {
    const root = tree({ ...CLAUDE, 'plugin/hooks.json': hooksFile() })
    expect(() => move(root, { direction: 'claude-code' })).toThrow('has both hooks.json and hooks/hooks.json')
  })
})
