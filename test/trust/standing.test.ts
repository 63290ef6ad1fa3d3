import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { moment, stampOf } from '../../src/files/stamp.js'
import { CopiedUnit, Watch } from '../../src/trust/changes.js'
import type { TrustRecord } from '../../src/trust/unit.js'
import { filesBelow, hook, later, type Project, project, removeAll, trusted } from './hostile-project.js'

const OLD = 1_000_000_000

type Attack = readonly [attack: (folder: string) => void, why: string]

const ATTACKS: Readonly<Record<string, Attack>> = {
  'a changed script': [(f) => writeFileSync(`${f}/check.sh`, 'evil'), '"check.sh" was changed'],
  'a changed sibling': [(f) => writeFileSync(`${f}/lib/rules.sh`, 'evil'), '"lib/rules.sh" was changed'],
  'a byte changed in place, with the old time': [
    (f) => {
      writeFileSync(`${f}/lib/data.txt`, 'dato\n')
      utimesSync(`${f}/lib/data.txt`, OLD, OLD)
    },
    '"lib/data.txt" was changed since it was trusted.',
  ],
  'a mode bit more': [(f) => chmodSync(`${f}/lib/data.txt`, 0o755), '"lib/data.txt" became executable'],
  'a mode bit less': [(f) => chmodSync(`${f}/check.sh`, 0o644), '"check.sh" became not executable'],
  'an added file': [(f) => writeFileSync(`${f}/lib/new.js`, ''), '"lib/new.js" was added since'],
  'an added file in a new folder': [
    (f) => {
      mkdirSync(`${f}/aa/b`, { recursive: true })
      writeFileSync(`${f}/aa/b/c`, '')
    },
    '"aa/b/c" was added since it was trusted.',
  ],
  'a removed file': [(f) => unlinkSync(`${f}/lib/data.txt`), '"lib/data.txt" was removed since'],
  'another name': [
    (f) => renameSync(`${f}/lib/data.txt`, `${f}/lib/date.txt`),
    '"lib/data.txt" was removed since it was trusted.',
  ],
  'a link in place of a file': [
    (f) => {
      renameSync(`${f}/check.sh`, `${f}/../check.sh`)
      symlinkSync('../check.sh', `${f}/check.sh`)
    },
    '"check.sh" is a link to a place outside',
  ],
  'a link inside in place of a file': [
    (f) => {
      unlinkSync(`${f}/lib/data.txt`)
      symlinkSync('rules.sh', `${f}/lib/data.txt`)
    },
    '"lib/data.txt" was changed since it was trusted.',
  ],
  'a link in place of a folder': [
    (f) => {
      renameSync(`${f}/lib`, `${f}/../lib`)
      symlinkSync('../lib', `${f}/lib`)
    },
    '"lib" is a link to a place outside',
  ],
  'another folder in its place': [
    (f) => {
      renameSync(f, `${f}.old`)
      mkdirSync(f)
      writeFileSync(`${f}/check.sh`, 'evil')
    },
    '"check.sh" was changed since it was trusted.',
  ],
  'a link to another folder in its place': [
    (f) => {
      renameSync(f, `${f}.old`)
      mkdirSync(`${f}.evil`)
      symlinkSync(`${f}.evil`, f)
    },
    '"check.sh" was removed since it was trusted.',
  ],
  'nothing in its place': [(f) => rmSync(f, { recursive: true }), 'cannot be read'],
}

