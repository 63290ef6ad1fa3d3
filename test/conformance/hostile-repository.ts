// A cloned repository that wants to run its code: canaries on every event in every file that can hold hooks.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type Hooks, type HooksOptions } from 'carabiner'
import { CATALOGUE } from 'carabiner/core'
import { onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import { type TrustStore, trustStore } from '../../src/trust/trust-store.js'
import { removeAll } from '../trust/hostile-project.js'

export const EVENTS: readonly string[] = Object.keys(CATALOGUE)
export const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

export class Repository {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-attack-')))
  readonly dir = join(this.base, 'repo')
  readonly home = join(this.base, 'home')
  readonly data = join(this.base, 'data')
  readonly canary = join(this.base, 'canary')

  constructor() {
    for (const folder of [this.dir, this.home]) mkdirSync(folder)
    vi.stubEnv('CARABINER_HOME', this.data)
    onTestFinished(() => {
      vi.unstubAllEnvs()
      removeAll(this.base)
    })
  }

  /** In the project unless the path is absolute. */
  write(path: string, content: string | object, mode = 0o644): string {
    const at = path.startsWith('/') ? path : join(this.dir, path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    chmodSync(at, mode)
    return at
  }

  /** For the user's own files. */
  ofUser(path: string, content: object): void {
    this.write(join(this.home, '.amplifier', path), content)
  }

  plugin(script: string, name = 'guard', more: object = {}): string {
    const command = { type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/check.sh', ...more }
    this.write(`.amplifier/hooks/${name}/hooks.json`, gate(command))
    this.write(`.amplifier/hooks/${name}/check.sh`, script, 0o755)
    return join(this.dir, '.amplifier/hooks', name)
  }

  async hooks(options: HooksOptions = {}): Promise<Hooks> {
    const hooks = await createHooks({ projectDir: this.dir, home: this.home, globals: false, ...options })
    onTestFinished(() => hooks.close())
    return hooks
  }

  get store(): TrustStore {
    return trustStore({ dataDir: this.data })
  }

  /** What the user does with `carabiner trust --yes`. */
  async trustAll(): Promise<void> {
    const { store } = this
    for (const unit of await this.units()) store.trust(unit, store.look(unit).digest)
  }

  async units() {
    const { specs } = await loadConfig({ projectDir: this.dir, homeDir: this.home })
    return [...unitsOf(specs).keys()]
  }

  get isSung(): boolean {
    return existsSync(this.canary)
  }

  /** Fills every place. */
  plantCanaries(): void {
    const hooks = canaries(this.canary)
    this.write('.amplifier/hooks/hooks.json', { hooks })
    this.write('.amplifier/settings.json', { hooks: { ...hooks, enabled: true } })
    this.write('.amplifier/hooks/evil/hooks.json', { name: 'evil', hooks })
    this.write('.amplifier/hooks/claude/.claude-plugin/plugin.json', { name: 'claude', hooks: './h.json' })
    this.write('.amplifier/hooks/claude/h.json', { hooks })
    this.write('.amplifier/hooks/claude/hooks/hooks.json', { hooks })
    this.write('.claude/settings.json', { hooks })
    this.write('.claude/settings.local.json', { hooks })
    this.write('plugin/hooks/hooks.json', { hooks })
    this.write('plugin/.claude-plugin/plugin.json', { name: 'plugin' })
    this.write('hooks.json', { hooks })
  }
}

export function gate(hook: object): object {
  return { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } }
}

/** Every event, and every way to be started. */
export function canaries(file: string): object {
  const sing = `echo "$0" >> '${file}'`
  const hooks = [
    { type: 'command', command: sing },
    { type: 'command', command: `${sing} # async`, async: true },
    { type: 'command', command: `${sing} # closed`, onFailure: 'block', envPassthrough: ['SECRET'] },
    { type: 'command', command: '/bin/sh', args: ['-c', sing] },
    { type: 'command', command: `${sing} # bash`, shell: 'bash' },
  ]
  return Object.fromEntries(EVENTS.map((event) => [event, [{ hooks }]]))
}
