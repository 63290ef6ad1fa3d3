// Whatever happens to the files of a project, a call that a trusted gate refuses is refused, and whoever is stopped is told how to go on.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createHooks, type Expectation, type Outcome } from 'carabiner'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type ConfigSources, loadConfig } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { removeAll } from '../trust/hostile-project.js'
import { isLarge, runs } from './runs.js'

const DENIES = '#!/bin/sh\necho no >&2\nexit 2\n'
const ALLOWS = '#!/bin/sh\nexit 0\n'
const gate = (command: string) => ({
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
})

/** Everything that is trusted, by path. Each of these gates refuses a call of its own. */
const FILES: Readonly<Record<string, string>> = {
  '.amplifier/hooks/guard/hooks.json': JSON.stringify(gate('"$CLAUDE_PLUGIN_ROOT"/gate.sh')),
  '.amplifier/hooks/guard/gate.sh': DENIES,
  '.amplifier/hooks/guard/lib/data.txt': 'data\n',
  '.amplifier/hooks/hooks.json': JSON.stringify(gate('sh scripts/root.sh')),
  '.amplifier/settings.json': JSON.stringify(gate('"$CLAUDE_PROJECT_DIR"/scripts/settings.sh')),
  'scripts/root.sh': DENIES,
  'scripts/settings.sh': DENIES,
}
const PATHS = [
  ...Object.keys(FILES),
  '.amplifier/hooks/guard/lib',
  '.amplifier/hooks/guard',
  '.amplifier/hooks',
  '.amplifier',
  'scripts',
]

const TEXTS = [
  '',
  '{}',
  '{"hooks":',
  ALLOWS,
  JSON.stringify({ hooks: {} }),
  JSON.stringify(gate('true')),
  JSON.stringify({ disableAllHooks: true }),
  JSON.stringify({ hooks: { enabled: false, allow_project_hooks: false } }),
  JSON.stringify({ hooks: { max_timeout: 0.001, default_timeout: 0.001 } }),
  JSON.stringify({ hooks: { trust_missing: 'tell', on_failure: 'continue' } }),
]

/** A folder beside the project. */
const ELSEWHERE = 'elsewhere'

const path = fc.constantFrom(...PATHS)
const text = fc.constantFrom(...TEXTS)
const edit = fc.oneof(
  fc.record({
    do: fc.constant('rename' as const),
    path,
    to: fc.constantFrom('x', '.x', 'guard', 'hooks.json', 'hooks'),
  }),
  fc.record({ do: fc.constant('delete' as const), path }),
  fc.record({ do: fc.constant('truncate' as const), path, size: fc.nat(20) }),
  fc.record({ do: fc.constant('write' as const), path, text }),
  fc.record({
    do: fc.constant('add' as const),
    path,
    name: fc.constantFrom('new.sh', '.git', 'a b', 'hooks.json'),
    text,
  }),
  fc.record({ do: fc.constant('chmod' as const), path, mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444) }),
  fc.record({
    do: fc.constant('link' as const),
    path,
    to: fc.constantFrom('/dev/null', 'scripts', ELSEWHERE, '.amplifier'),
  }),
  fc.record({ do: fc.constant('swap' as const), path, with: path }),
  fc.record({
    do: fc.constant('variable' as const),
    name: fc.constantFrom(
      'PATH',
      'CLAUDE_PROJECT_DIR',
      'AMPLIFIER_HOOKS_DIR',
      'CLAUDE_PLUGIN_ROOT',
      'CDPATH',
    ),
    value: fc.constantFrom('', '.', '.:/usr/bin:/bin', '/nowhere', 'scripts:/bin'),
  }),
)
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never

let base: string
let project: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-edits-')))
  mkdirSync(join(base, ELSEWHERE))
  vi.stubEnv('CARABINER_HOME', join(base, 'data'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  removeAll(base)
})

let count = 0

