// Over the pipes of real processes.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { afterEach, expect, it } from 'vitest'
import { Connection, type ConnectionOptions } from '../../src/rpc/connection.js'
import type { RpcProblem } from '../../src/rpc/problem.js'
import { failureKind } from './other-side.js'

const children: ChildProcessByStdio<Writable, Readable, null>[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A program, and the connection to it. */
function program(script: string, options: Partial<ConnectionOptions> = {}) {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const problems: RpcProblem[] = []
  let close = (_: Error) => {}
  const closed = new Promise<Error>((resolve) => {
    close = resolve
  })
  const connection = new Connection({
    input: child.stdout,
    output: child.stdin,
    onProblem: (problem) => problems.push(problem),
    onClose: (reason) => close(reason),
    ...options,
  })
  return { child, connection, problems, closed }
}

const ECHO = `
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, params } = JSON.parse(line)
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: params }) + '\\n')
  })`

it('carries calls side by side, small and larger than a pipe', async () => {
  const { connection, problems } = program(ECHO)
  const params = Array.from({ length: 64 }, (_, i) => ({ i, text: 'é😀'.repeat(i * 400) }))
  const results = await Promise.all(params.map((one) => connection.call('m', one, { timeoutMs: 30_000 })))
  expect(results).toEqual(params)
  expect(problems).toEqual([])
})

it('lets a program end that reads to the end of its input', async () => {
  const { child, connection } = program(ECHO)
  expect(await connection.call('m', 1)).toBe(1)
  const exit = new Promise((resolve) => child.once('exit', resolve))
  connection.close()
  expect(await exit).toBe(0)
})

it('reads on after the log of a program and a line of 50 MB', async () => {
  const { connection, problems } = program(`
    process.stdout.write('Listening…\\r\\n\\n' + 'x'.repeat(5e7) + '\\n')
    ${ECHO}`)
  expect(await connection.call('m', 'still here')).toBe('still here')
  expect(problems.map(({ kind }) => kind)).toEqual(['malformed', 'too-long'])
})

it('fails what is under way when the program is killed', async () => {
  const { child, connection, closed } = program('setInterval(() => {}, 1e6)')
  const calls = Array.from({ length: 64 }, () => connection.call('m', {}))
  child.kill('SIGKILL')
  expect(new Set(await Promise.all(calls.map(failureKind)))).toEqual(new Set(['closed']))
  expect((await closed).message).not.toBe('')
  expect(connection.notify('m', {})).toBe(false)
})

it('is closed by a program that does not take what is written (EPIPE)', async () => {
  const { connection, closed } = program(
    `
    require('fs').closeSync(0)
    process.stdout.write('{"method":"ready"}\\n')
    setInterval(() => {}, 1e6)`,
    {
      onNotification: () => void connection.call('m', {}).catch(() => {}),
    },
  )
  expect(await closed).toMatchObject({ code: 'EPIPE' })
})

it('keeps what waits for a program that never reads within its bounds', async () => {
  const { connection } = program('setInterval(() => {}, 1e6)')
  const text = 'x'.repeat(10_000)
  let taken = 0
  while (connection.notify('m', text)) {
    taken++
    await new Promise(setImmediate)
  }
  expect(taken * text.length).toBeGreaterThan(1_000_000)
  expect(taken * text.length).toBeLessThan(3_000_000)
  expect(await failureKind(connection.call('m', {}, { timeoutMs: 1 }))).toBe('timeout')
})
