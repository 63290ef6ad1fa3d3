import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { DEFAULT_MERGED } from '../../src/config/merged-settings.js'
import { codesOf, command, hooksFile, load, only, sourcesIn, tree } from './temp-tree.js'

const USER = 'home/.amplifier/settings.json'
const PROJECT = 'project/.amplifier/settings.json'
const hooks = {
  'home/.amplifier/hooks/u/hooks.json': hooksFile([command('user')]),
  'project/.amplifier/hooks/p/hooks.json': hooksFile([command('project')]),
}
const settings = (values: object) => ({ hooks: values })

/** Loads settings of both with a hook of both; `on` is which of the two runs. */
async function merged(user: object | undefined, project?: object | undefined, more: object = {}) {
  const config = await load({
    ...hooks,
    ...(user && { [USER]: settings(user) }),
    ...(project && { [PROJECT]: settings(project) }),
    ...more,
  })
  const on = config.specs.filter((spec) => spec.disabled === undefined).map(({ hook }) => hook.origin.scope)
  return { config, on }
}

describe('defaults', () => {
  it('are those of the design', async () => {
    const { config } = await merged(undefined)
    expect(config.settings).toEqual({
      enabled: true,
      allow_user_hooks: true,
      allow_project_hooks: true,
      default_timeout: 30,
      max_timeout: 300,
      on_failure: 'continue',
      injection_size_limit: 10_240,
      injection_budget_per_turn: 10_000,
      stop_block_cap: 8,
      stop_block_total: 50,
      env: 'inherit',
      trust_missing: 'keep',
      bypass: true,
      audit: 'on',
      audit_on_failure: 'continue',
      audit_calls: true,
      allowed_http_urls: null,
      http_allowed_env_vars: null,
      allowed_private_hosts: [],
      model: null,
      mcp_servers: {},
      recheck: 'final',
      protect_system_messages: true,
    })
    expect(config.diagnostics).toEqual([])
  })
})

describe('the user', () => {
  it('may loosen and tighten everything', async () => {
    const values = {
      default_timeout: 60,
      max_timeout: 900,
      on_failure: 'block',
      injection_size_limit: null,
      injection_budget_per_turn: null,
      stop_block_cap: 100,
      stop_block_total: 0,
      env: 'minimal',
      recheck: 'all',
      protect_system_messages: false,
    }
    const { config } = await merged(values)
    expect(config.settings).toEqual({ ...DEFAULT_MERGED, ...values })
    expect(config.diagnostics).toEqual([])
  })
})

