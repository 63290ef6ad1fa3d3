// Hook files of other agents on the command line: fired as they are, reported, and never advised into pieces.

import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { write } from '../config/temp-tree.js'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const CALL = { tool_name: 'Bash', tool_input: { command: 'git push --force' } }

function put(file: string, content: unknown): void {
  write(project.folder, { [file]: content })
}

async function fired(file: string, payload: object = CALL, more: readonly string[] = ['--config', file]) {
  const { stdout, code } = await project.call(['fire', 'PreToolUse', '--json', '--trust-all', ...more], {
    input: payload,
  })
  return { code, outcome: JSON.parse(stdout) as { action: string; reason?: string } }
}

describe('a deny', () => {
  it.each([
    [
      '.cursor/hooks.json',
      {
        version: 1,
        hooks: { beforeShellExecution: [{ command: `echo '{"permission":"deny","user_message":"why"}'` }] },
      },
    ],
    ['.windsurf/hooks.json', { hooks: { pre_run_command: [{ command: 'echo why >&2; exit 2' }] } }],
    [
      '.agents/plugins/mine/hooks/hooks.json',
      {
        hooks: {
          PreToolUse: [
            {
              matcher: 'developer__shell',
              hooks: [{ type: 'command', command: 'echo why >&2; exit 2' }],
            },
          ],
        },
      },
    ],
    [
      '.github/hooks/a.json',
      {
        version: 1,
        hooks: {
          preToolUse: [
            {
              type: 'command',
              bash: `echo '{"permissionDecision":"deny","permissionDecisionReason":"why"}'`,
            },
          ],
        },
      },
    ],
    [
      '.gemini/settings.json',
      {
        hooks: {
          BeforeTool: [
            {
              matcher: 'run_shell',
              hooks: [{ type: 'command', command: 'echo why; exit 3', timeout: 5000 }],
            },
          ],
        },
      },
    ],
    [
      '.codex/config.toml',
      '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "echo why >&2; exit 2"\n',
    ],
    [
      '.kiro/hooks/x.kiro.hook',
      '{"name":"x","enabled":true,"when":{"type":"preToolUse","toolTypes":["shell"]},"then":{"type":"runCommand","command":"echo why >&2; exit 1"}}',
    ],
    [
      '.agents/hooks.json',
      {
        guard: {
          PreToolUse: [
            {
              matcher: 'run_command',
              hooks: [{ type: 'command', command: `echo '{"decision":"deny","reason":"why"}'` }],
            },
          ],
        },
      },
    ],
  ])('of %s', async (file, content) => {
    put(file, content)
    expect(await fired(file)).toMatchObject({ code: 2, outcome: { action: 'deny', reason: 'why' } })
  })

  it('of a plugin for Cursor', async () => {
    put('plug/hooks/hooks.json', {
      version: 1,
      hooks: { preToolUse: [{ command: '"$' + '{CLAUDE_PLUGIN_ROOT}"/no.sh', matcher: 'Shell' }] },
    })
    put('plug/no.sh', `#!/bin/sh\necho '{"permission":"deny","agent_message":"why"}'\n`)
    chmodSync(join(project.folder, 'plug/no.sh'), 0o755)
    expect(await fired('', CALL, ['--plugin', 'plug'])).toMatchObject({
      outcome: { action: 'deny', reason: 'why' },
    })
  })

  it('needs trust', async () => {
    put('.cursor/hooks.json', { version: 1, hooks: { preToolUse: [{ command: 'touch ran' }] } })
    const { stdout } = await project.call(['list', '--json', '--config', '.cursor/hooks.json'])
    expect(JSON.parse(stdout)).toMatchObject({
      hooks: [{ state: 'untrusted', writtenFor: { agent: 'cursor', event: 'preToolUse' } }],
    })
  })
})

describe('the environment', () => {
  it('has the agent’s variables, and commands start in the project or in their folder', async () => {
    const text = `printf '{"permission":"deny","user_message":"%s %s"}' "$CURSOR_PROJECT_DIR" "$PWD"`
    put('.cursor/hooks.json', { version: 1, hooks: { preToolUse: [{ command: text }] } })
    const { outcome } = await fired('.cursor/hooks.json')
    expect(outcome.reason).toBe(`${project.folder} ${project.folder}`)
    put('sub/x', '')
    put('.github/hooks/a.json', {
      version: 1,
      hooks: { preToolUse: [{ bash: 'echo "$PWD" >&2; exit 2', cwd: 'sub' }] },
    })
    expect((await fired('.github/hooks/a.json')).outcome.reason).toBe(join(project.folder, 'sub'))
  })
})

describe('a matcher', () => {
  it('of Cursor’s shell events is for the command', async () => {
    put('.cursor/hooks.json', {
      version: 1,
      hooks: { beforeShellExecution: [{ command: 'echo no; exit 2', matcher: '^git' }] },
    })
    expect((await fired('.cursor/hooks.json')).outcome.action).toBe('deny')
    const ls = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    expect((await fired('.cursor/hooks.json', ls)).outcome.action).toBe('continue')
    const read = { tool_name: 'Read', tool_input: { file_path: 'git' } }
    expect((await fired('.cursor/hooks.json', read)).outcome.action).toBe('continue')
  })
})

describe('bad input', () => {
  it.each([
    ['not JSON', '{'],
    ['no object', '[]'],
    ['entries of another kind', { version: 1, hooks: { preToolUse: [1, null, [], {}], stop: 'x' } }],
    ['endless names', { version: 1, hooks: { [`pre${'x'.repeat(5000)}`]: [{ command: 'x' }] } }],
  ])('%s is reported with file and line', async (_, content) => {
    put('.cursor/hooks.json', content)
    const { stdout } = await project.call(['list', '--json', '--config', '.cursor/hooks.json'])
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { file?: string; line?: number }[] }
    expect(diagnostics.length).toBeGreaterThan(0)
    for (const { file, line } of diagnostics)
      expect([file, typeof line]).toEqual([join(project.folder, '.cursor/hooks.json'), 'number'])
  })

  it('a timeout in the wrong unit is reported', async () => {
    put('.gemini/settings.json', {
      hooks: { BeforeTool: [{ hooks: [{ type: 'command', command: 'true', timeout: 30 }] }] },
    })
    const { stdout } = await project.call(['list', '--json', '--config', '.gemini/settings.json'])
    expect(JSON.parse(stdout)).toMatchObject({
      hooks: [{ timeout: 0.03 }],
      diagnostics: [{ code: 'timeout-short' }],
    })
  })
})

describe('doctor', () => {
  it('advises nothing that would break the file for its agent', async () => {
    put('.qwen/settings.json', {
      hooks: { PostToolUse: [{ matcher: 'write_file|edit', hooks: [{ type: 'command', command: 'true' }] }] },
      model: 'x',
    })
    put('.cursor/hooks.json', {
      version: 1,
      hooks: { afterAgentThought: [{ command: 'true' }], beforeShellExecution: [{ command: 'true' }] },
    })
    const { stdout } = await project.call([
      'doctor',
      '--json',
      '--config',
      '.qwen/settings.json',
      '--config',
      '.cursor/hooks.json',
    ])
    expect(stdout).not.toMatch(/matcher-never|Write PreToolUse|Write Edit|Remove \\"model/)
    expect(stdout).toContain('the file is fine there')
  })
})
