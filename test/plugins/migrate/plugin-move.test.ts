// A plugin, carried over whole: Claude Code's as it is, one of Carabiner's in Claude Code's layout.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as they stand in files

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { type MoveOptions, placeMove, planMove } from '../../../src/plugins/migrate/plugin-move.js'
import { PluginProblem } from '../../../src/plugins/plugin-problem.js'
import { command, hooksFile, tree } from '../../config/temp-tree.js'

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
    placeMove(plan)
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
    placeMove(plan)
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
    expect(() => move(root, { within: join(root, 'project') })).toThrow('out of')
  })

  it('leaves nothing behind where it cannot be written', () => {
    const root = tree({ ...CLAUDE, 'project/.amplifier/hooks/x': '' })
    const plan = move(root)
    expect(() => placeMove({ ...plan, to: join(root, 'project/.amplifier/hooks/x/y') })).toThrow(
      'cannot be written',
    )
    expect(readdirSync(join(root, 'project/.amplifier/hooks'))).toEqual(['x'])
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

  it('has Claude Code’s layout and what Claude Code can run', () => {
    const root = tree(OURS)
    const plan = out(root)
    placeMove(plan)
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
    placeMove(out(root))
    const back = tree({})
    placeMove(
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

  it('goes as it is where it has that layout', () => {
    const root = tree(CLAUDE)
    const plan = move(root, { direction: 'claude-code', into: join(root, 'out') })
    expect([...plan.tree.files.keys()].sort()).toEqual([MANIFEST, 'a.sh', 'hooks/hooks.json', 'more.json'])
  })

  it('refuses one with both layouts', () => {
    const root = tree({ ...CLAUDE, 'plugin/hooks.json': hooksFile() })
    expect(() => move(root, { direction: 'claude-code' })).toThrow('has hooks.json and hooks/hooks.json')
  })
})
