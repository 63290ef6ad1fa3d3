// Numbers in a payload that would not reach hooks as they were sent.

import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inexactNumber } from '../../src/core/base/exact-numbers.js'
import { runs } from '../property/runs.js'
import { Project, withProgram } from './program.js'

withProgram()

const INEXACT = [
  '9007199254740993',
  '-9007199254740993',
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '-0.0',
  '-0e5',
  '0.1234567890123456789',
  '3.141592653589793238462643',
  '12345678901234567890',
  `1${'0'.repeat(2000)}1`,
]
const EXACT = [
  '9007199254740992',
  '0',
  '0.0',
  '0e9',
  '1.0',
  '1.50',
  '1e2',
  '1E+2',
  '1e23',
  '-5',
  '0.1',
  '1e-7',
  '5e-324',
]

describe('A2: a number', () => {
  it.each(INEXACT)('%s is not kept', (number) => {
    expect(inexactNumber(number)).toBe('')
    expect(inexactNumber(`{"a":[1,{"b":"1e400"},{"c d":[0,"\\\\\\"",${number}]}]}`)).toBe('a[2]."c d"[2]')
  })

  it.each(EXACT)('%s is kept', (number) => {
    expect(inexactNumber(`{"a":[${number}, ${number}],"b":${number}}`)).toBeUndefined()
  })

  it('that a program wrote is kept', () => {
    const written = fc.json({ noUnicodeString: false }).map((text) => JSON.stringify(JSON.parse(text)))
    fc.assert(
      fc.property(written, (text) => inexactNumber(text) === undefined),
      { numRuns: runs(1000) },
    )
  })

  it('is kept exactly if no other text of its length is read as the same number', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,24}$/)
    fc.assert(
      fc.property(digits, (text) => {
        const isKept = BigInt(text) === BigInt(decimal(Number(text)))
        return (inexactNumber(text) === undefined) === isKept
      }),
      { numRuns: runs(1000) },
    )
  })
})

/** The digits that JavaScript writes, without an exponent. */
function decimal(value: number): string {
  const [digits = '', exponent = '0'] = String(value).split('e+')
  const [whole = '', fraction = ''] = digits.split('.')
  return `${whole}${fraction}`.padEnd(whole.length + Number(exponent), '0')
}

describe('A2: fire', () => {
  let project: Project
  beforeEach(() => {
    project = new Project()
  })
  afterEach(() => project.remove())

  const call = (number: string) =>
    `{"session_id":"s","tool_name":"Pay","tool_input":{"to":"ann","cents":${number}}}`

  it.each(['9007199254740993', '1e400', '-0'])(
    'refuses a call with %s, and names the field',
    async (number) => {
      const { code, stdout, stderr } = await project.call(['fire', 'PreToolUse'], { input: call(number) })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain('tool_input.cents is a number that cannot be kept exactly')
      expect(stderr).not.toContain(number)
    },
  )

  it('denies it in the words of an agent, also where the input is JSON in a string', async () => {
    const input = call('9007199254740993')
    const claude = await project.call(['fire', 'PreToolUse', '--as', 'claude-code'], { input })
    expect(claude.stdout).toContain('tool_input.cents is a number')
    expect(JSON.parse(claude.stdout).hookSpecificOutput.permissionDecision).toBe('deny')
    const toolArgs = '{"cents":9007199254740993}'
    const copilot = await project.call(['fire', 'preToolUse', '--as', 'copilot'], {
      input: { toolName: 'pay', toolArgs, timestamp: 1, cwd: '/' },
    })
    expect(JSON.parse(copilot.stdout)).toMatchObject({ permissionDecision: 'deny' })
    expect(copilot.stdout).toContain('cents is a number')
  })

  it('lets it pass where nothing is decided', async () => {
    const input = '{"tool_name":"Pay","tool_input":{},"tool_response":{"id":9007199254740993}}'
    expect((await project.call(['fire', 'PostToolUse'], { input })).code).toBe(0)
  })
})
