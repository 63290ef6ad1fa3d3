// A home that version 0.1.0 left behind: today's code reads it, extends it, and refuses what a later version would write.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lockModeOf, setLockMode } from '../../src/pack/lock-mode.js'
import { openState } from '../../src/pack/state.js'
import { CatalogStore } from '../../src/plugins/catalog/store.js'
import { readLock, writeLock } from '../../src/plugins/lock-file.js'
import { acceptedSource } from '../../src/plugins/sources/accepted-source.js'
import { SwitchStore } from '../../src/plugins/switches.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { fileStores } from '../../src/store/file-stores.js'
import type { TrustRecord } from '../../src/store/trust-records.js'
import { trustStore } from '../../src/trust/trust-store.js'
import recorded from '../fixtures/home-0.1.0/files.json' with { type: 'json' }

const PROJECT = '/home/me/project'
/** When it was recorded. Questions are open for an hour. */
const THEN = Date.parse('2026-11-16T00:06:00Z')
const files: Readonly<Record<string, string>> = recorded.files
const GUARD = {
  kind: 'folder',
  path: `${PROJECT}/.amplifier/hooks/guard`,
  projectDir: PROJECT,
} as const

/** The recorded files below a folder of the test's own, after `change`. */
function restored(change: (name: string, text: string) => string = (_, text) => text) {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-home-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, change(name, text), { mode: 0o600 })
    if (recorded.executable.includes(name)) chmodSync(path, 0o755)
  }
  const dataDir = join(root, 'carabiner')
  const stateDir = join(dataDir, 'state')
  vi.stubEnv('CARABINER_HOME', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [troubles, grantTroubles]: [string[], string[]] = [[], []]
  return {
    root,
    dataDir,
    troubles,
    lockFile: join(root, 'project/.amplifier/hooks.lock.json'),
    grantTroubles,
    stores: fileStores({
      projectDir: PROJECT,
      stateDir,
      dataDir,
      onTrouble: (text) => grantTroubles.push(text),
    }),
    queue: new FileApprovals({
      stateDir,
      dataDir,
      now: () => THEN,
      onTrouble: (text) => troubles.push(text),
    }),
    pack: openState({ projectDir: PROJECT, now: () => THEN }),
  }
}

type Home = ReturnType<typeof restored>

async function entriesIn({ stores }: Home): Promise<string[]> {
  const kinds: string[] = []
  for await (const { kind } of stores.audit.entries()) kinds.push(kind)
  return kinds
}