describe('a project', () => {
  it.each([
    ['stop_block_cap', 0],
    ['stop_block_cap', 9],
    ['stop_block_total', 0],
    ['stop_block_total', 51],
  ])('may not change %s, to %i neither: fewer would disarm the gates of the user', async (key, value) => {
    const { config } = await merged(undefined, { [key]: value })
    expect(config.settings).toEqual(DEFAULT_MERGED)
    expect(only(config).code).toBe('setting-ignored')
  })

  it.each([
    ['audit', 'off'],
    ['audit_calls', false],
    ['audit_calls', 'no'],
  ])('may not change what the user keeps on record: %s to %j', async (key, value) => {
    const { config } = await merged(undefined, { [key]: value })
    expect(config.settings).toEqual(DEFAULT_MERGED)
    expect(codesOf(config)).toContain('setting-ignored')
    const { config: off } = await merged({ audit_calls: false }, { audit_calls: true })
    expect(off.settings.audit_calls).toBe(false)
  })

  it.each([
    ['default_timeout', 10, 40, undefined],
    ['max_timeout', 100, 301, undefined],
    ['on_failure', 'block', 'continue', 'block'],
    ['injection_size_limit', 100, null, undefined],
    ['injection_size_limit', 100, 20_000, undefined],
    ['injection_budget_per_turn', 0, null, 50],
    ['env', 'minimal', 'inherit', 'minimal'],
    ['recheck', 'all', 'skipped', 'all'],
    ['recheck', 'all', 'final', 'all'],
    ['recheck', 'final', 'skipped', 'final'],
    ['protect_system_messages', true, false, true],
  ])('may tighten %s to %j, not loosen it to %j', async (key, tighter, looser, user) => {
    const users = user === undefined ? undefined : { [key]: user }
    const inForce = user ?? DEFAULT_MERGED[key as keyof typeof DEFAULT_MERGED]

    const tight = await merged(users, { [key]: tighter })
    expect(tight.config.settings).toHaveProperty(key, tighter)
    expect(tight.config.diagnostics).toEqual([])

    const loose = await merged(users, { [key]: looser })
    expect(loose.config.settings).toHaveProperty(key, inForce)
    expect(only(loose.config)).toMatchObject({ code: 'setting-ignored', line: 3 })
  })

  it('may say what is in force already', async () => {
    const { config } = await merged(
      { max_timeout: 900, env: 'minimal' },
      { max_timeout: 900, env: 'minimal' },
    )
    expect(config.diagnostics).toEqual([])
  })

  it('may limit what the user left without a limit', async () => {
    const { config } = await merged({ injection_size_limit: null }, { injection_size_limit: 5 })
    expect(config.settings.injection_size_limit).toBe(5)
    expect(config.diagnostics).toEqual([])
  })

  it('shortens the time-outs of its own hooks alone: a gate of the user that times out lets pass', async () => {
    const { config } = await merged(undefined, { default_timeout: 0.001, max_timeout: 0.001 })
    expect(config.specs.map(({ hook }) => [hook.origin.scope, hook.timeoutMs])).toEqual([
      ['user', 30_000],
      ['project', 1],
    ])
  })

  it('is tightened further by explicit files', async () => {
    const root = tree({
      [PROJECT]: settings({ max_timeout: 100 }),
      'a.json': settings({ max_timeout: 50 }),
      'b.json': settings({ max_timeout: 80 }),
    })
    const files = [join(root, 'a.json'), join(root, 'b.json')]
    const config = await loadConfig(sourcesIn(root, { files }))
    expect(config.settings.max_timeout).toBe(50)
    expect(only(config)).toMatchObject({ code: 'setting-ignored', file: files[1] })
  })
})

describe('a wrong value', () => {
  it.each([
    ['enabled', 'no'],
    ['allow_user_hooks', 0],
    ['allow_project_hooks', null],
    ['default_timeout', '30'],
    ['default_timeout', 0],
    ['max_timeout', -1],
    ['max_timeout', null],
    ['max_timeout', 1e12],
    ['injection_size_limit', 1.5],
    ['stop_block_cap', null],
    ['env', 'none'],
    ['protect_system_messages', 'yes'],
  ])('%s: %j is said with file and line, and the default is in force', async (key, value) => {
    const { config, on } = await merged({ [key]: value })
    expect(config.settings).toEqual(DEFAULT_MERGED)
    expect(on).toEqual(['user', 'project'])
    expect(only(config)).toMatchObject({
      code: 'setting-invalid',
      line: 3,
      file: expect.stringContaining(USER),
    })
    expect(only(config).text).toContain(`"${key}" must be`)
  })

  it('a setting that does not exist is said', async () => {
    const { config } = await merged({ default_timout: 5 })
    expect(only(config)).toMatchObject({
      code: 'setting-invalid',
      text: expect.stringContaining('default_timout'),
    })
  })
})

describe('settings and hooks', () => {
  it('may stand beside each other in a settings file', async () => {
    const config = await load({
      [USER]: {
        hooks: { max_timeout: 10, Stop: [{ hooks: [command('x', { timeout: 20 })] }] },
        permissions: {},
      },
    })
    expect(config.specs[0]?.hook.timeoutMs).toBe(10_000)
    expect(codesOf(config)).toEqual(['timeout-clamped'])
  })
})

