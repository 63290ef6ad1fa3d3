// Accepted sources are kept outside the project, by project and plugin, and go with the plugin.

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { forgetPlugin } from '../../src/plugins/forget-plugin.js'
import type { LockEntry } from '../../src/plugins/lock-file.js'
import { acceptedSource, acceptSource } from '../../src/plugins/sources/accepted-source.js'
import { withHome } from './plugin-sources.js'

const bench = withHome()
const kept = bench.path('carabiner/sources')
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(kept, { recursive: true, force: true })
})

const ENTRY: LockEntry = {
  source: 'https://example.com/x.git',
  kind: 'git',
  ref: 'v1',
  path: 'a/b',
  catalog: 'x@team',
  commit: 'a'.repeat(40),
  tag: true,
  version: '1.0.0',
  integrity: `sha256-${'A'.repeat(43)}=`,
  installed: '2026-01-01T00:00:00.000Z',
}
const { installed: _, ...ACCEPTED } = ENTRY

describe('an accepted source', () => {
  it('is known by project and plugin, also behind a link to the project', () => {
    expect(acceptedSource(bench.here, 'guard')).toBeUndefined()
    acceptSource(bench.here, 'guard', ENTRY)
    symlinkSync(bench.project, bench.path('link'))
    for (const base of [bench.project, bench.path('link')])
      expect(acceptedSource({ scope: 'project', base }, 'guard')).toEqual(ACCEPTED)
    expect(acceptedSource(bench.here, 'other')).toBeUndefined()
    expect(acceptedSource({ scope: 'project', base: bench.home }, 'guard')).toBeUndefined()
  })

  it('is the last one, and gone with the plugin', () => {
    acceptSource(bench.here, 'guard', ENTRY)
    const next: LockEntry = { source: './x', kind: 'folder', integrity: ENTRY.integrity, installed: '' }
    acceptSource(bench.here, 'guard', next)
    expect(acceptedSource(bench.here, 'guard')).toEqual({
      source: './x',
      kind: 'folder',
      integrity: ENTRY.integrity,
    })
    forgetPlugin(bench.here, 'guard', bench.path('nowhere'))
    expect(acceptedSource(bench.here, 'guard')).toBeUndefined()
    expect(readdirSync(kept)).toEqual([])
  })

  it('of another plugin that was put in its place does not count', () => {
    acceptSource(bench.here, 'evil', ENTRY)
    const [name] = readdirSync(kept)
    acceptSource(bench.here, 'guard', { ...ENTRY, ref: 'v2' })
    const own = readdirSync(kept).find((one) => one !== name) as string
    rmSync(join(kept, own), { recursive: true })
    symlinkSync(join(kept, name as string), join(kept, own))
    expect(acceptedSource(bench.here, 'guard')).toBeUndefined()
  })

  it.each([
    ['no JSON', 'x'],
    ['other fields', '{"format":1,"value":{"project":1}}'],
  ])('that has %s is told, and counts no more', (_, text) => {
    acceptSource(bench.here, 'guard', ENTRY)
    const folder = join(kept, readdirSync(kept)[0] as string)
    writeFileSync(join(folder, '9.json'), text)
    expect(() => acceptedSource(bench.here, 'guard')).toThrow(
      expect.objectContaining({ code: 'NOT_READ', message: expect.stringContaining('guard') }),
    )
    expect(acceptedSource(bench.here, 'guard')).toBeUndefined()
  })

  it('is neither kept in the project nor believed there', () => {
    const inside = join(bench.project, '.carabiner')
    acceptSource(bench.here, 'guard', ENTRY)
    vi.stubEnv('CARABINER_HOME', inside)
    for (const use of [
      acceptedSource,
      (...[to, name]: Parameters<typeof acceptedSource>) => acceptSource(to, name, ENTRY),
    ])
      expect(() => use(bench.here, 'guard')).toThrow(
        expect.objectContaining({ message: expect.stringContaining('lies in the project') }),
      )
    expect(existsSync(inside)).toBe(false)
    vi.stubEnv('CARABINER_HOME', bench.path('half'))
    mkdirSync(join(bench.project, 'planted'))
    mkdirSync(bench.path('half'))
    symlinkSync(join(bench.project, 'planted'), bench.path('half/sources'))
    expect(() => acceptedSource(bench.here, 'guard')).toThrow(/lies in the project/)
  })
})
