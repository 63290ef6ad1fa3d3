// What a person reads before they decide.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callText, lookalikes, questionText } from '../../src/asking/question-text.js'
import type { Data } from '../../src/core/base/json.js'
import { columnsOf, endOf, folded } from '../../src/core/base/text.js'
import type { Question } from '../../src/core/hooks/outcome.js'
import { madeQuestion } from './made-question.js'

const bash = (command: string): Data => ({ tool_name: 'Bash', tool_input: { command } })
const textOf = (call: Data) => callText(call).join('\n')

/** What must never reach a terminal, or a reader. */
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\u00a0\u3164]/u

/** OSC 52 (clipboard), OSC 8 (link), CSI, C1, a carriage return that overwrites, bidi, zero-width, tags, a tab, a bell. */
const HOSTILE = [
  '\u001b]52;c;cm0gLXJmIC8=\u0007',
  '\u001b]8;;https://evil.example\u001b\\safe\u001b]8;;\u001b\\',
  '\u001b[2J\u001b[1A',
  '\u009b31m',
  'rm -rf /\rls      ',
  'a\u202egnp.exe',
  'a\u2066b\u2069\u200f\u061c',
  'a\u200bb\u200cc\u200d\u2060\ufeff\u00ad',
  '\u{e0041}\u3164',
  'a\tb\u0007\u0000\u007f',
  '\ud800',
  'a\u2028b\u2029c\u0085d',
]

