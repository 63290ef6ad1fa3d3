// The line that says what is waited for: git waits until somebody has seen it, or until others have.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ended, Project, programFile, type Run, withProgram } from './program.js'
import { isInstalled } from './script.js'

withProgram()

let project: Project
beforeEach(async () => {
  project = new Project()
  project.file('../guard/hooks.json', {
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
  })
  const made = await project.run('sh', ['-c', MAKE_REPOSITORY], { cwd: project.path('../guard') })
  expect(made).toMatchObject({ code: 0, stderr: '' })
  // Begins by saying that it is there, and goes on when it is let.
  const waiting = `#!/bin/sh
: > "$STARTED"
while [ ! -e "$GO" ]; do sleep 0.1; done
PATH=$REAL_PATH exec git "$@"
`
  mkdirSync(join(project.base, 'bin'))
  writeFileSync(join(project.base, 'bin', 'git'), waiting, { mode: 0o755 })
})
afterEach(() => project.remove())

const MAKE_REPOSITORY =
  'git init -q && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm x && git tag v1'

const isAtHand = ['git', 'python3'].every(isInstalled)

/** The program on a terminal of its own, as wide as that. */
const TERMINAL = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(['sh', '-c', 'stty cols ' + sys.argv[1] + '; exec "$@"', 'sh'] + sys.argv[2:])))
`
const onTerminal = (columns: number) => ['python3', '-c', TERMINAL, String(columns)]

/** Once it is there, all who wait go on. */
const go = () => join(project.base, 'go')

interface Waiting {
  /** What it has said until now. */
  said(): string
  readonly run: Promise<Run>
}

/** Installs, and has begun to fetch when this returns. */
async function fetching(
  name: string,
  around: readonly string[],
  more: readonly string[] = [],
): Promise<Waiting> {
  const started = join(project.base, `started-${name}`)
  const install = ['install', '../guard#v1', '--name', name, '--yes', ...more]
  const [file = '', ...args] = [...around, process.execPath, programFile(), ...install]
  const PATH = `${join(project.base, 'bin')}:${process.env.PATH}`
  const child = spawn(file, args, {
    cwd: project.folder,
    env: { ...project.env(), PATH, REAL_PATH: process.env.PATH ?? '', GO: go(), STARTED: started },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  }
  const run = ended(child)
  await vi.waitFor(() => expect(existsSync(started)).toBe(true), WAIT)
  return { said: () => said, run }
}

const WAIT = { timeout: 60_000, interval: 20 }

describe.skipIf(!isAtHand)('what takes longer than a second', () => {
  it('is said on a terminal, with its seconds, and taken back; and nowhere else', async () => {
    const piped = await fetching('piped', [])
    const json = await fetching('json', onTerminal(80), ['--json'])
    const seen = await fetching('seen', onTerminal(80))
    const narrow = await fetching('narrow', onTerminal(24))
    await vi.waitFor(() => {
      expect(seen.said()).toMatch(/fetching \.\.\/guard#v1 … [1-9]\d* s/)
      expect(narrow.said()).toMatch(/ s/)
    }, WAIT)
    writeFileSync(go(), '')

    const screen = (await seen.run).stdout
    const [waited = '', ...after] = screen.split('\r\x1b[K')
    expect(waited).toMatch(/^(?:\rfetching \.\.\/guard#v1 … \d+ s)+$/)
    expect(after.join()).not.toContain('fetching')

    const lines = ((await narrow.run).stdout.split('\x1b[K')[0] as string).split('\r').filter(Boolean)
    expect(lines[0]).toMatch(/^fetching \S+ … \d+ s$/)
    for (const line of lines) expect(line.length).toBeLessThan(24)

    const plain = await piped.run
    expect(plain).toMatchObject({ code: 0, stderr: '' })
    expect(plain.stdout).not.toContain('fetching')
    const document = (await json.run).stdout
    expect(document).not.toContain('fetching')
    expect(JSON.parse(document)).toMatchObject({ plugin: { name: 'json' } })
    expect(readFileSync(project.path('../home/.amplifier/hooks/seen/hooks.json'), 'utf8')).toContain('Stop')
  })
})

it.skipIf(isAtHand)('git or python3 is missing: nobody waited', () => {})

describe.skipIf(!isAtHand)('work that gives no timer a turn', () => {
  /** Reads no folder of this name before it is let. */
  const WAITING = `
const fs = require('node:fs')
const pause = new Int32Array(new SharedArrayBuffer(4))
for (const name of ['readFileSync', 'openSync', 'readdirSync', 'lstatSync', 'opendirSync']) {
  const real = fs[name]
  fs[name] = (path, ...rest) => {
    while (String(path).includes(process.env.SLOW) && !fs.existsSync(process.env.GO)) Atomics.wait(pause, 0, 0, 20)
    return real(path, ...rest)
  }
}
`

  it.each([
    ['reading the log', ['audit', 'verify'], '/audit/'],
    ['reading the audit', ['list', '--stats'], '/audit/'],
    ['looking', ['doctor'], 'slow'],
    ['reading', ['trust', '--show'], 'slow'],
  ])('is said as well: %s', async (what, args, slow) => {
    project.file('.amplifier/hooks/slow/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    })
    await project.carabiner(['fire', 'Stop'], { input: { session_id: 's' } })
    const waiting = project.file('../waiting.cjs', WAITING)
    const env = project.env({ NODE_OPTIONS: `--require "${waiting}"`, SLOW: slow, GO: go(), NO_COLOR: '1' })
    const [file = '', ...rest] = [...onTerminal(80), process.execPath, programFile(), ...args]
    const child = spawn(file, rest, { cwd: project.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const run = ended(child)
    await vi.waitFor(() => expect(said).toMatch(new RegExp(`\r${what} … [1-9]\\d* s`)), WAIT)
    writeFileSync(go(), '')
    const { stdout } = await run
    expect(stdout.slice(stdout.indexOf('\r\x1b[K'))).not.toContain(' … ')
    const piped = await project.carabiner(args)
    expect(piped.stdout + piped.stderr).not.toContain(' … ')
  })
})

describe.skipIf(!isAtHand)('carabiner test', () => {
  it('says that cases run until there is a result', async () => {
    const hook = `: > ${JSON.stringify(go())}.begun; while [ ! -e ${JSON.stringify(go())} ]; do sleep 0.1; done`
    project.file('.amplifier/hooks/slow/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: hook }] }] },
    })
    project.file('.amplifier/hooks/slow/hooks.test.json', {
      cases: [{ name: 'one', event: 'Stop', expect: { action: 'continue' } }],
    })
    const [file = '', ...args] = [...onTerminal(80), process.execPath, programFile(), 'test']
    const child = spawn(file, args, {
      cwd: project.folder,
      env: project.env({ NO_COLOR: '1' }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const run = ended(child)
    await vi.waitFor(() => expect(said).toMatch(/\rrunning 1 case … [1-9]\d* s/), WAIT)
    writeFileSync(go(), '')
    const { stdout, code } = await run
    expect([code, stdout.split('\r\x1b[K')[1]]).toEqual([
      0,
      expect.stringMatching(/^slow {2}[\s\S]*ok {4}one/),
    ])
  })
})
