// A home and a project deep down in a folder of their own, full of files that must stay as they are.

import { spawnSync } from 'node:child_process'
import {
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
import { DEPTH } from './file-soup.js'
import { GuardedProject } from './guarded-project.js'

export class CanaryWorld {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'canary-')))
  readonly project: GuardedProject

  constructor() {
    const home = join(this.#root, ...Array.from({ length: DEPTH }, () => 'd'), 'home')
    this.project = new GuardedProject(home)
    const put = (path: string, text = path) => {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    for (const folder of ['', 'proj/']) {
      put(`${folder}.claude/settings.json`)
      put(`${folder}.claude/hooks/guard.sh`)
      put(`${folder}.claude/notes.md`)
      put(`${folder}.amplifier/pack.json`)
    }
    for (const path of ['notes', 'sibling/x', 'proj/src/a.ts', 'proj/build/x', 'proj/a.log', 'proj/a b'])
      put(path)
    put('proj/evil/settings.json')
    put('proj/evil/hooks/new.sh')
    put('proj/tree/.claude/settings.json', 'bad')
    this.project.run('ln', ['-s', '.claude', 'link'])
    this.project.run('ln', ['-s', '.claude/settings.json', 'innocent'])
    this.project.run('ln', ['-s', '..', 'src/up'])
  }

  run(bash: string, command: string): void {
    const { folder, home } = this.project
    const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
    // A copy of a folder into itself must not fill the disk.
    const bounded = `ulimit -f 2048 -t 5; ${command}`
    spawnSync(bash, ['--norc', '-c', bounded], { cwd: folder, env, timeout: 5000, stdio: 'ignore' })
  }

  /** What must stay: name, kind, mode and content of every protected file, and no others beside them. */
  standing(): readonly string[] {
    const { folder, home } = this.project
    const names = ['.claude', '.amplifier', '.codex', '.gemini']
    return [folder, ...[home, folder].flatMap((one) => names.map((name) => join(one, name)))].flatMap(
      (path) =>
        path === folder ? [lstatSync(path, { throwIfNoEntry: false }) ? path : `no ${path}`] : below(path),
    )
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function below(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return []
  const isGuarded =
    /\/(?:\.claude\/hooks|\.amplifier)(?:\/|$)|\.claude\/settings[^/]*\.json$|(?<!\.claude)\/\.claude$/.test(
      path,
    )
  const kind = `${path} ${(stats.mode & 0o7777).toString(8)}`
  if (stats.isSymbolicLink()) return isGuarded ? [`${path} is a link`] : []
  if (!stats.isDirectory()) return isGuarded ? [`${kind} ${readFileSync(path, 'utf8')}`] : []
  return [...(isGuarded ? [kind] : []), ...readdirSync(path).flatMap((name) => below(join(path, name)))]
}
