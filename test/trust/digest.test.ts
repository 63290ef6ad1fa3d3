import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Unit } from '../../src/trust/unit.js'
import { hook, type Project, project, projectIn } from './hostile-project.js'

const HOOKS = [hook('"$CLAUDE_PLUGIN_ROOT"/check.sh'), hook('python3 scripts/after.py')]

function checkout(place: Project): Unit {
  place.write('scripts/after.py', 'print(1)')
  const unit = place.plugin(undefined, HOOKS)
  symlinkSync(join(unit.path, 'check.sh'), join(unit.path, 'link'))
  return unit
}

describe('the digest', () => {
  it('is the same in two checkouts: other folders, times, umask, order, PATH', () => {
    const { root } = project()
    const [one, two] = [projectIn(root, 'one'), projectIn(root, 'elsewhere/a b')]
    const first = one.store.look(checkout(one))
    const umask = process.umask(0o077)
    const path = process.env.PATH
    onTestFinished(() => {
      process.umask(umask)
      process.env.PATH = path
    })
    const unit = checkout(two)
    chmodSync(join(unit.path, 'check.sh'), 0o700)
    chmodSync(join(unit.path, 'lib/data.txt'), 0o600)
    mkdirSync(join(unit.path, '.git'))
    process.env.PATH = '/nowhere'
    const second = two.store.look({ ...unit, hooks: [...HOOKS, ...HOOKS].reverse(), name: 'other' })
    expect(second.digest).toBe(first.digest)
    expect(second.programs).not.toEqual(first.programs)
  })

  const changes: Readonly<Record<string, (place: Project, unit: Unit) => Unit | undefined>> = {
    'a byte of a file': ({ write }) => void write('plugins/guard/lib/data.txt', 'date\n'),
    'an executable bit': ({ write }) => void write('plugins/guard/lib/data.txt', 'data\n', 0o755),
    'a file more': ({ write }) => void write('plugins/guard/lib/more.txt', ''),
    'where a link leads': (_, { path }) => void symlinkSync('lib', join(path, 'second')),
    'a script outside': ({ write }) => void write('scripts/after.py', 'print(2)'),
    'a script outside that becomes executable': ({ write }) =>
      void write('scripts/after.py', 'print(1)', 0o755),
    'a hook more': (_, unit) => ({ ...unit, hooks: [...HOOKS, hook('x')] }),
    'a hook less': (_, unit) => ({ ...unit, hooks: HOOKS.slice(1) }),
    'what lies where': (_, { path }) => void writeFileSync(join(path, 'data.txt'), 'data\n'),
  }

  it.each(Object.entries(changes))('changes with %s', (_, change) => {
    const place = project()
    const unit = checkout(place)
    const before = place.store.look(unit).digest
    const changed = change(place, unit) ?? unit
    expect(place.store.look(changed).digest).not.toBe(before)
  })
})
