// A helper that is killed, stopped or gone: no program runs twice, no call is lost, and nothing is left behind.

import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { relative } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FROM_CALLER } from '../../../src/rpc/frames.js'
import { type Program, Programs, startProgramsBy } from '../../../src/runners/command/programs.js'
import { FOREVER, Workshop } from '../command/workshop.js'
import { until } from '../until.js'
import { HELPERS, Helper, MadeHelper, startHere, startThrough } from './ways.js'

const onLinux = process.platform === 'linux'
const never = new AbortController().signal

describe.each(HELPERS)('a helper: %s', (kind) => {
  let made: MadeHelper
  let helper: Helper
  let workshop: Workshop
  let programs: Programs

  beforeAll(() => {
    made = new MadeHelper(kind)
  })

  afterAll(() => {
    startProgramsBy(() => startHere)
    made.remove()
  })

  beforeEach(async () => {
    workshop = new Workshop()
    programs = new Programs()
    helper = await made.start()
    startProgramsBy(() => startThrough(helper))
  })

  afterEach(async () => {
    await programs.idle()
    helper.kill()
    await helper.gone
    workshop.close()
  })

  const run = (program: Program, signal = never) => programs.run(program, signal)
  const sh = (text: string, more: Partial<Program> = {}) => run(workshop.script(text, more))
  const tell = (signal: NodeJS.Signals) => process.kill(helper.pid ?? 0, signal)
  /** The name of the program that started it. */
  const parent = 'ps -o args= -p $PPID'

  const SIXTEEN = Array.from({ length: 16 }, (_, i) => i)

  test('starts programs in folders that are relative to this process', async () => {
    const { stdout } = await sh('pwd', { cwd: relative(process.cwd(), workshop.folder) })
    expect(stdout).toBe(`${realpathSync(workshop.folder)}\n`)
  })

  test('starts the programs', async () => {
    const { stdout } = await sh(parent)
    expect(stdout).toContain(made.command.args[0])
  })

  test('that is killed while 16 programs run: all are interrupted, ended, and never started again', async () => {
    const script = (i: number) => `echo x >>runs-${i}; sleep ${FOREVER}`
    const endings = SIXTEEN.map((i) => sh(script(i)))
    const settled = Promise.allSettled(endings)
    await Promise.all(SIXTEEN.map((i) => workshop.made(`runs-${i}`)))
    tell('SIGKILL')
    const codes = (await settled).map((one) => one.status === 'rejected' && one.reason.code)
    expect(codes).toEqual(SIXTEEN.map(() => 'HOOK_INTERRUPTED'))
    await programs.idle()
    await workshop.noneRunning()
    expect(SIXTEEN.map((i) => readFileSync(workshop.path(`runs-${i}`), 'utf8'))).toEqual(
      SIXTEEN.map(() => 'x\n'),
    )
  })

  test('that is killed at any moment: each program runs once or is interrupted', async () => {
    for (let round = 0; round < 10; round++) {
      const settled = Promise.allSettled(SIXTEEN.map((i) => sh(`echo x >>once-${round}-${i}; exit 2`)))
      await new Promise((resolve) => setTimeout(resolve, round))
      helper.kill()
      for (const [i, one] of (await settled).entries()) {
        const name = workshop.path(`once-${round}-${i}`)
        const ran = existsSync(name) ? readFileSync(name, 'utf8') : ''
        if (one.status === 'fulfilled') expect([one.value.code, ran]).toEqual([2, 'x\n'])
        else expect([one.reason.code, ran.length <= 2]).toEqual(['HOOK_INTERRUPTED', true])
      }
      await helper.gone
      helper = await made.start()
    }
  })

  test('that is killed at any moment: no program runs on', async () => {
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const program = workshop.script(`exec sleep ${FOREVER}`)
      const settled = Promise.allSettled(SIXTEEN.map(() => run(program, controller.signal)))
      await new Promise((resolve) => setTimeout(resolve, round / 2))
      helper.kill()
      await helper.gone
      controller.abort(new Error('enough'))
      await settled
      await programs.idle()
      await workshop.noneRunning()
      helper = await made.start()
    }
  })

  test.runIf(onLinux && kind === 'node')(
    'that is killed after it has started a program, and before it says so: the program ends',
    async () => {
      // Its own first start is its last one.
      const preload = `import child from 'node:child_process'
        import { syncBuiltinESMExports } from 'node:module'
        const { spawn } = child
        child.spawn = (...all) => {
          spawn(...all)
          process.kill(process.pid, 'SIGKILL')
        }
        syncBuiltinESMExports()`
      const { file, args } = made.command
      const url = `data:text/javascript,${encodeURIComponent(preload)}`
      helper = new Helper({ file, args: ['--import', url, ...args], hasGuard: false })
      await helper.ready
      const [one] = await Promise.allSettled([sh(`echo x >>started; exec sleep ${FOREVER}`)])
      expect(one).toMatchObject({ reason: { code: 'HOOK_INTERRUPTED' } })
      await programs.idle()
      await workshop.noneRunning()
    },
  )

  test('that is gone: the next programs start without it', async () => {
    helper.kill()
    await helper.gone
    expect((await sh(parent)).stdout).not.toContain(made.command.args[0])
  })

  test('that is stopped: programs that it has not begun start without it', async () => {
    tell('SIGSTOP')
    const endings = await Promise.all(SIXTEEN.map((i) => sh(`echo x >>stopped-${i}; exit ${i}`)))
    expect(endings.map(({ code }) => code)).toEqual(SIXTEEN)
    expect(SIXTEEN.map((i) => readFileSync(workshop.path(`stopped-${i}`), 'utf8'))).toEqual(
      SIXTEEN.map(() => 'x\n'),
    )
    expect(helper.isLost).toBe(true)
  })

  test('that is stopped while a program runs: at its deadline the program is interrupted', async () => {
    let ask: () => Promise<boolean> = () => Promise.reject()
    const ending = sh(`echo x >started; sleep ${FOREVER}`, {
      atDeadline: (asked) => {
        ask = asked
      },
    })
    await workshop.made('started')
    expect(await ask()).toBe(true)
    tell('SIGSTOP')
    const settled = Promise.allSettled([ending])
    expect(await ask()).toBe(false)
    expect(await settled).toMatchObject([{ reason: { code: 'HOOK_INTERRUPTED' } }])
  })

  test('that is stopped: an abort does not wait for it', async () => {
    const controller = new AbortController()
    const ending = run(workshop.script(`echo x >started; sleep ${FOREVER}`), controller.signal)
    await workshop.made('started')
    await sh('true') // So the helper has reported the first one, too.
    tell('SIGSTOP')
    const late = run(workshop.script('true'), controller.signal)
    const settled = Promise.allSettled([ending, late])
    controller.abort(new Error('overdue'))
    expect(await settled).toMatchObject([
      { reason: { message: 'overdue' } },
      { reason: { message: 'overdue' } },
    ])
    await workshop.noneRunning()
  })

  test('of a program that is aborted while it starts, and floods: it goes on', async () => {
    const controller = new AbortController()
    const loud = new Programs()
    const program = workshop.script("trap '' TERM; exec yes a long line of output")
    const flood = loud.run(program, controller.signal)
    const settled = Promise.allSettled([flood])
    controller.abort(new Error('overdue'))
    expect(await settled).toMatchObject([{ reason: { message: 'overdue' } }])
    let isOver = false
    const over = loud.idle().then(() => {
      isOver = true
    })
    let count = 0
    while (!isOver) {
      expect(await sh(`echo x >>beside-${count}; ${parent}; exit 2`)).toMatchObject({
        code: 2,
        stdout: expect.stringContaining(made.command.args[0] ?? ''),
      })
      expect(readFileSync(workshop.path(`beside-${count++}`), 'utf8')).toBe('x\n')
    }
    await over
    expect(helper.isLost).toBe(false)
    await workshop.noneRunning()
  })

  test.runIf(onLinux)('that is killed, and told something before its last words are read', async () => {
    const first = Promise.allSettled([sh(`echo x >>once; exec sleep ${FOREVER}`)])
    await new Promise<void>((resolve) => process.nextTick(resolve))
    // This process reads nothing meanwhile.
    waitFor(() => existsSync(workshop.path('once')))
    tell('SIGKILL')
    waitFor(() => readFileSync(`/proc/${helper.pid}/stat`, 'utf8').includes(') Z '))
    const second = Promise.allSettled([sh('echo x >>next; exit 2')])
    expect(await first).toMatchObject([{ reason: { code: 'HOOK_INTERRUPTED' } }])
    await second
    await programs.idle()
    await workshop.noneRunning()
    expect(readFileSync(workshop.path('once'), 'utf8')).toBe('x\n')
  })

  test('whose pipe is full gives every program its input, and everyone its output', async () => {
    const input = 'x'.repeat(4 * 1024 * 1024)
    const loud = SIXTEEN.map(() => sh('sleep 0.2; cat | head -c 1000000; echo end >&2', { input }))
    const start = performance.now()
    while (performance.now() - start < 500) {
      // A host that does not read.
    }
    const endings = await Promise.all(loud)
    expect(endings.map(({ stdout, stderr }) => [stdout.length, stderr])).toEqual(
      SIXTEEN.map(() => [1_000_000, 'end\n']),
    )
  })

  test('refuses nothing that this process would start: 20,000 arguments', async () => {
    const args = Array.from({ length: 20_000 }, (_, i) => `${i}`)
    const { stdout } = await run(workshop.program('/bin/sh', ['-c', 'echo $#', 'sh', ...args]))
    expect(stdout).toBe('20000\n')
  })

  test('a program in a folder that is gone, or that is missing, is told as ever', async () => {
    await expect(run(workshop.program('/no/such/program', []))).rejects.toMatchObject({
      code: 'HOOK_NOT_STARTED',
      message: expect.stringContaining('there is no such file'),
    })
    await expect(sh('true', { cwd: workshop.path('nowhere') })).rejects.toMatchObject({
      message: expect.stringContaining('does not exist'),
    })
    await expect(run(workshop.program('a\0b', []))).rejects.toMatchObject({ code: 'HOOK_NOT_STARTED' })
  })

  // The one in Node takes several times as long.
  const MANY = kind === 'clip' ? 10_000 : 3000

  test.runIf(onLinux)(`takes ${MANY} programs in a row and leaks nothing`, async () => {
    const pid = helper.pid ?? 0
    const open = (process: string) => readdirSync(`/proc/${process}/fd`).length
    const kib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    const some = async (count: number) => {
      for (let i = 0; i < count; i += 20)
        await Promise.all(Array.from({ length: 20 }, () => run(workshop.program('/bin/true', []))))
      await programs.idle()
    }
    await some(MANY / 5)
    const before = { own: open('self'), its: open(`${pid}`), kib: kib(), heap: heap() }
    await some((MANY * 4) / 5)
    await until('the files are closed', () => open('self') <= before.own && open(`${pid}`) <= before.its)
    await until('no process is left', () => childrenOf(pid).length <= (kind === 'clip' ? 1 : 0))
    // Node's own memory moves by some megabytes.
    expect(kib() - before.kib).toBeLessThan(kind === 'clip' ? 512 : 30_000)
    expect(heap() - before.heap, 'a kilobyte for each program').toBeLessThan(((MANY * 4) / 5) * 1024)
  })

  function childrenOf(pid: number): string[] {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  }
})

