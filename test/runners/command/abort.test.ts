// How programs are ended: the caller never waits for it, and nobody survives it.

import { execFile, execFileSync, spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Program, Programs } from '../../../src/runners/command/programs.js'
import { livesIn, livingMembers, ProcessGroup } from '../../../src/runners/program/process-group.js'
import { isLarge } from '../../property/runs.js'
import { until } from '../until.js'
import { FOREVER, Workshop } from './workshop.js'

const STUBBORN = "trap '' TERM; echo x >started; while :; do sleep 1; done"

const onLinux = process.platform === 'linux'

let workshop: Workshop
let programs: Programs
let controller: AbortController

beforeEach(() => {
  workshop = new Workshop()
  programs = new Programs()
  controller = new AbortController()
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  workshop.close()
})

const run = (program: Program) => programs.run(program, controller.signal)
const reason = new Error('overdue')

/** Starts a script, waits until it has made `started`, aborts it, and waits for the rejection. */
async function abortedIn(script: string): Promise<void> {
  const ending = run(workshop.script(script))
  await workshop.made('started')
  controller.abort(reason)
  await expect(ending).rejects.toBe(reason)
}

async function allGone(): Promise<void> {
  await programs.idle()
  expect(workshop.running()).toEqual([])
}

describe('abort', () => {
  test('before the start: nothing is started', async () => {
    controller.abort(reason)
    await expect(run(workshop.script('echo x >started'))).rejects.toBe(reason)
    await expect(run(workshop.program('/no/such/program', []))).rejects.toBe(reason)
    await allGone()
    await expect(programs.run(workshop.script('ls'), new AbortController().signal)).resolves.toMatchObject({
      stdout: '',
    })
  })

  test('right after the start', async () => {
    const ending = run(workshop.script(`sleep ${FOREVER}`))
    controller.abort(reason)
    await expect(ending).rejects.toBe(reason)
    await allGone()
  })

  test('ends the whole group', async () => {
    await abortedIn(`sleep ${FOREVER} & sleep ${FOREVER} & echo x >started; wait`)
    await allGone()
  })

  test('after the end changes nothing', async () => {
    const ending = await run(workshop.script('exit 2'))
    controller.abort(reason)
    expect(ending.code).toBe(2)
    await allGone()
  })

  test('while a child holds the output of a program that has ended', async () => {
    await abortedIn(`trap '' TERM; sleep ${FOREVER} & echo x >started; exit 0`)
    await allGone()
  })

  test('a program gets TERM first, and time to clean up and print', async () => {
    const cleanUp = 'echo bye; echo bye >&2; echo clean >clean; exit'
    await abortedIn(`trap '${cleanUp}' TERM; echo x >started; while :; do sleep 0.01; done`)
    expect(await workshop.made('clean')).toBe('clean\n')
    await allGone()
  })

  test('one that ignores TERM is killed, and the caller does not wait for it', async () => {
    await abortedIn(STUBBORN)
    expect(workshop.running()).not.toEqual([])
    await allGone()
  })

  test('one that prints a byte a second is ended between two of them', async () => {
    await abortedIn('while :; do printf x; echo x >started; sleep 1; done')
    await allGone()
  })

  test('one that floods its output and ignores TERM is killed', async () => {
    await abortedIn("trap '' TERM; echo x >started; while :; do yes; done")
    await allGone()
  })

  test('a stopped one gets its TERM', async () => {
    const ending = run(
      workshop.script("trap 'echo clean >clean; exit' TERM; echo $$ >leader; kill -STOP $$; sleep 300"),
    )
    await stopped(Number(await workshop.made('leader')))
    controller.abort(reason)
    await expect(ending).rejects.toBe(reason)
    expect(await workshop.made('clean')).toBe('clean\n')
    await allGone()
  })

  test('a stopped one that ignores TERM is killed', async () => {
    const ending = run(workshop.script("trap '' TERM; echo $$ >leader; while :; do kill -STOP $$; done"))
    await stopped(Number(await workshop.made('leader')))
    controller.abort(reason)
    await expect(ending).rejects.toBe(reason)
    await allGone()
  })

  test.runIf(isLarge)('many at once', async () => {
    const endings = Array.from({ length: 50 }, (_, i) =>
      run(workshop.script(`${STUBBORN.replace('x', `${i}`)}`)),
    )
    const settled = Promise.allSettled(endings)
    await workshop.made('started')
    controller.abort(reason)
    expect((await settled).map((one) => one.status === 'rejected' && one.reason)).toEqual(
      Array(50).fill(reason),
    )
    await allGone()
  })
})

