import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type CatalogAnswer, resolveSource } from '../../src/plugins/catalog/resolve.js'
import { installPrepared, preparePlugin } from '../../src/plugins/install-plugin.js'
import { listInstalled } from '../../src/plugins/installed.js'
import { readLock } from '../../src/plugins/lock-file.js'
import { uninstallPlugin } from '../../src/plugins/placing.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { lockPath, pluginsDir, type Target } from '../../src/plugins/target.js'
import { prepareUpdate } from '../../src/plugins/update-plugin.js'
import { tarOf, ZIP } from './archives.js'
import { HOOKS, treeOf, withHome } from './plugin-sources.js'

const bench = withHome()

afterEach(() => {
  for (const base of [bench.home, bench.project])
    rmSync(join(base, '.amplifier'), { recursive: true, force: true })
  readdirSync(bench.path('carabiner', 'state', 'plugins'))
    .filter((name) => name.startsWith('work-'))
    .forEach((name) => {
      throw new Error(`${name} was left behind`)
    })
})

interface More {
  readonly name?: string
  readonly target?: Target
  readonly ref?: string
  readonly path?: string
  readonly catalog?: CatalogAnswer
}

async function install(
  text: string,
  { name, target = bench.user, ref, path, catalog }: More = {},
): Promise<string> {
  const resolved = await resolveSource(parseSource(text, { ref, path }), catalog && (async () => catalog))
  const prepared = await preparePlugin(resolved, target, name)
  prepared.staged.remove()
  await installPrepared(prepared, target)
  return prepared.name
}

const entryOf = (name: string, target: Target = bench.user) => readLock(lockPath(target)).get(name)

describe('a plugin', () => {
  it('is installed from a folder, with plain modes, and without its repository', async () => {
    const folder = bench.plugin('plain')
    bench.repository(folder)
    bench.file('plain/secret', 'x', 0o600)
    expect(await install(folder)).toBe('plain')
    expect(treeOf(pluginsDir(bench.user))).toEqual({
      'plain/.claude-plugin/plugin.json': '644 {"name":"plain"}',
      'plain/guard.sh': '755 #!/bin/sh\nexit 0\n',
      'plain/hooks/hooks.json': `644 ${HOOKS}`,
      'plain/secret': '644 x',
    })
    expect(entryOf('plain')).toMatchObject({ source: folder, kind: 'folder' })
  })

  it('is installed from git, pinned to the commit', async () => {
    const folder = bench.plugin('tagged')
    const commit = bench.repository(folder)
    bench.git(folder, 'tag', 'v1')
    await install(`${folder}#v1`, { target: bench.here })
    expect(entryOf('tagged', bench.here)).toMatchObject({ source: folder, kind: 'git', ref: 'v1', commit })
  })

  it.each([
    [
      'a.tgz',
      gzipSync(
        tarOf([
          { name: 'guard-1.0/hooks.json', content: HOOKS },
          { name: 'guard-1.0/guard.sh', content: 'x', mode: 0o755 },
        ]),
      ),
    ],
    ['b.tar', tarOf([{ name: 'hooks.json', content: HOOKS }])],
    ['c.tar.gz', gzipSync(tarOf([{ name: 'hooks/hooks.json', content: HOOKS }]))],
  ])('is installed from %s, and called after it', async (name, bytes) => {
    writeFileSync(bench.path(name), bytes)
    expect(await install(bench.path(name))).toBe(name[0])
    expect(entryOf(name[0] as string)).toMatchObject({ source: bench.path(name), kind: 'archive' })
  })

  it('is not read from a zip archive, by its name or by what is in it', async () => {
    writeFileSync(bench.path('d.zip'), ZIP)
    writeFileSync(bench.path('e.tgz'), ZIP)
    const hint = 'Unpack it and install the folder, or pack it as .tar.gz: zip is not supported.'
    const [file, address] = [bench.path('d.zip'), 'https://example.com/d.zip']
    for (const source of [file, address]) {
      const message = `${source} is a zip archive`
      await expect(install(source)).rejects.toMatchObject({ code: 'SOURCE_INVALID', message, hint })
    }
    await expect(install(bench.path('e.tgz'))).rejects.toMatchObject({
      code: 'ARCHIVE_INVALID',
      message: 'The archive is a zip archive',
      hint,
    })
  })

  it('may lie further down, and is then called after its folder', async () => {
    bench.file('mono/plugins/inner/hooks.json', HOOKS)
    expect(await install(bench.path('mono'), { path: 'plugins/inner' })).toBe('inner')
    expect(entryOf('inner')).toMatchObject({ source: bench.path('mono'), path: 'plugins/inner' })
  })

  it('has a source that works for everyone on the project', async () => {
    bench.file('project/vendor/guard/hooks.json', HOOKS)
    await install(bench.path('project/vendor/guard'), { target: bench.here })
    expect(entryOf('guard', bench.here)?.source).toBe('./vendor/guard')
    const update = await prepareUpdate('guard', bench.here)
    update.prepared.staged.remove()
    expect(update.differences).toEqual([])
    rmSync(bench.path('project/vendor'), { recursive: true })
  })

  it('does without the network when its source is here', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new Error('no network')))
    vi.stubEnv('GIT_SSH_COMMAND', 'false')
    vi.stubEnv('https_proxy', 'http://127.0.0.1:1')
    const folder = bench.plugin('offline')
    bench.repository(folder)
    bench.git(folder, 'clone', '-q', '--bare', folder, bench.path('offline.git'))
    await install(folder)
    await install(bench.path('offline.git'), { target: bench.here })
    writeFileSync(bench.path('offline-2.tar'), tarOf([{ name: 'hooks.json', content: HOOKS }]))
    await install(bench.path('offline-2.tar'))
    vi.unstubAllGlobals()
    vi.unstubAllEnvs()
    expect(
      listInstalled({ home: bench.home, projectDir: bench.project }).plugins.map(({ state }) => state),
    ).toEqual(['ok', 'ok', 'ok'])
  })
})