describe('a folder', () => {
  it('is untrusted until it was reviewed', () => {
    const { store, plugin } = project()
    expect(store.standingOf(plugin())).toEqual({ state: 'untrusted', why: 'It is waiting for your review.' })
  })

  it('is trusted as a whole', () => {
    const { store, newStore, plugin, dataDir } = project()
    const unit = plugin()
    const record = trusted(store, unit)
    const copy = join(dataDir, 'copies', record.digest, 'guard')
    for (const one of [store, newStore()]) {
      expect(one.standingOf(unit)).toEqual({ state: 'trusted', record, copy })
    }
  })

  it.each(Object.entries(ATTACKS))('is modified by %s', (_, [attack, why]) => {
    const place = project()
    const unit = place.plugin()
    utimesSync(join(unit.path, 'lib/data.txt'), OLD, OLD)
    trusted(place.store, unit)
    expect(place.store.standingOf(unit).state).toBe('trusted')
    attack(unit.path)
    expectModified(place, unit, why)
  })

  it.each(Object.entries(ATTACKS))(
    'of old files, known by their stamps, is modified by %s',
    (_, [attack, why]) => {
      const place = project()
      const unit = place.plugin()
      utimesSync(join(unit.path, 'lib/data.txt'), OLD, OLD)
      const record = later(() => trusted(place.store, unit))
      expect(new Watch(record).isUntouched()).toBe(true)
      expect(later(() => place.store.standingOf(unit)).state).toBe('trusted')
      attack(unit.path)
      expect(tryUntouched(new Watch(record))).toBe(false)
      expectModified(place, unit, why)
    },
  )

  it('is modified by a hook that was not in it', () => {
    const { store, plugin } = project()
    const unit = plugin()
    trusted(store, unit)
    const hooks = [...unit.hooks, hook('evil')]
    expect(store.standingOf({ ...unit, hooks })).toMatchObject({
      state: 'modified',
      why: 'The hook guard:evil was added or changed since it was trusted.',
    })
    expect(store.standingOf({ ...unit, hooks: [] }).state).toBe('trusted')
  })

  it('is not modified by what does not count: times, a rewrite with the same bytes, .git, what Python and macOS leave, empty folders, other bits', () => {
    const { store, plugin, newStore } = project()
    const unit = plugin()
    const { digest } = trusted(store, unit)
    utimesSync(join(unit.path, 'check.sh'), 1, 1)
    const text = readFileSync(join(unit.path, 'lib/rules.sh'))
    unlinkSync(join(unit.path, 'lib/rules.sh'))
    writeFileSync(join(unit.path, 'lib/rules.sh'), text, { mode: 0o755 })
    mkdirSync(join(unit.path, '.git/objects'), { recursive: true })
    writeFileSync(join(unit.path, '.git/HEAD'), 'x')
    mkdirSync(join(unit.path, 'lib/__pycache__'))
    writeFileSync(join(unit.path, 'lib/__pycache__/rules.pyc'), 'x')
    writeFileSync(join(unit.path, '.DS_Store'), 'x')
    mkdirSync(join(unit.path, 'empty'))
    chmodSync(join(unit.path, 'hooks.json'), 0o600)
    linkSync(join(unit.path, 'hooks.json'), join(unit.path, '..', 'other-name'))
    for (const one of [store, newStore()]) expect(one.standingOf(unit).state).toBe('trusted')
    expect(store.look(unit).digest).toBe(digest)
  })

  it('may be a link itself', () => {
    const { store, plugin, dir } = project()
    const { path, ...rest } = plugin()
    const link = join(dir, 'linked')
    symlinkSync(path, link)
    const unit = { ...rest, path: link }
    const record = later(() => trusted(store, unit))
    expect(record.files).toHaveLength(4)
    expect(new Watch(record).isUntouched()).toBe(true)
  })

  it('must not be a link that leads out of the project', () => {
    const { store, plugin, dir, root, write } = project()
    const { path, ...rest } = plugin()
    const inside = { ...rest, path: join(dir, 'linked') }
    write('../elsewhere/x', 'SECRET')
    symlinkSync('../elsewhere', inside.path)
    const { problems, files } = store.look(inside)
    expect(files).toEqual([])
    expect(problems).toEqual([expect.stringContaining('is a link to a place outside the project')])
    // The user's own link may lead anywhere.
    symlinkSync(path, join(root, 'mine'))
    expect(store.look({ ...rest, path: join(root, 'mine') }).problems).toEqual([])
  })

  it('is untrusted when its copy is gone', () => {
    const { store, plugin, dataDir } = project()
    const unit = plugin()
    trusted(store, unit)
    removeAll(join(dataDir, 'copies'))
    expect(store.standingOf(unit)).toMatchObject({
      state: 'untrusted',
      why: expect.stringContaining('is gone: trust it again'),
    })
  })
})

