import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lockedSource, parseSource, sourceText } from '../../src/plugins/sources/source.js'

const from = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-source-')))
mkdirSync(join(from, 'plain'))
mkdirSync(join(from, 'with#sign'))
mkdirSync(join(from, 'c'))
mkdirSync(join(from, 'c#', 'x'), { recursive: true })
// A project may hold folders that look like other sources.
mkdirSync(join(from, 'guard@team'))
mkdirSync(join(from, 'guard@team#v1'))
mkdirSync(join(from, 'plain#v1'))
mkdirSync(join(from, 'https:', 'example.com', 'taken.git#v1'), { recursive: true })
mkdirSync(join(from, 'git@example.com:taken.git#v1'))
mkdirSync(join(from, 'bare.git', 'objects'), { recursive: true })
writeFileSync(join(from, 'bare.git', 'HEAD'), '')
writeFileSync(join(from, 'a.tgz'), '')
writeFileSync(join(from, 'a.txt'), '')
afterAll(() => rmSync(from, { recursive: true }))

const COMMIT = 'a'.repeat(40)

describe('a source', () => {
  it.each([
    ['./plain', { kind: 'folder', folder: `${from}/plain` }],
    ['plain', { kind: 'folder', folder: `${from}/plain` }],
    [`${from}/plain`, { kind: 'folder', folder: `${from}/plain` }],
    ['file:plain', { kind: 'folder', folder: `${from}/plain` }],
    [`file://${from}/plain`, { kind: 'folder', folder: `${from}/plain` }],
    ['with#sign', { kind: 'folder', folder: `${from}/with#sign` }],
    [`${from}/c#/x`, { kind: 'folder', folder: `${from}/c#/x` }],
    ['./guard@team', { kind: 'folder', folder: `${from}/guard@team` }],
    ['https://example.com/taken.git#v1', { kind: 'git', url: 'https://example.com/taken.git', ref: 'v1' }],
    ['git@example.com:taken.git#v1', { kind: 'git', url: 'git@example.com:taken.git', ref: 'v1' }],
    ['./plain#v1', { kind: 'git', url: `${from}/plain`, ref: 'v1' }],
    [`file://${from}/plain#v1`, { kind: 'git', url: `${from}/plain`, ref: 'v1' }],
    ['bare.git', { kind: 'git', url: `${from}/bare.git` }],
    ['https://example.com/a/b', { kind: 'git', url: 'https://example.com/a/b' }],
    ['git+https://example.com/a/b.git#v1', { kind: 'git', url: 'https://example.com/a/b.git', ref: 'v1' }],
    [`https://example.com/b.git#${COMMIT}`, { kind: 'git', url: 'https://example.com/b.git', ref: COMMIT }],
    ['ssh://git@example.com/a/b', { kind: 'git', url: 'ssh://git@example.com/a/b' }],
    ['git@example.com:a/b.git#main', { kind: 'git', url: 'git@example.com:a/b.git', ref: 'main' }],
    ['npm:guard', { kind: 'npm', name: 'guard', range: 'latest' }],
    ['npm:@s/guard@^1.2.0', { kind: 'npm', name: '@s/guard', range: '^1.2.0' }],
    ['a.tgz', { kind: 'archive', place: `${from}/a.tgz` }],
    ['https://example.com/x.tar.gz', { kind: 'archive', place: 'https://example.com/x.tar.gz' }],
    ['guard@team', { kind: 'catalog', name: 'guard', catalog: 'team' }],
  ])('may be %s', (text, source) => {
    expect(parseSource(text, { from })).toEqual(source)
  })

  it('takes a ref and a folder in it', () => {
    const source = parseSource('https://example.com/b.git', { from, ref: 'v2', path: './plugins/x/' })
    expect(source).toEqual({ kind: 'git', url: 'https://example.com/b.git', ref: 'v2', path: 'plugins/x' })
    expect(sourceText(source)).toBe('https://example.com/b.git')
  })

  it.each([
    '',
    ' ',
    '-x',
    '--upload-pack=touch x',
    '--settings={}',
    'ext::sh -c id',
    'fd::3',
    'git://example.com/a',
    'http://example.com/a.git',
    'ftp://example.com/a.tgz',
    'javascript:1',
    './a.txt',
    'owner/repo',
    'https://me:token@example.com/a.git',
    'https://token@example.com/a',
    'ssh://-oProxyCommand=id/x',
    'https://example.com\\@10.0.0.1/x.git',
    'https://example.com#@10.0.0.1/x.git#v1',
    'git@example.com:-x',
    'ssh://-l@example.com/x',
    'npm:../x',
    'npm:x@../y',
    'npm:x@file:../y',
    'npm:x@https://e.com/y',
    'npm:x@npm:y',
    'npm:--registry=http://evil',
    'npm:x@--yes',
    'npm:x@git+ssh://e',
    'a\u0000b',
    'guard@team#v1',
    './plain#--upload-pack=id',
    './plain#a..b',
    './plain#a:b',
    './plain#+a',
    './plain#a b',
    './plain#a*',
    './plain#@{-1}',
    './plain#',
  ])('may not be %j', (text) => {
    expect(() => parseSource(text, { from })).toThrow(expect.objectContaining({ code: 'SOURCE_INVALID' }))
  })

  it('has an address in letters that cannot look like others', () => {
    expect(parseSource('https://g\u0456thub.com/x/\u202ey.git#v1')).toEqual({
      kind: 'git',
      url: 'https://xn--gthub-n2e.com/x/%E2%80%AEy.git',
      ref: 'v1',
    })
  })

  it.each(['../x', '/etc', 'a/../../b', 'a\\b', 'C:/x'])('has no folder %j in it', (path) => {
    expect(() => parseSource('./plain', { from, path })).toThrow(
      expect.objectContaining({ code: 'UNSAFE_ENTRY' }),
    )
  })

  it('is refused if it does not exist, or if an option is for another kind', () => {
    expect(() => parseSource('./nowhere', { from })).toThrow(
      expect.objectContaining({ code: 'SOURCE_NOT_FOUND' }),
    )
    expect(() => parseSource('npm:x', { from, ref: 'v1' })).toThrow('--ref only works with git sources')
    expect(() => parseSource('x@y', { from, path: 'a' })).toThrow('leave out --ref and --path')
    expect(() => parseSource('./plain#a', { from, ref: 'b' })).toThrow('differs from --ref')
  })
})

