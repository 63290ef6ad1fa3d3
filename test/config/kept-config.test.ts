// What a service keeps of a configuration: it is used again only if nothing that it was made from has changed.

import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { KeptConfig } from '../../src/config/kept-config.js'
import { type ConfigSources, loadConfig } from '../../src/config/load.js'
import { Looks } from '../../src/files/looks.js'
import { command, commandsOf, hooksFile, sourcesIn, tree, write } from './temp-tree.js'

/** Paths that any function of node:fs was called with. */
let touched = new Set<string>()

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const watched = Object.entries(fs).map(([name, value]) => [
    name,
    typeof value === 'function' ? watch(value) : value,
  ])
  return { ...Object.fromEntries(watched), default: fs }
})

function watch(given: object): object {
  return new Proxy(given, {
    apply(target, self, args) {
      if (typeof args[0] === 'string') touched.add(args[0])
      return Reflect.apply(target as () => unknown, self, args)
    },
    get: (target, key) => (key === 'native' ? watch(Reflect.get(target, key)) : Reflect.get(target, key)),
  })
}

const LATER_MS = 60_000

/** Files of a test are new, and stamps of new files prove nothing. */
beforeEach(() => {
  const now = Date.now
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + LATER_MS)
  return () => spy.mockRestore()
})

/** A tick of the clock that stamps files: whatever is written after it has another stamp than what was written before. */
function passTick(root: string): void {
  const file = join(root, 'tick')
  const stamp = () => {
    writeFileSync(file, '')
    return statSync(file, { bigint: true }).ctimeNs
  }
  const before = stamp()
  while (stamp() === before);
}

const HOOKS = 'project/.amplifier/hooks'
const skill = (text: string) =>
  `---\nname: s\ndescription: s\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ${text}\n---\n`

const FILES = {
  'home/.amplifier/hooks/hooks.json': hooksFile([command('user')]),
  'home/.amplifier/settings.json': { hooks: { default_timeout: 20 } },
  [`${HOOKS}/hooks.json`]: hooksFile([command('root'), command('ruled', { if: 'Bash(rm *)' })]),
  'project/.amplifier/settings.json': { hooks: { default_timeout: 10 } },
  [`${HOOKS}/plain/hooks.json`]: hooksFile([command('plain')]),
  [`${HOOKS}/claude/.claude-plugin/plugin.json`]: {
    name: 'claude',
    hooks: './more.json',
    skills: './others',
  },
  [`${HOOKS}/claude/more.json`]: hooksFile([command('more')]),
  [`${HOOKS}/claude/hooks/hooks.json`]: { ...hooksFile([command('standard')]), modules: ['./mod.mjs'] },
  [`${HOOKS}/claude/hooks/mod.mjs`]: 'export const PreToolUse = () => undefined\n',
  [`${HOOKS}/claude/skills/s/SKILL.md`]: skill('skill'),
  [`${HOOKS}/claude/others/SKILL.md`]: skill('other'),
  'named/hooks.json': hooksFile([command('named')]),
  'plug/hooks.json': hooksFile([command('plug')]),
  '.amplifier/hooks/hooks.json': hooksFile([command('outer')]),
}

function scene(): { readonly root: string; readonly sources: ConfigSources; readonly kept: KeptConfig } {
  const root = tree(FILES)
  symlinkSync(join(root, 'plug'), join(root, HOOKS, 'linked'))
  const sources = sourcesIn(root, {
    files: [join(root, 'named/hooks.json')],
    plugins: [join(root, 'plug'), join(root, 'nowhere')],
    outerDirs: [root, '/'],
  })
  passTick(root)
  return { root, sources, kept: new KeptConfig(sources) }
}

