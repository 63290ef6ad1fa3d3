// A gate that a limit of ours cut short: it blocks, and a stop once.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, deny, HookRegistry, type Hooks, type Outcome } from 'carabiner'
import type { Hook } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HookContext } from '../../src/core/hooks/hook.js'
import { madeHook } from './made-hook.js'

let folder: string
let hooks: Hooks | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-cut-'))
  mkdirSync(join(folder, 'project'))
})
afterEach(async () => {
  await hooks?.close()
  rmSync(folder, { recursive: true, force: true })
})

const SLOW = { type: 'command', command: 'sleep 300' }

const HOOKS_FILE = '.amplifier/hooks/hooks.json'

/** A session under the user's hooks and settings. */
async function opened(events: object, settings: object, file = HOOKS_FILE) {
  write(file, events)
  write('.amplifier/settings.json', settings)
  const home = join(folder, 'home')
  hooks = await createHooks({ projectDir: join(folder, 'project'), home, globals: false })
  return hooks.session({ id: 's' })
}

/** Into a file of the user's home. */
function write(file: string, content: object): void {
  const path = join(folder, 'home', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ hooks: content }))
}

const on = (event: string, handler: object) => ({ [event]: [{ hooks: [handler] }] })
const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const CAP = { max_timeout: 0.2 }
const warnings = ({ messages }: Outcome) => messages.map(({ text }) => text).join('\n')

