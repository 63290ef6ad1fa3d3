import { PassThrough } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { LineReader } from '../../src/rpc/reader.js'

interface Heard {
  readonly lines: string[]
  readonly tooLong: string[]
  readonly error: Error | undefined
}

class Listening {
  readonly input = new PassThrough()
  readonly lines: string[] = []
  readonly tooLong: string[] = []
  readonly reader: LineReader
  readonly done: Promise<Heard>

  constructor(maxLineBytes = 1000, onLine: (reader: LineReader) => void = () => {}) {
    const { lines, tooLong } = this
    let end = (_: Error | undefined) => {}
    this.done = new Promise((resolve) => {
      end = (error) => resolve({ lines, tooLong, error })
    })
    this.reader = new LineReader(this.input, maxLineBytes, {
      line: (text) => {
        lines.push(text)
        onLine(this.reader)
      },
      tooLong: (beginning) => tooLong.push(beginning),
      end,
    })
  }
}

function read(chunks: readonly (string | Buffer)[], maxLineBytes?: number): Promise<Heard> {
  const { input, done } = new Listening(maxLineBytes)
  for (const chunk of chunks) input.write(chunk)
  input.end()
  return done
}

describe('lines', () => {
  it('come one by one from one chunk', async () => {
    expect((await read(['a\nb\nc\n'])).lines).toEqual(['a', 'b', 'c'])
  })

  it('come whole from many chunks, and several from the chunk that completes one', async () => {
    expect((await read(['a', 'b', 'c\nd\ne', 'f\n'])).lines).toEqual(['abc', 'd', 'ef'])
  })

  it('are whole when a character is cut in two', async () => {
    const bytes = Buffer.from('{"é":"😀"}\n')
    const single = Array.from(bytes, (byte) => Buffer.from([byte]))
    expect((await read(single)).lines).toEqual(['{"é":"😀"}'])
  })

  it('come from a stream of texts as well', async () => {
    const listening = new Listening()
    listening.input.setEncoding('utf8')
    listening.input.end('é\nb\n')
    expect((await listening.done).lines).toEqual(['é', 'b'])
  })

  it('are given without a line break at the very end', async () => {
    expect((await read(['a\n', 'b'])).lines).toEqual(['a', 'b'])
  })

  it('are not given where they are empty', async () => {
    expect((await read(['\n\na\n\n', '\n'])).lines).toEqual(['a'])
  })
})

describe('a line that is too long', () => {
  it('is reported once with its beginning and skipped, and the next one is read', async () => {
    const long = 'x'.repeat(5000)
    expect(await read([`a\n${long}\nb\n`])).toMatchObject({ lines: ['a', 'b'], tooLong: ['x'.repeat(200)] })
    expect(await read(['a\n', long, long, `${long}\nb\n`])).toMatchObject({
      lines: ['a', 'b'],
      tooLong: ['x'.repeat(200)],
    })
  })

  it('is one that has more bytes than the bound, not more characters', async () => {
    expect(await read(['éé\n', 'ééa\n'], 4)).toMatchObject({ lines: ['éé'], tooLong: ['ééa'] })
    expect(await read(['é', 'é\n', 'éé', 'a\n', 'c\n'], 4)).toMatchObject({
      lines: ['éé', 'c'],
      tooLong: ['ééa'],
    })
  })

  it('is reported as soon as it is known, not when it ends', async () => {
    const listening = new Listening(10)
    listening.input.write('0123456789')
    listening.input.write('a')
    await vi.waitFor(() => expect(listening.tooLong).toEqual(['0123456789a']))
  })

  it('is reported once if it never ends, and none of it is delivered', async () => {
    expect(await read(['abc', 'def', 'ghi'], 4)).toMatchObject({ lines: [], tooLong: ['abcdef'] })
  })

  it('is not kept: 1 GB without a line break leaves the memory as it was', async () => {
    const { input, done } = new Listening(1_048_576)
    const chunk = Buffer.alloc(1_048_576, 'x')
    const before = process.memoryUsage()
    let most = 0
    for (let i = 0; i < 1024; i++) {
      if (!input.write(chunk)) await new Promise((resolve) => input.once('drain', resolve))
      const { arrayBuffers, heapUsed } = process.memoryUsage()
      most = Math.max(most, arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed)
    }
    input.end('\nafter\n')
    expect(await done).toMatchObject({ lines: ['after'], tooLong: ['x'.repeat(200)] })
    expect(most).toBeLessThan(100_000_000)
  })
})

describe('the end', () => {
  it('tells the error that broke the stream', async () => {
    const { input, done } = new Listening()
    input.destroy(new Error('broken'))
    expect((await done).error?.message).toBe('broken')
  })

  it('comes when the stream is destroyed without a word', async () => {
    const { input, done } = new Listening()
    input.destroy()
    expect((await done).error).toBeUndefined()
  })

  it('comes for a stream that was over before', async () => {
    const { input } = new Listening()
    input.destroy()
    const ended = new Promise<Error | undefined>((resolve) => {
      new LineReader(input, 10, { line: () => {}, tooLong: () => {}, end: resolve })
    })
    expect(await ended).toBeUndefined()
  })

  it('is not told after stop, nor is a line of the same chunk; what comes later is thrown away', async () => {
    const listening = new Listening(100, (reader) => reader.stop())
    let told = false
    void listening.done.then(() => {
      told = true
    })
    const over = new Promise((resolve) => listening.input.once('end', resolve))
    listening.input.write('a\nb\nc')
    listening.input.end('d\n'.repeat(100_000))
    await over
    await new Promise(setImmediate)
    expect(listening.lines).toEqual(['a'])
    expect(told).toBe(false)
  })

  it('leaves a listener for errors behind', async () => {
    const { input, reader } = new Listening()
    reader.stop()
    input.destroy(new Error('broken'))
    await new Promise((resolve) => input.once('close', resolve))
    expect(input.errored?.message).toBe('broken')
  })
})
