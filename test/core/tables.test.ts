import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { ACTIONS, type Action, VERDICTS } from '../../src/core/events/actions.js'
import { CATALOGUE, type EventRow } from '../../src/core/events/catalogue.js'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** A literal list or set of names from a table, outside the table: what somebody who adds a row would have to find. */
function listsOf(names: readonly string[], source: string): string[] {
  const isName = new Set(names)
  return [...source.matchAll(/\[([^[\]]*)\]/g)].flatMap(([, inside = '']) => {
    const words = [...inside.matchAll(/'([^']*)'/g)].map(([, word]) => word ?? '')
    const listed = words.filter((word) => isName.has(word))
    return listed.length >= 3 ? [listed.join(' ')] : []
  })
}

function listsIn(names: readonly string[], allowed: readonly string[]): Record<string, string[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !allowed.some((one) => path.startsWith(one)))
  const found = files.map((path) => [path, listsOf(names, readFileSync(`${SRC}/${path}`, 'utf8'))] as const)
  return Object.fromEntries(found.filter(([, lists]) => lists.length > 0))
}

it('a list of three names is seen, one of two is not', () => {
  const names = ['Stop', 'Setup', 'PreToolUse']
  expect(listsOf(names, "new Set(['Stop', 'Setup', 'PreToolUse'])")).toEqual(['Stop Setup PreToolUse'])
  expect(listsOf(names, "['Stop', 'Setup', 'another']")).toEqual([])
})

// Nobody else may get the kernel with extra rows.
afterAll(() => void vi.resetModules())

describe('a new event is a row of the catalogue', () => {
  const GATE: EventRow = {
    when: 'before a deploy',
    aliases: ['deploy:pre'],
    matcher: 'stage',
    required: { stage: 'string' },
    optional: {},
    deny: 'block',
    denyMeans: 'nothing is deployed',
    onFailure: 'deny',
  }

  /** The kernel as it would be with one more row. */
  async function coreWith(name: string, row: EventRow) {
    vi.resetModules()
    const catalogue = await import('../../src/core/events/catalogue.js')
    Object.assign(catalogue.CATALOGUE, { [name]: row })
    return import('../../src/core/index.js')
  }

  it('that names, checks, matchers, gates and failures follow', async () => {
    const { HookRegistry } = await coreWith('BeforeDeploy', GATE)
    const registry = new HookRegistry()
    registry.register('deploy:pre', () => ({ action: 'deny', reason: 'not on Fridays' }), {
      matcher: 'production',
    })
    registry.register('before_deploy' as string, () => {
      throw new Error('broken')
    })
    expect(await registry.emit('BeforeDeploy' as string, { stage: 'test' })).toMatchObject({ action: 'deny' })
    const outcome = await registry.emit('beforeDeploy' as string, { stage: 'production' })
    expect(outcome).toMatchObject({ action: 'deny', reason: 'not on Fridays' })
    await expect(registry.emit('BeforeDeploy' as string, {})).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
  })

  it('that the turns of a session follow', async () => {
    const row: EventRow = { ...GATE, matcher: null, required: {}, startsTurn: true }
    const { DEFAULT_SETTINGS } = await coreWith('DeployPrompt', row)
    const { Engine } = await import('../../src/core/session/engine.js')
    const { Session } = await import('../../src/core/session/session.js')
    const session = new Session(new Engine({}, DEFAULT_SETTINGS, undefined), {})
    await session.fire('DeployPrompt' as string)
    await session.fire('DeployPrompt' as string)
    expect(session.turnId).toBe('turn-2')
  })

  it('and nothing else lists events, but tables about other systems and agents', () => {
    const foreign = [
      'core/events/catalogue.ts',
      'adapters/mcp/',
      'hosts/',
      'systems/',
      'plugins/migrate/claude-terms.ts',
      'verify/canary.ts',
    ]
    expect(listsIn(Object.keys(CATALOGUE), foreign)).toEqual({})
  })
})

describe('a new action is a row of the table', () => {
  it('that the exit code, the words and the order of verdicts follow', () => {
    const ranks = VERDICTS.map((verdict) => ACTIONS[verdict].rank)
    expect(new Set(ranks).size).toBe(ranks.length)
    for (const verdict of VERDICTS) {
      expect(ACTIONS[verdict].exit).toBeTypeOf('number')
      expect(ACTIONS[verdict].said).toBeTypeOf('string')
    }
    const ending = VERDICTS.filter((verdict) => 'ends' in ACTIONS[verdict])
    expect(ending).toEqual(['deny', 'abort_turn', 'hard_abort'])
  })

  it('that the parser, the lattice, the chain and the guarded call follow', async () => {
    vi.resetModules()
    const actions = await import('../../src/core/events/actions.js')
    const pause = { rank: 3.5, ends: true, aborts: 'TURN_ABORTED', exit: 4, said: 'paused', tone: 'open' }
    Object.assign(actions.ACTIONS, { pause_turn: pause, nudge: { needs: 'contextInjection', tone: 'good' } })
    const { DEFAULT_SETTINGS, parseResult } = await import('../../src/core/index.js')
    const { Engine } = await import('../../src/core/session/engine.js')
    const { Session } = await import('../../src/core/session/session.js')
    const call = { tool_name: 'Bash', tool_input: {} }
    const answering = (...answers: readonly object[]) => {
      const session = new Session(new Engine({}, DEFAULT_SETTINGS, undefined), {})
      for (const answer of answers) session.register('PreToolUse', () => answer as never)
      return session
    }

    expect(() => parseResult({ action: 'nudge' }, [])).toThrow('nudge needs contextInjection')
    const nudged = await answering({ action: 'nudge', contextInjection: 'go' }).fire('PreToolUse', call)
    expect(nudged).toMatchObject({ action: 'continue', injections: [{ text: 'go' }] })

    const paused = answering(
      { action: 'ask_user' },
      { action: 'pause_turn', reason: 'lunch' },
      { action: 'deny' },
    )
    const outcome = await paused.fire('PreToolUse', call)
    expect(outcome).toMatchObject({ action: 'pause_turn', reason: 'lunch' })
    expect(outcome.hooks.map(({ status, why }) => why ?? status)).toEqual(['ran', 'ran', 'ended'])
    const guarded = paused.callTool({ name: 'Bash', input: {} }, () => 'ran')
    await expect(guarded).rejects.toMatchObject({ code: 'TURN_ABORTED', message: 'lunch' })
  })

  it('and nothing else lists actions, but tables about other systems', () => {
    const actions = Object.keys(ACTIONS) as Action[]
    expect(listsIn(actions, ['core/events/actions.ts', 'systems/'])).toEqual({})
  })
})