describe('D8: a gate that a limit of ours cut short', () => {
  it.each([
    ['says more than the limit', { ...SLOW, timeout: 100 }, '.amplifier/hooks/hooks.json'],
    ['says nothing', SLOW, '.amplifier/hooks/hooks.json'],
    ["says nothing in a plugin of Claude Code's", SLOW, '.amplifier/hooks/p/hooks/hooks.json'],
  ])('blocks if it %s', async (_, handler, file) => {
    const session = await opened(on('PreToolUse', handler), CAP, file)
    const outcome = await session.fire('PreToolUse', BASH)
    expect([outcome.action, outcome.hooks[0]?.why]).toEqual(['deny', 'HOOK_TIMEOUT'])
    expect(outcome.reason).toMatch(/was cut short: .*0\.2 s.*Raise "max_timeout" under "hooks"/)
  })

  it('goes on if its own time-out is over, as it asked', async () => {
    const session = await opened(on('PreToolUse', { ...SLOW, timeout: 0.2 }), {})
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  it('holds nothing up if it is async', async () => {
    const session = await opened(on('PreToolUse', { ...SLOW, async: true }), CAP)
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  it('is no logger: that one fails as it asked, which is told', async () => {
    const session = await opened(on('PreToolUse', { ...SLOW, observe: true }), CAP)
    const outcome = await session.fire('PreToolUse', BASH)
    expect([outcome.action, outcome.hooks[0]?.status, outcome.hooks[0]?.why]).toEqual([
      'continue',
      'failed',
      'HOOK_TIMEOUT',
    ])
  })

  it('changes nothing where a deny only tells the model', async () => {
    const session = await opened(on('PostToolUse', SLOW), CAP)
    const outcome = await session.fire('PostToolUse', { ...BASH, tool_response: 'x' })
    expect([outcome.action, outcome.injections]).toEqual(['continue', []])
  })

  it.each(['Stop', 'SubagentStop'])('refuses %s once, then lets it pass aloud', async (event) => {
    const session = await opened(on(event, SLOW), CAP)
    const stop = (more = {}) => session.fire(event, more)
    expect((await stop()).action).toBe('deny')
    const second = await stop({ stop_hook_active: true })
    expect([second.action, warnings(second)]).toEqual([
      'continue',
      expect.stringContaining('Stop is allowed'),
    ])
    expect(warnings(second)).toContain('max_timeout')
    // A tool call between makes no difference: it would be refused for ever.
    await session.fire('PreToolUse', BASH)
    expect((await stop()).action).toBe('continue')
    await session.fire('UserPromptSubmit', { prompt: 'on' })
    expect((await stop()).action).toBe('deny')
  })

  it('refuses a stop once for itself, also if another was cut short before', async () => {
    const session = await opened(on('Stop', SLOW), CAP)
    const stop = async (active: boolean) => (await session.fire('Stop', { stop_hook_active: active })).action
    expect(await stop(false)).toBe('deny')
    write(HOOKS_FILE, { Stop: [{ hooks: [SLOW, { ...SLOW, command: 'sleep 301' }] }] })
    await hooks?.reload()
    expect([await stop(true), await stop(true)]).toEqual(['deny', 'continue'])
  })

  it('lets a stop pass that was refused before and forgotten', async () => {
    const session = await opened(on('Stop', SLOW), CAP)
    expect((await session.fire('Stop', { stop_hook_active: true })).action).toBe('continue')
  })

  it('does not take away from a gate that refuses with a reason', async () => {
    const session = await opened(on('Stop', SLOW), CAP)
    session.register('Stop', () => deny('more'))
    for (const active of [false, true, true]) {
      expect((await session.fire('Stop', { stop_hook_active: active })).action).toBe('deny')
    }
  })
})

describe('a gate for which the time of the whole fire is too short', () => {
  const quick = { type: 'command', command: 'exit 0' }
  const inTurn = (event: string, ...hooks: readonly object[]) => ({ [event]: [{ sequential: true, hooks }] })

  it('blocks if it is cut short', async () => {
    const session = await opened(on('PreToolUse', { ...SLOW, timeout: 400 }), {})
    const outcome = await session.fire('PreToolUse', BASH, { timeout: 0.2 })
    expect([outcome.action, outcome.hooks[0]?.why]).toEqual(['deny', 'HOOK_TIMEOUT'])
    expect(outcome.reason).toMatch(/did not judge.*before the event's deadline.*give the event more time/)
  })

  it('blocks if it was not asked, and names the hook that used the time up', async () => {
    const slow = { ...SLOW, async: false, observe: true }
    const session = await opened(inTurn('PreToolUse', slow, quick), {})
    const outcome = await session.fire('PreToolUse', BASH, { timeout: 0.2 })
    expect(outcome.action).toBe('deny')
    const [first, second] = outcome.hooks.map(({ name }) => name)
    expect(outcome.reason).toContain(`Hook ${second} did not judge: it was not started`)
    expect(outcome.reason).toMatch(new RegExp(`Make ${first} faster \\(it took \\d+\\.\\d+ s\\)`))
  })

  it('is named with the hook of an earlier step', async () => {
    const session = await opened(on('PreToolUse', quick), {})
    const wait = () => new Promise<undefined>((resolve) => setTimeout(resolve, 1000, undefined))
    session.register('PreToolUse', wait, { name: 'waits', observe: true, onFailure: 'continue' })
    const outcome = await session.fire('PreToolUse', BASH, { timeout: 0.2 })
    expect([outcome.action, outcome.reason]).toEqual(['deny', expect.stringContaining('Make waits faster')])
  })

  it('goes on if its own time-out was over first, as it asked', async () => {
    const session = await opened(on('PreToolUse', { ...SLOW, timeout: 0.2 }), {})
    expect((await session.fire('PreToolUse', BASH, { timeout: 60 })).action).toBe('continue')
  })

  it('changes nothing if it only observes, or if a deny only tells the model', async () => {
    const session = await opened(
      { ...on('PreToolUse', { ...SLOW, observe: true }), ...on('PostToolUse', SLOW) },
      {},
    )
    expect((await session.fire('PreToolUse', BASH, { timeout: 0.2 })).action).toBe('continue')
    const after = await session.fire('PostToolUse', { ...BASH, tool_response: 'x' }, { timeout: 0.2 })
    expect([after.action, after.injections]).toEqual(['continue', []])
  })

  it.each(['Stop', 'SubagentStop'])('refuses %s once, then lets it pass aloud', async (event) => {
    const session = await opened(on(event, SLOW), {})
    const stop = (more = {}) => session.fire(event, more, { timeout: 0.2 })
    expect((await stop()).action).toBe('deny')
    const second = await stop({ stop_hook_active: true })
    expect(second.action).toBe('continue')
    expect(warnings(second)).toMatch(/Stop is allowed although .* did not judge it.*give the event more time/)
    expect((await stop()).action).toBe('continue')
  })
})

describe('a gate whose answer may be on its way from another process', () => {
  const gate = (run: Hook['run']) => {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add(madeHook('gate', { run, timeoutMs: 20, onFailure: 'continue' }))
    return createHooks({ globals: registry })
  }
  const fired = async (run: Hook['run']) => {
    hooks = await gate(run)
    const { action, reason, hooks: traces } = await hooks.session().fire('PreToolUse', BASH)
    return [action, reason, traces[0]?.why]
  }
  /** Never answers by itself. */
  const silent = () => new Promise<never>(() => undefined)

  it('has answered if it does so when it is asked at its deadline', async () => {
    const answer = (_: unknown, { atDeadline }: HookContext) =>
      new Promise((resolve) => {
        atDeadline?.(() => {
          resolve(deny('no'))
          return silent()
        })
      })
    expect(await fired(answer)).toEqual(['deny', 'no', undefined])
  })

  it('is late if nothing was on its way', async () => {
    const late = (_: unknown, { atDeadline }: HookContext) => {
      atDeadline?.(async () => true)
      return silent()
    }
    expect(await fired(late)).toEqual(['continue', undefined, 'HOOK_TIMEOUT'])
  })

  it.each<[string, () => Promise<boolean>]>([
    ['nobody knows', async () => false],
    ['asking fails', () => Promise.reject(new Error('lost'))],
    ['nobody says', silent],
  ])('stays closed if %s', async (_, ask) => {
    const lost = (_: unknown, { atDeadline }: HookContext) => {
      atDeadline?.(ask)
      return silent()
    }
    const [action, reason, why] = await fired(lost)
    expect([action, why]).toEqual(['deny', 'HOOK_INTERRUPTED'])
    expect(reason).toContain('judging was interrupted; try again')
  })
})

describe('a gate that cannot run because a file of ours is missing or damaged', () => {
  const fired = async (kind: Hook['kind'], run: Hook['run']) => {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add(madeHook('gate', { kind, run, onFailure: 'continue' }))
    hooks = await createHooks({ globals: registry })
    const { action, hooks: traces } = await hooks.session().fire('PreToolUse', BASH)
    return [action, traces[0]?.why]
  }
  const gone = () => import(join(folder, 'gone.mjs'))

  it('is closed', async () => {
    expect(await fired('http', gone)).toEqual(['deny', 'INSTALL_BROKEN'])
    writeFileSync(join(folder, 'half.cjs'), 'exports.a = {')
    const load = createRequire(join(folder, 'x.cjs'))
    expect(await fired('http', () => load('./half.cjs'))).toEqual(['deny', 'INSTALL_BROKEN'])
    expect(await fired('http', () => load('./gone.cjs'))).toEqual(['deny', 'INSTALL_BROKEN'])
  })

  it('fails by itself if the file may be its own, or a text is no JSON', async () => {
    expect(await fired('function', gone)).toEqual(['continue', 'HOOK_FAILED'])
    expect(await fired('http', () => JSON.parse('{'))).toEqual(['continue', 'HOOK_FAILED'])
  })
})
