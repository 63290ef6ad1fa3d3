// Processes that do not keep to the protocol. Whatever they do, a call ends, and nobody is left behind.

import { execFileSync } from 'node:child_process'
import type { Hook } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { livingMembers } from '../../../src/runners/program/process-group.js'
import { until } from '../until.js'
import { ask, failureOf, Hall, reasonFrom } from './hall.js'

const MIB = 1024 * 1024
const BRIEF = { observe: 20, intercept: 0.2, approve: 20, hello: 20 }

let hall: Hall

beforeEach(() => {
  hall = new Hall()
  vi.stubEnv('CARABINER_TEST_MARK', hall.workshop.mark)
})

/** Nobody is left, neither alive nor as a zombie of ours. */
afterEach(async () => {
  vi.unstubAllEnvs()
  try {
    const groups = hall.workshop.running()
    await hall.residents.close()
    expect(hall.workshop.running()).toEqual([])
    for (const group of groups) expect(livingMembers(group) ?? []).toEqual([])
    // Node collects its children a turn after they have ended.
    await vi.waitUntil(() => zombies().length === 0, { timeout: 30_000 })
  } finally {
    await hall.close()
  }
})

function zombies(): readonly string[] {
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,stat='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => {
    const [parent, state = ''] = line.trim().split(/\s+/)
    return Number(parent) === process.pid && state.startsWith('Z')
  })
}

async function words(hook: Hook): Promise<string> {
  const { code, message } = await failureOf(ask(hook))
  return `${code} ${message}`
}

describe('a process that does not begin', () => {
  test('since there is no such program', async () => {
    const hook = hall.made(hall.spec({ command: ['no-such-program-here'] }))[0] as Hook
    expect(await words(hook)).toBe(
      'HOOK_NOT_STARTED Could not start "no-such-program-here": there is no such program on the PATH',
    )
    expect(await words(hook)).toMatch(
      /^HOOK_NOT_STARTED it is down: Could not start "no-such-program-here".*restarted in \d/,
    )
  })

  test('since its folder is not there', async () => {
    const hook = hall.made(hall.spec({ dir: 'nowhere' }))[0] as Hook
    expect(await words(hook)).toContain(
      `its working directory ${JSON.stringify(hall.workshop.path('nowhere'))} does not exist`,
    )
  })

  test('since it exits at once', async () => {
    expect(await words(hall.script('echo "no module named x" >&2; exit 3'))).toBe(
      'HOOK_NOT_STARTED it exited with code 3 before it answered hook.hello; its last lines on stderr: no module named x',
    )
  })

  test('since it exits after the hello', async () => {
    const said = await words(hall.script(`read -r hello; echo '{"id":1,"result":{"ok":true}}'; exit 7`))
    expect(said).toMatch(/^HOOK_(NOT_STARTED|FAILED) it exited with code 7 (after|during)/)
  })

  test('since it never says hello: it is ended, whatever it thinks of that', async () => {
    const hook = hall.script(`trap '' TERM; echo ready >&2; while :; do sleep 1; done`, {
      timeouts: { ...BRIEF, hello: 0.3 },
    })
    expect(await words(hook)).toMatch(
      /^HOOK_NOT_STARTED it did not answer hook.hello within 0.3 s(; its last lines on stderr: ready)?$/,
    )
    await hall.workshop.noneRunning()
  })

  test.each([
    ['{ id, result: { ok: false, reason: "wrong version" } }', 'it refused the handshake'],
    ['{ id, result: "hello" }', 'its answer to hook.hello must be an object'],
    ['{ id, error: { code: 5, message: "go away" } }', 'it refused hook.hello: go away (code 5)'],
    ['{ id }', 'hook.hello failed: The reply cannot be read'],
  ])('since it answers %s', async (answer, said) => {
    const hook = hall.hook(`on['hook.hello'] = (_, id) => send(${answer}); setInterval(() => {}, 1000)`)
    expect(await words(hook)).toContain(`HOOK_NOT_STARTED ${said}`)
    await hall.workshop.noneRunning()
  })
})

