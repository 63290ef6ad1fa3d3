// A home and a project of a test's own, and the context that a hook of the pack gets there.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { HookInput } from '../../src/author/hook-input.js'
import type { Data } from '../../src/core/base/json.js'
import type { PackContext, PackHook } from '../../src/pack/pack-hook.js'
import { readSettings } from '../../src/pack/settings.js'
import { openState } from '../../src/pack/state.js'

export class Workplace {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-pack-')))
  readonly home = join(this.root, 'home')
  readonly project = join(this.root, 'my project')
  readonly env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: this.home,
    CARABINER_HOME: join(this.root, 'carabiner'),
  }
  time = Date.parse('2026-05-04T10:00:00Z')

  constructor() {
    mkdirSync(this.home)
    mkdirSync(this.project)
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }))
  }

  /** Writes a file of the project, or at an absolute path, folders and all, and returns its path. */
  file(name: string, content: string | object): string {
    const path = name.startsWith('/') ? name : join(this.project, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }

  userSettings(content: string | object): string {
    return this.file(join(this.home, '.amplifier/pack.json'), content)
  }

  projectSettings(content: string | object): string {
    return this.file('.amplifier/pack.json', content)
  }

  settings(memory?: boolean) {
    return readSettings(this.home, this.project, [], memory)
  }

  state() {
    return openState({ projectDir: this.project, env: this.env, now: () => this.time })
  }

  /** For a hook that was registered with `--memory`. */
  context(more: Partial<PackContext> = {}): PackContext {
    return {
      projectDir: this.project,
      home: this.home,
      settings: this.settings(true),
      state: this.state(),
      env: this.env,
      now: () => this.time,
      ...more,
    }
  }

  run(hook: PackHook, input: object, more: Partial<PackContext> = {}) {
    return hook.run(inputOf(hook, input), this.context(more))
  }

  /** A transcript as Claude Code writes it. */
  transcript(lines: readonly object[]): string {
    return this.file(
      join(this.root, 'transcript.jsonl'),
      lines.map((line) => JSON.stringify(line)).join('\n'),
    )
  }
}

/** The input as the parser makes it. */
export function inputOf(hook: PackHook, fields: object): HookInput {
  const input = {
    event: hook.event,
    host: 'claude-code',
    sessionId: 'session-1',
    extra: {} as Data,
    ...fields,
  }
  return input as unknown as HookInput
}

export const user = (text: string) => ({ type: 'user', message: { role: 'user', content: text } })
export const assistant = (...content: readonly object[]) => ({
  type: 'assistant',
  message: { role: 'assistant', content },
})
export const text = (words: string) => ({ type: 'text', text: words })
export const wrote = (path: string) => ({ type: 'tool_use', name: 'Write', input: { file_path: path } })