describe('a home of 0.1.0', () => {
  it('keeps its sessions; its grants have no seal, do not count, and go with the next one', async () => {
    const { stores, grantTroubles } = restored()
    const { sessions } = stores
    expect(await sessions.load('s1')).toMatchObject({ turn: 1, announced: false })
    await sessions.update('s1', (state) => ({ ...state, turn: state.turn + 1 }))
    expect((await sessions.load('s1')).turn).toBe(2)
    expect(await sessions.grants()).toEqual([])
    expect(grantTroubles).toEqual([expect.stringMatching(/^1 grant does not count .*0\.1\.0 made none/)])
    const grant = { id: 'g', hook: 'h', event: 'e', tool: 't', cwd: '/', digest: 'd', created: 'now' }
    await sessions.addGrant(grant)
    expect(await sessions.grants()).toEqual([grant])
    expect(grantTroubles).toHaveLength(1)
  })

  it('keeps its questions and answers, sealed with its key', () => {
    const { queue, troubles } = restored()
    const [open, ...more] = queue.open()
    expect([open?.id, open?.project, more]).toEqual(['d8fm-yzbn', PROJECT, []])
    const used = queue.get('423r-wav2')
    expect(used).toMatchObject({ status: 'used', answer: { option: 'Allow always' } })
    const denied = queue.get('3mnk-1tds')
    expect(denied).toMatchObject({ status: 'answered', answer: { reason: 'not on a Friday' } })
    if ('pending' in denied) expect(queue.take(denied.pending.question)).toMatchObject({ decision: 'deny' })
    expect(queue.answer('d8fm-yzbn', { decision: 'allow', by: 'ann' })).toMatchObject({ status: 'answered' })
    if (open) {
      expect(queue.take(open.question)).toMatchObject({ decision: 'allow', by: 'ann' })
      expect(queue.take(open.question)).toBeUndefined()
    }
    expect(troubles).toEqual([])
  })

  it('keeps its audit log, which goes on', async () => {
    const home = restored()
    const { audit } = home.stores
    expect(await entriesIn(home)).toEqual(['fire', 'fire', 'approval', 'fire', 'fire', 'approval', 'fire'])
    const before = await audit.verify()
    expect(before).toMatchObject({ ok: true, records: 7, notes: [] })
    await audit.append([{ kind: 'bypass', time: '2026-11-17T00:00:00.000Z' }])
    const expected = before.last && { expect: before.last }
    expect(await audit.verify(expected)).toMatchObject({ ok: true, records: 8, notes: [] })
    expect(JSON.parse(readFileSync(join(audit.place, 'head.json'), 'utf8'))).toMatchObject({
      format: 1,
      seq: 8,
    })
  })

  it('keeps what was trusted: the same bytes still run, from the same copy', () => {
    const { root, dataDir, stores } = restored()
    expect(stores.trust.all().map(({ name }) => name)).toEqual(expect.arrayContaining(['guard', 'shared']))
    const record = stores.trust.load(GUARD)
    expect(record).toMatchObject({ name: 'guard', digest: expect.stringMatching(/^2b9670a5/) })
    // The project lies elsewhere here, and so does the record.
    const moved = JSON.parse(JSON.stringify(record).replaceAll(PROJECT, join(root, 'project'))) as TrustRecord
    stores.trust.write(moved, moved)
    const trust = trustStore({ dataDir })
    expect(trust.standingOf(moved)).toMatchObject({
      state: 'trusted',
      copy: expect.stringContaining('2b9670a5'),
    })
    writeFileSync(join(moved.path, 'ask.sh'), '#!/bin/sh\n')
    expect(trust.standingOf(moved).state).toBe('modified')
    expect(trust.keptOf(moved)).toEqual({ copy: expect.stringContaining('2b9670a5') })
    expect(trust.untrust(GUARD)).toBe(true)
    expect(stores.trust.load(GUARD)).toBeUndefined()
  })

  it('keeps what is expected of a project, although it has no index', () => {
    const { dataDir } = restored()
    const trust = trustStore({ dataDir })
    for (let again = 0; again < 2; again++) {
      expect(trust.expectedIn(PROJECT).map(({ name }) => name)).toEqual(['guard', 'shared'])
      expect(trust.expectedIn('/home/me/other')).toEqual([])
    }
    expect(existsSync(join(dataDir, 'trust-projects/complete'))).toBe(true)
  })

  it('keeps plugins, the sources that were accepted, switches and catalogues', () => {
    const { lockFile, dataDir } = restored()
    const lock = readLock(lockFile)
    expect(lock.get('shared')).toMatchObject({ kind: 'folder', source: '/home/me/shared-plugin' })
    writeLock(lockFile, lock)
    expect(readFileSync(lockFile, 'utf8')).toBe(files['project/.amplifier/hooks.lock.json'])
    expect(acceptedSource({ scope: 'project', base: PROJECT }, 'shared')).toMatchObject({ kind: 'folder' })
    expect(new SwitchStore({ dataDir }).inForce(THEN)).toMatchObject([{ plugin: 'shared', reason: 'noisy' }])
    expect(new CatalogStore().get('ours')).toMatchObject({ name: 'ours' })
  })

  it('keeps what the pack remembers', () => {
    const { pack } = restored()
    expect(pack.recent('metrics')).toHaveLength(1)
    expect(pack.append('metrics', { hook: 'test' })).toBe(true)
    expect(pack.recent('metrics')).toHaveLength(2)
    expect(lockModeOf(pack)).toMatchObject({ message: 'All tests pass.' })
    expect(setLockMode(pack, THEN, 'again').message).toBe('again')
    expect(lockModeOf(pack)).toMatchObject({ message: 'again' })
    expect(pack.problems).toEqual([])
  })
})

