// The process of an entry: when it is started, how it is asked, and what becomes of it when it ends.

import { setImmediate } from 'node:timers/promises'
import type { Hook } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isThere, until } from '../until.js'
import { ask, failureOf, Hall, reasonFrom } from './hall.js'

/** Started again as soon as somebody wants it. */
const AT_ONCE = { delay: 0, maxDelay: 0, attempts: 50 }

let hall: Hall

beforeEach(() => {
  hall = new Hall()
  vi.stubEnv('CARABINER_TEST_MARK', hall.workshop.mark)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await hall.close()
})

describe('the start', () => {
  test('comes with the first call, once, and with the hello', async () => {
    const hook = hall.hook(`
      on['hook.hello'] = (params, id) => { appendFileSync('hello', JSON.stringify(params) + '\\n'); reply(id, { ok: true }) }`)
    expect(hall.workshop.running()).toEqual([])
    const pids = await Promise.all([reasonFrom(hook), reasonFrom(hook), reasonFrom(hook)])
    expect(new Set(pids).size).toBe(1)
    expect(await reasonFrom(hook)).toBe(pids[0])
    expect(await hall.workshop.made('hello')).toBe('{"name":"gate","version":1,"modes":["tool"]}\n')
  })

  test('has a time of its own: a call waits for the hello, and then has its whole time-out', async () => {
    const hook = hall.hook(
      `on['hook.hello'] = (params, id) => setTimeout(() => reply(id, { ok: true }), 2200)`,
      { timeouts: { observe: 2, intercept: 2, approve: 2, hello: 20 } },
    )
    expect(await reasonFrom(hook)).toMatch(/^\d+$/)
    expect([hook.timeoutMs, hook.startupMs]).toEqual([2000, 20_000])
  })
})

describe('calls', () => {
  test('run at once and are answered in any order', async () => {
    const hook = hall.hook(`
      const waiting = []
      on['hook.before_tool'] = ({ arguments: { n } }, id) => {
        waiting.push(() => deny(id, 'n' + n))
        if (waiting.length === 20) for (const answer of waiting.reverse()) answer()
      }`)
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    const reasons = await Promise.all(numbers.map((n) => reasonFrom(hook, { tool_input: { n } })))
    expect(reasons).toEqual(numbers.map((n) => `n${n}`))
  })

  test('that are overdue are forgotten: the process lives on, and its late reply is reported', async () => {
    const [hasty, patient] = hall.hooks(
      `let first
      on['hook.before_tool'] = (params, id) => { first = id }
      on['hook.approve_tool'] = (params, id) => {
        deny(first, 'late')
        reply(id, { approved: false, reason: String(process.pid) })
      }`,
      {
        intercept: ['before_tool', 'approve_tool'],
        timeouts: { observe: 20, intercept: 0.1, approve: 20, hello: 20 },
      },
    ) as [Hook, Hook]
    const failure = await failureOf(ask(hasty))
    expect([failure.code, failure.message]).toEqual(['HOOK_TIMEOUT', 'it did not answer within its 0.1 s'])
    const [pid] = hall.workshop.running()
    const second = ask(patient)
    expect(await second.answer).toMatchObject({ action: 'deny', reason: String(pid) })
    expect(second.notes).toEqual([{ code: 'rpc-noise', text: expect.stringContaining('too late') }])
  })

  test('that are answered with an error fail with its text', async () => {
    const hook = hall.hook(
      `on['hook.before_tool'] = (_, id) => send({ id, error: { code: -32000, message: 'no database' } })`,
    )
    const { code, message } = await failureOf(ask(hook))
    expect([code, message]).toEqual([
      'HOOK_FAILED',
      'it answered hook.before_tool with an error: no database (code -32000)',
    ])
  })

  test('keep what was written to stderr meanwhile', async () => {
    const hook = hall.hook(`
      console.error('before')
      on['hook.before_tool'] = (_, id) => process.stderr.write('thinking\\n', () => deny(id, 'no'))`)
    const printed: string[] = []
    for (let i = 0; i < 3; i++) {
      const asked = ask(hook)
      await asked.answer
      printed.push(...asked.prints.map(({ stderr = '' }) => stderr))
    }
    // What came after an answer was read is with the next.
    expect(printed.join('\n')).toMatch(/^before\nthinking\nthinking(\nthinking)?$/)
  })
})

