// Commands made to break the reader: it stops early and says that it does not know.

import fc from 'fast-check'
import { parse } from 'unbash'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { commandPattern } from '../../../src/effects/shell/patterns.js'
import { LONGEST, readShell, type ShellReading } from '../../../src/effects/shell/shell-reading.js'
import { runs } from '../../property/runs.js'

vi.mock('unbash', async (original) => {
  const unbash = await original<typeof import('unbash')>()
  return { ...unbash, parse: vi.fn(unbash.parse) }
})

beforeEach(() => void vi.mocked(parse).mockClear())

/** The amount of text that the parser was given. It bounds the work on any machine. */
const parsed = () => vi.mocked(parse).mock.calls.reduce((sum, [text]) => sum + text.length, 0)

const matchesAnything = commandPattern('no-such-program *')

function expectUnknown(text: string): void {
  const reading = readShell(text)
  expect([reading.unknown, typeof reading.why]).toEqual([true, 'string'])
  expect(matchesAnything(reading)).toBe(true)
  expect(parsed()).toBeLessThanOrEqual(8 * LONGEST)
}

describe('ten million characters', () => {
  it.each([
    ['of one word', 'x'],
    ['of words', 'x '],
    ['of commands', 'a; '],
    ['of quotes', '"'],
    ['of substitutions', '$('],
    ['of lines', 'ls\n'],
  ])('%s', (_, text) => {
    expectUnknown(text.repeat(10_000_000 / text.length))
    expect(parsed()).toBe(0)
  })
})

describe('ten thousand characters that the parser would go through again and again', () => {
  it.each(['{', 'a{', '{a,', '$[', '$[1+', '$(', '(', '[', '`', '<<A', '<<A ', '{1..'])('of %j', (text) => {
    expectUnknown(text.repeat(LONGEST / text.length))
    expect(parsed()).toBe(0)
  })
})

const OPENINGS = [
  ...[
    '$(',
    '`',
    '(',
    '((',
    '{ ',
    '"$(',
    '${x:-',
    '$((',
    '$[',
    'a <(',
    'a >(',
    'x=(',
    'x[',
    '+(',
    '[[ ( ',
    '"',
    "'",
  ],
  ...[
    'if a; then ',
    'while a; do ',
    'case a in a) ',
    'f() { ',
    'sudo ',
    'eval ',
    "bash -c '",
    'bash <<E\n',
    '! ( ',
  ],
]

describe.each([1000, 100_000])('%i levels', (levels) => {
  it.each(OPENINGS)('of %j that never end', (opening) => {
    expectUnknown(`${opening.repeat(levels + 1)}rm x`)
  })

  it.each([
    ['$(', ')'],
    ['(', ')'],
    ['"$(', ')"'],
    ['${x:-', '}'],
    ['$((1+', '))'],
    ['<(', ')'],
    ['{ ', '; }'],
    ['$[1+', ']'],
  ])('of %j that end', (opening, closing) => {
    expectUnknown(`a ${opening.repeat(levels)}rm x${closing.repeat(levels)}`)
  })
})

it('scripts in scripts are not read forever', () => {
  let text = 'rm x'
  for (let i = 0; i < 10; i++) text = `eval '${text.replaceAll("'", "'\\''")}' '; ${'x'.repeat(100)}'`
  readShell(text)
  expect(parsed()).toBeLessThanOrEqual(8 * LONGEST)
})

it.each([
  'echo "',
  "echo '",
  'echo `',
  'echo $(',
  'echo ${',
  "echo $'",
  'echo $"',
  'echo "$(echo "',
  "bash -c 'echo \"'",
  'if true',
  'case x in',
  '<<',
  'a <<<',
])('what has no end, %j, may be anything', expectUnknown)

it.each(['\0', 'a\0', 'echo "\0"', "eval 'a\0'"])('a NUL, %j, may be anything', expectUnknown)

it.each(['\ud800', 'echo \udfff', '"\ud800" x', '\ud800; git', '\u2028git', '\ufeffgit'])(
  'text that is no Unicode, %j, is read all the same',
  (text) => {
    const { commands, unknown } = readShell(text)
    expect(unknown || commands.length > 0).toBe(true)
  },
)

it('plain words are read without the parser, with the same result', () => {
  const word = fc.stringMatching(/^[\w./:@%+,=-]{1,6}$/)
  const special = ['if', 'then', 'fi', 'time', 'sudo', 'a=1', 'coproc', 'for', 'in', 'do', 'done', 'unset']
  const first = fc.oneof(word, fc.constantFrom(...special, 'x/env', 'bash', 'git'))
  const command = fc
    .tuple(first, fc.array(word, { maxLength: 4 }))
    .map(([name, rest]) => [name, ...rest].join(' '))
  const between = fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', ';', '|', ' ; ', ' |& ', '\n')
  const list = fc.array(fc.tuple(command, between), { maxLength: 3 }).map((parts) => parts.flat().join(''))
  const shown = ({ commands, ...reading }: ShellReading) => ({
    ...reading,
    commands: commands.map(({ name, program, words, shapes, dynamic, shape, source, isBare }) => ({
      ...{ name, program, words, shapes, dynamic, shape, source, isBare },
    })),
  })
  fc.assert(
    fc.property(list, command, (before, last) => {
      const text = before + last
      // A listener avoids the short cut.
      expect(shown(readShell(text))).toEqual(shown(readShell(text, () => {})))
    }),
    { numRuns: runs(2000) },
  )
})

it('a list of plain commands needs no parser', () => {
  const { commands } = readShell('cd src && ls -la | head -5; git status || true')
  expect(commands.map(({ source }) => source)).toEqual(['cd src', 'ls -la', 'head -5', 'git status', 'true'])
  expect(parsed()).toBe(0)
})

it('a long list of plain commands is read in full, as the parser would', () => {
  const text = Array.from({ length: 2000 }, (_, i) => `a${i % 10}`).join('; ')
  expect(readShell(text).commands).toHaveLength(2000)
  expect(readShell(text, () => {}).commands).toHaveLength(2000)
})
