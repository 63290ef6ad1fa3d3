import { describe, expect, it } from 'vitest'
import type { Effect } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { VALUED_OPTIONS } from '../../src/effects/files/option-values.js'
import { PROGRAMS, SHARED_DEEDS } from '../../src/effects/programs/programs.js'
import { sample } from '../property/runs.js'
import { CONTEXT } from './part-of.js'

/** What the words do, without the words. */
async function deeds(command: string): Promise<readonly unknown[]> {
  const effects = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
  return effects
    .filter(({ kind, guess }) => kind !== 'run' && !guess)
    .map(({ by: _, ...rest }: Effect) => rest)
}

const EXAMPLES = [...PROGRAMS, ...SHARED_DEEDS].flatMap(({ examples }) => examples)

/** Options of the program in the examples of the tables, and some that change what a call does. */
function optionsOf(program: string): readonly string[] {
  const words = EXAMPLES.filter(({ command }) => command.startsWith(`${program} `)).flatMap(({ command }) =>
    command.split(/\s+/).filter((word) => /^--?[a-z-]+$/.test(word)),
  )
  return [
    ...new Set([
      ...words,
      '--force',
      '-f',
      '--amend',
      '--no-verify',
      '--dry-run',
      '--hard',
      '--delete',
      '--all',
    ]),
  ]
}

const CASES = Object.entries(VALUED_OPTIONS).flatMap(([program, rows]) =>
  rows.flatMap(([verb, letters, long]) =>
    [...[...letters].map((letter) => `-${letter}`), ...long.split(' ')].map(
      (option) => [program, verb === '*' ? 'delete' : verb, option] as const,
    ),
  ),
)

describe('the value of an option is never read as an option', () => {
  it.each(sample(CASES))('%s %s %s', async (program, verb, option) => {
    const plain = await deeds(`${program} ${verb} ${option} ./--- x`)
    for (const value of optionsOf(program)) {
      const found = await deeds(`${program} ${verb} ${option} ${value} x`)
      const named = JSON.stringify(found).replace(new RegExp(`(?<=[/"])${value}(?=")`, 'g'), '---')
      expect(named, value).toBe(JSON.stringify(plain))
    }
  })

  it('is a message, not an amend', async () => {
    const plain = await deeds('git commit -m x')
    expect(await deeds('git commit -m --amend')).toEqual(plain)
    expect(await deeds('git -C . commit -am --amend')).toEqual(await deeds('git -C . commit -am x'))
    expect(await deeds('git commit -m x --amend')).toContainEqual(
      expect.objectContaining({ loses: 'history' }),
    )
    expect(await deeds('git commit -m -m --amend')).toContainEqual(
      expect.objectContaining({ loses: 'history' }),
    )
    expect(await deeds('git commit -mx --amend')).toContainEqual(
      expect.objectContaining({ loses: 'history' }),
    )
  })
})
