// A resident process that outlives its callers: its events belong to none of them, and none hears what was said to another.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { processHooks } from '../../../src/runners/process/process-hooks.js'
import { Residents } from '../../../src/runners/process/residents.js'
import { asCaller, isForCaller, serveCallers, serveNobody } from '../../callers.js'
import { until } from '../until.js'
import { ask, failureOf, Hall, MANNERS, PRE_TOOL_USE, reasonFrom, tell } from './hall.js'

let hall: Hall
let residents: Residents
beforeEach(() => {
  hall = new Hall()
  residents = new Residents(true)
  serveCallers()
})
afterEach(async () => {
  serveNobody()
  await residents.close()
  await hall.close()
})

test('its end is not an event of the caller that started it', async () => {
  hall.workshop.file(
    'hook.js',
    `${MANNERS} other = ({ id }) => deny(id, 'no', () => setTimeout(() => process.exit(5), 50))`,
  )
  const ends: boolean[] = []
  const report = () => ends.push(isForCaller())
  const [hook] = asCaller({}, () => processHooks(hall.spec(), { report }, residents))
  if (!hook) throw new Error('there is no hook')
  await asCaller({}, () => ask(hook).answer)
  await until('its end is reported', () => ends.length > 0)
  expect(ends).toEqual([false])
})

test('a failure tells a caller only what was printed during its own call', async () => {
  hall.workshop.file(
    'hook.js',
    `${MANNERS} let calls = 0
    other = ({ id }) => {
      if (++calls > 1) { console.error('for the second'); process.exit(3) }
      console.error('for the first')
      setTimeout(() => deny(id, 'no'), 50)
    }`,
  )
  const [hook] = processHooks(hall.spec(), { report: () => undefined }, residents)
  if (!hook) throw new Error('there is no hook')
  await ask(hook).answer
  const failure = await ask(hook).answer.catch((error: Error) => error.message)
  expect(failure).toContain('for the second')
  expect(failure).not.toContain('for the first')
})

describe('the version of reviewed code', () => {
  const now = Date.now()
  // So much that every file is old enough for a stamp.
  beforeEach(() => void vi.spyOn(Date, 'now').mockReturnValue(now + 60_000))
  afterEach(() => void vi.restoreAllMocks())

  const versionOf = (copy?: string, content = 'digest') => {
    const { hook, place } = hall.spec({}, copy === undefined ? {} : { copy })
    residents.look()
    return residents.versionOf({ hook: { ...hook, content }, place }, [hall.workshop.path('hook.js')])
  }

  test('changes with a file that was not reviewed', () => {
    hall.workshop.file('hook.js', `require('./policy')`)
    hall.workshop.file('policy.js', 'one')
    const before = versionOf()
    expect(versionOf()).toBe(before)
    hall.workshop.file('policy.js', 'two, longer')
    expect(versionOf()).not.toBe(before)
  })

  test('changes each time if it imports a package', () => {
    hall.workshop.file('hook.js', `require('policy')`)
    expect(versionOf()).not.toBe(versionOf())
  })

  test('is that of the review alone in a copy', () => {
    hall.workshop.file('hook.js', `require('policy')`)
    const before = versionOf(hall.workshop.folder)
    hall.workshop.file('hook.js', `require('policy') // edited`)
    expect(versionOf(hall.workshop.folder)).toBe(before)
    expect(versionOf(hall.workshop.folder, 'another')).not.toBe(before)
  })
})

test('a call is interrupted by another one that ends the process, and fails by itself if it was alone', async () => {
  hall.workshop.file(
    'hook.js',
    `${MANNERS}
    let calls = 0
    other = () => { if (++calls === 2 || process.argv[2] === 'alone') process.exit(3) }`,
  )
  const made = (spec = hall.spec()) => {
    const [hook] = processHooks(spec, { report: () => undefined }, residents, () => undefined)
    if (!hook) throw new Error('there is no hook')
    return hook
  }
  const hook = made()
  const [first, second] = [ask(hook), ask(hook)].map(failureOf)
  expect([(await first)?.code, (await second)?.code]).toEqual(['HOOK_INTERRUPTED', 'HOOK_INTERRUPTED'])
  const alone = hall.spec({ command: [process.execPath, hall.workshop.path('hook.js'), 'alone'] })
  expect((await failureOf(ask(made(alone)))).code).toBe('HOOK_FAILED')
})

describe('a call without an answer', () => {
  const DYING = `${MANNERS}
    let asked = 0
    on['hook.event'] = (params) => { if (JSON.stringify(params).includes('fatal')) process.exit(3) }
    other = ({ id }) => {
      asked++
      if (process.argv[2] === 'later' && asked === 1) return deny(id, 'no', () => setTimeout(() => process.exit(3), 100))
      if (process.argv[2] === 'own') process.exit(3)
    }`
  const made = (argument: string, more: object = {}) => {
    hall.workshop.file('hook.js', DYING)
    const spec = hall.spec({ command: [process.execPath, hall.workshop.path('hook.js'), argument], ...more })
    return processHooks(spec, { report: () => undefined }, residents, () => undefined)
  }

  test('was interrupted if the process had answered another caller before', async () => {
    const [hook] = made('later')
    if (!hook) throw new Error('there is no hook')
    await asCaller({}, () => ask(hook).answer)
    expect((await asCaller({}, () => failureOf(ask(hook)))).code).toBe('HOOK_INTERRUPTED')
  })

  test('was interrupted if the process had got an event of another caller', async () => {
    const [hook, observer] = made('observed', { observe: ['*'] })
    if (!hook || !observer) throw new Error('there is no hook')
    const asked = asCaller({}, () => failureOf(ask(hook)))
    const data = { tool_name: 'fatal', tool_input: {} }
    asCaller({}, () => tell(observer, { ...PRE_TOOL_USE, data }))
    expect((await asked).code).toBe('HOOK_INTERRUPTED')
  })

  test('failed by itself if the process worked for nobody else', async () => {
    const [hook] = made('own')
    if (!hook) throw new Error('there is no hook')
    await asCaller({}, async () => {
      expect((await failureOf(ask(hook))).code).toBe('HOOK_FAILED')
      expect((await failureOf(ask(hook))).code).toBe('HOOK_FAILED')
    })
  })
})

test('a process that was started from other code than was reviewed neither answers nor stays', async () => {
  hall.workshop.file('hook.js', MANNERS)
  let checks = 0
  // The second time is right before the start.
  const problem = () => (++checks === 3 ? 'it was replaced' : undefined)
  const [hook] = processHooks(hall.spec(), { report: () => undefined }, residents, problem)
  if (!hook) throw new Error('there is no hook')
  const failure = await failureOf(ask(hook))
  expect([failure.code, failure.message]).toEqual(['HOOK_NOT_TRUSTED', 'it was replaced'])
  const next = await reasonFrom(hook)
  expect(next).toMatch(/^\d+$/)
  const after = checks
  expect([await reasonFrom(hook), checks]).toEqual([next, after + 1])
})
