import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import { PROGRAMS, SHARED_DEEDS } from '../../src/effects/programs/programs.js'
import { SERVER_EXAMPLES } from '../../src/effects/tools/mcp-servers.js'
import { CONTEXT, isPartOf } from './part-of.js'

const ALL = [...PROGRAMS, ...SHARED_DEEDS]

describe('each program of the tables', () => {
  it('is in one entry, which has examples', () => {
    const names = PROGRAMS.flatMap((program) => program.names)
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    expect(ALL.filter(({ examples }) => examples.length === 0).map(({ names: [name] }) => name)).toEqual([])
  })

  const examples = ALL.flatMap((program) => program.examples)
  it.each(examples.map((example) => [example.command, example] as const))('%s', async (command, example) => {
    const all = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
    const effects = all.filter(({ kind, guess }) => kind !== 'run' && !guess)
    if (example.effects.length === 0) expect(effects).toEqual([])
    for (const part of example.effects)
      expect(effects, JSON.stringify(part)).toSatisfy((found: typeof effects) =>
        found.some((one) => isPartOf(part, one)),
      )
    expect(all.every(({ by }) => by !== '')).toBe(true)
  })
})

describe('an option that nobody knows, before the verb', () => {
  const withVerb = ALL.filter(({ hasVerb }) => hasVerb).flatMap(({ examples }) => examples)
  it.each(withVerb.map((one) => [one.command, one.effects] as const))('%s', async (command, parts) => {
    for (const option of [
      '--unheard-of value',
      '--unheard-of value --flag',
      '--flag --unheard-of value -q',
    ]) {
      const given = command.replace(/^(?:sudo )?\S+/, (program) => `${program} ${option}`)
      const effects = await effectsOf({ name: 'Bash', input: { command: given } }, CONTEXT)
      for (const part of parts)
        expect(effects, `${given} ${JSON.stringify(part)}`).toSatisfy((found: typeof effects) =>
          found.some((one) => isPartOf(part, one)),
        )
    }
  })
})

describe('well-known MCP servers', () => {
  it.each(SERVER_EXAMPLES.map((one) => [one.tool, JSON.stringify(one.input), one] as const))(
    '%s %s',
    async (name, _, example) => {
      const effects = await effectsOf({ name, input: example.input }, CONTEXT)
      if (example.effects.length === 0) expect(effects).toEqual([])
      for (const part of example.effects) expect(effects.some((one) => isPartOf(part, one))).toBe(true)
    },
  )
})