describe('a process that ends', () => {
  test('in the middle of 64 calls fails them all, and then is down', async () => {
    const hook = hall.hook(`
      let asked = 0
      on['hook.before_tool'] = () => { if (++asked === 64) process.kill(process.pid, 'SIGKILL') }`)
    const failures = await Promise.all(Array.from({ length: 64 }, () => failureOf(ask(hook))))
    const words = new Set(failures.map(({ code, message }) => `${code} ${message}`))
    expect([...words]).toEqual(['HOOK_FAILED it was killed by SIGKILL during a call (hook.before_tool)'])
    const { code, message } = await failureOf(ask(hook))
    expect(code).toBe('HOOK_NOT_STARTED')
    expect(message).toMatch(/^it is down: it was killed by SIGKILL; it may be restarted in \d+\.\d s$/)
    await hall.workshop.noneRunning()
  })

  test('says its code and its last words', async () => {
    const hook = hall.hook(`
      on['hook.before_tool'] = () => process.stderr.write('a\\nb\\nc\\nout of luck\\n', () => process.exit(3))`)
    const asked = ask(hook)
    const { message } = await failureOf(asked)
    expect(message).toBe(
      'it exited with code 3 during a call (hook.before_tool); its last lines on stderr: b | c | out of luck',
    )
    expect(asked.prints).toEqual([{ stderr: 'a\nb\nc\nout of luck' }])
  })

  test('is restarted by a later call, which gets a note', async () => {
    const hook = hall.hook(
      `on['hook.before_tool'] = ({ arguments: { die } }, id) => die ? process.exit(3) : deny(id, String(process.pid))`,
      { restart: AT_ONCE },
    )
    const first = await reasonFrom(hook)
    await failureOf(ask(hook, { tool_input: { die: true } }))
    const again = ask(hook)
    const pid = (await again.answer)?.reason
    expect(pid).toMatch(/^\d+$/)
    expect(pid).not.toBe(first)
    expect(again.notes).toEqual([
      { code: 'process-restarted', text: 'its process was restarted: it exited with code 3' },
    ])
  })

  test('too often is not started again, until its entry is read again', async () => {
    const entry = { restart: { ...AT_ONCE, attempts: 2 } }
    const hook = hall.hook(`if (!existsSync('mended')) process.exit(4)`, entry)
    for (let i = 0; i < 3; i++) expect((await failureOf(ask(hook))).message).toMatch(/^it exited with code 4/)
    const { code, message, hint } = await failureOf(ask(hook))
    expect([code, message, hint]).toEqual([
      'HOOK_NOT_STARTED',
      'it is down: it exited with code 4 before it answered hook.hello; it was started 3 times in a row and will not be restarted',
      'Fix it, then reload the configuration.',
    ])
    hall.workshop.file('mended', 'yes')
    const [same] = hall.residents.renew(() => hall.made(hall.spec(entry)))
    expect(await reasonFrom(same as Hook)).toMatch(/^\d+$/)
  })

  test('without a call in progress is reported', async () => {
    const hook = hall.hook(`
      on['hook.before_tool'] = (_, id) => deny(id, 'no', () => {
        const wait = setInterval(() => { if (existsSync('go')) { console.error('bored'); process.exit(5) } }, 5)
      })`)
    await ask(hook).answer
    hall.workshop.file('go', 'go')
    await until('it is reported', () => hall.reports.length > 0)
    expect(hall.reports).toEqual([
      {
        code: 'process-ended',
        text: 'project:gate: it exited with code 5; its last lines on stderr: bored',
      },
    ])
  })

  test('right after its answer still counts as answered, even if we first notice that it no longer reads', async () => {
    const hook = hall.script(
      `read -r hello; echo '{"id":1,"result":{"ok":true}}'; read -r call; echo '{"id":2,"result":{}}'; read -r call
       echo '{"id":3,"result":{"action":"deny_tool","reason":"the last word"}}'; exit 1`,
    )
    await ask(hook).answer
    const first = ask(hook)
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const end = performance.now() + 20_000
    while (hall.workshop.running().length > 0 && performance.now() < end); // nothing is read meanwhile
    const second = failureOf(ask(hook))
    expect(await first.answer).toMatchObject({ action: 'deny', reason: 'the last word' })
    expect((await second).message).toBe('it exited with code 1 during a call (hook.before_tool)')
  })
})