describe('something that is not a plugin is refused, with what it is instead', () => {
  it('nothing', async () => {
    bench.file('nothing/README.md', 'x')
    await expect(install(bench.path('nothing'))).rejects.toMatchObject({ code: 'NO_PLUGIN' })
  })

  it('several plugins', async () => {
    bench.file(
      'market/.claude-plugin/marketplace.json',
      JSON.stringify({
        plugins: [
          { name: 'one', source: './plugins/a' },
          { name: 'evil', source: '../../x' },
        ],
      }),
    )
    bench.plugin('market/plugins/a')
    bench.plugin('market/plugins/b')
    await expect(install(bench.path('market'))).rejects.toMatchObject({
      code: 'SEVERAL_PLUGINS',
      message: 'This source has several folders with plugins: --path plugins/a (one), --path plugins/b',
      hint: expect.stringContaining('carabiner catalog add'),
    })
  })

  it('a plugin without hooks', async () => {
    bench.file('hookless/.claude-plugin/plugin.json', '{"name":"hookless"}')
    await expect(install(bench.path('hookless'))).rejects.toMatchObject({ code: 'NO_HOOKS' })
    bench.file('broken/hooks.json', '{ "hooks": 7 }')
    await expect(install(bench.path('broken'))).rejects.toMatchObject({ code: 'NO_HOOKS' })
  })

  it('a plugin of a later format', async () => {
    bench.file('later/hooks.json', JSON.stringify({ carabiner: 2, ...JSON.parse(HOOKS) }))
    await expect(install(bench.path('later'))).rejects.toMatchObject({ code: 'NEWER_FORMAT' })
    bench.file('later/hooks.json', JSON.stringify({ carabiner: 1, ...JSON.parse(HOOKS) }))
    expect(await install(bench.path('later'))).toBe('later')
  })

  it('a folder with links to the outside, or with setuid files', async () => {
    const folder = bench.plugin('linked')
    bench.file('linked/suid', 'x', 0o4755)
    await expect(install(folder)).rejects.toMatchObject({
      code: 'UNSAFE_ENTRY',
      message: expect.stringContaining('setuid'),
    })
    rmSync(join(folder, 'suid'))
    symlinkSync('/etc/passwd', join(folder, 'link'))
    await expect(install(folder)).rejects.toMatchObject({ code: 'UNSAFE_ENTRY' })
    expect(listInstalled({ home: bench.home }).plugins).toEqual([])
  })
})

