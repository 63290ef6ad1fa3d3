// From where `carabiner update` fetches: what the user accepted, whatever a lock file or a catalog says by now.

import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()
let project: Project
beforeEach(() => {
  project = new Project()
  plugin('../guard', 'exit 0')
})
afterEach(() => project.remove())

function plugin(folder: string, line: string): void {
  const command = `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"`
  project.file(`${folder}/hooks/hooks.json`, {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  })
  project.file(`${folder}/.claude-plugin/plugin.json`, { name: 'guard' })
  project.file(`${folder}/guard.sh`, `#!/bin/sh\n${line}\n`, 0o755)
}

const LOCK = '.amplifier/hooks.lock.json'

/** As a commit that somebody pulls. */
function relock(change: object): void {
  const lock = JSON.parse(project.read(LOCK))
  Object.assign(lock.plugins.guard, change)
  project.file(LOCK, lock)
}

const script = () => project.read('.amplifier/hooks/guard/guard.sh')
const update = (...more: readonly string[]) => project.call(['update', '--here', '--yes', ...more])
const ask = (answers: string, ...more: readonly string[]) =>
  project.onTerminal(['update', '--here', ...more], {
    input: answers,
    env: { NO_COLOR: '1' },
    columns: 400,
  })

describe('a lock file that names another source', () => {
  beforeEach(async () => {
    await project.call(['install', '../guard', '--here', '--yes'])
    plugin('evil', 'exit 2')
    relock({ source: './evil' })
  })

  it.each([[['--check']], [['--yes']], [['--yes', '--accept-moved', '--overwrite']]])(
    'is not followed by %j',
    async (args) => {
      const { code, stdout, stderr } = await project.call(['update', '--here', ...args])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain('names a different source than the one you accepted, so nothing was fetched')
      expect(stderr).toContain(`\n  was From folder ${join(project.base, 'guard')}\n`)
      expect(stderr).toContain('\n  now From folder ./evil\n')
      expect(stderr).toContain('carabiner uninstall guard --here && carabiner install ./evil --here')
      expect(script()).toContain('exit 0')
    },
  )

  it('with the same files is not followed later because somebody looked at it once', async () => {
    plugin('evil', 'exit 0')
    const looked = await ask('y\nn\n')
    expect(looked.stdout).toContain('Use the new source for updates from now on?')
    plugin('evil', 'exit 2')
    expect((await update()).code).toBe(1)
    expect(script()).toContain('exit 0')
    plugin('evil', 'exit 0')
    await ask('y\ny\n')
    plugin('evil', 'exit 3')
    expect((await update()).code).toBe(0)
    expect(script()).toContain('exit 3')
  })

  it('is told to programs', async () => {
    const { code, stdout } = await update('--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      {
        plugins: [
          {
            name: 'guard',
            state: 'failed',
            moved: {
              was: { source: join(project.base, 'guard'), kind: 'folder' },
              now: { source: './evil', kind: 'folder' },
            },
            error: { code: 'SOURCE_MOVED' },
          },
        ],
      },
    ])
  })

  it('is followed by who sees both and agrees, and is the accepted one from then on', async () => {
    const no = await ask('n\n', '--yes')
    expect([no.code, script().includes('exit 0')]).toEqual([1, true])
    expect(no.stdout).toMatch(/was From folder .*guard\r\n {2}now From folder \.\/evil\r\n/)
    const yes = await ask('y\ny\n')
    expect([yes.code, script().includes('exit 2')]).toEqual([0, true])
    expect(yes.stdout.match(/was From folder/g)).toHaveLength(2)
    plugin('evil', 'exit 3')
    expect([(await update()).code, script().includes('exit 3')]).toEqual([0, true])
  })

  it('is no other once it is named by who types it', async () => {
    plugin('evil', 'exit 0')
    const typed = await project.call(['install', './evil', '--here'])
    expect([typed.code, typed.stdout]).toEqual([0, expect.stringContaining('is installed already')])
    plugin('evil', 'exit 2')
    expect([(await update()).code, script().includes('exit 2')]).toEqual([0, true])
  })

  it('is not accepted by an agent that names it', async () => {
    plugin('evil', 'exit 0')
    const env = { CLAUDECODE: '1' }
    const typed = await project.call(['install', './evil', '--here'], { env })
    expect([typed.code, typed.stderr]).toEqual([1, expect.stringContaining('is for a person')])
    expect((await update()).stderr).toContain('names a different source')
  })
})