describe('a kept configuration', () => {
  it('is the same one as long as nothing changes', async () => {
    const { root, kept } = scene()
    const first = await kept.load()
    expect(commandsOf(first)).toContain('skill')
    write(root, { 'project/src/main.ts': 'changed', 'other/hooks.json': hooksFile() })
    expect(await kept.load()).toBe(first)
  })

  it('falls back to the last good text of a file, again and again', async () => {
    const { root, kept } = scene()
    const good = await kept.load()
    writeFileSync(join(root, HOOKS, 'plain/hooks.json'), '{"hooks": {')
    passTick(root)
    const broken = await kept.load(good)
    expect(commandsOf(broken)).toEqual(commandsOf(good))
    expect(broken.diagnostics.map(({ code }) => code)).toContain('config-kept')
    expect(await kept.load(broken)).toBe(broken)
  })

  it('is loaded again for another folder of data', async () => {
    const { kept } = scene()
    const first = await kept.load()
    vi.stubEnv('CARABINER_HOME', '/elsewhere')
    const second = await kept.load()
    vi.unstubAllEnvs()
    expect(second).not.toBe(first)
  })

  it('asks again about every path that was looked at', async () => {
    const { sources } = scene()
    const looks = new Looks()
    touched = new Set()
    await loadConfig(sources, undefined, looks)
    const first = touched
    touched = new Set()
    expect(looks.hold()).toBe(true)
    expect([...first].filter((path) => !touched.has(path))).toEqual([])
    expect(first.size).toBeGreaterThan(Object.keys(FILES).length)
  })

  const other = (root: string, path: string, content: unknown) => write(root, { [path]: content })
  const changes: Readonly<Record<string, (root: string) => void>> = {
    "the user's hooks": (root) =>
      other(root, 'home/.amplifier/hooks/hooks.json', hooksFile([command('new')])),
    "the user's settings": (root) =>
      other(root, 'home/.amplifier/settings.json', { hooks: { default_timeout: 21 } }),
    "the project's settings": (root) =>
      other(root, 'project/.amplifier/settings.json', { hooks: { default_timeout: 11 } }),
    'a hooks file': (root) => other(root, `${HOOKS}/plain/hooks.json`, hooksFile([command('nlain')])),
    'a hooks file that another one replaces': (root) => {
      const file = join(root, HOOKS, 'plain/hooks.json')
      writeFileSync(`${file}.new`, JSON.stringify(hooksFile([command('nlain')]), null, 2))
      renameSync(`${file}.new`, file)
    },
    'a manifest': (root) => other(root, `${HOOKS}/claude/.claude-plugin/plugin.json`, { name: 'renamed' }),
    'a file that a manifest names': (root) =>
      other(root, `${HOOKS}/claude/more.json`, hooksFile([command('nore')])),
    'a module': (root) => other(root, `${HOOKS}/claude/hooks/mod.mjs`, 'export function register() {}\n'),
    'a skill': (root) => other(root, `${HOOKS}/claude/skills/s/SKILL.md`, skill('slill')),
    'a new skill': (root) => other(root, `${HOOKS}/claude/skills/t/SKILL.md`, skill('another')),
    'a named file': (root) => other(root, 'named/hooks.json', hooksFile([command('nomed')])),
    'a named plugin that comes into being': (root) => other(root, 'nowhere/hooks.json', hooksFile()),
    'a new plugin': (root) => other(root, `${HOOKS}/new/hooks.json`, hooksFile([command('new')])),
    'a manifest in a plugin that had none': (root) =>
      other(root, `${HOOKS}/plain/.claude-plugin/plugin.json`, { name: 'renamed' }),
    'hooks in a folder that a plugin did not have': (root) =>
      other(root, `${HOOKS}/plain/hooks/hooks.json`, hooksFile([command('new')])),
    'skills in a folder that a plugin did not have': (root) =>
      other(root, `${HOOKS}/plain/skills/s/SKILL.md`, skill('new')),
    'the file behind a link': (root) => other(root, 'plug/hooks.json', hooksFile([command('plag')])),
    'where a link leads': (root) => {
      unlinkSync(join(root, HOOKS, 'linked'))
      symlinkSync(join(root, 'named'), join(root, HOOKS, 'linked'))
    },
    'a plugin that is gone': (root) => rmSync(join(root, HOOKS, 'plain'), { recursive: true }),
    'a plugin that is set aside': (root) => {
      mkdirSync(join(root, HOOKS, 'aside'))
      renameSync(join(root, HOOKS, 'plain'), join(root, HOOKS, 'aside/plain'))
    },
    'a file that becomes invalid': (root) => other(root, `${HOOKS}/hooks.json`, '{'),
    'hooks of a folder around the project': (root) =>
      other(root, '.amplifier/hooks/hooks.json', hooksFile([command('auter')])),
    'the home that becomes the project': (root) => {
      renameSync(join(root, 'home'), join(root, 'former'))
      symlinkSync(join(root, 'project'), join(root, 'home'))
    },
  }
  it.each(Object.entries(changes))('is loaded again after a change of %s', async (_, change) => {
    const { root, sources, kept } = scene()
    const first = await kept.load()
    expect(await kept.load()).toBe(first)
    change(root)
    const second = await kept.load()
    expect(second).not.toBe(first)
    const cold = await loadConfig(sources)
    expect(commandsOf(second)).toEqual(commandsOf(cold))
    expect([second.settings, second.diagnostics]).toEqual([cold.settings, cold.diagnostics])
  })

  it('is loaded again while a file is so new that a change could leave its stamp as it is', async () => {
    const { kept } = scene()
    vi.mocked(Date.now).mockRestore()
    const first = await kept.load()
    expect(await kept.load()).not.toBe(first)
  })

  it.skipIf(process.getuid?.() === 0)('is loaded again if something could not be read', async () => {
    const { root, kept } = scene()
    const folder = join(root, HOOKS, 'claude/skills')
    chmodSync(folder, 0)
    const first = await kept.load()
    expect(await kept.load()).not.toBe(first)
    chmodSync(folder, 0o755)
    expect(commandsOf(await kept.load())).toContain('skill')
  })
})
