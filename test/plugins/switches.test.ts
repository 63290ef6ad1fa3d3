// Switches: asked for every hook, kept outside the project, and over when their time ends.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { localTime } from '../../src/core/base/time.js'
import { createHooks } from '../../src/index.js'
import {
  projectKey,
  type Switch,
  SwitchStore,
  switches,
  switchOver,
  switchText,
} from '../../src/plugins/switches.js'

const NOW = Date.parse('2026-05-01T12:00:00.000Z')
const HOUR = 3_600_000
const at = (ms: number) => new Date(ms).toISOString()

let base: string
let dataDir: string
let project: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-switches-')))
  dataDir = join(base, 'data')
  project = join(base, 'project')
  mkdirSync(project)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function off(more: Partial<Switch> = {}): Switch {
  return { plugin: 'guard', from: 'user', since: at(NOW), by: 'ann', ...more }
}

const GUARD = { id: 'user:guard:PreToolUse:abc', scope: 'user', source: 'guard' }

describe('what keeps a hook off', () => {
  it('is about all hooks of the plugin, of that scope alone', () => {
    expect(switchOver(GUARD, undefined, [off()])).toBeDefined()
    expect(switchOver({ ...GUARD, source: 'other' }, undefined, [off()])).toBeUndefined()
    expect(switchOver({ ...GUARD, scope: 'project' }, undefined, [off()])).toBeUndefined()
  })

  it('is about one hook by its id: what an update puts in its place runs', () => {
    const one = off({ hook: { name: 'guard:PreToolUse#1', ids: [GUARD.id] } })
    expect(switchOver(GUARD, undefined, [one])).toBeDefined()
    expect(switchOver({ ...GUARD, id: 'user:guard:PreToolUse:def' }, undefined, [one])).toBeUndefined()
  })

  it('holds in its project alone, unless it is for all', () => {
    const here = off({ project })
    expect(switchOver(GUARD, project, [here])).toBeDefined()
    expect(switchOver(GUARD, join(base, 'other'), [here])).toBeUndefined()
    expect(switchOver(GUARD, undefined, [here])).toBeUndefined()
    expect(switchOver(GUARD, project, [off()])).toBeDefined()
  })

  it('of several switches, the one that lasts longest is reported', () => {
    const [short, long] = [off({ until: at(NOW + 1) }), off({ project, until: at(NOW + HOUR) })]
    expect(switchOver(GUARD, project, [short, long])?.until).toBe(at(NOW + HOUR))
    expect(switchOver(GUARD, project, [long, off()])).not.toHaveProperty('until')
  })

  it('says who, since when, until when, why, and what undoes it, with nothing hidden', () => {
    const one = off({ project, until: at(NOW + HOUR), by: 'ann', reason: 'release\u001b[2Jday' })
    expect(switchText(one)).toBe(
      `all of guard is switched off for this project by ann since ${localTime(at(NOW))} until ${localTime(at(NOW + HOUR))} (release⟨U+001B⟩[2Jday); to undo it, run carabiner enable guard --here`,
    )
    const hook = off({ hook: { name: 'guard:PreToolUse#1', ids: [GUARD.id] } })
    expect(switchText(hook)).toMatch(
      /^it is switched off for all projects .*; to undo it, run carabiner enable guard --hook 'guard:PreToolUse#1' --user$/,
    )
  })
})

describe('the store', () => {
  it('keeps one switch for one thing and place', () => {
    const store = new SwitchStore({ dataDir })
    store.turnOff(off(), NOW)
    store.turnOff(off({ reason: 'again' }), NOW)
    store.turnOff(off({ project }), NOW)
    expect(store.inForce(NOW)).toEqual([off({ reason: 'again' }), off({ project })])
  })

  it('ignores what is over to the millisecond, and sweeps it with the next change', () => {
    const store = new SwitchStore({ dataDir })
    store.turnOff(off({ until: at(NOW + HOUR) }), NOW)
    expect(store.inForce(NOW + HOUR - 1)).toHaveLength(1)
    expect(store.inForce(NOW + HOUR)).toEqual([])
    expect(store.turnOn(() => true, NOW + HOUR)).toEqual([])
    expect(new SwitchStore({ dataDir }).inForce(NOW)).toEqual([])
  })

  it('A6: does not bring back a switch that has ended when the clock is set back', () => {
    const store = new SwitchStore({ dataDir })
    store.turnOff(off({ until: at(NOW + HOUR) }), NOW)
    store.turnOff(off({ plugin: 'for good' }), NOW)
    expect(store.inForce(NOW + HOUR)).toHaveLength(1)
    for (const again of [store, new SwitchStore({ dataDir })])
      expect(again.inForce(NOW + 1)).toEqual([off({ plugin: 'for good' })])
    store.turnOff(off({ until: at(NOW + HOUR) }), NOW + 1)
    expect(store.inForce(NOW + HOUR - 1)).toHaveLength(2)
    expect(store.inForce(NOW + HOUR)).toHaveLength(1)
    expect(store.inForce(NOW)).toHaveLength(1)
  })

  it('A6: keeps no time where nothing ends', () => {
    const store = new SwitchStore({ dataDir })
    store.turnOff(off(), NOW)
    expect(store.inForce(NOW)).toHaveLength(1)
    expect(readdirSync(dataDir)).toEqual(['switches'])
  })

  it('sees what another process wrote, and reads again only then', () => {
    const [mine, other] = [new SwitchStore({ dataDir }), new SwitchStore({ dataDir })]
    expect(mine.inForce(NOW)).toEqual([])
    other.turnOff(off(), NOW)
    expect(mine.inForce(NOW)).toEqual([off()])
    other.turnOn(() => true, NOW)
    expect(mine.inForce(NOW)).toEqual([])
  })

  it('forgets what belonged to a plugin: its own switches and those of its hooks, everywhere', () => {
    const store = new SwitchStore({ dataDir })
    const hook = { name: 'guard:PreToolUse#1', ids: [GUARD.id] }
    for (const one of [
      off(),
      off({ project, hook }),
      off({ plugin: 'other' }),
      off({ from: 'project', project }),
    ])
      store.turnOff(one, NOW)
    store.forget({ plugin: 'guard', from: 'user' }, undefined, NOW)
    expect(store.inForce(NOW)).toEqual([off({ plugin: 'other' }), off({ from: 'project', project })])
    store.forget({ plugin: 'guard', from: 'project' }, join(base, 'elsewhere'), NOW)
    expect(store.inForce(NOW)).toHaveLength(2)
    store.forget({ plugin: 'guard', from: 'project' }, project, NOW)
    expect(store.inForce(NOW)).toEqual([off({ plugin: 'other' })])
  })

  it('does not make its folder to look', () => {
    new SwitchStore({ dataDir }).inForce(NOW)
    new SwitchStore({ dataDir }).sweep(NOW)
    expect(readdirSync(base)).toEqual(['project'])
  })
})

