// A host that keeps running while its hooks are edited and trusted: it says so, and the next event runs what is trusted.

import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig, loadSkills } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { createHooks, type HooksOptions } from '../../src/runtime.js'
import { trustStore } from '../../src/trust/trust-store.js'
import type { Unit } from '../../src/trust/unit.js'
import { project } from './hostile-project.js'

/** Slow machines are no failures. */
const PATIENT = 60

const file = (handler: object) => ({
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ ...handler, timeout: PATIENT }] }] },
})

const resident = (dir: string) => ({
  processes: {
    guard: {
      command: [process.execPath, 'hook.mjs'],
      dir,
      intercept: ['before_tool'],
      timeouts: { intercept: PATIENT, hello: PATIENT },
    },
  },
})

const script = (reason: string) => `echo ${reason} >&2; exit 2\n`
const module = (reason: string) => `export default () => ({ action: 'deny', reason: '${reason}' })\n`
const program = (reason: string) => `
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const result = method === 'hook.hello' ? { ok: true } : { action: 'deny_tool', reason: '${reason}' }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
}
`

const ROOT = '.amplifier/hooks/hooks.json'
const GUARD = '.amplifier/hooks/guard'

interface Gate {
  readonly json: string
  readonly content: object
  readonly code: string
  readonly text: (reason: string) => string
}

const PLUGIN: Gate = {
  json: `${GUARD}/hooks.json`,
  content: file({ type: 'command', command: 'sh "$CLAUDE_PLUGIN_ROOT"/hook.sh' }),
  code: `${GUARD}/hook.sh`,
  text: script,
}

const GATES: Readonly<Record<string, Gate>> = {
  'a script that the project names': {
    json: ROOT,
    content: file({ type: 'command', command: 'sh .amplifier/hooks/gate.sh' }),
    code: '.amplifier/hooks/gate.sh',
    text: script,
  },
  'a script outside the folder of hooks': {
    json: ROOT,
    content: file({ type: 'command', command: 'sh tools/gate.sh' }),
    code: 'tools/gate.sh',
    text: script,
  },
  'a script of a plugin': PLUGIN,
  'a module of a plugin': {
    json: `${GUARD}/hooks.json`,
    content: file({ type: 'module', module: './hook.mjs' }),
    code: `${GUARD}/hook.mjs`,
    text: module,
  },
  'a module that the project names': {
    json: ROOT,
    content: file({ type: 'module', module: '../../tools/hook.mjs' }),
    code: 'tools/hook.mjs',
    text: module,
  },
  'a process of a plugin': {
    json: `${GUARD}/hooks.json`,
    content: resident('.'),
    code: `${GUARD}/hook.mjs`,
    text: program,
  },
  'a process that the project names': {
    json: ROOT,
    content: resident('tools'),
    code: 'tools/hook.mjs',
    text: program,
  },
}

/** A project with one gate that denies for a reason of its own. */
function withGate({ json, content, code, text }: Gate) {
  const place = project()
  place.write(json, JSON.stringify(content))
  const edit = (reason: string) => place.write(code, text(reason))
  const sources = { projectDir: place.dir, homeDir: join(place.root, 'home'), dataDir: place.dataDir }
  const store = () => trustStore({ dataDir: place.dataDir })
  const units = async (): Promise<readonly Unit[]> => [...unitsOf((await loadConfig(sources)).specs).keys()]
  /** As another process does. */
  const trust = async () => {
    for (const unit of await units()) store().trust(unit, store().look(unit).digest)
  }
  const untrust = async () => {
    for (const unit of await units()) store().untrust(unit)
  }
  edit('first')
  return { place, edit, trust, untrust, sources }
}

async function opened({ place, sources }: ReturnType<typeof withGate>, options: HooksOptions = {}) {
  vi.stubEnv('CARABINER_HOME', place.dataDir)
  const given = { projectDir: place.dir, home: sources.homeDir, globals: false }
  const hooks = await createHooks({ ...given, ...options })
  onTestFinished(async () => {
    await hooks.close()
    vi.unstubAllEnvs()
  })
  const session = hooks.session({ cwd: place.dir })
  const fire = () => session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'echo fine' } })
  return { hooks, session, fire }
}

