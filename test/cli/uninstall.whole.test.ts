// `carabiner uninstall`: what it leaves is what was there before.

import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { noteDown } from '../../src/plugins/work-folder.js'
import { treeOf } from '../plugins/plugin-sources.js'
import { BASH, Project, withProgram } from './program.js'

withProgram()
let project: Project
beforeEach(() => {
  project = new Project()
  const command = `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"`
  project.file('../guard/.claude-plugin/plugin.json', { name: 'Guard' })
  project.file('../guard/hooks/hooks.json', {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  })
  project.file(
    '../guard/guard.sh',
    '#!/bin/sh\nmkdir -p "$CLAUDE_PLUGIN_DATA" && echo x > "$CLAUDE_PLUGIN_DATA/seen"\nexit 2\n',
    0o755,
  )
})
afterEach(() => project.remove())

/** All that is kept, but for the record of what happened, which is not the plugin's. */
function kept(): Record<string, string> {
  const all = Object.entries({ ...treeOf(project.home), ...treeOf(project.folder) })
  return Object.fromEntries(all.filter(([path]) => !/carabiner\/(?:audit|calls|sessions)\//.test(path)))
}

describe('carabiner uninstall', () => {
  it.each([['--user'], ['--here']])('leaves nothing of what was installed with %s', async (scope) => {
    project.file('.amplifier/settings.json', {})
    mkdirSync(join(project.home, '.amplifier'))
    writeFileSync(join(project.home, '.amplifier', 'settings.json'), '{}')
    const before = kept()
    expect((await project.carabiner(['install', '../guard', scope, '--yes'])).code).toBe(0)
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
    const during = Object.keys(kept())
    expect(
      during.some(
        (path) =>
          path.endsWith('plugin-data/user/Guard/seen') || /plugin-data\/project-\w+\/Guard\/seen$/.test(path),
      ),
    ).toBe(true)
    expect(during.some((path) => path.includes('copies/'))).toBe(scope === '--here')
    const { code, stdout } = await project.carabiner(['uninstall', 'guard'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^uninstalled guard {2}/)])
    expect(kept()).toEqual(before)
  })

  it('what was interrupted while it was installed, install finishes', async () => {
    await project.call(['install', '../guard', '--user', '--yes'])
    vi.stubEnv('HOME', project.home)
    for (const name of ['CARABINER_HOME', 'XDG_STATE_HOME']) vi.stubEnv(name, undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const hooks = join(project.home, '.amplifier/hooks')
    const { path } = noteDown(hooks, 'staging', 'guard')
    mkdirSync(path)
    renameSync(join(hooks, 'guard'), join(path, 'guard'))
    expect((await project.call(['install', '../guard', '--user', '--yes'])).code).toBe(0)
    expect(readdirSync(hooks)).toEqual(['guard'])
  })

  it('finishes one that was interrupted', async () => {
    await project.call(['install', '../guard', '--user', '--yes'])
    vi.stubEnv('HOME', project.home)
    for (const name of ['CARABINER_HOME', 'XDG_STATE_HOME']) vi.stubEnv(name, undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const hooks = join(project.home, '.amplifier/hooks')
    const { path } = noteDown(hooks, 'gone', 'guard')
    mkdirSync(path)
    renameSync(join(hooks, 'guard'), join(path, 'guard'))
    const { code, stdout } = await project.call(['uninstall', 'guard'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^uninstalled guard {2}/)])
    expect(existsSync(join(project.home, '.amplifier'))).toBe(false)
    expect((await project.call(['uninstall', 'guard'])).code).toBe(1)
  })

  it('asks which, where there are two', async () => {
    await project.call(['install', '../guard', '--user', '--yes'])
    await project.call(['install', '../guard', '--here', '--yes'])
    const { code, stderr } = await project.call(['uninstall', 'guard'])
    expect([code, stderr]).toEqual([64, expect.stringContaining('--user or --here')])
    expect((await project.call(['uninstall', 'guard', '--here'])).code).toBe(0)
    expect(existsSync(join(project.home, '.amplifier/hooks/guard'))).toBe(true)
  })

  it('removes what cannot be fetched again only where somebody is sure', async () => {
    project.file('.amplifier/hooks/mine/hooks.json', { hooks: {} })
    const { code, stderr } = await project.call(['uninstall', 'mine'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('was not installed by Carabiner')])
    expect(project.has('.amplifier/hooks/mine/hooks.json')).toBe(true)
    expect((await project.onTerminal(['uninstall', 'mine'], { input: 'n\n' })).code).toBe(1)
    expect(project.has('.amplifier/hooks/mine/hooks.json')).toBe(true)
    expect((await project.call(['uninstall', 'mine', '--yes', '--json'])).stdout).toContain(
      '"uninstalled":[{"name":"mine"',
    )
    expect(project.has('.amplifier/hooks/mine')).toBe(false)
  })

  it('takes several names, and removes none where one cannot go', async () => {
    for (const name of ['one', 'two', 'three'])
      await project.call(['install', '../guard', '--yes', '--name', name, '--here'])
    writeFileSync(project.path('.amplifier/hooks/three/guard.sh'), 'mine')
    for (const others of [['nobody'], ['three'], ['../x']]) {
      expect((await project.call(['uninstall', 'one', ...others, 'two'])).code).toBe(1)
      expect(['one', 'two', 'three'].map((name) => project.has(`.amplifier/hooks/${name}`))).toEqual([
        true,
        true,
        true,
      ])
    }
    const { code, stdout } = await project.call(['uninstall', 'one', 'two', 'one'])
    expect([code, stdout]).toEqual([
      0,
      'uninstalled one  .amplifier/hooks/one\nuninstalled two  .amplifier/hooks/two\nnext carabiner list\n',
    ])
    const json = await project.call(['uninstall', 'three', '--yes', '--json'])
    expect(JSON.parse(json.stdout)).toEqual({
      uninstalled: [{ name: 'three', scope: 'project', path: project.path('.amplifier/hooks/three') }],
    })
    expect(project.has('.amplifier')).toBe(false)
  })

  it('names what is there where it does not know the name', async () => {
    await project.call(['install', '../guard', '--yes'])
    const { code, stderr } = await project.call(['uninstall', 'gaurd'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean guard?')])
    expect((await project.call(['uninstall', '../guard'])).code).toBe(1)
    expect((await project.call(['uninstall'])).code).toBe(64)
  })
})
