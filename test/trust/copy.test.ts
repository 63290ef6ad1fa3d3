import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isLarge } from '../property/runs.js'
import { filesBelow, project, removeAll, trusted } from './hostile-project.js'

/** The copy of the only trusted plugin. */
function copied({ store, plugin }: ReturnType<typeof project>): string {
  const unit = plugin()
  trusted(store, unit)
  const standing = store.standingOf(unit)
  if (standing.state !== 'trusted' || standing.copy === undefined) throw new Error('it is not trusted')
  return standing.copy
}

describe('the copy', () => {
  it('holds every file, read-only, with its executable bit and nothing else of its mode', () => {
    const place = project()
    place.write('plugins/guard/private', 'x', 0o600)
    place.write('plugins/guard/wide', 'x', 0o777)
    const copy = copied(place)
    expect(filesBelow(copy)).toEqual([
      ...['check.sh', 'hooks.json', 'lib', 'lib/data.txt', 'lib/rules.sh', 'private', 'wide'],
    ])
    const modes = ['', 'lib', 'check.sh', 'lib/data.txt', 'private', 'wide'].map((path) =>
      (statSync(join(copy, path)).mode & 0o7777).toString(8),
    )
    expect(modes).toEqual(['555', '555', '555', '444', '444', '555'])
  })

  it('holds no .git, .DS_Store or __pycache__, and keeps names with any characters', () => {
    const place = project()
    const names = ['a\nb', 'c\u001b[31m\r', ' d ', '"e\'', '\u202efdp', '-rf', '%s\\n', 'ü']
    for (const name of names) place.write(`plugins/guard/odd/${name}`, name)
    place.write('plugins/guard/.git/config', 'x')
    place.write('plugins/guard/lib/.git', 'gitdir: elsewhere')
    place.write('plugins/guard/.DS_Store', 'x')
    place.write('plugins/guard/lib/__pycache__/rules.pyc', 'x')
    const copy = copied(place)
    expect(readdirSync(join(copy, 'odd')).sort()).toEqual([...names].sort())
    for (const name of names) expect(readFileSync(join(copy, 'odd', name), 'utf8')).toBe(name)
    expect(filesBelow(copy).filter((path) => /\.git|DS_Store|pycache/.test(path))).toEqual([])
  })

  it('makes links inside the folder anew, relative, to what they really lead to', () => {
    const place = project()
    const { path } = place.plugin()
    symlinkSync(join(path, 'lib/rules.sh'), join(path, 'absolute'))
    symlinkSync('../plugins/../../plugins/guard/check.sh', join(path, 'lib/roundabout'))
    symlinkSync('absolute', join(path, 'chain'))
    symlinkSync('lib', join(path, 'folder'))
    // Its path leaves the folder and comes back.
    unlinkSync(join(path, 'lib/roundabout'))
    symlinkSync('../../guard/check.sh', join(path, 'lib/roundabout'))
    const copy = copied(place)
    const links = ['absolute', 'lib/roundabout', 'chain', 'folder'].map((link) =>
      readlinkSync(join(copy, link)),
    )
    expect(links).toEqual(['lib/rules.sh', '../check.sh', 'lib/rules.sh', 'lib'])
    expect(readFileSync(join(copy, 'folder/data.txt'), 'utf8')).toBe('data\n')
  })

  it('breaks hard links: who writes to the other name does not write to the copy', () => {
    const place = project()
    const { path } = place.plugin()
    const other = place.write('elsewhere', 'reviewed')
    linkSync(other, join(path, 'hard'))
    const copy = copied(place)
    writeFileSync(other, 'evil')
    expect(readFileSync(join(copy, 'hard'), 'utf8')).toBe('reviewed')
  })

  it('is made anew where it was changed, and left alone where it was not', () => {
    const place = project()
    const copy = copied(place)
    const { ino } = statSync(copy)
    expect(statSync(copied(place)).ino).toBe(ino)
    chmodSync(copy, 0o755)
    writeFileSync(join(copy, 'added'), 'evil')
    copied(place)
    expect(filesBelow(copy)).not.toContain('added')
    chmodSync(join(copy, 'check.sh'), 0o755)
    writeFileSync(join(copy, 'check.sh'), 'evil')
    copied(place)
    expect(readFileSync(join(copy, 'check.sh'), 'utf8')).toContain('#!/bin/sh')
    removeAll(copy)
    symlinkSync(place.dir, copy)
    copied(place)
    expect(statSync(copy).isDirectory()).toBe(true)
    expect(filesBelow(copy)).toContain('check.sh')
    expect(readdirSync(join(copy, '..'))).toEqual(['guard'])
  })

  it('has the name of its folder without controls, and within the bounds of a name', () => {
    const { store, dir, write } = project()
    const name = `a\nb${'ü'.repeat(110)}`
    write(`${name}/x`, 'x')
    const unit = { kind: 'folder' as const, path: join(dir, name), name: 'odd', projectDir: dir, hooks: [] }
    trusted(store, unit)
    const standing = store.standingOf(unit)
    expect(standing).toMatchObject({ state: 'trusted', copy: expect.stringMatching(/\/a-bü+$/) })
  })
})

