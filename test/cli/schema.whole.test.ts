// The published schemas are what the code would make now, and say of a file what the code says of it.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { SCHEMA_NAMES, type SchemaName, schemaFile, schemaOf } from '../../src/cli/schema/schemas.js'
import { casesIn } from '../../src/cli/test-cases/case-file.js'
import { COMMON, readHandler } from '../../src/config/handler.js'
import { loadConfig } from '../../src/config/load.js'
import { DEFAULT_MERGED, embedderSettings } from '../../src/config/merged-settings.js'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { JsonText } from '../../src/files/json-text.js'
import { KEYS, readSettings } from '../../src/pack/settings.js'
import { readCatalog } from '../../src/plugins/catalog/file.js'
import { EVENT_KINDS, type HandlerType } from '../../src/runners/kinds.js'
import { PROCESS } from '../../src/runners/process/kind.js'
import { load, loadRoot, tree } from '../config/temp-tree.js'
import { sample } from '../property/runs.js'

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false })
const validators = new Map(SCHEMA_NAMES.map((name) => [name, ajv.compile(schemaOf(name))]))

function isValid(name: SchemaName, value: unknown): boolean {
  return validators.get(name)?.(value) === true
}

/** One of each kind of value that a file can have. */
const VALUES: readonly unknown[] = [
  '',
  ' ',
  'x',
  'bash',
  'block',
  'continue',
  'inherit',
  'all',
  'on',
  'stdio',
  'https://example.com/*',
  'ftp://example.com',
  0,
  1,
  1.5,
  -1,
  400,
  99_999_999,
  true,
  false,
  null,
  [],
  [''],
  ['x'],
  ['before_tool'],
  ['*'],
  [1],
  {},
  { a: 'b' },
  { a: 1 },
  { intercept: 1 },
  { attempts: 2 },
  { attempts: -2 },
  { provider: 'openai', name: 'x' },
  { provider: 'nobody', name: 'x' },
  { command: ['x'] },
  { command: [] },
  { s: { command: 'x' } },
  { s: { command: 'x', url: 'https://example.com' } },
  { s: { url: 'https://example.com' } },
]

describe('schema/', () => {
  it.each(SCHEMA_NAMES)('%s.json is what npm run schema would write', (name) => {
    const { path, text } = schemaFile(name)
    expect(readFileSync(path, 'utf8'), 'run npm run schema').toBe(text)
  })

  it('holds no other file', () => {
    expect(readdirSync('schema').sort()).toEqual(SCHEMA_NAMES.map((name) => `${name}.json`).sort())
  })

  it.each(SCHEMA_NAMES)('%s.json describes each of its properties', (name) => {
    const undescribed: string[] = []
    const look = (value: unknown, at: string) => {
      if (typeof value !== 'object' || value === null) return
      const { properties } = value as { readonly properties?: object }
      for (const [key, one] of Object.entries(value)) look(one, `${at}/${key}`)
      if (properties && at.split('/').length < 4) {
        for (const [key, one] of Object.entries(properties)) {
          const isPlain = ['$schema', 'description', 'defaults', 'builtins'].includes(key)
          const { description, properties: inner, $ref } = one as Record<string, unknown>
          if (!isPlain && description === undefined && !inner && !$ref) undescribed.push(`${at}/${key}`)
        }
      }
    }
    look(schemaOf(name), '')
    expect(undescribed).toEqual([])
  })
})

// ---- real files -----------------------------------------------------------------------------------------------

const CONFIGS = resolve('../shared/corpus/configs')
const CASES = resolve('../shared/corpus/cases')
const isThere = existsSync(CONFIGS)
const LEFT_OUT = ['entry-invalid', 'entry-unsupported', 'unknown-event', 'config-invalid', 'setting-invalid']

describe.skipIf(!isThere)('configurations of ../shared/corpus', () => {
  it.each(isThere ? readdirSync(CONFIGS) : [])('%s is valid where all of it is read', async (name) => {
    const file = join(CONFIGS, name)
    const { diagnostics, specs } = await loadConfig({ files: [file] })
    if (specs.some((spec) => spec.agent)) return // The schema is of our own format, not of another agent's.
    const parsed = new JsonText(readFileSync(file, 'utf8')).parse()
    const isRead = diagnostics.every(({ code }) => !LEFT_OUT.includes(code))
    expect(isValid('hooks', 'value' in parsed && parsed.value)).toBe(isRead)
  })

  it.each(isThere ? readdirSync(CASES) : [])('%s is valid', (name) => {
    const { config } = JSON.parse(readFileSync(join(CASES, name), 'utf8')) as { config: unknown }
    expect(isValid('hooks', typeof config === 'string' ? JSON.parse(config) : config)).toBe(true)
  })
})

it.skipIf(isThere)('../shared/corpus is not there: its files were not validated', () => {})

// ---- the same verdict as the code's ---------------------------------------------------------------------------

