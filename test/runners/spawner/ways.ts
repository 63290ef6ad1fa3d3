// Every way to start a program: from this process, through clip, and through the helper in Node.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { startHere } from '../../../src/runners/command/start.js'
import { Helper, type HelperCommand } from '../../../src/runners/spawner/helper.js'
import { startThrough } from '../../../src/runners/spawner/spawner.js'

const file = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url))

export const hasCompiler =
  process.platform !== 'win32' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0

/** How a helper is made, in this folder. */
const MAKERS = {
  clip: (folder: string, options: readonly string[]): HelperCommand => {
    const target = join(folder, 'clip')
    const usual = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror']
    const args = [...usual, ...options, '-o', target, file('service/clip.c')]
    const { status, stderr } = spawnSync('cc', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return { file: target, args: ['--spawner=1'], hasGuard: true }
  },
  node: (folder: string): HelperCommand => {
    const outfile = join(folder, 'spawner.mjs')
    const entryPoints = [file('runners/spawner/node-helper.ts')]
    buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' })
    return { file: process.execPath, args: [outfile, String(process.pid)], hasGuard: false }
  },
}

export type HelperKind = keyof typeof MAKERS

export const HELPERS: readonly HelperKind[] = hasCompiler ? ['clip', 'node'] : ['node']

export class MadeHelper {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carabiner-helper-'))
  readonly command: HelperCommand

  /** The options are for the compiler. */
  constructor(kind: HelperKind, options: readonly string[] = []) {
    this.command = MAKERS[kind](this.#folder, options)
  }

  async start(): Promise<Helper> {
    const helper = new Helper(this.command)
    if (!(await helper.ready)) throw new Error('the helper does not start')
    return helper
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

export { Helper, startHere, startThrough }
