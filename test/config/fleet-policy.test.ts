// The policy that a fleet sent: it counts like the company's folder, its shadow only reports, and nobody on the machine loosens it.

import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { type GivenSetting, mergeSettings } from '../../src/config/merged-settings.js'
import { Notes } from '../../src/config/notes.js'
import type { AuditRecord } from '../../src/core/session/audit-record.js'
import { companyFolder, companyPolicies } from '../../src/files/company-folder.js'
import { inForcePath } from '../../src/files/fleet-places.js'
import { JsonText } from '../../src/files/json-text.js'
import { SwitchStore, switches } from '../../src/plugins/switches.js'
import { type HooksOptions, hooksUnder } from '../../src/runtime.js'
import { runs, seeded } from '../property/runs.js'
import { filesBelow, fromNow, HOUR_MS, placeIn, putPolicy, type Sent } from './fleet-place.js'
import { command, type Files, hooksFile, sourcesIn, tree, write } from './temp-tree.js'

const DENIES = command('echo no >&2; exit 2')
const rule = (then: string, id = `x-${then}`) => ({ id, effects: ['delete'], then, say: 'x' })
const rules = (...all: object[]) => ({ 'rules.json': { rules: all } })

function machine(sent: Sent, files: Files = {}): string {
  const root = tree({ 'project/a.txt': '', 'home/a.txt': '', 'etc/a.txt': '', ...files })
  putPolicy(root, sent)
  return root
}

const companyIn = (root: string) => ({
  path: join(root, 'etc', 'policy'),
  owner: placeIn(root).owner,
  fleet: [placeIn(root)],
})

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

const REMOVES = { tool_name: 'Bash', tool_input: { command: 'rm a.txt' } }

async function outcomeIn(root: string, options: HooksOptions = {}) {
  const session = (await hooksIn(root, options)).session({ cwd: join(root, 'project') })
  return session.fire('PreToolUse', REMOVES)
}

describe('the enforced bundle', () => {
  it('counts without trust, and beside the company’s folder', async () => {
    const root = machine({ enforced: rules(rule('ask')) })
    expect((await outcomeIn(root)).action).toBe('ask_user')
    write(root, { 'etc/policy/hooks/hooks.json': hooksFile([DENIES]) })
    const { action, hooks } = await outcomeIn(root)
    expect(action).toBe('deny')
    expect(hooks.map(({ source }) => source)).toEqual(['fleet', 'company'])
  })

  it('is not switched off, and CARABINER_OFF has no effect', async () => {
    const root = machine({ enforced: { 'hooks/hooks.json': hooksFile([DENIES]) } })
    const [hook] = (await hooksIn(root)).list()
    const dataDir = join(root, 'data')
    const off = { since: new Date(0).toISOString(), by: 'somebody' }
    for (const from of ['user', 'project', 'named'] as const) {
      const named = { name: hook?.name ?? '', ids: [hook?.id ?? ''] }
      new SwitchStore({ dataDir }).turnOff({ plugin: 'fleet', from, hook: named, ...off }, 0)
    }
    const admit = switches({ dataDir, projectDir: join(root, 'project') })
    expect((await outcomeIn(root, { admit, trust: 'all' })).action).toBe('deny')
    const { merge } = await loadConfig(sourcesIn(root, { company: companyIn(root) }))
    expect(merge.settings.bypass).toBe(false)
  })

  it('and the company’s folder hold together: neither loosens the other', async () => {
    const both = (fleet: object, company: object) =>
      machine(
        { enforced: { 'settings.json': { hooks: fleet }, 'hooks/hooks.json': hooksFile([DENIES]) } },
        { 'etc/policy/settings.json': { hooks: company } },
      )
    const merged = async (root: string) =>
      (await loadConfig(sourcesIn(root, { company: companyIn(root) }))).merge
    for (const [fleet, company] of [
      [{ on_failure: 'block' }, { on_failure: 'continue' }],
      [{ on_failure: 'continue' }, { on_failure: 'block' }],
    ] as const)
      expect((await merged(both(fleet, company))).settings.on_failure).toBe('block')
    expect((await merged(both({}, { bypass: true }))).settings.bypass).toBe(false)
    expect((await merged(both({ bypass: true }, { bypass: true }))).settings.bypass).toBe(true)
    expect((await merged(both({}, { default_timeout: 1 }))).terms.company.amplifier.usual).toBe(30)
    expect((await outcomeIn(both({}, { enabled: false }))).action).toBe('deny')
    expect((await outcomeIn(both({ enabled: false }, {}))).action).toBe('deny')
  })
})

