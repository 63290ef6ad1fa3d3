// What the kernel does for hooks that come from files: sameness, printed output, fields for the host, trust.

import { createHooks, type Hook, HookRegistry } from 'carabiner'
import { describe, expect, it } from 'vitest'
import { HookList, Layers } from '../../src/core/session/engine.js'
import { laneHook, madeHook } from './made-hook.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

function registryOf(...hooks: readonly Hook[]): HookRegistry {
  const registry = new HookRegistry()
  for (const hook of hooks) registry.add(hook)
  return registry
}

describe('the same hook twice', () => {
  const counting = () => {
    const ran: string[] = []
    const named = (name: string, more: Partial<Hook> = {}) =>
      laneHook(name, { sameAs: 'project:check.sh', run: () => void ran.push(name), ...more })
    return { ran, named }
  }

  it('runs once, and the other is skipped as a duplicate', async () => {
    const { ran, named } = counting()
    const { hooks } = await registryOf(named('a'), named('b')).emit('PreToolUse', CALL)
    expect(ran).toEqual(['a'])
    expect(hooks).toMatchObject([
      { name: 'a', status: 'ran' },
      { name: 'b', status: 'skipped', why: 'duplicate' },
    ])
  })

  it('runs in the place of one that was not admitted', async () => {
    const { ran, named } = counting()
    const registry = registryOf(named('a', { condition: () => 'not now' }), named('b'))
    await registry.emit('PreToolUse', CALL)
    expect(ran).toEqual(['b'])
  })

  it.each(['final', 'all', 'skipped'] as const)(
    'judges what a hook between them made of the call (recheck %s)',
    async (recheck) => {
      const judged: unknown[] = []
      const run: Hook['run'] = ({ data }) => void judged.push(data.tool_input)
      const same = (name: string) => madeHook(name, { sameAs: 'project:check.sh', run })
      const changed = { command: 'rm -rf /' }
      const between = madeHook('between', {
        run: () => ({ action: 'modify', data: { tool_input: changed } }),
      })
      const globals = new HookRegistry({ scope: 'global' })
      for (const hook of [same('a'), between, same('b')]) globals.add(hook)
      const hooks = await createHooks({ globals, settings: { recheck } })
      await hooks.session().fire('PreToolUse', CALL)
      expect(judged).toContainEqual(changed)
    },
  )

  it('is another hook where the key differs, or where there is none', async () => {
    const { ran, named } = counting()
    await registryOf(named('a'), named('b', { sameAs: 'other' }), laneHook('c'), laneHook('d')).emit(
      'PreToolUse',
      CALL,
    )
    expect(ran).toEqual(['a', 'b'])
  })
})

describe('what a hook printed', () => {
  it('is in the trace', async () => {
    const hook = laneHook('echo', {
      run: (_event, context) => context.printed({ stdout: 'hi', stderr: 'oh' }),
    })
    const { hooks } = await registryOf(hook).emit('PreToolUse', CALL)
    expect(hooks).toMatchObject([{ name: 'echo', stdout: 'hi', stderr: 'oh' }])
  })

  it('is in the trace of a failure, too', async () => {
    const run: Hook['run'] = (_event, context) => {
      context.printed({ stderr: 'Traceback' })
      throw new Error('exited with 1')
    }
    const { hooks } = await registryOf(laneHook('broken', { run })).emit('PreToolUse', CALL)
    expect(hooks).toMatchObject([{ status: 'failed', stderr: 'Traceback' }])
  })

  it('is left out where the answer suppresses it', async () => {
    const run: Hook['run'] = (_event, context) => {
      context.printed({ stdout: 'secret' })
      return { action: 'continue', suppressOutput: true }
    }
    const { hooks } = await registryOf(laneHook('shy', { run })).emit('PreToolUse', CALL)
    expect(hooks[0]).not.toHaveProperty('stdout')
  })

  it('belongs to the hook that printed it', async () => {
    const first = madeHook('first', { run: (_event, context) => context.printed({ stdout: 'mine' }) })
    const { hooks } = await registryOf(first, madeHook('second')).emit('PreToolUse', CALL)
    expect(hooks[1]).not.toHaveProperty('stdout')
  })
})

describe('fields for the host', () => {
  const saying = (name: string, host: object, more: object = {}) =>
    laneHook(name, { events: 'all', run: () => ({ action: 'continue', host, ...more }) })

  it('are kept in hook order: lists add up, otherwise the later wins', async () => {
    const { host } = await registryOf(
      saying('a', { watchPaths: ['x'], sessionTitle: 'one' }),
      saying('b', { watchPaths: ['y'], sessionTitle: 'two' }),
    ).emit('PreToolUse', CALL)
    expect(host).toEqual({ watchPaths: ['x', 'y'], sessionTitle: 'two' })
  })

  it('are absent where nobody has any', async () => {
    expect(await registryOf(laneHook('a')).emit('PreToolUse', CALL)).not.toHaveProperty('host')
  })

  it('of an allow do not survive a deny; those of the deny do', async () => {
    const { host } = await registryOf(
      saying('allows', { updatedPermissions: [{ type: 'addRules' }] }, { permission: 'allow' }),
      saying('denies', { interrupt: true }, { action: 'deny', reason: 'no' }),
    ).emit('PermissionRequest', CALL)
    expect(host).toEqual({ interrupt: true })
  })

  it('of an allow do not survive an ask', async () => {
    const outcome = await registryOf(
      saying('allows', { updatedPermissions: [{ type: 'addRules' }] }, { permission: 'allow' }),
      saying('asks', {}, { action: 'ask_user', approvalPrompt: 'sure?' }),
    ).emit('PreToolUse', CALL)
    expect(outcome.action).toBe('ask_user')
    expect(outcome.host ?? {}).not.toHaveProperty('updatedPermissions')
  })

  it('that are no object make the answer invalid', async () => {
    const { hooks } = await registryOf(
      laneHook('odd', { run: () => ({ action: 'continue', host: 'x' }) }),
    ).emit('PreToolUse', CALL)
    expect(hooks).toMatchObject([{ status: 'failed', why: 'ANSWER_INVALID' }])
  })
})

describe('a hook that was not trusted', () => {
  it('is said so to the user, with the place to look at', async () => {
    const hooks = await createHooks({
      globals: false,
      admit: () => ({ why: 'untrusted', detail: 'Look at it.' }),
    })
    hooks.register('PreToolUse', () => ({ action: 'deny', reason: 'no' }), { name: 'gate' })
    const outcome = await hooks.session().fire('PreToolUse', CALL)
    expect(outcome.action).toBe('continue')
    expect(outcome.messages).toMatchObject([{ level: 'warning', source: 'gate' }])
    expect(outcome.messages[0]?.text).toBe(
      'Hook gate is untrusted and did not run; PreToolUse went on without its gate. Look at it.',
    )
    expect(outcome.diagnostics).toMatchObject([{ code: 'untrusted' }])
  })
})

describe('a list of hooks', () => {
  it('is replaced in one change, and seen by whoever is built on it', () => {
    const list = new HookList()
    const layers = new Layers([list])
    list.replace([madeHook('a'), madeHook('b')])
    expect(
      layers
        .snapshot()
        .all()
        .map(({ name }) => name),
    ).toEqual(['a', 'b'])
    list.replace([madeHook('c')])
    expect(
      layers
        .snapshot()
        .all()
        .map(({ name }) => name),
    ).toEqual(['c'])
  })
})
