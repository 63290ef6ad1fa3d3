// The README of each example plugin: what it tells a reader to type is typed here, in a fresh project.

import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT, readPage } from '../docs/markdown.js'
import { hasPython, needsPython, PLUGINS, type Plugin } from './plugin-project.js'

/** The command line, as the package names it. */
const BIN: string | undefined = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).bin?.carabiner
const CARABINER = join(ROOT, BIN ?? '')

let dir: string
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'readmes-test-')))
  mkdirSync(join(dir, 'bin'))
  const shim = `#!/bin/sh\nexec "${process.execPath}" "${CARABINER}" "$@"\n`
  writeFileSync(join(dir, 'bin', 'carabiner'), shim, { mode: 0o755 })
})
afterAll(() => rmSync(dir, { recursive: true }))

/** A project where the repository is where the page says that it is. */
function freshProject(plugin: Plugin): string {
  const project = join(dir, `my ${plugin} project`)
  mkdirSync(join(project, 'path/to'), { recursive: true })
  symlinkSync(ROOT, join(project, 'path/to/carabiner'))
  return project
}

async function type(commands: string, cwd: string) {
  const env = {
    ...process.env,
    PATH: `${join(dir, 'bin')}${delimiter}${process.env.PATH}`,
    HOME: join(dir, 'home'),
    CARABINER_HOME: join(dir, 'carabiner-home'),
    NO_COLOR: '1',
  }
  const child = spawn('/bin/sh', ['-c', commands], { cwd, env })
  child.stdin.end()
  const exit = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { code, stdout, stderr }
}

interface Expected {
  readonly code: number
  readonly says?: string
  /** A file of the project, and what is in it. */
  readonly leaves?: readonly [file: string, text: string]
}

/** What comes of the page's own example. */
const OUTCOMES: Readonly<Record<Plugin, Expected>> = {
  'bash-validator': { code: 2, says: 'This command deletes a top-level folder' },
  'command-logger': { code: 0, leaves: ['bash-commands.log', '"command":"ls -la"'] },
  'file-guard': { code: 2, says: '.env.production is a protected file' },
  'format-check': { code: 2, says: 'a.json was not written: it is not valid JSON' },
  formatter: {
    code: 0,
    says: 'Formatted sum.ts: removed trailing whitespace from 1 line',
    leaves: ['sum.ts', 'a + b\n'],
  },
  'lint-feedback': { code: 0, says: 'line 1: os is imported and not used' },
}

describe.for(PLUGINS)('examples/%s/README.md', { timeout: 120_000 }, (plugin) => {
  const page = readPage(`examples/${plugin}/README.md`)
  const [install, tryIt, ...more] = page.blocks
  const needs = needsPython(plugin) ? ' (needs python3)' : ''
  const canTry = BIN !== undefined && (hasPython || !needsPython(plugin))

  it('has a name, three sections and at most 25 lines', () => {
    const headings = [...page.text.matchAll(/^#+ .*$/gm)].map(([line]) => line)
    expect(headings).toEqual([`# ${plugin}`, '## Install', '## Try it', '## Change it'])
    expect(page.text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
    expect([install?.language, tryIt?.language, more]).toEqual(['sh', 'sh', []])
  })

  it.skipIf(!canTry)(`says what can be typed as it stands, and what comes of it${needs}`, async () => {
    const { code, says = '', leaves } = OUTCOMES[plugin]
    const project = freshProject(plugin)
    expect(await type(install?.text ?? 'false', project)).toEqual({ code: 0, stdout: '', stderr: '' })
    const tried = await type(tryIt?.text ?? 'false', project)
    expect(tried.code, tried.stderr).toBe(code)
    expect(page.text).toContain(`exit code ${code}`)
    expect(tried.stdout).toContain(says)
    if (leaves) expect(readFileSync(join(project, leaves[0]), 'utf8')).toContain(leaves[1])
  })
})
