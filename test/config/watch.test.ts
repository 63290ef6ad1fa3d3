import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { watchConfig } from '../../src/config/watch.js'
import { fromNow, HOUR_MS, placeIn, putPolicy } from './fleet-place.js'
import { command, commandsOf, hooksFile, sourcesIn, tree, write } from './temp-tree.js'

const DEADLINE_MS = 30_000
const named = (text: string) => hooksFile([command(text)])

/** Watches; `change` makes a change and is fulfilled when it was noticed. */
async function watching(root: string, more: object = {}) {
  let noticed = () => {}
  const watch = await watchConfig(sourcesIn(root, more), () => noticed())
  onTestFinished(() => watch.close())
  const change = async (what: () => void) => {
    const late = new AbortController()
    const notice = new Promise<boolean>((resolve) => {
      noticed = () => resolve(true)
    })
    what()
    const deadline = wait(DEADLINE_MS, false, { signal: late.signal }).catch(() => false)
    const seen = await Promise.race([notice, deadline])
    late.abort()
    expect(seen).toBe(true)
  }
  return { watch, change }
}

describe('watchConfig', { timeout: 3 * DEADLINE_MS }, () => {
  const FILE = 'project/.amplifier/hooks/p/hooks.json'

  it('sees a file change', async () => {
    const root = tree({ [FILE]: named('a') })
    const { change } = await watching(root)
    await change(() => write(root, { [FILE]: named('b') }))
    expect(commandsOf(await loadConfig(sourcesIn(root)))).toEqual(['b'])
  })

  it.each([2, 24 * 40])(
    'sees that the policy of the fleet expires in %i hours, although no file changes',
    async (hours) => {
      const root = tree({ 'project/x': '', 'etc/x': '' })
      vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      putPolicy(root, { enforced: { 'rules.json': { rules: [] } }, expires: fromNow(hours * HOUR_MS) })
      const company = {
        path: join(root, 'etc', 'policy'),
        owner: placeIn(root).owner,
        fleet: [placeIn(root)],
      }
      let seen = 0
      const watch = await watchConfig(sourcesIn(root, { company }), () => seen++)
      onTestFinished(() => watch.close())
      await vi.advanceTimersByTimeAsync(hours * HOUR_MS - 1000)
      expect(seen).toBe(0)
      await vi.advanceTimersByTimeAsync(2000)
      expect(seen).toBe(1)
    },
  )

  it('looks at the clock again after the machine has slept, which stops its timers', async () => {
    const root = tree({ 'project/x': '', 'etc/x': '' })
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    putPolicy(root, { enforced: { 'rules.json': { rules: [] } }, expires: fromNow(48 * HOUR_MS) })
    const company = { path: join(root, 'etc', 'policy'), owner: placeIn(root).owner, fleet: [placeIn(root)] }
    let seen = 0
    const watch = await watchConfig(sourcesIn(root, { company }), () => seen++)
    onTestFinished(() => watch.close())
    vi.setSystemTime(Date.now() + 50 * HOUR_MS)
    await vi.advanceTimersByTimeAsync(2 * HOUR_MS)
    expect(seen).toBe(1)
  })

  it('sees a file replaced, again and again, as editors do', async () => {
    const root = tree({ [FILE]: named('a') })
    const { change } = await watching(root)
    for (const text of ['b', 'c', 'd']) {
      await change(() => {
        const temporary = join(root, 'project/.amplifier/hooks/p/.hooks.json.tmp')
        writeFileSync(temporary, JSON.stringify(named(text)))
        renameSync(temporary, join(root, FILE))
      })
    }
  })

  it('sees a file removed, and one come back', async () => {
    const root = tree({ [FILE]: named('a') })
    const { change } = await watching(root)
    await change(() => rmSync(join(root, FILE)))
    await change(() => write(root, { [FILE]: named('b') }))
  })

  it.each([
    FILE,
    'project/.amplifier/settings.json',
    'project/.amplifier/hooks/hooks.json',
    'home/.amplifier/hooks/q/hooks/hooks.json',
    'home/.amplifier/hooks/q/.claude-plugin/plugin.json',
  ])('sees %s appear where there was no folder yet', async (file) => {
    const root = tree({ 'home/x': '', 'project/x': '' })
    const { change } = await watching(root)
    await change(() => write(root, { [file]: named('a') }))
  })

  it('sees a project appear', async () => {
    const root = tree()
    const { change } = await watching(root)
    await change(() => write(root, { [FILE]: named('a') }))
  })

  it('sees the whole folder go and come back', async () => {
    const root = tree({ [FILE]: named('a') })
    const { change } = await watching(root)
    await change(() => rmSync(join(root, 'project/.amplifier'), { recursive: true }))
    await change(() => write(root, { [FILE]: named('b') }))
    await change(() => write(root, { [FILE]: named('c') }))
  })

  it('sees explicit files and plugins, there or not', async () => {
    const root = tree({ 'plug/hooks/hooks.json': named('a') })
    const more = { files: [join(root, 'some/where/x.json')], plugins: [join(root, 'plug')] }
    const { change } = await watching(root, more)
    await change(() => write(root, { 'plug/hooks/hooks.json': named('b') }))
    await change(() => write(root, { 'some/where/x.json': named('c') }))
  })

  it('sees files that a plugin.json names, also when it names others', async () => {
    const root = tree({
      'plug/.claude-plugin/plugin.json': { hooks: './conf/a.json' },
      'plug/conf/a.json': named('a'),
      'plug/more/b.json': named('b'),
    })
    const { change } = await watching(root, { plugins: [join(root, 'plug')] })
    await change(() => write(root, { 'plug/conf/a.json': named('a2') }))
    await change(() => write(root, { 'plug/.claude-plugin/plugin.json': { hooks: './more/b.json' } }))
    await change(() => write(root, { 'plug/more/b.json': named('b2') }))
  })

  it('calls once for many changes at once, and not at all for other files or after close', async () => {
    const root = tree({ [FILE]: named('a') })
    let calls = 0
    const watch = await watchConfig(sourcesIn(root), () => calls++)
    const { change } = await watching(root)
    write(root, {
      'project/src/main.ts': '',
      'project/.amplifier/hooks/p/check.sh': '',
      'project/hooks.json': '{}',
    })
    await change(() => {
      for (let i = 0; i < 20; i++) write(root, { [FILE]: named(String(i)) })
    })
    expect(calls).toBeLessThan(20)
    await watch.close()
    const before = calls
    await change(() => write(root, { [FILE]: named('last') }))
    expect(calls).toBe(before)
  })

  it('never throws: not for sources that make no sense, not for a callback that does', async () => {
    const problems: string[] = []
    const note = ({ text }: { text: string }) => problems.push(text)
    const nonsense = await watchConfig({ projectDir: 7 as never }, () => {}, note)
    await nonsense.close()
    expect(problems).toHaveLength(1)

    const root = tree({ [FILE]: named('a') })
    const { change } = await watching(root)
    const watch = await watchConfig(
      sourcesIn(root),
      () => {
        throw new Error('mine')
      },
      note,
    )
    onTestFinished(() => watch.close())
    await change(() => write(root, { [FILE]: named('b') }))
    await expect.poll(() => problems.at(-1), { timeout: DEADLINE_MS }).toContain('mine')
  })

  it('may be closed twice, and before anything happened', async () => {
    const root = tree()
    mkdirSync(dirname(join(root, FILE)), { recursive: true })
    const watch = await watchConfig(sourcesIn(root), () => {})
    await watch.close()
    await watch.close()
  })
})
