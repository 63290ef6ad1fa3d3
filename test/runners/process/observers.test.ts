// Observers: told of events, never waited for.

import { readFileSync } from 'node:fs'
import type { Data } from 'carabiner'
import type { Hook, HookEvent } from 'carabiner/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { until } from '../until.js'
import { ask, failureOf, Hall, PRE_TOOL_USE, tell } from './hall.js'

let hall: Hall

beforeEach(() => {
  hall = new Hall()
  vi.stubEnv('CARABINER_TEST_MARK', hall.workshop.mark)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await hall.close()
})

const WRITES = `on['hook.event'] = (params) => appendFileSync('seen', JSON.stringify(params) + '\\n')`
const ALL = { intercept: [], observe: ['*'] }
/** The whole lines: the last one may still be on its way into the file. */
const seen = (): Data[] =>
  readFileSync(hall.workshop.path('seen'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const custom = (name: string, data: Data = {}): HookEvent => ({ name, data, session: undefined })
const observer = (text: string, more: object = ALL) => hall.hooks(text, more).at(-1) as Hook

test('nothing waits, and events before the hello are delivered after it, in order', async () => {
  const hook = observer(WRITES)
  expect(tell(hook, PRE_TOOL_USE)).toBe(undefined)
  for (let n = 0; n < 20; n++) tell(hook, custom('tick', { n }))
  await hall.workshop.made('seen')
  tell(hook, custom('tick', { n: 20 }))
  await until('all are there', () => seen().length === 22)
  const [first, ...ticks] = seen()
  expect(first).toMatchObject({
    Kind: 'tool_exec_start',
    Payload: { Tool: 'Bash', Arguments: { command: 'ls' } },
  })
  expect(ticks.map(({ Kind, Payload }) => [Kind, (Payload as Data).n])).toEqual(
    Array.from({ length: 21 }, (_, n) => ['tick', n]),
  )
})

test('it is only told about the events that it asked for', async () => {
  const hook = observer(WRITES, { intercept: [], observe: ['agent.tool.exec_start', 'mine'] })
  expect(hook.events).not.toBe('all')
  for (const event of [custom('other'), PRE_TOOL_USE, custom('mine')]) tell(hook, event)
  await hall.residents.close()
  expect(seen().map(({ Kind }) => Kind)).toEqual(['tool_exec_start', 'mine'])
})

test('what is on its way when all ends still arrives', async () => {
  const hook = observer(WRITES)
  tell(hook, custom('last'))
  await hall.residents.close()
  expect(seen().map(({ Kind }) => Kind)).toEqual(['last'])
  expect(hall.reports).toEqual([])
})

test('who does not read is not waited for: what is too much is dropped and counted', async () => {
  const [gate, hook] = hall.hooks(
    `on['hook.before_tool'] = (_, id) => { process.stdin.pause(); deny(id, 'no') }`,
    { observe: ['*'], intercept: ['before_tool'] },
  ) as [Hook, Hook]
  await ask(gate).answer
  const text = 'x'.repeat(10_000)
  for (let n = 0; n < 500; n++) expect(tell(hook, custom('tick', { n, text }))).toBe(undefined)
  expect(hall.reports).toEqual([
    {
      code: 'observer-dropped',
      text: 'project:gate: events for it are dropped: it does not read them in time',
    },
  ])
  process.kill(hall.workshop.running()[0] as number, 'SIGKILL')
  await until('its end is reported', () => hall.codes().includes('process-ended'))
  expect(hall.reports[1]?.text).toMatch(/^project:gate: it was not told of \d{3} events$/)
})

test('slow is not lost: who reads again gets what waited', async () => {
  const [gate, hook] = hall.hooks(
    `${WRITES}
    on['hook.before_tool'] = (_, id) => {
      deny(id, 'no')
      process.stdin.pause()
      const timer = setInterval(() => { if (existsSync('go')) { clearInterval(timer); process.stdin.resume() } }, 5)
    }`,
    { observe: ['*'], intercept: ['before_tool'] },
  ) as [Hook, Hook]
  await ask(gate).answer
  const text = 'x'.repeat(10_000)
  for (let n = 0; n < 90; n++) tell(hook, custom('tick', { n, text }))
  hall.workshop.file('go', 'go')
  await hall.workshop.made('seen')
  await until('all are there', () => seen().length === 90)
  expect(hall.reports).toEqual([])
})

test('a start that fails is reported once, and what it was not told of is counted', async () => {
  const hook = observer('process.exit(2)')
  for (let n = 0; n < 3; n++) tell(hook, custom('tick', { n }))
  await until('it is reported', () => hall.codes().includes('HOOK_NOT_STARTED'))
  tell(hook, custom('tick'))
  await hall.residents.close()
  const texts = hall.reports.map(({ code, text }) => `${code} ${text.replace('project:gate: ', '')}`)
  expect(texts).toEqual([
    'observer-dropped events for it are dropped: its process is not running',
    'observer-dropped it was not told of 3 events',
    'HOOK_NOT_STARTED it exited with code 2 before it answered hook.hello',
    expect.stringMatching(/^observer-dropped events for it are dropped: it is down: it exited with code 2/),
    'observer-dropped it was not told of 1 event',
  ])
})

test('an approver that is down reports it, no matter what started it', async () => {
  const [gate, hook] = hall.hooks('process.exit(2)', { intercept: ['approve_tool'], observe: ['*'] }) as [
    Hook,
    Hook,
  ]
  tell(hook, custom('tick'))
  const { code, message } = await failureOf(ask(gate))
  expect([code, message, gate.onFailure]).toEqual([
    'HOOK_NOT_STARTED',
    'it exited with code 2 before it answered hook.hello',
    'block',
  ])
})