test('a helper that says what nobody understands: programs that it may have begun do not start again', async () => {
  const workshop = new Workshop()
  const programs = new Programs()
  const frame = (type: number, ...payload: number[]) => [payload.length, 0, 0, 0, type, ...payload]
  const begun = (id: number) => frame(FROM_CALLER.begun.type, id, 0, 0, 0)
  const words = [...begun(1), ...frame(255), ...begun(2)]
  const script = `const host = new (require('node:net').Socket)({ fd: 3 })
    host.write(Buffer.from(${JSON.stringify(frame(FROM_CALLER.pong.type))}))
    host.once('data', () => host.write(Buffer.from(${JSON.stringify(words)})))`
  const helper = new Helper({ file: process.execPath, args: ['-e', script], hasGuard: true })
  try {
    expect(await helper.ready).toBe(true)
    startProgramsBy(() => startThrough(helper))
    const run = (name: string) => programs.run(workshop.script(`echo x >${name}`), never)
    expect(await Promise.allSettled([run('one'), run('two')])).toMatchObject([
      { reason: { code: 'HOOK_INTERRUPTED' } },
      { reason: { code: 'HOOK_INTERRUPTED' } },
    ])
    expect(readdirSync(workshop.folder)).toEqual([])
  } finally {
    startProgramsBy(() => startHere)
    helper.kill()
    await helper.gone
    workshop.close()
  }
})

/** Blocks this process. */
function waitFor(isSo: () => boolean): void {
  const start = performance.now()
  while (!isSo()) if (performance.now() - start > 10_000) throw new Error('it takes too long')
}

function heap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
