// While a unit is replaced by one that somebody agreed to, both are trusted, wherever they are at the moment.

import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { project, trusted } from './hostile-project.js'

/** A trusted plugin, and its successor in a place where nobody looks for hooks. */
function replacement() {
  const made = project()
  const unit = made.plugin()
  trusted(made.store, unit)
  const staged = { ...unit, path: join(made.dir, 'work', 'guard') }
  cpSync(unit.path, staged.path, { recursive: true })
  writeFileSync(join(staged.path, 'lib', 'data.txt'), 'next')
  const expected = made.store.look(staged).digest
  const aside = join(dirname(unit.path), '.old-0123456789abcdef', 'guard')
  mkdirSync(dirname(aside))
  return { ...made, unit, staged, expected, aside }
}

it('at every step, and for a store that comes later', () => {
  const { store, newStore, unit, staged, expected, aside } = replacement()
  const before = store.records()[0]?.digest
  store.trustNext(staged, unit.path, expected)
  const standing = (path = unit.path) => {
    const found = newStore().standingOf({ ...unit, path })
    expect(store.standingOf({ ...unit, path }).state).toBe(found.state)
    return [found.state, found.record?.digest]
  }
  expect(standing()).toEqual(['trusted', before])
  renameSync(unit.path, aside)
  expect(standing(aside)).toEqual(['trusted', before])
  renameSync(staged.path, unit.path)
  expect(store.standingOf(unit).record?.former?.digest).toBe(before)
  expect(standing()).toEqual(['trusted', expected])
  // From now on only the new one is trusted. The old copy stays for hooks that have just started in it.
  const [record] = newStore().records()
  expect([record?.digest, record?.next, record?.former?.digest]).toEqual([expected, undefined, before])
})

it('nothing else is', () => {
  const { store, unit, staged, expected, aside } = replacement()
  store.trustNext(staged, unit.path, expected)
  writeFileSync(join(unit.path, 'lib', 'data.txt'), 'something else')
  expect(store.standingOf(unit).state).toBe('modified')
  renameSync(unit.path, aside)
  expect(store.standingOf({ ...unit, path: aside }).state).toBe('modified')
  expect(store.standingOf(staged).state).toBe('untrusted')
})

it('what is not as it was reviewed is not trusted beforehand', () => {
  const { store, unit, staged, expected } = replacement()
  writeFileSync(join(staged.path, 'check.sh'), 'evil')
  expect(() => store.trustNext(staged, unit.path, expected)).toThrow('is not what was reviewed')
  expect(store.records()[0]?.next).toBeUndefined()
})

it('where nothing is trusted, nothing becomes so', () => {
  const { store, unit, staged, expected } = replacement()
  store.untrust(unit)
  store.trustNext(staged, unit.path, expected)
  expect(store.records()).toEqual([])
  expect(store.standingOf(unit).state).toBe('untrusted')
})

it('who takes the trust away takes it from both', () => {
  const { store, unit, staged, expected, aside } = replacement()
  store.trustNext(staged, unit.path, expected)
  store.untrust(unit)
  expect(store.standingOf(unit).state).toBe('untrusted')
  renameSync(unit.path, aside)
  renameSync(staged.path, unit.path)
  expect(store.standingOf(unit).state).toBe('untrusted')
})
