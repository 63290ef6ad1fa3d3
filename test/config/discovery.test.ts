import { execFileSync } from 'node:child_process'
import fs, { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { codesOf, command, commandsOf, hooksFile, load, namesOf, only, sourcesIn, tree } from './temp-tree.js'

const named = (text: string) => hooksFile([command(text)])

describe('the order of configuration', () => {
  it('is root file, settings, plugins by name; the user’s, the project’s, explicit files, explicit plugins', async () => {
    const root = tree({
      'home/.amplifier/hooks/b/hooks.json': named('user b'),
      'home/.amplifier/hooks/a/hooks.json': named('user a'),
      'home/.amplifier/hooks/hooks.json': named('user root'),
      'home/.amplifier/settings.json': named('user settings'),
      'project/.amplifier/hooks/z/hooks.json': named('project z'),
      'project/.amplifier/hooks/Z/hooks.json': named('project Z'),
      'project/.amplifier/hooks/hooks.json': named('project root'),
      'project/.amplifier/settings.json': named('project settings'),
      'one/x.json': named('file'),
      'plugin/hooks/hooks.json': named('plugin'),
    })
    const config = await loadConfig(
      sourcesIn(root, { files: [join(root, 'one/x.json')], plugins: [join(root, 'plugin')] }),
    )
    expect(commandsOf(config)).toEqual([
      'user root',
      'user settings',
      'user a',
      'user b',
      'project root',
      'project settings',
      'project Z',
      'project z',
      'file',
      'plugin',
    ])
    expect(config.specs.map(({ hook }) => hook.origin.scope)).toEqual([
      ...Array(4).fill('user'),
      ...Array(4).fill('project'),
      ...Array(2).fill('named'),
    ])
    expect(config.diagnostics).toEqual([])
  })

  it('reads nothing without a project and a home', async () => {
    const config = await loadConfig({})
    expect(config.specs).toEqual([])
    expect(config.diagnostics).toEqual([])
  })

  it('reads no project file without projectDir, no user file without homeDir', async () => {
    const root = tree({
      'home/.amplifier/hooks/hooks.json': named('user'),
      'project/.amplifier/hooks/hooks.json': named('project'),
    })
    expect(commandsOf(await loadConfig({ homeDir: join(root, 'home') }))).toEqual(['user'])
    expect(commandsOf(await loadConfig({ projectDir: join(root, 'project') }))).toEqual(['project'])
  })

  it('reads a project that is the home once, as the user’s', async () => {
    const root = tree({ 'home/.amplifier/hooks/hooks.json': named('x') })
    symlinkSync(join(root, 'home'), join(root, 'link'))
    for (const projectDir of [join(root, 'home'), join(root, 'home/'), join(root, 'link')]) {
      const config = await loadConfig({ homeDir: join(root, 'home'), projectDir })
      expect(config.specs.map(({ hook }) => hook.origin.scope)).toEqual(['user'])
    }
  })

  it('reads a file or plugin that is named and found as well once', async () => {
    const root = tree({
      'project/.amplifier/hooks/hooks.json': named('root'),
      'project/.amplifier/hooks/p/hooks.json': named('plugin'),
    })
    const hooks = join(root, 'project/.amplifier/hooks')
    const files = [join(hooks, 'hooks.json'), join(hooks, '../hooks/hooks.json')]
    const plugins = [join(hooks, 'p'), join(hooks, 'p/')]
    const config = await loadConfig(sourcesIn(root, { files, plugins }))
    expect(commandsOf(config)).toEqual(['root', 'plugin'])
    expect(config.diagnostics).toEqual([])
  })
})

describe('a folder in hooks/', () => {
  it('is a plugin by its hooks.json', async () => {
    const config = await load({ 'project/.amplifier/hooks/bash-validator/hooks.json': named('x') })
    expect(namesOf(config)).toEqual(['bash-validator:PreToolUse#1'])
  })

  it('may have the layout of a Claude Code plugin', async () => {
    const config = await load({
      'project/.amplifier/hooks/a/hooks/hooks.json': named('a'),
      'project/.amplifier/hooks/b/.claude-plugin/plugin.json': { name: 'bee', hooks: './conf/my.json' },
      'project/.amplifier/hooks/b/conf/my.json': named('b'),
    })
    expect(namesOf(config)).toEqual(['a:PreToolUse#1', 'bee:PreToolUse#1'])
    expect(config.diagnostics).toEqual([])
  })

  it('may have both layouts', async () => {
    const config = await load({
      'project/.amplifier/hooks/a/hooks/hooks.json': named('inner'),
      'project/.amplifier/hooks/a/hooks.json': named('outer'),
    })
    expect(commandsOf(config)).toEqual(['inner', 'outer'])
  })

  it('without hooks is nothing, silently; so are files, and names that begin with a dot', async () => {
    const config = await load({
      'project/.amplifier/hooks/lib/helper.sh': 'exit 0',
      'project/.amplifier/hooks/README.md': '# hooks',
      'project/.amplifier/hooks/.off/hooks.json': named('off'),
    })
    expect(config.specs).toEqual([])
    expect(config.diagnostics).toEqual([])
  })

  it('may be a link; one that leads nowhere is said', async () => {
    const root = tree({ 'elsewhere/hooks.json': named('x'), 'project/.amplifier/hooks/x.txt': '' })
    const hooks = join(root, 'project/.amplifier/hooks')
    symlinkSync(join(root, 'elsewhere'), join(hooks, 'linked'))
    symlinkSync(join(root, 'nowhere'), join(hooks, 'lost'))
    mkdirSync(join(hooks, 'part'))
    symlinkSync(join(root, 'nowhere'), join(hooks, 'part/hooks'))
    const config = await loadConfig(sourcesIn(root))
    expect(namesOf(config)).toEqual(['linked:PreToolUse#1'])
    expect(config.diagnostics.map(({ code, file }) => [code, file])).toEqual([
      ['config-invalid', join(hooks, 'lost')],
      ['config-invalid', join(hooks, 'part/hooks')],
    ])
  })
})

describe('an explicit plugin', () => {
  const plugin = async (files: Record<string, unknown>) => {
    const root = tree(Object.fromEntries(Object.entries(files).map(([path, text]) => [`plug/${path}`, text])))
    return loadConfig({ plugins: [join(root, 'plug')], dataDir: join(root, 'data') })
  }

  it('has hooks/hooks.json, and then hooks.json is not read', async () => {
    const config = await plugin({ 'hooks/hooks.json': named('inner'), 'hooks.json': named('outer') })
    expect(commandsOf(config)).toEqual(['inner'])
  })

  it('has hooks.json otherwise', async () => {
    expect(commandsOf(await plugin({ 'hooks.json': named('outer') }))).toEqual(['outer'])
  })

  it('may name a path in plugin.json; hooks/hooks.json is read too', async () => {
    const config = await plugin({
      '.claude-plugin/plugin.json': { name: 'p', hooks: './more.json' },
      'more.json': named('more'),
      'hooks/hooks.json': named('standard'),
      'hooks.json': named('not read'),
    })
    expect(commandsOf(config)).toEqual(['more', 'standard'])
    expect(namesOf(config)).toEqual(['p:PreToolUse#1', 'p:PreToolUse#2'])
  })

  it('never reads hooks/hooks.json twice', async () => {
    const config = await plugin({
      '.claude-plugin/plugin.json': { name: 'p', hooks: './hooks/../hooks/hooks.json' },
      'hooks/hooks.json': named('once'),
    })
    expect(commandsOf(config)).toEqual(['once'])
    expect(config.diagnostics).toEqual([])
  })

  it('may have hooks inside plugin.json, wrapped once or twice', async () => {
    for (const hooks of [named('x').hooks, named('x')]) {
      const config = await plugin({ '.claude-plugin/plugin.json': { name: 'p', hooks } })
      expect(commandsOf(config)).toEqual(['x'])
      expect(config.diagnostics).toEqual([])
    }
  })

  it('may name a list of paths and hooks', async () => {
    const config = await plugin({
      '.claude-plugin/plugin.json': { hooks: ['./a.json', named('b'), './c.json', 7] },
      'a.json': named('a'),
      'c.json': named('c'),
    })
    expect(commandsOf(config)).toEqual(['a', 'b', 'c'])
    expect(namesOf(config)[0]).toBe('plug:PreToolUse#1')
    expect(only(config)).toMatchObject({ code: 'config-invalid', text: expect.stringContaining('got 7') })
  })

  it.each(['../outside.json', './a/../../outside.json', '/etc/hooks.json', '.', ''])(
    'does not read %j, which is outside its folder',
    async (hooks) => {
      const config = await plugin({
        '.claude-plugin/plugin.json': `{\n"name": "p",\n"hooks": ${JSON.stringify(hooks)}}`,
        '../outside.json': named('outside'),
      })
      expect(config.specs).toEqual([])
      const diagnostic = only(config)
      expect(diagnostic).toMatchObject({ code: 'config-invalid', line: 3 })
      expect(diagnostic.text).toContain('outside the plugin')
    },
  )

  it('that names a missing file says so', async () => {
    const config = await plugin({ '.claude-plugin/plugin.json': { hooks: './gone.json' } })
    expect(only(config).text).toContain('"./gone.json", which does not exist')
  })

  it('with a broken plugin.json still has its hooks/hooks.json', async () => {
    const config = await plugin({ '.claude-plugin/plugin.json': '{', 'hooks/hooks.json': named('x') })
    expect(namesOf(config)).toEqual(['plug:PreToolUse#1'])
    expect(codesOf(config)).toEqual(['config-invalid'])
  })

  it('without hooks, or that is not there, says so', async () => {
    const root = tree({ 'empty/README.md': '', 'file.json': named('x') })
    for (const path of ['empty', 'missing', 'file.json']) {
      const config = await loadConfig({ plugins: [join(root, path)] })
      expect(only(config)).toMatchObject({ code: 'config-invalid', file: join(root, path), line: 1 })
    }
  })
})

describe('an explicit file', () => {
  it('is named by its own name, and is nobody’s but whoever named it', async () => {
    const root = tree({ 'x/hooks.json': named('x') })
    const config = await loadConfig({ files: [join(root, 'x/hooks.json')] })
    const [spec] = config.specs
    expect(spec?.hook).toMatchObject({ name: 'hooks.json:PreToolUse#1', origin: { scope: 'named' } })
    expect(spec?.place).toEqual({ projectDir: join(root, 'x'), hooksDir: join(root, 'x') })
  })

  it('that is missing is said', async () => {
    const config = await loadConfig({ files: ['/nowhere/hooks.json'] })
    expect(only(config)).toMatchObject({
      code: 'config-invalid',
      text: 'the file does not exist',
      file: '/nowhere/hooks.json',
      line: 1,
    })
  })
})

describe('the place of a hook', () => {
  it('of a plugin has its folder, the folder around it, and a folder for data', async () => {
    const root = tree({ 'project/.amplifier/hooks/my plugin!/hooks.json': named('x') })
    const { specs } = await loadConfig(sourcesIn(root))
    const hooksDir = join(root, 'project/.amplifier/hooks')
    expect(specs[0]?.place).toEqual({
      projectDir: join(root, 'project'),
      hooksDir,
      plugin: {
        name: 'my plugin!',
        root: join(hooksDir, 'my plugin!'),
        dataDir: expect.stringMatching(/\/data\/plugin-data\/project-[0-9a-f]{16}\/my-plugin-$/),
      },
    })
  })

  it('of root file and settings is the hooks folder; of the user’s hooks, the project they run in', async () => {
    const root = tree({
      'home/.amplifier/hooks/hooks.json': named('x'),
      'home/.amplifier/settings.json': named('y'),
    })
    const { specs } = await loadConfig(sourcesIn(root))
    const place = { projectDir: join(root, 'project'), hooksDir: join(root, 'home/.amplifier/hooks') }
    expect(specs.map((spec) => spec.place)).toEqual([place, place])
    const alone = await loadConfig({ homeDir: join(root, 'home') })
    expect(alone.specs[0]?.place.projectDir).toBe(join(root, 'home'))
  })

  it('is safe from the name in plugin.json', async () => {
    const root = tree({
      'plug/.claude-plugin/plugin.json': { name: `../../\u001b[31mx\n${'y'.repeat(500)}`, hooks: named('x') },
    })
    const config = await loadConfig({ plugins: [join(root, 'plug')], dataDir: join(root, 'data') })
    const plugin = config.specs[0]?.place.plugin
    expect(plugin?.dataDir).toMatch(/\/data\/plugin-data\/[\w-]+\/------x-y+$/)
    expect(plugin?.name).toMatch(/^\.\.\/\.\.\/x y+$/)
    expect(plugin?.name.length).toBe(80)
  })
})

describe('a file that cannot be read', () => {
  const hooksJson = 'project/.amplifier/hooks/p/hooks.json'
  const others = { 'project/.amplifier/hooks/q/hooks.json': named('other') }

  async function expectBroken(root: string, text: string) {
    const config = await loadConfig(sourcesIn(root))
    expect(commandsOf(config)).toEqual(['other'])
    const diagnostic = only(config)
    expect(diagnostic).toMatchObject({ code: 'config-invalid', file: join(root, hooksJson), line: 1 })
    expect(diagnostic.text).toContain(text)
  }

  it.runIf(process.platform !== 'win32')('because it is a pipe does not hold anybody up', async () => {
    const root = tree(others)
    mkdirSync(join(root, hooksJson, '..'), { recursive: true })
    execFileSync('mkfifo', [join(root, hooksJson)])
    await expectBroken(root, 'is a pipe, a socket or a device')
  })

  it.runIf(process.platform !== 'win32')('because it is a device that never ends', async () => {
    const root = tree(others)
    mkdirSync(join(root, hooksJson, '..'), { recursive: true })
    symlinkSync('/dev/zero', join(root, hooksJson))
    await expectBroken(root, 'is a pipe, a socket or a device')
  })

  it('because it is a folder', async () => {
    const root = tree({ ...others, [`${hooksJson}/x`]: '' })
    await expectBroken(root, 'is a folder')
  })

  it('because it is larger than 1 MiB', async () => {
    const root = tree({ ...others, [hooksJson]: JSON.stringify({ hooks: {}, x: 'y'.repeat(1024 * 1024) }) })
    await expectBroken(root, 'is larger than 1 MiB')
  })

  it('because it is a broken link, or in a circle', async () => {
    const root = tree(others)
    mkdirSync(join(root, hooksJson, '..'), { recursive: true })
    symlinkSync('nowhere', join(root, hooksJson))
    await expectBroken(root, 'is a broken link')
    rmSync(join(root, hooksJson))
    symlinkSync('hooks.json', join(root, hooksJson))
    await expectBroken(root, 'ELOOP')
  })

  it.runIf(process.platform !== 'win32')('because it is not allowed', async () => {
    const root = tree({ ...others, [hooksJson]: named('secret') })
    chmodSync(join(root, hooksJson), 0)
    chmodSync(root, 0o755)
    // The superuser may read everything, so for a moment it is not one.
    const superuser = process.getuid?.() === 0
    if (superuser) process.seteuid?.(65534)
    try {
      await expectBroken(root, 'EACCES')
    } finally {
      if (superuser) process.seteuid?.(0)
    }
  })

  it('may be exactly 1 MiB', async () => {
    const text = JSON.stringify(named('x'))
    const root = tree({ [hooksJson]: text + ' '.repeat(1024 * 1024 - text.length) })
    expect(commandsOf(await loadConfig(sourcesIn(root)))).toEqual(['x'])
  })
})

describe('files that come and go', () => {
  it('that disappear between being found and being read are missing, and nothing else', async () => {
    const root = tree({
      'project/.amplifier/hooks/a/hooks.json': named('a'),
      'project/.amplifier/hooks/b/hooks.json': named('b'),
      'project/.amplifier/hooks/c/hooks/hooks.json': named('c'),
    })
    const hooks = join(root, 'project/.amplifier/hooks')
    afterFinding(hooks, () => rmSync(join(hooks, 'a'), { recursive: true }))
    afterFinding(join(hooks, 'c/hooks'), () => rmSync(join(hooks, 'c/hooks/hooks.json')))
    const config = await loadConfig(sourcesIn(root))
    expect(commandsOf(config)).toEqual(['b'])
    expect(config.diagnostics).toEqual([])
  })

  it('a plugin that defeats us takes no other down', async () => {
    const root = tree({
      'project/.amplifier/hooks/a/hooks.json': named('a'),
      'project/.amplifier/hooks/b/hooks.json': named('b'),
      'project/.amplifier/hooks/c/hooks.json': named('c'),
    })
    const b = join(root, 'project/.amplifier/hooks/b')
    afterFinding(join(b, 'hooks'), () => {
      throw new Error('defeated')
    })
    const config = await loadConfig(sourcesIn(root))
    expect(commandsOf(config)).toEqual(['a', 'c'])
    expect(only(config)).toEqual({
      code: 'config-invalid',
      text: 'it cannot be read: defeated',
      file: b,
      line: 1,
    })
  })

  it('and become pipes are still not waited for', async () => {
    const root = tree({ 'project/.amplifier/hooks/a/hooks.json': named('a') })
    const file = join(root, 'project/.amplifier/hooks/a/hooks.json')
    afterFinding(join(root, 'project/.amplifier/hooks'), () => {
      rmSync(file)
      execFileSync('mkfifo', [file])
    })
    expect(only(await loadConfig(sourcesIn(root)))).toMatchObject({ code: 'config-invalid', file })
  })
})

/** Does something at the moment when the folder was listed or found. */
function afterFinding(folder: string, then: () => void): void {
  const { readdirSync, existsSync } = fs
  let done = false
  const once = () => {
    if (!done) then()
    done = true
  }
  fs.readdirSync = ((path: string, ...rest: never[]) => {
    const names = readdirSync(path, ...rest)
    if (path === folder) once()
    return names
  }) as typeof fs.readdirSync
  fs.existsSync = (path) => {
    const found = existsSync(path)
    if (path === folder) once()
    return found
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    Object.assign(fs, { readdirSync, existsSync })
    syncBuiltinESMExports()
  })
}
