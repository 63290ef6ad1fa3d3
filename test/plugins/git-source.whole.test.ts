// Repositories, including ones that no honest person makes: they are read, never checked out, and run nothing.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { runProgram } from '../../src/plugins/sources/external-program.js'
import { fetchTree } from '../../src/plugins/sources/fetch-source.js'
import { isRunning } from '../cli/program.js'
import { withHome } from './plugin-sources.js'

const bench = withHome()

const git = (url: string, more: { ref?: string; path?: string } = {}) =>
  fetchTree({ kind: 'git', url, ...more })

describe('a repository', () => {
  it('is fetched at a tag, a branch, a commit, or its default branch', async () => {
    const folder = bench.plugin('several', { body: 'echo one' })
    const first = bench.repository(folder)
    bench.git(folder, 'tag', '-a', 'v1', '-m', 'annotated')
    bench.git(folder, 'branch', 'stable')
    bench.plugin('several', { body: 'echo two' })
    const second = bench.commit(folder)
    const text = async (ref?: string) => {
      const { commit, isTag, tree } = await git(folder, ref === undefined ? {} : { ref })
      return [commit, isTag, tree.text('guard.sh')?.includes('echo one')]
    }
    expect(await text('v1')).toEqual([first, true, true])
    expect(await text('stable')).toEqual([first, false, true])
    expect(await text(first)).toEqual([first, false, true])
    expect(await text()).toEqual([second, false, false])
  })

  it('is fetched also where git may not find bare repositories by itself', async () => {
    const folder = bench.plugin('explicit')
    const commit = bench.repository(folder)
    bench.file('home/.gitconfig', '[safe]\n  bareRepository = explicit\n')
    vi.stubEnv('HOME', bench.home)
    try {
      expect((await git(folder)).commit).toBe(commit)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('keeps which files can be executed', async () => {
    const folder = bench.plugin('modes')
    bench.repository(folder)
    const { tree } = await git(folder)
    expect([...tree.files].map(([path, { isExecutable }]) => [path, isExecutable])).toEqual([
      ['.claude-plugin/plugin.json', false],
      ['guard.sh', true],
      ['hooks/hooks.json', false],
    ])
  })

  it('may be fetched in part, and only that part has to be plain', async () => {
    const folder = bench.path('mono')
    bench.plugin('mono/plugins/a')
    symlinkSync('/etc/passwd', join(folder, 'link'))
    bench.repository(folder)
    const { tree } = await git(folder, { path: 'plugins/a' })
    expect(tree.files.has('hooks/hooks.json')).toBe(true)
    await expect(git(folder)).rejects.toMatchObject({
      code: 'UNSAFE_ENTRY',
      message: expect.stringContaining('link is a symbolic link'),
    })
    await expect(git(folder, { path: 'plugins/b' })).rejects.toMatchObject({ code: 'NO_PLUGIN' })
    await expect(git(folder, { path: 'link/x' })).rejects.toMatchObject({ code: 'NO_PLUGIN' })
  })

  it.each([
    ['a link to the outside', '/home/me/.ssh'],
    ['a link that leads nowhere', 'nowhere'],
    ['a link to itself', 'entry'],
  ])('with %s is refused, with its path', async (what, target) => {
    const folder = bench.plugin(`linked-${what.length}`)
    mkdirSync(join(folder, 'sub'))
    symlinkSync(target, join(folder, 'sub', 'entry'))
    bench.repository(folder)
    await expect(git(folder)).rejects.toMatchObject({
      code: 'UNSAFE_ENTRY',
      message: expect.stringContaining('sub/entry is a symbolic link'),
    })
  })

  it('with a submodule is refused', async () => {
    const folder = bench.plugin('super')
    const inner = bench.plugin('inner')
    bench.repository(inner)
    bench.repository(folder)
    bench.git(folder, 'submodule', '--quiet', 'add', inner, 'sub')
    bench.commit(folder)
    await expect(git(folder)).rejects.toMatchObject({
      code: 'UNSAFE_ENTRY',
      message: expect.stringContaining('sub is a submodule'),
    })
  })

  it('with names that lead out of it is refused', async () => {
    const folder = bench.plugin('slip')
    bench.repository(folder)
    const blob = bench.git(folder, 'rev-parse', 'HEAD:guard.sh')
    const raw = (name: string) => Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
    for (const name of ['..', 'a\\..\\b', 'C:x', 'x\u001b[2J']) {
      writeFileSync(bench.path('tree'), raw(name))
      const tree = bench.git(folder, 'hash-object', '-t', 'tree', '-w', '--literally', bench.path('tree'))
      const commit = bench.git(folder, 'commit-tree', tree, '-m', 'x')
      bench.git(folder, 'update-ref', 'refs/heads/evil', commit)
      await expect(git(folder, { ref: 'evil' }), name).rejects.toMatchObject({
        code: expect.stringMatching(/UNSAFE_ENTRY|FETCH_FAILED/),
      })
    }
  })

  it('that expands to a huge tree is stopped', async () => {
    const folder = bench.plugin('bomb')
    bench.repository(folder)
    let object = `100644 blob ${bench.git(folder, 'rev-parse', 'HEAD:guard.sh')}`
    for (let n = 0; n < 9; n++) {
      const list = Array.from({ length: 10 }, (_, i) => `${object}\tf${i}`).join('\n')
      object = `040000 tree ${mktree(folder, list)}`
    }
    const commit = bench.git(folder, 'commit-tree', object.split(' ')[2] as string, '-m', 'x')
    bench.git(folder, 'update-ref', 'refs/heads/bomb', commit)
    await expect(git(folder, { ref: 'bomb' })).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringContaining('printed more than'),
    })
  })

  it('runs nothing of its own: no hook, no filter, no monitor, no transport', async () => {
    const folder = bench.plugin('active')
    const canary = bench.path('canary')
    bench.file('active/.gitattributes', '* filter=evil\n*.sh export-subst\n')
    bench.repository(folder)
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc']) {
      bench.file(`active/.git/hooks/${name}`, `#!/bin/sh\ntouch '${canary}'\n`, 0o755)
    }
    bench.git(folder, 'config', 'core.fsmonitor', `touch '${canary}'`)
    bench.git(folder, 'config', 'uploadpack.packObjectsHook', `touch '${canary}'`)
    bench.git(folder, 'config', 'filter.evil.smudge', `touch '${canary}'`)
    const { tree } = await git(folder)
    expect(tree.files.has('guard.sh')).toBe(true)
    expect(existsSync(canary)).toBe(false)
    await expect(git(`ext::sh -c touch% ${canary}`)).rejects.toMatchObject({ code: 'FETCH_FAILED' })
    await expect(git(`--upload-pack=touch ${canary}`)).rejects.toMatchObject({ code: 'FETCH_FAILED' })
    expect(existsSync(canary)).toBe(false)
  })

  it('reports that git is missing', async () => {
    vi.stubEnv('PATH', bench.path('nothing'))
    await expect(git(bench.path('x'))).rejects.toMatchObject({
      message: 'git is not on the PATH',
      hint: 'Install git.',
    })
    vi.unstubAllEnvs()
  })

  it('that never answers is not waited for, and nothing of it is left', async () => {
    const pid = bench.path('pid')
    const call = {
      program: 'sh',
      args: ['-c', `sleep 1000 & echo $! > '${pid}'; wait`],
      cwd: bench.base,
      env: process.env,
    }
    const ended = runProgram({ ...call, timeoutMs: 300, maxBytes: 10 })
    await expect(ended).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: 'sh took longer than 0.3 s and was stopped',
    })
    expect(isRunning(Number(readFileSync(pid, 'utf8')))).toBe(false)
  })

  it('is reached only by the way that its address names', async () => {
    vi.stubEnv('HOME', bench.path('nobody'))
    vi.stubEnv('XDG_CONFIG_HOME', bench.path('xdg'))
    bench.file('xdg/git/config', '[url "git://127.0.0.1:1/"]\n\tinsteadOf = https://example.invalid/\n')
    await expect(git('https://example.invalid/x.git')).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringContaining("transport 'git' not allowed"),
    })
    vi.unstubAllEnvs()
  })

  it('is reported if it does not exist, or has no such ref', async () => {
    await expect(git(bench.path('nowhere'))).rejects.toMatchObject({ code: 'FETCH_FAILED' })
    const folder = bench.plugin('refs')
    bench.repository(folder)
    await expect(git(folder, { ref: 'v9' })).rejects.toMatchObject({
      code: 'SOURCE_NOT_FOUND',
      message: expect.stringContaining('no tag or branch v9'),
    })
    await expect(git(folder, { ref: 'a'.repeat(40) })).rejects.toMatchObject({ code: 'FETCH_FAILED' })
  })

  it('ignores the variables of a repository that the user works in', async () => {
    const folder = bench.plugin('clean')
    const commit = bench.repository(folder)
    vi.stubEnv('GIT_DIR', bench.path('elsewhere'))
    vi.stubEnv('GIT_OBJECT_DIRECTORY', bench.path('elsewhere'))
    vi.stubEnv('GIT_CONFIG_COUNT', '1')
    vi.stubEnv('GIT_CONFIG_KEY_0', 'alias.init')
    vi.stubEnv('GIT_CONFIG_VALUE_0', '!false')
    expect((await git(folder)).commit).toBe(commit)
    vi.unstubAllEnvs()
  })
})

function mktree(folder: string, list: string): string {
  return execFileSync('git', ['mktree', '--missing'], {
    cwd: folder,
    input: `${list}\n`,
    encoding: 'utf8',
  }).trim()
}
