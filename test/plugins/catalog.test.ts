// Catalogs in both formats: read into one form, stored, searched and resolved. All of their content is untrusted.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EntryOrigin } from '../../src/plugins/catalog/entry.js'
import { readCatalog } from '../../src/plugins/catalog/file.js'
import { resolveCatalog, resolveSource, withManifest } from '../../src/plugins/catalog/resolve.js'
import { searchCatalogs } from '../../src/plugins/catalog/search.js'
import { type CatalogRecord, CatalogStore } from '../../src/plugins/catalog/store.js'
import { preparePlugin } from '../../src/plugins/install-plugin.js'
import { fetchTree } from '../../src/plugins/sources/fetch-source.js'
import { FileTree } from '../../src/plugins/sources/file-tree.js'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const INTEGRITY = `sha256-${'A'.repeat(43)}=`

const FAR: EntryOrigin = {
  isLocal: false,
  hasFolder: (path) => ['a', 'plugins/a', 'plugins/b'].includes(path),
}

function ofEntry(entry: object, { ours = false, root = undefined as string | undefined, origin = FAR } = {}) {
  const head = ours ? { carabiner: 1 } : { owner: { name: 'x' }, metadata: { pluginRoot: root } }
  return readCatalog(
    JSON.stringify({ name: 'c', ...head, plugins: [{ name: 'p', ...entry }] }),
    'c.json',
    origin,
  )
}
const whereOf = (...args: Parameters<typeof ofEntry>) => ofEntry(...args).plugins[0]?.where