describe('a call', () => {
  it('is shown field by field, strings as they are', () => {
    const call = {
      tool_name: 'Edit',
      tool_input: {
        file_path: '/a b',
        edits: [{ old: 'x', new: 'y\n  z' }],
        count: 5,
        text: '5',
        on: true,
        none: null,
        list: [],
        empty: '',
      },
    }
    expect(textOf(call)).toBe(`  │ tool: Edit
  │ file_path:
  │   │ /a b
  │ edits[0].old:
  │   │ x
  │ edits[0].new:
  │   │ y
  │   │   z
  │ count: 5
  │ text:
  │   │ 5
  │ on: true
  │ none: null
  │ list: []
  │ empty:
  │   │ `)
  })

  it('of another event is shown as well', () => {
    expect(textOf({ prompt: 'do it' })).toBe('  │ prompt:\n  │   │ do it')
    expect(textOf({ tool_name: 'Bash', tool_input: null })).toBe('  │ tool: Bash\n  │ null')
  })

  it.each(HOSTILE)('shows %j for what it is', (text) => {
    for (const call of [
      bash(text),
      { tool_name: text, tool_input: {} },
      { tool_name: 'T', tool_input: { [text]: 1, deep: [{ [text]: text }] } },
    ]) {
      expect(textOf(call)).not.toMatch(HIDDEN)
      expect(textOf(call)).toContain('⟨U+')
    }
  })

  it('has no line that begins like one of ours', () => {
    const claims = 'Answers\n  1 allows  │ Deny\nApproval needed\n  ⋯ 3 more lines\n  ! careful'
    const call = { tool_name: claims, tool_input: { [claims]: claims, command: claims } }
    for (const line of callText(call)) expect(line).toMatch(/^ {2}[│┆] /)
  })

  it('two calls never look the same, and no line is too wide', () => {
    const data = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 3 })
    const call = fc.record({ tool_name: fc.string({ unit: 'binary', minLength: 1 }), tool_input: data })
    fc.assert(
      fc.property(call, call, fc.integer({ min: 30, max: 100 }), (a, b, columns) => {
        const lines = callText(a as Data, { columns, lines: 10_000 })
        const other = callText(b as Data, { columns, lines: 10_000 })
        expect(lines.join('\n') === other.join('\n')).toBe(JSON.stringify(a) === JSON.stringify(b))
        expect(lines.join('\n')).not.toMatch(HIDDEN)
        expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(columns)
      }),
    )
  })

  it('that is long lacks its middle and shows its end', () => {
    const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}`)
    const shown = callText(bash([...lines, 'rm -rf /'].join('\n')))
    expect(shown).toHaveLength(63)
    expect(shown).toContain('  │   │ line 0')
    expect(shown).toContain('  │   ⋯ 941 more lines (8399 bytes)')
    expect(shown.at(-1)).toBe('  │   │ rm -rf /')
  })

  it('with a long line lacks its middle and shows its end', () => {
    const shown = callText(bash(`echo ${'x'.repeat(10_000)}; rm -rf /`), { columns: 1000 })
    expect(shown.slice(3, -2)).toEqual([`  │   ┆ ${'x'.repeat(10)}`, '  │   ⋯ 8015 more bytes'])
    expect(shown.at(-2)).toMatch(/^ {2}│ {3}┆ x+$/)
    expect(shown.at(-1)).toBe('  │   ┆ ; rm -rf /')
  })

  it('has names that are cut as well, and cannot say so themselves', () => {
    const call = (key: string) => ({ tool_name: 'T', tool_input: { [key]: 1 } })
    expect(textOf(call(`a${' b'.repeat(2000)}`)).replace(/\n {2}┆ /g, '')).toContain('⟨2001 more bytes⟩')
    expect(textOf(call('⟨2001 more bytes⟩'))).toContain('"⟨U+27E8⟩2001 more bytes⟩": 1')
  })

  it('with many fields shows the first and the last, each with its end', () => {
    const text = Array.from({ length: 50 }, (_, i) => `${i}`).join('\n')
    const tool_input = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, `${text} of ${i}`]))
    const shown = callText({ tool_name: 'T', tool_input })
    expect(shown).toContain('  │ f0:')
    expect(shown).toContain('  │   │ 49 of 0')
    expect(shown).toContain('  ⋯ 440 more fields')
    expect(shown.at(-1)).toBe('  │   │ 49 of 499')
    expect(shown.length).toBeLessThan(500)
  })

  it('hides nothing behind blanks', () => {
    expect(textOf(bash(`ls${' '.repeat(500)}; rm -rf /  `))).toContain('ls⟨500 blanks⟩; rm -rf /⟨2 blanks⟩')
    expect(textOf(bash('ls '))).toContain('ls⟨1 blank⟩')
  })

  it('is folded behind a mark of its own, wide letters counted', () => {
    const shown = callText(bash('中'.repeat(40)), { columns: 50 })
    expect(shown.slice(2)).toEqual([`  │   │ ${'中'.repeat(20)}`, `  │   ┆ ${'中'.repeat(20)}`])
  })
})

describe('letters that look like others', () => {
  it.each([
    ['curl https://p\u0430ypal.com', ['p⟨U+0430⟩ypal']],
    ['\u0430\u0440\u0440\u04cf\u0435.com', ['⟨U+0430⟩⟨U+0440⟩⟨U+0440⟩⟨U+04CF⟩⟨U+0435⟩']],
    ['r\u03bfot p\u0430ss r\u03bfot', ['r⟨U+03BF⟩ot', 'p⟨U+0430⟩ss']],
    ['plain words', []],
    ['слово and words', []],
    ['отчёт.txt файл-file λ=1', []],
    ['größe naïve', []],
  ])('%j', (text, expected) => {
    expect(lookalikes([text])).toEqual(expected)
  })

  it('are warned of wherever they stand', () => {
    const warning = '  ! contains look-alike letters: p⟨U+0430⟩y'
    expect(callText({ tool_name: 'p\u0430y', tool_input: {} })).toContain(warning)
    expect(callText({ tool_name: 'T', tool_input: { deep: [{ 'p\u0430y': 1 }] } })).toContain(warning)
    for (const made of [{ prompt: 'p\u0430y' }, { hook: 'p\u0430y' }, { answer: { reason: 'p\u0430y' } }])
      expect(questionText(madeQuestion(made))).toContain(warning)
  })
})

describe('a question', () => {
  it('says what each answer does, whatever it is called', () => {
    const approvalOptions = ['Allow', 'Allow always', 'Yes, allow', 'denies │ Deny']
    const shown = questionText(madeQuestion({ answer: { approvalOptions } }))
    expect(shown.slice(shown.indexOf('Answers'))).toEqual([
      'Answers',
      '  1 allows  │ Allow',
      '  2 always  │ Allow always',
      '  3 denies  │ Yes, allow',
      '  4 denies  │ denies │ Deny',
      '  5 denies  │ Deny',
    ])
  })

  it('A2: shows the agent and everything else beside the input that an answer is bound to', () => {
    const call = { ...bash('ls'), agent_id: 'a\nAnswers', mcp_server: { name: 'x' }, tool_use_id: 't1' }
    const shown = questionText(madeQuestion({ call }))
    expect(shown).toContain('  │ agent_id: "a⟨U+000A⟩Answers"')
    expect(shown).toContain('  │ mcp_server: {"name":"x"}')
    expect(shown.join()).not.toContain('t1')
  })

  it.each(HOSTILE)('shows %j for what it is, in every part', (text) => {
    const question: Question = {
      ...madeQuestion(),
      event: text,
      session: text,
      asks: [{ hook: text, prompt: text, reason: `${text}!` }],
      options: [`Allow ${text}`, 'Deny'],
      call: bash(text),
    }
    const shown = questionText(question).join('\n')
    expect(shown).not.toMatch(HIDDEN)
    expect(shown.match(/⟨U\+/g)?.length).toBeGreaterThanOrEqual(7)
  })

  it('has no line at the left edge that is not ours', () => {
    const claim = `Answers\n  1 denies  │ Allow ${'x'.repeat(200)} Approved.`
    const question: Question = {
      ...madeQuestion(),
      event: claim,
      session: claim,
      asks: Array.from({ length: 30 }, () => ({ hook: claim, prompt: claim, reason: claim })),
      options: [`Allow ${claim}`, 'Deny'],
      call: bash(claim),
    }
    const shown = questionText(question, { columns: 50 })
    const ours = ['Approval needed', 'Asked by', 'The call', 'Answers']
    expect(shown.filter((line) => /^\S/.test(line))).toEqual(ours)
    expect(shown).toContain('  ⋯ 10 more hooks')
    expect(shown.filter((line) => /^ {2}\d /.test(line))).toHaveLength(2)
    for (const line of shown) expect(line.length).toBeLessThanOrEqual(50)
  })
})

describe('columns', () => {
  it('are counted', () => {
    expect([columnsOf('abc'), columnsOf('größe'), columnsOf('中文'), columnsOf('😀')]).toEqual([3, 5, 4, 2])
  })

  it('are full and no fuller', () => {
    expect(folded('abcdefghijklmnopqrstuvwxyz', 20)).toEqual(['abcdefghijklmnopqrst', 'uvwxyz'])
    expect(folded(`${'a'.repeat(19)}中`, 20)).toEqual(['a'.repeat(19), '中'])
    expect(folded('', 20)).toEqual([''])
  })

  it('show the end of what has no room', () => {
    expect(endOf('abcdef', 3)).toBe('def')
    expect(endOf('ab中', 3)).toBe('b中')
    expect(endOf('abc', 10)).toBe('abc')
    expect(endOf('abc', 0)).toBe('')
  })
})
