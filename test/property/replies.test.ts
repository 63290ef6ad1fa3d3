import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { RpcError } from '../../src/rpc/problem.js'
import { refusalsIn, withRepeated } from '../../src/systems/picoclaw/answer.js'
import { OtherSide } from '../rpc/other-side.js'
import { runs } from './runs.js'

/** How a call is answered, from its id. A result is a refusal, so that it is also found where it is not expected. */
const FORMS: Readonly<Record<string, (id: number) => string>> = {
  result: (id) => JSON.stringify({ id, result: said(id) }),
  'result with a text as its id': (id) => JSON.stringify({ id: String(id), result: said(id) }),
  error: (id) => JSON.stringify({ id, error: { code: 1, message: 'no', data: said(id) } }),
  'error without a refusal': (id) => JSON.stringify({ id, error: { code: 1, message: 'no' } }),
  list: (id) => JSON.stringify([{ id, result: said(id) }]),
  'several lines': (id) => JSON.stringify({ id, result: said(id) }, null, 2),
  'result and error': (id) => JSON.stringify({ id, result: said(id), error: { code: 1 } }),
}
const said = (id: number) => ({ action: 'deny_tool', reason: `no to ${id}` })

/** Throws at these of its calls. */
function throwing<A extends unknown[], R>(read: (...args: A) => R, at: ReadonlySet<number>, thrown: unknown) {
  let count = 0
  return (...args: A): R => {
    if (at.has(count++)) throw thrown
    return read(...args)
  }
}

it('a reader that throws at any place fails the call that it read for, and leaves no call waiting', async () => {
  const places = fc.uniqueArray(fc.nat({ max: 9 })).map((found) => new Set(found))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(FORMS)), { minLength: 1, maxLength: 8 }),
      places,
      places,
      fc.constantFrom(new Error('odd'), new RangeError(''), 'a text', undefined, { a: 1n }),
      async (forms, results, others, thrown) => {
        const other = new OtherSide({
          readResult: throwing(withRepeated, results, thrown),
          repliesIn: throwing(refusalsIn, others, thrown),
        })
        const calls = forms.map(() => other.connection.call('m', {}))
        const ended = calls.map((call) => call.then(answered, failed))
        for (const [at, form] of forms.entries()) other.say((FORMS[form] as (id: number) => string)(at + 1))
        const kinds = await Promise.all(ended)
        expect(other.connection.inFlight).toBe(0)
        for (const [at, kind] of kinds.entries())
          expect(['remote', 'malformed', `no to ${at + 1}`]).toContain(kind)
        if (results.size + others.size === 0) expect(kinds).toEqual(forms.map(withoutThrowing))
        expect(other.connection.closed).toBe(false)
        other.connection.close()
      },
    ),
    { numRuns: runs(1000) },
  )
})

const answered = (result: Json) => (result as { readonly reason: string }).reason
const failed = (error: unknown) => {
  if (error instanceof RpcError) return error.kind
  throw error
}
const withoutThrowing = (form: string, at: number) =>
  form === 'error without a refusal' ? 'remote' : `no to ${at + 1}`
