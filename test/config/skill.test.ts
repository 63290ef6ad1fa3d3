// The hooks of a skill as a document: whose they are, where they live, how they are named, under which settings they stand.

import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ConfigSources, loadConfig, loadSkills, skillDocument } from '../../src/config/load.js'
import type { Json } from '../../src/core/base/json.js'
import type { Skill } from '../../src/core/session/session-store.js'
import { command, hooksFile, sourcesIn, tree } from './temp-tree.js'

const HOOKS = hooksFile().hooks as unknown as Json

function skillIn(directory: string, more: Partial<Skill> = {}): Skill {
  return { name: 'mine', directory, hooks: HOOKS, ...more }
}

/** Loads skills below the files of a tree. */
async function load(skills: readonly Skill[], sources: ConfigSources) {
  return loadSkills(skills, sources, await loadConfig(sources))
}

describe('whose a skill is', () => {
  const scopeOf = (root: string, path: string, more: ConfigSources = {}) =>
    skillDocument(skillIn(join(root, path)), sourcesIn(root, more)).owner.scope

  function folders(...paths: readonly string[]): string {
    const root = tree()
    for (const path of ['home', 'project', ...paths]) mkdirSync(join(root, path), { recursive: true })
    return root
  }

  it.each([
    ['user', 'home/.claude/skills/mine'],
    ['user', 'home/.amplifier/skills/mine'],
    ['project', 'home/skills/mine'],
    ['project', 'home/.claudette/skills/mine'],
    ['project', 'project/.claude/skills/mine'],
    ['project', 'project/skills/mine'],
    ['project', 'elsewhere/.claude/skills/mine'],
    ['project', 'home/.claude/skills/../../../project/x'],
  ])('%s: one in %s', (scope, path) => {
    expect(scopeOf(folders(path), path)).toBe(scope)
  })

  it('the home folder itself is nobody’s skill', () => {
    const root = folders('home/.claude')
    expect(scopeOf(root, 'home/.claude')).toBe('project')
  })

  it('a project inside the user’s folder is still a project', () => {
    const root = folders('home/.claude/skills/project/mine')
    const projectDir = join(root, 'home/.claude/skills/project')
    expect(scopeOf(root, 'home/.claude/skills/project/mine', { projectDir })).toBe('project')
  })

  it('where the home folder is the project, the skills in it are the user’s', () => {
    const root = folders('home/.claude/skills/mine')
    expect(scopeOf(root, 'home/.claude/skills/mine', { projectDir: join(root, 'home') })).toBe('user')
  })

  it('a link from the user’s folder into the project makes it no skill of the user', () => {
    const root = folders('home/.claude/skills', 'project/mine')
    symlinkSync(join(root, 'project/mine'), join(root, 'home/.claude/skills/mine'))
    expect(scopeOf(root, 'home/.claude/skills/mine')).toBe('project')
  })

  it('a link of the user’s whole folder changes nothing', () => {
    const root = folders('dotfiles/skills/mine')
    symlinkSync(join(root, 'dotfiles'), join(root, 'home/.claude'))
    expect(scopeOf(root, 'home/.claude/skills/mine')).toBe('user')
  })

  it('without a home folder nothing is the user’s', () => {
    const root = folders('home/.claude/skills/mine')
    const { homeDir: _, ...sources } = sourcesIn(root)
    const { owner } = skillDocument(skillIn(join(root, 'home/.claude/skills/mine')), sources)
    expect(owner.scope).toBe('project')
  })
})

