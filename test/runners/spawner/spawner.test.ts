// When programs start through a helper, and when without one.

import { existsSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { HelperCommand } from '../../../src/runners/spawner/helper.js'
import { Workshop } from '../command/workshop.js'
import { isThere } from '../until.js'
import { MadeHelper } from './ways.js'

const never = new AbortController().signal

describe.runIf(process.platform === 'linux')('programs of a process', () => {
  let made: MadeHelper
  let workshop: Workshop
  let commands: readonly HelperCommand[]
  let print: (script: string) => Promise<string>
  const helpers = new Set<number>()

  beforeAll(() => {
    made = new MadeHelper('node')
    return () => made.remove()
  })

  beforeEach(async () => {
    workshop = new Workshop()
    commands = [made.command]
    vi.stubEnv('CARABINER_SPAWNER', undefined)
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    vi.resetModules()
    vi.doMock('../../../src/runners/spawner/helper-command.js', () => ({ helperCommands: () => commands }))
    const { Programs } = await import('../../../src/runners/command/programs.js')
    const programs = new Programs()
    print = async (script) => (await programs.run(workshop.script(script), never)).stdout.trim()
  })

  afterEach(() => {
    vi.useRealTimers()
    for (const pid of helpers) if (isThere(pid)) process.kill(pid, 'SIGKILL')
    helpers.clear()
    workshop.close()
  })

  afterAll(() => vi.doUnmock('../../../src/runners/spawner/helper-command.js'))

  const parent = async () => Number(await print('echo $PPID'))

  /** The helper, once it starts programs. */
  async function helper(): Promise<number> {
    await parent()
    vi.advanceTimersByTime(10_000)
    for (;;) {
      const pid = await parent()
      if (pid !== process.pid) {
        helpers.add(pid)
        return pid
      }
    }
  }

  const gone = async (pid: number) => {
    while (isThere(pid)) await new Promise((resolve) => setImmediate(resolve))
  }

  test('start without a helper within the first second, and wait for none', async () => {
    expect(await parent()).toBe(process.pid)
    vi.advanceTimersByTime(999)
    expect(await parent()).toBe(process.pid)
    vi.advanceTimersByTime(1)
    expect(await parent()).toBe(process.pid)
  })

  test('then start through one helper, which ends when nobody has used it for ten minutes', async () => {
    const pid = await helper()
    vi.advanceTimersByTime(599_000)
    expect(await parent()).toBe(pid)
    vi.advanceTimersByTime(599_000)
    expect(isThere(pid)).toBe(true)
    vi.advanceTimersByTime(1000)
    await gone(pid)
    expect(await parent()).toBe(process.pid)
    expect(await helper()).not.toBe(pid)
  })

  test('keep a helper that runs a program for longer', async () => {
    const pid = await helper()
    const slow = print('echo x >started; while [ ! -e go ]; do sleep 0.01; done; echo $PPID')
    while (!existsSync(workshop.path('started'))) await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(1_200_000)
    workshop.file('go', '')
    expect(await slow).toBe(`${pid}`)
  })

  test('inherit what this process has changed in itself', async () => {
    const pid = await helper()
    const before = process.umask(0o027)
    try {
      expect(await print('umask; echo $PPID')).toBe(`0027\n${process.pid}`)
      await gone(pid)
      const next = await helper()
      expect(await print('umask; echo $PPID')).toBe(`0027\n${next}`)
    } finally {
      process.umask(before)
    }
  })

  test('start without a helper after one was lost, and through another one later', async () => {
    const pid = await helper()
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    expect(await parent()).toBe(process.pid)
    expect(await helper()).not.toBe(pid)
  })

  test('do not try a program again that is no helper', async () => {
    const file = workshop.file('older', `#!/bin/sh\necho x >>'${workshop.path('tries')}'\nexit 64\n`, 0o755)
    commands = [{ file, args: ['--spawner=1'], hasGuard: true }, made.command]
    const pid = await helper()
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    await helper()
    expect(readFileSync(workshop.path('tries'), 'utf8')).toBe('x\n')
  })

  test('start without a helper if CARABINER_SPAWNER is off', async () => {
    vi.stubEnv('CARABINER_SPAWNER', 'off')
    await parent()
    vi.advanceTimersByTime(10_000)
    for (let i = 0; i < 20; i++) expect(await parent()).toBe(process.pid)
  })

  test('start without the helper from then on', async () => {
    const pid = await helper()
    vi.stubEnv('CARABINER_SPAWNER', 'off')
    expect(await parent()).toBe(process.pid)
    await gone(pid)
  })
})