describe('sources', () => {
  it.each([
    ['a folder', './plugins/a', { inside: 'plugins/a' }],
    ['a folder with a slash', './plugins/a/', { inside: 'plugins/a' }],
    ['all of the catalog', './', { inside: '' }],
    [
      'github',
      { source: 'github', repo: 'o/r', ref: 'v1' },
      { source: { kind: 'git', url: 'https://github.com/o/r.git', ref: 'v1' } },
    ],
    [
      'url',
      { source: 'url', url: 'https://git.example/x.git' },
      { source: { kind: 'git', url: 'https://git.example/x.git' } },
    ],
    [
      'ssh',
      { source: 'url', url: 'git@h.example:o/r.git' },
      { source: { kind: 'git', url: 'git@h.example:o/r.git' } },
    ],
    [
      'git-subdir',
      { source: 'git-subdir', url: 'o/r', path: './sub/dir', ref: 'main' },
      { source: { kind: 'git', url: 'https://github.com/o/r.git', ref: 'main', path: 'sub/dir' } },
    ],
    [
      'npm',
      { source: 'npm', package: '@s/p', version: '^2.0.0' },
      { source: { kind: 'npm', name: '@s/p', range: '^2.0.0' } },
    ],
    [
      'npm without a version',
      { source: 'npm', package: 'p' },
      { source: { kind: 'npm', name: 'p', range: 'latest' } },
    ],
  ])('%s', (_, source, where) => {
    expect(whereOf({ source })).toEqual(where)
    expect(whereOf({ source }, { ours: true })).toEqual(where)
  })

  it.each([
    ['https://git.example/x.git#v1', { kind: 'git', url: 'https://git.example/x.git', ref: 'v1' }],
    ['npm:p@1.2.3', { kind: 'npm', name: 'p', range: '1.2.3' }],
    ['https://x.example/p.tgz', { kind: 'archive', place: 'https://x.example/p.tgz' }],
  ])('ours also as text: %s', (source, wanted) => {
    expect(whereOf({ source }, { ours: true })).toEqual({ source: wanted })
  })

  it.each([
    ['a bare name is below pluginRoot', 'a', './plugins', 'plugins/a'],
    ['a path is not', './plugins/a', './plugins', 'plugins/a'],
    ['but may be meant so', './b', './plugins', 'plugins/b'],
    ['where both are there, the path is as it stands', './a', './plugins', 'a'],
    ['without a root', 'plugins/b', undefined, 'plugins/b'],
  ])('of a marketplace: %s', (_, source, root, inside) => {
    expect(whereOf({ source }, { root })).toEqual({ inside })
  })

  it.each([
    ['out of the catalog', './../x', 'leads out of the folder'],
    ['out of it further down', './a/../../x', 'leads out of the folder'],
    ['absolute', '/etc', 'leads out of the folder'],
    ['with a backslash', '.\\..\\x', 'leads out of the folder'],
    ['a folder that is not there', './none', 'there is no folder'],
    ['nothing', undefined, 'has no source'],
    ['of another kind', 42, 'its source must be a string or an object, got 42'],
    ['an unknown kind', { source: 'pip', package: 'x' }, 'unknown kind'],
    ['ext::', { source: 'url', url: 'ext::sh -c id' }, 'must begin with https'],
    ['http', { source: 'url', url: 'http://x.example/r.git' }, 'must begin with https'],
    ['an option for an address', { source: 'url', url: '--upload-pack=id' }, 'must begin with https'],
    ['an option for a host', { source: 'url', url: 'ssh://-oProxyCommand=id/x' }, ''],
    ['an option for a ref', { source: 'github', repo: 'o/r', ref: '--output=x' }, 'is not a valid tag'],
    [
      'an option for a package',
      { source: 'npm', package: '--ignore-scripts=false' },
      'does not name an npm package',
    ],
    ['a package that is a path', { source: 'npm', package: '../x' }, 'does not name an npm package'],
    [
      'a version that is an address',
      { source: 'npm', package: 'p', version: 'git+ssh://x/y' },
      'does not name a valid version',
    ],
    [
      'another registry',
      { source: 'npm', package: 'p', registry: 'https://evil.example' },
      'its own registry',
    ],
    ['a repo that is a path', { source: 'github', repo: '../..' }, 'OWNER/NAME'],
    [
      'a path out of the repository',
      { source: 'git-subdir', url: 'o/r', path: '../x' },
      'leads out of the folder',
    ],
    ['no path', { source: 'git-subdir', url: 'o/r' }, 'no path'],
    ['a place on this machine', { source: 'url', url: 'file:///etc' }, 'comes from elsewhere'],
    ['half a commit', { source: 'github', repo: 'o/r', sha: 'abc1234' }, '40 hex digits'],
  ])('left out, and said: %s', (_, source, said) => {
    const { plugins, problems } = ofEntry({ source })
    expect(plugins).toEqual([])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^p is left out: /)
    expect(problems[0]).toContain(said)
  })

  it.each([
    ['a word that a folder here may have', { source: 'src' }, 'must begin with https'],
    ['a path on this machine', { source: '/etc' }, 'must begin with https'],
    ['a commit of what is no git', { source: './a', commit: COMMIT }, 'not git'],
    ['a digest that is none', { source: './a', integrity: 'md5-x' }, 'sha256'],
    ['a digest that is cut', { source: './a', integrity: 'sha256-AAAA' }, 'sha256'],
  ])('ours left out, and said: %s', (_, entry, said) => {
    const { plugins, problems } = ofEntry(entry, { ours: true })
    expect(plugins).toEqual([])
    expect(problems[0]).toContain(said)
  })

  it('a single file has no folders next to it', () => {
    const { problems } = ofEntry({ source: './a' }, { origin: { isLocal: true } })
    expect(problems[0]).toContain('single file')
  })
})

