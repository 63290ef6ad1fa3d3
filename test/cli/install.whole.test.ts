// `carabiner install`, by the real program: what is shown, asked, written, trusted, and what is not.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CatalogStore } from '../../src/plugins/catalog/store.js'
import { tarOf } from '../plugins/archives.js'
import { BASH, Project, programFile, withProgram } from './program.js'

withProgram()
let project: Project
beforeEach(() => {
  project = new Project()
  plugin('guard')
})
afterEach(() => project.remove())

function plugin(name: string, says = name): string {
  const command = `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"`
  project.file(`../${name}/.claude-plugin/plugin.json`, { name: says })
  project.file(`../${name}/hooks/hooks.json`, {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  })
  project.file(`../${name}/guard.sh`, '#!/bin/sh\necho "not here" >&2\nexit 2\n', 0o755)
  return join(project.base, name)
}

function repository(folder: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder,
      stdio: 'ignore',
    })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  git('tag', 'v1')
}

/** Whether this user may have a network of their own, with nothing in it. */
const canBeAlone = spawnSync('unshare', ['-rn', 'true']).status === 0

const installed = (name = 'guard') => existsSync(join(project.home, '.amplifier/hooks', name, 'guard.sh'))

describe('carabiner install', () => {
  it('shows, and installs nothing, where nobody can be asked', async () => {
    const { code, stdout, stderr } = await project.call(['install', '../guard'])
    expect(code).toBe(1)
    expect(stdout).toContain('PreToolUse on Bash')
    expect(stdout).toContain('echo "not here" >&2')
    expect(stderr).toContain('guard was shown but not installed: there is no terminal to ask at')
    expect(installed()).toBe(false)
    expect(existsSync(join(project.home, '.amplifier'))).toBe(false)
  })

  it('P3: a plugin whose hooks are in a skill is installed, and runs from its copy', async () => {
    const hooks =
      'hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./gate.sh\n'
    project.file('../plan/.claude-plugin/plugin.json', { name: 'plan' })
    project.file('../plan/skills/plan/SKILL.md', `---\nname: plan\n${hooks}---\n\n# Plan\n`)
    project.file(
      '../plan/skills/plan/gate.sh',
      '#!/bin/sh\ncase $CLAUDE_SKILL_DIR in */.amplifier/*) exit 0 ;; esac\necho "in $CLAUDE_SKILL_DIR" >&2\nexit 2\n',
      0o755,
    )
    const { code, stdout } = await project.call(['install', '../plan', '--here', '--yes'])
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('PreToolUse on Bash: plan:PreToolUse#1, line 7'),
    ])
    expect(stdout).not.toContain('not there')
    const fired = await project.call(['fire', 'PreToolUse'], { input: BASH })
    expect(fired.code).toBe(2)
    expect(fired.stdout).toMatch(/in \S*copies\S*\/plan\/skills\/plan/)
    const hidden = hooks.replace('hooks:', '"\\x68ooks":')
    project.file('.amplifier/hooks/plan/skills/plan/SKILL.md', `---\nname: plan\n${hidden}---\n`)
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
    const listed = await project.call(['list'])
    expect(listed.code).toBe(1)
    expect(listed.stdout + listed.stderr).toMatch(/SKILL\.md:3/)
  })

  it.each(['skills/plan/SKILL.md', 'skills/deep/er/SKILL.md', 'agents/a.md', 'commands/b/c.md'])(
    'P3: says that hooks in %s are not run, or why they cannot be read',
    async (path) => {
      const head =
        '---\nHOOKS\n  Stop:\n    - hooks:\n        - type: command\n          command: exit\n---\n'
      const shown = async (key: string) => {
        project.file(`../guard/${path}`, head.replace('HOOKS', key))
        return (await project.call(['install', '../guard'])).stdout.replace(/\n *┆ /g, '')
      }
      const isRead = path === 'skills/plan/SKILL.md'
      const why = 'Its front matter has hooks that only an agent would run'
      if (isRead) expect(await shown('hooks:')).not.toContain('front matter')
      else expect(await shown('hooks:')).toContain(why)
      expect(await shown('"\\x68ooks":')).toMatch(
        /Its front matter has hooks that cannot be read: .* \S+\.md:2/,
      )
    },
  )

  it('P7: shows all of a long review in the pager, and asks afterwards; not with one of the project', async () => {
    project.file('../guard/guard.sh', `#!/bin/sh\n${'true\n'.repeat(200)}`, 0o755)
    const pager = project.file(
      '../bin/less',
      '#!/bin/sh\nwc -l > "$0.seen"; echo "$*" > "$0.how"; env | sed "s/=.*//" | sort > "$0.env"\n',
      0o755,
    )
    const full = ['install', '../guard', '--full']
    // A lesskey file of a project could set what less writes and hides; so could a terminal of its own.
    const hostile = { LESS: '+q', XDG_CONFIG_HOME: project.folder, TERMINFO: project.folder, MORE: '+9' }
    const env = { PATH: `${dirname(pager)}:${process.env.PATH}`, TERM: 'xterm', ...hostile }
    const { stdout } = await project.onTerminal(full, { input: 'n\n', env })
    expect(Number(readFileSync(`${pager}.seen`, 'utf8'))).toBeGreaterThan(200)
    expect(readFileSync(`${pager}.how`, 'utf8')).toBe('-R -X -Psspace\\: more   q\\: close\n')
    const names = readFileSync(`${pager}.env`, 'utf8').trimEnd().split('\n')
    const own = ['LESSHISTFILE', 'LESSSECURE', 'PATH', 'PWD', 'TERM']
    expect(names.filter((name) => !/^(?:LANG|LC_\w+|COLORTERM|SHLVL|_|OLDPWD)$/.test(name))).toEqual(own)
    expect(stdout).toContain('Install this? [y/N]')
    expect(stdout).not.toContain('contents of the files')
    project.file('evil', '#!/bin/sh\necho evil\n', 0o755)
    const evil = project.file('../bin/evil', '#!/bin/sh\necho evil\n', 0o755)
    // Only known pagers run, and one that shows nothing is none.
    for (const name of ['./evil', evil, 'true', 'sh -c evil']) {
      const through = `PAGER='${name}' PATH=.:/none exec "$@"`
      const own = await project.onTerminal(full, { input: 'n\n', through })
      expect(own.stdout).not.toContain('evil')
      expect(own.stdout).toContain('contents of the files')
    }
    const offs: readonly Record<string, string>[] = [{ PAGER: 'cat' }, { PAGER: '' }, { CLAUDECODE: '1' }]
    for (const off of offs)
      expect((await project.onTerminal(full, { input: 'n\n', env: { ...env, ...off } })).stdout).toContain(
        'contents of the files',
      )
    expect((await project.onTerminal([...full, '--yes'], { env })).stdout).toContain('contents of the files')
    await project.carabiner(['uninstall', 'guard', '--yes'])
    const short = await project.onTerminal(['install', '../guard'], { input: 'n\n' })
    expect(short.stdout).toMatch(/and \d+ more lines: --full shows all/)
  })

  it('asks on a terminal, and takes no for an answer', async () => {
    const no = await project.onTerminal(['install', '../guard'], { input: 'n\n' })
    expect(no.stdout).toContain('Install this? [y/N]')
    expect([no.code, installed()]).toEqual([1, false])
    const ahead = await project.onTerminal(['install', '../guard'], { ahead: 'y\n', input: '\n' })
    expect([ahead.code, installed()]).toEqual([1, false])
    const yes = await project.onTerminal(['install', '../guard'], { input: 'y\n' })
    expect([yes.code, installed()]).toEqual([0, true])
  })

  it('installs for the user: it runs at once, in every project', async () => {
    const { code, stdout } = await project.call(['install', '../guard', '--yes'])
    expect([code, installed()]).toEqual([0, true])
    expect(stdout).toContain('installed guard  ~/.amplifier/hooks/guard')
    const fired = await project.call(['fire', 'PreToolUse'], { input: BASH })
    expect([fired.code, fired.stdout]).toEqual([2, expect.stringContaining('not here')])
  })

  it('installs into the project from git and trusts it; others still have to', async () => {
    repository(join(project.base, 'guard'))
    const { code, stdout } = await project.call(['install', '../guard#v1', '--here', '--yes'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('installed guard and trusted it')])
    expect(JSON.parse(project.read('.amplifier/hooks.lock.json'))).toMatchObject({
      carabiner: 1,
      plugins: { guard: { kind: 'git', ref: 'v1', commit: expect.stringMatching(/^[0-9a-f]{40}$/) } },
    })
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
    const other = { CARABINER_HOME: join(project.base, 'another') }
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH, env: other })).stdout).not.toContain(
      'not here',
    )
  })

  it('leaves it blocked with --no-trust', async () => {
    const { code, stdout } = await project.call(['install', '../guard', '--here', '--no-trust', '--yes'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('carabiner trust guard')])
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).stdout).not.toContain('not here')
    expect((await project.call(['trust', 'guard', '--yes'])).code).toBe(0)
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
  })

  it('says so where it is there already', async () => {
    await project.call(['install', '../guard', '--yes'])
    const again = await project.call(['install', '../guard', '--yes'])
    expect([again.code, again.stdout]).toEqual([0, 'guard is installed already, and has not changed\n'])
    project.file('../guard/guard.sh', '#!/bin/sh\nexit 0\n', 0o755)
    const other = await project.call(['install', '../guard', '--yes'])
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('carabiner update guard')])
    expect((await project.call(['install', '../guard', '--yes', '--name', 'second'])).code).toBe(0)
    expect(installed('second')).toBe(true)
  })

  it('trusts what is there already, and was not trusted, as if it were new', async () => {
    const again = (...more: readonly string[]) => project.call(['install', '../guard', '--here', ...more])
    await again('--no-trust', '--yes')
    const left = 'guard is installed already, and has not changed\nnext carabiner trust guard\n'
    expect(await again('--no-trust', '--yes')).toMatchObject({ code: 0, stdout: left })
    expect(await again()).toMatchObject({ code: 0, stdout: left })
    expect(JSON.parse((await again('--json')).stdout)).toMatchObject({ already: true, trusted: false })
    const no = await project.onTerminal(['install', '../guard', '--here'], { input: 'n\n' })
    expect([no.code, no.stdout]).toEqual([0, expect.stringContaining('Trust this? [y/N]')])
    expect((await project.call(['list'])).stdout).toContain('untrusted')
    const yes = await again('--yes')
    expect([yes.code, yes.stdout]).toEqual([
      0,
      expect.stringMatching(/echo "not here"[\s\S]*\ntrusted guard\nnext carabiner list\n$/),
    ])
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
    expect(await again('--yes')).toMatchObject({
      code: 0,
      stdout: 'guard is installed already, and has not changed\n',
    })
    await project.call(['untrust', 'guard'])
    const asked = await project.onTerminal(['install', '../guard', '--here'], { input: 'y\n' })
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining('trusted guard')])
    await project.call(['untrust', 'guard'])
    const { stdout } = await again('--yes', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ already: true, trusted: true })
  })

  it('names the project that was named in what to type next', async () => {
    const cwd = project.base
    const here = ['--here', '--project', 'my project']
    const run = (...args: readonly string[]) => project.call(args, { cwd })
    const first = await run('install', './guard', '--no-trust', '--yes', ...here)
    expect(first.stdout).toMatch(/\nnext carabiner trust guard --project 'my project'\n$/)
    const update = await run('update', ...here)
    expect(update.stderr).toContain("Trust it first: carabiner trust guard --project 'my project'")
    expect(update.stderr).toContain(
      `carabiner uninstall guard --here --project 'my project' && carabiner install ${cwd}/guard --here --project 'my project'`,
    )
    const second = await run('install', './guard', '--yes', ...here)
    expect(second.stdout).toMatch(/\ntrusted guard\nnext carabiner list --project 'my project'\n$/)
    writeFileSync(join(cwd, 'guard', 'guard.sh'), '#!/bin/sh\nexit 0\n')
    const third = await run('update', '--no-trust', '--yes', ...here)
    expect(third.stdout).toMatch(/\nnext carabiner trust guard --project 'my project'\n$/)
    const none = await run('update', '--project', 'my project')
    expect(none.stdout).toContain("next carabiner update --here --project 'my project'\n")
  })

  it('answers programs in JSON: shown, then installed', async () => {
    const shown = await project.call(['install', '../guard', '--json'])
    expect(shown.code).toBe(1)
    expect(JSON.parse(shown.stdout)).toMatchObject({
      plugin: { name: 'guard', scope: 'user', kind: 'folder', integrity: expect.stringMatching(/^sha256-/) },
      review: {
        hooks: [{ event: 'PreToolUse' }],
        files: [{ path: '.claude-plugin/plugin.json' }, { path: 'guard.sh', executable: true }, {}],
      },
      installed: false,
    })
    const done = await project.call(['install', '../guard', '--json', '--yes', '--here'])
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([0, { installed: true, trusted: true }])
    const failed = await project.call(['install', './nowhere', '--json'])
    expect([failed.code, JSON.parse(failed.stdout)]).toMatchObject([
      1,
      { error: { code: 'SOURCE_NOT_FOUND' } },
    ])
  })

  it('refuses a hostile archive in a line, and leaves nothing', async () => {
    writeFileSync(
      project.path('evil.tar'),
      tarOf([
        { name: 'hooks.json', content: '{}' },
        { name: '../../../.bashrc', content: 'x' },
      ]),
    )
    const { code, stderr } = await project.call(['install', './evil.tar', '--yes'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('../../../.bashrc leads out of the folder; nothing was installed'),
    ])
    expect(existsSync(join(project.home, '.amplifier'))).toBe(false)
  })

  it('shows hostile text as what it is', async () => {
    plugin('odd', 'odd\u001b[2J')
    const { code, stdout, stderr } = await project.call(['install', '../odd', '--yes'])
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('⟨U+001B⟩')
    expect(stdout + stderr).not.toContain('\u001b[2J')
  })

  it.each([
    [['install']],
    [['install', '../guard', '--no-trust']],
    [['install', '../guard', '--here', '--user']],
    [['install', '../guard', '--naem', 'x']],
  ])('does not understand %j', async (args) => {
    expect((await project.call(args)).code).toBe(64)
  })

  it.each([['--settings={}'], ['--upload-pack=id']])(
    'takes the value %s for no option of another program',
    async (value) => {
      const { code, stderr } = await project.call(['install', '--', value])
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not a valid source')])
      const ref = await project.call(['install', '../guard', `--ref=${value}`])
      expect([ref.code, ref.stderr]).toEqual([
        1,
        expect.stringContaining('is not a valid tag, branch or commit'),
      ])
    },
  )

  it('says what is waited for, on a terminal, after a second', async () => {
    project.file('../bin/git', '#!/bin/sh\nsleep 3\nexit 1\n', 0o755)
    const env = { PATH: `${join(project.base, 'bin')}:${process.env.PATH}` }
    const { stdout } = await project.onTerminal(['install', 'https://example.invalid/x.git'], { env })
    expect(stdout).toContain('fetching https://example.invalid/x.git … ')
  })

  it.skipIf(!canBeAlone)('needs no network where the source is here (skipped without unshare)', async () => {
    repository(join(project.base, 'guard'))
    writeFileSync(
      project.path('packed.tar'),
      tarOf([{ name: 'hooks.json', content: readFileSync(join(project.base, 'guard/hooks/hooks.json')) }]),
    )
    for (const [i, source] of ['../guard', '../guard#v1', './packed.tar'].entries()) {
      const args = ['install', source, '--yes', '--name', `p${i}`]
      const { code, stderr } = await project.run('unshare', ['-rn', process.execPath, programFile(), ...args])
      expect([code, stderr]).toEqual([0, ''])
    }
  })

  it('finds a plugin in a catalog, and refuses one that the catalog lies about', async () => {
    const entry = (integrity: string) => ({ name: 'guard', source: './guard', integrity })
    const shown = await project.call(['install', '../guard', '--json'])
    const { plugin: found } = JSON.parse(shown.stdout) as { plugin: { integrity: string } }
    const catalog = (integrity: string) =>
      project.file('../catalog.json', { carabiner: 1, name: 'team', plugins: [entry(integrity)] })
    catalog(found.integrity)
    const store = new CatalogStore(join(project.home, '.local/share/carabiner'))
    await store.add(project.base)
    expect((await project.call(['install', 'guard@team', '--yes', '--name', 'one'])).code).toBe(0)
    catalog(found.integrity.replace(/-./, '-!').replace('!', found.integrity[7] === 'A' ? 'B' : 'A'))
    await store.update('team')
    const { code, stderr } = await project.call(['install', 'guard@team', '--yes', '--name', 'two'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`but they have ${found.integrity}; nothing was installed`),
    ])
  })

  it('says of a repository that is taken as a folder how to pin it', async () => {
    repository(join(project.base, 'guard'))
    const text = 'a folder as it is now; add #REF to pin a commit'
    const shown = await project.call(['install', '../guard'])
    expect(shown.stdout.replace(/\s+│?\s*/g, ' ')).toContain(
      `From folder ${join(project.base, 'guard')}, ${text}`,
    )
    const { diagnostics } = JSON.parse((await project.call(['install', '../guard', '--json'])).stdout)
    expect(diagnostics).toEqual([{ code: 'unpinned', text: `guard is ${text}.` }])
    const pinned = await project.call(['install', '../guard#v1', '--json'])
    expect(JSON.parse(pinned.stdout).diagnostics).toEqual([])
  })

  it('knows names of catalogs, also where they are not quite right', async () => {
    const store = new CatalogStore(join(project.home, '.local/share/carabiner'))
    for (const name of ['team', 'others']) {
      project.file(`../${name}/catalog.json`, {
        carabiner: 1,
        name,
        plugins: [
          { name: 'guard', source: 'npm:guard' },
          ...(name === 'team' ? [{ name: 'Lint', source: 'npm:lint' }] : []),
        ],
      })
      await store.add(join(project.base, name))
    }
    const said = async (text: string) => (await project.call(['install', text])).stderr
    expect(await said('lint')).toBe(
      'carabiner: "lint" is not a valid source; but there is Lint@team\n  carabiner install Lint@team\n',
    )
    expect(await said('lnit')).toBe(
      'carabiner: "lnit" is not a valid source; did you mean Lint@team?\n  carabiner install Lint@team\n',
    )
    expect(await said('gard')).toContain('did you mean guard@others or guard@team?')
    expect(await said('nothing')).toContain('A source is a folder')
  })

  it('has help with examples', async () => {
    const { stdout } = await project.call(['install', '--help'])
    expect(stdout).toContain('carabiner install ./my-plugin')
  })
})
