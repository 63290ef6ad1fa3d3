// What effects say besides their kind and their place: what a folder holds, what happens to a branch, how sure a setting is.

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Effect, EffectKind } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { settingFiles } from '../../src/hosts/setting-files.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'fields-')))
const home = join(root, 'home')
const project = join(home, 'app')
const env = { HOME: home, CARABINER_HOME: join(root, 'data') }

function file(path: string, text = 'x'): void {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), text)
}

beforeAll(() => {
  file('src/a.ts')
  file('.claude/settings.json', '{}')
  file('evil/settings.json', '{}')
  symlinkSync('..', join(project, 'up'))
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
    })
  git('init', '-q', '-b', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'x')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Of<K extends EffectKind> = Extract<Effect, { readonly kind: K }>

async function only<K extends EffectKind>(
  kind: K,
  command: string,
  folder = project,
): Promise<readonly Of<K>[]> {
  const context = { cwd: folder, projectDir: project, home, env, settings: settingFiles(env) }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  return effects.filter((effect): effect is Of<K> => effect.kind === kind)
}

describe('a folder holds what must not be lost', () => {
  const held = async (command: string, folder?: string) =>
    new Set((await only('delete', command, folder)).flatMap(({ place }) => place.holds ?? []))

  it.each<[string, readonly string[]]>([
    ['rm -rf .', ['folder', 'project']],
    ['rmdir .', ['folder', 'project']],
    ['rm -rf *', ['folder', 'project']],
    ['rm -rf ..', ['folder', 'project', 'home', 'parent']],
    ['rm -rf ~', ['folder', 'project', 'home', 'parent']],
    ['rm -rf up/', ['folder', 'project', 'home', 'parent']],
    ['rm -rf ~/a*', ['folder', 'project']],
    ['rm -rf /', ['folder', 'project', 'home', 'system', 'parent']],
    ['rm -rf /usr/lib', ['system']],
    ['rm -rf src', []],
    ['rm -rf src/*', []],
    ['rm -rf /usr/lib/x', []],
  ])('%s', async (command, expected) => {
    expect(await held(command)).toEqual(new Set(expected))
  })

  it('the one where the call runs', async () => {
    expect(await held('rm -rf .', join(project, 'src'))).toEqual(new Set(['folder']))
  })

  it('whose rights change, or which gets a second name', async () => {
    const [changed] = await only('write', 'chmod -R a-w .')
    expect(changed).toMatchObject({ rights: true, place: { holds: ['folder', 'project'] } })
    const linked = (await only('read', 'ln -s ~ h')).find(({ links }) => links)
    expect(linked?.place.holds).toContain('home')
  })
})

describe('a formatter', () => {
  it.each(['prettier --write .', "prettier --write '**/*.json'", 'black .', 'biome format --write'])(
    'changes the layout, and no setting of a folder that it is given: %s',
    async (command) => {
      expect(await only('write', command)).toMatchObject([{ layout: true }])
      expect(await only('setting', command)).toEqual([])
    },
  )

  it('changes a setting that it is given', async () => {
    const settings = await only('setting', 'prettier --write .claude/settings.json')
    expect(settings).toContainEqual(expect.objectContaining({ owner: 'claude-code' }))
  })
})

describe('what happens to a branch', () => {
  it.each<[string, string, string | undefined]>([
    ['git commit -m x', 'adds', 'main'],
    ['git ci -m x', 'adds', 'main'],
    ['git merge topic', 'adds', 'main'],
    ['git pull origin topic', 'adds', 'main'],
    ['git switch - && git commit -m x', 'adds', undefined],
    ['git worktree add ../w fix && cd ../w && git commit -m x', 'adds', 'fix'],
    ['git reset --hard topic', 'moves', 'main'],
    ['git symbolic-ref HEAD refs/heads/main', 'moves', 'main'],
    ['git branch -D main', 'replaces', 'main'],
    ['git push -f', 'replaces', 'main'],
    ['git push origin :main', 'replaces', 'main'],
    ['git push . topic:main', 'replaces', 'main'],
    ['git push --mirror -f', 'replaces', undefined],
    ['git fetch . topic:main', 'replaces', 'main'],
    ['git update-ref HEAD x', 'replaces', 'main'],
    ['git checkout -B main topic', 'replaces', 'main'],
    ['git pull', 'updates', 'main'],
    ['git pull origin main', 'updates', 'main'],
    ['git rebase origin/main', 'updates', 'main'],
    ['git reset --hard HEAD', 'updates', 'main'],
    ['git checkout -B main origin/main', 'updates', 'main'],
    ['git push origin main', 'adds', 'main'],
    ['git push origin topic:main', 'adds', 'main'],
    ['git push origin HEAD:main', 'adds', 'main'],
    ['git push', 'adds', 'main'],
    ['git push -n origin main', 'none', 'main'],
    ['git commit --dry-run', 'none', 'main'],
    ['git merge --abort', 'none', 'main'],
    ['git rebase --continue', 'none', 'main'],
  ])('%s', async (command, change, branch) => {
    expect((await only('git', command)).at(-1)).toMatchObject({ change, branch })
  })
})