describe('as createHooks asks', () => {
  const hookOf = (admit: ReturnType<typeof switches>) =>
    admit({ id: GUARD.id, origin: { scope: 'user', source: 'guard' } } as Parameters<typeof admit>[0])

  it('refuses from the next event on, and admits again when it is over', async () => {
    let now = NOW
    mkdirSync(join(project, '.amplifier/hooks'), { recursive: true })
    const group = { matcher: 'Bash', hooks: [{ type: 'command', command: 'exit 2' }] }
    writeFileSync(
      join(project, '.amplifier/hooks/hooks.json'),
      JSON.stringify({ hooks: { PreToolUse: [group] } }),
    )
    const admit = switches({ projectDir: project, dataDir, clock: () => now })
    const home = join(base, 'home')
    await using hooks = await createHooks({ projectDir: project, home, trust: 'all', globals: false, admit })
    const fire = () =>
      hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect((await fire()).action).toBe('deny')
    const mine = { plugin: 'project', from: 'project', project, until: at(NOW + HOUR) } as const
    new SwitchStore({ dataDir }).turnOff(off(mine), NOW)
    const outcome = await fire()
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks).toMatchObject([{ status: 'skipped', why: 'disabled' }])
    expect(outcome.hooks[0]?.detail).toContain(`until ${localTime(at(NOW + HOUR))}`)
    now = NOW + HOUR
    expect((await fire()).action).toBe('deny')
  })

  it('a project is the same through a link', () => {
    symlinkSync(project, join(base, 'link'))
    new SwitchStore({ dataDir }).turnOff(off({ project: projectKey(join(base, 'link')) }), NOW)
    expect(hookOf(switches({ projectDir: project, dataDir }))).toMatchObject({ why: 'disabled' })
    expect(hookOf(switches({ projectDir: join(base, 'link'), dataDir }))).toMatchObject({ why: 'disabled' })
  })

  it.each([
    ['is no JSON', '{'],
    [
      'has a switch without an end that is a time',
      '{"format":1,"value":[{"plugin":"guard","from":"user","since":"2026","by":"x","until":"soon"}]}',
    ],
    ['is for another thing', '{"format":1,"value":{"all":"off"}}'],
  ])('a file that %s switches nothing off, and is told', (_, text) => {
    mkdirSync(join(dataDir, 'switches'), { recursive: true })
    writeFileSync(join(dataDir, 'switches', '1.json'), text)
    const told: string[] = []
    const admit = switches({ projectDir: project, dataDir, onTrouble: (one) => told.push(one) })
    expect([hookOf(admit), hookOf(admit)]).toEqual([true, true])
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('nothing is switched off')
  })

  it('a lasting problem is reported once, and nothing is switched off', () => {
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'switches'), 'no folder')
    const told: string[] = []
    const admit = switches({ dataDir, onTrouble: (one) => told.push(one) })
    expect([hookOf(admit), hookOf(admit)]).toEqual([true, true])
    expect(told).toHaveLength(1)
  })

  it('a project cannot bring its own', () => {
    const inside = join(project, 'data')
    new SwitchStore({ dataDir: inside }).turnOff(off(), NOW)
    const told: string[] = []
    const options = { projectDir: project, dataDir: inside, onTrouble: (one: string) => told.push(one) }
    expect(hookOf(switches(options))).toBe(true)
    expect(told[0]).toContain('is inside the project')
  })
})
