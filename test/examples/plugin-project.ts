// A project with the example plugins installed as a reader would, and a way to run one as the engine does.

import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url))

export const PLUGINS = [
  'bash-validator',
  'command-logger',
  'file-guard',
  'format-check',
  'formatter',
  'lint-feedback',
] as const
export type Plugin = (typeof PLUGINS)[number]

/** Those written in Python run only where it is. */
export const hasPython = spawnSync('python3', ['-c', '']).status === 0
export const hasJq = spawnSync('jq', ['-n', '1']).status === 0
export const hasGit = spawnSync('git', ['--version']).status === 0
export const needsPython = (plugin: Plugin) => plugin === 'file-guard' || plugin === 'lint-feedback'

/** Makes a PATH of a machine that has these programs and no others, below `dir`. */
export function pathWith(dir: string, programs: readonly string[]): string {
  const bin = mkdtempSync(join(dir, 'bin-'))
  for (const program of programs) {
    const found = ['/bin', '/usr/bin'].map((folder) => join(folder, program)).find((file) => existsSync(file))
    symlinkSync(program === 'node' ? process.execPath : (found ?? ''), join(bin, program))
  }
  return bin
}

/** What the shell scripts use beside node. Every system has them. */
export const TOOLS = ['grep', 'tr'] as const

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What stdout says, where it is JSON. */
  readonly answer: Record<string, unknown> | undefined
}

interface Handler {
  readonly command: string
  readonly timeout: number
  readonly onFailure?: string
}

export class PluginProject {
  /** A name that a careless script takes apart. */
  readonly dir = join(realpathSync(mkdtempSync(join(tmpdir(), 'plugins-test-'))), `it's "my" $HOME project`)
  readonly hooksDir = join(this.dir, '.amplifier', 'hooks')

  constructor() {
    mkdirSync(this.hooksDir, { recursive: true })
    for (const plugin of PLUGINS)
      cpSync(join(EXAMPLES, plugin), join(this.hooksDir, plugin), { recursive: true })
  }

  /** Writes a file of the project and returns its path there. */
  file(path: string, content: string | Uint8Array): string {
    mkdirSync(dirname(join(this.dir, path)), { recursive: true })
    writeFileSync(join(this.dir, path), content)
    return path
  }

  read(path: string): string {
    return readFileSync(join(this.dir, path), 'utf8')
  }

  /** The plugin's one handler, with the event and the matcher it stands under. */
  handler(plugin: Plugin): Handler & { readonly event: string; readonly matcher: string } {
    const { hooks } = JSON.parse(readFileSync(join(this.hooksDir, plugin, 'hooks.json'), 'utf8'))
    const [event = ''] = Object.keys(hooks)
    const [{ matcher, hooks: handlers }] = hooks[event]
    return { event, matcher, ...handlers[0] }
  }

  /** Runs its command in a shell with the engine's variables. A payload that is text is sent as it is. */
  async run(plugin: Plugin, payload: unknown, env: Record<string, string | undefined> = {}): Promise<Ran> {
    const child = spawn('/bin/sh', ['-c', this.handler(plugin).command], {
      cwd: this.dir,
      env: {
        ...process.env,
        AMPLIFIER_PROJECT_DIR: this.dir,
        CLAUDE_PROJECT_DIR: this.dir,
        AMPLIFIER_HOOKS_DIR: this.hooksDir,
        AMPLIFIER_SESSION_ID: 's-1',
        CLAUDE_PLUGIN_ROOT: join(this.hooksDir, plugin),
        ...env,
      },
    })
    child.stdin.on('error', () => {}) // it may end without having read
    child.stdin.end(typeof payload === 'string' ? payload : JSON.stringify(payload))
    const exit = new Promise<number | null>((resolve, reject) =>
      child.on('close', resolve).on('error', reject),
    )
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
    return { code, stdout, stderr, answer: stdout.startsWith('{') ? JSON.parse(stdout) : undefined }
  }

  remove(): void {
    rmSync(dirname(this.dir), { recursive: true })
  }
}
