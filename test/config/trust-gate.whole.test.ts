// What a hook that may not run says: why, and a command that nobody's name can turn into another.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { RE2JS } from 're2js'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hooksSchema, settingsSchema } from '../../src/cli/schema/hooks-schema.js'
import type { ConfiguredHook } from '../../src/config/configured-hook.js'
import { type ConfigSources, loadConfig } from '../../src/config/load.js'
import { TrustGate } from '../../src/config/trust-gate.js'
import { unitsOf } from '../../src/config/units.js'
import { MOST_TOLD } from '../../src/config/untrusted-hooks.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { asCaller, serveCallers, serveNobody } from '../callers.js'
import { removeAll } from '../trust/hostile-project.js'

const COMMAND = { type: 'command', command: 'true' }

let base: string
let sources: ConfigSources

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-gate-')))
  sources = { projectDir: join(base, 'project'), homeDir: join(base, 'home') }
  mkdirSync(join(base, 'project'))
  onTestFinished(() => removeAll(base))
})

const store = () => trustStore({ dataDir: join(base, 'data') })

function plugin(name: string, folder = join(base, 'project/.amplifier/hooks')): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  const hooks = { Stop: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/a.sh' }] }] }
  writeFileSync(join(path, 'hooks.json'), JSON.stringify({ hooks }))
  writeFileSync(join(path, 'a.sh'), '#!/bin/sh\n')
  chmodSync(join(path, 'a.sh'), 0o755)
  return path
}

async function settled(gate = new TrustGate(store())) {
  const config = await loadConfig(sources)
  return { gate, ...(await gate.settle(config, sources)) }
}

async function detail(): Promise<string> {
  const { gate, specs } = await settled()
  return specs.map((spec) => gate.refusal(spec)?.detail ?? '').join('\n')
}

async function trustAll(): Promise<void> {
  const { specs } = await loadConfig(sources)
  const now = store()
  for (const unit of unitsOf(specs).keys()) now.trust(unit, now.look(unit).digest)
}