async function trustedProject(): Promise<void> {
  project = join(base, `project-${++count}`)
  for (const [name, content] of Object.entries(FILES)) {
    const at = join(project, name)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, content, { mode: name.endsWith('.sh') ? 0o755 : 0o644 })
  }
  const { specs } = await loadConfig(sources())
  const store = trustStore()
  for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
}

const sources = (): ConfigSources => ({ projectDir: project, homeDir: join(base, 'home') })

/** An edit that is not possible is none. */
function attempt(one: Edit): void {
  try {
    apply(one)
  } catch (error) {
    if (!('code' in (error as object))) throw error
  }
}

function apply(one: Edit): void {
  if (one.do === 'variable') {
    vi.stubEnv(one.name, one.value)
    return
  }
  const at = join(project, one.path)
  switch (one.do) {
    case 'rename':
      renameSync(at, join(dirname(at), one.to))
      break
    case 'delete':
      rmSync(at, { recursive: true })
      break
    case 'truncate':
      truncateSync(at, one.size)
      break
    case 'write':
      writeFileSync(at, one.text)
      break
    case 'add':
      writeFileSync(join(at, one.name), one.text, { mode: 0o755 })
      break
    case 'chmod':
      // The mode of /dev/null is everybody's.
      if (lstatSync(at).isSymbolicLink()) break
      chmodSync(at, lstatSync(at).isDirectory() ? one.mode | 0o700 : one.mode)
      break
    case 'link':
      if (existsSync(at)) renameSync(at, `${at}.old`)
      symlinkSync(one.to === ELSEWHERE ? join(base, ELSEWHERE) : one.to, at)
      break
    case 'swap': {
      const other = join(project, one.with)
      renameSync(at, `${at}.swap`)
      renameSync(other, at)
      renameSync(`${at}.swap`, other)
      break
    }
  }
}

interface Fired {
  readonly outcome: Outcome
  readonly expectations: readonly Expectation[]
}

async function fired(): Promise<Fired> {
  const hooks = await createHooks({ projectDir: project, home: join(base, 'home'), globals: false })
  try {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    const outcome = await hooks.session({ cwd: project }).fire('PreToolUse', call)
    return { outcome, expectations: hooks.expectations() }
  } finally {
    await hooks.close()
  }
}

/** Each of the three gates refuses, or is closed. None stops being expected. */
function expectRefused({ outcome, expectations }: Fired, edits: readonly Edit[]): void {
  const { action, hooks, reason, messages } = outcome
  const traces = hooks.map(({ name, status, why, detail }) => [name, status, why, detail])
  const seen = JSON.stringify({ edits, traces })
  expect(action, seen).toBe('deny')
  expect(expectations, seen).toHaveLength(3)
  // A rules file that cannot be read refuses before the gates are asked.
  if (hooks.some(({ kind, answer }) => kind === 'rules' && answer?.action === 'deny')) return
  const refusing = hooks.filter(({ answer, countsAs }) => answer?.action === 'deny' || countsAs === 'deny')
  expect(refusing.length, seen).toBeGreaterThanOrEqual(3)
  const told = [reason ?? '', ...messages.map(({ text }) => text)].join('\n')
  for (const { state, unit, guardedBy } of expectations) {
    expect(guardedBy, seen).not.toBe('nothing')
    const named = unit.kind === 'file' ? relative(project, unit.path) : unit.name
    if (state !== 'as trusted') expect(told, seen).toContain(`carabiner untrust ${named}`)
  }
}

it('a call that trusted gates refuse is refused after any sequence of edits', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
      vi.unstubAllEnvs()
      vi.stubEnv('CARABINER_HOME', join(base, 'data'))
      await trustedProject()
      for (const [i, one] of edits.entries()) {
        attempt(one)
        expectRefused(await fired(), edits.slice(0, i + 1))
      }
    }),
    { numRuns: isLarge ? runs(300) : 8 },
  )
})
