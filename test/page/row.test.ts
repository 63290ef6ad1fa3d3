// Rows of the record as the pages show them: nobody who answered is missing, and an open question says what is asked.

import { describe, expect, it } from 'vitest'
import { answersAmong } from '../../src/page/answer-history.js'
import { detailsOf, rowOf } from '../../src/page/row.js'
import type { ShownEntry } from '../../src/store/audit/entry-words.js'

const entryOf = (fields: object) =>
  ({
    ...{ seq: 1, time: '2026-11-19T01:00:00.000Z', prev: '0', hash: '1' },
    ...{ session: 's', event: 'PreToolUse', tool: 'Bash', digest: 'd' },
    ...fields,
  }) as unknown as ShownEntry

const fire = (approval: object, more: object = {}) =>
  entryOf({
    ...{ kind: 'fire', action: 'ask_user', hooks: [], injections: [], diagnostics: [], ms: 1, approval },
    ...more,
  })

describe('an answer of two people', () => {
  const answer = { decision: 'allow', by: 'bob', people: ['ann', 'bob'] }
  const approval = entryOf({ kind: 'approval', ...answer })
  const question = { asks: [{ hook: 'user:rules', prompt: 'Deploy?' }], options: ['Allow', 'Deny'] }

  it('names both', () => {
    expect(rowOf(approval).gist).toBe('answered by ann and bob')
    expect(detailsOf(fire({ question, answer })).answer).toBe('allowed by ann and bob')
    expect(answersAmong([approval])).toMatchObject([{ by: 'ann and bob' }])
    expect(answersAmong([fire({ question, answer: { ...answer, option: 'Allow' } })])).toMatchObject([
      { by: 'ann and bob' },
    ])
  })
})

describe('an open question', () => {
  it('says what is asked in place of how to answer, in a list and whole', () => {
    const question = { asks: [{ hook: 'user:rules', prompt: 'The rule ask-delete asks first' }], options: [] }
    const entry = fire({ question }, { reason: 'A person of the fleet must approve this.' })
    expect(rowOf(entry).reason).toBe('user:rules asks: The rule ask-delete asks first')
    expect(detailsOf(entry)).toMatchObject({
      reason: 'A person of the fleet must approve this.',
      asked: ['user:rules asked: The rule ask-delete asks first'],
    })
  })
})
