// `carabiner catalog`: added, searched, updated and removed by the real program.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

function catalogue(plugins: readonly object[], name = 'team'): string {
  const path = join(project.base, 'team catalogue', 'catalog.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ carabiner: 1, name, plugins }))
  return dirname(path)
}

const SCAN = {
  name: 'secret-scan',
  version: '1.2.0',
  description: 'Denies commits with keys in them.',
  keywords: ['git'],
  source: 'npm:secret-scan',
}

const catalog = (...args: readonly string[]) => project.call(['catalog', ...args])

describe('carabiner catalog', () => {
  it('adds one, lists it, finds what is in it, and removes it', async () => {
    const folder = catalogue([SCAN, { name: 'lint', source: 'npm:lint' }, { name: 'bad', source: '/etc' }])
    const added = await catalog('add', folder)
    expect(added.stdout).toMatch(/^added team: 2 plugins from \S+.*team catalogue\nnote bad is left out: /)
    expect(added.code).toBe(0)
    expect((await catalog()).stdout).toMatch(/^team {2}2 plugins {2}.*team catalogue {2}updated 20/)
    const found = await catalog('search', 'commits', 'git')
    expect([found.code, found.stdout]).toEqual([
      0,
      'secret-scan@team  1.2.0\n  Denies commits with keys in them.\n',
    ])
    expect((await catalog('remove', 'team')).stdout).toContain('removed team')
    expect((await catalog()).stdout).toBe('no catalogs\nnext carabiner catalog add SRC\n')
  })

  it('is a person’s to add to and to remove from', async () => {
    const folder = catalogue([SCAN])
    const env = { CLAUDECODE: '1' }
    const added = await project.call(['catalog', 'add', folder], { env })
    expect([added.code, added.stderr]).toEqual([
      1,
      expect.stringContaining('Adding a catalog is for a person'),
    ])
    await catalog('add', folder)
    const removed = await project.call(['catalog', 'remove', 'team'], { env })
    expect([removed.code, removed.stderr]).toEqual([
      1,
      expect.stringContaining('Removing a catalog is for a person'),
    ])
    const listed = await project.call(['catalog'], { env })
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('team')])
  })

  it('prints one document for programs', async () => {
    const folder = catalogue([SCAN])
    const added = JSON.parse((await catalog('add', folder, '--name', 'mine', '--json')).stdout)
    expect(added).toMatchObject({ name: 'mine', source: folder, plugins: 1, problems: [] })
    expect(JSON.parse((await catalog('--json')).stdout)).toEqual({ catalogs: [added], problems: [] })
    const found = JSON.parse((await catalog('search', 'scan', '--json')).stdout)
    expect(found.plugins).toEqual([
      {
        name: 'secret-scan',
        catalog: 'mine',
        description: 'Denies commits with keys in them.',
        version: '1.2.0',
        keywords: ['git'],
        install: 'secret-scan@mine',
      },
    ])
    const updated = JSON.parse((await catalog('update', '--json')).stdout)
    expect(updated).toMatchObject({
      updated: [{ name: 'mine', added: [], changed: [], removed: [] }],
      failed: [],
    })
    expect(JSON.parse((await catalog('remove', 'mine', '--json')).stdout)).toEqual({ removed: 'mine' })
  })

  it('says what an update brings, and exits 1 where one cannot be had', async () => {
    const folder = catalogue([SCAN])
    await catalog('add', folder)
    await catalog('add', join(folder, 'catalog.json'), '--name', 'file')
    catalogue([
      { ...SCAN, version: '2.0.0' },
      { name: 'lint', source: 'npm:lint' },
    ])
    expect((await catalog('update', 'team')).stdout).toBe('team: new lint; changed secret-scan\n')
    writeFileSync(join(folder, 'catalog.json'), '{')
    const { code, stderr } = await catalog('update')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^carabiner: file stays as it was: .*line 1.*\ncarabiner: team stays as it was: /)
    expect((await catalog('search', 'lint')).code).toBe(0)
  })

  it('nothing in a description can control the terminal or look like another line', async () => {
    const description = 'fine\u001b[2J\u202E\nevil@team  9.9'
    await catalog('add', catalogue([{ ...SCAN, description, version: '1\u0007' }]))
    const { stdout } = await catalog('search')
    expect(stdout).toBe('secret-scan@team  1⟨U+0007⟩\n  fine⟨U+001B⟩[2J⟨U+202E⟩ evil@team 9.9\n')
    expect((await catalog('search', '--json')).stdout).not.toContain('\u202E')
  })

  it.each([
    [['serch'], 64, 'did you mean search?'],
    [['add'], 64, 'Which one? carabiner catalog add SRC'],
    [['remove'], 64, 'Which one? carabiner catalog remove NAME'],
    [['add', 'a', 'b'], 64, 'does not accept "b"'],
    [['list', 'x'], 64, 'does not accept "x"'],
    [['search', '--name', 'x'], 64, '--name does not work with carabiner catalog search'],
    [['remove', 'none'], 1, 'You have no catalog called none'],
    [['update', 'none'], 1, 'You have no catalog called none'],
    [['add', './none'], 1, 'There is no '],
    [['add', 'npm:x'], 1, 'not a catalog'],
    [['add', '.'], 1, 'it has neither catalog.json nor .claude-plugin/marketplace.json'],
  ])('%j is refused with %i', async (args, code, said) => {
    const run = await catalog(...args)
    expect(run.stderr).toContain(said)
    expect(run.code).toBe(code)
  })

  it('says that nothing was found', async () => {
    await catalog('add', catalogue([SCAN]))
    const { code, stdout } = await catalog('search', 'weather')
    expect([code, stdout]).toEqual([1, 'nothing found in 1 catalog\nnext carabiner catalog update\n'])
  })
})

