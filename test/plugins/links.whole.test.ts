// P1: symbolic links in a source. Those that stay inside become files; the others are refused, and say where they lead.

import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installPrepared, preparePlugin } from '../../src/plugins/install-plugin.js'
import { fetchTree } from '../../src/plugins/sources/fetch-source.js'
import type { FileTree } from '../../src/plugins/sources/file-tree.js'
import { tarOf } from './archives.js'
import { treeOf, withHome } from './plugin-sources.js'

const bench = withHome()
let made = 0

/** Link by target. */
type Links = Readonly<Record<string, string>>

function sourceWith(links: Links, files: Links = {}): string {
  const name = `source-${made++}`
  const folder = bench.plugin(name, { says: 'guard' })
  bench.file(`${name}/CLAUDE.md`, 'Read me.')
  bench.file(`${name}/lib/rules.sh`, '#!/bin/sh\n', 0o755)
  bench.plugin(`${name}/plugins/inner`, { says: 'inner' })
  for (const [path, text] of Object.entries(files)) bench.file(`${name}/${path}`, text)
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(target, join(folder, path))
  }
  return folder
}

const CARRIERS: Readonly<Record<string, (folder: string, path?: string) => Promise<FileTree>>> = {
  folder: async (folder, path) =>
    (await fetchTree({ kind: 'folder', folder, ...(path !== undefined && { path }) })).tree,
  git: async (folder, path) => {
    bench.repository(folder)
    return (await fetchTree({ kind: 'git', url: folder, ...(path !== undefined && { path }) })).tree
  },
  tar: async (folder, path) => {
    const place = `${folder}.tgz`
    spawnSync('tar', ['-czf', place, '--exclude=.git', '-C', dirname(folder), folder.split('/').at(-1) ?? ''])
    return (await fetchTree({ kind: 'archive', place, ...(path !== undefined && { path }) })).tree
  },
}

describe.each(Object.entries(CARRIERS))('P1: a link in a source of kind %s', (_, fetched) => {
  it('becomes the file that it leads to, with its executable bit', async () => {
    const tree = await fetched(
      sourceWith({ 'AGENTS.md': 'CLAUDE.md', 'bin/rules': '../lib/rules.sh', chain: 'bin/rules' }),
    )
    expect(tree.text('AGENTS.md')).toBe('Read me.')
    for (const path of ['bin/rules', 'chain']) {
      expect(tree.files.get(path), path).toEqual({ bytes: Buffer.from('#!/bin/sh\n'), isExecutable: true })
    }
  })

  it('to a folder becomes its files, and links in it are followed too', async () => {
    const tree = await fetched(sourceWith({ copy: 'lib', 'lib/doc.md': '../CLAUDE.md', deep: 'copy/doc.md' }))
    expect([...tree.files.keys()].filter((path) => path.startsWith('copy')).sort()).toEqual([
      'copy/doc.md',
      'copy/rules.sh',
    ])
    expect(tree.text('copy/doc.md')).toBe('Read me.')
    expect(tree.text('deep')).toBe('Read me.')
  })

  it('in a part of the source may lead to the rest of it', async () => {
    const folder = sourceWith({
      'plugins/inner/AGENTS.md': '../../CLAUDE.md',
      'plugins/inner/lib': '../../lib',
      unused: '/etc/passwd',
    })
    const tree = await fetched(folder, 'plugins/inner')
    expect(tree.text('AGENTS.md')).toBe('Read me.')
    expect(tree.files.get('lib/rules.sh')?.isExecutable).toBe(true)
    expect(tree.files.has('unused')).toBe(false)
  })

  it.each([
    ['absolute', { entry: '/etc/passwd' }],
    ['out of it', { 'sub/entry': '../../../etc/passwd' }],
    ['out of it and back', { entry: '../elsewhere/CLAUDE.md' }],
    ['to nothing', { entry: 'nowhere' }],
    ['to itself', { entry: 'entry' }],
    ['in a circle', { entry: 'other', other: 'entry' }],
    ['to the folder it lies in', { 'sub/deep/entry': '..' }],
    ['to the top', { 'sub/entry': '..' }],
    ['to folders that lead to each other', { 'a/entry': '../b', 'b/entry': '../a' }],
    ['through a file', { entry: 'CLAUDE.md/x' }],
  ])('that leads %s is refused, with its name', async (_what, links: Links) => {
    await expect(fetched(sourceWith(links, { 'a/x': '', 'b/x': '' }))).rejects.toMatchObject({
      code: 'UNSAFE_ENTRY',
      message: expect.stringMatching(/(?:entry|other)"? is a (?:symbolic |broken )?link/),
    })
  })

  it('that multiplies files without end is refused', async () => {
    const links: Record<string, string> = {}
    for (let i = 0; i < 20; i++)
      for (const name of ['x', 'y', 'z']) links[`bomb/${i}/${name}`] = `../${i + 1}`
    await expect(fetched(sourceWith(links, { 'bomb/20/a': 'a' }))).rejects.toMatchObject({
      code: expect.stringMatching(/TOO_LARGE|UNSAFE_ENTRY/),
    })
  })
})

it('P1: a link with a file below its name is refused', async () => {
  const place = bench.path('both.tar')
  bench.file('both.tar', '')
  const entries = [
    { name: 'p/hooks.json', content: '{}' },
    { name: 'p/lib/x', content: 'x' },
    { name: 'p/a', type: '2', link: 'lib' },
    { name: 'p/a/x', content: 'y' },
  ]
  const { writeFileSync } = await import('node:fs')
  writeFileSync(place, tarOf(entries))
  await expect(fetchTree({ kind: 'archive', place })).rejects.toMatchObject({ code: 'UNSAFE_ENTRY' })
})

it('P1: what is installed has no links, and is found unchanged afterwards', async () => {
  const folder = sourceWith({ 'AGENTS.md': 'CLAUDE.md', docs: 'lib' })
  const prepared = await preparePlugin({ source: { kind: 'folder', folder } }, bench.user)
  await installPrepared(prepared, bench.user)
  prepared.staged.remove()
  const installed = treeOf(join(bench.home, '.amplifier/hooks/guard'))
  expect(installed['AGENTS.md']).toBe('644 Read me.')
  expect(installed['docs/rules.sh']).toBe('755 #!/bin/sh\n')
})
