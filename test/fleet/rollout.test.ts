import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_PLAN,
  digestsIn,
  matches,
  NO_POLICY,
  planned,
  promoted,
  published,
  type Rollout,
  ringOf,
  rolledBack,
  rolloutIn,
  rolloutPlan,
  rolloutText,
  strippedRings,
} from '../../src/fleet/policy/rollout.js'

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string]
const THREE = planned(
  DEFAULT_PLAN,
  rolloutPlan(
    {
      groups: { ci: ['ci-*'] },
      rings: [{ name: '1', machines: ['ann'] }, { name: '2', percent: 50 }, { name: '3' }],
    },
    'policy.json',
  ),
)
const machine = (name: string, id = name) => ({ machine: id, name })

/** What each ring of the group for all machines has. */
const ofAll = (rollout: Rollout) =>
  rollout.find(({ name }) => name === 'all')?.rings.map(({ enforced, shadow }) => [enforced, shadow])

describe('a machine', () => {
  it('is in the first group and ring that match', () => {
    expect(ringOf(THREE, machine('ann'))).toMatchObject({ group: 'all', ring: { name: '1' } })
    expect(ringOf(THREE, machine('ci-7'))).toMatchObject({ group: 'ci' })
  })

  it('is always in exactly one ring, and the shares are about as large as they say', () => {
    const rings = Array.from({ length: 2000 }, (_, i) => ringOf(THREE, machine(`m${i}`))?.ring.name)
    expect(rings.every((ring) => ring === '2' || ring === '3')).toBe(true)
    const half = rings.filter((ring) => ring === '2').length
    expect(half).toBeGreaterThan(850)
    expect(half).toBeLessThan(1150)
  })

  it('matches names as a pattern with * says', () => {
    const word = fc.stringMatching(/^[ab]{0,6}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), word, (parts, name) => {
        const pattern = parts.join('*')
        expect(matches(pattern, name)).toBe(new RegExp(`^${parts.join('.*')}$`).test(name))
      }),
    )
  })
})

describe('a roll-out', () => {
  it('goes from shadow in one ring to all rings, one after another', () => {
    const first = published(THREE, A, {}, true)
    expect(ofAll(first)).toEqual([
      [undefined, A],
      [undefined, undefined],
      [undefined, undefined],
    ])
    const second = promoted(first, A, {})
    expect(ofAll(second)).toEqual([
      [A, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ])
    expect(ofAll(promoted(second, A, {}))).toEqual([
      [A, undefined],
      [A, undefined],
      [undefined, undefined],
    ])
    expect(ofAll(promoted(second, A, { ring: '3' }))).toEqual([
      [A, undefined],
      [A, undefined],
      [A, undefined],
    ])
  })

  it('keeps what is enforced while another bundle is tried', () => {
    const all = promoted(published(THREE, A, {}, false), A, { ring: '3' })
    expect(ofAll(published(all, B, { ring: '2' }, true))?.[1]).toEqual([A, B])
  })

  it('goes back to what each ring enforced before', () => {
    const all = promoted(published(THREE, A, {}, false), A, { ring: '3' })
    const next = promoted(published(all, B, {}, false), B, { ring: '2' })
    expect(ofAll(rolledBack(next, B, {}))).toEqual(ofAll(all))
    expect(ofAll(rolledBack(next, B, { ring: '2' }))?.map(([enforced]) => enforced)).toEqual([B, A, A])
    expect(ofAll(rolledBack(next, B, {}, C))?.map(([enforced]) => enforced)).toEqual([C, C, A])
  })

  it('says which rings a rollback leaves without a policy, and brings one back', () => {
    const first = published(THREE, A, {}, false)
    const stripped = rolledBack(first, A, {}, NO_POLICY)
    expect(strippedRings(first, rolledBack(first, A, {}))).toEqual(['ring 1 of ci', 'ring 1 of all'])
    expect(stripped).toEqual(THREE)
    expect(ofAll(rolledBack(stripped, undefined, {}, A))?.map(([enforced]) => enforced)).toEqual([A, A, A])
    const next = published(first, B, {}, false)
    expect(strippedRings(next, rolledBack(next, B, {}))).toEqual([])
    expect(rolledBack(next, B, {}, B)).toEqual(next)
  })

  it('changes only the group that is named', () => {
    const ci = published(THREE, A, { group: 'ci' }, false)
    expect(ringOf(ci, machine('ci-1', 'x'))?.group).toBe('ci')
    expect(ofAll(ci)).toEqual(ofAll(THREE))
    expect(() => published(THREE, A, { group: 'no' }, false)).toThrow('there is no group')
    expect(() => published(THREE, A, { ring: '9' }, false)).toThrow('there are: 1, 2, 3')
  })

  it('gives new rings what the last ring enforced, so nobody loses a policy', () => {
    const all = promoted(published(DEFAULT_PLAN, A, {}, false), A, { ring: '2' })
    const plan = rolloutPlan({ rings: [{ name: 'x', percent: 1 }, { name: '2' }] }, 'policy.json')
    expect(ofAll(planned(all, plan))).toEqual([
      [A, undefined],
      [A, undefined],
    ])
  })

  it('never loses the policy of a machine, whatever is published, promoted and rolled back', () => {
    const step = fc.tuple(
      fc.constantFrom('publish', 'shadow', 'promote', 'rollback'),
      fc.constantFrom(B, C),
      fc.constantFrom(undefined, '1', '2', '3'),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let rollout = promoted(published(THREE, A, {}, false), A, { ring: '3' })
        for (const [what, digest, ring] of steps) {
          const where = ring === undefined ? {} : { ring }
          if (what === 'promote') rollout = promoted(rollout, digest, where)
          else if (what === 'rollback') rollout = rolledBack(rollout, digest, where)
          else rollout = published(rollout, digest, where, what === 'shadow')
        }
        expect(rolloutIn(rolloutText(rollout))).toEqual(rollout)
        const all = rollout.find(({ name }) => name === 'all')?.rings ?? []
        expect(all.filter(({ enforced }) => enforced === undefined)).toEqual([])
      }),
    )
  })

  it.each([
    ['{}', 'groups'],
    ['{"groups":[{"name":"all","machines":["*"],"rings":[]}]}', 'rings'],
    ['{"groups":[{"name":"all","machines":["*"],"rings":[{"name":"1","percent":101}]}]}', 'percent'],
    ['{"groups":[{"name":"all","machines":["*"],"rings":[{"name":"1","enforced":"x"}]}]}', 'enforced'],
    ['{"groups":[{"name":"all","machines":["*"],"rings":[{"name":"1"},{"name":"1"}]}]}', 'same name'],
    ['{"format":2,"groups":[]}', 'newer version'],
  ])('refuses %s', (text, why) => {
    expect(() => rolloutIn(text)).toThrow(why)
  })

  it('names every bundle that a ring may need', () => {
    const all = promoted(published(THREE, A, {}, false), A, { ring: '3' })
    expect([...digestsIn(published(all, B, {}, false))].sort()).toEqual([A, B])
  })
})
