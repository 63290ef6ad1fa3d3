// What was trusted, listed or installed and is not there as such: every command that shows the state says so, and exits 1.

import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeAll } from '../trust/hostile-project.js'
import { BASH, Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const carabiner = (...args: readonly string[]) => project.call(args)
const FOLDER = '.amplifier/hooks/guard'
const SCRIPT = `${FOLDER}/check.sh`

function guard(matcher = 'Bash'): void {
  const hooks = [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/check.sh' }]
  project.file(`${FOLDER}/hooks.json`, { hooks: { PreToolUse: [{ matcher, hooks }] } })
  project.file(SCRIPT, '#!/bin/sh\necho no >&2\nexit 2\n', 0o755)
}

async function trusted(): Promise<void> {
  guard()
  expect((await carabiner('trust', '--yes')).code).toBe(0)
}

const COMMANDS = [['list'], ['doctor'], ['trust', '--json'], []] as const

/** What each of them prints; all of them must exit with `code`. */
async function said(code: number, more: readonly string[] = []): Promise<readonly string[]> {
  const runs = []
  for (const command of COMMANDS) runs.push(await carabiner(...command, ...more))
  expect(runs.map((run) => run.code)).toEqual(COMMANDS.map(() => code))
  // Lines are folded at the width of the screen.
  return runs.map(({ stdout }) => stdout.replace(/\s+/g, ' '))
}

const MISSING = /guard \(trusted \d+ \w+\) is no longer in this project and still guards it\./
const KEEP = 'To keep it, do nothing. To stop trusting it: carabiner untrust guard.'

const NO_HOOKS =
  /guard \(trusted \d+ \w+\) no longer has any hooks\. The version you trusted still guards it\./
const BROKEN =
  /guard \(trusted \d+ \w+\) has no hook that can run now \(\.amplifier\/hooks\/guard\/hooks\.json:1: .*\)\. The version you trusted still guards it\./
const CORRECT =
  'Correct .amplifier/hooks/guard/hooks.json:1, then type: carabiner trust --mine. To stop trusting it: carabiner untrust guard.'

const HOOKS_FILE = `${FOLDER}/hooks.json`
const WAYS: readonly (readonly [string, () => void, RegExp, string])[] = [
  ['renamed', () => renameSync(project.path(FOLDER), project.path('.amplifier/hooks/.guard')), MISSING, KEEP],
  ['removed with everything', () => rmSync(project.path('.amplifier'), { recursive: true }), MISSING, KEEP],
  ['without its hooks.json', () => rmSync(project.path(HOOKS_FILE)), NO_HOOKS, KEEP],
  ['with an empty hooks.json', () => project.file(HOOKS_FILE, ''), BROKEN, CORRECT],
  ['with a hooks.json that is no JSON', () => project.file(HOOKS_FILE, '{ oops'), BROKEN, CORRECT],
  ['with a misspelt event', () => project.file(HOOKS_FILE, '{"hooks":{"PreTooluse":[]}}'), BROKEN, CORRECT],
  ['without hooks in it', () => project.file(HOOKS_FILE, { hooks: {} }), NO_HOOKS, KEEP],
]

describe('a trusted gate', () => {
  it('that is as it was trusted: all exit 0', async () => {
    await trusted()
    await said(0)
  })

  it.each(['copies', 'the copy'])('is closed where %s cannot be reached', async (which) => {
    await trusted()
    const copies = join(project.home, '.local', 'share', 'carabiner', 'copies')
    const own = readdirSync(copies).find((name) => !name.endsWith('.bin')) as string
    const folder = which === 'copies' ? copies : join(copies, own)
    renameSync(folder, `${folder}-away`)
    // Nobody can look through it, not even root.
    symlinkSync(basename(folder), folder)
    const input = { hook_event_name: 'PreToolUse', session_id: 's', cwd: project.folder, ...BASH }
    const { code, stdout } = await project.call(['fire', '--as', 'claude-code'], { input })
    expect(code).toBe(2)
    expect(stdout).toContain('ELOOP')
    expect(stdout).toContain('carabiner trust')
  })

  it.each(WAYS)('G1, G2: %s: all say that it still guards, and exit 1', async (_, change, happened, todo) => {
    await trusted()
    change()
    for (const text of await said(1)) {
      expect(text).toMatch(happened)
      expect(text).toContain(todo)
    }
    for (const more of [['--mine'], [], ['--show']]) {
      const { code, stdout } = await carabiner('trust', ...more)
      expect([code, stdout.replace(/\s+/g, ' ')]).toEqual([1, expect.stringMatching(happened)])
      expect(stdout).not.toMatch(/nothing (?:that you trust|came)/)
    }
    const named = await carabiner('trust', 'guard')
    expect([named.code, named.stderr]).toEqual([1, expect.stringContaining(todo)])
    expect(named.stderr).not.toContain('Nothing')
    expect((await carabiner('untrust', 'guard')).code).toBe(0)
    const [list = ''] = await Promise.all([carabiner('list')]).then(([run]) => [run.stdout])
    expect(list).not.toContain('trusted')
  })

  it.each([
    ['a byte', () => project.file(SCRIPT, '#!/bin/sh\nexit 0\n', 0o755)],
    ['another matcher', () => guard('bash')],
    ['its mode', () => chmodSync(project.path(SCRIPT), 0o644)],
    ['one more file', () => project.file(`${FOLDER}/more.txt`, 'x')],
  ])('G3: changed, %s: all say that the trusted version runs, and exit 1', async (_, change) => {
    await trusted()
    change()
    for (const text of await said(1)) {
      expect(text).toMatch(/guard \(trusted \d+ \w+\) is not as you trusted it\./)
      expect(text).toContain('The version you trusted still runs.')
      expect(text).toContain('carabiner trust --mine')
    }
    const { stdout } = await carabiner('--json')
    expect(JSON.parse(stdout)).toMatchObject({
      expectations: [{ unit: { name: 'guard' }, state: 'modified', gates: [{ event: 'PreToolUse' }] }],
      next: expect.arrayContaining(['carabiner trust --mine']),
    })
  })

  it.each([
    ['a blank', 'my guard'],
    ['a quote', "it's"],
    ['a dash in front', '-x'],
    ['a character that nobody sees', 'gu\u200bard'],
  ])('with %s in its name: what is said to type removes it', async (_, name) => {
    guard()
    renameSync(project.path(FOLDER), project.path(`.amplifier/hooks/${name}`))
    expect((await carabiner('trust', '--yes')).code).toBe(0)
    rmSync(project.path('.amplifier'), { recursive: true })
    const { stdout } = await carabiner('list', '--json')
    const [{ repair }] = JSON.parse(stdout).expectations
    const [, typed = ''] = /To stop trusting it: carabiner (.*)\.$/.exec(repair) ?? []
    const run = await project.run('sh', ['-c', `"$0" "$@" ${typed}`, process.execPath, programFile()])
    expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/^untrusted /)])
    await said(0)
  })

  it('renamed: says what has the same hooks, and what to type', async () => {
    await trusted()
    renameSync(project.path(FOLDER), project.path('.amplifier/hooks/yours'))
    for (const text of await said(1))
      expect(text).toContain(
        'yours has the same hooks. If you renamed it, type: carabiner trust yours && carabiner untrust guard. To keep it,',
      )
    expect((await carabiner('trust', 'yours', '--yes')).code).toBe(0)
    expect((await carabiner('untrust', 'guard')).code).toBe(0)
    await said(0)
  })

  it('whose script was renamed: nothing says that it cannot start, for the trusted version runs', async () => {
    await trusted()
    renameSync(project.path(SCRIPT), `${project.path(SCRIPT)}.sh`)
    const told = [[], ['explain', 'PreToolUse', '--tool', 'Bash'], ['doctor']]
    for (const args of told)
      expect((await carabiner(...args)).stdout).not.toMatch(/cannot start|broken script/)
    const asked = ['explain', 'PreToolUse', '--tool', 'Bash', '--hook', 'guard:PreToolUse#1']
    for (const args of [asked, ['doctor']])
      expect((await carabiner(...args)).stdout.replace(/\s+/g, ' ')).toMatch(
        /the version in the project could not start: .*check\.sh, which does not exist; the version that you trusted runs/,
      )
  })

  it('whose script came later is closed, and says so once', async () => {
    const hooks = [{ type: 'command', command: 'sh "$CLAUDE_PROJECT_DIR"/late.sh' }]
    const file = '.amplifier/hooks/hooks.json'
    project.file(file, { hooks: { PreToolUse: [{ hooks }] } })
    expect((await carabiner('trust', '--yes')).code).toBe(0)
    project.file('late.sh', 'exit 0\n')
    const input = { hook_event_name: 'PreToolUse', session_id: 's', cwd: project.folder, ...BASH }
    const { code, stdout } = await project.call(['fire'], { input })
    expect(code).toBe(2)
    expect(stdout).not.toContain('still runs')
    const [told = '', ...more] = stdout.split('\n').filter((line) => line.includes('to the user'))
    expect(more).toEqual([])
    expect(told).toContain(
      `Everything it would judge is refused. To review and accept the change: carabiner trust --mine. To stop trusting it: carabiner untrust ${file}.`,
    )
    for (const text of await said(1)) expect(text).toContain('Everything it would judge is refused.')
    project.file('below/x', '')
    const untrust = ['untrust', file, '--project', project.folder]
    expect((await project.call(untrust, { cwd: project.path('below') })).code).toBe(0)
  })

  it('G4: whose record cannot be read: all exit 1', async () => {
    await trusted()
    const records = join(project.home, '.local/share/carabiner')
    for (const { name, parentPath } of readdirSync(records, { recursive: true, withFileTypes: true }))
      if (/\.json$/.test(name) && !parentPath.includes('copies'))
        writeFileSync(join(parentPath, name), '{oops')
    for (const text of await said(1)) expect(text).toMatch(/cannot be (?:read|told)/)
  })

  it('as data: each with its gates', async () => {
    await trusted()
    rmSync(project.path('.amplifier'), { recursive: true })
    for (const command of [['list'], ['trust'], []]) {
      const { stdout } = await carabiner(...command, '--json')
      expect(JSON.parse(stdout).expectations).toMatchObject([
        { unit: { name: 'guard' }, state: 'missing', guardedBy: 'copy', gates: [{ matcher: 'Bash' }] },
      ])
    }
    const { stdout } = await carabiner('doctor', '--json')
    expect(JSON.parse(stdout).findings).toMatchObject([
      { family: 'trust', severity: 'broken', code: 'trust-kept', file: project.path(FOLDER) },
    ])
  })
})

