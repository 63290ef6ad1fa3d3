// A folder as a newcomer has it, and the commands of a page typed in it.

import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { removeAll } from '../trust/hostile-project.js'
import { ROOT } from './markdown.js'

export interface Newcomer {
  readonly project: string
  readonly env: NodeJS.ProcessEnv
  readonly remove: () => void
}

/** The examples are there, `carabiner` is on the path, nothing is configured. */
export function newcomer(more: Readonly<Record<string, string>> = {}): Newcomer {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-docs-'))
  const [bin, home, project] = ['bin', 'home', 'project'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const one of [bin, home, project]) mkdirSync(one)
  writeFileSync(
    join(bin, 'carabiner'),
    `#!/bin/sh\nexec '${process.execPath}' '${inject('programBundle').withPackages}/carabiner.js' "$@"\n`,
  )
  chmodSync(join(bin, 'carabiner'), 0o755)
  symlinkSync(`${ROOT}examples`, join(project, 'examples'))
  installPackages(project)
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1', ...more }
  return { project, env, remove: () => removeAll(folder) }
}

/** What `npm install ../carabiner esbuild` leaves there. */
function installPackages(project: string): void {
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(ROOT, join(modules, 'carabiner'))
  symlinkSync(`${ROOT}node_modules/esbuild`, join(modules, 'esbuild'))
  symlinkSync('../esbuild/bin/esbuild', join(modules, '.bin', 'esbuild'))
}

/** Returns what it prints. As in one shell: a block begins where the block before has left. */
export async function typed(text: string, { project, env }: Newcomer): Promise<string> {
  const at = join(project, '..', 'cwd')
  const cwd = existsSync(at) ? readFileSync(at, 'utf8').trimEnd() : project
  const code = `trap 'pwd > "${at}"' EXIT\n${text}`
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', code], { cwd, env })
  return stdout.replaceAll(project, '.').replace(/ +\d+(?:\.\d+)? m?s\b/g, ' N ms')
}
