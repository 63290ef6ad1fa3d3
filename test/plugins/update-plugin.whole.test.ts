import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { resolveSource } from '../../src/plugins/catalog/resolve.js'
import { installPrepared, preparePlugin } from '../../src/plugins/install-plugin.js'
import { type LockEntry, readLock, writeLock } from '../../src/plugins/lock-file.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { lockPath, pluginsDir } from '../../src/plugins/target.js'
import { prepareUpdate, type UpdateOptions } from '../../src/plugins/update-plugin.js'
import { HOOKS, treeOf, withHome } from './plugin-sources.js'

const bench = withHome()
const target = bench.user
const folder = bench.path('guard')

afterEach(() => {
  rmSync(join(bench.home, '.amplifier'), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
})

async function install(text: string, to = target): Promise<void> {
  const prepared = await preparePlugin(await resolveSource(parseSource(text)), to)
  prepared.staged.remove()
  await installPrepared(prepared, to)
}

async function update(options: UpdateOptions = {}) {
  const found = await prepareUpdate('guard', target, options)
  found.prepared.staged.remove()
  return found
}

describe('an update', () => {
  it('says what is different, file by file', async () => {
    bench.plugin('guard', { body: 'echo one' })
    bench.file('guard/gone.txt', 'x')
    await install(folder)
    expect((await update()).differences).toEqual([])
    bench.plugin('guard', { body: 'echo two' })
    bench.file('guard/new.bin', '\u0000')
    bench.file('guard/hooks/hooks.json', HOOKS, 0o755)
    rmSync(join(folder, 'gone.txt'))
    const { differences, isModified } = await update()
    expect(isModified).toBe(false)
    expect(differences).toEqual([
      { what: 'file-removed', path: 'gone.txt', text: 'gone.txt is removed.', before: 'x' },
      {
        what: 'file-changed',
        path: 'guard.sh',
        text: 'guard.sh is changed.',
        before: '#!/bin/sh\necho one\n',
        after: '#!/bin/sh\necho two\n',
      },
      { what: 'mode-changed', path: 'hooks/hooks.json', text: 'hooks/hooks.json becomes executable.' },
      { what: 'file-added', path: 'new.bin', text: 'new.bin is new.' },
    ])
  })

  it('of a branch follows it', async () => {
    bench.plugin('guard', { body: 'echo one' })
    bench.repository(folder)
    await install(`${folder}#main`)
    bench.plugin('guard', { body: 'echo two' })
    const after = bench.commit(folder)
    const { prepared, current } = await update()
    expect(prepared.entry.commit).toBe(after)
    await installPrepared(prepared, target, { replaces: current })
    expect(treeOf(pluginsDir(target))['guard/guard.sh']).toContain('echo two')
    expect(readLock(lockPath(target)).get('guard')?.commit).toBe(after)
  })

  it('refuses a tag that has moved, and names both commits', async () => {
    bench.plugin('guard', { body: 'echo good' })
    const before = bench.repository(folder)
    bench.git(folder, 'tag', 'v1')
    await install(`${folder}#v1`)
    bench.plugin('guard', { body: 'echo evil' })
    const after = bench.commit(folder)
    bench.git(folder, 'tag', '-f', 'v1')
    const refused = prepareUpdate('guard', target)
    await expect(refused).rejects.toMatchObject({
      code: 'TAG_MOVED',
      message: expect.stringMatching(`${before}.*${after}`),
    })
    expect((await update({ acceptMoved: true })).differences).toHaveLength(1)
  })

  it('refuses a tag that was put in the place of a branch', async () => {
    bench.plugin('guard', { body: 'echo good' })
    bench.repository(folder)
    await install(`${folder}#main`)
    bench.plugin('guard', { body: 'echo evil' })
    bench.commit(folder)
    bench.git(folder, 'tag', 'main')
    await expect(prepareUpdate('guard', target)).rejects.toMatchObject({ code: 'TAG_MOVED' })
  })

  it.each([
    ['elsewhere', true],
    ['at the same commit', false],
  ])('refuses a branch that was put in the place of a tag, %s', async (_, isElsewhere) => {
    bench.plugin('guard', { body: 'echo good' })
    const before = bench.repository(folder)
    bench.git(folder, 'tag', 'v1')
    await install(`${folder}#v1`)
    expect(readLock(lockPath(target)).get('guard')?.tag).toBe(true)
    bench.plugin('guard', { body: 'echo evil' })
    const after = isElsewhere ? bench.commit(folder) : before
    bench.git(folder, 'tag', '-d', 'v1')
    bench.git(folder, 'branch', 'v1', after)
    await expect(prepareUpdate('guard', target)).rejects.toMatchObject({
      code: 'TAG_MOVED',
      message: expect.stringMatching(`${before}.*is now a branch at ${after}`),
    })
    const { prepared, differences } = await update({ acceptMoved: true })
    expect([prepared.entry.tag, differences.length]).toEqual([undefined, isElsewhere ? 1 : 0])
  })

  it('of a catalog may name another tag, which does not count as moved', async () => {
    bench.plugin('guard', { body: 'echo one' })
    bench.repository(folder)
    bench.git(folder, 'tag', 'v1')
    let ref = 'v1'
    const resolveCatalog = async () => ({ source: folder, ref })
    const first = await preparePlugin(
      await resolveSource(parseSource('guard@team'), resolveCatalog),
      target,
      undefined,
    )
    first.staged.remove()
    await installPrepared(first, target)
    bench.plugin('guard', { body: 'echo two' })
    const after = bench.commit(folder)
    bench.git(folder, 'tag', 'v2')
    ref = 'v2'
    expect((await update({ resolveCatalog })).prepared.entry).toMatchObject({ ref, commit: after, tag: true })
    ref = 'v1'
    bench.git(folder, 'tag', '-f', 'v1')
    await expect(prepareUpdate('guard', target, { resolveCatalog })).rejects.toMatchObject({
      code: 'TAG_MOVED',
    })
  })

  it('of a project refuses what has moved since the user accepted it, whatever the lock file says', async () => {
    bench.plugin('guard', { body: 'echo good' })
    const before = bench.repository(folder)
    bench.git(folder, 'tag', 'v1')
    await install(`${folder}#v1`, bench.here)
    bench.plugin('guard', { body: 'echo evil' })
    const after = bench.commit(folder)
    bench.git(folder, 'tag', '-f', 'v1')
    const path = lockPath(bench.here)
    const { tag: _, ...entry } = readLock(path).get('guard') as LockEntry
    for (const commit of [after, undefined])
      for (const one of [entry, { ...entry, tag: true as const }]) {
        writeLock(path, new Map([['guard', JSON.parse(JSON.stringify({ ...one, commit }))]]))
        await expect(prepareUpdate('guard', bench.here)).rejects.toMatchObject({
          code: 'TAG_MOVED',
          message: expect.stringMatching(`${before}.*${after}`),
        })
      }
    rmSync(join(bench.project, '.amplifier'), { recursive: true })
  })

  it('knows what was changed by hand, and what was shown: nothing else is replaced', async () => {
    bench.plugin('guard', { body: 'echo one' })
    await install(folder)
    writeFileSync(join(pluginsDir(target), 'guard', 'guard.sh'), 'mine')
    const { prepared, current, isModified } = await update()
    expect(isModified).toBe(true)
    writeFileSync(join(pluginsDir(target), 'guard', 'guard.sh'), 'mine, later')
    await expect(installPrepared(prepared, target, { replaces: current })).rejects.toMatchObject({
      code: 'MISMATCH',
    })
    expect(treeOf(pluginsDir(target))['guard/guard.sh']).toContain('mine, later')
  })

  it('puts back a folder that was removed by hand', async () => {
    bench.plugin('guard')
    await install(folder)
    rmSync(join(pluginsDir(target), 'guard'), { recursive: true })
    const { prepared, current, isModified } = await update()
    expect([current, isModified]).toEqual([undefined, false])
    await installPrepared(prepared, target, { replaces: current })
    expect(treeOf(pluginsDir(target))['guard/guard.sh']).toContain('exit 0')
  })

  it('of what was not installed here is refused', async () => {
    await expect(prepareUpdate('nobody', target)).rejects.toMatchObject({ code: 'NOT_INSTALLED' })
  })
})