const textsOf = ({ messages }: Outcome) => messages.map(({ text }) => text).join('\n')

describe('runs on as it was trusted, and as it is now from the event after it was trusted', () => {
  async function check(gate: Gate, options: HooksOptions) {
    const made = withGate(gate)
    await made.trust()
    const { fire } = await opened(made, options)
    expect(await fire()).toMatchObject({ action: 'deny', reason: 'first' })
    for (const [before, now] of [
      ['first', 'second'],
      ['second', 'third'],
    ] as const) {
      made.edit(now)
      const kept = await fire()
      expect(kept).toMatchObject({ action: 'deny', reason: before })
      expect(textsOf(kept)).toContain('is not as you trusted it')
      await made.trust()
      const after = await fire()
      expect(after).toMatchObject({ action: 'deny', reason: now })
      expect(textsOf(after)).not.toContain('is not as you trusted it')
    }
  }

  it.each(Object.entries(GATES))('%s', (_, gate) => check(gate, {}))

  it.each(Object.entries(GATES).slice(0, 3))('%s, where files are watched', (_, gate) =>
    check(gate, { watch: true }),
  )
})

it('a hook runs from the event after it was first trusted', async () => {
  const made = withGate(PLUGIN)
  const { fire } = await opened(made)
  expect(await fire()).toMatchObject({ action: 'continue', hooks: [{ why: 'untrusted' }] })
  await made.trust()
  expect(await fire()).toMatchObject({ action: 'deny', reason: 'first' })
})

it('a hook that is no longer trusted does not run, until it is trusted again', async () => {
  const made = withGate(PLUGIN)
  await made.trust()
  const { fire } = await opened(made)
  expect(await fire()).toMatchObject({ action: 'deny', reason: 'first' })
  await made.untrust()
  const { hooks } = await fire()
  expect(hooks).toMatchObject([{ status: 'skipped', why: 'untrusted', detail: 'You no longer trust it.' }])
  made.edit('second')
  await made.trust()
  expect(await fire()).toMatchObject({ action: 'deny', reason: 'second' })
})

it('many events at once read the files once', async () => {
  const made = withGate(PLUGIN)
  await made.trust()
  const { hooks, fire } = await opened(made)
  await fire()
  made.edit('second')
  await made.trust()
  const before = hooks.list()[0]?.content
  const outcomes = await Promise.all(Array.from({ length: 8 }, fire))
  expect(outcomes.map(({ reason }) => reason)).toEqual(Array(8).fill('second'))
  expect(hooks.list()[0]?.content).not.toBe(before)
})

it('an entry that was edited and trusted counts, also if nobody watches its file', async () => {
  const made = withGate(PLUGIN)
  await made.trust()
  const { fire } = await opened(made)
  await fire()
  const entry = { type: 'command', command: 'echo other >&2; exit 2' }
  writeFileSync(join(made.place.dir, PLUGIN.json), JSON.stringify(file(entry)))
  await made.trust()
  expect(await fire()).toMatchObject({ action: 'deny', reason: 'other' })
})

it('a skill that is loaded runs as it is now from the event after it was trusted', async () => {
  const made = withGate(PLUGIN)
  const edit = (reason: string) =>
    made.place.write('skills/deploy/gate.sh', `#!/bin/sh\n${script(reason)}`, 0o755)
  const { hooks } = file({ type: 'command', command: './gate.sh' })
  const skill = { name: 'deploy', directory: dirname(edit('first')), hooks }
  const trust = async () => {
    const { specs } = await loadSkills([skill], made.sources, await loadConfig(made.sources))
    const store = trustStore({ dataDir: made.place.dataDir })
    for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
  }
  await trust()
  const { session, fire } = await opened(made)
  await session.fire('skill:loaded', { skill_name: 'deploy', skill_directory: skill.directory, hooks })
  expect(await fire()).toMatchObject({ action: 'deny', reason: 'first' })
  edit('second')
  expect((await fire()).action).toBe('deny')
  await trust()
  expect(await fire()).toMatchObject({ action: 'deny', reason: 'second' })
})
