// The lock file compared with what is there.

import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { resolveSource } from '../../src/plugins/catalog/resolve.js'
import { installPrepared, preparePlugin } from '../../src/plugins/install-plugin.js'
import { listInstalled } from '../../src/plugins/installed.js'
import { readLock } from '../../src/plugins/lock-file.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { lockPath, pluginsDir, type Target } from '../../src/plugins/target.js'
import { prepareUpdate } from '../../src/plugins/update-plugin.js'
import { withHome } from './plugin-sources.js'

const bench = withHome()

afterEach(() => {
  for (const base of [bench.home, bench.project])
    rmSync(join(base, '.amplifier'), { recursive: true, force: true })
})

async function install(folder: string, { target = bench.user }: { target?: Target } = {}): Promise<void> {
  const prepared = await preparePlugin(await resolveSource(parseSource(folder)), target)
  prepared.staged.remove()
  await installPrepared(prepared, target)
}

describe('what is installed', () => {
  it('is ok, modified, missing, or was put there by hand', async () => {
    for (const name of ['a', 'b', 'c']) await install(bench.plugin(name))
    writeFileSync(join(pluginsDir(bench.user), 'b', 'guard.sh'), 'x')
    rmSync(join(pluginsDir(bench.user), 'c'), { recursive: true })
    mkdirSync(join(pluginsDir(bench.user), 'd'))
    writeFileSync(join(pluginsDir(bench.user), 'file'), '')
    mkdirSync(join(pluginsDir(bench.user), 'a', '__pycache__'))
    writeFileSync(join(pluginsDir(bench.user), 'a', '__pycache__', 'x.pyc'), '')
    const found = listInstalled({ home: bench.home }).plugins
    expect(found.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'a ok',
      'b modified',
      'c missing',
      'd unlocked',
    ])
    expect(found[0]).toMatchObject({
      scope: 'user',
      path: join(pluginsDir(bench.user), 'a'),
      source: bench.path('a'),
    })
  })

  it('also counts the executable bit', async () => {
    await install(bench.plugin('a'))
    const script = join(pluginsDir(bench.user), 'a', 'guard.sh')
    expect(lstatSync(script).mode & 0o111).not.toBe(0)
    chmodSync(script, 0o644)
    expect(listInstalled({ home: bench.home }).plugins).toMatchObject([{ state: 'modified' }])
  })

  it('is listed as far as possible if the lock file is broken', async () => {
    await install(bench.plugin('a'))
    writeFileSync(lockPath(bench.user), '{ "carabiner": 1, "plugins": { "../x": {} } }')
    const { plugins, problems } = listInstalled({ home: bench.home })
    expect(plugins).toMatchObject([{ name: 'a', state: 'unlocked' }])
    expect(problems[0]?.text).toContain('lists ../x, which is not a valid plugin name')
    await expect(install(bench.plugin('b'))).rejects.toMatchObject({ code: 'LOCK_INVALID' })
    expect(readdirSync(pluginsDir(bench.user))).toEqual(['a'])
  })
})

function locked(plugins: Readonly<Record<string, object>>): string {
  const entry = { source: './x', kind: 'folder', integrity: `sha256-${'A'.repeat(43)}=` }
  const all = Object.entries(plugins).map(([name, more]) => [name, { ...entry, ...more }])
  return JSON.stringify({ carabiner: 1, plugins: Object.fromEntries(all) })
}

describe('a lock file', () => {
  it('shows every character of a hostile name', () => {
    const path = bench.file('locks/hooks.lock.json', locked({ 'gu\u200bard\u001b': {} }))
    expect(() => readLock(path)).toThrow('lists "gu⟨U+200B⟩ard⟨U+001B⟩", which is not a valid plugin name')
  })

  it.each([
    ['no JSON', '{'],
    ['no lock file', '[]'],
    ['another file', '{"plugins":{}}'],
    ['one of a newer version', '{"carabiner":2,"plugins":{}}'],
    ['without a source', '{"carabiner":1,"plugins":{"a":{"kind":"git","integrity":""}}}'],
    ['without an integrity', '{"carabiner":1,"plugins":{"a":{"kind":"git","source":"x"}}}'],
    [
      'with a ref that is no text',
      `{"carabiner":1,"plugins":{"a":{"kind":"git","source":"x","ref":1,"integrity":"sha256-${'A'.repeat(43)}="}}}`,
    ],
    ['with a name that is a trick', '{"carabiner":1,"plugins":{"__proto__":{}}}'],
    ['with a catalog that is a path', locked({ a: { catalog: '/etc' } })],
    ['with a source without end', locked({ a: { source: `./${'a'.repeat(5000)}` } })],
    ['with a ref without end', locked({ a: { ref: 'a'.repeat(5000) } })],
    ['with a kind that is none', locked({ a: { kind: 'constructor' } })],
    [
      'with plugins without end',
      locked(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`p${i}`, {}]))),
    ],
  ])('that is %s is refused', (_, text) => {
    const path = bench.file('locks/hooks.lock.json', text)
    expect(() => readLock(path)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }))
  })

  it('of a stranger does not choose what git is called with', async () => {
    const folder = bench.plugin('locked')
    await install(folder, { target: bench.here })
    const text = (more: object) =>
      JSON.stringify({
        carabiner: 1,
        plugins: { locked: { source: folder, kind: 'git', integrity: `sha256-${'A'.repeat(43)}=`, ...more } },
      })
    for (const more of [
      { ref: '--upload-pack=id' },
      { source: '--upload-pack=id' },
      { source: 'ext::sh -c id' },
      { path: '../..' },
    ]) {
      writeFileSync(lockPath(bench.here), text(more))
      await expect(prepareUpdate('locked', bench.here)).rejects.toMatchObject({
        code: expect.stringMatching(/SOURCE_INVALID|UNSAFE_ENTRY/),
      })
    }
  })
})
