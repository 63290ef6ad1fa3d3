// The example plugins as an agent meets them: found in a project or named by path, run by the engine.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks, type HooksOptions, type Outcome } from 'carabiner'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EXAMPLES, hasPython, PLUGINS, PluginProject, pathWith, TOOLS } from './plugin-project.js'

let project: PluginProject
let home: string
beforeAll(() => {
  project = new PluginProject()
  home = join(project.dir, 'home')
  mkdirSync(home)
})
afterAll(() => project.remove())

type Way = 'found in .amplifier/hooks' | 'named by path'
const WAYS: readonly Way[] = ['found in .amplifier/hooks', 'named by path']

/** Another project for what is named by path: this one has plugins of its own. */
function optionsFor(way: Way): HooksOptions {
  const other = join(project.dir, 'sub project')
  mkdirSync(other, { recursive: true })
  const found = way === 'found in .amplifier/hooks'
  return {
    projectDir: found ? project.dir : other,
    home,
    globals: false,
    trust: 'all',
    ...(!found && { plugins: PLUGINS.map((plugin) => join(EXAMPLES, plugin)) }),
  }
}

describe.for(WAYS)('plugins %s', { timeout: 120_000 }, (way) => {
  const folder = () => optionsFor(way).projectDir ?? ''
  const path = (name: string) => join(way === 'named by path' ? 'sub project' : '', name)
  const withPython = it.skipIf(!hasPython)

  async function fire(event: string, tool_name: string, tool_input: object): Promise<Outcome> {
    await using hooks = await createHooks(optionsFor(way))
    return hooks.session({ id: 's-1', cwd: folder() }).fire(event, { tool_name, tool_input })
  }

  const ran = ({ hooks }: Outcome) => hooks.filter(({ status }) => status === 'ran').map(({ name }) => name)

  it('are six hooks, and nothing is wrong with their files', async () => {
    await using hooks = await createHooks(optionsFor(way))
    expect(hooks.diagnostics).toEqual([])
    expect(hooks.list().map(({ name, state }) => `${name} ${state}`)).toEqual([
      'bash-validator:PreToolUse#1 ready',
      'command-logger:PreToolUse#1 ready',
      'file-guard:PreToolUse#1 ready',
      'format-check:PreToolUse#1 ready',
      'formatter:PostToolUse#1 ready',
      'lint-feedback:PostToolUse#1 ready',
    ])
  })

  it('deny a dangerous command, and log it', async () => {
    const outcome = await fire('PreToolUse', 'Bash', { command: 'rm -rf /' })
    expect(outcome).toMatchObject({
      action: 'deny',
      reason: expect.stringMatching(/^This command deletes a top-level folder .* and was not run\./),
      messages: [{ source: 'bash-validator:PreToolUse#1', text: expect.stringContaining('dangerous') }],
      diagnostics: [],
    })
    expect(ran(outcome)).toEqual(['bash-validator:PreToolUse#1', 'command-logger:PreToolUse#1'])
    const lines = project.read(path('bash-commands.log')).trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      session: 's-1',
      command: 'rm -rf /',
    })
  })

  it('let a harmless command pass without a word', async () => {
    const outcome = await fire('PreToolUse', 'Bash', { command: 'echo "it\'s" ünï 💥' })
    expect(outcome).toMatchObject({ action: 'continue', messages: [], injections: [], diagnostics: [] })
    // An allow would spare the host's own prompt; these hooks have no opinion.
    expect(outcome.permission).toBeUndefined()
  })

  withPython('refuse a malformed file before it is written (needs python3)', async () => {
    const outcome = await fire('PreToolUse', 'Write', { file_path: 'a.json', content: '{' })
    expect(outcome).toMatchObject({ action: 'deny', reason: expect.stringContaining('not valid JSON') })
    expect(ran(outcome)).toEqual(['file-guard:PreToolUse#1', 'format-check:PreToolUse#1'])
  })

  withPython('guard production files (needs python3)', async () => {
    const outcome = await fire('PreToolUse', 'Edit', { file_path: '.env.production' })
    expect(outcome).toMatchObject({
      action: 'deny',
      reason: expect.stringContaining('.env.production is a protected file'),
    })
    expect(ran(outcome)).toEqual(['file-guard:PreToolUse#1'])
    expect(await fire('PreToolUse', 'Edit', { file_path: 'src/app.ts' })).toMatchObject({
      action: 'continue',
      messages: [],
    })
  })

  it('format a file that was written', async () => {
    project.file(path('a "b".ts'), 'a() ')
    const { action, messages } = await fire('PostToolUse', 'Write', { file_path: 'a "b".ts' })
    expect(action).toBe('continue')
    expect(messages[0]).toMatchObject({
      source: 'formatter:PostToolUse#1',
      text: expect.stringMatching(/^Formatted a "b"\.ts: /),
    })
    expect(project.read(path('a "b".ts'))).toBe('a()\n')
  })

  withPython('tell the agent what a linter found (needs python3)', async () => {
    project.file(path('a.py'), 'import os\n')
    const outcome = await fire('PostToolUse', 'Edit', { file_path: 'a.py' })
    expect(outcome).toMatchObject({
      action: 'continue',
      injections: [
        {
          source: 'lint-feedback:PostToolUse#1',
          text: 'lint-feedback found in a.py:\n- line 1: os is imported and not used',
        },
      ],
      messages: [{ text: 'Found 1 lint issue in a.py' }],
    })
  })

  it('run for their own tools alone', async () => {
    expect(ran(await fire('PreToolUse', 'Read', { file_path: '.env.production' }))).toEqual([])
    expect(ran(await fire('PostToolUse', 'Bash', { command: 'ls' }))).toEqual([])
  })

  it('keep a gate closed that could not look, and say so; a log that fails stops nobody', async () => {
    // A folder of the project would not count.
    const elsewhere = mkdtempSync(join(tmpdir(), 'carabiner-bin-'))
    vi.stubEnv('PATH', pathWith(elsewhere, TOOLS))
    try {
      const outcome = await fire('PreToolUse', 'Bash', { command: 'ls' })
      expect(outcome.action).toBe('deny')
      expect(outcome.reason).toContain('node must be installed')
      const texts = outcome.messages.map(({ text }) => text).join('\n')
      expect(texts).toMatch(/bash-validator:PreToolUse#1 .*failed; its gate stays closed/)
      expect(texts).toMatch(/command-logger:PreToolUse#1 .*failed; the operation went on without it/)
    } finally {
      vi.unstubAllEnvs()
      rmSync(elsewhere, { recursive: true })
    }
  })
})

describe('plugins of a project', () => {
  it('do not run where they were not trusted', async () => {
    const { trust: _, ...options } = optionsFor('found in .amplifier/hooks')
    await using hooks = await createHooks(options)
    const log = join(project.dir, 'bash-commands.log')
    const before = existsSync(log) && project.read('bash-commands.log')
    const outcome = await hooks
      .session()
      .fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect(outcome.hooks.filter(({ status }) => status === 'ran')).toEqual([])
    expect(existsSync(log) && project.read('bash-commands.log')).toBe(before)
  })
})
