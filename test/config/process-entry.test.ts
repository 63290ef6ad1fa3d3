// Entries under `processes`: what a file may say, what is in force where it says nothing, and what is said about slips.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ConfiguredProcess } from '../../src/config/configured-hook.js'
import { type LoadedConfig, loadConfig } from '../../src/config/load.js'
import { load, loadPlugin, loadRoot, sourcesIn, tree } from './temp-tree.js'

const GATE = { command: ['python3', 'gate.py'], intercept: ['before_tool'] }

const processesOf = ({ specs }: LoadedConfig) =>
  specs.filter((spec) => spec.type === 'process') as ConfiguredProcess[]

async function readOne(entry: unknown) {
  const loaded = await loadRoot({ processes: { gate: entry } })
  return { process: processesOf(loaded)[0], diagnostics: loaded.diagnostics }
}

describe('an entry', () => {
  it('with command and intercept has PicoClaw’s time-outs, priority 0 and is started again', async () => {
    const { process, diagnostics } = await readOne(GATE)
    expect(diagnostics).toEqual([])
    expect(process).toMatchObject({
      type: 'process',
      processName: 'gate',
      hook: { name: 'project:gate', kind: 'process', priority: 0, lane: null, onFailure: 'byEvent' },
      handler: {
        command: ['python3', 'gate.py'],
        intercept: ['before_tool'],
        observe: [],
        timeouts: { observe: 0.5, intercept: 5, approve: 60, hello: 5 },
        restart: { delay: 0.25, maxDelay: 30, attempts: 5 },
      },
    })
    expect(process?.hook.origin).toMatchObject({ scope: 'project', line: 3 })
  })

  it('may say all of it', async () => {
    const { process, diagnostics } = await readOne({
      description: 'a remark',
      enabled: true,
      command: ['./gate', '--fast'],
      dir: 'tools',
      env: { MODE: 'strict' },
      priority: -5,
      transport: 'stdio',
      observe: ['*'],
      intercept: ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool', 'before_tool', ''],
      timeouts: { intercept: 0.1, approve: 120 },
      onFailure: 'block',
      restart: { attempts: 2 },
      maxLineBytes: 4096,
    })
    expect(diagnostics).toEqual([])
    expect(process).toMatchObject({
      hook: { priority: -5, onFailure: 'block', timeoutMs: 100 },
      handler: {
        dir: 'tools',
        env: { MODE: 'strict' },
        observe: ['*'],
        intercept: ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool'],
        timeouts: { observe: 0.5, intercept: 0.1, approve: 120, hello: 5 },
        restart: { delay: 0.25, maxDelay: 30, attempts: 2 },
        maxLineBytes: 4096,
      },
    })
  })

  it('with "restart": false is never started again', async () => {
    expect((await readOne({ ...GATE, restart: false })).process?.handler.restart.attempts).toBe(0)
    expect((await readOne({ ...GATE, restart: true })).process?.handler.restart.attempts).toBe(5)
  })

  it('with "enabled": false is listed, and says where it was switched off', async () => {
    const { process } = await readOne({ ...GATE, enabled: false })
    expect(process?.disabled).toEqual({
      setting: '"enabled": false',
      file: expect.stringMatching(/hooks\.json$/),
      line: 11,
    })
  })

  it('time-outs above max_timeout are lowered, and said', async () => {
    const { process, diagnostics } = await readOne({ ...GATE, timeouts: { approve: 5000 } })
    expect(process?.handler.timeouts.approve).toBe(300)
    expect(diagnostics).toMatchObject([{ code: 'timeout-clamped', text: expect.stringContaining('approve') }])
  })

  it.each([
    ['no object', 'python3 gate.py', /an object with "command"/],
    ['no command', { intercept: ['before_tool'] }, /needs "command"/],
    ['a command in one text', { ...GATE, command: 'python3 gate.py' }, /"command" must be a list/],
    ['an empty command', { ...GATE, command: [] }, /"command" must be a list/],
    ['an empty program', { ...GATE, command: ['', 'x'] }, /"command" must be a list/],
    ['a NUL', { ...GATE, command: ['a', 'b\0'] }, /"command" must be a list/],
    ['another transport', { ...GATE, transport: 'tcp' }, /"transport" must be "stdio"/],
    [
      'a point that does not exist',
      { ...GATE, intercept: ['before_tools'] },
      /"intercept" must be a list of/,
    ],
    ['nothing to do', { command: ['x'] }, /nothing to do/],
    ['nothing to do but an empty point', { command: ['x'], intercept: [''] }, /nothing to do/],
    ['a list of environment', { ...GATE, env: ['A=1'] }, /"env" must be an object of strings/],
    ['a variable with an equals sign', { ...GATE, env: { 'A=B': '1' } }, /"env" must be/],
    ['a time-out of nothing', { ...GATE, timeouts: { intercept: 0 } }, /"timeouts" must be/],
    ['a time-out nobody knows', { ...GATE, timeouts: { tool: 1 } }, /"timeouts" must be/],
    ['lines of nothing', { ...GATE, maxLineBytes: 0 }, /"maxLineBytes" must be a number of bytes/],
    ['half an attempt', { ...GATE, restart: { attempts: 0.5 } }, /"restart" must be/],
    ['a priority in words', { ...GATE, priority: 'high' }, /"priority" must be a number/],
    ['"enabled" in words', { ...GATE, enabled: 'no' }, /"enabled" must be true or false/],
  ])('%s is left out with file and line, its neighbours are not', async (_, entry, text) => {
    const loaded = await loadRoot({ processes: { bad: entry, gate: GATE } })
    expect(processesOf(loaded).map(({ processName }) => processName)).toEqual(['gate'])
    expect(loaded.diagnostics).toMatchObject([
      {
        code: 'entry-invalid',
        text: expect.stringMatching(text),
        file: expect.stringMatching(/hooks\.json$/),
      },
    ])
    expect(loaded.diagnostics[0]?.line).toBeGreaterThan(1)
  })

  it('with a mode nobody knows stays and counts', async () => {
    const { process, diagnostics } = await readOne({ ...GATE, mode: 'quiet' })
    expect(process?.hook.mode).toBe('enforce')
    expect(diagnostics).toMatchObject([
      { code: 'entry-invalid', text: expect.stringMatching(/"mode" must be .*; "enforce" is in force$/) },
    ])
  })

  it('with a policy nobody knows stays and fails closed', async () => {
    const { process, diagnostics } = await readOne({ ...GATE, onFailure: 'deny' })
    expect(process?.hook.onFailure).toBe('block')
    expect(diagnostics).toMatchObject([
      { code: 'entry-invalid', text: expect.stringMatching(/"onFailure" must be .*; "block" is in force$/) },
    ])
  })

  it.each([
    ['on_failure', 'onFailure'],
    ['args', '"command"'],
    ['cwd', '"dir"'],
    ['timeout', '"timeouts"'],
    ['colour', 'is not a key of a process'],
  ])('the key %s is ignored, and said what was meant', async (key, meant) => {
    const { process, diagnostics } = await readOne({ ...GATE, [key]: 'x' })
    expect(process).toBeDefined()
    expect(diagnostics).toMatchObject([{ code: 'unknown-key', text: expect.stringContaining(meant) }])
  })

  it.each([
    ['a list', []],
    ['a text', 'x'],
    ['null', null],
  ])('`processes` that are %s', async (_, processes) => {
    expect((await loadRoot({ processes })).diagnostics).toMatchObject([{ code: 'entry-invalid' }])
  })
})

