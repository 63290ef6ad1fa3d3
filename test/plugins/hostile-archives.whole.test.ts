// Archives that try to leave their folder or to be more than they are: each is refused as a whole.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PluginProblem } from '../../src/plugins/plugin-problem.js'
import { readArchive } from '../../src/plugins/sources/archive.js'
import { FileTree } from '../../src/plugins/sources/file-tree.js'
import { MOST_ENTRIES, MOST_FILE_BYTES } from '../../src/plugins/sources/limits.js'
import { paxEntry, type TarEntry, tarOf, ZIP } from './archives.js'

/** The code of the error. A tree means that nothing was thrown. */
function refusal(bytes: Buffer): string | FileTree {
  try {
    return readArchive(bytes).below('') ?? new FileTree()
  } catch (error) {
    if (!(error instanceof PluginProblem)) throw error
    return error.code
  }
}

const FORMATS = {
  tar: (names: readonly (string | Buffer)[]) => tarOf(names.map((name) => ({ name, content: 'x' }))),
  'tar.gz': (names: readonly (string | Buffer)[]) =>
    gzipSync(tarOf(names.map((name) => ({ name, content: 'x' })))),
  'tar with pax names': (names: readonly (string | Buffer)[]) =>
    tarOf(
      names.flatMap((name) => [
        paxEntry({ path: name.toString('latin1') }),
        { name: 'harmless', content: 'x' },
      ]),
    ),
  'tar with GNU names': (names: readonly (string | Buffer)[]) =>
    tarOf(
      names.flatMap((name): TarEntry[] => [
        { name: '././@LongLink', type: 'L', content: Buffer.concat([Buffer.from(name), Buffer.alloc(1)]) },
        { name: 'harmless', content: 'x' },
      ]),
    ),
}

describe.each(Object.entries(FORMATS))('%s', (_, make) => {
  it('takes plain files', () => {
    const tree = readArchive(make(['hooks.json', './bin/run.sh']))
    expect([...tree.files.keys()]).toEqual(['hooks.json', 'bin/run.sh'])
    expect(tree.text('bin/run.sh')).toBe('x')
  })

  it.each([
    '../evil',
    'a/../../evil',
    'a/..',
    '..',
    '/etc/passwd',
    '//etc/passwd',
    '..\\evil',
    'a\\..\\..\\evil',
    'C:evil',
    'C:/evil',
    'a/c:evil',
    'hooks.json:evil',
    'aux.sh',
    'bin/NUL',
    'com1',
    'a//b',
    'a/./b',
    'a\nb',
    'a\u001b[2Jb',
    `${'d/'.repeat(40)}deep`,
    `${'n'.repeat(300)}`,
  ])('refuses %j', (name) => {
    // The name does not fit into a tar header.
    if (name.length > 100 && make === FORMATS.tar) return
    if (name.length > 100 && make === FORMATS['tar.gz']) return
    expect(refusal(make(['hooks.json', name]))).toBe('UNSAFE_ENTRY')
  })

  it.each([
    [['a', 'a']],
    [['a', 'A']],
    [['Dir/a', 'dir/b']],
    [['a', 'a/b']],
    [['a/b', 'a']],
    [['x', 'x.']],
    [['x', 'x ']],
  ])('refuses two names of one file: %j', (names) => {
    expect(refusal(make(names))).toBe('UNSAFE_ENTRY')
  })

  it('refuses a name that is not UTF-8', () => {
    if (make === FORMATS['tar with pax names']) return // these names are made from text
    expect(refusal(make([Buffer.from([0x61, 0xff])]))).toBe('UNSAFE_ENTRY')
  })

  it('refuses a million files by the ten thousandth', () => {
    const names = Array.from({ length: MOST_ENTRIES + 1 }, (_, i) => `f${i}`)
    expect(refusal(make(names))).toBe('TOO_LARGE')
  })

  it('leaves out repositories and what was compiled', () => {
    const tree = readArchive(
      make(['hooks.json', '.git/config', 'sub/.GIT/hooks/post-checkout', 'a/__pycache__/a.pyc']),
    )
    expect([...tree.files.keys()]).toEqual(['hooks.json'])
  })

  it('refuses a cut archive', () => {
    const whole = make(['a', 'b'])
    expect(refusal(whole.subarray(0, Math.floor(whole.length / 2)))).not.toBeInstanceOf(FileTree)
  })
})

it('says what is wrong with a path', () => {
  expect(() => readArchive(FORMATS.tar(['/etc/passwd']))).toThrow(
    '/etc/passwd has an absolute path; nothing was installed',
  )
  expect(() => readArchive(FORMATS['tar.gz'](['a/../b']))).toThrow(
    'a/../b leads out of the folder; nothing was installed',
  )
})

