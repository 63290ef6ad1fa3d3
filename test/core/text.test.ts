import { describe, expect, it } from 'vitest'
import { byteLength, cleanText, cutText, plainText } from '../../src/core/base/text.js'

describe('plainText, for a terminal', () => {
  it.each([
    ['plain text', 'plain text'],
    ['tab\tand\nnewline', 'tab\tand\nnewline'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b[1;38;5;200mcolour\u001b[K', 'colour'],
    ['\u009b31mred', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u009d0;title\u0007text', 'text'],
    ['\u001bPdevice\u001b\\text', 'text'],
    ['\u001b_program\u001b\\text', 'text'],
    ['safe\roverwritten', 'safeoverwritten'],
    ['bell\u0007, backspace\u0008, null\u0000, delete\u007f', 'bell, backspace, null, delete'],
    ['c1\u0085\u0090', 'c1'],
    ['\u202egnp.exe\u202c', 'gnp.exe'],
    ['\u2066isolated\u2069 \u200eleft\u200fright', 'isolated leftright'],
    ['lone \ud800 surrogate', 'lone  surrogate'],
    ['emoji 😀, accents é, 漢字', 'emoji 😀, accents é, 漢字'],
  ])('%j becomes %j', (text, expected) => {
    expect(plainText(text)).toBe(expected)
  })

  it('leaves no escape behind when one hides in another', () => {
    expect(plainText('\u001b\u001b[31m[31mred')).not.toContain('\u001b')
    expect(plainText('\u001b[\u001b[0m31mred')).not.toContain('\u001b')
  })
})

describe('cleanText, for a model', () => {
  it.each([
    ['tab\tnewline\nreturn\r', 'tab\tnewline\nreturn\r'],
    ['null\u0000escape\u001bdelete\u007f', 'nullescapedelete'],
    ['c1\u009b', 'c1'],
    ['lone \udc00', 'lone '],
    ['whole 😀', 'whole 😀'],
  ])('%j becomes %j', (text, expected) => {
    expect(cleanText(text)).toBe(expected)
  })
})

describe('cutText', () => {
  it.each([
    ['abcdef', 4, '!', 'abc!'],
    ['ééé', 5, '!', 'éé!'],
    ['ééé', 4, '!', 'é!'],
    ['😀😀', 6, '!', '😀!'],
    ['😀', 4, '!', '!'],
    ['漢字漢字', 9, '', '漢字漢'],
  ])('%j to %d bytes with %j is %j', (text, limit, marker, expected) => {
    expect(cutText(text, limit, marker)).toBe(expected)
  })

  it.each([
    ['text', 3, '[cut]'],
    ['text', 0, '[cut]'],
    ['text', 2, '…'],
    ['text', 4, '……'],
  ])('%j keeps to %d bytes even where the marker %j does not fit', (text, limit, marker) => {
    expect(byteLength(cutText(text, limit, marker))).toBeLessThanOrEqual(limit)
  })
})

describe('byteLength', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 2],
    ['漢', 3],
    ['😀', 4],
  ])('of %j is %d', (text, bytes) => {
    expect(byteLength(text)).toBe(bytes)
  })
})

it('reads a row of introducers once, not once for each', () => {
  const row = String.fromCodePoint(0x9d).repeat(500_000)
  expect(plainText(`a${row}b`)).toBe('ab')
})
