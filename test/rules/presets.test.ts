// The presets, measured with the lists of commands: what each command would do is read, and then judged.

import { beforeAll, describe, expect, it } from 'vitest'
import type { Effect } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { settingFiles } from '../../src/hosts/setting-files.js'
import type { PresetName } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { BAD, HOME, type ListedCommand, ORDINARY, PROJECT } from '../effects/command-lists.js'

const ROOTS = { project: PROJECT, home: HOME }
const AUTHORITY = { may: 'all', file: 'rules.json' } as const
const effects = new Map<string, readonly Effect[]>()

beforeAll(async () => {
  const context = { cwd: PROJECT, projectDir: PROJECT, home: HOME, env: {}, settings: settingFiles({}) }
  for (const { command } of [...BAD, ...ORDINARY]) {
    effects.set(command, await effectsOf({ name: 'Bash', input: { command } }, context))
  }
}, 120_000)

/** The commands that get one of these answers. */
function answered(
  preset: PresetName,
  commands: readonly ListedCommand[],
  ...actions: readonly string[]
): readonly string[] {
  const rules = rulesInForce({ preset, rules: [] }, ROOTS)
  return commands
    .map(({ command }) => command)
    .filter((command) => {
      const found = effects.get(command) ?? []
      const hits = rules.judge(found, { permissionMode: undefined, now: 0 })
      return actions.includes(verdictOf(hits, found, AUTHORITY).result.action)
    })
}

describe('the preset standard', () => {
  it.each([...new Set(BAD.map(({ family }) => family))])('stops at least 95 %% of %s', (family) => {
    const bad = BAD.filter((one) => one.family === family)
    const passed = answered('standard', bad, 'continue')
    expect(passed.length / bad.length, passed.join('\n')).toBeLessThanOrEqual(0.05)
  })

  it('asks about at most 1 % of ordinary commands, and refuses none', () => {
    expect(answered('standard', ORDINARY, 'deny')).toEqual([])
    const asked = answered('standard', ORDINARY, 'ask_user')
    expect(asked.length / ORDINARY.length, asked.join('\n')).toBeLessThanOrEqual(0.01)
  })
})

it('careful stops everything that standard stops, and relaxed nothing else', () => {
  const stopped = (preset: PresetName) => new Set(answered(preset, BAD, 'deny', 'ask_user'))
  const [careful, standard, relaxed] = [stopped('careful'), stopped('standard'), stopped('relaxed')]
  expect([...standard].filter((one) => !careful.has(one))).toEqual([])
  expect([...relaxed].filter((one) => !standard.has(one))).toEqual([])
  expect(answered('careful', BAD, 'deny').length).toBeGreaterThan(answered('standard', BAD, 'deny').length)
})
