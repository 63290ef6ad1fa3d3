// A trust record is an expectation: the gates of what was trusted stay armed, whatever becomes of its files.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type Hooks, type HooksOptions, type Outcome } from 'carabiner'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ConfigSources, loadConfig } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { removeAll } from './hostile-project.js'

let base: string
let project: string
let data: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-expectation-')))
  project = join(base, 'project')
  data = join(base, 'data')
  mkdirSync(project)
  mkdirSync(join(base, 'home'))
  vi.stubEnv('CARABINER_HOME', data)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    removeAll(base)
  })
})

const sources = (more: Partial<ConfigSources> = {}): ConfigSources => ({
  projectDir: project,
  homeDir: join(base, 'home'),
  ...more,
})

function write(path: string, content: unknown, mode = 0o644): string {
  const at = join(project, path)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  chmodSync(at, mode)
  return at
}

const command = (event: string, line: string, more: object = {}) => ({
  hooks: { [event]: [{ matcher: 'Bash', hooks: [{ type: 'command', command: line, ...more }] }] },
})

const DENIES = '#!/bin/sh\necho no >&2\nexit 2\n'

function plugin(name = 'guard', more: object = {}): string {
  write(`.amplifier/hooks/${name}/gate.sh`, DENIES, 0o755)
  write(`.amplifier/hooks/${name}/note.sh`, '#!/bin/sh\necho noted\n', 0o755)
  const hooks = {
    ...command('PreToolUse', '"$CLAUDE_PLUGIN_ROOT"/gate.sh', more).hooks,
    SessionStart: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/note.sh' }] }],
  }
  return dirname(write(`.amplifier/hooks/${name}/hooks.json`, { hooks }))
}

async function trustAll(more: Partial<ConfigSources> = {}): Promise<void> {
  const { specs } = await loadConfig(sources(more))
  const store = trustStore({ dataDir: data })
  for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
}

async function opened(options: HooksOptions = {}): Promise<Hooks> {
  const hooks = await createHooks({
    projectDir: project,
    home: join(base, 'home'),
    globals: false,
    ...options,
  })
  onTestFinished(() => hooks.close())
  return hooks
}

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

async function fired(
  event = 'PreToolUse',
  call: object = CALL,
  options: HooksOptions = {},
): Promise<Outcome> {
  return (await opened(options)).session({ cwd: project }).fire(event, call)
}

const textsOf = ({ messages }: Outcome) => messages.map(({ text }) => text).join('\n')

const EDITS: Readonly<Record<string, (folder: string) => void>> = {
  'G1: its folder was renamed': (f) => renameSync(f, join(dirname(f), '.guard')),
  'G1: its folder was renamed to another name': (f) => renameSync(f, join(dirname(f), 'other')),
  'G2: .amplifier was removed': () => rmSync(join(project, '.amplifier'), { recursive: true }),
  'G2: its hooks file was renamed': (f) => renameSync(join(f, 'hooks.json'), join(f, 'hooks.jsonc')),
  'G2: its hooks file was emptied': (f) => writeFileSync(join(f, 'hooks.json'), ''),
  'G2: its hooks file is {}': (f) => writeFileSync(join(f, 'hooks.json'), '{}'),
  'G2: its hooks file is no JSON any more': (f) => writeFileSync(join(f, 'hooks.json'), '{"hooks":'),
  'G2: its matcher was edited': (f) => edit(join(f, 'hooks.json'), '"Bash"', '"Bsh"'),
  'G2: its event was edited': (f) => edit(join(f, 'hooks.json'), '"PreToolUse"', '"PreTolUse"'),
  'G3: a file was added': (f) => writeFileSync(join(f, 'new.txt'), ''),
  'G3: a byte was changed': (f) => edit(join(f, 'gate.sh'), 'exit 2', 'exit 0'),
  'G3: a mode was changed': (f) => chmodSync(join(f, 'gate.sh'), 0o644),
  ...(process.getuid?.() !== 0 && { 'its folder cannot be read': (f: string) => chmodSync(f, 0) }),
  'a file is where its folder was': (f) => {
    rmSync(f, { recursive: true })
    writeFileSync(f, '')
  },
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(from)
  writeFileSync(path, text.replaceAll(from, to))
}

describe('a plugin that was trusted still guards', () => {
  it.each(Object.entries(EDITS))('%s', async (_, change) => {
    const folder = plugin()
    await trustAll()
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
    change(folder)
    const outcome = await fired()
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(textsOf(outcome)).toMatch(
      /guard \(trusted \d+ \w+\) (?:was changed|is no longer in this project and still guards it)/,
    )
    expect(textsOf(outcome)).toContain('carabiner untrust guard')
    const [expectation] = (await opened()).expectations()
    expect(expectation).toMatchObject({
      unit: { name: 'guard', path: folder },
      guardedBy: 'copy',
      gates: [{ name: 'guard:PreToolUse#1', event: 'PreToolUse', matcher: 'Bash' }],
    })
  })

  it('until the trust is taken back', async () => {
    const folder = plugin()
    await trustAll()
    rmSync(folder, { recursive: true })
    const hooks = await opened()
    const store = trustStore({ dataDir: data })
    for (const record of store.records()) store.untrust(record)
    expect((await hooks.session({ cwd: project }).fire('PreToolUse', CALL)).action).toBe('continue')
    expect(await fired()).toMatchObject({ action: 'continue', messages: [] })
  })

  it('and in the words of the documentation', async () => {
    const folder = plugin()
    await trustAll()
    rmSync(folder, { recursive: true })
    const [told] = (await opened()).diagnostics.filter(({ code }) => code === 'trust-kept')
    expect(told?.text).toMatch(
      /^guard \(trusted \d+ \w+\) is no longer in this project and still guards it\. Keep it: do nothing\. Remove it: carabiner untrust guard\.$/,
    )
  })
})

it('a plugin that was changed runs whole as it was trusted; one that is gone only guards', async () => {
  const folder = plugin()
  await trustAll()
  writeFileSync(join(folder, 'new.txt'), '')
  const start = { source: 'startup' }
  expect((await fired('SessionStart', start)).injections).toMatchObject([{ text: 'noted' }])
  rmSync(folder, { recursive: true })
  expect((await fired('SessionStart', start)).injections).toEqual([])
})