async function stopped(pid: number): Promise<void> {
  const state = () => execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  await until('it is stopped', () => state().startsWith('T'))
}

describe('when a program ends', () => {
  test('what is left of its group ends too', async () => {
    const ending = await run(workshop.script(`sleep ${FOREVER} >/dev/null 2>&1 & exit 0`))
    expect(ending).toMatchObject({ code: 0 })
    await allGone()
  })

  test('also who ignores TERM; the answer does not wait for it', async () => {
    const background = `(trap '' TERM; echo x >started; while :; do sleep 1; done) >/dev/null 2>&1 &`
    await run(workshop.script(`${background} while [ ! -e started ]; do sleep 0.01; done; exit 0`))
    expect(workshop.running()).not.toEqual([])
    await allGone()
  })
})

describe('a group', () => {
  test('is never signalled once it is gone', async () => {
    await run(workshop.script('exit 0'))
    await programs.idle()
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('gone'), { code: 'ESRCH' })
    })
    const group = new ProcessGroup(4_000_000)
    group.end()
    expect([kill.mock.calls, group.isGone]).toEqual([[[-4_000_000, 0]], true])
    group.end()
    group.look()
    group.kill()
    expect(kill).toHaveBeenCalledTimes(1)
    await group.gone
  })

  const refusing = () => {
    throw Object.assign(new Error('not ours'), { code: 'EPERM' })
  }

  test('that cannot be ended is given up after two seconds of KILL, and nothing hangs', async () => {
    const { pid = 0 } = spawn('sleep', [String(FOREVER)], { detached: true, env: workshop.env })
    const kill = vi.spyOn(process, 'kill').mockImplementation(refusing)
    vi.useFakeTimers()
    const group = new ProcessGroup(pid)
    group.end()
    vi.advanceTimersByTime(480)
    expect(kill).not.toHaveBeenCalledWith(-pid, 'SIGKILL')
    vi.advanceTimersByTime(1500)
    expect(kill).toHaveBeenLastCalledWith(-pid, 'SIGKILL')
    expect(group.isGone).toBe(false)
    vi.advanceTimersByTime(1500)
    expect(group.isGone).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    await group.gone
  })

  test.runIf(onLinux)('of zombies that nobody reaps is gone', async () => {
    vi.spyOn(process, 'kill').mockReturnValue(true)
    vi.useFakeTimers()
    const group = new ProcessGroup(4_194_305) // no process can have this number
    group.end()
    vi.advanceTimersByTime(100)
    expect(group.isGone).toBe(true)
    await group.gone
  })

  test.runIf(onLinux)('has its living members in the table of processes, and no zombie', async () => {
    const child = spawn('/bin/sh', ['-c', `true & exec sleep ${FOREVER}`], {
      detached: true,
      env: workshop.env,
    })
    const { pid = 0 } = child
    await until('there is a zombie', () => statesOf(pid).includes('Z'))
    expect(livingMembers(pid)).toEqual([pid])
    expect([livesIn(pid, pid), livesIn(pid, process.pid), livesIn(pid, 4_194_305)]).toEqual([
      true,
      false,
      false,
    ])
  })

  /** The states of a process's children, without flags such as `N` for nice. */
  const statesOf = (parent: number) => {
    const lines = execFileSync('ps', ['-A', '-o', 'ppid=,stat='], { encoding: 'utf8' }).split('\n')
    return lines
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([of, state]) => (Number(of) === parent ? (state?.slice(0, 1) ?? '') : []))
  }
})