describe('the shadow bundle', () => {
  it('decides nothing, and the record names its version, its hooks and what they would have done', async () => {
    const records: AuditRecord[] = []
    const root = machine({
      shadow: {
        ...rules(rule('deny')),
        'hooks/hooks.json': hooksFile([DENIES]),
        'hooks/guard/hooks.json': hooksFile([DENIES]),
        'settings.json': { hooks: { on_failure: 'block', allow_user_hooks: false } },
      },
    })
    const { action } = await outcomeIn(root, { audit: (record) => void records.push(record) })
    expect(action).toBe('continue')
    expect(
      records[0]?.hooks.map(({ name, source, mode, would }) => [name, source, mode, would?.action]),
    ).toEqual([
      ['fleet@8:rules', 'fleet@8', 'shadow', 'deny'],
      ['fleet@8:PreToolUse#1', 'fleet@8', 'shadow', 'deny'],
      ['fleet@8/guard:PreToolUse#1', 'fleet@8/guard', 'shadow', 'deny'],
    ])
    const { merge } = await loadConfig(sourcesIn(root, { company: companyIn(root) }))
    expect(merge).toMatchObject({ hasCompany: false, settings: { on_failure: 'continue' } })
  })

  it('runs beside the enforced one, which still decides', async () => {
    const hook = hooksFile([DENIES])
    const root = machine({ enforced: { 'hooks/hooks.json': hook }, shadow: { 'hooks/hooks.json': hook } })
    const { action, hooks } = await outcomeIn(root)
    expect(action).toBe('deny')
    expect(hooks.map(({ source, mode }) => [source, mode])).toContainEqual(['fleet', undefined])
  })

  it('hands no variables to hooks that count', async () => {
    const sets = hooksFile([command('echo \'export LEAKED=1\' >> "$CLAUDE_ENV_FILE"')], {}, 'SessionStart')
    const denies = hooksFile([command('[ -z "$LEAKED" ] || { echo leaked >&2; exit 2; }')])
    const root = machine({ shadow: { 'hooks/hooks.json': sets }, enforced: { 'hooks/hooks.json': denies } })
    const session = (await hooksIn(root)).session({ id: 'x', cwd: join(root, 'project') })
    await session.fire('SessionStart', { source: 'startup' })
    expect((await session.fire('PreToolUse', REMOVES)).action).toBe('continue')
  })
})

function changeMode(folder: string, name: string, mode: number): void {
  for (const file of filesBelow(folder).filter((one) => one.endsWith(name))) chmodSync(file, mode)
}

describe('a policy that cannot be relied on refuses every tool call', () => {
  const SENT: Sent = {
    enforced: rules(rule('tell')),
    shadow: { ...rules(rule('ask')), 'hooks/guard/x.sh': 'true' },
  }

  it.each<[string, (folder: string) => void, RegExp]>([
    ['in-force.json is not JSON', (folder) => writeFileSync(inForcePath(folder), '{'), /in-force\.json/],
    [
      'a program is none any more',
      (folder) => changeMode(folder, 'x.sh', 0o644),
      /x\.sh was signed as a program, and is none/,
    ],
    [
      'a file has become a program',
      (folder) => changeMode(folder, 'rules.json', 0o755),
      /rules\.json was signed not to be a program/,
    ],
    ['in-force.json is missing', (folder) => rmSync(inForcePath(folder)), /in-force\.json is missing/],
    [
      'in-force.json is a link',
      (folder) => {
        renameSync(inForcePath(folder), join(folder, 'x'))
        symlinkSync('x', inForcePath(folder))
      },
      /is a link/,
    ],
    ['others may write', (folder) => chmodSync(join(folder, 'bundles'), 0o777), /others than .* may write/],
    ['its bundles are missing', (folder) => rmSync(join(folder, 'bundles'), { recursive: true }), /bundles/],
    ['a file was added', (folder) => add(folder, 'settings.json'), /is not part of what was signed/],
    ['a folder was added', (folder) => mkdirSync(join(bundleIn(folder), 'hooks', 'x')), /is empty/],
  ])('because %s', async (_, spoil, why) => {
    const root = machine({ ...SENT, enforced: { ...SENT.enforced, 'hooks/a/x.sh': 'true' } })
    expect((await outcomeIn(root)).action).toBe('continue')
    spoil(placeIn(root).folder)
    const { action, reason } = await outcomeIn(root)
    expect([action, reason]).toEqual(['deny', expect.stringMatching(why)])
    expect(reason).toContain('carabiner fleet policy fetch')
  })

  const bundleIn = (folder: string) =>
    filesBelow(join(folder, 'bundles'))
      .find((path) => path.endsWith('x.sh'))
      ?.replace(/\/hooks\/.*/, '') ?? ''
  const add = (folder: string, name: string) => writeFileSync(join(bundleIn(folder), name), '{}')

  /** By its digest. */
  const bundleOf = (path: string) => /[0-9a-f]{64}/.exec(path)?.[0] ?? path

  it('whichever byte of whichever file of a bundle changes, or whichever file vanishes or grows', async () => {
    const root = machine(SENT)
    const files = filesBelow(join(placeIn(root).folder, 'bundles'))
    const changes: ((path: string, at: number) => void)[] = [
      (path, at) => {
        const bytes = readFileSync(path)
        const i = at % bytes.length
        bytes[i] = (bytes[i] as number) ^ 1
        writeFileSync(path, bytes)
      },
      (path) => rmSync(path),
      (path) => appendFileSync(path, ' '),
      (path) => writeFileSync(path, ''),
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.nat(),
        fc.constantFrom(...changes),
        async (path, at, change) => {
          const [before, { mode }] = [readFileSync(path), statSync(path)]
          change(path, at)
          const { action, reason } = await outcomeIn(root)
          writeFileSync(path, before)
          chmodSync(path, mode)
          expect([action, reason]).toEqual(['deny', expect.stringContaining(bundleOf(path))])
          expect((await outcomeIn(root)).action).toBe('continue')
        },
      ),
      { numRuns: runs(60), ...seeded(28) },
    )
  })

  it('whatever becomes of in-force.json: a change of a byte closes, or the same bundles count', async () => {
    const root = machine({ enforced: rules(rule('deny')) })
    const path = inForcePath(placeIn(root).folder)
    const before = readFileSync(path)
    await fc.assert(
      fc.asyncProperty(fc.nat(before.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const bytes = Buffer.from(before)
        bytes[at] = (bytes[at] as number) ^ flip
        writeFileSync(path, bytes)
        expect((await outcomeIn(root)).action).toBe('deny')
      }),
      { numRuns: runs(100), ...seeded(28) },
    )
  })
})