describe('the copy', () => {
  const attacks: Readonly<Record<string, readonly [(copy: string) => void, string]>> = {
    'a changed file': [(c) => writeFileSync(`${c}/check.sh`, 'evil'), '"check.sh" was changed'],
    'a removed file': [(c) => unlinkSync(`${c}/lib/data.txt`), '"lib/data.txt" was removed'],
    'a link in place of a file': [
      (c) => {
        unlinkSync(`${c}/check.sh`)
        symlinkSync('/bin/true', `${c}/check.sh`)
      },
      '"check.sh" is a link to a place outside',
    ],
  }

  it.each(Object.entries(attacks))('with %s does not run until it is made anew', (_, [attack, why]) => {
    for (const when of [(work: () => unknown) => work(), later]) {
      const place = project()
      const unit = place.plugin()
      trusted(place.store, unit)
      expect(when(() => place.store.standingOf(unit))).toMatchObject({ state: 'trusted' })
      const copy = copyOf(place)
      for (const path of [copy, `${copy}/lib`, `${copy}/check.sh`]) chmodSync(path, 0o755)
      attack(copy)
      for (const store of [place.store, place.newStore()]) {
        expect(store.standingOf(unit)).toMatchObject({
          state: 'modified',
          why: expect.stringMatching(/^The trusted copy .* was changed.*Type carabiner trust again/),
        })
        expect(store.standingOf(unit)).toMatchObject({ why: expect.stringContaining(why) })
      }
      trusted(place.store, unit)
      expect(place.store.standingOf(unit).state).toBe('trusted')
    }
  })

  it('loses what a hook wrote into it as root, and runs on', () => {
    const place = project()
    const unit = place.plugin()
    trusted(place.store, unit)
    later(() => place.store.standingOf(unit))
    const copy = copyOf(place)
    const before = filesBelow(copy)
    for (const path of [copy, `${copy}/lib`]) chmodSync(path, 0o755)
    writeFileSync(`${copy}/state.json`, '{}')
    writeFileSync(`${copy}/lib/sitecustomize.py`, '')
    symlinkSync(place.dir, `${copy}/lib/project`)
    mkdirSync(`${copy}/cache/deep`, { recursive: true })
    writeFileSync(`${copy}/cache/deep/x`, '')
    chmodSync(`${copy}/cache`, 0o555)
    expect(place.store.keptOf(place.store.records()[0] as TrustRecord)).toEqual({ copy })
    expect(filesBelow(copy)).toEqual(before)
    expect(filesBelow(place.dir)).toContain('plugins/guard/check.sh')
    expect(place.newStore().standingOf(unit).state).toBe('trusted')
  })

  it('that is a link to another folder is none', () => {
    const place = project()
    const unit = place.plugin()
    trusted(place.store, unit)
    const copy = copyOf(place)
    renameSync(copy, `${copy}-away`)
    symlinkSync(`${copy}-away`, copy)
    expect(place.store.standingOf(unit)).toMatchObject({ state: 'untrusted' })
  })

  it('is known by its stamps once they count, and is not read again', () => {
    const place = project()
    const unit = place.plugin()
    const fresh = trusted(place.store, unit)
    expect(new CopiedUnit(copyOf(place), fresh).isUntouched()).toBe(false)
    later(() => place.store.standingOf(unit))
    const [aged] = place.newStore().records()
    expect(new CopiedUnit(copyOf(place), aged as typeof fresh).isUntouched()).toBe(true)
  })

  function copyOf({ newStore, dataDir }: Project): string {
    return join(dataDir, 'copies', newStore().records()[0]?.digest ?? '', 'guard')
  }
})