describe('a setting', () => {
  it.each<[string, boolean]>([
    ['rm .claude/settings.json', true],
    ['mv evil/settings.json .claude/', true],
    ['chmod 000 .claude', true],
    ['ln -s .claude x', true],
    ['git commit --no-verify -m x', true],
    ['git config core.hooksPath /dev/null', true],
    ['carabiner trust', true],
    ['carabiner setup --remove claude-code', true],
    ['sometool .claude/settings.json', false],
    ["python3 -c \"open('.claude/settings.json', 'w')\"", false],
    ['cp -r evil/. .claude', false],
    ['echo x > .git/hooks/pre-commit', false],
    ['git config core.hooksPath .githooks', false],
    ['carabiner setup claude-code', false],
    ['CARABINER_OFF=1 make', false],
    ['CARABINER_HOME=/tmp/x claude', false],
  ])('certainly changes or not: %s', async (command, sure) => {
    const found = await only('setting', command)
    expect([found.length > 0, found.some((one) => one.sure)]).toEqual([true, sure])
  })

  it.each([
    'CARABINER_HOME=/tmp/x npm test',
    'CLAUDE_PROJECT_DIR=. node hook.js',
    'git config --global user.name x',
  ])('does not change: %s', async (command) => {
    expect(await only('setting', command)).toEqual([])
  })

  it('in a folder of the project, if the search starts above it', async () => {
    expect(await only('setting', 'cd .. && find . -name settings.json -delete')).not.toEqual([])
  })
})

it.each(['-delete', '-exec rm {} +', '-print0 | xargs -0 rm'])(
  'a search in a folder of settings changes settings: %s',
  async (action) => {
    file('.claude/hooks/deep/guard.sh')
    const found = await only('setting', `find .claude/hooks -name 'guard.*' ${action}`)
    expect(found).toContainEqual(expect.objectContaining({ owner: 'claude-code', sure: true }))
  },
)

it('a program behind several launchers is seen', async () => {
  expect((await only('delete', 'npx bundle exec rm -rf src')).map(({ place }) => place.path)).toEqual([
    join(project, 'src'),
  ])
})

it('words that another program may run are a guess', async () => {
  expect(await only('delete', 'sometool rm -rf src')).toMatchObject([{ guess: true, launched: true }])
  expect(await only('delete', 'sometool "x; rm -rf src"')).not.toMatchObject([{ launched: true }])
})

it('a text in quotes is a guess that nothing launches, also behind a launcher', async () => {
  const found = await only('delete', "npx vitest run -t 'denies rm -rf src'")
  expect(found.length).toBeGreaterThan(0)
  expect(found.every(({ guess, launched }) => guess && !launched)).toBe(true)
})

describe('a script on disk', () => {
  it('says so of everything that it does, and of what cannot be read', async () => {
    file('clean.sh', 'rm -rf "$1"')
    file('program', '\0ELF')
    chmodSync(join(project, 'program'), 0o755)
    expect(await only('delete', 'bash clean.sh x')).toMatchObject([{ stored: true }])
    expect(await only('unknown', './program')).toMatchObject([{ stored: true }])
    expect(await only('delete', 'rm -rf "$1"')).not.toMatchObject([{ stored: true }])
  })
})

describe('a patch that is missing', () => {
  it.each(['git apply no.patch', 'patch -p1 < no.patch', 'patch -p1 -i no.patch'])(
    'changes nothing: %s',
    async (command) => expect(await only('write', command)).toEqual([]),
  )

  it.each([
    'curl -o no.patch https://example.org/x && git apply no.patch',
    'cp x no.patch; patch -p1 < no.patch',
    'git -C sub apply no.patch',
    'patch -d sub -i no.patch',
    'git apply "$PATCH"',
    'curl https://example.org/x | patch -p1',
  ])('may be there when it is read: %s', async (command) => {
    expect((await only('write', command)).some(({ place }) => !place.known)).toBe(true)
  })
})

it('a tool that nobody knows only may change a setting', async () => {
  const context = { cwd: project, projectDir: project, home, env, settings: settingFiles(env) }
  const sure = async (name: string) => {
    const effects = await effectsOf({ name, input: { path: '.claude/settings.json' } }, context)
    return effects.flatMap((one) => (one.kind === 'setting' ? [one.sure] : []))
  }
  expect(await sure('frobnicate')).toEqual([false])
  expect(await sure('write_file')).toEqual([true])
})
