import { createHooks } from 'carabiner'
import { DEFAULT_SETTINGS, type Settings } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../src/core/settings.js'

const refused = (message: string) => expect.objectContaining({ code: 'OPTIONS_INVALID', message })

describe('defaults', () => {
  it('are those of the documents', () => {
    expect(DEFAULT_SETTINGS).toEqual({
      on_failure: 'continue',
      injection_size_limit: 10_240,
      injection_budget_per_turn: 10_000,
      stop_block_cap: 8,
      stop_block_total: 50,
      recheck: 'skipped',
      protect_system_messages: true,
    })
  })

  it('fill in what is not given', () => {
    expect(readSettings()).toEqual(DEFAULT_SETTINGS)
    expect(readSettings({})).toEqual(DEFAULT_SETTINGS)
    expect(readSettings({ stop_block_cap: 2 })).toEqual({ ...DEFAULT_SETTINGS, stop_block_cap: 2 })
  })

  it('stand where a key is undefined', () => {
    const given = { recheck: undefined } as unknown as Partial<Settings>
    expect(readSettings(given)).toEqual(DEFAULT_SETTINGS)
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
    expect(readSettings(given)).toEqual({ ...DEFAULT_SETTINGS, ...given })
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
    [{ recheck: true }, 'settings: recheck must be "skipped" or "all", got true'],
    [{ protect_system_messages: 'no' }, 'settings: protect_system_messages must be true or false, got "no"'],
  ])('%j is refused', (given, message) => {
    expect(() => readSettings(given)).toThrow(refused(message))
  })

  it.each(['recheck_all', 'constructor', 'onFailure'])('%s is no setting', (key) => {
    const known = Object.keys(DEFAULT_SETTINGS).join(', ')
    expect(() => readSettings({ [key]: 1 })).toThrow(
      refused(`settings: there is no option ${key}; known are ${known}`),
    )
  })

  it('are checked when hooks are created', async () => {
    const settings = { recheck: 'sometimes' } as unknown as Partial<Settings>
    await expect(createHooks({ settings, globals: false })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' })
  })
})