describe('a catalog', () => {
  it('keeps the good entries beside bad ones, and the first of two with one name', () => {
    const text = JSON.stringify({
      plugins: [
        { name: 'good', source: './a', description: 'd', keywords: ['k', 1], tags: ['t'], category: 'c' },
        { name: '../evil', source: './a' },
        { name: 'Good', source: './plugins/b' },
        { source: './a' },
        'text',
      ],
    })
    const { plugins, problems } = readCatalog(text, 'c.json', FAR)
    expect(plugins).toEqual([
      { name: 'good', description: 'd', keywords: ['k', 't', 'c'], where: { inside: 'a' } },
    ])
    expect(problems).toHaveLength(4)
  })

  it('shows every character of a hostile name', () => {
    const text = JSON.stringify({ plugins: [{ name: '\u001b]0;x\u0007\u202Eevil', source: './a' }] })
    const { problems } = readCatalog(text, 'c.json', FAR)
    expect(problems.join()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(problems[0]).toContain('⟨U+202E⟩')
  })

  it('may have comments, as files of people do', () => {
    expect(readCatalog('{ "plugins": [ // none\n ], }', 'c.json', FAR).plugins).toEqual([])
  })

  it.each([
    ['no JSON', '{ "plugins": [', /line 1/],
    ['a list', '[]', /JSON object/],
    ['no plugins', '{}', /"plugins" must be a list/],
    ['a newer format', '{"carabiner":2,"plugins":[]}', /update Carabiner/],
    ['another mark', '{"carabiner":"1","plugins":[]}', /"carabiner" must be 1/],
    ['too many', JSON.stringify({ plugins: new Array(5001).fill({}) }), /more than 5000/],
  ])('is none: %s', (_, text, said) => {
    expect(() => readCatalog(text, 'c.json', FAR)).toThrow(said)
  })

  it('pins by what it promises', () => {
    const source = { source: 'github', repo: 'o/r', ref: 'main', sha: COMMIT.toUpperCase() }
    expect(ofEntry({ source }).plugins[0]?.commit).toBe(COMMIT)
    const own = ofEntry(
      { source: 'https://g.example/r.git', commit: COMMIT, integrity: INTEGRITY },
      { ours: true },
    )
    expect(own.plugins[0]).toMatchObject({ commit: COMMIT, integrity: INTEGRITY })
  })
})

describe('hooks in an entry of a marketplace', () => {
  const HOOKS = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] }
  const manifestIn = (entry: object) => ofEntry({ source: './a', ...entry }).plugins[0]?.manifest

  function tree(files: Readonly<Record<string, string>>): FileTree {
    const made = new FileTree()
    for (const [path, text] of Object.entries(files)) made.addFile(path, Buffer.from(text), false)
    return made
  }
  const OWN = '.claude-plugin/plugin.json'
  const manifestAfter = (entry: object, files: Readonly<Record<string, string>>) => {
    const manifest = manifestIn(entry) ?? expect.unreachable()
    return JSON.parse(withManifest(tree(files), manifest).text(OWN) ?? 'null')
  }

  it('there are none by default', () => {
    expect(manifestIn({})).toBeUndefined()
    expect(manifestIn({ strict: true })).toBeUndefined()
  })

  it('become the plugin.json of a plugin without one', () => {
    const entry = { strict: false, version: '1.0', hooks: HOOKS }
    expect(manifestAfter(entry, { 'x.sh': '' })).toEqual({ name: 'p', version: '1.0', hooks: HOOKS })
  })

  it('are added to those that plugin.json names, which has the say in the rest', () => {
    const own = JSON.stringify({ name: 'own', hooks: './extra.json' })
    expect(manifestAfter({ hooks: HOOKS }, { [OWN]: own })).toEqual({
      name: 'own',
      hooks: ['./extra.json', HOOKS],
    })
  })

  it('P2: plugin.json counts where an entry with "strict": false names no parts', () => {
    const own = { name: 'own', hooks: './h.json' }
    const entry = { strict: false, description: 'x', version: '2' }
    expect(manifestAfter(entry, { [OWN]: JSON.stringify(own), 'h.json': '{}' })).toEqual(own)
  })

  it('leave the other files as they are', () => {
    const made = withManifest(tree({ 'x.sh': 'echo', [OWN]: '{}' }), manifestIn({ hooks: HOOKS }) as never)
    expect([...made.files.keys()].sort()).toEqual([OWN, 'x.sh'])
    expect(made.text('x.sh')).toBe('echo')
  })

  it.each([
    [
      'both claim to be all there is',
      { strict: false, skills: './s' },
      '{"name":"own","hooks":"./h.json"}',
      /names skills and says .*strict.* plugin.json also names hooks/,
    ],
    ['plugin.json cannot be read', { hooks: HOOKS }, '{', /cannot be read/],
  ])('are refused where %s', (_, entry, own, said) => {
    expect(() => manifestAfter(entry, { [OWN]: own })).toThrow(said)
  })
})

