import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { LineWriter } from '../../src/rpc/writer.js'

/** A stream whose writes are done when the test says so. */
class Slow extends Writable {
  readonly writes: string[] = []
  #done: ((error?: Error | null) => void) | undefined

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    this.writes.push(chunk.toString())
    this.#done = done
  }

  async written(error?: Error): Promise<void> {
    this.#done?.(error)
    await tick()
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function writing() {
  const output = new Slow()
  const errors: Error[] = []
  const writer = new LineWriter(output, (error) => errors.push(error))
  const write = (line: string) => writer.write(line, Buffer.byteLength(line))
  return { output, errors, writer, write }
}

it('writes the first line of a tick at once, and the others of it together', async () => {
  const { output, write } = writing()
  write('a\n')
  expect(output.writes).toEqual(['a\n'])
  write('b\n')
  queueMicrotask(() => write('c\n'))
  await tick()
  expect(output.writes).toEqual(['a\n'])
  await output.written()
  expect(output.writes).toEqual(['a\n', 'b\nc\n'])
})

it('does not wait for the end of the tick with a lot', () => {
  const { output, write } = writing()
  write(`${'x'.repeat(70_000)}\n`)
  expect(output.writes).toHaveLength(1)
})

it('gathers what comes while the stream is not done', async () => {
  const { output, write } = writing()
  write('a\n')
  await tick()
  write('b\n')
  await tick()
  write(`${'c'.repeat(70_000)}\n`)
  expect(output.writes).toEqual(['a\n'])
  await output.written()
  expect(output.writes).toEqual(['a\n', `b\n${'c'.repeat(70_000)}\n`])
})

it('counts what waits, also what the stream has; a line alone has room whatever its size', async () => {
  const { output, writer, write } = writing()
  expect(writer.hasRoom(1000, 10)).toBe(true)
  write('12345\n')
  expect(writer.hasRoom(4, 10)).toBe(true)
  expect(writer.hasRoom(5, 10)).toBe(false)
  await tick()
  expect(writer.hasRoom(5, 10)).toBe(false)
  await output.written()
  expect(writer.hasRoom(1000, 10)).toBe(true)
})

describe('flushed', () => {
  it('waits for the last write', async () => {
    const { output, writer, write } = writing()
    const seen: string[] = []
    write('a\n')
    const flushed = writer.flushed().then(() => seen.push(`flushed after ${output.writes.length}`))
    await tick()
    write('b\n')
    await output.written()
    expect(seen).toEqual([])
    await output.written()
    await flushed
    expect(seen).toEqual(['flushed after 2'])
  })

  it('settles when nothing can be written', async () => {
    const { output, writer, write } = writing()
    write('a\n')
    const flushed = writer.flushed()
    output.destroy()
    await flushed
    await writer.flushed()
  })
})

describe('end', () => {
  it('leaves what waits to the stream', async () => {
    const { output, writer, write } = writing()
    write('a\n')
    await tick()
    write('b\n')
    writer.end()
    write('never\n')
    await output.written()
    await output.written()
    expect(output.writes).toEqual(['a\n', 'b\n'])
    expect(output.writableFinished).toBe(true)
  })

  it('ends a stream that nothing waits for', async () => {
    const { output, writer } = writing()
    writer.end()
    writer.end()
    await tick()
    expect(output.writableFinished).toBe(true)
  })
})

describe('failure', () => {
  it('is reported once, with the error of the write', async () => {
    const { output, errors, write } = writing()
    write('a\n')
    await tick()
    await output.written(new Error('EPIPE'))
    write('b\n')
    await tick()
    expect(errors.map(({ message }) => message)).toEqual(['EPIPE'])
    expect(output.writes).toEqual(['a\n'])
  })

  it('is reported when the stream throws, at once or at the end of the tick', async () => {
    for (const count of [1, 3]) {
      const errors: Error[] = []
      let left = count
      const output = new Writable({
        write: (_, __, done) => {
          left--
          if (left === 0) throw new Error('it throws')
          done()
        },
      })
      const writer = new LineWriter(output, (error) => errors.push(error))
      for (let at = 0; at < 5; at++) {
        writer.write('a\n', 2)
        await tick()
      }
      expect(errors.map(({ message }) => message)).toEqual(['it throws'])
    }
  })

  it('is reported when the stream is closed, now or before', async () => {
    const { output, errors } = writing()
    output.destroy()
    await tick()
    const before: Error[] = []
    new LineWriter(output, (error) => before.push(error))
    await tick()
    expect([...errors, ...before].map(({ message }) => message)).toEqual([
      'the output stream was closed',
      'the output stream was closed',
    ])
  })

  it('is reported when other code ended the stream', async () => {
    const { output, errors, write } = writing()
    output.end()
    write('a\n')
    await tick()
    expect(errors).toHaveLength(1)
  })

  it('after the end is ignored, and is not an unhandled error', async () => {
    const { output, errors, writer } = writing()
    writer.end()
    output.destroy(new Error('late'))
    await tick()
    expect(output.errored?.message).toBe('late')
    expect(errors).toEqual([])
  })
})