const WHOLE: { readonly [T in HandlerType]: object } = {
  command: { command: 'x' },
  http: { url: 'https://example.com' },
  prompt: { prompt: 'x' },
  agent: { prompt: 'x' },
  mcp_tool: { server: 'x', tool: 'y' },
  module: { module: './guard.mjs' },
}
const TYPES = Object.keys(EVENT_KINDS) as readonly HandlerType[]
const inGroup = (handler: object) => ({ hooks: { PreToolUse: [{ hooks: [handler] }] } })

describe('hooks', () => {
  const fields = TYPES.flatMap((type) =>
    Object.keys({ ...EVENT_KINDS[type].fields, ...COMMON }).map((field) => [type, field] as const),
  )

  it.each(sample(fields))('%s.%s', (type, field) => {
    for (const value of VALUES) {
      const handler = { type, ...WHOLE[type], [field]: value }
      const read = readHandler(handler)
      // One that is read otherwise than it stands there is not as it should be.
      const isRight = !('problem' in read) && read.remarks.length === 0
      expect(isValid('hooks', inGroup(handler)), JSON.stringify(handler)).toBe(isRight)
      expect(isValid('settings', inGroup(handler)), JSON.stringify(handler)).toBe(isRight)
    }
  })

  it.each(TYPES)('%s lacks nothing', (type) => {
    expect(isValid('hooks', inGroup({ type, ...WHOLE[type] }))).toBe(true)
    for (const key of EVENT_KINDS[type].required) {
      expect(isValid('hooks', inGroup({ type, ...WHOLE[type], [key]: undefined }))).toBe(false)
    }
  })

  it.each(Object.keys(CATALOGUE))('on %s', (event) => {
    const group = { hooks: [{ type: 'command', command: 'x' }] }
    expect(isValid('hooks', { hooks: { [event]: [group] } })).toBe(true)
    expect(isValid('hooks', { hooks: { [event]: [{ command: 'x' }] } })).toBe(false)
    const alias = event.charAt(0).toLowerCase() + event.slice(1)
    expect(isValid('hooks', { hooks: { [alias]: [group] } })).toBe(true)
    expect(isValid('hooks', { hooks: { [alias]: [{ command: 'x' }] } })).toBe(false)
  })

  it.each([
    ['no type', { hooks: { Stop: [{ hooks: [{ command: 'x' }] }] } }],
    ['a type that is none', { hooks: { Stop: [{ hooks: [{ type: 'info', command: 'x' }] }] } }],
    ['an event that is none', { hooks: { PreTooluse: [] } }],
    ['hooks that are a text', { hooks: './hooks.json' }],
    ['a matcher that is a list', { hooks: { PreToolUse: [{ matcher: ['Bash'], hooks: [] }] } }],
    ['a group in a list without an event', { hooks: [{ hooks: [] }] }],
    ['an event that is a text', { hooks: { Stop: './x.sh' } }],
    ['nothing that is known', { hoks: {} }],
    ['no object', []],
  ])('are invalid with %s', async (_, value) => {
    expect(isValid('hooks', value)).toBe(false)
    const { diagnostics } = await loadRoot(value)
    expect(diagnostics).not.toEqual([])
  })

  it('of a plugin may say their format, which is 1', () => {
    expect([1, 2, '1'].map((carabiner) => isValid('hooks', { carabiner, hooks: {} }))).toEqual([
      true,
      false,
      false,
    ])
  })

  it.each(Object.keys(PROCESS.fields))('processes: %s', async (field) => {
    for (const value of VALUES) {
      const process = { command: ['x'], intercept: ['before_tool'], observe: ['*'], [field]: value }
      const file = { hooks: {}, processes: { one: process } }
      const { diagnostics } = await loadRoot(file)
      const isRead = diagnostics.every(({ code }) => !LEFT_OUT.includes(code))
      // What has nothing to do, or the name of no program, is said by the code alone.
      const isBeyond = JSON.stringify(value) === '[""]' || JSON.stringify(value) === '[]' || value === ' '
      if (!isBeyond) expect(isValid('hooks', file), JSON.stringify(process)).toBe(isRead)
    }
  })
})

describe('settings', () => {
  it.each(Object.keys(DEFAULT_MERGED))('%s', (key) => {
    for (const value of VALUES) {
      const fits = attempted(() => embedderSettings({ [key]: value }))
      // The grammar of URLs and hosts, and the longest time-out, are said by the code alone.
      const isBeyond = ['allowed_http_urls', 'allowed_private_hosts'].includes(key) || value === 99_999_999
      const valid = isValid('settings', { hooks: { [key]: value } })
      if (isBeyond) expect(valid || !fits, `${key}: ${JSON.stringify(value)}`).toBe(true)
      else expect(valid, `${key}: ${JSON.stringify(value)}`).toBe(fits)
    }
  })

  it('know no others', async () => {
    expect(isValid('settings', { hooks: { enabeld: true } })).toBe(false)
    const { diagnostics } = await load({ 'project/.amplifier/settings.json': { hooks: { enabeld: true } } })
    expect(diagnostics.map(({ code }) => code)).toEqual(['setting-invalid'])
  })

  it('leave what is none of ours alone', () => {
    expect(isValid('settings', { permissions: { allow: [] }, disableAllHooks: true })).toBe(true)
    expect(isValid('settings', { disableAllHooks: 'yes' })).toBe(false)
  })
})

