// The company's policy: nothing that the user, a project, a program or the command line says makes it milder.

import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { DEFAULT_MERGED, looserThan, type MergedSettings } from '../../src/config/merged-settings.js'
import { SwitchStore, switches } from '../../src/plugins/switches.js'
import { type HooksOptions, hooksUnder } from '../../src/runtime.js'
import { runs, seeded } from '../property/runs.js'
import { command, type Files, hooksFile, sourcesIn, tree, write } from './temp-tree.js'

const OWNER = process.getuid?.() ?? 0
const DENIES = command('echo no >&2; exit 2')
const rule = (then: string, more: object = {}) => ({ id: `x-${then}`, effects: ['delete'], then, ...more })

/** With a home, a project, and `etc/policy` for the company. */
function machine(files: Files): string {
  return tree({ 'project/a.txt': '', 'home/a.txt': '', 'etc/a.txt': '', ...files })
}

const companyIn = (root: string) => ({ path: join(root, 'etc', 'policy'), owner: OWNER })

async function hooksIn(root: string, options: HooksOptions = {}) {
  const hooks = await hooksUnder(companyIn(root), {
    projectDir: join(root, 'project'),
    home: join(root, 'home'),
    globals: false,
    ...options,
  })
  onTestFinished(() => hooks.close())
  return hooks
}

async function outcomeIn(root: string, options: HooksOptions = {}) {
  const session = (await hooksIn(root, options)).session({ cwd: join(root, 'project') })
  return session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'rm a.txt' } })
}

const settingsIn = async (root: string) => loadConfig(sourcesIn(root, { company: companyIn(root) }))

