import { describe, expect, it } from 'vitest'
import { brokenLine } from '../../src/pack/settings-reader.js'

describe('the line in which a text stops being JSON', () => {
  it.each([
    ['a comma that is missing', '{\n"a": 1\n"b": 2\n}', 3],
    ['one too many', '{\n"a": [1,\n\n]}', 4],
    ['one before the end of an object', '{"a": 1,\n}', 2],
    ['a comment', '{\n// why\n"a": 1}', 2],
    ['single quotes', "{\n'a': 1}", 2],
    ['a key without quotes', '{"a": {},\n\n b: 1}', 3],
    ['a text without its end', '{"a": 1,\n"b": "x\n}', 2],
    ['a bad escape', '{"a": 1,\n"b": "\\x"}', 2],
    ['the wrong bracket', '{"a": [\n1\n}', 3],
    ['an end that is missing', '{"a": [\n1\n', 3],
    ['something after the end', '{}\n\n{}', 3],
    ['no colon', '{"a"\n1}', 2],
    ['a comma at the top', '1\n,2', 2],
    ['a number of another language', '{"a":\n01}', 2],
  ])('%s', (_, text, line) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(brokenLine(text)).toBe(line)
  })

  it('is the last one of a text that is JSON, and found at once in a long one', () => {
    const value = { a: [], b: {}, c: [1, -2.5e3, 'x"\\\u0001', [true, false, null]], d: { e: { f: '' } } }
    const text = JSON.stringify(value, null, 2)
    expect(brokenLine(text)).toBe(text.split('\n').length)
    expect(brokenLine(`["${'x'.repeat(250_000)}",\n${'['.repeat(100_000)}\n}`)).toBe(3)
  })
})
