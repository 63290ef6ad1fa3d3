import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LoadedConfig, loadConfig } from '../../src/config/load.js'
import { runs } from '../property/runs.js'
import { type Files, sourcesIn, tree, write } from './temp-tree.js'

/** Words that mean something, so that chance finds the interesting places. */
const word = fc.constantFrom(
  ...[
    'hooks',
    'PreToolUse',
    'Stop',
    'tool:pre',
    'preToolUse',
    'matcher',
    'type',
    'command',
    'prompt',
    'args',
  ],
  ...['timeout', 'if', 'once', 'async', 'shell', 'event', 'enabled', 'sequential', 'priority', 'matching'],
  ...[
    'disableAllHooks',
    'max_timeout',
    'on_failure',
    'processes',
    '__proto__',
    'constructor',
    'name',
    '//',
    '',
  ],
)
const text = fc.oneof(word, fc.constantFrom('x', 'Bash(', '[', './x', '../x', 'fullmatch'), fc.string())
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    text,
    fc.constantFrom(null, true, false, 0, -1, 5000, 1e308),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof({ weight: 5, arbitrary: word }, { weight: 1, arbitrary: fc.string() }),
      tie('value'),
      {
        maxKeys: 4,
      },
    ),
  ),
}))
const handler = fc.record({
  type: fc.constantFrom('command', 'http', 'prompt'),
  command: text,
  url: text,
  x: json,
})
const plausible = fc.record({
  hooks: fc.dictionary(
    word,
    fc.array(fc.record({ matcher: json, hooks: fc.array(fc.oneof(handler, json)) })),
  ),
})
const content = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  plausible.map((value) => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 200 }),
  fc.string(),
)

/** What holds for every load. */
function expectSound({ specs, diagnostics, settings }: LoadedConfig): void {
  for (const { code, file, line, text } of diagnostics) {
    expect(code).toMatch(/^[a-z-]+$/)
    expect(text.length).toBeGreaterThan(5)
    expect(text.length).toBeLessThan(2500)
    expect(file).toMatch(/^\//)
    expect(line).toBeGreaterThanOrEqual(1)
  }
  expect(new Set(specs.map(({ hook }) => hook.id)).size).toBe(specs.length)
  expect(new Set(specs.map(({ hook }) => hook.name)).size).toBe(specs.length)
  for (const { hook, place } of specs) {
    expect(hook.timeoutMs).toBeGreaterThan(0)
    expect(hook.origin.line).toBeGreaterThanOrEqual(1)
    expect(typeof (hook.matcher?.test('Bash') ?? true)).toBe('boolean')
    expect(place.projectDir).toMatch(/^\//)
    expect(place.plugin?.dataDir ?? '/data/plugin-data/user/x').toMatch(
      /\/data\/plugin-data\/[\w-]+\/[\w-]+$/,
    )
  }
  expect(settings.max_timeout).toBeGreaterThan(0)
}

describe('loadConfig', () => {
  it('never throws, whatever stands in the files', async () => {
    const root = tree()
    const names = [
      'home/.amplifier/settings.json',
      'home/.amplifier/hooks/hooks.json',
      'project/.amplifier/settings.json',
      'project/.amplifier/hooks/hooks.json',
      'project/.amplifier/hooks/p/hooks.json',
      'project/.amplifier/hooks/q/.claude-plugin/plugin.json',
      'file.json',
      'plugin/.claude-plugin/plugin.json',
      'plugin/hooks/hooks.json',
    ]
    const sources = sourcesIn(root, { files: [join(root, 'file.json')], plugins: [join(root, 'plugin')] })
    let previous: LoadedConfig | undefined
    await fc.assert(
      fc.asyncProperty(fc.tuple(...names.map(() => content)), async (contents) => {
        write(root, Object.fromEntries(names.map((name, i) => [name, contents[i]])))
        expectSound(await loadConfig(sources))
        previous = await loadConfig(sources, previous)
        expectSound(previous)
      }),
      { numRuns: runs(150) },
    )
  })

  it('never throws, whatever the paths are', async () => {
    const path = fc.oneof(
      fc.string().map((name) => `/nowhere/${name}`),
      fc.constantFrom(
        '/',
        '.',
        '',
        '/dev/null',
        '/dev/zero',
        '/proc/self/mem',
        '/proc/1/root',
        '\0',
        'x'.repeat(5000),
      ),
      fc.constantFrom(null, undefined, 7, {}) as fc.Arbitrary<never>,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.record({ projectDir: path, homeDir: path, files: fc.array(path), plugins: fc.array(path) }),
        async (sources) => {
          // A rules file that may be there and cannot be read closes every call.
          const { specs } = await loadConfig(sources)
          expect(specs.filter(({ type, handler }) => type !== 'rules' || !('broken' in handler))).toEqual([])
        },
      ),
      { numRuns: runs(100) },
    )
  })

  it('survives folders where files should be, and files where folders should be', async () => {
    const shapes: readonly Files[] = [
      { 'project/.amplifier': 'a file' },
      { 'project/.amplifier/hooks': 'a file' },
      { 'project/.amplifier/hooks/hooks.json/x': '' },
      { 'project/.amplifier/settings.json/x': '' },
      { 'project/.amplifier/hooks/p/hooks': 'a file', 'project/.amplifier/hooks/p/.claude-plugin': 'a file' },
      { 'project/.amplifier/hooks/p/.claude-plugin/plugin.json/x': '' },
    ]
    for (const shape of shapes) {
      const config = await loadConfig(sourcesIn(tree(shape)))
      expectSound(config)
      expect(config.specs).toEqual([])
    }
    const root = tree()
    mkdirSync(join(root, 'project/.amplifier/hooks'), { recursive: true })
    chmodSync(join(root, 'project/.amplifier/hooks'), 0)
    expectSound(await loadConfig(sourcesIn(root)))
    chmodSync(join(root, 'project/.amplifier/hooks'), 0o755)
  })
})
