// Programs that a caller runs for the service: whatever the caller reports, in whatever order, harms no other caller.

import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import type { ToCaller } from '../../../src/service/socket/frames.js'
import { RemotePrograms } from '../../../src/service/socket/remote-programs.js'

type Report = Parameters<RemotePrograms['receive']>[0]

const PROGRAM = { file: 'true', args: [], cwd: '/', env: {}, input: '' }

async function started() {
  const sent: ToCaller[] = []
  const programs = new RemotePrograms((message) => sent.push(message))
  const running = programs.start(PROGRAM, new AbortController().signal)
  programs.receive({ kind: 'child', id: 1, pid: 4711 })
  return { programs, sent, running: await running }
}

it('ignores output after its end', async () => {
  const { programs, running } = await started()
  const output = (text: string) =>
    programs.receive({ kind: 'output', id: 1, fd: 1, bytes: Buffer.from(text) })
  output('a')
  output('')
  output('x')
  output('')
  let text = ''
  for await (const chunk of running.stdout) text += chunk
  expect(text).toBe('a')
  programs.lose(new Error('gone'))
})

const EXITED: Report = { kind: 'exited', id: 1, code: 0, signal: null, alone: true }
const printed = (fd: 1 | 2, said: string): Report => ({
  kind: 'output',
  id: 1,
  fd,
  bytes: Buffer.from(said),
})

async function told(reports: readonly Report[]) {
  const { programs, running } = await started()
  const said = Promise.all([text(running.stdout), text(running.stderr)])
  for (const report of reports) {
    programs.receive(report)
    // What follows the end of a program must not depend on when the next report arrives.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { programs, said }
}

it.each<[string, readonly Report[]]>([
  ['its output first', [printed(1, 'deny'), printed(2, 'why'), printed(1, ''), printed(2, ''), EXITED]],
  ['its exit first', [EXITED, printed(1, 'deny'), printed(2, 'why'), printed(1, ''), printed(2, '')]],
  ['its exit in between', [printed(2, 'why'), printed(2, ''), EXITED, printed(1, 'deny'), printed(1, '')]],
])('%s', async (_, reports) => {
  const { said } = await told(reports)
  expect(await said).toEqual(['deny', 'why'])
})

it('the output of a caller that is lost ends', async () => {
  const { programs, said } = await told([printed(1, 'half')])
  programs.lose(new Error('gone'))
  expect(await said).toEqual(['half', ''])
})
