import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { codesOf, command, commandsOf, hooksFile, sourcesIn, tree, write } from './temp-tree.js'

const FILE = 'project/.amplifier/hooks/p/hooks.json'
const named = (text: string) => hooksFile([command(text)])

/** Loads, changes the files, loads again. */
async function reloaded(
  change: (root: string) => void,
  before: Record<string, unknown> = { [FILE]: named('good') },
) {
  const root = tree(before)
  const first = await loadConfig(sourcesIn(root))
  change(root)
  return { root, first, second: await loadConfig(sourcesIn(root), first) }
}

describe('a file that was good', () => {
  it.each([
    ['half written', '{"hooks": {"Sto'],
    ['empty', ''],
    ['not an object', '[]'],
    ['without hooks in "hooks"', '{"hooks": "soon"}'],
  ])('and is %s now keeps what it said, and both are said', async (_, text) => {
    const { root, first, second } = await reloaded((root) => write(root, { [FILE]: text }))
    expect(commandsOf(second)).toEqual(['good'])
    expect(codesOf(second)).toEqual(['config-invalid', 'config-kept'])
    expect(second.diagnostics.every(({ file, line }) => file === join(root, FILE) && line === 1)).toBe(true)
    expect(second.specs.map(({ hook }) => hook.id)).toEqual(first.specs.map(({ hook }) => hook.id))
  })

  it('and cannot be read now keeps what it said', async () => {
    const { second } = await reloaded((root) => {
      rmSync(join(root, FILE))
      mkdirSync(join(root, FILE))
    })
    expect(commandsOf(second)).toEqual(['good'])
    expect(codesOf(second)).toEqual(['config-invalid', 'config-kept'])
  })

  it('keeps it over any number of loads, and until it is good again', async () => {
    const { root, second } = await reloaded((root) => write(root, { [FILE]: '{' }))
    const third = await loadConfig(sourcesIn(root), second)
    expect(commandsOf(third)).toEqual(['good'])
    write(root, { [FILE]: named('better') })
    const fourth = await loadConfig(sourcesIn(root), third)
    expect(commandsOf(fourth)).toEqual(['better'])
    expect(fourth.diagnostics).toEqual([])
  })

  it('and was deleted is gone', async () => {
    const { second } = await reloaded((root) => rmSync(join(root, FILE)))
    expect(second.specs).toEqual([])
    expect(second.diagnostics).toEqual([])
  })

  it('and no longer has any hooks has none', async () => {
    const { second } = await reloaded((root) => write(root, { [FILE]: { hooks: {} } }))
    expect(second.specs).toEqual([])
    expect(second.diagnostics).toEqual([])
  })

  it('settings are kept as well', async () => {
    const settings = 'home/.amplifier/settings.json'
    const { second } = await reloaded((root) => write(root, { [settings]: '{' }), {
      [settings]: { hooks: { on_failure: 'block' } },
    })
    expect(second.settings.on_failure).toBe('block')
    expect(codesOf(second)).toEqual(['config-invalid', 'config-kept'])
  })

  it('plugin.json is kept as well, with its inline hooks', async () => {
    const manifest = 'project/.amplifier/hooks/p/.claude-plugin/plugin.json'
    const { second } = await reloaded((root) => write(root, { [manifest]: '{' }), {
      [manifest]: { name: 'n', hooks: named('inline') },
    })
    expect(second.specs.map(({ hook }) => hook.name)).toEqual(['n:PreToolUse#1'])
  })

  it.runIf(process.platform !== 'win32')('in a folder that cannot be listed now is kept', async () => {
    const superuser = process.getuid?.() === 0
    const before = {
      [FILE]: named('good'),
      'project/.amplifier/hooks/q/hooks/hooks.json': named('standard'),
      'project/.amplifier/hooks/r/.claude-plugin/plugin.json': { name: 'are', hooks: named('inline') },
    }
    try {
      const { second } = await reloaded((root) => {
        chmodSync(root, 0o755)
        chmodSync(join(root, 'project/.amplifier/hooks'), 0)
        if (superuser) process.seteuid?.(65534)
      }, before)
      expect(commandsOf(second)).toEqual(['good', 'standard', 'inline'])
      expect(codesOf(second).filter((code) => code === 'config-kept')).toHaveLength(3)
    } finally {
      if (superuser) process.seteuid?.(0)
    }
  })
})

describe('a file that was broken', () => {
  it('and still is has nothing to keep', async () => {
    const { second } = await reloaded(() => {}, { [FILE]: '{' })
    expect(second.specs).toEqual([])
    expect(codesOf(second)).toEqual(['config-invalid'])
  })

  it('and is new has nothing to keep', async () => {
    const { second } = await reloaded((root) => write(root, { [FILE]: '{' }), {})
    expect(codesOf(second)).toEqual(['config-invalid'])
  })
})