describe('a list of digests', () => {
  const LIST = '../trusted-hooks'

  it('names what is not there, or is there changed: all exit 1', async () => {
    guard()
    const { stdout } = await carabiner('trust', '--show')
    project.file(LIST, `${stdout.split('for --pre-trusted FILE:\n')[1]}`)
    const given = ['--pre-trusted', project.path(LIST)]
    await said(0, given)
    project.file(SCRIPT, '#!/bin/sh\nexit 0\n', 0o755)
    for (const text of await said(1, given)) expect(text).toMatch(/guard \(.*\) is not as you trusted it\./)
    rmSync(project.path(FOLDER), { recursive: true })
    for (const text of await said(1, given)) expect(text).toMatch(MISSING)
    // A machine that never saw it.
    removeAll(join(project.home, '.local'))
    for (const text of await said(1, given)) {
      expect(text).toMatch(/guard \([0-9a-f]{12}\) is on your list of trusted digests, but not in this/)
      expect(text).toContain('Put it back, or remove its line from the list.')
    }
  })
})

describe('a lock file', () => {
  it('names a plugin that is gone: all exit 1', async () => {
    guard()
    renameSync(project.path(FOLDER), join(project.base, 'guard'))
    expect((await carabiner('install', join(project.base, 'guard'), '--here', '--yes')).code).toBe(0)
    expect((await carabiner('untrust', 'guard')).code).toBe(0)
    rmSync(project.path(FOLDER), { recursive: true })
    for (const text of await said(1)) {
      expect(text).toMatch(/the plugin guard|The plugin guard/)
      expect(text).toContain('carabiner uninstall guard --here')
    }
  })
})