describe('a source in a lock file', () => {
  const place = '/nowhere/project'

  it.each([
    [
      { kind: 'folder', source: './x' },
      { kind: 'folder', folder: '/nowhere/project/x' },
    ],
    [
      { kind: 'folder', source: './a/../../b' },
      { kind: 'folder', folder: '/nowhere/b' },
    ],
    [
      { kind: 'git', source: '/x/y', ref: 'v1' },
      { kind: 'git', url: '/x/y', ref: 'v1' },
    ],
    [
      { kind: 'git', source: 'https://e.com/x.git', path: 'a' },
      { kind: 'git', url: 'https://e.com/x.git', path: 'a' },
    ],
    [
      { kind: 'git', source: 'git@e.com:x' },
      { kind: 'git', url: 'git@e.com:x' },
    ],
    [
      { kind: 'npm', source: 'npm:x' },
      { kind: 'npm', name: 'x', range: 'latest' },
    ],
    [
      { kind: 'npm', source: 'npm:x', ref: '^1' },
      { kind: 'npm', name: 'x', range: '^1' },
    ],
    [
      { kind: 'archive', source: 'file:///x.tgz' },
      { kind: 'archive', place: '/x.tgz' },
    ],
    [
      { kind: 'archive', source: 'https://e.com/x.tgz' },
      { kind: 'archive', place: 'https://e.com/x.tgz' },
    ],
  ] as const)('is read without a look at the disk: %j', (entry, expected) => {
    expect(lockedSource(entry, place)).toEqual(expected)
  })

  it.each([
    { kind: 'folder', source: 'x' },
    { kind: 'folder', source: 'https://e.com/x.git' },
    { kind: 'folder', source: 'git@e.com:x' },
    { kind: 'folder', source: 'x@team' },
    { kind: 'folder', source: './a\u0000' },
    { kind: 'folder', source: '--x' },
    { kind: 'git', source: 'ext::sh -c id' },
    { kind: 'git', source: 'git+ext://x' },
    { kind: 'git', source: 'FILE:///x' },
    { kind: 'git', source: 'https://e.com/x.tgz' },
    { kind: 'git', source: 'npm:x' },
    { kind: 'git', source: './x', ref: '--upload-pack=id' },
    { kind: 'npm', source: 'x' },
    { kind: 'npm', source: 'npm:x@1', ref: '2' },
    { kind: 'npm', source: 'npm:x', ref: 'https://e.com' },
    { kind: 'archive', source: 'https://e.com/x.git' },
    { kind: 'archive', source: 'http://e.com/x.tgz' },
  ] as const)('may not be %j', (entry) => {
    expect(() => lockedSource(entry, place)).toThrow(expect.objectContaining({ code: 'SOURCE_INVALID' }))
  })
})
