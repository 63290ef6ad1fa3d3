// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell reads it

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEnvFile } from '../../../src/runners/command/handed-on.js'

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
    ['what `export -p` prints in bash', 'declare -x A="1"\ntypeset -x B=2', { A: '1', B: '2' }],
    ['what bash prints of several lines', `A=$'it\\'s\\n\\ttwo\\\\'\nB=2`, { A: "it's\n\ttwo\\", B: '2' }],
    ['a dollar that names nothing', `A=5$\nB="$'x'"\nC=$`, { A: '5$', B: `$'x'`, C: '$' }],
    [
      'the home folder',
      'PATH=~/bin:$PATH:~\nA=x~/y:"~/z"\nB=~\nC=~"x"',
      { PATH: '/root/bin:/bin:/root', A: 'x~/y:~/z', B: '/root', C: '~x' },
    ],
    ['a command that is escaped', 'A="\\$(id) \\`id\\`"\nB=\\$HOME', { A: '$(id) `id`', B: '$HOME' }],
    ['a hash inside a word', 'A=http://x/#y\nB=1#2 # 3', { A: 'http://x/#y', B: '1#2' }],
    [
      'a name that objects have',
      '__proto__=1\nconstructor=2\ntoString=3',
      JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}'),
    ],
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
    `A="it's $(id), isn't it"`,
    'A="`id`"',
    `A=$'\\x41'`,
    'declare -a A=(1)',
    'A=<(id)',
    'A="${B:-x}"',
    'A=$?',
    'A="$1"',
    `A=x#y'z`,
    'A=x#y z',
    'A=$((1 + 1))',
    'A="a\0b"',
    "A='a\0b'",
    '1A=x',
    'A B=1',
  ])('skips what only a shell could understand: %s', (line) => {
    const { variables, skipped } = readEnvFile(`${line}\nB=2\n`, () => undefined)
    expect([variables, skipped]).toEqual([{ B: '2' }, [line]])
  })

  it('accepts at most 64 KiB of values, so that doubling values stop there', () => {
    const doubling = `A=${'x'.repeat(1000)}\n${'A=$A$A\n'.repeat(30)}B=2\n`
    const { variables, skipped } = readEnvFile(doubling, () => undefined)
    expect(variables).toEqual({ A: 'x'.repeat(32_000), B: '2' })
    expect(skipped).toHaveLength(25)
    const wide = readEnvFile(`A=${'€'.repeat(10_000)}\nB=$A$A\nC=3\n`, () => undefined)
    expect([Object.keys(wide.variables), wide.skipped]).toEqual([['A', 'C'], ['B=$A$A']])
  })

  it('writes nothing out that would be too long', () => {
    const asked: string[] = []
    const { skipped } = readEnvFile(`A=${'x'.repeat(30_000)}\nB=${'$A'.repeat(20_000)}\nC=3\n`, (name) => {
      asked.push(name)
      return undefined
    })
    expect([skipped.length, asked]).toEqual([1, []]) // more than a string can hold
  })

  it('never throws, and never hangs', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => void read(text)))
    read(`A="${'\\'.repeat(50_000)}`)
    read(`A=${"''".repeat(20_000)}x y`)
    read(`A='${'x\n'.repeat(30_000)}`)
    read('"\n'.repeat(30_001))
    read(`A=$'${'\\n'.repeat(30_000)}`)
    read(`A=${'$'.repeat(60_000)}'`)
    read(`A=${"$''".repeat(20_000)}x y`)
    read(`A=${'~:'.repeat(30_000)}`)
  })
})