it('uninstall withdraws the trust: nothing is expected any more', async () => {
  guard()
  renameSync(project.path(FOLDER), join(project.base, 'guard'))
  expect((await carabiner('install', join(project.base, 'guard'), '--here', '--yes')).code).toBe(0)
  await said(0)
  expect((await carabiner('uninstall', 'guard', '--here', '--yes')).code).toBe(0)
  await said(0)
})

it('trust does not say that nothing came with a project whose file has a mistake', async () => {
  project.file('.amplifier/hooks/hooks.json', '{ "hooks": { "PreTooluse": [] } }')
  const { code, stdout } = await carabiner('trust')
  expect([code, stdout]).toEqual([1, 'no hook here could run: correct .amplifier/hooks/hooks.json:1 first\n'])
})

describe('carabiner trust --mine', () => {
  const changed = async () => {
    await trusted()
    project.file(SCRIPT, '#!/bin/sh\necho never >&2\nexit 2\n', 0o755)
  }

  it('shows only the change, and takes it', async () => {
    await changed()
    const { code, stdout } = await carabiner('trust', '--mine', '--yes')
    expect(code).toBe(0)
    expect(stdout).toContain('  │   │ -echo no >&2\n  │   │ +echo never >&2\n')
    expect(stdout).not.toContain('files, copied when you trust them')
    expect(stdout).toContain('\ntrusted guard\n')
    await said(0)
  })

  it('asks at a terminal', async () => {
    await changed()
    const no = await project.onTerminal(['trust', '--mine'], { input: 'n\n' })
    expect([no.code, no.stdout.includes('[y/N]')]).toEqual([1, true])
    expect((await project.onTerminal(['trust', '--mine'], { input: 'y\n' })).code).toBe(0)
    await said(0)
  })

  it('trusts nothing where nobody can be asked, and nothing in an agent’s shell', async () => {
    await changed()
    const { code, stderr } = await carabiner('trust', '--mine')
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no terminal to ask at')])
    const agent = await project.call(['trust', '--mine', '--yes'], { env: { CLAUDECODE: '1' } })
    expect([agent.code, agent.stderr]).toEqual([1, expect.stringContaining('is for a person')])
    await said(1)
  })

  it('leaves what was never trusted, what is gone, and what has not changed', async () => {
    await trusted()
    project.file('.amplifier/hooks/theirs/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    })
    const run = await carabiner('trust', '--mine', '--yes')
    expect([run.code, run.stdout]).toEqual([
      0,
      'nothing that you trust here has changed\n1 waits for a first review: carabiner trust theirs\n',
    ])
    expect((await carabiner('trust', '--json')).code).toBe(1)
    rmSync(project.path(FOLDER), { recursive: true })
    expect((await carabiner('trust', '--mine', '--yes')).stdout).toMatch(MISSING)
  })

  it('shows everything where it does not know what was there before', async () => {
    await changed()
    const data = join(project.home, '.local/share/carabiner')
    const copies = join(data, 'copies')
    for (const name of readdirSync(copies)) {
      chmodSync(join(copies, name), 0o700)
      for (const { parentPath } of readdirSync(copies, { recursive: true, withFileTypes: true }))
        chmodSync(parentPath, 0o700)
      rmSync(join(copies, name), { recursive: true, force: true })
    }
    mkdirSync(copies, { recursive: true })
    const { stdout } = await carabiner('trust', '--mine')
    expect(stdout).toContain('files, copied when you trust them')
  })
})