describe('an old policy', () => {
  const OLD = { expires: fromNow(-1000), time: fromNow(-HOUR_MS) }
  const AHEAD = { time: fromNow(HOUR_MS), expires: fromNow(2 * HOUR_MS) }
  const enforced = rules(rule('ask'))

  it.each([
    ['expired', OLD, /expired at/],
    ['is newer than the clock, which was set back', AHEAD, /clock of this machine is behind/],
  ])('that %s closes or warns, as it says', async (_, when, why) => {
    const closed = await outcomeIn(machine({ enforced, ...when }))
    expect([closed.action, closed.reason]).toEqual(['deny', expect.stringMatching(why)])
    const root = machine({ enforced, ...when, afterExpiry: 'warn' })
    expect((await outcomeIn(root)).action).toBe('ask_user')
    expect((await hooksIn(root)).diagnostics).toMatchObject([{ code: 'policy-expired', text: why }])
  })

  it('tells in the audit how old the newest word of the fleet was when it closed', async () => {
    const records: AuditRecord[] = []
    const signed = fromNow(-7 * 24 * HOUR_MS)
    await outcomeIn(machine({ enforced, ...OLD, signed }), { audit: (record) => void records.push(record) })
    expect(records).toMatchObject([{ action: 'deny' }])
    expect(JSON.stringify(records)).toContain(`nothing newer than what was signed at ${signed}`)
  })

  it('does not close a machine that only has a bundle in shadow mode', async () => {
    expect((await outcomeIn(machine({ shadow: enforced, ...OLD }))).action).toBe('continue')
  })

  it('is noticed by the next load, although no file changes', async () => {
    const root = machine({ enforced })
    const hooks = await hooksIn(root)
    await hooks.reload()
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * HOUR_MS)
    onTestFinished(() => void vi.restoreAllMocks())
    await hooks.reload()
    expect((await hooks.session().fire('PreToolUse', REMOVES)).action).toBe('deny')
  })
})

it('a new policy reaches a session that runs', async () => {
  const root = machine({ enforced: rules(rule('ask')) })
  const hooks = await hooksIn(root, { watch: true })
  const session = hooks.session({ cwd: join(root, 'project') })
  expect((await session.fire('PreToolUse', REMOVES)).action).toBe('ask_user')
  putPolicy(root, { enforced: rules(rule('deny')), rollout: 4 })
  await vi.waitFor(async () => expect((await session.fire('PreToolUse', REMOVES)).action).toBe('deny'), {
    timeout: 20_000,
    interval: 100,
  })
})

it('a machine without a policy of its fleet has none', async () => {
  const root = tree({ 'project/a.txt': '', 'etc/fleet-policy/tuf/root.json': '{}' })
  expect((await outcomeIn(root)).action).toBe('continue')
  expect(existsSync(inForcePath(placeIn(root).folder))).toBe(false)
})

