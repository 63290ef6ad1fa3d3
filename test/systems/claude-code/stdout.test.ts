// The first line of an asynchronous hook: its form, the time it asks for, and the output after it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterAsyncLine, asyncTimeout, isAsyncLine } from '../../../src/systems/claude-code/stdout.js'

const LINE = '{"async": true}'

describe('an async line', () => {
  it.each([
    ['as the reference writes it', '{"async": true, "asyncTimeout": 60000}'],
    ['without spaces', '{"async":true}'],
    ['with spaces around it', '  {"async": true}\t'],
    ['with the end of a Windows line', '{"async": true}\r'],
    ['behind a byte order mark', `\uFEFF${LINE}`],
    ['with keys of its own', '{"x": {"async": false}, "async": true}'],
    ['whose last value of a doubled key is true', '{"async": false, "async": true}'],
  ])('is one %s', (_what, line) => {
    expect(isAsyncLine(line)).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['text', 'async'],
    ['false', '{"async": false}'],
    ['a word that only looks true', '{"async": "true"}'],
    ['a number', '{"async": 1}'],
    ['nothing in it', '{"async": null}'],
    ['deeper inside', '{"hookSpecificOutput": {"async": true}}'],
    ['a text that mentions it', '{"reason": "\\"async\\": true"}'],
    ['a list', '[{"async": true}]'],
    ['half of it', '{"async": tru'],
    ['more behind it', '{"async": true} and more'],
    ['two of them', '{"async": true}{"async": true}'],
    ['no quotes', '{async: true}'],
    ['a word that closes beside it (H1)', '{"decision": "block", "async": true}'],
    ['one that a later key hides (H1)', '{"decision": "block", "decision": "", "async": true}'],
    ['one in its own place (H1)', '{"async": true, "hookSpecificOutput": {"permissionDecision": "deny"}}'],
  ])('is none with %s', (_what, line) => {
    expect(isAsyncLine(line)).toBe(false)
  })

  it('says in milliseconds how long it may take', () => {
    expect(asyncTimeout('{"async": true, "asyncTimeout": 1500.5}')).toBe(1500.5)
  })

  it.each(['0', '-1', '"60000"', 'null', 'true', '[5]', '{}'])(
    'says nothing about time with the time-out %s',
    (wanted) => {
      expect(asyncTimeout(`{"async": true, "asyncTimeout": ${wanted}}`)).toBeUndefined()
    },
  )

  it('says nothing about time where it is no such line', () => {
    expect(asyncTimeout('{"asyncTimeout": 5}')).toBeUndefined()
  })
})

describe('what comes after it', () => {
  it.each([
    ['is the answer', `${LINE}\n{"systemMessage": "done"}\n`, '{"systemMessage": "done"}\n'],
    ['may be text', `${LINE}\nplain text`, 'plain text'],
    ['may be more lines', `${LINE}\n{\n"a": 1}\n`, '{\n"a": 1}\n'],
    ['is not read behind an empty line', `\n${LINE}\r\n{}`, `\n${LINE}\r\n{}`],
    ['may be such a line again', `${LINE}\n${LINE}`, LINE],
  ])('%s', (_what, stdout, rest) => {
    expect(afterAsyncLine(stdout)).toBe(rest)
  })

  it.each([
    ['that line is all', LINE],
    ['only empty lines follow', `${LINE}\n \n\n`],
    ['the first line is another', `{"systemMessage": "x"}\n${LINE}`],
    ['there is no line', ''],
    ['it spans lines', '{\n"async": true}\n{}'],
  ])('is everything where %s', (_what, stdout) => {
    expect(afterAsyncLine(stdout)).toBe(stdout)
  })

  it('is the end of what was printed, whatever that is', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(LINE, `${LINE}\n`, '\n', '{"async"'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const stdout = before + after
        expect(stdout.endsWith(afterAsyncLine(stdout))).toBe(true)
      }),
    )
  })
})
