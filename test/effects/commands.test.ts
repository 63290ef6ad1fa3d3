import { describe, expect, it } from 'vitest'
import { BAD, ORDINARY } from './command-lists.js'

describe('the lists of commands', () => {
  it('are long enough to measure with, and name each command once', () => {
    expect(BAD.length).toBeGreaterThanOrEqual(400)
    expect(ORDINARY.length).toBeGreaterThanOrEqual(600)
    const commands = [...BAD, ...ORDINARY].map(({ command }) => command)
    expect(commands.filter((command, i) => commands.indexOf(command) !== i)).toEqual([])
  })

  it('say what each bad command would do', () => {
    expect(BAD.filter(({ effects = [] }) => !effects.every(({ kind }) => typeof kind === 'string'))).toEqual(
      [],
    )
    expect(BAD.filter(({ effects = [] }) => effects.length === 0)).toEqual([])
  })
})