describe('a program', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('that moved is to be reviewed again, and the review says where it was and is', () => {
    const place = project()
    const [one, two] = ['one', 'two'].map((name) => join(place.root, name)) as [string, string]
    for (const folder of [one, two]) mkdirSync(folder)
    vi.stubEnv('PATH', `${one}:${two}:/usr/bin:/bin`)
    writeFileSync(join(one, 'linter'), '#!/bin/sh\n', { mode: 0o755 })
    const unit = place.file([hook('linter --fast')])
    trusted(place.store, unit)
    expect(place.store.standingOf(unit).state).toBe('trusted')
    renameSync(join(one, 'linter'), join(two, 'linter'))
    expect(place.store.standingOf(unit)).toMatchObject({
      state: 'modified',
      why: expect.stringContaining(`${one}/linter`),
    })
    expect(place.store.look(unit).differences).toMatchObject([
      { what: 'program-moved', path: 'linter', before: `${one}/linter`, after: `${two}/linter` },
    ])
    trusted(place.store, unit)
    expect(place.store.standingOf(unit).state).toBe('trusted')
  })
})

describe('stamps', () => {
  it('do not count for a file that was changed about when it was read', () => {
    const { write } = project()
    const stats = lstatSync(write('file', 'text'), { bigint: true })
    expect(stampOf(stats, moment())).toBe('')
    expect(stampOf(stats, stats.ctimeNs)).toBe('')
    expect(stampOf(stats, stats.ctimeNs + 1_999_999_999n)).toBe('')
    expect(stampOf(stats, stats.ctimeNs - 10_000_000_000n)).toBe('')
    expect(stampOf(stats, stats.ctimeNs + 2_000_000_001n)).toMatch(/^\d+ \d+ 4 \d+ \d+ \d+$/)
  })

  it('of fresh files are not in the record, so that a change in the same tick of the clock is found', () => {
    const { store, plugin } = project()
    const record = trusted(store, plugin())
    expect([...record.files, ...record.folders].map(({ stamp }) => stamp)).toEqual(Array(6).fill(''))
    expect(new Watch(record).isUntouched()).toBe(false)
  })

  it('are taken into the record once they count, and when a file was rewritten', () => {
    const { store, newStore, plugin, dataDir } = project()
    const unit = plugin()
    const record = trusted(store, unit)
    expect(later(() => store.standingOf(unit)).state).toBe('trusted')
    const [aged] = newStore().records()
    expect(aged).toMatchObject({ digest: record.digest, at: record.at })
    expect(new Watch(aged as typeof record).isUntouched()).toBe(true)
    const folder = join(dataDir, 'trust', readdirSync(join(dataDir, 'trust'))[0] as string)
    const before = readdirSync(folder)
    expect(later(() => newStore().standingOf(unit)).state).toBe('trusted')
    expect(readdirSync(folder)).toEqual(before)
  })

  it('are not taken into a record that somebody removed or replaced meanwhile', () => {
    const { store, newStore, plugin } = project()
    const { hooks, ...rest } = plugin()
    trusted(store, { ...rest, hooks })
    const unit = {
      ...rest,
      // Runs after the record was read, and before the stamps are written.
      get hooks() {
        newStore().untrust(rest)
        return hooks
      },
    }
    later(() => store.standingOf(unit))
    expect(newStore().records()).toEqual([])
    expect(store.standingOf({ ...rest, hooks }).state).toBe('untrusted')
  })
})

function expectModified(
  { store, newStore, dataDir }: Project,
  unit: Parameters<Project['store']['look']>[0],
  why: string,
) {
  for (const one of [store, newStore()]) {
    expect(one.standingOf(unit)).toMatchObject({ state: 'modified', why: expect.stringContaining(why) })
  }
  // The copy still holds what was reviewed.
  const [record] = newStore().records()
  const copy = join(dataDir, 'copies', record?.digest ?? '', 'guard')
  expect(readFileSync(join(copy, 'lib/rules.sh'), 'utf8')).toBe('echo reviewed\n')
}

function tryUntouched(watch: Watch): boolean {
  try {
    return watch.isUntouched()
  } catch {
    return false
  }
}