describe('the source of a project that nobody accepted here', () => {
  beforeEach(async () => {
    plugin('vendor/guard', 'exit 0')
    await project.call(['install', './vendor/guard', '--here', '--yes'])
    // As for somebody else, who has the project, and trusts what is in it.
    rmSync(join(project.home, '.local/share/carabiner/sources'), { recursive: true })
    plugin('vendor/guard', 'exit 2')
  })

  it('is shown, and taken only on a terminal', async () => {
    const { code, stderr } = await update()
    expect([code, stderr]).toEqual([1, expect.stringContaining('and you have not accepted that')])
    expect(stderr).toContain('\n  now From folder ./vendor/guard\n')
    expect(stderr).not.toContain('  was ')
    const { plugins } = JSON.parse((await update('--json')).stdout)
    expect(plugins).toMatchObject([{ moved: { was: null, now: { source: './vendor/guard' } } }])
    expect(script()).toContain('exit 0')
    expect([(await ask('y\ny\n')).code, script().includes('exit 2')]).toEqual([0, true])
    plugin('vendor/guard', 'exit 3')
    expect([(await update()).code, script().includes('exit 3')]).toEqual([0, true])
  })

  it.each([
    ['a folder elsewhere', { source: '../guard' }, 'is outside the project'],
    ['a link to elsewhere', { source: './link' }, 'is outside the project'],
    ['another user', { source: 'file:///etc' }, 'is outside the project'],
    ['ssh', { kind: 'git', source: 'ssh://git@example.com/x.git' }, 'uses ssh, with your keys'],
    ['ssh, as scp has it', { kind: 'git', source: 'git@example.com:x.git' }, 'uses ssh, with your keys'],
    ['this machine', { kind: 'git', source: 'http://localhost:1/x.git' }, 'its host is'],
    ['a name of this machine', { kind: 'git', source: 'https://git.localhost/x.git' }, 'its host is'],
    [
      'this network',
      { kind: 'archive', source: 'https://10.0.0.1/x.tgz' },
      'an address in a private network',
    ],
    ['another spelling', { kind: 'archive', source: 'https://0x7f.1/x.tgz' }, 'a loopback address'],
    ['IPv6', { kind: 'archive', source: 'https://[::ffff:169.254.169.254]/x.tgz' }, 'metadata'],
    ['metadata', { kind: 'archive', source: 'https://metadata.google.internal/x.tgz' }, 'its host is'],
  ])('is refused where it is %s, also on a terminal', async (_, change, why) => {
    symlinkSync(join(project.base, 'guard'), project.path('link'))
    relock(change)
    const { code, stderr } = await update()
    expect([code, stderr]).toEqual([1, expect.stringContaining('only you may choose')])
    expect(stderr).toContain(why)
    const asked = await ask('y\ny\n')
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining('only you may choose')])
    expect(asked.stdout).not.toContain('[y/N]')
    expect(script()).toContain('exit 0')
  })

  it.each([['ext::sh -c touch% canary'], ['--upload-pack=touch canary'], ['git+ext://x'], ['npm:-x']])(
    'runs nothing where it is %s',
    async (source) => {
      relock({ kind: 'git', source })
      expect((await ask('y\ny\n')).code).toBe(1)
      expect(project.has('canary')).toBe(false)
    },
  )
})

