// What is kept of standard error.

import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { StderrLines } from '../../../src/runners/process/child-pipes.js'

let stream: PassThrough
let lines: StderrLines

beforeEach(() => {
  stream = new PassThrough()
  lines = new StderrLines(stream)
})

async function write(...chunks: readonly (string | Buffer)[]): Promise<void> {
  for (const chunk of chunks) {
    stream.write(chunk)
    await setImmediate()
  }
}

describe('the last lines', () => {
  test('are whole, in any pieces, without empty ones', async () => {
    const text = Buffer.from('één\n\ntwo\r\n')
    await write(text.subarray(0, 1), text.subarray(1, 2), text.subarray(2), 'thr', 'ee\nfour')
    expect(lines.last(9)).toEqual(['één', 'two', 'three'])
    stream.end()
    await setImmediate()
    expect(lines.last(2)).toEqual(['three', 'four'])
  })

  test('are fit for a terminal', async () => {
    await write('\u001b[31mred\u001b[0m\u0007\n')
    expect(lines.last(1)).toEqual(['red'])
  })

  test('are at most 64', async () => {
    await write(Array.from({ length: 100 }, (_, i) => `${i}\n`).join(''))
    expect(lines.last(1000)).toEqual(Array.from({ length: 64 }, (_, i) => `${i + 36}`))
  })

  test('take at most 4 KiB, and one without an end leaves room for the others', async () => {
    await write('first\n', 'x'.repeat(1e6), 'x'.repeat(1e6), '\nlast\n')
    expect(lines.last(9)).toEqual(['first', expect.stringMatching(/^x{1000,1021}…$/), 'last'])
    for (let i = 0; i < 9; i++) await write(`${'y'.repeat(1000)}\n`)
    expect(lines.last(9).join('').length).toBe(4000)
  })

  test('are new once', async () => {
    await write('before\n')
    expect(lines.takeNew()).toBe('before')
    expect(lines.takeNew()).toBe('')
    await write('one\ntwo\n')
    expect(lines.takeNew()).toBe('one\ntwo')
  })

  test('survive a stream that breaks', async () => {
    await write('last words\n')
    stream.destroy(new Error('broken'))
    await setImmediate()
    expect(lines.last(1)).toEqual(['last words'])
  })
})
