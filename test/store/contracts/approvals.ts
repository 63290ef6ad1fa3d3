// The contract of Approvals: every implementation, in files or elsewhere, runs through it.

import { describe, expect, it } from 'vitest'
import { callDigest } from '../../../src/core/base/digest.js'
import type { MaybePromise } from '../../../src/core/base/promise.js'
import type { Question } from '../../../src/core/hooks/outcome.js'
import type { AnswerGiven, Approvals, OpenOf } from '../../../src/store/approvals.js'
import { madeQuestion } from '../../approvals/made-question.js'

export interface ApprovalsPlace {
  readonly queue: Approvals
  /** The same questions, as another process sees them. */
  readonly open: () => Approvals
  /** Milliseconds since 1970; questions stay open for an hour. */
  readonly clock: { now: number }
  /** Whether people allow by signing. Then nothing is allowed always. */
  readonly isSigned?: true
}

export const START = Date.parse('2030-01-01T12:00:00Z')
export const HOUR = 3_600_000
const ALLOW = { decision: 'allow', by: 'ann' } as const
const DENY = { decision: 'deny', by: 'ben', reason: 'not today' } as const
const project = '/somewhere/project'
const question = madeQuestion()

/** The clock must begin at START. */
export function contract(name: string, make: () => MaybePromise<ApprovalsPlace>): void {
  /** A question that was raised and, if given, answered. */
  async function raised(asked: Question, given?: AnswerGiven) {
    const at = await make()
    const pending = await at.queue.raise(asked, { project })
    if (given) expect((await at.queue.answer(pending.id, given)).status).toBe('answered')
    return { ...at, id: pending.id, pending }
  }

  describe(`${name}: a question`, () => {
    it('is open until somebody answers, and can be read by people', async () => {
      const { queue, id, pending, open } = await raised(question)
      expect(pending).toMatchObject({
        isNew: true,
        project,
        asked: '2030-01-01T12:00:00.000Z',
        expires: '2030-01-01T13:00:00.000Z',
      })
      expect(pending.raisedBy.pid).toBe(process.pid)
      const { isNew: _, needs: __, ...kept } = pending
      expect(await open().open()).toEqual([kept])
      expect(await queue.get(id)).toEqual({ status: 'open', pending: kept })
      expect(await queue.take(question)).toBeUndefined()
      await queue.answer(id, ALLOW)
      expect(await queue.open()).toEqual([])
    })

    it('that is raised again is the same, until it is answered', async () => {
      const { queue, open, id } = await raised(question)
      expect(await open().raise(madeQuestion(), { project })).toMatchObject({ id, isNew: false })
      expect(await queue.open()).toHaveLength(1)
      await queue.answer(id, ALLOW)
      await queue.take(question)
      const next = await queue.raise(question, { project })
      expect(next.isNew).toBe(true)
      expect(next.id).not.toBe(id)
    })

    it('that many raise at once is one question', async () => {
      const { queue, open } = await make()
      const all = await Promise.all(
        Array.from({ length: 8 }, async () => open().raise(madeQuestion(), { project })),
      )
      expect(new Set(all.map(({ id }) => id)).size).toBe(1)
      expect(all.filter(({ isNew }) => isNew)).toHaveLength(1)
      expect(await queue.open()).toHaveLength(1)
    })

    it('of whatever project comes in the order they were asked', async () => {
      const { queue, clock } = await make()
      const ids: string[] = []
      for (const [i, session] of ['a', 'b', 'c'].entries()) {
        clock.now = START + i * 1000
        ids.push((await queue.raise(madeQuestion({ session }), { project: `/p/${session}` })).id)
      }
      const open = await queue.open()
      expect(open.map(({ id }) => id)).toEqual(ids)
      expect(open.map((one) => one.project)).toEqual(['/p/a', '/p/b', '/p/c'])
    })

    it('of one project is listed and counted apart from the others', async () => {
      const { queue, clock } = await make()
      const ids: string[] = []
      for (const [i, project] of ['/p/a', '/p/b', '/p/b', '/p/b'].entries()) {
        clock.now = START + i * 1000
        ids.push((await queue.raise(madeQuestion({ session: `s${i}` }), { project })).id)
      }
      const idsOf = async (of: OpenOf) => (await queue.open(of)).map(({ id }) => id)
      expect(await idsOf({ project: '/p/b' })).toEqual(ids.slice(1))
      expect(await idsOf({ project: '/p/b', most: 2 })).toEqual(ids.slice(1, 3))
      expect(await idsOf({ project: '/p/c' })).toEqual([])
      expect(await queue.waiting('/p/b')).toEqual({ here: 3, elsewhere: 1 })
      await queue.answer(ids[1] ?? '', { decision: 'deny', by: 'ann' })
      expect(await queue.waiting('/p/b')).toEqual({ here: 2, elsewhere: 1 })
      clock.now = Date.parse((await queue.open())[0]?.expires ?? '')
      expect(await queue.waiting('/p/b')).toEqual({ here: 2, elsewhere: 0 })
    })

    it('is found by a beginning that no other has', async () => {
      const { queue, id } = await raised(question)
      expect(await queue.get(id.slice(0, 6))).toMatchObject({ status: 'open', pending: { id } })
      expect(await queue.get(id.toUpperCase().replace('-', ''))).toMatchObject({ status: 'open' })
      expect(await queue.get('')).toEqual({ status: 'unknown' })
      for (let i = 0; i < 33; i++) await queue.raise(madeQuestion({ session: `s${i}` }), { project })
      const open = await queue.open()
      const letters = open.map((one) => one.id.charAt(0))
      const twice = letters.find((letter, i) => letters.indexOf(letter) < i) ?? ''
      expect(await queue.get(twice)).toEqual({
        status: 'ambiguous',
        ids: expect.arrayContaining(open.flatMap((one) => (one.id.startsWith(twice) ? [one.id] : []))),
      })
    })
  })

  describe(`${name}: an answer`, () => {
    it('reaches who asked, once', async () => {
      const { queue, open, id } = await raised(question, { ...ALLOW, reason: ' fine\u001b[31m \n' })
      expect(await queue.get(id)).toMatchObject({
        status: 'answered',
        answer: { option: 'Allow', by: 'ann', reason: 'fine' },
      })
      expect(await open().take(question)).toMatchObject({
        id,
        decision: 'allow',
        option: 'Allow',
        reason: 'fine',
        by: 'ann',
      })
      expect(await open().take(question)).toBeUndefined()
      expect(await queue.take(question)).toBeUndefined()
      expect((await queue.get(id)).status).toBe('used')
    })

    it('that allows is used by one of many takers', async () => {
      const { open } = await raised(question, ALLOW)
      const taken = await Promise.all(Array.from({ length: 8 }, async () => open().take(question)))
      expect(taken.filter((one) => one !== undefined)).toHaveLength(1)
    })

    it('that denies holds until it expires', async () => {
      const { queue, clock } = await raised(question, DENY)
      for (let i = 0; i < 3; i++)
        expect(await queue.take(question)).toMatchObject({
          decision: 'deny',
          option: 'Deny',
          reason: 'not today',
          by: 'ben',
        })
      clock.now = START + HOUR - 1
      expect(await queue.take(question)).toMatchObject({ decision: 'deny' })
      clock.now = START + HOUR
      expect(await queue.take(question)).toBeUndefined()
    })

    it('counts for no other call, session or hook, and no other words or options of it', async () => {
      const { queue } = await raised(question, ALLOW)
      const others = [
        { call: { tool_name: 'Bash', tool_input: { command: 'make deploy ' } } },
        { call: { tool_name: 'bash', tool_input: { command: 'make deploy' } } },
        { session: 's2' },
        { hook: 'other' },
        { content: 'c2' },
        { prompt: 'Deploy!' },
        { answer: { approvalOptions: ['Allow', 'Allow always', 'Deny'] } },
      ]
      for (const other of others) expect(await queue.take(madeQuestion(other))).toBeUndefined()
      expect(await queue.take(madeQuestion())).toMatchObject({ decision: 'allow' })
    })

    it('A2: counts only for what the person was shown, whatever binding the question claims', async () => {
      const shown: readonly Partial<Question>[] = [
        madeQuestion({ call: { tool_name: 'Bash', tool_input: { command: 'ls' } } }),
        { event: 'PostToolUse', digest: callDigest('PostToolUse', question.call) },
        { session: 's2' },
        { cwd: '/elsewhere' },
        { call: { ...question.call, agent_id: 'a1' } },
        { asks: [{ hook: 'guard', prompt: 'List files?' }] },
        { options: ['Allow', 'Allow it', 'Deny'] },
      ]
      for (const other of shown) {
        const forged = { ...question, ...other, binding: question.binding }
        const { queue, id } = await raised(forged, ALLOW)
        expect(await queue.take(question)).toBeUndefined()
        const genuine = await queue.raise(question, { project })
        expect([genuine.isNew, genuine.id === id]).toEqual([true, false])
        expect(await queue.take(forged)).toMatchObject({ decision: 'allow' })
      }
    })

    it('A3: counts for the same call under another tool_use_id', async () => {
      const under = (id: string) => ({ ...question, call: { ...question.call, tool_use_id: id } })
      const { queue } = await raised(under('t1'), ALLOW)
      expect(await queue.take(under('t2'))).toMatchObject({ decision: 'allow' })
    })

    it('comes too late after another, which is told', async () => {
      const { queue, id } = await raised(question, DENY)
      expect(await queue.answer(id, ALLOW)).toMatchObject({
        status: 'too-late',
        used: false,
        answer: { by: 'ben', option: 'Deny', at: '2030-01-01T12:00:00.000Z' },
      })
      expect(await queue.take(question)).toMatchObject({ decision: 'deny' })
      const allowed = await raised(question, ALLOW)
      await allowed.queue.take(question)
      expect(await allowed.queue.answer(allowed.id, DENY)).toMatchObject({
        status: 'too-late',
        used: true,
        answer: { by: 'ann' },
      })
    })

    it('is the first of many that are given at once', async () => {
      const { open, id } = await raised(question)
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      const results = await Promise.all(names.map(async (by) => open().answer(id, { ...ALLOW, by })))
      const [first, ...more] = results.filter(({ status }) => status === 'answered')
      expect(more).toEqual([])
      const by = first && 'answer' in first ? first.answer.by : ''
      for (const one of results) expect(one).toMatchObject({ answer: { by } })
    })

    it('comes too late when the question is over', async () => {
      const { queue, clock, id } = await raised(question)
      clock.now = START + HOUR
      expect(await queue.answer(id, ALLOW)).toMatchObject({ status: 'expired', pending: { id } })
      expect((await queue.get(id)).status).toBe('expired')
      expect(await queue.open()).toEqual([])
      expect(await queue.take(question)).toBeUndefined()
      expect(await queue.raise(question, { project })).toMatchObject({ isNew: true })
    })

    it('is not used after the question is over', async () => {
      const { queue, clock, id } = await raised(question, ALLOW)
      clock.now = START + HOUR
      expect(await queue.take(question)).toBeUndefined()
      expect(await queue.answer(id, DENY)).toMatchObject({ status: 'too-late', answer: { by: 'ann' } })
    })

    it('to a question that nobody asked is not taken', async () => {
      const { queue, id } = await raised(question)
      const typo = `${id.slice(0, -1)}${id.endsWith('x') ? 'y' : 'x'}`
      expect(await queue.answer(typo, ALLOW)).toEqual({ status: 'unknown', nearest: id })
      expect(await queue.answer(id.slice(0, 6), ALLOW)).toMatchObject({ status: 'unknown' })
      expect(await queue.answer('../../x', ALLOW)).toEqual({ status: 'unknown' })
      expect(await queue.answer('', ALLOW)).toEqual({ status: 'unknown' })
      expect(await queue.open()).toHaveLength(1)
    })

    it('is one of those that were offered', async () => {
      const offered = ['Allow always', 'Allow once', 'Not now', 'Deny it']
      const asked = madeQuestion({ answer: { approvalOptions: offered } })
      const given = async (answer: AnswerGiven) => {
        const { queue, id } = await raised(asked)
        const result = await queue.answer(id, answer)
        return 'answer' in result ? result.answer.option : result
      }
      expect(await given({ decision: 'allow', by: 'ann' })).toBe('Allow once')
      const { isSigned } = await make()
      expect(await given({ decision: 'always', by: 'ann' })).toEqual(
        isSigned ? expect.objectContaining({ status: 'not-signed' }) : 'Allow always',
      )
      expect(await given({ decision: 'deny', by: 'ann' })).toBe('Deny it')
      expect(await given({ option: ' not NOW ', by: 'ann' })).toBe('Not now')
      expect(await given({ option: 'Allow', by: 'ann' })).toEqual({ status: 'not-offered', options: offered })
      const { queue, id } = await raised(question)
      expect(await queue.answer(id, { decision: 'always', by: 'ann' })).toMatchObject({
        status: 'not-offered',
      })
      expect(await queue.open()).toHaveLength(1)
    })

    it('has bounds', async () => {
      const { queue, id } = await raised(question)
      await queue.answer(id, { decision: 'deny', by: 'x'.repeat(10_000), reason: 'ü'.repeat(100_000) })
      const { by = '', reason = '' } = (await queue.take(question)) ?? {}
      expect([Buffer.byteLength(by), Buffer.byteLength(reason)]).toEqual(
        [200, 4096].map((most) => expect.toSatisfy((n) => n <= most && n > most - 3)),
      )
    })
  })

  describe(`${name}: waiting`, () => {
    it('ends with the answer of another process', async () => {
      const { queue, open, id } = await raised(question)
      const waiting = queue.wait(question, { until: performance.now() + 60_000 })
      await open().answer(id, ALLOW)
      expect(await waiting).toMatchObject({ decision: 'allow', by: 'ann' })
    })

    it('takes nothing once nobody waits any more, or when the time is up', async () => {
      const { queue, id } = await raised(question)
      const over = new AbortController()
      const waiting = queue.wait(question, { until: performance.now() + 60_000, signal: over.signal })
      over.abort()
      expect(await waiting).toBeUndefined()
      expect(await queue.wait(question, { until: performance.now() })).toBeUndefined()
      const isWorthwhile = async () => false
      expect(await queue.wait(question, { until: Infinity, isWorthwhile })).toBeUndefined()
      await queue.answer(id, ALLOW)
      expect(await queue.take(question)).toMatchObject({ decision: 'allow' })
    })

    it('knows whether somebody watches', async () => {
      const { queue, open } = await make()
      expect(await queue.isWatched()).toBe(false)
      const watching = await queue.watching()
      expect(await open().isWatched()).toBe(true)
      await watching.end()
      await watching.end()
      expect(await open().isWatched()).toBe(false)
    })
  })
}