describe('a catalog that has a plugin from somewhere else', () => {
  const catalog = async (source: string) => {
    project.file('../team/catalog.json', {
      carabiner: 1,
      name: 'team',
      plugins: [{ name: 'guard', source: `file://${join(project.base, source)}` }],
    })
    return project.call(['catalog', 'update'])
  }

  beforeEach(async () => {
    await catalog('guard')
    await project.call(['catalog', 'add', '../team'])
  })

  it('says so when it is fetched', async () => {
    plugin('../other', 'exit 2')
    const [guard, other] = [join(project.base, 'guard'), join(project.base, 'other')]
    const { stdout } = await catalog('other')
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      `note guard came from folder ${guard}, and now comes from folder ${other}`,
    )
    await catalog('guard')
    await project.call(['catalog', 'add', '../team'])
    project.file('../team/catalog.json', { carabiner: 1, name: 'team', plugins: [] })
    const { stdout: json } = await project.call(['catalog', 'update', '--json'])
    expect(JSON.parse(json).updated).toMatchObject([{ removed: ['guard'], moved: [] }])
  })

  it.each([['--user'], ['--here']])('is not followed by --yes alone: %s', async (scope) => {
    await project.call(['install', 'guard@team', scope, '--yes'])
    plugin('../other', 'exit 2')
    await catalog('other')
    const base = scope === '--user' ? project.home : project.folder
    const now = () => readFileSync(join(base, '.amplifier/hooks/guard/guard.sh'), 'utf8')
    const refused = await project.call(['update', scope, '--yes'])
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('Its source in the catalog has changed since you accepted it')
    expect(refused.stderr).toMatch(/\n {2}was From folder .*\/guard, found as guard@team\n/)
    expect(refused.stderr).toMatch(/\n {2}now From folder .*\/other, found as guard@team\n/)
    expect(now()).toContain('exit 0')
    const taken = await project.call(['update', scope, '--yes', '--accept-moved'])
    expect([taken.code, now()]).toEqual([0, expect.stringContaining('exit 2')])
    expect(taken.stdout).toMatch(/\n {2}was From folder .*\/guard, found as guard@team\n/)
    expect((await project.call(['update', scope, '--check'])).code).toBe(0)
  })

  it('is not followed by install --yes either, also where the files are the same', async () => {
    await project.call(['install', 'guard@team', '--yes'])
    plugin('../other', 'exit 0')
    await catalog('other')
    const same = await project.call(['install', 'guard@team', '--yes'])
    expect([same.code, same.stderr]).toEqual([
      1,
      expect.stringContaining('carabiner update guard --accept-moved'),
    ])
    expect(same.stdout).toMatch(/was From .*\/guard, .*\n {2}now From .*\/other, /)
    rmSync(join(project.home, '.amplifier/hooks/guard'), { recursive: true })
    const anew = await project.call(['install', 'guard@team', '--yes', '--json'])
    expect([anew.code, JSON.parse(anew.stdout)]).toMatchObject([
      1,
      { installed: false, moved: { was: { catalog: 'guard@team' }, now: { catalog: 'guard@team' } } },
    ])
    const agreed = await project.onTerminal(['install', 'guard@team'], { input: 'y\n' })
    expect(agreed.code).toBe(0)
    expect((await project.call(['update', '--check'])).code).toBe(0)
  })

  it('may have it in another folder of its own', async () => {
    plugin('../team/a', 'exit 0')
    plugin('../team/b', 'exit 2')
    const inside = (source: string) =>
      project.file('../team/catalog.json', {
        carabiner: 1,
        name: 'team',
        plugins: [{ name: 'guard', source }],
      })
    inside('./a')
    await project.call(['catalog', 'update'])
    await project.call(['install', 'guard@team', '--here', '--yes'])
    inside('./b')
    await project.call(['catalog', 'update'])
    expect([(await update()).code, script().includes('exit 2')]).toEqual([0, true])
    plugin('../team/c', 'exit 2')
    inside('./c')
    await project.call(['catalog', 'update'])
    expect((await update()).stdout).toContain('guard is up to date')
    expect(JSON.parse(project.read(LOCK)).plugins.guard.path).toBe('c')
  })
})
