// What somebody types: keys become a line, and a line becomes an answer or none.

import { describe, expect, it } from 'vitest'
import { TypedLine, typedAnswer } from '../../src/asking/typed.js'
import { madeQuestion } from './made-question.js'

function keys(...chunks: readonly (string | Buffer)[]) {
  const line = new TypedLine()
  const typed = chunks.map((chunk) => line.feed(Buffer.from(chunk as string)))
  return { typed: typed.at(-1), text: line.text }
}

describe('keys', () => {
  it.each([
    ['1\r', 'line', '1'],
    ['1\n', 'line', '1'],
    ['1\r\n', 'line', '1'],
    ['\r', 'line', ''],
    ['allow', 'part', 'allow'],
    ['allow\rx', 'lines', 'allow'],
    ['\r\r', 'lines', ''],
    ['1\u0003', 'left', '1'],
    ['1\u0004\r', 'left', '1'],
    ['1\u007f\u00082', 'part', '2'],
    ['\u007f2', 'part', '2'],
    ['allow now\u0015no', 'part', 'no'],
    ['deny not  now \u0017then', 'part', 'deny not  then'],
    ['a\u001b[Db\u001bOCc\u001bxd\u001b[1;5De', 'part', 'abcde'],
    ['a\u0000\u0007\tb', 'part', 'ab'],
  ])('%j', (chunk, typed, text) => {
    expect(keys(chunk)).toEqual({ typed, text })
    // Key by key it is the same, but for what only comes at a stroke when it is pasted.
    if (typed === 'part') expect(keys(...Array.from(chunk))).toEqual({ typed, text })
  })

  it('of more than one byte may come in parts', () => {
    const bytes = Buffer.from('ü中😀')
    expect(keys(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual({ typed: 'part', text: 'ü中😀' })
    expect(keys('ü中😀\u007f').text).toBe('ü中')
  })

  it('come to an end', () => {
    expect(keys('x'.repeat(100_000)).text).toHaveLength(2000)
  })
})

describe('a line', () => {
  const plain = madeQuestion()
  const many = madeQuestion({
    answer: { approvalOptions: ['Allow', 'Allow always', 'Deny', 'Deny for good', 'Edit it'] },
  })

  it.each([
    ['1', { option: 'Allow' }],
    [' 2 ', { option: 'Deny' }],
    ['a', { option: 'Allow' }],
    ['ALLOW', { option: 'Allow' }],
    ['d', { option: 'Deny' }],
    ['2 not  this one', { option: 'Deny', reason: 'not  this one' }],
    ['d not this one', { option: 'Deny', reason: 'not this one' }],
    ['deny 1', { option: 'Deny', reason: '1' }],
    ['', undefined],
    ['  ', undefined],
    ['0', { problem: expect.stringContaining('not one of the answers') }],
    ['3', { problem: expect.stringContaining('not one of the answers') }],
    ['-1', { problem: expect.stringContaining('not one of the answers') }],
    ['1.0', { problem: expect.stringContaining('not one of the answers') }],
    ['y', { problem: expect.stringContaining('not one of the answers') }],
    ['allowed', { problem: expect.stringContaining('not one of the answers') }],
    ['no allow', { problem: expect.stringContaining('not one of the answers') }],
    ['1 2', { problem: expect.stringContaining('nothing can be added') }],
    ['a no wait', { problem: expect.stringContaining('nothing can be added') }],
  ])('%j', (line, expected) => {
    expect(typedAnswer(plain, line)).toEqual(expected)
  })

  it.each([
    ['allow', { option: 'Allow' }],
    ['allow a', { option: 'Allow always' }],
    ['2', { option: 'Allow always' }],
    ['deny', { option: 'Deny' }],
    ['deny for good', { option: 'Deny for good' }],
    ['deny for now', { option: 'Deny', reason: 'for now' }],
    ['4 for good', { option: 'Deny for good', reason: 'for good' }],
    ['e', { option: 'Edit it' }],
    ['a', { problem: expect.stringContaining('several answers') }],
    ['d', { problem: expect.stringContaining('several answers') }],
    ['d because', { problem: expect.stringContaining('not one of the answers') }],
  ])('%j, where options begin alike', (line, expected) => {
    expect(typedAnswer(many, line)).toEqual(expected)
  })
})