describe('hooks that are switched off', () => {
  it('stay listed, with the reason and where it is said', async () => {
    const root = tree({ ...hooks, [USER]: '{\n"disableAllHooks": true}' })
    const { specs } = await loadConfig(sourcesIn(root))
    const reason = {
      scope: 'user' as const,
      setting: '"disableAllHooks": true',
      file: join(root, USER),
      line: 2,
    }
    expect(specs.map(({ disabled }) => disabled)).toEqual([reason, reason])
  })

  it.each([
    ['enabled', { enabled: false }, []],
    ['allow_user_hooks', { allow_user_hooks: false }, ['project']],
    ['allow_project_hooks', { allow_project_hooks: false }, ['user']],
  ])('by the user with %s', async (_, values, left) => {
    const { config, on } = await merged(values)
    expect(on).toEqual(left)
    expect(config.settings).toMatchObject(values)
    expect(config.diagnostics).toEqual([])
  })

  it.each([
    ['enabled', { enabled: false }, ['setting-ignored']],
    ['allow_project_hooks', { allow_project_hooks: false }, []],
  ])('by the project with %s are its own alone', async (_, values, codes) => {
    const { config, on } = await merged(undefined, values)
    expect(on).toEqual(['user'])
    expect(config.settings).toMatchObject({
      enabled: true,
      allow_user_hooks: true,
      allow_project_hooks: false,
    })
    expect(codesOf(config)).toEqual(codes)
  })

  it('are never the user’s by the project’s word', async () => {
    const { config, on } = await merged(undefined, { allow_user_hooks: false })
    expect(on).toEqual(['user', 'project'])
    expect(config.settings.allow_user_hooks).toBe(true)
    expect(only(config)).toMatchObject({ code: 'setting-ignored', line: 3 })
  })

  it.each([{ enabled: true }, { allow_user_hooks: true }, { allow_project_hooks: true }])(
    'are not switched on again by the project: %j',
    async (values) => {
      const off = Object.fromEntries(Object.keys(values).map((key) => [key, false]))
      const before = await merged(off)
      const { config, on } = await merged(off, values)
      expect(on).toEqual(before.on)
      expect(only(config).code).toBe('setting-ignored')
    },
  )

  it('by disableAllHooks of a project are its own alone, which is said if the user has hooks', async () => {
    for (const file of [PROJECT, 'project/.amplifier/hooks/hooks.json']) {
      const { config, on } = await merged(undefined, undefined, { [file]: { disableAllHooks: true } })
      expect(on).toEqual(['user'])
      expect(only(config).code).toBe('setting-ignored')
    }
    const alone = await load({ [PROJECT]: { disableAllHooks: true, ...hooksFile() } })
    expect(alone.specs[0]?.disabled?.setting).toBe('"disableAllHooks": true')
    expect(alone.diagnostics).toEqual([])
  })

  it('by disableAllHooks of an explicit file are the project’s alone', async () => {
    const root = tree({ ...hooks, 'x.json': { disableAllHooks: true, ...hooksFile() } })
    const config = await loadConfig(sourcesIn(root, { files: [join(root, 'x.json')] }))
    const on = config.specs
      .filter(({ disabled }) => disabled === undefined)
      .map(({ hook }) => hook.origin.scope)
    expect(on).toEqual(['user'])
    expect(only(config).code).toBe('setting-ignored')
  })

  it('by disableAllHooks stay off when a project says otherwise', async () => {
    const { config, on } = await merged(undefined, undefined, {
      [USER]: { disableAllHooks: true },
      [PROJECT]: { disableAllHooks: false },
    })
    expect(on).toEqual([])
    expect(only(config).code).toBe('setting-ignored')
  })

  it('need a true, not the word', async () => {
    const { config, on } = await merged(undefined, undefined, { [USER]: { disableAllHooks: 'true' } })
    expect(on).toEqual(['user', 'project'])
    expect(only(config).code).toBe('setting-invalid')
  })
})

describe('the host', () => {
  const loadWith = async (given: object, user: object = {}) => {
    const root = tree({ ...hooks, [USER]: settings(user), [PROJECT]: settings({ max_timeout: 100 }) })
    return loadConfig({ ...sourcesIn(root), settings: given })
  }

  it('wins over the user, and a project may tighten it', async () => {
    expect(
      (await loadWith({ max_timeout: 600, env: 'minimal' }, { max_timeout: 50 })).settings,
    ).toMatchObject({
      max_timeout: 100,
      env: 'minimal',
    })
  })

  it('may switch hooks off and on', async () => {
    const off = await loadWith({ enabled: false })
    expect(off.specs.map(({ disabled }) => disabled)).toEqual([
      { setting: '"enabled": false' },
      { setting: '"enabled": false' },
    ])
    const on = await loadWith({ enabled: true }, { enabled: false })
    expect(on.specs.map(({ disabled }) => disabled)).toEqual([undefined, undefined])
  })
})