describe('patterns of a stranger', () => {
  const pattern = (i: number) => `^(?:${'[a-z]+|'.repeat(200)}tool${i})$`

  function patterns(name: string, count: number): void {
    const groups = Array.from({ length: count }, (_, i) => ({
      matcher: `${name}${pattern(i)}`,
      hooks: [{ type: 'command', command: 'true' }],
    }))
    const folder = plugin(name)
    writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
  }

  /** Characters that the slow engine compiles until every hook was asked whether it matches. */
  async function compiled(): Promise<number> {
    const compile = vi.spyOn(RE2JS, 'compile')
    onTestFinished(() => compile.mockRestore())
    const { specs } = await settled()
    for (const { hook } of specs) hook.matcher?.test('Bash')
    return compile.mock.calls.reduce((sum, [source]) => sum + String(source).length, 0)
  }

  it('are hardly compiled, however many there are, and count as patterns that match', async () => {
    for (const name of ['a', 'b', 'c']) patterns(name, 300)
    expect(await compiled()).toBeLessThan(80_000)
    const { gate, specs } = await settled()
    expect(specs.slice(MOST_TOLD).map(({ hook }) => hook.name)).toEqual([
      'b:PreToolUse#1 and 299 more',
      'c:PreToolUse#1 and 299 more',
    ])
    for (const spec of specs) expect(gate.refusal(spec)).toMatchObject({ why: 'untrusted' })
    expect(specs.at(-1)?.hook.matcher?.test('Bash')).toBe(true)
  })

  it('are charged for their repeats, which the slow engine writes out', async () => {
    const groups = Array.from({ length: 100 }, (_, i) => ({ matcher: `(?:.?){300}x${i}`, hooks: [COMMAND] }))
    writeFileSync(join(plugin('a'), 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
    expect(await compiled()).toBeLessThan(300)
  })

  it('also have a limit once they are trusted, beyond which their hooks run for every value', async () => {
    patterns('a', 100)
    await trustAll()
    expect(await compiled()).toBeLessThan(200_000)
    const { specs, diagnostics } = await loadConfig(sources)
    expect(specs).toHaveLength(100)
    const first = Math.floor(100_000 / `a${pattern(10)}`.length)
    const matched = specs.map(({ hook }) => hook.matcher?.test('Bash'))
    expect(matched).toEqual(matched.map((_, i) => i >= first))
    expect(first).toBeLessThan(100)
    expect(diagnostics.filter(({ code }) => code === 'matcher-unsafe')).toMatchObject([
      { text: expect.stringContaining('more than 100000 characters'), todo: expect.any(String) },
    ])
  })
})

describe('many hooks of a stranger', () => {
  const groupsOf = (count: number, make: (i: number) => object) =>
    Array.from({ length: count }, (_, i) => ({ hooks: [COMMAND], ...make(i) }))

  async function hooksOf(hooks: object) {
    writeFileSync(join(plugin('a'), 'hooks.json'), JSON.stringify({ hooks }))
    const { gate, specs } = await settled()
    for (const spec of specs) expect(gate.refusal(spec)).toMatchObject({ why: 'untrusted' })
    return specs.map(({ hook }) => hook)
  }

  it('are all there up to the limit', async () => {
    const hooks = await hooksOf({ PreToolUse: groupsOf(MOST_TOLD, (i) => ({ matcher: `A${i}` })) })
    expect(hooks).toHaveLength(MOST_TOLD)
    expect(hooks.filter((hook) => hook.standsForMany)).toEqual([])
  })

  it('have one beyond it that says how many it stands for, and matches what any of them would', async () => {
    const hooks = await hooksOf({
      PreToolUse: groupsOf(2000, (i) => ({ matcher: `A${i}` })),
      PostToolUse: groupsOf(2, () => ({})),
    })
    expect(hooks).toHaveLength(MOST_TOLD + 3)
    const last = hooks.find((hook) => hook.standsForMany)
    expect(last?.name).toBe(`a:PreToolUse#${MOST_TOLD + 1} and ${2000 - MOST_TOLD - 1} more`)
    expect(['A299', 'A300', 'A1999', 'A2000'].map((tool) => last?.matcher?.test(tool))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  it('keep gates apart from hooks that only watch', async () => {
    const observe = { hooks: [{ ...COMMAND, observe: true }] }
    const hooks = await hooksOf({ PreToolUse: groupsOf(1000, (i) => (i % 2 ? observe : {})) })
    const many = hooks.filter((hook) => hook.standsForMany)
    expect(many.map(({ name, observe }) => [name.split(' and ')[1], observe])).toEqual([
      ['349 more', false],
      ['349 more', true],
    ])
  })
})

describe('the command to type', () => {
  it('names the plugin', async () => {
    plugin('guard')
    expect(await detail()).toMatch(
      /It is waiting for your review\. Look at .*hooks\.json:1, and trust it: carabiner trust guard \(or --trust-all/,
    )
  })

  it.each(['--yes', '-h', '--', '$(id)', '`id`', 'a b', "a'b", 'a"b', 'a;id', '*', '~', '.', 'x\ny'])(
    'never holds the name %j',
    async (name) => {
      plugin(name === '.' ? '.x' : name)
      for (const line of (await detail()).split('\n').filter(Boolean)) {
        expect(line).toContain('carabiner trust (or --trust-all')
      }
    },
  )

  it('says where what was named lies, in quotes that hold', async () => {
    const path = plugin('guard', join(base, "it's $(here)"))
    sources = { ...sources, plugins: [path] }
    const command = /trust it: (.*) \(or/.exec(await detail())?.[1] ?? ''
    const { execFileSync } = await import('node:child_process')
    const words = execFileSync('sh', ['-c', `carabiner() { printf '%s\\n' "$@"; }; ${command}`], {
      encoding: 'utf8',
    })
    expect(words).toBe(`trust\nguard\n--plugin\n${path}\n`)
  })
})

it('what was trusted after it was read waits for a reload', async () => {
  plugin('guard')
  const { gate, specs } = await settled()
  await trustAll()
  expect(gate.refusal(specs[0] as never)).toMatchObject({
    why: 'untrusted',
    detail: expect.stringContaining('reload'),
  })
  const again = await settled(gate)
  expect(again.specs.map((spec) => gate.refusal(spec))).toEqual([undefined])
})

it('what was read before an update runs until the next one, or until the trust is taken back', async () => {
  const path = plugin('guard')
  await trustAll()
  const { gate, specs } = await settled()
  const refusal = () => gate.refusal(specs[0] as never)?.detail
  const update = async (text: string) => {
    writeFileSync(join(path, 'a.sh'), text)
    await trustAll()
  }
  await update('#!/bin/sh\n# next\n')
  expect(refusal()).toBeUndefined()
  await update('#!/bin/sh\n# and the one after it\n')
  expect(refusal()).toContain('Another version of it was trusted')
  for (const unit of unitsOf(specs).keys()) store().untrust({ ...unit, path })
  expect(refusal()).toContain('You no longer trust it')
})

it('a script that was changed and trusted in the middle of an event says to try again', async () => {
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'sh gate.sh' }] }] }
  mkdirSync(join(base, 'project/.amplifier/hooks'), { recursive: true })
  writeFileSync(join(base, 'project/.amplifier/hooks/hooks.json'), JSON.stringify({ hooks }))
  writeFileSync(join(base, 'project/gate.sh'), 'exit 2\n')
  await trustAll()
  const { gate, specs } = await settled()
  const problem = () => gate.problemAtStart(specs[0] as ConfiguredHook, join(base, 'project'))
  expect(problem()).toBeUndefined()
  writeFileSync(join(base, 'project/gate.sh'), 'exit 2 # next\n')
  expect(problem()).toContain('To review and accept the change: carabiner trust --mine')
  await trustAll()
  expect(problem()).toMatch(/gate\.sh" was changed since it was trusted\. .* try again\.$/)
})

it('what was read runs on while its record cannot be read', async () => {
  plugin('guard')
  await trustAll()
  const { gate, specs } = await settled()
  const records = join(base, 'data/trust')
  for (const name of readdirSync(records)) {
    for (const file of readdirSync(join(records, name))) {
      rmSync(join(records, name, file))
      writeFileSync(join(records, name, file), 'damaged', { mode: 0o600 })
    }
  }
  expect(() => store().records()).toThrow()
  expect(specs.map((spec) => gate.refusal(spec))).toEqual([undefined])
})

it('a trusted hook lives in its copy, with a PATH that begins with its programs', async () => {
  const path = plugin('guard')
  await trustAll()
  const { specs } = await settled()
  const place = specs[0]?.place
  expect(place?.plugin?.root).toMatch(new RegExp(`^${join(base, 'data/copies')}/[0-9a-f]{64}/guard$`))
  expect(dirname(place?.plugin?.root ?? '')).toBe(place?.hooksDir)
  expect(place?.path?.startsWith(join(base, 'data/copies'))).toBe(true)
  writeFileSync(join(path, 'a.sh'), 'evil')
  const { gate, specs: after, expectations } = await settled()
  expect(after.map((spec) => spec.place.plugin?.root)).toEqual([place?.plugin?.root])
  expect(after.map((spec) => gate.refusal(spec)?.why)).toEqual([undefined])
  expect(expectations).toMatchObject([{ state: 'modified', guardedBy: 'copy', unit: { name: 'guard' } }])
  const { specs: read } = await loadConfig(sources)
  expect(gate.untrusted(read)).toMatchObject([{ name: 'guard', state: 'modified', hooks: ['guard:Stop#1'] }])
})

it('the PATH of a caller of the service is only that of hooks that run in its sandbox', async () => {
  const path = plugin('guard')
  writeFileSync(join(path, 'a.mjs'), 'export default () => {}\n')
  const hooks = { PreToolUse: [{ hooks: [COMMAND, { type: 'module', module: './a.mjs' }] }] }
  const processes = { gate: { command: ['sh', 'a.sh'], intercept: ['before_tool'] } }
  writeFileSync(join(path, 'hooks.json'), JSON.stringify({ hooks, processes }))
  await trustAll()
  serveCallers()
  onTestFinished(serveNobody)
  const env = { PATH: '/own/bin:/usr/bin', HOME: join(base, 'home') }
  const { specs } = await asCaller({ env }, () => settled())
  const follows = specs.map(({ hook, place }) => [hook.kind, place.path?.includes('/own/bin')])
  expect(Object.fromEntries(follows)).toEqual({ command: true, module: false, process: false })
})

it('hooks of the user are nobody’s unit', async () => {
  plugin('guard', join(base, 'home/.amplifier/hooks'))
  const { gate, specs } = await settled()
  expect(specs.map((spec) => gate.refusal(spec))).toEqual([undefined])
  expect(gate.untrusted(specs)).toEqual([])
})

describe('whichever key of its file changes, a trusted hook runs as it was trusted', () => {
  type Fields = Readonly<Record<string, unknown>>

  /** A valid entry of each kind. */
  const ENTRIES: Readonly<Record<string, Fields>> = {
    command: { command: 'exit 2' },
    http: { url: 'https://example.com' },
    prompt: { prompt: 'May it?' },
    agent: { prompt: 'May it?' },
    mcp_tool: { server: 'a', tool: 'b' },
    module: { module: './a.mjs' },
    process: { command: ['gate'], intercept: ['before_tool'] },
  }

  /** Another value for each key of the format, by the definition in the schema that has it. */
  const OTHER: Readonly<Record<string, Fields>> = {
    file: {
      $schema: 'x',
      carabiner: 1,
      description: 'x',
      matching: 'fullmatch',
      priority: 1,
      env: { A: 'b' },
      hooks: {},
      processes: {},
      modules: ['./c.mjs'],
      disableAllHooks: true,
      allowedHttpHookUrls: [],
      httpHookAllowedEnvVars: [],
    },
    group: { matcher: 'Edit', sequential: true, description: 'x', hooks: [] },
    command: {
      command: 'exit 0',
      args: ['a'],
      shell: 'bash',
      env: { A: 'b' },
      envPassthrough: ['A'],
      async: true,
      asyncRewake: true,
      rewakeMessage: 'x',
      rewakeSummary: 'x',
      statusMessage: 'x',
      timeout: 1,
      if: 'Bash(git *)',
      onFailure: 'block',
      once: true,
      observe: true,
      mode: 'shadow',
    },
    http: { url: 'https://example.org', headers: { A: 'b' }, allowedEnvVars: ['A'] },
    prompt: { prompt: 'x', model: 'x', continueOnBlock: true },
    agent: { prompt: 'x', model: 'x' },
    mcp_tool: { server: 'x', tool: 'x', input: { a: 1 } },
    module: { module: './b.mjs' },
    process: {
      enabled: false,
      command: ['other'],
      dir: 'x',
      env: { A: 'b' },
      priority: 1,
      transport: 'stdio',
      observe: ['*'],
      intercept: ['after_tool'],
      timeouts: { intercept: 1 },
      onFailure: 'continue',
      mode: 'shadow',
      restart: false,
      maxLineBytes: 2048,
    },
    settings: {
      on_failure: 'block',
      injection_size_limit: 1,
      injection_budget_per_turn: 1,
      stop_block_cap: 1,
      stop_block_total: 1,
      recheck: 'all',
      protect_system_messages: true,
      audit_on_failure: 'block',
      audit_calls: false,
      allowed_http_urls: [],
      http_allowed_env_vars: [],
      allowed_private_hosts: ['a'],
      model: { command: ['x'] },
      mcp_servers: { a: { command: 'x' } },
      enabled: false,
      allow_user_hooks: false,
      allow_project_hooks: false,
      default_timeout: 1,
      max_timeout: 1,
      env: 'minimal',
      trust_missing: 'block',
      bypass: false,
      audit: 'off',
      description: 'x',
      processes: {},
      defaults: { interceptor_timeout_ms: 1 },
      builtins: { a: {} },
    },
  }

  const COMMON = ['timeout', 'if', 'onFailure', 'once', 'observe', 'mode', 'statusMessage']

  const propertiesOf = (schema: unknown) => Object.keys((schema as { properties: object }).properties)

  it('the table has every key of the schemas', () => {
    const { $defs, ...file } = hooksSchema() as { $defs: Record<string, unknown> }
    const settings = settingsSchema() as unknown as { properties: { hooks: { properties: object } } }
    const isEvent = (key: string) => /^[A-Z]/.test(key)
    const keys = Object.keys(settings.properties.hooks.properties).filter((key) => !isEvent(key))
    expect(Object.keys(OTHER.settings ?? {}).sort()).toEqual(keys.sort())
    for (const key of propertiesOf(settings)) expect(OTHER.file).toHaveProperty([key])
    expect(Object.keys(OTHER.file ?? {}).sort()).toEqual(propertiesOf(file).sort())
    for (const name of ['group', ...Object.keys(ENTRIES)]) {
      const known = propertiesOf($defs[name]).filter((key) => name === 'command' || !isCommon(name, key))
      expect([name, Object.keys(OTHER[name] ?? {}).sort()]).toEqual([name, known.sort()])
    }
  })

  /** Common keys are tried on a command. */
  function isCommon(name: string, key: string): boolean {
    return Object.hasOwn(ENTRIES, name) && name !== 'process' && COMMON.includes(key)
  }

  type Place = 'hooks.json' | 'settings.json'

  /** Writes the file with one entry of a kind and another hook in the same group. `changed` is merged into one of its parts. */
  function write(place: Place, kind: string, part: string, changed: Fields): void {
    const given = { ...ENTRIES[kind], ...(part === kind && changed) }
    const hooks = [
      { type: kind, ...given },
      { type: 'command', command: 'true' },
    ]
    const group = { matcher: '^Ba', hooks, ...(part === 'group' && changed) }
    const content = kind === 'process' ? { processes: { gate: given } } : { PreToolUse: [group] }
    const inside = { ...content, ...(part === 'settings' && changed) }
    const isBeside = kind === 'process' && place === 'hooks.json'
    const file = { ...(isBeside ? inside : { hooks: inside }), ...(part === 'file' && changed) }
    const folder = join(base, 'project/.amplifier', place === 'hooks.json' ? 'hooks' : '')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, place), JSON.stringify(file))
  }

  const CLOSES = 'it closes when the time is over'

  /** Everything that decides whether, when and how a hook runs. A project's switch does not count for gates. */
  function terms(spec: ConfiguredHook, all: readonly ConfiguredHook[]) {
    const { type, hook, env, disabled } = spec
    const { events, matcher, condition, priority, lane, detached, once, observe, onFailure } = hook
    const tools = ['Bash', 'Bath', 'Edit'].filter((tool) => matcher === null || matcher.test(tool))
    const isOn = disabled === undefined || disabled.scope === 'project'
    const lanes = all.filter((other) => lane !== null && other.hook.lane === lane).length
    const { timeouts = hook.timeoutMs, ...handler } = spec.handler as unknown as Fields & {
      timeouts?: unknown
    }
    const isCapped =
      hook.cappedBy !== undefined || (spec.type === 'process' && spec.cappedRoles?.length !== 0)
    return {
      ...{ type, handler, env, isOn, events: [...events], tools, isConditional: condition !== undefined },
      ...{ priority, lanes, detached, once, observe, onFailure, time: isCapped ? CLOSES : timeouts },
    }
  }

  async function running() {
    const { gate, specs, closed } = await settled()
    const admitted = specs.filter((spec) => gate.refusal(spec) === undefined)
    return { hooks: admitted.map((spec) => terms(spec, admitted)), closed: closed.length }
  }

  it.each([
    ['file', 'command', 'hooks.json'],
    ['file', 'command', 'settings.json'],
    ['file', 'process', 'hooks.json'],
    ['group', 'command', 'hooks.json'],
    ...Object.keys(ENTRIES).map((kind) => [kind, kind, 'hooks.json'] as const),
  ] as const)('%s, for a %s in %s', async (part, kind, place) => {
    write(place, kind, part, {})
    await trustAll()
    const trusted = await running()
    expect(trusted).toMatchObject({ hooks: { length: kind === 'process' ? 1 : 2 }, closed: 0 })
    for (const [key, value] of Object.entries(OTHER[part] ?? {})) {
      for (const changed of [value, null]) {
        write(place, kind, part, { [key]: changed })
        expect([key, changed, await running()]).toEqual([key, changed, trusted])
      }
    }
  })

  it.each([
    ['file', 'command', { matching: 'fullmatch' }, { tools: [], isOn: true }],
    ['process', 'process', { enabled: false }, { isOn: false }],
  ] as const)('also if the file of %s goes back to a default', async (part, kind, given, expected) => {
    write('hooks.json', kind, part, given)
    await trustAll()
    const trusted = await running()
    expect(trusted.hooks[0]).toMatchObject(expected)
    const file = join(base, 'project/.amplifier/hooks/hooks.json')
    const content = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...content, disableAllHooks: true }))
    expect(await running()).toEqual(trusted)
    write('hooks.json', kind, part, {})
    expect(await running()).toEqual(trusted)
  })

  it.each(['command', 'process'])('a setting beside a %s', async (kind) => {
    write('settings.json', kind, 'settings', {})
    await trustAll()
    const { hooks: trusted } = await running()
    for (const [key, value] of Object.entries(OTHER.settings ?? {})) {
      write('settings.json', kind, 'settings', { [key]: value })
      const { hooks } = await running()
      const isShorter = key === 'max_timeout' || (key === 'default_timeout' && kind === 'command')
      const expected = isShorter ? trusted.map((one) => ({ ...one, time: CLOSES })) : trusted
      expect([key, hooks]).toEqual([key, expected])
    }
  })
})