describe('searching', () => {
  const entry = (name: string, description = '', keywords: readonly string[] = []) =>
    ({ name, description, keywords, where: { inside: '' } }) as const
  const catalogs = [
    {
      name: 'one',
      plugins: [
        entry('notes', 'keeps a secret'),
        entry('secret-scan', 'looks for keys'),
        entry('keys', '', ['secret']),
        entry('secret'),
        entry('lint', 'formats'),
      ],
    },
    { name: 'two', plugins: [entry('secret')] },
  ] as unknown as readonly CatalogRecord[]
  const found = (...words: string[]) =>
    searchCatalogs(catalogs, words).map((one) => `${one.entry.name}@${one.catalog}`)

  it('puts names first, then keywords, then descriptions', () => {
    expect(found('Secret')).toEqual(['secret@one', 'secret@two', 'secret-scan@one', 'keys@one', 'notes@one'])
  })

  it('wants every word, however they are given', () => {
    expect(found('secret', 'keys')).toEqual(['keys@one', 'secret-scan@one'])
    expect(found('secret keys')).toEqual(found('secret', 'keys'))
    expect(found('secret', 'nothing')).toEqual([])
  })

  it('without words shows all', () => {
    expect(found()).toHaveLength(6)
  })
})

// ---- kept, fetched and installed from -----------------------------------------------------------------------

let base: string
let store: CatalogStore
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-catalog-')))
  vi.stubEnv('CARABINER_HOME', join(base, 'data'))
  vi.stubEnv('HOME', join(base, 'home'))
  mkdirSync(join(base, 'home'))
  store = new CatalogStore()
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(base, { recursive: true, force: true })
})

function write(name: string, content: string | object): string {
  const path = join(base, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function git(folder: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@t.example', '-c', 'commit.gpgsign=false']
  return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8' }).trim()
}

const HOOKS_JSON = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } }

/** Makes a marketplace in git and returns its address. */
function marketplace(more: object = {}): string {
  const folder = join(base, 'market')
  write('market/plugins/a/hooks/hooks.json', HOOKS_JSON)
  write('market/.claude-plugin/marketplace.json', {
    name: 'Market Place',
    owner: { name: 'x' },
    plugins: [{ name: 'a', source: './plugins/a', description: 'first' }],
    ...more,
  })
  git(base, 'init', '--quiet', '-b', 'main', folder)
  return commit(folder)
}

function commit(folder: string): string {
  git(folder, 'add', '-A')
  git(folder, 'commit', '--quiet', '-m', 'x')
  return `${folder}#main`
}