describe('an answer that is nested without end', () => {
  const deep = (text: string) => text.replace('DEEP', `' + '['.repeat(200000) + ']'.repeat(200000) + '`)

  test.each([
    [
      '"error":DEEP',
      'HOOK_FAILED it answered hook.before_tool with an error: an error that is nested too deeply',
    ],
    [
      '"error":{"message":DEEP}',
      'HOOK_FAILED it answered hook.before_tool with an error: an error that is nested',
    ],
    ['"error":{"message":"no","data":DEEP}', 'HOOK_FAILED it answered hook.before_tool with an error: no'],
    ['"result":DEEP', 'ANSWER_INVALID an answer must be an object'],
    ['"result":{"action":DEEP}', 'ANSWER_INVALID action a value that cannot be shown is unknown'],
    ['"result":{"action":"respond","result":DEEP}', 'ANSWER_INVALID'],
    ['"result":{"action":"modify","call":{"arguments":DEEP}}', 'ANSWER_INVALID'],
  ])('fails its call, and the next one is answered: %s', async (answer, said) => {
    const hook = hall.hook(`
      let asked = 0
      on['hook.before_tool'] = (_, id) => asked++ ? deny(id, 'no') : write('{"id":' + id + ',${deep(answer)}}')`)
    expect(await words(hook)).toContain(said)
    expect(await reasonFrom(hook)).toBe('no')
  })

  test.each([
    '"result":{"action":"deny_tool","reason":"no","more":DEEP}',
    '"result":{"action":"deny_tool","reason":"no","call":{"arguments":{"a":DEEP}}}',
    '"error":{"message":DEEP,"data":{"action":"deny_tool","reason":"no"}}',
  ])('still refuses: %s', async (answer) => {
    const hook = hall.hook(`on['hook.before_tool'] = (_, id) => write('{"id":' + id + ',${deep(answer)}}')`)
    expect(await reasonFrom(hook)).toBe('no')
  })
})

describe('noise', () => {
  test('of every kind is noted, and hides no answer', async () => {
    const hook = hall.hook(`
      console.log('starting up')
      on['hook.hello'] = (_, id) => { reply(id, { ok: true }); reply(id, { ok: true }) }
      on['hook.before_tool'] = (_, id) => {
        write('DEBUG asked')
        reply(99, { action: 'continue' })
        reply('x', { action: 'continue' })
        write('[]')
        write('x'.repeat(${2 * MIB}))
        deny(id, 'no')
        reply(id, { action: 'continue' })
      }
      on['hook.approve_tool'] = (_, id) => reply(id, { approved: true })`)
    const first = ask(hook)
    expect(await first.answer).toMatchObject({ action: 'deny', reason: 'no' })
    const second = ask(hook)
    await second.answer
    const noted = [...first.notes, ...second.notes, ...hall.reports]
    expect(new Set(noted.map(({ code }) => code))).toEqual(new Set(['rpc-noise']))
    const texts = noted.map(({ text }) => text).join('\n')
    for (const part of [
      'starting up',
      'A second reply to call 1',
      'DEBUG asked',
      'the id 99',
      'bytes was skipped',
    ])
      expect(texts).toContain(part)
  })

  test('outside any call is reported under the name of the hook', async () => {
    const hook = hall.hook(`on['hook.before_tool'] = (_, id) => deny(id, 'no', () => {
      const timer = setInterval(() => { if (existsSync('go')) { clearInterval(timer); write('done') } }, 5)
    })`)
    await ask(hook).answer
    hall.workshop.file('go', 'go')
    await until('it is reported', () => hall.reports.length > 0)
    expect(hall.reports).toEqual([
      { code: 'rpc-noise', text: expect.stringMatching(/^project:gate: .*done/) },
    ])
  })

  test('of 50 MB is skipped within bounds', async () => {
    const hook = hall.hook(`
      const flood = (left, then) => left === 0 ? then() : process.stdout.write('x'.repeat(${MIB}), () => flood(left - 1, then))
      const lines = (left, then) => left === 0 ? then() : process.stdout.write('noise\\n'.repeat(100_000), () => lines(left - 1, then))
      on['hook.before_tool'] = (_, id) => flood(44, () => lines(10, () => { write(''); deny(id, 'no') }))`)
    const before = process.memoryUsage().rss
    const asked = ask(hook)
    expect(await asked.answer).toMatchObject({ reason: 'no' })
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB)
    expect(asked.notes.length).toBeLessThan(40)
  })

  test('on stderr without end blocks nothing', async () => {
    const hook = hall.hook(`
      const flood = (left, then) => left === 0 ? then() : process.stderr.write('x'.repeat(${MIB}), () => flood(left - 1, then))
      on['hook.before_tool'] = (_, id) => flood(20, () => deny(id, 'no'))`)
    expect(await reasonFrom(hook)).toBe('no')
  })

  test('in the form of requests is refused in the words of the protocol', async () => {
    const hook = hall.hook(`
      let asked
      on['hook.before_tool'] = (_, id) => { asked = id; send({ id: 'mine', method: 'agent.run', params: {} }) }
      on[undefined] = (_, id, { error }) => deny(asked, id + ' ' + error.code)`)
    const asked = ask(hook)
    expect(await asked.answer).toMatchObject({ reason: 'mine -32601' })
    expect(asked.notes).toEqual([{ code: 'rpc-noise', text: expect.stringContaining('"agent.run"') }])
  })
})

