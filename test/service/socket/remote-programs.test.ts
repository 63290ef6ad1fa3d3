// Programs that a caller runs for the service: whatever the caller reports, in whatever order, harms no other caller.

import { text } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { FrameError, type ToCaller } from '../../../src/rpc/frames.js'
import { follow } from '../../../src/runners/command/execution.js'
import { RemotePrograms } from '../../../src/service/socket/remote-programs.js'

type Report = Parameters<RemotePrograms['receive']>[0]

const PROGRAM = { file: 'true', args: [], cwd: '/', env: {}, input: '' }

async function started() {
  const sent: ToCaller[] = []
  const programs = new RemotePrograms((message) => sent.push(message))
  const running = programs.start(PROGRAM, new AbortController().signal, () => undefined)
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
  programs.lose('gone')
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
  programs.lose('gone')
  expect(await said).toEqual(['half', ''])
})

describe('at the deadline of a hook', () => {
  /** A program, and what is asked at its deadline. */
  function begun() {
    const programs = new RemotePrograms(() => undefined)
    let hasSaidAll: () => Promise<boolean> = () => Promise.reject()
    const atDeadline = (ask: typeof hasSaidAll) => {
      hasSaidAll = ask
    }
    const running = programs.start({ ...PROGRAM, atDeadline }, new AbortController().signal, () => undefined)
    return { programs, running, hasSaidAll: () => hasSaidAll() }
  }

  it('a program that was not even started may have been held up', async () => {
    const { programs, running, hasSaidAll } = begun()
    expect(await hasSaidAll()).toBe(false)
    programs.lose('gone')
    await expect(running).rejects.toThrow('gone')
  })

  it('one that was started late may have been held up, too', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const { programs, hasSaidAll } = begun()
      vi.advanceTimersByTime(500)
      programs.receive({ kind: 'child', id: 1, pid: 4711 })
      const all = hasSaidAll()
      programs.receive({ kind: 'ending', id: 1, living: true })
      expect(await all).toBe(false)
    } finally {
      vi.useRealTimers()
    }
  })

  it('an exit right after `ending` is our own doing, and is not taken for its own', async () => {
    const { programs, running, hasSaidAll } = begun()
    programs.receive({ kind: 'child', id: 1, pid: 4711 })
    const exits: unknown[] = []
    const program = await running
    program.onExit((...exit) => exits.push(exit))
    const all = hasSaidAll()
    programs.receive({ kind: 'ending', id: 1, living: true })
    programs.receive({ kind: 'exited', id: 1, code: null, signal: 15, alone: true })
    expect([await all, exits, program.group.isGone]).toEqual([true, [], true])
    programs.lose('gone')
  })

  it('it has said all once the caller says `ending`, and what came before counts', async () => {
    const { programs, running, hasSaidAll } = begun()
    programs.receive({ kind: 'child', id: 1, pid: 4711 })
    const { stdout, onExit } = await running
    const said: unknown[] = []
    stdout.on('data', (piece) => said.push(String(piece))).on('end', () => said.push('end'))
    onExit.call(await running, (code) => said.push(code))
    const all = hasSaidAll().then((isAll) => said.push(isAll))
    await new Promise((resolve) => setImmediate(resolve))
    expect(said).toEqual([])
    for (const report of [printed(1, 'no'), printed(1, ''), { ...EXITED, code: 2, alone: false }])
      programs.receive(report)
    programs.receive({ kind: 'ending', id: 1, living: false })
    await all
    expect(said).toEqual(['no', 2, 'end', true])
    programs.lose('gone')
  })
})

it('was held by its own processes, though they let go in the same moment in which they were told to end', async () => {
  const { programs, sent, running } = await started()
  const ending = follow(running, { outputLimit: 1000 }, new AbortController().signal, () => undefined)
  programs.receive({ ...EXITED, alone: false })
  await vi.waitFor(() => expect(sent).toContainEqual({ kind: 'end', id: 1 }), { timeout: 5000 })
  programs.receive({ kind: 'ending', id: 1, living: true })
  for (const report of [printed(1, ''), printed(2, ''), { kind: 'gone', id: 1 } as const])
    programs.receive(report)
  expect(await ending).toMatchObject({ code: 0, heldBy: 'group' })
})

it('says nothing before it was started', () => {
  const programs = new RemotePrograms(() => undefined)
  void Promise.resolve(programs.start(PROGRAM, new AbortController().signal, () => undefined)).catch(
    () => undefined,
  )
  for (const report of [printed(1, 'x'), EXITED, { kind: 'gone', id: 1 } as const])
    expect(() => programs.receive(report)).toThrow(FrameError)
  programs.lose('gone')
})

it('prints no more than is read', async () => {
  const { programs } = await started()
  const piece = printed(1, 'x'.repeat(1024 * 1024))
  expect(() => {
    for (let i = 0; i < 100; i++) programs.receive(piece)
  }).toThrow(FrameError)
  programs.lose('gone')
})