describe('the end of all', () => {
  test('is orderly: the end of its input, and time to clean up', async () => {
    const hook = hall.hook(
      `process.stdin.on('end', () => { writeFileSync('clean', 'clean'); process.exit() })`,
    )
    await ask(hook).answer
    await hall.residents.close()
    expect(await hall.workshop.made('clean')).toBe('clean')
    expect([hall.workshop.running(), hall.reports]).toEqual([[], []])
  })

  test('fails the calls under way at once, and refuses further ones', async () => {
    const hook = hall.hook(`on['hook.before_tool'] = () => writeFileSync('asked', 'x')`)
    const asked = failureOf(ask(hook))
    await hall.workshop.made('asked')
    const closing = hall.residents.close()
    expect((await asked).message).toBe('the hooks were closed during a call (hook.before_tool)')
    await closing
    const { code, message } = await failureOf(ask(hook))
    expect([code, message]).toEqual(['HOOK_NOT_STARTED', 'it was not started: the hooks were closed'])
    expect(hall.workshop.running()).toEqual([])
  })

  test('also ends a process that ignores signals, and everything it started', async () => {
    const hook = hall.hook(`
      process.on('SIGTERM', () => {})
      const child = spawn('/bin/sh', ['-c', "trap '' TERM; echo x >started; while :; do sleep 1; done"], { stdio: 'inherit' })
      setInterval(() => {}, 1000)
      on['hook.before_tool'] = (_, id) => deny(id, String(child.pid))`)
    const grandchild = Number(await reasonFrom(hook))
    await hall.workshop.made('started')
    expect(isThere(grandchild)).toBe(true)
    await hall.residents.close()
    expect(hall.workshop.running()).toEqual([])
  })

  test('comes also to a process that is just being started', async () => {
    const hook = hall.hook(`on['hook.hello'] = () => {}; setInterval(() => {}, 1000)`)
    const asked = failureOf(ask(hook))
    await hall.residents.close()
    const { code, message } = await asked
    expect([code, message]).toEqual([
      'HOOK_NOT_STARTED',
      'the hooks were closed before it answered hook.hello',
    ])
    expect(hall.workshop.running()).toEqual([])
  })

  test('may come twice, and where nothing ever ran', async () => {
    await Promise.all([hall.residents.close(), hall.residents.close()])
  })
})

describe('a configuration that is read again', () => {
  const renewed = (...intercepts: readonly ('before_tool' | 'approve_tool')[]) =>
    hall.residents.renew(() =>
      intercepts.flatMap((one) => hall.made(hall.spec({ intercept: [one], restart: AT_ONCE }))),
    )
  const WAITS = `
    on['hook.before_tool'] = ({ arguments: { wait } }, id) => {
      if (!wait) return deny(id, String(process.pid))
      writeFileSync('asked', 'x')
      const timer = setInterval(() => { if (existsSync('go')) { clearInterval(timer); deny(id, 'done') } }, 5)
    }`

  test('leaves the process of an entry that is the same', async () => {
    hall.hook(WAITS)
    const [before] = renewed('before_tool')
    const pid = await reasonFrom(before as Hook)
    const [after] = renewed('before_tool')
    expect(await reasonFrom(after as Hook)).toBe(pid)
    expect(hall.workshop.running()).toEqual([Number(pid)])
  })

  test('ends the process of one that is gone or changed, after the calls under way', async () => {
    hall.hook(WAITS)
    const [before] = renewed('before_tool')
    const asked = ask(before as Hook, { tool_input: { wait: true } })
    await hall.workshop.made('asked')
    renewed('approve_tool')
    await setImmediate()
    expect(hall.workshop.running().length).toBe(1)
    hall.workshop.file('go', 'go')
    expect(await asked.answer).toMatchObject({ reason: 'done' })
    await hall.workshop.noneRunning()
    expect(hall.reports).toEqual([])
  })

  test('lets an event that is under way still come to it', async () => {
    hall.hook(WAITS)
    const [before] = renewed('before_tool')
    const pid = Number(await reasonFrom(before as Hook))
    renewed()
    await hall.workshop.noneRunning()
    expect(await reasonFrom(before as Hook)).not.toBe(String(pid))
    await hall.workshop.noneRunning()
  })

  test('that cannot be made leaves everything as it was', async () => {
    hall.hook(WAITS)
    const [before] = renewed('before_tool')
    const pid = await reasonFrom(before as Hook)
    const broken = () => {
      throw new Error('broken')
    }
    expect(() => hall.residents.renew(broken)).toThrow('broken')
    expect(await reasonFrom(before as Hook)).toBe(pid)
    renewed()
    await hall.workshop.noneRunning()
  })
})
