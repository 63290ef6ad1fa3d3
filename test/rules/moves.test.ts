// A rule about deletes counts for a move that takes something out of the places that the rule is about.

import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import type { PresetName, Rule } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { HOME, PROJECT } from '../effects/command-lists.js'

async function answer(command: string, rules: readonly Rule[], preset?: PresetName): Promise<string> {
  const context = { cwd: PROJECT, projectDir: PROJECT, home: HOME, env: {} }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  const force = rulesInForce({ ...(preset && { preset }), rules }, { project: PROJECT, home: HOME })
  const hits = force.judge(effects, { permissionMode: undefined, now: 0 })
  return verdictOf(hits, effects, { may: 'all', file: 'rules.json' }).result.action
}

const KEPT: readonly Rule[] = [{ id: 'keep', effects: ['delete'], of: ['data'], then: 'deny' }]

describe('a move', () => {
  it.each(['mv data /tmp/x', 'mv data/db.sqlite .', 'mv -t /tmp data/a', 'sudo mv data ../other'])(
    'out of what a rule keeps is denied: %s',
    async (command) => {
      expect(await answer(command, KEPT)).toBe('deny')
    },
  )

  it.each(['mv data/a data/b', 'mv src/a src/b', 'mv src/a data/a', 'mv "$X" src'])(
    'within it, or elsewhere, is not: %s',
    async (command) => {
      expect(await answer(command, KEPT)).toBe('continue')
    },
  )

  it('is not a delete to a rule without places, or in shadow mode', async () => {
    const all: readonly Rule[] = [{ id: 'all', effects: ['delete'], then: 'deny' }]
    expect(await answer('mv a b', all)).toBe('continue')
    expect(await answer('mv data /tmp/x', [{ ...(KEPT[0] as Rule), mode: 'shadow' }])).toBe('continue')
  })

  it('of something outside the project is asked about by standard', async () => {
    expect(await answer('mv ~/Documents/thesis /tmp/x', [], 'standard')).toBe('ask_user')
    expect(await answer('mv src/a.ts src/b.ts', [], 'standard')).toBe('continue')
    expect(await answer('mv /tmp/a.json data/a.json', [], 'standard')).toBe('continue')
  })
})
