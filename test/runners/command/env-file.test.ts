import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEnvFile } from '../../../src/runners/command/env-file.js'

const read = (text: string) => readEnvFile(text, (name) => ({ PATH: '/bin', HOME: '/root' })[name]).variables

describe('an environment file', () => {
  it.each<[string, string, Record<string, string>]>([
    ['a plain line', 'A=1', { A: '1' }],
    ['export', 'export A=1', { A: '1' }],
    ['several lines, the last of a name counts', 'A=1\nB=2\nA=3\n', { A: '3', B: '2' }],
    ['comments and empty lines', '# A=1\n\n  # x\nB=2 # said\n', { B: '2' }],
    ['single quotes, in which nothing is special', `A='x $PATH \\ # "y"'`, { A: 'x $PATH \\ # "y"' }],
    ['double quotes', 'A="x y # z"', { A: 'x y # z' }],
    ['what is escaped in them', 'A="a \\"b\\" \\$PATH \\\\"', { A: 'a "b" $PATH \\' }],
    ['lines in quotes', "A='one\ntwo'\nB=2", { A: 'one\ntwo', B: '2' }],
    ['pieces side by side', `A=x'y z'"w"`, { A: 'xy zw' }],
    ['an empty value', 'A=\nB=""', { A: '', B: '' }],
    [
      'variables',
      `export PATH="$PATH:/opt/bin"\nA=\${HOME}/x\nB=$A/y`,
      { PATH: '/bin:/opt/bin', A: '/root/x', B: '/root/x/y' },
    ],
    ['a variable that nobody set', 'A=[$NOBODY]', { A: '[]' }],
    ['Windows line ends', 'A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['an equals sign in the value', 'A=b=c', { A: 'b=c' }],
    ['indented lines', '  export A=1', { A: '1' }],
  ])('understands %s', (_what, text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it.each([
    'A=$(touch pwned)',
    'A=`touch pwned`',
    'touch pwned',
    'A=1; touch pwned',
    'A=1 touch pwned',
    'A="$(id)"',
    '1A=x',
    'A B=1',
  ])('skips what only a shell could understand: %s', (line) => {
    const { variables, skipped } = readEnvFile(`${line}\nB=2\n`, () => undefined)
    expect([variables, skipped]).toEqual([{ B: '2' }, [line]])
  })

  it('never throws, and never hangs', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => void read(text)))
    read(`A="${'\\'.repeat(50_000)}`)
    read(`A=${"''".repeat(20_000)}x y`)
    read(`A='${'x\n'.repeat(30_000)}`)
    read('"\n'.repeat(30_001))
  })
})
