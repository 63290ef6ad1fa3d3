// A project, a home and the guard that looks at what is done there.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HookInput } from '../../../src/author/hook-input.js'
import { parseHookInput } from '../../../src/author/hook-input.js'
import type { Data, Json } from '../../../src/core/base/json.js'
import type { HookResult } from '../../../src/core/events/result.js'
import type { PackContext } from '../../../src/pack/pack-hook.js'
import { preToolUse } from '../../../src/pack/pre-tool-use/pre-tool-use.js'
import { type BashSettings, DEFAULTS, type PackSettings } from '../../../src/pack/settings.js'

export type Verdict = 'deny' | 'ask' | 'none'

export function verdictOf(answer: HookResult | undefined): Verdict {
  if (answer?.action === 'deny') return 'deny'
  return answer?.action === 'ask_user' ? 'ask' : 'none'
}

/** The commands of a list, one a line, for `it.each`; ⏎ is a line break in a command. */
export function commandsIn(text: string): [string][] {
  return text
    .trim()
    .split('\n')
    .map((line) => [line.replaceAll('⏎', '\n')])
}

export interface Record {
  readonly log: string
  readonly record: Data
}

export interface Ways {
  readonly settings?: Partial<Omit<PackSettings, 'bash'>> & { readonly bash?: Partial<BashSettings> }
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

export class GuardedProject {
  readonly root: string
  readonly home: string
  readonly folder: string
  readonly data: string
  readonly records: Record[] = []

  /** In a home of its own, or in this one. The presets let commands delete files below /tmp. */
  constructor(home?: string) {
    this.root = home === undefined ? realpathSync(mkdtempSync('/tmp/guard-')) : dirname(home)
    this.home = home ?? join(this.root, 'home')
    this.folder = join(this.home, 'proj')
    this.data = join(this.root, 'carabiner')
    mkdirSync(join(this.folder, 'src'), { recursive: true })
    this.file('package.json', '{}')
  }

  file(path: string, text = 'x'): string {
    const file = join(this.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  /** With one commit. */
  git(branch = 'main', folder = this.folder): void {
    mkdirSync(folder, { recursive: true })
    this.run('git', ['init', '-q', '-b', branch], folder)
    this.run(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'],
      folder,
    )
  }

  run(program: string, args: readonly string[], cwd = this.folder): string {
    const env = { PATH: process.env.PATH, HOME: this.home, GIT_CONFIG_NOSYSTEM: '1' }
    return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  }

  context({ settings, env }: Ways = {}): PackContext {
    return {
      projectDir: this.folder,
      home: this.home,
      settings: { ...DEFAULTS, ...settings, bash: { ...DEFAULTS.bash, ...settings?.bash } },
      state: {
        folder: this.root,
        problems: [],
        place: () => undefined,
        append: (log, record) => this.records.push({ log, record }) > 0,
        recent: () => [],
      },
      env: { HOME: this.home, CARABINER_HOME: this.data, ...env },
      now: () => 0,
    }
  }

  async answer(input: HookInput, ways: Ways = {}): Promise<HookResult | undefined> {
    return preToolUse.run(input, this.context(ways))
  }

  #input(toolName: string, toolInput: Json, cwd = this.folder): HookInput {
    return parseHookInput(
      JSON.stringify({ hook_event_name: 'PreToolUse', cwd, tool_name: toolName, tool_input: toolInput }),
    )
  }

  async tool(toolName: string, toolInput: Json, ways: Ways = {}): Promise<HookResult | undefined> {
    return this.answer(this.#input(toolName, toolInput, ways.cwd), ways)
  }

  /** Of a command line. */
  async verdict(command: string, ways: Ways = {}): Promise<Verdict> {
    return verdictOf(await this.tool('Bash', { command }, ways))
  }

  async reason(command: string, ways: Ways = {}): Promise<string> {
    return (await this.tool('Bash', { command }, ways))?.reason ?? ''
  }

  /** Settings and hooks that must be kept, and files that would replace them. */
  addSettings(): void {
    this.git('feature')
    this.file('.claude/settings.json', '{}')
    this.file('.claude/hooks/guard.sh')
    this.file('src/a.ts')
    this.file('evil/settings.json', '{}')
    this.file('tree/.claude/settings.json', '{}')
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