describe('where processes may stand', () => {
  it('in a plugin, whose folder is theirs', async () => {
    const [process] = processesOf(await loadPlugin({ processes: { gate: GATE } }))
    expect(process).toMatchObject({ hook: { name: 'guard:gate' }, place: { plugin: { name: 'guard' } } })
  })

  it('the user’s come first', async () => {
    const loaded = await load({
      'home/.amplifier/hooks/hooks.json': { processes: { mine: GATE } },
      'project/.amplifier/hooks/hooks.json': { processes: { theirs: GATE } },
    })
    expect(processesOf(loaded).map(({ hook }) => hook.name)).toEqual(['user:mine', 'project:theirs'])
  })

  it('in PicoClaw’s own file, under "hooks", with its time-outs in milliseconds', async () => {
    const root = tree({
      'config.json': {
        hooks: {
          enabled: true,
          defaults: { observer_timeout_ms: 250, interceptor_timeout_ms: 1000, approval_timeout_ms: 0 },
          builtins: { audit: { enabled: true } },
          processes: { gate: { ...GATE, enabled: true, priority: 100, timeouts: { hello: 2 } } },
        },
      },
    })
    const loaded = await loadConfig(sourcesIn(root, { files: [join(root, 'config.json')] }))
    expect(processesOf(loaded)).toMatchObject([
      {
        hook: { priority: 100 },
        handler: { timeouts: { observe: 0.25, intercept: 1, approve: 60, hello: 2 } },
      },
    ])
    expect(loaded.diagnostics).toMatchObject([{ code: 'entry-unsupported', text: /"audit"/ }])
  })

  it('not at the top of a settings file, where another agent may mean something else', async () => {
    const loaded = await load({ 'project/.amplifier/settings.json': { processes: { gate: GATE } } })
    expect(processesOf(loaded)).toEqual([])
  })
})

describe('an id', () => {
  const idOf = async (entry: object) => (await readOne(entry)).process?.hook.id

  it('is that of the content: another command, environment or point is another hook', async () => {
    const same = await idOf({ intercept: ['before_tool'], command: ['python3', 'gate.py'] })
    expect(same).toBe(await idOf(GATE))
    expect(same).not.toBe(await idOf({ ...GATE, command: ['python3', 'other.py'] }))
    expect(same).not.toBe(await idOf({ ...GATE, env: { A: '1' } }))
    expect(same).not.toBe(await idOf({ ...GATE, intercept: ['approve_tool'] }))
  })
})
