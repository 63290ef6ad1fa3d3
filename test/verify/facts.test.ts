import { describe, expect, it } from 'vitest'
import { MARKERS, WORDS } from '../../src/verify/canary.js'
import { type Promises, type Seen, TRIALS } from '../../src/verify/facts.js'

const PROMISES: Promises = {
  can: () => true,
  hasSubagents: false,
  endsOnRefusal: false,
  keepsOneContext: false,
}

/** What a run left behind in which the model was told these words, and these files were written. */
function seen(words: readonly string[], files: readonly string[] = [], hookActed = 2): Seen {
  const requests = [{ protocol: 'p', role: 'main' as const, turn: 1, words }]
  const result = { ended: 'itself', exit: 0, requests, unknown: [], output: '', leftovers: 0, ms: 1 } as const
  return { result, files, hookActed }
}

describe('the guard and other hooks, side by side', () => {
  const trial = TRIALS.find(({ pack }) => pack?.includes('guard'))
  const stateOf = (what: Seen, promises = PROMISES) => trial?.facts(what, promises).map(({ state }) => state)
  const { deny, guard, preferences, UserPromptSubmit: context } = WORDS
  const all = [deny, guard, preferences, context]

  it('both refuse, and both reach the model', () => {
    expect(stateOf(seen(all))).toEqual(['held'])
  })

  it.each([
    ['the file', MARKERS.file],
    ['what the guard protects', MARKERS.guarded],
  ])('fails if %s was written', (_, file) => {
    expect(stateOf(seen(all, [file]))).toEqual(['failed'])
  })

  it.each(all)('fails if the model was not told: %s', (word) => {
    expect(stateOf(seen(all.filter((one) => one !== word)))).toEqual(['failed'])
  })

  it('expects no reason of an agent that ends on a refusal, and no context where there is none', () => {
    expect(stateOf(seen([preferences, context]), { ...PROMISES, endsOnRefusal: true })).toEqual(['held'])
    expect(stateOf(seen([deny, guard]), { ...PROMISES, can: () => false })).toEqual(['held'])
  })

  it('expects one context of an agent that keeps one, and not none', () => {
    const promises = { ...PROMISES, keepsOneContext: true }
    expect(stateOf(seen([deny, guard, context]), promises)).toEqual(['held'])
    expect(stateOf(seen([deny, guard]), promises)).toEqual(['failed'])
  })

  it('knows nothing if the hook was never asked', () => {
    expect(stateOf(seen(all, [], 0))).toEqual(['unknown'])
  })
})
