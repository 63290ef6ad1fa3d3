// `carabiner update`: what changed is shown before it is replaced, and a tag that moved is no update.

import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, Project, withProgram } from './program.js'

withProgram()
let project: Project
beforeEach(() => {
  project = new Project()
  const command = `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"`
  project.file('../guard/hooks/hooks.json', {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  })
  script('exit 0')
})
afterEach(() => project.remove())

function script(line: string, name = 'guard'): void {
  project.file(`../${name}/guard.sh`, `#!/bin/sh\n${line}\n`, 0o755)
}

function git(...args: readonly string[]): string {
  const own = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...own, ...args], {
    cwd: join(project.base, 'guard'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

function commit(): string {
  git('add', '-A')
  git('commit', '-qm', 'x')
  return git('rev-parse', 'HEAD')
}

const userScript = () => readFileSync(join(project.home, '.amplifier/hooks/guard/guard.sh'), 'utf8')

describe('carabiner update', () => {
  it('shows the changed lines, and replaces on yes', async () => {
    await project.call(['install', '../guard', '--yes'])
    expect((await project.call(['update'])).stdout).toMatch(/^guard is up to date: sha256-/)
    script('exit 2')
    const check = await project.call(['update', '--check'])
    expect([check.code, check.stdout]).toEqual([1, expect.stringContaining('guard has an update: 1 change')])
    const shown = await project.call(['update'])
    expect(shown.code).toBe(1)
    expect(shown.stdout).toMatch(/-exit 0\n.*\+exit 2\n/)
    expect(userScript()).toContain('exit 0')
    const no = await project.onTerminal(['update', 'guard'], { input: 'n\n' })
    expect([no.code, userScript().includes('exit 0')]).toEqual([1, true])
    const yes = await project.onTerminal(['update', 'guard'], { input: 'y\n' })
    expect([yes.code, userScript().includes('exit 2')]).toEqual([0, true])
    expect((await project.call(['update', '--check'])).code).toBe(0)
  })

  it('of a project trusts what was shown', async () => {
    git('init', '-q')
    commit()
    await project.call(['install', '../guard#main', '--here', '--yes'])
    script('echo "not any more" >&2; exit 2')
    commit()
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(0)
    const check = await project.call(['update', '--check'])
    expect([check.code, check.stdout]).toEqual([1, expect.stringContaining('guard has an update')])
    const { code, stdout } = await project.call(['update', '--here', '--yes'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('updated guard')])
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
  })

  it('refuses a moved tag with both commits, and takes it with --accept-moved', async () => {
    git('init', '-q')
    const before = commit()
    git('tag', 'v1')
    await project.call(['install', '../guard#v1', '--yes'])
    script('exit 3')
    const after = commit()
    git('tag', '-f', 'v1')
    const { code, stderr } = await project.call(['update', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(`${before}.*${after}`)])
    expect(userScript()).toContain('exit 0')
    expect((await project.call(['update', '--yes', '--accept-moved'])).code).toBe(0)
    expect(userScript()).toContain('exit 3')
  })

  it('keeps what was changed by hand, unless told to overwrite it', async () => {
    await project.call(['install', '../guard', '--yes'])
    writeFileSync(join(project.home, '.amplifier/hooks/guard/guard.sh'), 'mine')
    const kept = await project.call(['update', '--yes'])
    expect([kept.code, kept.stderr]).toEqual([1, expect.stringContaining('--overwrite')])
    expect(userScript()).toBe('mine')
    expect((await project.call(['update', '--yes', '--overwrite'])).code).toBe(0)
    expect(userScript()).toContain('exit 0')
  })

  it('of several goes on where one cannot be fetched', async () => {
    project.file('../other/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    })
    await project.call(['install', '../other', '--yes', '--name', 'a-other'])
    await project.call(['install', '../guard', '--yes'])
    project.file('../other/hooks.json', '{}')
    script('exit 2')
    const { code, stdout } = await project.call(['update', 'guard', 'a-other', '--yes', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      plugins: [
        { name: 'a-other', state: 'failed', error: { code: 'NO_HOOKS' } },
        {
          name: 'guard',
          state: 'updated',
          differences: [{ path: 'guard.sh', diff: expect.arrayContaining(['-exit 0', '+exit 2']) }],
        },
      ],
    })
    expect(userScript()).toContain('exit 2')
  })

  it('says what it does not know', async () => {
    const { code, stderr } = await project.call(['update', 'nobody'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no plugin called nobody')])
    expect((await project.call(['update'])).stdout).toContain('no plugins that Carabiner installed')
    expect((await project.call(['update', '--check', '--yes'])).code).toBe(64)
  })
})

describe('of a project that nobody trusts', () => {
  const hereScript = () => project.read('.amplifier/hooks/guard/guard.sh')
  const kept = async () => JSON.parse((await project.call(['list', '--json'])).stdout).hooks[0].kept
  const state = async () => JSON.parse((await project.call(['list', '--json'])).stdout).hooks[0].state

  beforeEach(async () => {
    await project.call(['install', '../guard', '--here', '--no-trust', '--yes'])
    script('exit 2')
  })

  it.each([
    ['--here', '--yes'],
    ['--here', '--check'],
    ['guard', '--yes'],
  ])('fetches nothing: %s %s', async (...args) => {
    rmSync(join(project.base, 'guard'), { recursive: true })
    const { code, stderr } = await project.call(['update', ...args])
    expect([code, stderr]).toEqual([1, expect.stringContaining('You do not trust it')])
    expect(stderr).toContain(`carabiner install ${join(project.base, 'guard')} --here`)
    const { plugins } = JSON.parse((await project.call(['update', ...args, '--json'])).stdout)
    expect(plugins).toMatchObject([{ name: 'guard', state: 'failed', error: { code: 'NOT_TRUSTED' } }])
    expect(hereScript()).toContain('exit 0')
  })

  it('asks for the source first, and fetches nothing on no', async () => {
    rmSync(join(project.base, 'guard'), { recursive: true })
    const { code, stdout } = await project.onTerminal(['update', '--here', '--yes'], { input: 'n\n' })
    expect(code).toBe(1)
    expect(stdout).toContain('Fetch it from there?')
    expect(stdout).not.toContain('There is no')
  })

  it('on yes shows all of it, not only what changed, and leaves it untrusted', async () => {
    const { code, stdout } = await project.onTerminal(['update', '--here'], {
      input: 'y\ny\n',
      env: { NO_COLOR: '1' },
    })
    expect([code, hereScript().includes('exit 2')]).toEqual([0, true])
    expect(stdout).toContain('contents of the files that run')
    expect(stdout).not.toMatch(/changed since|-exit 0/)
    expect(stdout).toContain('next carabiner trust guard')
    expect(await state()).toBe('untrusted')
  })

  it('the same for one that was changed since it was trusted, unless it is to be overwritten', async () => {
    await project.call(['trust', 'guard', '--yes'])
    writeFileSync(project.path('.amplifier/hooks/guard/guard.sh'), '#!/bin/sh\nexit 1\n')
    const refused = await project.call(['update', '--here', '--yes'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('You do not trust it')])
    expect(hereScript()).toContain('exit 1')
    const [fixed] = JSON.parse((await project.call(['doctor', '--json'])).stdout).findings.filter(
      ({ code }: { code: string }) => code === 'plugin-modified',
    )
    const words = fixed.fix.split('   #')[0].split(' ').slice(1)
    const agent = await project.call([...words, '--yes'], { env: { CLAUDECODE: '1' } })
    expect([agent.code, hereScript().includes('exit 1')]).toEqual([1, true])
    const asked = await project.onTerminal(words, { input: 'n\n' })
    expect([asked.code, asked.stdout.includes('Replace it with this?')]).toEqual([1, true])
    expect(asked.stdout).not.toContain('Fetch it from there?')
    const done = await project.call([...words, '--yes'])
    expect([done.code, done.stderr, hereScript().includes('exit 2')]).toEqual([0, '', true])
    // It is not what was trusted, so it waits.
    expect(await kept()).toBe('modified')
  })

  it('is left alone where nobody names it or the project', async () => {
    const bare = await project.call(['update', '--json'])
    expect([bare.code, JSON.parse(bare.stdout).plugins]).toEqual([0, []])
    const check = await project.call(['update', '--check'])
    expect([check.stdout, check.stderr]).toEqual([
      expect.stringMatching(
        /^1 plugin of this project was not checked: you do not trust it\nnext carabiner update --here --check\n$/,
      ),
      '',
    ])
  })
})

it('a broken lock file of the project is told, and keeps nobody from updating their own', async () => {
  await project.call(['install', '../guard', '--yes'])
  project.file('.amplifier/hooks.lock.json', 'oops')
  script('exit 2')
  const named = await project.call(['update', 'guard', '--yes'])
  expect([named.code, named.stderr]).toEqual([
    1,
    expect.stringContaining('hooks.lock.json is not valid JSON'),
  ])
  expect(userScript()).toContain('exit 2')
  script('exit 3')
  expect((await project.call(['update', '--yes'])).code).toBe(0)
  expect(userScript()).toContain('exit 3')
  const unknown = await project.call(['update', 'nobody'])
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('is not valid JSON')])
})
