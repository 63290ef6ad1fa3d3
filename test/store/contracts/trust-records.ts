// The contract of TrustRecords: synchronous, durable, and the same object until somebody writes.

import { describe, expect, it } from 'vitest'
import type { TrustRecord, TrustRecords, Where } from '../../../src/store/trust-records.js'

const at: Where = { kind: 'folder', path: '/project/plugin', projectDir: '/project' }

export const trustRecord = (more: Partial<TrustRecord> = {}): TrustRecord => ({
  ...at,
  name: 'plugin',
  digest: 'a'.repeat(64),
  hooks: [{ name: 'h', event: 'Stop', matcher: null, command: './h.sh', args: ['x'], hash: 'b', line: 3 }],
  files: [{ path: 'h.sh', mode: 0o755, size: 3, sha256: 'c'.repeat(64), stamp: '' }],
  folders: [{ path: '', stamp: '' }],
  scripts: [],
  absent: ['/project/none'],
  words: ['none'],
  programs: { sh: '/bin/sh' },
  at: '2026-01-01T00:00:00.000Z',
  ...more,
})

/** `make` answers two views of the same empty records, as two processes see them. */
export function contract(name: string, make: () => readonly [TrustRecords, TrustRecords]): void {
  describe(name, () => {
    it('has nothing at first', () => {
      const [records] = make()
      expect(records.load(at)).toBeUndefined()
      expect(records.all()).toEqual([])
      expect(records.remove(at)).toBeUndefined()
    })

    it('gives back what was written, at once and to everybody', () => {
      const [records, other] = make()
      const record = trustRecord()
      records.write(at, record)
      expect(records.load(at)).toEqual(record)
      expect(other.load(at)).toEqual(record)
      other.write(at, trustRecord({ digest: 'd'.repeat(64) }))
      expect(records.load(at)?.digest).toBe('d'.repeat(64))
    })

    it('tells units apart by kind, path and project', () => {
      const [records] = make()
      const others: Where[] = [
        { ...at, kind: 'file' },
        { ...at, path: '/project/other' },
        { ...at, projectDir: '/elsewhere' },
      ]
      records.write(at, trustRecord())
      for (const where of others) expect(records.load(where)).toBeUndefined()
      for (const where of others) records.write(where, trustRecord(where))
      expect(records.all()).toHaveLength(4)
    })

    it('answers the records of one project in the order of their paths', () => {
      const [records, other] = make()
      for (const path of ['/project/b', '/project/a']) records.write({ ...at, path }, trustRecord({ path }))
      records.write({ ...at, projectDir: '/elsewhere' }, trustRecord({ projectDir: '/elsewhere' }))
      expect(other.ofProject('/project').map(({ path }) => path)).toEqual(['/project/a', '/project/b'])
      expect(other.ofProject('/nowhere')).toEqual([])
    })

    it('removes a record for good, and answers it', () => {
      const [records, other] = make()
      records.write(at, trustRecord())
      expect(other.remove(at)).toEqual(trustRecord())
      expect(records.load(at)).toBeUndefined()
      expect(records.all()).toEqual([])
      records.write(at, trustRecord({ name: 'again' }))
      expect(other.load(at)?.name).toBe('again')
    })

    it('adds what comes next only beside what is trusted, and puts it into its place', () => {
      const [records, other] = make()
      const next = trustRecord({ digest: 'd'.repeat(64) })
      records.addNext(at, next)
      expect(records.load(at)).toBeUndefined()
      records.write(at, trustRecord())
      records.addNext(at, next)
      expect(other.load(at)).toEqual({ ...trustRecord(), next })
      records.promote(at, trustRecord({ digest: 'e'.repeat(64) }))
      expect(other.load(at)?.digest).toBe('a'.repeat(64))
      records.promote(at, next)
      const { kind, path, digest, programs } = trustRecord()
      expect(other.load(at)).toEqual({ ...next, former: { kind, path, digest, programs } })
    })

    it('stores new stamps, unless somebody decided otherwise meanwhile', () => {
      const [records, other] = make()
      const before = trustRecord()
      const now = trustRecord({ folders: [{ path: '', stamp: '1 2 3 4 5 6' }] })
      records.write(at, before)
      records.refresh(at, before, now)
      expect(other.load(at)).toEqual(now)
      const next = trustRecord({ digest: 'e'.repeat(64) })
      other.addNext(at, next)
      records.refresh(at, before, now)
      expect(other.load(at)).toEqual({ ...now, next })
      const decided = trustRecord({ digest: 'd'.repeat(64), at: '2026-01-02T00:00:00.000Z' })
      other.write(at, decided)
      records.refresh(at, before, now)
      expect(other.load(at)).toEqual(decided)
      other.remove(at)
      records.refresh(at, decided, now)
      expect(other.load(at)).toBeUndefined()
    })

    it('finds the records of one project, in the order of their paths', () => {
      const [records, other] = make()
      expect(records.ofProject('/project')).toEqual([])
      const second: Where = { ...at, path: '/project/other' }
      const elsewhere: Where = { ...at, projectDir: '/elsewhere' }
      for (const where of [at, second, elsewhere]) records.write(where, trustRecord(where))
      for (const one of [records, other]) {
        expect(one.ofProject('/project').map(({ path }) => path)).toEqual([second.path, at.path])
        expect(one.ofProject('/elsewhere')).toHaveLength(1)
        expect(one.ofProject('/proj')).toEqual([])
      }
      other.remove(at)
      expect(records.ofProject('/project').map(({ path }) => path)).toEqual([second.path])
    })

    it('may be relied on where only the user can write, for a project that does not hold it', () => {
      const [records] = make()
      records.write(at, trustRecord())
      expect(() => records.checkPrivate()).not.toThrow()
      expect(() => records.checkOutside('/project')).not.toThrow()
    })
  })
}
