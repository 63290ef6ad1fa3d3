// The contract of AuditLog: writing, reading, following and verifying, whatever keeps the log.

import { describe, expect, it } from 'vitest'
import type { AuditLog, ReadOptions, StoredEntry, Writable } from '../../../src/store/audit-log.js'

const entry = (session: string, more: object = {}): Writable => ({
  kind: 'fire',
  time: '2026-01-31T12:00:00.000Z',
  ...{ session },
  ...more,
})
const sessionOf = (one: StoredEntry) => ('session' in one ? one.session : one.kind)

async function read(log: AuditLog, options: ReadOptions = {}): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = []
  for await (const one of log.entries(options)) entries.push(one)
  return entries
}

/** `make` answers two views of the same empty log, as two processes see it. */
export function contract(name: string, make: () => readonly [AuditLog, AuditLog]): void {
  describe(name, () => {
    it('is empty until something was written', async () => {
      const [log, other] = make()
      expect(await log.isEmpty()).toBe(true)
      expect(await read(log)).toEqual([])
      await log.append([])
      expect(await log.isEmpty()).toBe(true)
      await log.append([entry('a')])
      expect(await other.isEmpty()).toBe(false)
      expect(log.place).toBe(other.place)
    })

    it('numbers and chains what any process writes', async () => {
      const [log, other] = make()
      await log.append([entry('a'), entry('b')])
      await other.append([entry('c')])
      await log.append([entry('ünï "quoted" \n\u2028')])
      const entries = await read(other)
      expect(entries.map(sessionOf)).toEqual(['a', 'b', 'c', 'ünï "quoted" \n\u2028'])
      expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
      for (const [i, one] of entries.entries()) expect(one.prev).toBe(entries[i - 1]?.hash ?? '0'.repeat(64))
    })

    it('writes a batch whole or not at all', async () => {
      const [log] = make()
      const circular: Record<string, unknown> = { kind: 'fire', time: 'x' }
      circular.self = circular
      const failing = async () => log.append([entry('a'), circular as unknown as Writable])
      await expect(failing()).rejects.toThrow(/plain data/)
      await log.append([entry('b')])
      expect((await read(log)).map(sessionOf).filter((one) => one !== 'gap')).toEqual(['b'])
      const { ok, notes } = await log.verify()
      expect([ok, notes.length]).toEqual([true, 1])
    })

    it('refuses entries with fields of its own, and entries without kind or time', async () => {
      const [log] = make()
      for (const bad of [entry('a', { seq: 7 }), entry('a', { hash: 'x' }), { kind: 'fire' }, 'text', null])
        await expect((async () => log.append([bad as Writable]))()).rejects.toThrow(
          /an entry of the audit log/,
        )
    })

    it('takes secrets out', async () => {
      const [log] = make()
      await log.append([{ kind: 'approval', time: 'x', ...{ reason: 'password=hunter2hunter2' } }])
      expect(JSON.stringify(await read(log))).not.toContain('hunter2')
    })

    it('is read from either end, filtered and limited', async () => {
      const [log] = make()
      await log.append(['a', 'b', 'c', 'd'].map((one) => entry(one)))
      const filter = (one: object) => (one as { session?: string }).session !== 'c'
      const story = async (options: ReadOptions) => (await read(log, options)).map(sessionOf)
      expect(await story({ newestFirst: true })).toEqual(['d', 'c', 'b', 'a'])
      expect(await story({ filter })).toEqual(['a', 'b', 'd'])
      expect(await story({ filter, newestFirst: true, limit: 2 })).toEqual(['d', 'b'])
      expect(await story({ limit: 0 })).toEqual([])
    })

    it('is followed across processes, from the newest entry or from a number on', async () => {
      const [log, other] = make()
      await log.append([entry('a'), entry('b')])
      const over = new AbortController()
      const options = { signal: over.signal, everyMs: 5 }
      const [fromNow, fromOne] = [log.follow(options), log.follow({ ...options, after: 1 })].map((one) =>
        one[Symbol.asyncIterator](),
      )
      const first = await fromOne?.next()
      expect(first?.value).toMatchObject({ seq: 2 })
      // It begins after what is there when it first looks, whenever that is.
      let seen: StoredEntry | undefined
      const next = fromNow?.next().then(({ value }) => {
        seen = value
      })
      while (!seen) {
        await other.append([entry('c')])
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      await next
      expect(seen).toMatchObject({ session: 'c', seq: expect.toSatisfy((seq) => seq > 2) })
      over.abort()
      while (!(await fromNow?.next())?.done);
    })

    it('verifies what it holds, and finds what is expected', async () => {
      const [log, other] = make()
      await log.append([entry('a'), entry('b'), entry('c')])
      const [, second] = await read(log)
      const expected = { seq: second?.seq ?? 0, hash: second?.hash ?? '' }
      let lines = 0
      const found = await other.verify({ expect: expected, onLine: () => lines++ })
      expect(found).toMatchObject({ ok: true, records: 3, problems: [], first: { seq: 1 }, last: { seq: 3 } })
      expect(found.head).toMatchObject({ seq: 3, hash: found.last?.hash })
      expect(lines).toBe(3)
      const wrong = await log.verify({ expect: { ...expected, hash: 'f'.repeat(64) } })
      expect(wrong).toMatchObject({ ok: false, problems: [{ seq: 2 }] })
      const missing = await log.verify({ expect: { seq: 9, hash: 'f'.repeat(64) } })
      expect(missing).toMatchObject({ ok: false, problems: [{ seq: 9 }] })
      expect(await log.verify({ mostBytes: 1 })).toMatchObject({ ok: true })
      await expect(log.verify({ signal: AbortSignal.abort('nobody waits') })).rejects.toBe('nobody waits')
    })

    it('does not call an empty log whole', async () => {
      const [log] = make()
      expect(await log.verify()).toMatchObject({ ok: false, records: 0, head: undefined })
    })
  })
}
