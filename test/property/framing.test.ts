import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { Connection } from '../../src/rpc/connection.js'
import type { RpcProblem } from '../../src/rpc/problem.js'
import { runs } from './runs.js'

const MAX_LINE_BYTES = 300

const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 2 }) as fc.Arbitrary<Json>
const message = fc
  .record({ method: fc.string({ unit: 'binary' }), params: json })
  .map((fields) => ({ fields, text: JSON.stringify({ jsonrpc: '2.0', ...fields }) }))
  .filter(({ text }) => Buffer.byteLength(text) <= MAX_LINE_BYTES)

const noise = fc.oneof(
  fc.constantFrom('{', 'null', '[]', '"text"', '{}', 'Traceback (most recent call last):', '\u001b[31mred'),
  fc.constant('é'.repeat(200)),
  fc.constant('x'.repeat(MAX_LINE_BYTES * 5)),
)
const blank = fc.constantFrom('', '\r', ' ')

const line = fc.oneof(
  { weight: 4, arbitrary: message },
  { weight: 2, arbitrary: noise.map((text) => ({ fields: undefined, text })) },
  { weight: 1, arbitrary: blank.map((text) => ({ fields: null, text })) },
)

/** Cut at any bytes. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...places, bytes.length].map((end, i) => bytes.subarray(places[i - 1] ?? 0, end))
}

it('any messages in any chunks arrive whole and in order; each line of noise between them is told and skipped', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 30 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      async (lines, cuts, ending, endsInLineBreak) => {
        const text = lines.map((one) => one.text).join(ending) + (endsInLineBreak ? ending : '')
        const input = new PassThrough()
        const heard: unknown[] = []
        const problems: RpcProblem[] = []
        await new Promise<Error>((onClose) => {
          new Connection({
            input,
            output: new PassThrough(),
            maxLineBytes: MAX_LINE_BYTES + 1, // the carriage return is a part of the line
            onNotification: (method, params) => heard.push({ method, params }),
            onProblem: (problem) => problems.push(problem),
            onClose,
          })
          for (const chunk of cut(Buffer.from(text), cuts)) input.write(chunk)
          input.end()
        })
        const sent = lines.flatMap(({ fields }) => (fields ? [fields] : []))
        expect(heard).toEqual(JSON.parse(JSON.stringify(sent)))
        const noisy = lines.filter(({ fields }) => fields === undefined)
        expect(told(problems)).toEqual({
          malformed: noisy.filter((one) => Buffer.byteLength(one.text) <= MAX_LINE_BYTES + 1).length,
          'too-long': noisy.filter((one) => Buffer.byteLength(one.text) > MAX_LINE_BYTES + 1).length,
        })
      },
    ),
    { numRuns: runs(500) },
  )
})

/** How many there were of each kind: told one by one, then as a sum. */
function told(problems: readonly RpcProblem[]): Record<string, number> {
  const counts: Record<string, number> = { malformed: 0, 'too-long': 0 }
  for (const { kind, text } of problems) {
    const sum = /^(\d+) problems of the kind|\((\d+) like this so far\)$/.exec(text)
    counts[kind] = sum ? Number(sum[1] ?? sum[2]) : (counts[kind] ?? 0) + 1
  }
  return counts
}
