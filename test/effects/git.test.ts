import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Effect } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'

const home = mkdtempSync(join(tmpdir(), 'carabiner-git-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const app = join(home, 'app')
mkdirSync(join(app, '.git'), { recursive: true })
mkdirSync(join(app, 'sub'))
writeFileSync(
  join(app, '.git/config'),
  '[core]\n\tbare = false\n[alias]\n\tundo = reset --hard\n\twipe = "!rm -rf build"\n\tstatus = push --force\n',
)
writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = x\n[alias]\n  out = push --force origin main\n')

async function sure(command: string): Promise<readonly Effect[]> {
  const context = { cwd: app, projectDir: app, home, env: { HOME: home } }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  return effects.filter(({ guess }) => !guess)
}

describe('shortened options of git', () => {
  it.each([
    ['git reset --har', 'work'],
    ['git reset --ha HEAD~1', 'history'],
    ['git clean --forc -d', 'work'],
    ['git push --forc origin main', 'history'],
    ['git push --force-w origin main', 'history'],
    ['git push --del origin topic', 'history'],
    ['git push --mirr origin', 'history'],
    ['git branch --delet --forc topic', 'history'],
    ['git checkout --forc', 'work'],
    ['git switch --disc main', 'work'],
    ['git rm --forc a.txt', 'work'],
    ['git commit --am', 'history'],
    ['git tag --del v1', 'history'],
    ['git worktree remove --forc x', 'work'],
    ['git reset --sof', 'nothing'],
    ['git push --dry-r --force origin main', 'nothing'],
  ])('%s', async (command, loses) => {
    expect(await sure(command)).toContainEqual(expect.objectContaining({ kind: 'git', loses }))
  })

  it('read a file as the full ones do', async () => {
    const place = expect.objectContaining({ path: join(home, 'x') })
    expect(await sure('git diff --no-in /dev/null ../x')).toContainEqual(
      expect.objectContaining({ kind: 'read', place }),
    )
  })
})

describe('aliases of git', () => {
  it.each([
    ['git undo', { kind: 'git', operation: 'reset', loses: 'work' }],
    ['git undo HEAD~1', { kind: 'git', operation: 'reset', loses: 'history' }],
    ['cd sub && git undo', { kind: 'git', operation: 'reset', loses: 'work' }],
    ['git -C sub undo', { kind: 'git', operation: 'reset', loses: 'work' }],
    ['git out', { kind: 'git', operation: 'push', force: true, branch: 'main' }],
    ['git -c alias.x="reset --hard" x', { kind: 'git', operation: 'reset', loses: 'work' }],
    ['git -c alias.x="!git push -f" x origin main', { kind: 'git', operation: 'push', force: true }],
  ])('%s', async (command, part) => {
    expect(await sure(command)).toContainEqual(expect.objectContaining(part))
  })

  it('may run a command of the shell', async () => {
    const place = expect.objectContaining({ path: join(app, 'build') })
    expect(await sure('git wipe')).toContainEqual(expect.objectContaining({ kind: 'delete', place }))
  })

  it('do not replace a command of git', async () => {
    expect((await sure('git status')).map(({ kind }) => kind)).toEqual(['run'])
  })
})

describe('git diff in a folder of a repository', () => {
  it('shows the whole repository', async () => {
    const context = { cwd: app, projectDir: app, home, env: {} }
    const use = { name: 'Bash', input: { command: 'cd sub && git diff HEAD~1' } }
    expect(await effectsOf(use, context)).toContainEqual(
      expect.objectContaining({ kind: 'read', place: expect.objectContaining({ path: app, deep: true }) }),
    )
  })
})
