// Every block of shell in README and docs/ runs as it stands, with the built program, and prints what the page says.

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
import { describe, expect, inject, it } from 'vitest'
import { hasPython } from '../examples/plugin-project.js'
import { removeAll } from '../trust/hostile-project.js'
import { allPages, type Block, ROOT } from './markdown.js'

const pages = allPages().flatMap(({ path, blocks }) => {
  const shell = blocks.filter(({ language }) => language === 'sh')
  return shell.length > 0 ? [{ path, shell }] : []
})

/** A folder as a newcomer has it: the examples are there, `carabiner` is on the path, nothing is configured. */
function newcomer(): {
  readonly project: string
  readonly env: NodeJS.ProcessEnv
  readonly remove: () => void
} {
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
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1' }
  return { project, env, remove: () => removeAll(folder) }
}

/** What `npm install carabiner esbuild` leaves there. */
function installPackages(project: string): void {
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(ROOT, join(modules, 'carabiner'))
  symlinkSync(`${ROOT}node_modules/esbuild`, join(modules, 'esbuild'))
  symlinkSync('../esbuild/bin/esbuild', join(modules, '.bin', 'esbuild'))
}

/** As in one shell: a block begins where the block before has left. */
async function run({ text }: Block, project: string, env: NodeJS.ProcessEnv): Promise<string> {
  const at = join(project, '..', 'cwd')
  const cwd = existsSync(at) ? readFileSync(at, 'utf8').trimEnd() : project
  const code = `trap 'pwd > "${at}"' EXIT\n${text}`
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', code], { cwd, env })
  return stdout.replaceAll(project, '.').replace(/ +\d+(?:\.\d+)? m?s\b/g, ' N ms')
}

const NEED_PYTHON = [
  'docs/start/first-hook.md',
  'docs/write/resident-hooks.md',
  'docs/write/serve.md',
  'docs/write/shell-hooks.md',
  'docs/write/write-a-hook.md',
]

describe.concurrent('the shell blocks of', { timeout: 120_000 }, () => {
  it.for(pages)('$path', async ({ path, shell }, { expect, skip }) => {
    skip(NEED_PYTHON.includes(path) && !hasPython, 'needs python3')
    const { project, env, remove } = newcomer()
    for (const block of shell) {
      const printed = await run(block, project, env)
      const said = (block.output ?? '').replace(/ +\d+(?:\.\d+)? m?s\b/g, ' N ms')
      expect(printed, `${path}:${block.line}`).toBe(said)
    }
    remove()
  })
})

it('there are some in most pages', () => {
  expect(pages.length).toBeGreaterThan(allPages().length / 2)
})
