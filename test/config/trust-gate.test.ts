// What a hook that may not run says: why, and a command that nobody's name can turn into another.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { RE2JS } from 're2js'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ConfigSources, loadConfig } from '../../src/config/load.js'
import { TrustGate } from '../../src/config/trust-gate.js'
import { unitsOf } from '../../src/config/units.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { removeAll } from '../trust/hostile-project.js'

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
    expect(specs).toHaveLength(900)
    for (const spec of specs) expect(gate.refusal(spec)).toMatchObject({ why: 'untrusted' })
    expect(specs.at(-1)?.hook.matcher?.test('Bash')).toBe(true)
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

it('hooks of the user are nobody’s unit', async () => {
  plugin('guard', join(base, 'home/.amplifier/hooks'))
  const { gate, specs } = await settled()
  expect(specs.map((spec) => gate.refusal(spec))).toEqual([undefined])
  expect(gate.untrusted(specs)).toEqual([])
})
