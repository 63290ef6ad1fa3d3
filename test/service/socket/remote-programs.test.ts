// Programs that a caller runs for the service: whatever the caller reports, in whatever order, harms no other caller.

import { expect, it } from 'vitest'
import type { ToCaller } from '../../../src/service/socket/frames.js'
import { RemotePrograms } from '../../../src/service/socket/remote-programs.js'

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