describe('a name', () => {
  it.each(['../x', '--yes', 'a/b', 'con'])('%s in plugin.json installs nothing', async (says) => {
    const folder = bench.plugin('named', { says })
    await expect(install(folder)).rejects.toMatchObject({ code: 'NAME_INVALID' })
    expect(listInstalled({ home: bench.home }).plugins).toEqual([])
    expect(await install(folder, { name: 'mine' })).toBe('mine')
  })

  it('that is taken is left to who has it, whatever its case', async () => {
    const folder = bench.plugin('taken')
    mkdirSync(join(pluginsDir(bench.user), 'Taken'), { recursive: true })
    await expect(install(folder)).rejects.toMatchObject({ code: 'ALREADY_INSTALLED' })
    expect(readdirSync(pluginsDir(bench.user))).toEqual(['Taken'])
  })

  it('of a sibling is not a way into it', async () => {
    await install(bench.plugin('guard'))
    await install(bench.plugin('guard-evil'))
    await uninstallPlugin('guard', bench.user)
    expect(readdirSync(pluginsDir(bench.user))).toEqual(['guard-evil'])
    await expect(uninstallPlugin('../guard-evil', bench.user)).rejects.toMatchObject({
      code: 'NOT_INSTALLED',
    })
    await expect(uninstallPlugin('.', bench.user)).rejects.toMatchObject({ code: 'NOT_INSTALLED' })
  })
})

describe('a project that leads elsewhere', () => {
  it.each(['.amplifier', '.amplifier/hooks'])('by a link at %s gets nothing installed', async (link) => {
    const folder = bench.plugin('led')
    mkdirSync(bench.path('victim'), { recursive: true })
    mkdirSync(join(bench.project, link, '..'), { recursive: true })
    symlinkSync(bench.path('victim'), join(bench.project, link))
    await expect(install(folder, { target: bench.here })).rejects.toMatchObject({ code: 'PLACE_UNSAFE' })
    expect(readdirSync(bench.path('victim'))).toEqual([])
    bench.file('victim/guard/file', 'x')
    bench.file('victim/hooks/guard/file', 'x')
    await expect(uninstallPlugin('guard', bench.here)).rejects.toMatchObject({ code: 'PLACE_UNSAFE' })
    expect(Object.keys(treeOf(bench.path('victim')))).toEqual(['guard/file', 'hooks/guard/file'])
    rmSync(bench.path('victim'), { recursive: true })
  })
})

describe('a catalog', () => {
  it('that lies about the commit or the files installs nothing', async () => {
    const folder = bench.plugin('promised', { body: 'echo good' })
    const good = bench.repository(folder)
    const source = `${folder}#main`
    const { integrity } = await (async () => {
      await install('p@c', { catalog: { source, commit: good } })
      return entryOf('promised') ?? { integrity: '' }
    })()
    expect(entryOf('promised')).toMatchObject({ catalog: 'p@c', commit: good })
    await uninstallPlugin('promised', bench.user)
    bench.plugin('promised', { body: 'echo evil' })
    bench.commit(folder)
    await expect(install('p@c', { catalog: { source, commit: good } })).rejects.toMatchObject({
      code: 'MISMATCH',
    })
    await expect(install('p@c', { catalog: { source, integrity } })).rejects.toMatchObject({
      code: 'MISMATCH',
    })
    await expect(install('p@c', { catalog: { source: folder, commit: good } })).rejects.toMatchObject({
      code: 'MISMATCH',
    })
    expect(listInstalled({ home: bench.home }).plugins).toEqual([])
    // Only the commit counts, not the newest version.
    await install('p@c', { catalog: { source: { kind: 'git', url: folder }, commit: good, integrity } })
    expect(entryOf('promised')).toMatchObject({ commit: good, ref: good })
  })

  it('may say itself which hooks a plugin has; that is installed as its plugin.json', async () => {
    bench.file('bare/guard.sh', 'x', 0o755)
    const manifest = { name: 'bare', strict: false, hooks: JSON.parse(HOOKS).hooks }
    expect(await install('bare@c', { catalog: { source: bench.path('bare'), manifest } })).toBe('bare')
    const files = treeOf(pluginsDir(bench.user))
    expect(Object.keys(files)).toEqual(['bare/.claude-plugin/plugin.json', 'bare/guard.sh'])
    expect(files['bare/.claude-plugin/plugin.json']).toContain('PreToolUse')
  })
})