describe('tar', () => {
  it.each([
    ['a symbolic link', { type: '2', link: '/home/me/.ssh' }],
    ['a link that leads nowhere', { type: '2', link: 'nowhere' }],
    ['a link to itself', { type: '2', link: 'entry' }],
    ['a hard link', { type: '1', link: 'hooks.json' }],
    ['a character device', { type: '3' }],
    ['a block device', { type: '4' }],
    ['a named pipe', { type: '6' }],
    ['a sparse file', { type: 'S' }],
    ['a type that is not known', { type: 'V' }],
  ])('refuses %s', (_, entry) => {
    expect(refusal(tarOf([{ name: 'hooks.json' }, { name: 'entry', ...entry }]))).toBe('UNSAFE_ENTRY')
  })

  it('keeps of the mode whether it can be executed, and nothing else', () => {
    const tree = readArchive(
      tarOf([
        { name: 'a', mode: 0o6755 },
        { name: 'b', mode: 0o4644 },
      ]),
    )
    expect([...tree.files.values()].map(({ isExecutable }) => isExecutable)).toEqual([true, false])
  })

  it('refuses one path or size for all files, sparse attributes, and sizes that are none', () => {
    expect(refusal(tarOf([paxEntry({ path: 'x' }, 'g'), { name: 'a' }]))).toBe('ARCHIVE_INVALID')
    expect(refusal(tarOf([paxEntry({ 'GNU.sparse.major': '1' }), { name: 'a' }]))).toBe('ARCHIVE_INVALID')
    expect(refusal(tarOf([paxEntry({ size: '-1' }), { name: 'a' }]))).toBe('ARCHIVE_INVALID')
    expect(refusal(tarOf([{ name: 'a', size: 100_000 }]))).toBe('ARCHIVE_INVALID')
  })

  it('takes what git and npm write before the files', () => {
    const tree = readArchive(
      tarOf([
        paxEntry({ comment: 'a'.repeat(40) }, 'g'),
        { name: 'p/', type: '5' },
        { name: 'b', prefix: 'p', content: 'x' },
      ]),
    )
    expect([...tree.files.keys()]).toEqual(['p/b'])
  })

  it('refuses a damaged head', () => {
    const bytes = tarOf([{ name: 'a' }])
    bytes[0] = 0x62
    expect(refusal(bytes)).toBe('ARCHIVE_INVALID')
    expect(refusal(Buffer.from('no archive at all'))).toBe('ARCHIVE_INVALID')
  })

  it('stops unpacking a bomb, whatever its heads say', () => {
    expect(refusal(gzipSync(Buffer.alloc(120 * 1024 * 1024), { level: 1 }))).toBe('TOO_LARGE')
  })

  it('refuses one file that is too large, and too much in all', () => {
    const large = Buffer.alloc(MOST_FILE_BYTES + 1)
    expect(refusal(tarOf([{ name: 'a', content: large }]))).toBe('TOO_LARGE')
    const files = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, content: large.subarray(1) }))
    expect(refusal(tarOf(files))).toBe('TOO_LARGE')
  })

  it('reads what tar itself packs, long names too', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carabiner-tar-'))
    const long = `${'d'.repeat(60)}/${'e'.repeat(60)}/${'f'.repeat(60)}`
    mkdirSync(join(folder, 'in', long), { recursive: true })
    writeFileSync(join(folder, 'in', long, 'x'), 'deep')
    for (const format of ['gnu', 'posix', 'ustar']) {
      spawnSync('tar', [`--format=${format}`, '-czf', join(folder, 'a.tgz'), '-C', join(folder, 'in'), '.'])
      const { stdout } = spawnSync('cat', [join(folder, 'a.tgz')])
      expect(readArchive(stdout).text(`${long}/x`), format).toBe('deep')
    }
    symlinkSync('/etc/passwd', join(folder, 'in', 'link'))
    spawnSync('tar', ['-czf', join(folder, 'a.tgz'), '-C', join(folder, 'in'), '.'])
    expect(refusal(spawnSync('cat', [join(folder, 'a.tgz')]).stdout)).toBe('UNSAFE_ENTRY')
    rmSync(folder, { recursive: true })
  })
})

it('refuses a zip archive, whatever it is called, and says what to do instead', () => {
  expect(refusal(ZIP)).toBe('ARCHIVE_INVALID')
  expect(() => readArchive(ZIP)).toThrow('The archive is a zip archive')
})