describe('the store', () => {
  it('takes a folder, a file, and git, each in either format', async () => {
    write('ours/catalog.json', { carabiner: 1, name: 'ours', plugins: [{ name: 'b', source: './b' }] })
    write('ours/b/hooks.json', HOOKS_JSON)
    expect((await store.add(join(base, 'ours'))).plugins).toHaveLength(1)
    expect((await store.add(join(base, 'ours/catalog.json'), 'file')).plugins).toHaveLength(1)
    const market = await store.add(marketplace())
    expect(market).toMatchObject({
      name: 'market-place',
      commit: git(join(base, 'market'), 'rev-parse', 'HEAD'),
    })
    expect(store.names()).toEqual(['file', 'market-place', 'ours'])
  })

  it('a repository may hold links and much else; only the file of the catalog is read', async () => {
    const source = marketplace()
    symlinkSync('/etc/passwd', join(base, 'market/link'))
    commit(join(base, 'market'))
    expect((await store.add(source)).plugins).toHaveLength(1)
  })

  it('a catalog that is a link is refused', async () => {
    const source = marketplace()
    rmSync(join(base, 'market/.claude-plugin/marketplace.json'))
    // The link's target would do as the text of a catalog.
    symlinkSync('{"plugins":[]}', join(base, 'market/.claude-plugin/marketplace.json'))
    commit(join(base, 'market'))
    await expect(store.add(source)).rejects.toThrow(/no catalog/)
    await expect(store.add(join(base, 'market'))).rejects.toThrow(/is a link/)
  })

  it('a folder behind a link does not count, wherever the link is', async () => {
    mkdirSync(join(base, 'outside/sub'), { recursive: true })
    writeFileSync(join(base, 'outside/sub/hooks.json'), '{}')
    mkdirSync(join(base, 'linked/real/sub'), { recursive: true })
    symlinkSync(join(base, 'outside'), join(base, 'linked/link'))
    symlinkSync(join(base, 'outside/sub'), join(base, 'linked/real/last'))
    const names = ['real/sub', 'link/sub', 'link', 'real/last']
    writeFileSync(
      join(base, 'linked/catalog.json'),
      JSON.stringify({
        carabiner: 1,
        plugins: names.map((name, i) => ({ name: `p${i}`, source: `./${name}` })),
      }),
    )
    const { plugins, problems } = await store.add(join(base, 'linked'))
    expect([plugins.map(({ name }) => name), problems.length]).toEqual([['p0'], 3])
    for (const path of ['link/sub', 'link', 'real/last'])
      await expect(
        fetchTree({ kind: 'folder', folder: join(base, 'linked'), path }),
        path,
      ).rejects.toMatchObject({ code: 'NO_PLUGIN' })
  })

  it('refuses a second one of the same name, and takes the same once more', async () => {
    const source = marketplace()
    await store.add(source)
    write('other/catalog.json', { carabiner: 1, name: 'market-place', plugins: [] })
    await expect(store.add(join(base, 'other'))).rejects.toMatchObject({ code: 'CATALOG_TAKEN' })
    expect((await store.add(source)).name).toBe('market-place')
    expect((await store.add(join(base, 'other'), 'mine')).name).toBe('mine')
  })

  it('of two that come at once with one name one wins', async () => {
    const folders = ['x', 'y'].map((one) =>
      dirname(write(`${one}/catalog.json`, { carabiner: 1, name: 'same', plugins: [] })),
    )
    const results = await Promise.allSettled(folders.map((one) => new CatalogStore().add(one)))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it.each(['../x', '-x', 'X', 'a/b', 'con', ''])('refuses the name %j', async (name) => {
    write('ours/catalog.json', { carabiner: 1, plugins: [] })
    await expect(store.add(join(base, 'ours'), name)).rejects.toMatchObject({ code: 'NAME_INVALID' })
    expect(store.names()).toEqual([])
  })

  it.each(['npm:x', 'a@b', 'https://x.example/catalog.json', '--upload-pack=x', 'ext::sh -c id'])(
    'refuses %j as a source',
    async (source) => {
      await expect(store.add(source)).rejects.toMatchObject({ code: 'SOURCE_INVALID' })
    },
  )

  it('updates: what is new, changed and gone; and stays as it was where that fails', async () => {
    const file = write('ours/catalog.json', {
      carabiner: 1,
      name: 'ours',
      plugins: [
        { name: 'stays', source: 'npm:stays' },
        { name: 'goes', source: 'npm:goes' },
      ],
    })
    await store.add(join(base, 'ours'))
    write('ours/catalog.json', {
      carabiner: 1,
      plugins: [
        { name: 'stays', source: 'npm:stays@2' },
        { name: 'comes', source: 'npm:comes' },
      ],
    })
    const { added, removed, changed } = await store.update('ours')
    expect({ added, removed, changed }).toEqual({ added: ['comes'], removed: ['goes'], changed: ['stays'] })
    rmSync(file)
    await expect(store.update('ours')).rejects.toMatchObject({ code: 'CATALOG_INVALID' })
    expect(store.get('ours').plugins.map(({ name }) => name)).toEqual(['stays', 'comes'])
  })

  it('one that cannot be read is reported and does not hide the others', async () => {
    write('ours/catalog.json', { carabiner: 1, name: 'ours', plugins: [] })
    await store.add(join(base, 'ours'))
    write('data/catalogs/broken/1.json', '{"format":1,"value":{"name":1}}')
    const { catalogs, problems } = store.all()
    expect(catalogs.map(({ name }) => name)).toEqual(['ours'])
    expect(problems).toHaveLength(1)
  })

  it('removes, and leaves nothing', async () => {
    write('ours/catalog.json', { carabiner: 1, name: 'ours', plugins: [] })
    await store.add(join(base, 'ours'))
    store.remove('ours')
    expect(store.names()).toEqual([])
    expect(() => store.get('ours')).toThrow(/carabiner catalog add|no catalog/)
    expect(() => store.remove('../data')).toThrow(/no catalog/)
  })
})

describe('NAME@CATALOG', () => {
  it('stays as it was when the catalog was fetched, until it is fetched again', async () => {
    const source = marketplace()
    const { commit: first } = await store.add(source)
    write('market/plugins/a/hooks/hooks.json', { hooks: {} })
    commit(join(base, 'market'))
    const resolved = await resolveCatalog('A', 'market-place')
    expect(resolved).toEqual({
      source: { kind: 'git', url: join(base, 'market'), ref: first, path: 'plugins/a' },
      commit: first,
    })
    const { tree, commit: fetched } = await fetchTree(resolved.source)
    expect(fetched).toBe(first)
    expect(JSON.parse(tree.text('hooks/hooks.json') ?? '')).toEqual(HOOKS_JSON)
    await store.update('market-place')
    expect((await resolveCatalog('a', 'market-place')).commit).not.toBe(first)
  })

  it('goes by the commit where the entry gives one, whatever its branch holds by now', async () => {
    const url = `file://${join(base, 'market')}`
    marketplace()
    const sha = git(join(base, 'market'), 'rev-parse', 'HEAD')
    write('pins/catalog.json', {
      carabiner: 1,
      name: 'pins',
      plugins: [{ name: 'a', source: { source: 'git-subdir', url, path: 'plugins/a', ref: 'main', sha } }],
    })
    await store.add(join(base, 'pins'))
    expect(await resolveCatalog('a', 'pins')).toMatchObject({ source: { ref: sha }, commit: sha })
  })

  it.each([
    ['b', 'ours', /The catalog ours has no plugin b/],
    ['sacret', 'ours', /did you mean secret@ours/],
    ['bad', 'ours', /In ours bad is left out: .*no folder/],
    ['secret', 'our', /did you mean ours/],
    ['secret', '../ours', /no catalog/],
  ])('%s@%s is not there, and it says why', async (name, catalog, said) => {
    write('ours/catalog.json', {
      carabiner: 1,
      name: 'ours',
      plugins: [
        { name: 'secret', source: 'npm:x' },
        { name: 'bad', source: './bad' },
      ],
    })
    await store.add(join(base, 'ours'))
    await expect(resolveCatalog(name, catalog)).rejects.toThrow(said)
  })
})

describe('a catalog that lies', () => {
  const target = () => ({ scope: 'user', base: join(base, 'home') }) as const

  async function prepare(entry: object) {
    write('liar/p/hooks.json', HOOKS_JSON)
    write('liar/catalog.json', {
      carabiner: 1,
      name: 'liar',
      plugins: [{ name: 'p', source: './p', ...entry }],
    })
    await store.add(join(base, 'liar'))
    const source = { kind: 'catalog', name: 'p', catalog: 'liar' } as const
    return preparePlugin(await resolveSource(source, resolveCatalog), target())
  }

  it('about the content is refused, and one that does not is taken', async () => {
    await expect(prepare({ integrity: INTEGRITY })).rejects.toMatchObject({ code: 'MISMATCH' })
    const { tree } = await fetchTree({ kind: 'folder', folder: join(base, 'liar/p') })
    const { staged, name } = await prepare({ integrity: tree.integrity() })
    staged.remove()
    expect(name).toBe('p')
  })

  it('about the commit is refused', async () => {
    marketplace()
    const source = {
      source: 'git-subdir',
      url: `file://${join(base, 'market')}`,
      path: 'plugins/a',
      ref: 'main',
    }
    await expect(prepare({ source, commit: COMMIT })).rejects.toMatchObject({ code: 'FETCH_FAILED' })
  })

  it('by moving a tag under a commit gets the commit, not the tag', async () => {
    marketplace()
    const folder = join(base, 'market')
    git(folder, 'tag', 'v1')
    const first = git(folder, 'rev-parse', 'HEAD')
    write('market/plugins/a/hooks/hooks.json', { hooks: { Stop: [] } })
    commit(folder)
    git(folder, 'tag', '-f', 'v1')
    const source = { source: 'git-subdir', url: `file://${folder}`, path: 'plugins/a', ref: 'v1', sha: first }
    const { staged, fetched } = await prepare({ source })
    staged.remove()
    expect(fetched.commit).toBe(first)
  })
})
