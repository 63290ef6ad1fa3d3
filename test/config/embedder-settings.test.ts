import { createHooks, type Settings } from 'carabiner'
import { describe, expect, it } from 'vitest'
import { DEFAULT_MERGED, embedderSettings } from '../../src/config/merged-settings.js'
import { tree } from './temp-tree.js'

const refused = (message: string) => expect.objectContaining({ code: 'OPTIONS_INVALID', message })

describe('defaults', () => {
  it('fill in what is not given', () => {
    expect(embedderSettings()).toEqual(DEFAULT_MERGED)
    expect(embedderSettings({})).toEqual(DEFAULT_MERGED)
    expect(embedderSettings({ stop_block_cap: 2 })).toEqual({ ...DEFAULT_MERGED, stop_block_cap: 2 })
  })

  it('stand where a key is undefined', () => {
    const given = { recheck: undefined } as unknown as Partial<Settings>
    expect(embedderSettings(given)).toEqual(DEFAULT_MERGED)
  })
})

describe('values', () => {
  it.each<Partial<Settings>>([
    { on_failure: 'block' },
    { injection_size_limit: null },
    { injection_size_limit: 0 },
    { injection_budget_per_turn: null },
    { injection_budget_per_turn: 5 },
    { stop_block_cap: 0 },
    { stop_block_total: 1 },
    { recheck: 'all' },
    { protect_system_messages: false },
  ])('%j is taken', (given) => {
    expect(embedderSettings(given)).toEqual({ ...DEFAULT_MERGED, ...given })
  })

  it.each<[object, string]>([
    [{ on_failure: 'deny' }, 'settings: on_failure must be "continue" or "block", got "deny"'],
    [
      { injection_size_limit: -1 },
      'settings: injection_size_limit must be a number of bytes, or null, got -1',
    ],
    [
      { injection_size_limit: 1.5 },
      'settings: injection_size_limit must be a number of bytes, or null, got 1.5',
    ],
    [
      { injection_budget_per_turn: '5' },
      'settings: injection_budget_per_turn must be a number of tokens, or null, got "5"',
    ],
    [{ stop_block_cap: null }, 'settings: stop_block_cap must be a whole number, got null'],
    [{ stop_block_total: Infinity }, 'settings: stop_block_total must be a whole number, got Infinity'],
    [{ recheck: true }, 'settings: recheck must be "final" or "all" or "skipped", got true'],
    [{ protect_system_messages: 'no' }, 'settings: protect_system_messages must be true or false, got "no"'],
  ])('%j is refused', (given, message) => {
    expect(() => embedderSettings(given)).toThrow(refused(message))
  })

  it.each(['recheck_all', 'constructor', 'colour'])('%s is no setting', (key) => {
    const known = Object.keys(DEFAULT_MERGED).join(', ')
    expect(() => embedderSettings({ [key]: 1 })).toThrow(
      refused(`settings: unknown option ${key}; choose from ${known}`),
    )
  })

  it('are checked when hooks are created', async () => {
    const settings = { recheck: 'sometimes' } as unknown as Partial<Settings>
    await expect(createHooks({ settings, globals: false })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' })
  })
})

describe('settings that may only tighten', () => {
  it.each<[Partial<Settings>, object, object]>([
    [
      { on_failure: 'continue', max_timeout: 5 },
      { on_failure: 'block', max_timeout: 20 },
      { on_failure: 'block', max_timeout: 5 },
    ],
    [{ on_failure: 'block', max_timeout: 50 }, { max_timeout: 20 }, { on_failure: 'block', max_timeout: 20 }],
    [{ enabled: false, audit: 'off' }, {}, { enabled: true, audit: 'on' }],
  ])('%j over %j', async (settings, user, expected) => {
    const home = tree({ '.amplifier/settings.json': JSON.stringify({ hooks: user }) })
    const hooks = await createHooks({ projectDir: tree({}), home, settings, settingsTighten: true })
    expect(hooks.settings).toMatchObject(expected)
    await hooks.close()
  })
})
