// A project, a home and the guard that looks at what is done there.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HookInput } from '../../../src/author/hook-input.js'
import { parseHookInput } from '../../../src/author/hook-input.js'
import type { Data, Json } from '../../../src/core/base/json.js'
import type { HookResult } from '../../../src/core/events/result.js'
import type { PackContext } from '../../../src/pack/pack-hook.js'
import { preToolUse } from '../../../src/pack/pre-tool-use/pre-tool-use.js'
import { rulesGuard } from '../../../src/pack/pre-tool-use/rules-guard.js'
import { type BashSettings, DEFAULTS, type PackSettings } from '../../../src/pack/settings.js'
import { isLarge } from '../../property/runs.js'
import { explanation, type Verdict, verdictOf } from './beside-rules.js'

export { type Verdict, verdictOf } from './beside-rules.js'

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

  /** Whether each call is judged by rules too, which takes as long again. Random commands are not compared. */
  readonly #compares: boolean

  /** In a home of its own, or in this one. */
  constructor(home?: string) {
    this.#compares = home === undefined && isLarge
    this.root = home === undefined ? realpathSync(mkdtempSync(join(tmpdir(), 'guard-'))) : dirname(home)
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
    const answer = await preToolUse.run(input, this.context(ways))
    const difference = this.#compares ? await this.#difference(input, answer, ways) : undefined
    if (difference !== undefined) throw new Error(difference)
    return answer
  }

  /** Each call is judged by rules too. Undefined if both say the same, or if it is known why they do not. */
  async #difference(
    input: HookInput,
    answer: HookResult | undefined,
    ways: Ways,
  ): Promise<string | undefined> {
    const context = { ...this.context(ways), state: { ...this.context(ways).state, append: () => true } }
    const now = await rulesGuard.run(input, context)
    const { toolInput } = input as { readonly toolInput?: Data }
    if (explanation(toolInput?.command, answer, now) !== undefined) return undefined
    return `The guard says ${verdictOf(answer)}, and the rules ${verdictOf(now)}: ${now?.reason ?? answer?.reason}`
  }

  /** How the two guards differ about a call, without a reason that is known. */
  async difference(toolName: string, toolInput: Json): Promise<string | undefined> {
    const input = this.#input(toolName, toolInput)
    return this.#difference(input, await preToolUse.run(input, this.context()), {})
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

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