describe('the hooks of a skill', () => {
  it('live in its folder, and know the project', async () => {
    const root = tree()
    const { specs } = await load([skillIn('/skills/mine/./x/..')], sourcesIn(root))
    expect(specs.map(({ place }) => place)).toEqual([
      { projectDir: join(root, 'project'), hooksDir: '/skills/mine', skillDir: '/skills/mine' },
    ])
  })

  it('are named after it; two of one name are told apart', async () => {
    const skills = [skillIn('/a'), skillIn('/b', { name: 'mine\n' }), skillIn('/c', { name: '\u0007' })]
    const { specs } = await load(skills, sourcesIn(tree()))
    expect(specs.map(({ hook }) => hook.name)).toEqual([
      'skill mine:PreToolUse#1',
      'skill mine:PreToolUse#1~2',
      'skill:PreToolUse#1',
    ])
    expect(new Set(specs.map(({ hook }) => hook.id)).size).toBe(3)
  })

  it('keep their ids when they are read again, so that "once" and grants hold', async () => {
    const sources = sourcesIn(tree())
    const ids = async (skills: readonly Skill[]) =>
      (await load(skills, sources)).specs.map(({ hook }) => hook.id)
    const [first] = await ids([skillIn('/a')])
    expect((await ids([skillIn('/b', { name: 'other' }), skillIn('/a')])).at(-1)).toBe(first)
  })

  it('may say "once", which settings may not', async () => {
    const hooks = hooksFile([command('./x', { once: true })])
    const root = tree({ 'project/.amplifier/hooks/hooks.json': hooks })
    const config = await loadConfig(sourcesIn(root))
    const skills = await loadSkills(
      [skillIn('/a', { hooks: hooks.hooks as unknown as Json })],
      sourcesIn(root),
      config,
    )
    expect([config.specs[0]?.hook.once, skills.specs[0]?.hook.once]).toEqual([false, true])
    expect(skills.diagnostics).toEqual([])
  })

  it('of one skill that are the same run once; of two skills each runs', async () => {
    const twice = hooksFile([command(), command()]).hooks as unknown as Json
    const { specs } = await load(
      [skillIn('/a', { hooks: twice }), skillIn('/b', { name: 'b' })],
      sourcesIn(tree()),
    )
    const [one, again, other] = specs.map(({ hook }) => hook.sameAs)
    expect(again).toBe(one)
    expect(other).not.toBe(one)
  })

  it('stand under the settings of the files', async () => {
    const settings = { hooks: { default_timeout: 7, env: 'minimal' } }
    const root = tree({ 'home/.amplifier/settings.json': settings })
    const [spec] = (await load([skillIn('/a')], sourcesIn(root))).specs
    expect([spec?.hook.timeoutMs, spec?.env]).toEqual([7000, 'minimal'])
  })

  it('change no setting themselves', async () => {
    const hooks = { ...(HOOKS as object), disableAllHooks: true, default_timeout: 1 } as unknown as Json
    const { specs, diagnostics } = await load([skillIn('/a', { hooks })], sourcesIn(tree()))
    expect(specs.map(({ disabled, hook }) => [disabled, hook.timeoutMs])).toEqual([[undefined, 30_000]])
    expect(diagnostics.length).toBeGreaterThan(0)
  })

  it('that are malformed are told with the file of the skill, and take no neighbour down', async () => {
    const wrong = [
      { hooks: { PreToolUse: 7 } },
      { hooks: { PreToolUse: [{ hooks: [{ type: 'nonsense' }, command('good')] }] } },
      { hooks: { Nonsense: [{ hooks: [command()] }] } },
      { hooks: { PreToolUse: [null, [], 'x'] } },
    ]
    const skills = wrong.map(({ hooks }, i) =>
      skillIn(`/s${i}`, { name: `s${i}`, hooks: hooks as unknown as Json }),
    )
    const loaded = await load([...skills, skillIn('/good')], sourcesIn(tree()))
    expect(loaded.specs.map(({ hook }) => hook.name)).toEqual([
      'skill s1:PreToolUse#2',
      'skill mine:PreToolUse#1',
    ])
    const files = new Set(loaded.diagnostics.map(({ file }) => file))
    expect(files).toEqual(new Set(['/s0', '/s1', '/s2', '/s3'].map((path) => `${path}/SKILL.md`)))
    expect(new Set(loaded.diagnostics.map(({ code }) => code))).toEqual(
      new Set(['entry-invalid', 'unknown-event']),
    )
  })

  it.each([
    ['a list', []],
    ['a text', 'x'],
    ['nothing', null],
    ['a number', 1],
  ])('that are %s, as a store of another make may have it, break nothing', async (_what, hooks) => {
    const loaded = await load(
      [skillIn('/a', { hooks: hooks as Json }), skillIn('/good', { name: 'b' })],
      sourcesIn(tree()),
    )
    expect(loaded.specs).toHaveLength(1)
  })
})