describe('a home of a later version', () => {
  /** Raises the number of every format. Names carry it where there is no field. */
  const later = (name: string, text: string): string => {
    if (!name.endsWith('.json') || name.includes('/copies/') || name.includes('/hooks/')) return text
    const file = JSON.parse(text)
    return JSON.stringify('carabiner' in file ? { ...file, carabiner: 2 } : { ...file, format: 2 })
  }

  function contentOf(folder: string): Record<string, string> {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
      // A mutex has a file of its process beside it.
      (one) => one.isFile() && !one.name.startsWith('owner.'),
    )
    const paths = names.map((one) => join(one.parentPath, one.name)).sort()
    return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]))
  }

  const NEWER = /was written by a newer version of Carabiner \(format 2; this one reads up to 1\)/

  const uses: Readonly<Record<string, (home: Home) => unknown>> = {
    'a session is changed': async ({ stores }) =>
      stores.sessions.update('s1', (state) => ({ ...state, turn: 9 })),
    'grants are read': async ({ stores }) => stores.sessions.grants(),
    'a grant is revoked': async ({ stores }) => stores.sessions.revokeGrant('x'),
    'questions are listed': ({ queue }) => queue.open(),
    'the audit is read': entriesIn,
    'the audit is verified': ({ stores }) => stores.audit.verify(),
    'the audit is written': async ({ stores }) => stores.audit.append([{ kind: 'bypass', time: 'x' }]),
    'a record of trust is read': ({ stores }) => stores.trust.load(GUARD),
    'a record of trust is written': ({ stores }) => stores.trust.write(GUARD, { ...GUARD } as TrustRecord),
    'trust is taken back': ({ stores }) => stores.trust.remove(GUARD),
    'a lock file is read': ({ lockFile }) => readLock(lockFile),
    'an accepted source is read': () => acceptedSource({ scope: 'project', base: PROJECT }, 'shared'),
    'switches are read': ({ dataDir }) => new SwitchStore({ dataDir }).inForce(THEN),
    'lock mode is set': ({ pack }) => setLockMode(pack, THEN, 'again'),
  }

  it.each(Object.entries(uses))('is refused, and left as it is, when %s', async (_, use) => {
    const home = restored(later)
    const before = contentOf(home.root)
    await expect((async () => use(home))()).rejects.toThrow(NEWER)
    expect(contentOf(home.root)).toEqual(before)
  })

  it('closes a session, and is left as it is, when that is loaded', async () => {
    const { root, stores } = restored(later)
    const before = contentOf(root)
    expect(await stores.sessions.load('s1')).toMatchObject({ lost: expect.stringMatching(NEWER) })
    expect(contentOf(root)).toEqual(before)
  })

  it('leaves a unit untrusted, and says why', () => {
    const { dataDir } = restored(later)
    const unit = { ...GUARD, name: 'guard', hooks: [] }
    expect(trustStore({ dataDir }).standingOf(unit)).toMatchObject({
      state: 'untrusted',
      why: expect.stringMatching(NEWER),
    })
  })

  it.each(['question', 'answer'])('lets no second answer count beside a %s that cannot be read', (kind) => {
    const { queue, troubles } = restored((name, text) =>
      name.includes(`/${kind}`) ? later(name, text) : text,
    )
    const answering = () => queue.answer('3mnk-1tds', { decision: 'allow', by: 'ann' })
    if (kind === 'answer') expect(answering).toThrow(NEWER)
    else
      expect([answering(), troubles.join('\n')]).toMatchObject([
        { status: 'unknown' },
        expect.stringMatching(NEWER),
      ])
  })

  it('is known by the names of the pack’s logs', () => {
    const { pack } = restored()
    writeFileSync(join(pack.folder, 'metrics.00000002.v2.jsonl'), '[]\n')
    expect(pack.append('metrics', { hook: 'test' })).toBe(false)
    expect(pack.recent('metrics')).toEqual([])
    expect(pack.problems.join('\n')).toMatch(NEWER)
    expect(pack.append('memory', { session: 's1' })).toBe(true)
  })
})