describe('installing from a catalog', () => {
  const HOOKS = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'exit 2' }] }] }

  function inFolder(entry: object, files: Readonly<Record<string, object>>): string {
    const folder = join(project.base, 'market')
    const market = { name: 'market', owner: { name: 'x' }, plugins: [{ name: 'p', source: './p', ...entry }] }
    const all = { '.claude-plugin/marketplace.json': market, 'p/README.json': {}, ...files }
    for (const [name, content] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), JSON.stringify(content))
    }
    return folder
  }
  const install = () => project.call(['install', 'p@market', '--yes'])
  const listed = async () => JSON.parse((await project.call(['list', '--json'])).stdout).hooks
  const fire = () => project.call(['fire', 'PreToolUse'], { input: BASH })

  it('the hooks in the entry of a marketplace run', async () => {
    await catalog('add', inFolder({ strict: false, hooks: HOOKS }, {}))
    expect((await install()).code).toBe(0)
    expect(await listed()).toMatchObject([{ source: 'p', scope: 'user', command: 'exit 2' }])
    expect((await fire()).code).toBe(2)
  })

  it('P2: a plugin whose entry has "strict": false and no parts is installed with its own hooks', async () => {
    const own = {
      'p/.claude-plugin/plugin.json': { name: 'p', hooks: './h.json' },
      'p/h.json': { hooks: HOOKS },
    }
    await catalog('add', inFolder({ strict: false, description: 'x', category: 'y' }, own))
    expect((await install()).code).toBe(0)
    expect(await listed()).toMatchObject([{ source: 'p', command: 'exit 2' }])
    expect((await fire()).code).toBe(2)
  })

  it('what claims to be two things is not installed', async () => {
    const own = {
      'p/.claude-plugin/plugin.json': { name: 'p', hooks: './h.json' },
      'p/h.json': { hooks: HOOKS },
    }
    await catalog('add', inFolder({ strict: false, hooks: HOOKS }, own))
    const { code, stderr } = await install()
    expect(code).toBe(1)
    expect(stderr).toContain('"strict": false')
    expect(await listed()).toEqual([])
  })

  it('what is not as the catalog promises is not installed', async () => {
    const folder = catalogue([{ name: 'p', source: './p', integrity: `sha256-${'A'.repeat(43)}=` }], 'market')
    mkdirSync(join(folder, 'p'))
    writeFileSync(join(folder, 'p', 'hooks.json'), JSON.stringify({ hooks: HOOKS }))
    await catalog('add', folder)
    const { code, stderr } = await install()
    expect(code).toBe(1)
    expect(stderr).toMatch(/p@market promises .*sha256-AAA.* nothing was installed/)
    expect(await listed()).toEqual([])
    const [, real] = /but they have (sha256-\S+);/.exec(stderr) ?? expect.unreachable()
    catalogue([{ name: 'p', source: './p', integrity: real }], 'market')
    await catalog('update')
    expect((await install()).code).toBe(0)
    expect((await fire()).code).toBe(2)
  })
})
