import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { filesBelow, later, type Project, project, trusted } from './hostile-project.js'

/** The file with the only record. */
function recordFile({ dataDir }: Project): string {
  const folder = join(dataDir, 'trust', readdirSync(join(dataDir, 'trust'))[0] as string)
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) as string)
}

type Change = (path: string) => void
const edited =
  (edit: (file: { format: number; value: Record<string, unknown> }) => void): Change =>
  (path) => {
    const file = JSON.parse(readFileSync(path, 'utf8'))
    edit(file)
    chmodSync(path, 0o600)
    writeFileSync(path, JSON.stringify(file))
  }

describe('a record', () => {
  const broken: Readonly<Record<string, readonly [Change, string]>> = {
    'half-written': [(path) => truncateSync(path, 200), 'is not valid JSON'],
    empty: [(path) => truncateSync(path, 0), 'is empty'],
    'of a newer version': [
      edited((file) => {
        file.format = 2
      }),
      'was written by a newer version of Carabiner',
    ],
    'without a digest': [
      edited(({ value }) => {
        delete value.digest
      }),
      'the record.digest must be a string',
    ],
    'with another digest': [
      edited(({ value }) => {
        value.digest = '../x'
      }),
      'must be a SHA-256 digest in hexadecimal',
    ],
    'without files': [
      edited(({ value }) => {
        delete value.files
      }),
      'the record.files must be a list',
    ],
    'with a file that lacks its hash': [
      edited(({ value }) => {
        value.files = [{ path: 'x', mode: 1, size: 1, stamp: '' }]
      }),
      'the record.files[0].sha256 must be a string',
    ],
    'of another unit': [
      edited(({ value }) => {
        value.path = '/elsewhere'
      }),
      'is about "/elsewhere"; remove it',
    ],
  }

  it.each(Object.entries(broken))('%s is never trusted, told once, and kept', (_, [change, why]) => {
    const place = project()
    const unit = place.plugin()
    trusted(place.store, unit)
    const path = recordFile(place)
    change(path)
    const standing = place.newStore().standingOf(unit)
    expect(standing).toMatchObject({ state: 'untrusted', why: expect.stringContaining(why) })
    expect(standing).toMatchObject({
      why: expect.stringMatching(/^Cannot determine whether it is trusted: /),
    })
    expect(place.newStore().standingOf(unit).state).toBe('untrusted')
    expect(filesBelow(join(place.dataDir, 'trust')).some((name) => /broken-|\.json$/.test(name))).toBe(true)
  })

  it('can be made again', () => {
    const place = project()
    const unit = place.plugin()
    trusted(place.store, unit)
    truncateSync(recordFile(place), 100)
    expect(place.store.standingOf(unit).state).toBe('untrusted')
    trusted(place.store, unit)
    expect(place.store.standingOf(unit).state).toBe('trusted')
  })

  it('under the name of another unit is not its own', () => {
    const place = project()
    const unit = place.plugin()
    trusted(place.store, unit)
    place.write('plugins/evil/x', '')
    const evil = { ...unit, path: join(place.dir, 'plugins/evil') }
    const { digest } = place.store.look(evil)
    place.store.trust(evil, digest)
    const [one, two] = readdirSync(join(place.dataDir, 'trust')).map((name) =>
      join(place.dataDir, 'trust', name),
    )
    renameSync(one as string, `${one}-away`)
    renameSync(two as string, one as string)
    renameSync(`${one}-away`, two as string)
    for (const each of [unit, evil]) expect(place.newStore().standingOf(each).state).toBe('untrusted')
  })
})

describe('a copy that cannot be reached', () => {
  it('keeps the record, so that its gates are known', () => {
    const place = project()
    const unit = place.plugin()
    const { digest } = trusted(place.store, unit)
    const folder = join(place.dataDir, 'copies', digest)
    renameSync(folder, `${folder}-away`)
    // Nobody can look through it, not even root.
    symlinkSync(basename(folder), folder)
    expect(place.newStore().standingOf(unit)).toMatchObject({
      state: 'untrusted',
      why: expect.stringContaining('ELOOP'),
      record: { digest },
    })
  })
})

