// Every collected real configuration moves to Carabiner and back, with the same hooks each time.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ConfiguredHook } from '../../../src/config/configured-hook.js'
import { loadConfig } from '../../../src/config/load.js'
import { carryOut, planMigration } from '../../../src/plugins/migrate/migration.js'
import { migrationFiles } from '../../../src/plugins/migrate/migration-files.js'
import { tree } from '../../config/temp-tree.js'
import { sample } from '../../property/runs.js'
import { withOwnHome } from './own-home.js'

withOwnHome()

const CONFIGS = resolve('../shared/corpus/configs')
const isThere = existsSync(CONFIGS)
const names = isThere ? readdirSync(CONFIGS) : []

/** In order within each event. The order of events in a file means nothing. */
function hooksOf(specs: readonly ConfiguredHook[]) {
  const all = specs.flatMap((spec) => {
    if (spec.type === 'process') return []
    const { type, hook, handler, common } = spec
    const { matcher, timeoutMs, onFailure, detached, events } = hook
    return [
      {
        event: [...events].join(),
        type,
        matcher: matcher?.pattern,
        handler,
        common,
        timeoutMs,
        onFailure,
        detached,
      },
    ]
  })
  return all.sort((a, b) => (a.event < b.event ? -1 : a.event > b.event ? 1 : 0))
}

type Shown = ReturnType<typeof hooksOf>[number]

/** Claude Code's 600 seconds are in writing here, where more than 300 are lowered. */
function asked({ timeoutMs: _, ...rest }: Shown) {
  const { timeout = rest.type === 'command' ? 600 : undefined, ...common } = rest.common
  return { ...rest, common: { ...common, timeout } }
}

async function migrate(to: 'carabiner' | 'claude-code', project: string, removeSource = false) {
  const plan = () => planMigration(migrationFiles(to, project), removeSource)
  const shown = plan()
  if (shown.changes.length > 0) expect(await carryOut(shown, plan)).toBeDefined()
  return shown
}

describe.skipIf(!isThere)('configurations of ../shared/corpus', () => {
  it.each(sample(names))('%s', async (name) => {
    const text = readFileSync(join(CONFIGS, name), 'utf8')
    const project = tree({ '.claude/settings.json': text })
    const settings = join(project, '.claude/settings.json')
    const original = hooksOf((await loadConfig({ files: [settings] })).specs)

    const there = await migrate('carabiner', project)
    expect(readFileSync(settings, 'utf8')).toBe(text)
    const migrated = hooksOf((await loadConfig({ projectDir: project })).specs)
    expect(migrated.map(asked)).toEqual(original.map(asked))
    expect(there.moved).toHaveLength(original.length)
    expect(planMigration(migrationFiles('carabiner', project)).changes).toEqual([])

    const hooks = join(project, '.amplifier/hooks/hooks.json')
    const root = tree(existsSync(hooks) ? { '.amplifier/hooks/hooks.json': readFileSync(hooks, 'utf8') } : {})
    const returned = await migrate('claude-code', root)
    const final = existsSync(join(root, '.claude/settings.json'))
      ? hooksOf((await loadConfig({ files: [join(root, '.claude/settings.json')] })).specs)
      : []
    expect(final.length + returned.left.length).toBe(original.length)
    if (returned.left.length === 0) expect(final.map(asked)).toEqual(original.map(asked))
  })

  it.each(sample(names))('%s leaves its source', async (name) => {
    const text = readFileSync(join(CONFIGS, name), 'utf8')
    const project = tree({ '.claude/settings.json': text })
    const settings = join(project, '.claude/settings.json')
    const before = await loadConfig({ files: [settings] })
    await migrate('carabiner', project, true)
    const after = await loadConfig({ files: [settings] })
    expect(after.specs).toEqual([])
    const leftOut = (codes: readonly { code: string }[]) =>
      codes.filter(({ code }) => ['entry-invalid', 'unknown-event'].includes(code)).length
    expect(leftOut(after.diagnostics)).toBe(leftOut(before.diagnostics))
    const migrated = hooksOf((await loadConfig({ projectDir: project })).specs)
    expect(migrated.map(asked)).toEqual(hooksOf(before.specs).map(asked))
  })
})

it.skipIf(isThere)('../shared/corpus is not there: its configurations were not migrated', () => {})
