// What `setup` registered in an agent's settings answers all the time, also while a build or `npm link` replaces the program.

import { spawn } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

let root = ''
const house = () => join(root, 'house')
const env = () => ({
  PATH: process.env.PATH,
  HOME: join(root, 'home'),
  npm_config_prefix: join(root, 'prefix'),
})

interface Ended {
  readonly status: number | null
  readonly text: string
}

function run(file: string, args: readonly string[], cwd: string, input = ''): Promise<Ended> {
  const child = spawn(file, args, { cwd, env: env() })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (more) => {
      text += more
    })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((done) => child.on('close', (status) => done({ status, text })))
}

const build = () => run(process.execPath, ['scripts/build.mjs'], house())
/** So that the next build has something to do. */
const changed = () => appendFileSync(join(house(), 'src/cli/version.ts'), '\n// A change.\n')

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-registered-')))
  for (const name of [
    'src',
    'scripts',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ])
    cpSync(name, join(house(), name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(house(), 'node_modules'))
  for (const name of ['home', 'project', 'other', 'prefix/lib/node_modules'])
    mkdirSync(join(root, name), { recursive: true })
  writeFileSync(join(root, 'other/package.json'), '{ "name": "other", "version": "1.0.0" }')
  expect(await build()).toMatchObject({ status: 0 })
}, 300_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The command of the standard guard, as it stands in the settings. */
async function registered(): Promise<string> {
  const program = join(house(), 'dist/bin/carabiner.js')
  const { status, text } = await run(
    process.execPath,
    [program, 'setup', 'claude-code'],
    join(root, 'project'),
  )
  expect([status, text]).toEqual([0, expect.any(String)])
  const { hooks } = JSON.parse(readFileSync(join(root, 'home/.claude/settings.json'), 'utf8'))
  return hooks.PreToolUse[0].hooks[0].command
}

const CALL = JSON.stringify({
  hook_event_name: 'PreToolUse',
  session_id: 's',
  cwd: '/',
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf /' },
})

it.each([
  ['a build', build],
  [
    'npm link in another project',
    () => run('npm', ['link', '--offline', '--no-audit', '--no-fund', house()], join(root, 'other')),
  ],
])(
  'G8: %s never leaves it without a program',
  async (_, replace) => {
    const command = await registered()
    changed()
    let isDone = false
    const replacing = replace().finally(() => {
      isDone = true
    })
    const answers: Ended[] = []
    while (!isDone) answers.push(await run('/bin/sh', ['-c', command], join(root, 'project'), CALL))
    expect(await replacing).toMatchObject({ status: 0 })
    answers.push(await run('/bin/sh', ['-c', command], join(root, 'project'), CALL))
    expect(answers.length).toBeGreaterThan(3)
    const open = answers.filter(({ status, text }) => status !== 2 && !/"deny"/.test(text))
    expect(open).toEqual([])
  },
  300_000,
)