describe('a process that hangs', () => {
  test('in the middle of a line is overdue, and lives on', async () => {
    const hook = hall.hook(
      `on['hook.before_tool'] = (_, id) => process.stdout.write('{"jsonrpc":"2.0","id":' + id)`,
      { timeouts: BRIEF },
    )
    expect(await words(hook)).toBe('HOOK_TIMEOUT it did not answer within its 0.2 s')
    expect(hall.workshop.running().length).toBe(1)
  })

  test('and is suspended is still ended', async () => {
    const hook = hall.hook(`on['hook.before_tool'] = () => process.kill(process.pid, 'SIGSTOP')`, {
      timeouts: BRIEF,
    })
    expect(await words(hook)).toBe('HOOK_TIMEOUT it did not answer within its 0.2 s')
    await hall.residents.close()
    expect(hall.workshop.running()).toEqual([])
  })
})

describe('a process that closes a pipe and lives on', () => {
  const HELLO = `read -r hello; echo '{"id":1,"result":{"ok":true}}'`

  test('is ended: its output', async () => {
    const hook = hall.script(`${HELLO}; read -r call; exec >&-; while :; do sleep 1; done`)
    expect(await words(hook)).toBe('HOOK_FAILED it closed its output during a call (hook.before_tool)')
    await hall.workshop.noneRunning()
  })

  test('is ended: its input', async () => {
    const hook = hall.script(
      `read -r hello; exec <&-; echo '{"id":1,"result":{"ok":true}}'; while :; do sleep 1; done`,
    )
    expect(await words(hook)).toBe('HOOK_FAILED it closed its input during a call (hook.before_tool)')
    await hall.workshop.noneRunning()
  })

  test('may answer first what it has read', async () => {
    const hook = hall.script(
      `${HELLO}; read -r call; exec <&-; echo '{"id":2,"result":{"action":"deny_tool","reason":"last"}}'; while :; do sleep 1; done`,
    )
    expect(await reasonFrom(hook)).toBe('last')
  })
})

describe('a process that inherited the pipes', () => {
  test('in the group is ended with the process, and blocks nothing', async () => {
    const hook = hall.hook(`
      on['hook.before_tool'] = () => {
        spawn('sleep', ['300'], { stdio: 'inherit' })
        process.exit(6)
      }`)
    expect(await words(hook)).toBe('HOOK_FAILED it exited with code 6 during a call (hook.before_tool)')
    await hall.workshop.noneRunning()
  })

  test('outside the group is left alone, and blocks nothing either', async () => {
    const hook = hall.hook(`
      on['hook.before_tool'] = () => {
        const child = spawn('sleep', ['300'], { stdio: 'inherit', detached: true })
        writeFileSync('outsider', String(child.pid))
        process.exit(6)
      }`)
    const asked = ask(hook)
    expect((await failureOf(asked)).message).toBe('it exited with code 6 during a call (hook.before_tool)')
    const outsider = Number(await hall.workshop.made('outsider'))
    const told = () => [...asked.notes, ...hall.reports].map(({ code }) => code)
    await until('it is reported', () => told().includes('left-running'))
    await hall.residents.close()
    expect(hall.workshop.running()).toEqual([outsider])
    process.kill(outsider, 'SIGKILL')
    await hall.workshop.noneRunning()
  })
})
