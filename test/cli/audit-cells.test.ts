// What a line of `carabiner audit` and `carabiner fleet audit` says of an entry that any program may have written.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { entryCells } from '../../src/cli/print/print-audit.js'
import { KINDS } from '../../src/store/audit/filter.js'

const FIELDS = [
  'event',
  'tool',
  'action',
  'decision',
  'change',
  'by',
  'people',
  'reason',
  'hooks',
  'diagnostics',
]

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('x\n2026-11-19  laptop  PreToolUse', 'a\tb', [], {}, null),
)
const entry = fc
  .tuple(fc.constantFrom(...KINDS, 'other'), fc.array(fc.tuple(fc.constantFrom(...FIELDS), odd)))
  .map(([kind, fields]) => ({ seq: 1, hash: '', time: '', kind, ...Object.fromEntries(fields) }))

it('is three texts, each of one line', () => {
  fc.assert(
    fc.property(entry, (made) => {
      for (const cell of entryCells(made as never)) expect(cell).toMatch(/^[^\n\r\t]*$/)
    }),
    { numRuns: 2000 },
  )
})

it.each([
  { kind: 'approval', decision: 5 },
  { kind: 'approval' },
  { kind: 'bypass' },
  { kind: 'change', change: null },
  { kind: 'fire', action: 7, hooks: [], diagnostics: [] },
])('says of %j that it is damaged', (made) => {
  expect(entryCells({ seq: 1, hash: '', time: '', ...made } as never)).toMatchObject([
    made.kind,
    'damaged',
    expect.any(String),
  ])
})
