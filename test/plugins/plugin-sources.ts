// Plugins to install, in folders and repositories made for the test, with a home for Carabiner's own files.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Target } from '../../src/plugins/target.js'

export class Bench {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-plugins-')))
  readonly home = join(this.base, 'home')
  readonly project = join(this.base, 'project')
  readonly user: Target = { scope: 'user', base: this.home }
  readonly here: Target = { scope: 'project', base: this.project }

  constructor() {
    for (const folder of [this.home, this.project]) mkdirSync(folder)
  }

  path(...names: readonly string[]): string {
    return join(this.base, ...names)
  }

  file(path: string, content: string, mode = 0o644): string {
    const file = this.path(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    chmodSync(file, mode)
    return file
  }

  /** Makes a plugin in Claude Code's layout and returns its folder. */
  plugin(name: string, { says = name, body = 'exit 0' }: { says?: string; body?: string } = {}): string {
    this.file(`${name}/.claude-plugin/plugin.json`, JSON.stringify({ name: says }))
    this.file(`${name}/hooks/hooks.json`, HOOKS)
    this.file(`${name}/guard.sh`, `#!/bin/sh\n${body}\n`, 0o755)
    return this.path(name)
  }

  git(folder: string, ...args: readonly string[]): string {
    const own = [
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@example.com',
      '-c',
      'init.defaultBranch=main',
      '-c',
      'protocol.file.allow=always',
    ]
    return execFileSync('git', [...own, ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  /** Commits everything in it. */
  repository(folder: string): string {
    this.git(folder, 'init', '-q')
    return this.commit(folder)
  }

  commit(folder: string): string {
    this.git(folder, 'add', '-A', '-f')
    this.git(folder, 'commit', '-q', '--allow-empty', '-m', 'x')
    return this.git(folder, 'rev-parse', 'HEAD')
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

export const HOOKS = JSON.stringify({
  hooks: {
    PreToolUse: [
      { matcher: 'Bash', hooks: [{ type: 'command', command: `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"` }] },
    ],
  },
})

/** Gives every test of a file its own home for Carabiner's files. */
export function withHome(): Bench {
  const bench = new Bench()
  const before = process.env.CARABINER_HOME
  beforeAll(() => {
    process.env.CARABINER_HOME = bench.path('carabiner')
  })
  afterAll(() => {
    if (before === undefined) delete process.env.CARABINER_HOME
    else process.env.CARABINER_HOME = before
    bench.remove()
  })
  return bench
}

/** Every file below with its content and executable bit, and every link with its target. */
export function treeOf(folder: string, at = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(folder, at)).sort()) {
    const path = join(at, name)
    const stats = lstatSync(join(folder, path))
    if (stats.isDirectory()) Object.assign(found, treeOf(folder, path))
    else found[path] = `${(stats.mode & 0o7777).toString(8)} ${readFileSync(join(folder, path), 'latin1')}`
  }
  return found
}
