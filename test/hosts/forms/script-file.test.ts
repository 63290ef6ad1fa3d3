import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { setup } from '../../../src/hosts/cline/setup.js'
import type { Entry } from '../../../src/hosts/host-setup.js'

const FILE = setup.project?.files.find(({ name }) => name === 'UserPromptSubmit')

/** Commands that print these answers, in one script of Cline 2. */
function answerOf(commands: readonly string[]): unknown {
  const entries = commands.map((command): Entry => ({ event: 'UserPromptSubmit', command }))
  const text = FILE?.form.put(undefined, entries, { file: 'UserPromptSubmit', earlier: new Map() }) ?? ''
  expect(FILE?.form.commands(text).map(({ command }) => command)).toEqual(commands)
  const { stdout, status } = spawnSync('/bin/sh', ['-c', text], { input: '{"a":1}', encoding: 'utf8' })
  expect(status).toBe(0)
  return JSON.parse(stdout)
}

function says(answer: object): string {
  return `printf '%s' '${JSON.stringify(answer).replaceAll("'", `'\\''`)}'`
}

const SILENT = 'true'
const REFUSAL = { cancel: true, errorMessage: 'no' }
const NOT_ASKED = { cancel: true, errorMessage: 'Carabiner could not be asked' }

describe('a script with several commands', () => {
  it('says what all of them have to say', () => {
    expect(
      answerOf([
        says({ contextModification: 'one', errorMessage: 'first' }),
        SILENT,
        says({ contextModification: 'two' }),
        says({ errorMessage: 'last' }),
      ]),
    ).toEqual({ contextModification: 'one\n\ntwo', errorMessage: 'first\n\nlast' })
  })

  it('says nothing if none of them has anything to say', () => {
    expect(answerOf([SILENT, says({})])).toEqual({})
  })

  it.each([0, 1, 2])('refuses if number %i refuses', (place) => {
    const others = [says({ contextModification: 'one' }), says({ errorMessage: 'two' })]
    expect(answerOf(others.toSpliced(place, 0, says(REFUSAL)))).toEqual(REFUSAL)
  })

  it.each([
    ['is gone', '/nowhere/carabiner fire'],
    ['fails', `${says({ contextModification: 'one' })}; false`],
    ['prints garbage', 'echo what?'],
    ['dies midway', `printf '%s' '{"contextModi'`],
  ])('refuses if one %s, whatever the others say', (_, broken) => {
    expect(answerOf([broken, says({ contextModification: 'two' })])).toEqual(NOT_ASKED)
    expect(answerOf([says({ contextModification: 'one' }), broken])).toEqual(NOT_ASKED)
  })

  it('keeps every character', () => {
    const odd = `"quoted" \\ \\" \n\t$HOME \`x\` %s ; 'single' {"cancel":true} "contextModification":"no" – é 漢 😀`
    expect(answerOf([says({ contextModification: odd }), says({ contextModification: odd })])).toEqual({
      contextModification: `${odd}\n\n${odd}`,
    })
    expect(answerOf([says({ errorMessage: odd, contextModification: 'one' })])).toEqual({
      contextModification: 'one',
      errorMessage: odd,
    })
  })
})