describe('a host', () => {
  let home: Workshop

  /** Hosts are processes of their own, and run what the build would make of the sources. */
  beforeAll(async () => {
    home = new Workshop()
    const entryPoints = ['src/runners/command/programs.ts']
    await build({
      entryPoints,
      outfile: home.path('programs.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
    return () => home.close()
  })

  /** Runs a host to its end; it has `programs`, `start(script)` and `made(file)`. */
  function host(text: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const url = pathToFileURL(home.path('programs.mjs'))
    const source = `
      import { existsSync } from 'node:fs'
      import { Programs } from ${JSON.stringify(url)}
      const programs = new Programs()
      const controller = new AbortController()
      const [cwd, env] = [${JSON.stringify(workshop.folder)}, process.env]
      const start = (script) =>
        programs.run({ file: '/bin/sh', args: ['-c', script], cwd, env, input: '' }, controller.signal)
      const made = async (file) => {
        while (!existsSync(cwd + '/' + file)) await new Promise((resolve) => setTimeout(resolve, 5))
      }
      ${text}`
    return new Promise((resolve) => {
      const args = ['--input-type=module', '-e', source]
      const child = execFile(process.execPath, args, { env: workshop.env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      )
    })
  }

  const stubborn = JSON.stringify(STUBBORN)

  test('that exits takes its running programs with it', async () => {
    const { code } = await host(`start(${stubborn}); await made('started'); process.exit(7)`)
    expect(code).toBe(7)
    await workshop.noneRunning()
  })

  test('that crashes does too, also with those that are being ended', async () => {
    const { code, stderr } = await host(`
      start(${stubborn}).catch(() => {})
      await made('started')
      controller.abort()
      throw new Error('crashed')`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('crashed')])
    await workshop.noneRunning()
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('that is ended by %s takes them with it', async (signal) => {
    const { code } = await host(`
      start(${stubborn})
      await made('started')
      process.kill(process.pid, '${signal}')
      await new Promise(() => {})`)
    expect(code).toBe(null)
    await workshop.noneRunning()
  })

  test('that handles a signal itself keeps them', async () => {
    const { code, stdout } = await host(`
      process.on('SIGINT', () => {})
      const ending = start('touch started; until [ -e go ]; do sleep 0.01; done; echo done')
      await made('started')
      process.kill(process.pid, 'SIGINT')
      await new Promise(setImmediate)
      await start('touch go')
      console.log((await ending).stdout)`)
    expect([code, stdout]).toEqual([0, 'done\n\n'])
  })

  test('can wait for the end of everything', async () => {
    const { code, stdout } = await host(`
      const ending = start(${stubborn})
      await made('started')
      controller.abort()
      await ending.catch(() => {})
      await programs.idle()
      console.log('idle')`)
    expect([code, stdout]).toEqual([0, 'idle\n'])
    expect(workshop.running()).toEqual([])
  })

  test('that has nothing more to do ends by itself', async () => {
    const daemon = `'${process.execPath}' -e 'require("child_process").spawn("sleep", ["300"], { detached: true, stdio: "inherit" }).unref()'`
    const { code, stdout, stderr } = await host(`
      const { heldBy } = await start(${JSON.stringify(daemon)})
      await start('sleep 300 & exit 0')
      console.log(heldBy)`)
    expect([code, stdout, stderr]).toEqual([0, 'outsider\n', ''])
  })

  test('may run many programs from many places without a warning', async () => {
    const { code, stderr } = await host(`
      const signal = controller.signal
      const all = Array.from({ length: 30 }, () => new Programs().run(
        { file: '/bin/sh', args: ['-c', 'exit 0'], cwd, env, input: '' }, signal))
      await Promise.all(all)`)
    expect([code, stderr]).toEqual([0, ''])
  })
})
