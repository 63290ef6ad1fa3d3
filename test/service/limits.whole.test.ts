// Limits of rules through clip and the service: counts are exact for processes that ask at once, and outlive a kill.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Run, withProgram } from '../cli/program.js'
import { isThere } from '../runners/until.js'
import { eventually, isServable, Scene } from './scene.js'

withProgram('own')

const FEW = { id: 'few', effects: ['install'], then: 'deny', at_most: 5, per: 'session' }
const FIRE = ['fire', '--as', 'claude-code']

describe.skipIf(!isServable)('a limit', () => {
  let scene: Scene
  let ids = 0
  beforeEach(() => {
    scene = new Scene()
  })
  afterEach(() => scene.remove())

  function rules(...list: readonly object[]): void {
    scene.file('home/.amplifier/rules.json', { rules: list })
  }

  const call = (command: string, id = `toolu_${++ids}`) => ({
    args: FIRE,
    input: {
      ...{ hook_event_name: 'PreToolUse', session_id: 's', cwd: scene.project, tool_use_id: id },
      ...{ tool_name: 'Bash', tool_input: { command } },
    },
  })
  const warm = (command: string, id?: string) => scene.warm(call(command, id))
  const cold = (command: string, id?: string) => scene.cold(call(command, id))
  /** As an agent calls it: through the service, or without it if it does not answer. */
  const either = (command: string, id?: string) => scene.call(call(command, id))
  const verdict = ({ stdout, stderr }: Run): string => {
    if (stdout.includes('"continue":false')) return 'end'
    return /"permissionDecision":"deny"|The rule \w+ forbids/.test(stdout + stderr) ? 'deny' : 'pass'
  }
  const verdicts = (runs: readonly Run[]) => runs.map(verdict).sort()
  const times = <T>(n: number, make: (i: number) => T): readonly T[] =>
    Array.from({ length: n }, (_, i) => make(i))
  const kill = async () => {
    const { status } = await scene.service()
    process.kill(status.pid, 'SIGKILL')
    await eventually('the service is gone', () => !isThere(status.pid))
  }

  it('lets exactly so many of the calls pass that several processes make at the same time', async () => {
    rules(FEW)
    await scene.startService()
    const made = await Promise.all(times(12, (i) => warm(`npm install x${i}`)))
    expect(verdicts(made)).toEqual([...Array(7).fill('deny'), ...Array(5).fill('pass')])
  })

  it('is the same one with and without the service', async () => {
    rules(FEW)
    await scene.startService()
    const made = await Promise.all(
      times(10, (i) => (i % 2 ? warm(`npm install x${i}`) : cold(`npm install x${i}`))),
    )
    expect(verdicts(made)).toEqual([...Array(5).fill('deny'), ...Array(5).fill('pass')])
  })

  it('goes on after the service was killed between two calls', async () => {
    rules(FEW, { id: 'loop', effects: ['read'], then: 'deny', same_call: 2, per: 'turn' })
    await scene.startService()
    const before = [await warm('npm install a'), await warm('npm install b'), await warm('cat x')]
    expect(verdicts(before)).toEqual(['pass', 'pass', 'pass'])
    await kill()
    await scene.startService()
    const after = []
    for (const name of ['c', 'd', 'e', 'f']) after.push(verdict(await warm(`npm install ${name}`)))
    expect(after).toEqual(['pass', 'pass', 'pass', 'deny'])
    expect([verdict(await warm('cat x')), verdict(await warm('cat x'))]).toEqual(['pass', 'deny'])
    expect(verdict(await warm('cat y'))).toBe('pass')
  })

  it('lets exactly so many calls pass while the service is killed', async () => {
    rules(FEW)
    await scene.startService()
    const asked = times(10, (i) => either(`npm install x${i}`))
    await kill()
    const made = await Promise.all(asked)
    expect(made.filter((run) => verdict(run) === 'pass').length).toBeLessThanOrEqual(5)
    const later = await Promise.all(times(6, (i) => either(`npm install y${i}`)))
    const passed = verdicts([...made, ...later]).filter((one) => one === 'pass')
    expect(passed).toHaveLength(5)
  })

  it('counts tokens', async () => {
    rules({ id: 'budget', effects: '*', then: 'deny', tokens: 100, per: 'session' })
    await scene.startService()
    const usage = { input_tokens: 20, output_tokens: 20 }
    const answered = (i: number) =>
      scene.warm({
        args: FIRE,
        input: {
          ...{ hook_event_name: 'ModelResponse', session_id: 's', cwd: scene.project, model: 'm' },
          response: { content: `${i}`, usage },
        },
      })
    await Promise.all([answered(1), answered(2)])
    expect(verdict(await warm('ls'))).toBe('pass')
    await kill()
    await scene.startService()
    await answered(3)
    expect(verdict(await warm('ls'))).toBe('deny')
  })

  it('on denies ends the turn, and a call that two registrations ask about is one of them', async () => {
    rules(
      { id: 'keep', effects: ['delete'], then: 'deny' },
      { id: 'stuck', effects: '*', then: 'end_turn', denies: 3, per: 'turn' },
    )
    await scene.startService()
    const found: string[][] = []
    for (const id of ['a', 'b', 'c', 'd'])
      found.push((await Promise.all([warm(`rm ${id}`, id), warm(`rm ${id}`, id)])).map(verdict))
    expect(found).toEqual([...Array(3).fill(['deny', 'deny']), ['end', 'end']])
  })

  /** The folder of the sessions' state. */
  const sessions = (): string => {
    const found = readdirSync(scene.path('state'), { recursive: true, encoding: 'utf8' })
    const path = found.find((one) => /\/sessions$/.test(one))
    if (path === undefined) throw new Error(`there are no sessions: ${found.join(' ')}`)
    return join(scene.path('state'), path)
  }

  it('that cannot be counted any more denies, or warns if it says so', async () => {
    rules(FEW, { ...FEW, id: 'soft', effects: ['send'], uncounted: 'warn' })
    await scene.startService()
    const first = [await warm('npm install a'), await warm('curl -d x https://example.com')]
    expect(verdicts(first)).toEqual(['pass', 'pass'])
    rmSync(sessions(), { recursive: true })
    expect(existsSync(scene.path('state'))).toBe(true)
    const denied = await warm('npm install b')
    expect(verdict(denied)).toBe('deny')
    expect(denied.stdout + denied.stderr).toContain('cannot be counted')
    const warned = await warm('curl -d x https://example.com')
    expect(verdict(warned)).toBe('pass')
    expect(warned.stdout + warned.stderr).toContain('The limit of the rule soft is off')
  })
})