it('no sequence of settings, rules, hooks, switches and options makes the fleet’s verdict milder', async () => {
  const then = fc.constantFrom('deny', 'ask', 'allow', 'tell')
  const settings = fc.record(
    {
      enabled: fc.boolean(),
      allow_user_hooks: fc.boolean(),
      bypass: fc.boolean(),
      trust_missing: fc.constantFrom('keep', 'block', 'tell'),
      on_failure: fc.constantFrom('continue', 'block'),
      recheck: fc.constantFrom('skipped', 'all'),
    },
    { requiredKeys: [] },
  )
  const step = fc.oneof(
    settings.map((hooks) => ({ path: 'home/.amplifier/settings.json', content: { hooks } })),
    settings.map((hooks) => ({ path: 'project/.amplifier/settings.json', content: { hooks } })),
    settings.map((hooks) => ({ path: 'etc/policy/settings.json', content: { hooks } })),
    then.map((one) => ({ path: 'home/.amplifier/rules.json', content: { rules: [rule(one)] } })),
    then.map((one) => ({ path: 'project/.amplifier/rules.json', content: { rules: [rule(one)] } })),
    then.map((one) => ({ path: 'etc/policy/rules.json', content: { rules: [rule(one)] } })),
  )
  const strength = (action: string) => ['continue', 'ask_user', 'deny'].indexOf(action)
  await fc.assert(
    fc.asyncProperty(
      then,
      fc.array(step, { maxLength: 5 }),
      fc.record({ trust: fc.constantFrom('enforce', 'all'), settings }, { requiredKeys: [] }),
      async (own, steps, options) => {
        const root = machine({ enforced: rules(rule(own)) })
        const alone = strength((await outcomeIn(root)).action)
        expect(alone).toBeGreaterThanOrEqual(0)
        for (const { path, content } of steps) {
          write(root, { [path]: content })
          const now = await outcomeIn(root, options as HooksOptions)
          expect(strength(now.action)).toBeGreaterThanOrEqual(alone)
        }
      },
    ),
    { numRuns: runs(100), ...seeded(28) },
  )
})

describe('a policy that others than root could have written', () => {
  it('loosens no setting of root’s, not even a default', () => {
    const loose = {
      audit: 'off',
      bypass: true,
      recheck: 'skipped',
      trust_missing: 'tell',
      audit_calls: false,
    }
    const json = new JsonText(JSON.stringify(loose))
    const file = { path: '/user/settings.json', json, value: loose }
    const given = Object.entries(loose).map(
      ([key, value]) => ({ key, value, scope: 'company', file, at: null }) as unknown as GivenSetting,
    )
    const merged = (settings: readonly GivenSetting[]) =>
      mergeSettings(
        settings,
        { policies: [{ folder: '/root' }, { folder: '/user', isUsers: true }] },
        false,
        new Notes(),
      ).settings
    expect(merged(given)).toEqual(merged([]))
  })

  it('comes after those of root, and is known for what it is', () => {
    const root = machine({ enforced: rules(rule('deny')) }, { 'etc/policy/settings.json': {} })
    const { owner, folder } = placeIn(root)
    const found = companyPolicies({ ...companyIn(root), fleet: [{ folder, owner: owner + 1 }] })
    expect(found.map(({ source, isUsers }) => [source, isUsers])).toEqual([
      ['company', undefined],
      ['fleet', true],
    ])
  })

  it.each(['CARABINER_HOME', 'XDG_DATA_HOME'])('is refused in a project, to which %s leads', async (name) => {
    const root = machine({
      enforced: { 'hooks/hooks.json': hooksFile([command('touch "$AMPLIFIER_PROJECT_DIR/ran"')]) },
    })
    const home = join(root, 'project', '.home')
    const data = name === 'CARABINER_HOME' ? home : join(home, 'carabiner')
    mkdirSync(join(data, 'fleet'), { recursive: true })
    renameSync(placeIn(root).folder, join(data, 'fleet', 'policy'))
    vi.stubEnv('CARABINER_HOME', '')
    vi.stubEnv(name, home)
    onTestFinished(() => void vi.unstubAllEnvs())
    const company = companyFolder()
    const hooks = await hooksUnder(company, {
      projectDir: join(root, 'project'),
      home: join(root, 'home'),
      globals: false,
    })
    onTestFinished(() => hooks.close())
    const outcome = await hooks.session({ cwd: join(root, 'project') }).fire('PreToolUse', REMOVES)
    expect(existsSync(join(root, 'project', 'ran'))).toBe(false)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toContain('lies in the project')
  })
})
