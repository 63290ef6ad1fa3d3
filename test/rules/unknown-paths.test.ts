// A path that only the running shell knows could be any: a rule about some paths is not silently passed by.

import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import type { Rule } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { foreseen, verdictOf } from '../../src/rules/verdict.js'
import { HOME, PROJECT } from '../effects/command-lists.js'

const ROOTS = { project: PROJECT, home: HOME }
const AUTHORITY = { may: 'all', file: 'rules.json' } as const
const NOBODY = { may: 'deny', file: 'rules.json' } as const

async function judged(command: string, rule: Omit<Rule, 'id'>) {
  const context = { cwd: PROJECT, projectDir: PROJECT, home: HOME, env: {} }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  const hits = rulesInForce({ preset: undefined, rules: [{ id: 'mine', ...rule }] }, ROOTS).judge(effects, {
    permissionMode: undefined,
    now: 0,
  })
  return { hits, effects, result: verdictOf(hits, effects, AUTHORITY).result }
}

const NO_DELETES: Omit<Rule, 'id'> = { effects: ['delete'], of: ['~/data'], then: 'deny' }

describe('a rule with `of`', () => {
  it.each(['rm -rf "$X"', 'rm -rf $(cat list)', 'rm "$X/a.txt"', 'ls | xargs rm'])(
    'that denies asks about %s, or leaves it alone if it is known',
    async (command) => {
      const { result, effects } = await judged(command, NO_DELETES)
      const isUnknown = effects.some((one) => one.kind === 'delete' && !one.place.known)
      expect(result.action).toBe(isUnknown ? 'ask_user' : 'continue')
    },
  )

  it('says why', async () => {
    const { result } = await judged('rm -rf "$X"', NO_DELETES)
    expect(result.reason).toBe(
      'The rule mine asks first, because only the running shell knows the path: the call would delete $X and everything in it (wherever that is) (rm -rf "$X").',
    )
  })

  it('still denies what is certain', async () => {
    expect((await judged('rm -rf ~/data', NO_DELETES)).result.action).toBe('deny')
    expect((await judged('rm -rf ~/data "$X"', NO_DELETES)).result.action).toBe('deny')
  })

  it('leaves known paths elsewhere and other effects alone', async () => {
    expect((await judged('rm -rf build', NO_DELETES)).result.action).toBe('continue')
    expect((await judged('cat "$X"', NO_DELETES)).result.action).toBe('continue')
  })

  it('leaves unknown paths alone if it says so', async () => {
    const { result } = await judged('rm -rf "$X"', { ...NO_DELETES, where: { known: true } })
    expect(result.action).toBe('continue')
  })

  it.each(['ask', 'end_turn'] as const)('that would %s asks', async (then) => {
    expect((await judged('rm -rf "$X"', { ...NO_DELETES, then })).result.action).toBe('ask_user')
  })

  it('never allows such a path', async () => {
    const { hits, result } = await judged('rm -rf "$X"', {
      ...NO_DELETES,
      effects: '*',
      of: ['/**'],
      then: 'allow',
    })
    expect(hits.filter(({ effect }) => effect.kind === 'delete')).toEqual([])
    expect(result.permission).toBeUndefined()
  })

  it('judges where a move goes', async () => {
    const { result } = await judged('mv a.txt "$X"', { effects: ['move'], of: ['~/data'], then: 'deny' })
    expect(result.action).toBe('ask_user')
  })

  it('is no exception either', async () => {
    const { result } = await judged('rm -rf "$X"', { effects: ['delete'], except: ['**'], then: 'deny' })
    expect(result.action).toBe('deny')
  })

  it('asks also in a file that nobody trusts, in our words', async () => {
    const { hits, effects } = await judged('rm -rf "$X"', { ...NO_DELETES, say: 'Theirs' })
    const { result } = verdictOf(hits, effects, NOBODY)
    expect(result.action).toBe('ask_user')
    expect(result.reason).toContain('A rule in rules.json may forbid this, because only the running shell')
    expect(result.reason).not.toContain('Theirs')
  })

  it('is foreseen as a question', async () => {
    const { hits, effects } = await judged('rm -rf "$X"', NO_DELETES)
    expect(foreseen(hits, effects, AUTHORITY)[0]).toMatch(/^ask by mine: it would delete \$X/)
  })
})