describe('records', () => {
  it('are listed, and removed with their copies unless another uses them', () => {
    const { store, plugin, dataDir, root, dir } = project()
    const unit = plugin()
    const twin = { ...unit, path: join(dir, 'elsewhere/guard') }
    mkdirSync(join(dir, 'elsewhere'))
    execFileSync('cp', ['-rp', unit.path, twin.path])
    const [one, two] = [trusted(store, unit), trusted(store, twin)]
    expect(two.digest).toBe(one.digest)
    expect(
      store
        .records()
        .map(({ path }) => path)
        .sort(),
    ).toEqual([twin.path, unit.path])
    expect(store.untrust(unit)).toBe(true)
    expect(store.standingOf(unit)).toEqual({ state: 'untrusted', why: 'It is waiting for your review.' })
    expect(store.standingOf(twin).state).toBe('trusted')
    expect(store.untrust(twin)).toBe(true)
    expect(store.untrust(twin)).toBe(false)
    expect(store.untrust({ ...unit, path: root })).toBe(false)
    expect(store.records()).toEqual([])
    expect(filesBelow(join(dataDir, 'copies'))).toEqual([])
    expect(filesBelow(join(dataDir, 'trust'))).toEqual([])
  })

  it('are of one project: in another the same plugin is another, since it may name files of the project', () => {
    const { store, plugin, dir } = project()
    const unit = plugin()
    trusted(store, unit)
    expect(store.standingOf({ ...unit, projectDir: join(dir, 'other') }).state).toBe('untrusted')
    expect(store.standingOf(unit).state).toBe('trusted')
  })

  it('of what was trusted before give way, and its copy the next time: hooks may just be starting in it', () => {
    const { store, plugin, write, dataDir } = project()
    const copies = () => readdirSync(join(dataDir, 'copies')).filter((name) => !name.endsWith('.bin'))
    const unit = plugin()
    const digests = [trusted(store, unit).digest]
    for (const text of ['other', 'third']) {
      write('plugins/guard/lib/data.txt', text)
      expect(store.standingOf(unit).state).toBe('modified')
      digests.push(trusted(store, unit).digest)
      expect(store.records().map((record) => record.digest)).toEqual(digests.slice(-1))
      expect(copies().sort()).toEqual(digests.slice(-2).sort())
    }
    expect(new Set(digests).size).toBe(3)
    trusted(store, unit)
    expect(copies().sort()).toEqual(digests.slice(-2).sort())
    store.untrust(unit)
    expect(readdirSync(join(dataDir, 'copies'))).toEqual([])
  })

  it('are seen at once by a store that read them long ago', () => {
    const { store, newStore, plugin } = project()
    const unit = plugin()
    trusted(store, unit)
    for (let i = 0; i < 3; i++) expect(later(() => store.standingOf(unit)).state).toBe('trusted')
    newStore().untrust(unit)
    expect(store.standingOf(unit).state).toBe('untrusted')
    trusted(newStore(), unit)
    expect(store.standingOf(unit).state).toBe('trusted')
  })
})

describe('a store that cannot be written', { timeout: 60_000 }, () => {
  /** The worker's output. It runs as another user, because root may write everywhere. */
  async function printed({ root }: Project, through = ':'): Promise<readonly string[]> {
    const outfile = join(root, 'worker.mjs')
    const entry = fileURLToPath(new URL('worker.ts', import.meta.url))
    await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' })
    chmodSync(root, 0o755)
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    const args = ['-c', `${through}; exec "$0" "$@"`, process.execPath, outfile, root]
    return execFileSync('/bin/sh', args, { encoding: 'utf8', ...user })
      .trim()
      .split('\n')
  }

  it('because it is read-only, says so', async () => {
    const place = project()
    place.plugin()
    mkdirSync(place.dataDir)
    chmodSync(place.dataDir, 0o555)
    const [standing, look, trust, after, records, untrust] = await printed(place)
    expect([standing, look, after, records, untrust]).toEqual([
      ...['standing: "untrusted"', 'look: []', 'after: "untrusted"', 'records: 0', 'untrust: false'],
    ])
    expect(trust).toMatch(
      /^trust failed: the copy cannot be written to .*\/data\/copies: EACCES.*; set CARABINER_HOME to/,
    )
  })

  it('because it is full, says so and leaves nothing behind', async () => {
    const place = project()
    place.plugin()
    place.write('plugins/guard/large', 'x'.repeat(100_000))
    mkdirSync(place.dataDir, 0o700)
    if (process.getuid?.() === 0) chownSync(place.dataDir, 65534, 65534)
    const [, , trust, after, records] = await printed(place, 'trap "" XFSZ; ulimit -f 8')
    expect(trust).toMatch(
      /^trust failed: the copy cannot be written to .*: EFBIG.*; free some space, or set CARABINER_HOME/,
    )
    expect([after, records]).toEqual(['after: "untrusted"', 'records: 0'])
    expect(filesBelow(place.dataDir)).toEqual(['copies'])
  })

  it('is read where it can be read', async () => {
    const place = project()
    const unit = { ...place.plugin(), hooks: [] }
    trusted(place.store, unit)
    execFileSync('chmod', ['-R', 'go+rX', place.dataDir])
    if (process.getuid?.() === 0) {
      const said = await printed(place)
      expect(said.slice(0, 2)).toEqual(['standing: "trusted"', 'look: []'])
      expect(said[5]).toMatch(/^untrust failed: the trust record in .* cannot be written: EACCES/)
    }
  })
})
