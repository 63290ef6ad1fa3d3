// The contract of AuditCalls: writing, reading and finding calls, whatever keeps them.

import { describe, expect, it } from 'vitest'
import type { AuditCalls, KeptCall } from '../../../src/store/audit-calls.js'
import { judged } from '../audit-calls/judged.js'

export async function all(calls: AuditCalls, limit?: number): Promise<KeptCall[]> {
  const found: KeptCall[] = []
  for await (const one of calls.calls(limit === undefined ? {} : { limit })) found.push(one)
  return found
}

/** `make` answers two views of the same empty store, as two processes see it. */
export function contract(name: string, make: () => readonly [AuditCalls, AuditCalls]): void {
  describe(name, () => {
    it('has nothing before the first call', async () => {
      const [calls] = make()
      await calls.append([])
      expect(await all(calls)).toEqual([])
      expect(await calls.find(new Set(['a']))).toEqual(new Map())
    })

    it('reads back what another process wrote, the newest first', async () => {
      const [calls, other] = make()
      await calls.append([judged('a'), judged('b')])
      await other.append([judged('c')])
      expect((await all(other)).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
      expect((await all(other, 2)).map(({ id }) => id)).toEqual(['c', 'b'])
      expect(calls.place).toBe(other.place)
    })

    it('finds calls by their ids', async () => {
      const [calls] = make()
      await calls.append(['a', 'b', 'c'].map((id) => judged(id)))
      const found = await calls.find(new Set(['a', 'c', 'x']))
      expect([...found.keys()].sort()).toEqual(['a', 'c'])
      expect(found.get('a')).toMatchObject({ event: 'PreToolUse', session: 's1', exact: true })
    })

    it('keeps an ordinary call as it was', async () => {
      const [calls] = make()
      const data = {
        tool_name: 'Write',
        tool_input: { file_path: '/tmp/ä b', content: 'one\n\ttwo', n: [1, null, true] },
      }
      await calls.append([judged('a', { data })])
      expect(await all(calls)).toMatchObject([{ exact: true, call: data }])
    })

    it('takes out secrets', async () => {
      const [calls] = make()
      const secret = `ghp_${'a1'.repeat(20)}`
      await calls.append([
        judged('a', { data: { tool_name: 'Bash', tool_input: { command: `echo ${secret}` } } }),
      ])
      const [one] = await all(calls)
      expect(one).toMatchObject({ exact: false })
      expect(JSON.stringify(one)).not.toContain(secret)
    })
  })
}
