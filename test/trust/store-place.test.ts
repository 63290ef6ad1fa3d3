// In a store that somebody else could have filled, nothing is trusted.

import { chmodSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { trustStore } from '../../src/trust/trust-store.js'
import { type Project, project, trusted } from './hostile-project.js'

afterEach(() => vi.unstubAllEnvs())

/** A project that brings the records and copies of somebody who trusted it. */
function bringing(): {
  readonly place: Project
  readonly unit: ReturnType<Project['plugin']>
  readonly own: string
} {
  const place = project()
  const unit = place.plugin()
  trusted(place.store, unit)
  const own = join(place.dir, '.store')
  renameSync(place.dataDir, own)
  return { place, unit, own }
}

describe('a store in the project', () => {
  const ways: Readonly<Record<string, (root: string, own: string) => string>> = {
    'by its path': (_, own) => own,
    'by a link to it': (root, own) => {
      symlinkSync(own, join(root, 'link'))
      return join(root, 'link')
    },
    'by links in it': (root, own) => {
      mkdirSync(join(root, 'outside'), 0o700)
      for (const name of ['trust', 'copies']) symlinkSync(join(own, name), join(root, 'outside', name))
      return join(root, 'outside')
    },
  }

  it.each(Object.entries(ways))('%s is not relied on', (_, way) => {
    const { place, unit, own } = bringing()
    const store = trustStore({ dataDir: way(place.root, own) })
    expect(store.standingOf(unit)).toMatchObject({
      state: 'untrusted',
      why: expect.stringMatching(/lies in the project .*; set CARABINER_HOME to a folder outside it/),
    })
    expect(() => store.look(unit)).toThrow('lies in the project')
    expect(() => store.trust(unit, '0'.repeat(64))).toThrow('lies in the project')
  })

  it.each(['CARABINER_HOME', 'XDG_DATA_HOME'])(
    'by %s is not relied on, not even for a list of digests',
    (name) => {
      const { place, unit, own } = bringing()
      vi.stubEnv('CARABINER_HOME', '')
      const [record] = trustStore({ dataDir: own }).records()
      vi.stubEnv(name, place.dir)
      const store = trustStore({ preTrusted: new Map([[record?.digest ?? '', '']]) })
      expect(store.standingOf(unit)).toMatchObject({
        state: 'untrusted',
        why: expect.stringContaining('lies in the project'),
      })
    },
  )

  it('is where it should be for who works on all of their files', () => {
    const { store, plugin } = project()
    expect(store.standingOf({ ...plugin(), projectDir: '/' })).toMatchObject({
      why: 'It is waiting for your review.',
    })
  })
})

describe('a store that others can write', () => {
  it.each([
    ['', 0o777],
    ['', 0o770],
    ['', 0o1777],
    ['trust', 0o722],
    ['copies', 0o775],
  ])('%s with mode %o is not relied on until that is mended', (name, mode) => {
    const { store, newStore, plugin, dataDir } = project()
    const unit = plugin()
    const { digest } = trusted(store, unit)
    chmodSync(join(dataDir, name), mode)
    const now = newStore()
    expect(now.standingOf(unit)).toMatchObject({
      state: 'untrusted',
      why: expect.stringMatching(/is writable by others \(mode [0-7]+\).*chmod go-w/),
    })
    expect(() => now.look(unit)).toThrow('is writable by others')
    expect(() => now.trust(unit, digest)).toThrow('is writable by others')
    chmodSync(join(dataDir, name), 0o700)
    expect(now.standingOf(unit).state).toBe('trusted')
  })
})