describe('hooks of the company', () => {
  const POLICY = { 'etc/policy/hooks/hooks.json': hooksFile([DENIES]) }

  it('run without being trusted, before all others', async () => {
    const root = machine({ ...POLICY, 'home/.amplifier/hooks/hooks.json': hooksFile([command('true')]) })
    const { action, hooks } = await outcomeIn(root)
    expect(action).toBe('deny')
    expect(hooks.map(({ source }) => source)).toEqual(['company', 'user'])
  })

  it.each<[string, Files, HooksOptions]>([
    ['"enabled": false of the user', { 'home/.amplifier/settings.json': { hooks: { enabled: false } } }, {}],
    ['Claude Code’s switch', { 'home/.amplifier/settings.json': { disableAllHooks: true } }, {}],
    ['no hooks of the user', { 'home/.amplifier/settings.json': { hooks: { allow_user_hooks: false } } }, {}],
    [
      '"enabled": false of the project',
      { 'project/.amplifier/settings.json': { hooks: { enabled: false } } },
      {},
    ],
    ['the program’s settings', {}, { settings: { enabled: false } }],
    [
      'the same hook of the user',
      { 'home/.amplifier/hooks/hooks.json': hooksFile([DENIES]) },
      { settings: { allow_user_hooks: false } },
    ],
    ['a program that admits nothing', {}, { admit: () => ({ why: 'disabled', detail: 'not wanted' }) }],
  ])('are not switched off by %s', async (_, files, options) => {
    expect((await outcomeIn(machine({ ...POLICY, ...files }), options)).action).toBe('deny')
  })

  it('are not switched off by carabiner disable, not even by an edited list', async () => {
    const root = machine(POLICY)
    const [hook] = (await hooksIn(root)).list()
    const dataDir = join(root, 'data')
    const off = { since: new Date(0).toISOString(), by: 'somebody' }
    for (const from of ['user', 'project', 'named'] as const) {
      const named = { name: hook?.name ?? '', ids: [hook?.id ?? ''] }
      new SwitchStore({ dataDir }).turnOff({ plugin: 'company', from, ...off }, 0)
      new SwitchStore({ dataDir }).turnOff({ plugin: 'company', from, hook: named, ...off }, 0)
    }
    const admit = switches({ dataDir, projectDir: join(root, 'project') })
    expect((await outcomeIn(root, { admit })).action).toBe('deny')
  })

  describe('judge with programs and files that the user did not choose', () => {
    const GUARD = {
      'etc/policy/hooks/guard.py': 'import sys\nprint("no", file=sys.stderr)\nsys.exit(2)\n',
      'etc/policy/hooks/hooks.json': hooksFile([
        command('python3 "$AMPLIFIER_HOOKS_DIR/guard.py"', { shell: 'bash' }),
      ]),
      'evil/exit.sh': 'exit 0\n',
      'evil/sitecustomize.py': 'import os\nos._exit(0)\n',
      'evil/python3': '#!/bin/sh\nexit 0\n',
    }

    it.each([
      ['PATH', 'evil'],
      ['BASH_ENV', 'evil/exit.sh'],
      ['PYTHONPATH', 'evil'],
      ['PYTHONHOME', 'evil'],
      ['BASH_FUNC_python3%%', '() { true; }'],
    ])('not even by %s', async (name, value) => {
      const root = machine(GUARD)
      chmodSync(join(root, 'evil/python3'), 0o755)
      vi.stubEnv(name, value.replace('evil', join(root, 'evil')))
      onTestFinished(() => void vi.unstubAllEnvs())
      expect(await outcomeIn(root)).toMatchObject({ action: 'deny', reason: 'no' })
    })

    it('but with variables that the policy sets', async () => {
      const env = { MINE: 'x', PATH: '/nowhere' }
      const says = command('echo "$MINE $PATH" >&2; exit 2', { env })
      const { reason } = await outcomeIn(machine({ 'etc/policy/hooks/hooks.json': hooksFile([says]) }))
      expect(reason).toBe('x /nowhere')
    })
  })

  it.each([
    ['closes its gate', {}, 'deny'],
    ['does not, if the policy says so', { onFailure: 'continue' }, 'continue'],
  ])('one that fails %s', async (_, more, action) => {
    const fails = hooksFile([command('exit 1', more)])
    expect((await outcomeIn(machine({ 'etc/policy/hooks/hooks.json': fails }))).action).toBe(action)
  })

  const ALLOWS = command(
    `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`,
  )
  const ASKS = { 'etc/policy/rules.json': { rules: [rule('ask')] } }

  it.each(['home/.amplifier', 'etc/policy'])('ask a person, whatever hooks in %s allow', async (folder) => {
    const allowing = { [`${folder}/hooks/hooks.json`]: hooksFile([ALLOWS], {}, 'PermissionRequest') }
    const outcome = await outcomeIn(machine({ ...ASKS, ...allowing }))
    expect(outcome.action).toBe('ask_user')
    expect(outcome.diagnostics).toMatchObject([
      { code: 'verdict-ignored', text: /^\w+:PermissionRequest#1 allowed/ },
    ])
  })

  it('do not let a project run what nobody reviewed', async () => {
    const root = machine({ ...POLICY, 'project/.amplifier/hooks/hooks.json': hooksFile([command('true')]) })
    const hooks = await hooksIn(root, { trust: 'all' })
    expect(hooks.list().map(({ source, state }) => [source, state])).toEqual([
      ['company', 'ready'],
      ['project', 'untrusted'],
    ])
    expect(hooks.diagnostics).toMatchObject([{ code: 'setting-ignored', text: /policy of its company/ }])
  })

  it('are found by a program that reads no other files', async () => {
    const root = machine(POLICY)
    const hooks = await hooksUnder(companyIn(root), { globals: false })
    onTestFinished(() => hooks.close())
    expect(hooks.list()).toMatchObject([{ source: 'company', scope: 'company' }])
  })
})

describe('a policy that nobody can rely on refuses every tool call', () => {
  const POLICY = { 'etc/policy/rules.json': { rules: [rule('tell', { say: 'x' })] } }

  it.each<[string, (root: string) => void, RegExp]>([
    [
      'others may write to a file',
      (root) => chmodSync(join(root, 'etc/policy/rules.json'), 0o646),
      /others than .* may write/,
    ],
    [
      'others may write to a folder',
      (root) => chmodSync(join(root, 'etc/policy'), 0o777),
      /others than .* may write/,
    ],
    ['others may write around it', (root) => chmodSync(join(root, 'etc'), 0o777), /others than .* may write/],
    [
      'a file is a link',
      (root) => symlinkSync('/dev/null', join(root, 'etc/policy/settings.json')),
      /is a link/,
    ],
    [
      'its rules are broken',
      (root) => write(root, { 'etc/policy/rules.json': '{ "rules": [' }),
      /rules\.json:1/,
    ],
    ...(
      [
        ['its hooks are broken', 'hooks/hooks.json', '{ "hooks": {'],
        ['its settings are broken', 'settings.json', '{ "hooks": {'],
        ['the hooks of a plugin are broken', 'hooks/guard/hooks.json', '{ "hooks": {'],
        ['a hook is of no kind', 'hooks/hooks.json', hooksFile([{ type: 'comand', command: 'exit 2' }])],
        ['an event is misspelt', 'hooks/hooks.json', hooksFile([DENIES], {}, 'PreToolUze')],
        ['a matcher is broken', 'hooks/hooks.json', hooksFile([DENIES], { matcher: '(((' })],
      ] as const
    ).map(([what, file, content]): [string, (root: string) => void, RegExp] => [
      what,
      (root) => write(root, { [`etc/policy/${file}`]: content }),
      new RegExp(`etc/policy/${file}:\\d+: `),
    ]),
  ])('because %s', async (_, spoil, why) => {
    const root = machine(POLICY)
    expect((await outcomeIn(root)).action).toBe('continue')
    spoil(root)
    const { action, reason } = await outcomeIn(root)
    expect(action).toBe('deny')
    expect(reason).toMatch(why)
  })

  it('because somebody else owns it', async () => {
    const root = machine(POLICY)
    const hooks = await hooksUnder({ ...companyIn(root), owner: OWNER + 1 }, { globals: false })
    onTestFinished(() => hooks.close())
    const { reason } = await hooks.session().fire('PreToolUse', { tool_name: 'Read', tool_input: {} })
    expect(reason).toContain(`belongs to user ${OWNER}, not to user ${OWNER + 1}`)
  })
})

it('a policy that appears while a program runs counts from the next reload', async () => {
  const root = machine({})
  const hooks = await hooksIn(root, { trust: 'all' })
  expect(hooks.list()).toEqual([])
  write(root, { 'etc/policy/hooks/hooks.json': hooksFile([DENIES]) })
  await hooks.reload()
  expect(hooks.list()).toMatchObject([{ source: 'company' }])
})

// ---- properties -------------------------------------------------------------------------------------------------

const VALUES: { readonly [K in keyof MergedSettings]: readonly unknown[] } = {
  enabled: [true, false],
  allow_user_hooks: [true, false],
  allow_project_hooks: [true, false],
  default_timeout: [1, 30, 900],
  max_timeout: [1, 300, 9000],
  on_failure: ['block', 'continue'],
  injection_size_limit: [0, 10_240, null, 1e9],
  injection_budget_per_turn: [0, 10_000, null, 1e9],
  stop_block_cap: [0, 8, 99],
  stop_block_total: [0, 50, 999],
  env: ['inherit', 'minimal'],
  trust_missing: ['keep', 'block', 'tell'],
  bypass: [true, false],
  audit: ['on', 'off', 'fsync'],
  audit_on_failure: ['continue', 'block'],
  audit_calls: [true, false],
  allowed_http_urls: [null, [], ['https://example.com/*']],
  http_allowed_env_vars: [null, [], ['X']],
  allowed_private_hosts: [[], ['localhost:1']],
  model: [null],
  mcp_servers: [{}, { x: { command: 'true' } }],
  recheck: ['skipped', 'final', 'all'],
  protect_system_messages: [true, false],
}

const NONSENSE = 'nonsense'

const settings = fc
  .record(
    Object.fromEntries(
      Object.entries(VALUES).map(([key, values]) => [key, fc.constantFrom(...values, NONSENSE)]),
    ),
    { requiredKeys: [] },
  )
  .map((hooks) => ({ hooks }))

describe('no settings of others', () => {
  it('loosen those of the company', async () => {
    await fc.assert(
      fc.asyncProperty(settings, settings, settings, async (company, user, project) => {
        const root = machine({ 'etc/policy/settings.json': company })
        const alone = (await settingsIn(root)).merge
        write(root, { 'home/.amplifier/settings.json': user, 'project/.amplifier/settings.json': project })
        const { merge } = await settingsIn(root)
        const isFree = (key: string) => TERMS.includes(key) && (company.hooks[key] ?? NONSENSE) === NONSENSE
        expect(
          looserThan(withoutSwitches(merge.settings), alone.settings as never).filter((key) => !isFree(key)),
        ).toEqual([])
        expect(merge.terms.company).toEqual(alone.terms.company)
        expect(merge.disabled.company).toEqual(alone.disabled.company)
        for (const key of SWITCHES) expect(alone.settings[key] || !merge.settings[key]).toBe(true)
      }),
      { numRuns: runs(500), ...seeded(28) },
    )
  })

  it('make a verdict of the company milder, nor do rules, hooks and options', async () => {
    const then = fc.constantFrom('deny', 'ask', 'allow', 'tell')
    const policy = fc.record({ then, settings })
    const others = fc.record({
      settings,
      ofProject: settings,
      rules: fc.array(then, { maxLength: 2 }),
      preset: fc.constantFrom(undefined, 'relaxed'),
      trust: fc.constantFrom('enforce', 'all'),
      byProgram: fc.constantFrom({}, { enabled: false }, { on_failure: 'continue', bypass: true }),
    })
    const strength = (action: string) => ['continue', 'ask_user', 'deny'].indexOf(action)
    await fc.assert(
      fc.asyncProperty(policy, others, async (company, { rules, preset, trust, byProgram, ...more }) => {
        // Without its own hooks, a company has nothing that could become milder.
        const own = { hooks: { ...company.settings.hooks, enabled: true } }
        const root = machine({
          'etc/policy/settings.json': own,
          'etc/policy/rules.json': { rules: [rule(company.then, { say: 'x' })] },
        })
        const alone = await outcomeIn(root)
        const all = rules.map((one, i) => ({ ...rule(one, { say: 'x' }), id: `r${i}` }))
        write(root, {
          'home/.amplifier/settings.json': more.settings,
          'home/.amplifier/rules.json': { ...(preset && { preset }), rules: all },
          'project/.amplifier/settings.json': more.ofProject,
          'project/.amplifier/rules.json': { rules: all },
        })
        const options = { trust, settings: byProgram } as HooksOptions
        const together = await outcomeIn(root, options)
        expect(strength(alone.action)).toBeGreaterThanOrEqual(0)
        expect(strength(together.action)).toBeGreaterThanOrEqual(strength(alone.action))
      }),
      { numRuns: runs(300), ...seeded(28) },
    )
  })
})

const SWITCHES = ['enabled', 'allow_user_hooks', 'allow_project_hooks'] as const
const TERMS: readonly string[] = ['default_timeout', 'max_timeout', 'env']

function withoutSwitches(all: MergedSettings): Partial<MergedSettings> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !SWITCHES.includes(key as never)))
}

it('every setting is tried', () => {
  expect(Object.keys(VALUES).sort()).toEqual(Object.keys(DEFAULT_MERGED).sort())
})