function attempted(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

describe('cases', () => {
  const good = { event: 'PreToolUse', expect: { action: 'deny' } }
  const samples: readonly (readonly [string, object])[] = [
    ['a plain one', good],
    ['no event', { expect: { action: 'deny' } }],
    ['no expectation', { event: 'Stop' }],
    ['an empty expectation', { event: 'Stop', expect: {} }],
    ['an action that is none', { event: 'Stop', expect: { action: 'block' } }],
    ['a pattern', { event: 'Stop', expect: { reason: { matches: 'a+' } } }],
    ['a rule that is none', { event: 'Stop', expect: { reason: { contains: 'a' } } }],
    ['a list of rules', { event: 'Stop', expect: { context: ['a', { matches: 'b' }] } }],
    ['no context', { event: 'Stop', expect: { context: null, messages: null } }],
    ['a misspelt key', { ...good, payloads: {} }],
    ['two payloads', { ...good, payload: {}, payloadFile: 'x.json' }],
    ['no time', { ...good, timeout: 0 }],
    ['too much time', { ...good, timeout: 601 }],
    ['enough time', { ...good, timeout: 600 }],
    ['a reason to skip', { ...good, skip: 'not yet' }],
    ['a number to skip', { ...good, skip: 1 }],
    ['files', { ...good, files: { 'a.txt': 'x' }, env: { A: 'b' } }],
    ['files of numbers', { ...good, files: { 'a.txt': 1 } }],
    ['names', { event: 'Stop', expect: { ran: ['x'], failed: [] } }],
    ['a name', { event: 'Stop', expect: { ran: 'x' } }],
    ['a part', { event: 'Stop', expect: { modified: { a: 1 } } }],
    ['a permission', { event: 'Stop', expect: { permission: 'allow' } }],
    ['another permission', { event: 'Stop', expect: { permission: 'ask' } }],
  ]

  it.each(samples)('with %s', (_, one) => {
    const file = { $schema: 'x', cases: [one] }
    const { problems } = casesIn('hooks.test.json', JSON.stringify(file))
    expect(isValid('hooks.test', file)).toBe(problems.length === 0)
  })

  it.each([{}, { cases: {} }, { cases: [], other: 1 }, { cases: [1] }, []])(
    'of a file that is none: %j',
    (file) => {
      expect(isValid('hooks.test', file)).toBe(false)
      expect(casesIn('hooks.test.json', JSON.stringify(file)).problems).not.toEqual([])
    },
  )
})

describe('pack', () => {
  const problemsOf = (value: unknown) => {
    const home = tree({ '.amplifier/pack.json': JSON.stringify(value) })
    mkdirSync(join(home, 'project'))
    writeFileSync(join(home, 'project', 'x'), '')
    return readSettings(home, join(home, 'project')).problems
  }
  const fields = Object.entries<readonly string[]>(KEYS).flatMap(
    ([section, keys]): readonly (readonly [section: string, key: string | undefined])[] =>
      keys.length === 0 ? [[section, undefined]] : keys.map((key) => [section, key]),
  )

  it.each(sample(fields))('%s %s', (section, key) => {
    for (const value of VALUES) {
      const more = section === 'reflection' && key !== 'command' ? { command: ['x'] } : {}
      const file = { [section]: key === undefined ? value : { ...more, [key]: value } }
      // Without a command there is no reflection, and a null counts as none given.
      if (section === 'reflection' && value === null) continue
      expect(isValid('pack', file), JSON.stringify(file)).toBe(problemsOf(file).length === 0)
    }
  })

  it('knows no others', () => {
    for (const file of [{ dney: [] }, { bash: { dney: ['x'] } }]) {
      expect(isValid('pack', file)).toBe(false)
      expect(problemsOf(file)).not.toEqual([])
    }
  })
})

describe('catalog', () => {
  const sources: readonly unknown[] = [
    './guard',
    'guard',
    'npm:guard@1.0.0',
    'https://example.com/guard.git',
    { source: 'github', repo: 'owner/guard' },
    { source: 'github' },
    { source: 'url', url: 'https://example.com/guard.git' },
    { source: 'git-subdir', url: 'https://example.com/guard.git', path: 'a' },
    { source: 'git-subdir', url: 'https://example.com/guard.git' },
    { source: 'npm', package: 'guard' },
    { source: 'hg', url: 'https://example.com' },
    7,
    undefined,
  ]

  it.each(sources)('source %j', (source) => {
    const file = { carabiner: 1, name: 'c', plugins: [{ name: 'guard', source }] }
    const { problems } = readCatalog(JSON.stringify(file), 'catalog.json', {
      isLocal: true,
      hasFolder: () => true,
    })
    expect(isValid('catalog', file)).toBe(problems.length === 0)
  })

  it.each([
    { plugins: [] },
    { carabiner: 2, plugins: [] },
    { carabiner: 1 },
    { carabiner: 1, plugins: {} },
    [],
  ])('is none of ours: %j', (file) => {
    expect(isValid('catalog', file)).toBe(false)
  })
})