describe('a folder cannot be trusted', () => {
  const FIFO = (path: string) => execFileSync('mkfifo', [path])
  const problems: Readonly<Record<string, readonly [(folder: string) => unknown, string]>> = {
    'with a link to the outside': [
      (f) => symlinkSync('/etc/passwd', `${f}/lib/passwd`),
      '"lib/passwd" is a link to a place outside, "/etc/passwd"; put the file itself there.',
    ],
    'with a relative link to the outside': [
      (f) => {
        writeFileSync(`${f}/../secret`, '')
        symlinkSync('../../secret', `${f}/lib/secret`)
      },
      '"lib/secret" is a link to a place outside',
    ],
    'with a link to a folder beside it that begins with its name': [
      (f) => {
        mkdirSync(`${f}-evil`)
        symlinkSync('../guard-evil', `${f}/beside`)
      },
      '"beside" is a link to a place outside',
    ],
    'with a link that leads nowhere': [(f) => symlinkSync('nothing', `${f}/x`), '"x" is a broken link'],
    'with a link to itself': [(f) => symlinkSync('x', `${f}/x`), '"x" is a link that leads to itself'],
    'with a circle of links': [
      (f) => {
        symlinkSync('y', `${f}/x`)
        symlinkSync('x', `${f}/y`)
      },
      '"x" is a link that leads to itself',
    ],
    'with a link to the folder it lies in': [
      (f) => symlinkSync('..', `${f}/lib/up`),
      '"lib/up" is a link to a folder that contains it',
    ],
    'with a link into .git': [
      (f) => {
        mkdirSync(`${f}/.git`)
        writeFileSync(`${f}/.git/x`, '')
        symlinkSync('.git/x', `${f}/x`)
      },
      '"x" is a link to ".git/x", which is not copied',
    ],
    'with a named pipe': [
      (f) => FIFO(`${f}/pipe`),
      '"pipe" is a named pipe, which cannot be copied; remove it.',
    ],
    'with a pipe of an odd name': [
      (f) => FIFO(`${f}/a\n\u001b[2K\u202e`),
      String.raw`"a\n\u001b[2K\u202e" is a named pipe`,
    ],
    'with a name that is not UTF-8': [
      (f) => writeFileSync(Buffer.concat([Buffer.from(`${f}/a`), Buffer.from([0xff])]), ''),
      String.raw`has a file whose name is not UTF-8: a\xff; rename it.`,
    ],
    'with a setuid bit': [
      (f) => chmodSync(`${f}/check.sh`, 0o4755),
      '"check.sh" has a setuid, setgid or sticky bit',
    ],
    'with 256 MiB and more': [
      (f) => {
        writeFileSync(`${f}/large`, '')
        truncateSync(`${f}/large`, 256 * 1024 * 1024 + 1)
      },
      '"large" is too large: 268435457 bytes',
    ],
    'with a terabyte of nothing, which nobody reads': [
      (f) => {
        writeFileSync(`${f}/sparse`, '')
        truncateSync(`${f}/sparse`, 2 ** 40)
      },
      '"sparse" is too large: 1099511627776 bytes',
    ],
    'with folders 65 deep': [
      (f) => mkdirSync(`${f}/${'d/'.repeat(65)}`, { recursive: true }),
      'is more than 64 folders deep',
    ],
    'with a path of more than 1024 bytes': [
      (f) => mkdirSync(`${f}/${`${'d'.repeat(250)}/`.repeat(5)}`, { recursive: true }),
      'has a path of more than 1024 bytes',
    ],
    'with more than 10,000 files': [
      (f) => {
        for (let i = 0; i < 10_001; i++) writeFileSync(`${f}/${i}`, '')
      },
      'is too large. It has more than 10000 files and folders.',
    ],
    'that is a file': [
      (f) => {
        removeAll(f)
        writeFileSync(f, '')
      },
      'cannot be read',
    ],
  }

  const quick = Object.entries(problems).filter(([name]) => isLarge || !name.includes('10,000'))
  it.each(quick)('%s', (_, [spoil, problem]) => {
    const { store, plugin, dataDir } = project()
    const unit = plugin()
    spoil(unit.path)
    const review = store.look(unit)
    expect(review.problems).toEqual(expect.arrayContaining([expect.stringContaining(problem)]))
    expect(() => store.trust(unit, review.digest)).toThrow('"guard" cannot be trusted: ')
    expect(store.standingOf(unit).state).toBe('untrusted')
    expect(filesBelow(dataDir).filter((path) => path.length > 10)).toEqual([])
  })

  it('with a socket', async () => {
    const { store, plugin } = project()
    const unit = plugin()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(unit.path, 's'), resolve))
    expect(store.look(unit).problems).toEqual(['"s" is a socket, which cannot be copied; remove it.'])
    await new Promise((resolve) => server.close(resolve))
  })

  it('when it is not what was reviewed any more', () => {
    const { store, plugin, dataDir } = project()
    const unit = plugin()
    const { digest } = store.look(unit)
    writeFileSync(join(unit.path, 'lib/rules.sh'), 'echo evil\n')
    expect(() => store.trust(unit, digest)).toThrow(
      '"guard" is not what was reviewed: something changed in the meantime',
    )
    expect(store.standingOf(unit).state).toBe('untrusted')
    expect(readdirSync(join(dataDir, 'copies'))).toEqual([])
    expect(() => store.trust(unit, '../../x')).toThrow('is not the digest of a review')
  })
})
