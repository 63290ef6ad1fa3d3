// The next call of a service sees every change on disk, although the service keeps what it read for the calls before.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { unitsOf } from '../../../src/config/units.js'
import { keepBy, WarmKeeper } from '../../../src/runners/keeper.js'
import { createHooks } from '../../../src/runtime.js'
import { trustStore } from '../../../src/trust/trust-store.js'
import { asCaller, serveCallers, serveNobody } from '../../callers.js'
import { command, type Files, hooksFile, tree, write } from '../../config/temp-tree.js'

const PASS = hooksFile([command('exit 0')])
const DENY = hooksFile([command('echo no >&2; exit 2')])
const LATER_MS = 60_000

let keeper: WarmKeeper
beforeEach(() => {
  serveCallers()
  keeper = new WarmKeeper()
  keepBy(() => keeper)
  // Stamps of new files prove nothing, so nothing would be kept.
  const now = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => now() + LATER_MS)
})
afterEach(async () => {
  vi.restoreAllMocks()
  keepBy(() => undefined)
  serveNobody()
  await keeper.close()
})

class Scene {
  readonly root: string

  constructor(files: Files) {
    this.root = tree(files)
    mkdirSync(join(this.root, 'project'), { recursive: true })
  }

  /** What one call decides. */
  fire(): Promise<string> {
    const home = join(this.root, 'home')
    const projectDir = join(this.root, 'project')
    const env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: this.data }
    return asCaller({ env, cwd: projectDir }, async () => {
      const hooks = await createHooks({ projectDir, home, globals: false })
      try {
        const { action } = await hooks.session({}).fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
        return action
      } finally {
        await hooks.close()
      }
    })
  }

  get data(): string {
    return join(this.root, 'data')
  }

  async trust(): Promise<void> {
    const { specs } = await loadConfig({ projectDir: join(this.root, 'project') })
    const store = trustStore({ dataDir: this.data })
    for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
  }
}

const USER = 'home/.amplifier'
const PROJECT = 'project/.amplifier'

describe('the next call sees', () => {
  const manifest = (file: string) => ({ name: 'p', hooks: file })
  const changes: Readonly<Record<string, readonly [before: Files, change: Files]>> = {
    'a hooks file': [{ [`${USER}/hooks/hooks.json`]: PASS }, { [`${USER}/hooks/hooks.json`]: DENY }],
    'a first hooks file': [{}, { [`${USER}/hooks/hooks.json`]: DENY }],
    'a new plugin': [{ [`${USER}/hooks/hooks.json`]: PASS }, { [`${USER}/hooks/p/hooks.json`]: DENY }],
    'a manifest': [
      {
        [`${USER}/hooks/p/.claude-plugin/plugin.json`]: manifest('./a.json'),
        [`${USER}/hooks/p/a.json`]: PASS,
        [`${USER}/hooks/p/long-name.json`]: DENY,
      },
      { [`${USER}/hooks/p/.claude-plugin/plugin.json`]: manifest('./long-name.json') },
    ],
    settings: [
      { [`${USER}/hooks/hooks.json`]: DENY, [`${USER}/settings.json`]: { hooks: { enabled: false } } },
      { [`${USER}/settings.json`]: { hooks: { enabled: true, default_timeout: 20 } } },
    ],
  }
  it.each(Object.entries(changes))('%s', async (_, [before, change]) => {
    const scene = new Scene(before)
    for (let i = 0; i < 3; i++) expect(await scene.fire()).toBe('continue')
    write(scene.root, change)
    expect(await scene.fire()).toBe('deny')
  })

  it('that a project is trusted, and that it no longer is', async () => {
    const scene = new Scene({ [`${PROJECT}/hooks/hooks.json`]: DENY })
    for (let i = 0; i < 3; i++) expect(await scene.fire()).toBe('continue')
    await scene.trust()
    for (let i = 0; i < 3; i++) expect(await scene.fire()).toBe('deny')
    const store = trustStore({ dataDir: scene.data })
    for (const record of store.records()) store.untrust(record)
    expect(await scene.fire()).toBe('continue')
  })

  it('that a trusted gate is gone, and keeps it', async () => {
    const scene = new Scene({ [`${PROJECT}/hooks/p/hooks.json`]: DENY })
    await scene.trust()
    expect(await scene.fire()).toBe('deny')
    rmSync(join(scene.root, PROJECT, 'hooks/p'), { recursive: true })
    expect(await scene.fire()).toBe('deny')
  })
})
