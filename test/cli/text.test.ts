import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cutTo, fitted } from '../../src/cli/print/fit.js'
import { columns, counted, fromHere, labelled } from '../../src/cli/print/lines.js'
import { nearMiss } from '../../src/cli/why/matching.js'
import { didYouMean, nearest } from '../../src/core/base/text.js'
import { shellQuoted } from '../../src/effects/shell/shell-quoted.js'

describe('what was meant', () => {
  const WORDS = ['list', 'explain', 'fire', 'trust-all', 'PreToolUse']

  it.each([
    ['lst', 'list'],
    ['lsit', 'list'],
    ['exlpain', 'explain'],
    ['trustall', 'trust-all'],
    ['pre_tool_use', 'PreToolUse'],
    ['PreTolUse', 'PreToolUse'],
  ])('%s is %s', (word, meant) => {
    expect(nearest(word, WORDS)).toBe(meant)
  })

  it.each(['', 'x', 'frobnicate', 'PostCompact', 'y'.repeat(100_000)])('%.20s is nothing', (word) => {
    expect(nearest(word, WORDS)).toBeUndefined()
  })

  it('is said only where there is a guess', () => {
    expect(didYouMean('jsn', ['json'], '--')).toBe('; did you mean --json?')
    expect(didYouMean('zzz', ['json'], '--')).toBe('')
    expect(didYouMean('gard', ['gu\u001bard'])).toBe('; did you mean "gu⟨U+001B⟩ard"?')
  })
})

describe('matchers that nearly match', () => {
  it.each([
    ['Bash', 'bash'],
    ['Write|Edit', 'edit'],
    ['^mcp__.*$', 'MCP__x'],
    ['Edit', 'MultiEdit'],
    ['MultiEdit', 'Edit'],
    ['Wirte', 'Write'],
  ])('%s and %s', (pattern, value) => {
    expect(nearMiss(pattern, value)).toEqual(expect.any(String))
  })

  it.each([
    ['Bash', 'Write'],
    ['Bash', ''],
    ['\\W+', 'abc'],
    ['(', 'abc'],
    ['^Notebook', 'Bash'],
  ])('not %s and %s', (pattern, value) => {
    expect(nearMiss(pattern, value)).toBeUndefined()
  })

  it('a pattern that runs away does not', () => {
    expect(nearMiss('^(A+)+$', `${'a'.repeat(200)}!`)).toBeUndefined()
  })
})

describe('lines', () => {
  const plain = (text: string) => text

  it('break at spaces, and are indented after the first', () => {
    expect(labelled('note x', 'one two three four', plain, 0, 16)).toEqual(['note x one two', '  three four'])
  })

  it('break a long word where the line is full, a path behind a slash', () => {
    expect(labelled('n', `a ${'p'.repeat(30)} b`, plain, 2, 20)).toEqual([
      '  n a',
      `    ${'p'.repeat(16)}`,
      `    ${'p'.repeat(14)} b`,
    ])
    expect(labelled('n', '/home/somebody/project', plain, 0, 16)).toEqual([
      'n',
      '  /home/',
      '  somebody/',
      '  project',
    ])
  })

  it('count what is wide as two, and colours as nothing', () => {
    expect(fitted(['  \x1b[2m漢字漢字漢字\x1b[22m  end'], 12)).toEqual([
      '  \x1b[2m漢字漢字漢',
      '    字\x1b[22m  end',
    ])
    expect(fitted(['\x1b[36mlong-name\x1b[39m  place'], 9)).toEqual(['\x1b[36mlong-name\x1b[39m', '  place'])
    expect(cutTo('漢字漢字', 6)).toBe('漢字…')
  })

  it('stay whole where nobody looks at a terminal', () => {
    const long = 'x '.repeat(500)
    expect(fitted([long])).toEqual([long])
  })

  it('keep the lines that a text has', () => {
    expect(labelled('n', 'a\nb', plain, 0, 80)).toEqual(['n a', '  b'])
  })

  it('columns are as wide as their widest cell, the last as it is', () => {
    expect(
      columns([
        ['a', 'b', 'c'],
        ['aaa', '', 'cc'],
      ]),
    ).toEqual([
      ['a  ', 'b', 'c'],
      ['aaa', ' ', 'cc'],
    ])
    expect(
      columns([
        ['漢字', 'b'],
        ['a', 'b'],
        ['e\u0301', 'b'],
      ]),
    ).toEqual([
      ['漢字', 'b'],
      ['a   ', 'b'],
      ['e\u0301   ', 'b'],
    ])
  })

  it('count', () => {
    expect([counted(1, 'hook'), counted(2, 'hook')]).toEqual(['1 hook', '2 hooks'])
  })
})

it('a file is no option of what is typed', () => {
  expect([fromHere(resolve('-x.sh')), fromHere(resolve('a/-x.sh')), fromHere(resolve('.'))]).toEqual([
    './-x.sh',
    'a/-x.sh',
    '.',
  ])
})

it('words for a shell stay what they are', () => {
  expect(['a/b.json', 'a b', "it's", '$(x)', ''].map(shellQuoted)).toEqual([
    'a/b.json',
    "'a b'",
    `'it'\\''s'`,
    "'$(x)'",
    "''",
  ])
})
