import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Example } from '../../src/cli/command.js'
import { COMMANDS as ALL } from '../../src/cli/commands.js'
import { HOST_NAMES } from '../../src/hosts/hosts.js'
import { isLarge, sample } from '../property/runs.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const COMMANDS = Object.keys(ALL).filter((name) => name !== '')

/** What loosens protection. An agent may not do it, not even in a shell without a guard. */
const LOOSENING: Readonly<Record<string, readonly (readonly string[])[]>> = {
  approvals: [['allow', 'x'], ['deny', '--all'], ['--watch']],
  approvers: [
    ['add', 'x'],
    ['remove', 'x'],
  ],
  catalog: [
    ['add', 'x'],
    ['remove', 'x'],
  ],
  disable: [['x'], ['x', '--user']],
  fire: [['Stop', '--ask']],
  fleet: [
    ['init'],
    ['serve'],
    ['token'],
    ['machines', 'retire', 'x'],
    ['join', 'x'],
    ['leave'],
    ['checkpoint'],
    ['people', 'add', 'x', 'x'],
    ['key'],
    ['answer', 'x', 'allow'],
    ['approvals'],
  ],
  hook: [['stop', '--unlock']],
  install: [['x', '--yes']],
  learn: [['--write']],
  migrate: [
    ['x', '--yes'],
    ['--remove-source', '--write'],
  ],
  remove: [[], ['--yes']],
  setup: [['claude-code', '--remove']],
  trust: [['--yes'], ['x', '--yes'], ['--mine', '--yes']],
  uninstall: [['x'], ['x', '--yes']],
  untrust: [['x'], ['--all']],
  update: [['--yes']],
}

/** Commands that only look or judge, or let a person look, add a guard, stop the service, which hooks do not need, or make something untrusted. */
const SAFE =
  'audit completion docs doctor effects enable explain list mcp new open replay rules schema serve service test verify'.split(
    ' ',
  )

describe('an agent', () => {
  it('is considered for every command', () => {
    expect([...Object.keys(LOOSENING), ...SAFE].sort()).toEqual(COMMANDS.toSorted())
  })

  const all = Object.entries(LOOSENING).flatMap(([name, some]) => some.map((args) => [[name, ...args]]))
  it.each(sample(all))('may not run %j', async (args) => {
    const { code, stderr } = await project.call(args, { env: { CLAUDECODE: '1' } })
    expect([code, stderr]).toEqual([1, expect.stringContaining('is for a person, but CLAUDECODE says')])
  })

  it('may lock itself, but not change the lock', async () => {
    const env = { CLAUDECODE: '1' }
    expect(await project.call(['hook', 'stop', '--lock', '--goal', 'a'], { env })).toMatchObject({ code: 0 })
    const again = await project.call(['hook', 'stop', '--lock', '--goal', 'b'], { env })
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is for a person')])
    expect(await project.call(['hook', 'stop', '--unlock'])).toMatchObject({ code: 0 })
  })
})

describe('usage errors', () => {
  it.each([
    [['lst'], 'There is no command "lst"; did you mean list?'],
    [['status'], 'There is no command "status"; did you mean carabiner, without a command?'],
    [['why'], 'There is no command "why"; did you mean explain?'],
    [['version'], 'There is no command "version"; did you mean --version?'],
    [['uninstall'], 'To remove Carabiner itself, type carabiner remove.'],
    [['frobnicate'], 'There is no command "frobnicate"'],
    [['toString'], 'There is no command "toString"'],
    [['fire', '--trustall'], 'carabiner fire has no option --trustall; did you mean --trust-all?'],
    [['fire', '--toString'], 'carabiner fire has no option --toString'],
    [['list', '-x'], 'carabiner list has no option -x'],
    [['--jsn'], 'carabiner has no option --jsn; did you mean --json?'],
    [['fire', '--timeout'], '--timeout needs a value: --timeout SECONDS'],
    [['fire', '--timeout', 'soon'], '--timeout must be a number of seconds above 0, got "soon"'],
    [['fire', '--timeout=-1'], '--timeout must be a number of seconds above 0, got "-1"'],
    [['list', '--project', '--trust-all'], '--project'],
    [['list', '--project='], '--project needs a value: --project DIR'],
    [['list', '--project', 'a', '--project', 'b'], '--project was given twice'],
    [['list', '--trust-all=no'], '--trust-all'],
    [['list', 'extra'], 'carabiner list does not accept "extra"'],
    [['fire', 'Stop', 'Stop'], 'carabiner fire does not accept "Stop"'],
    [['untrust'], 'Give the name of what you no longer trust, or --all'],
    [['untrust', 'x', '--all'], 'Give the name'],
    [['trust', '--show', '--yes'], '--show only shows, and --yes trusts'],
    [['trust', '--trust-all'], 'carabiner trust has no option --trust-all'],
    [['help', 'nothing'], 'There is no command "nothing"'],
    [['version'], 'There is no command "version"; did you mean --version?'],
    [['-V'], 'carabiner has no option -V; did you mean --version?'],
    [['--project', '/no where', 'list'], `Put the command first: carabiner list --project '/no where'`],
    [['--tool', 'Bash', 'explain'], 'Put the command first: carabiner explain --tool Bash'],
    [
      ['audit', 'tail', '3'],
      'carabiner audit tail -n 3 lists that many; carabiner audit show 3 shows that entry.',
    ],
  ])('%j exits 64 and says why', async (args, expected) => {
    const { code, stdout, stderr } = await project.call(args)
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain(expected)
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2)
  })

  it('are a JSON document on standard output under --json', async () => {
    for (const args of [
      ['lst', '--json'],
      ['list', '--jsonn', '--json'],
      ['fire', '--json', '--timeout', 'x'],
    ]) {
      const { code, stdout, stderr } = await project.call(args)
      expect([code, stderr]).toEqual([64, ''])
      expect(JSON.parse(stdout)).toEqual({
        error: { code: 'USAGE', message: expect.any(String), hint: expect.toSatisfy(isTextOrNull) },
      })
    }
  })

  it('what comes after -- is no option', async () => {
    const { code, stdout, stderr } = await project.call(['explain', '--', '--json'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('there is no event "--json"')
  })
})

describe('help', () => {
  it('of fire names the hosts of --as', async () => {
    const { stdout } = await project.call(['fire', '--help'])
    for (const host of HOST_NAMES) expect(stdout).toContain(host)
  })

  it.each([[['--help']], [['-h']], [['help']]])('%j lists the commands', async (args) => {
    const { code, stdout, stderr } = await project.call(args)
    expect([code, stderr]).toEqual([0, ''])
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
  })

  it.each(COMMANDS)('of %s is the same both ways, and fits 80 columns but for examples', async (command) => {
    const { code, stdout } = await project.call([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`usage: carabiner ${command}`)
    expect(
      stdout
        .split('\nexamples')[0]
        ?.split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
    expect((await project.call(['help', command])).stdout).toBe(stdout)
  })

  it('is data under --json', async () => {
    const { stdout } = await project.call(['fire', '--help', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ command: 'carabiner fire', exits: { 2: 'denied' } })
    const all = JSON.parse((await project.call(['help', '--json'])).stdout)
    expect(all.commands.map(({ name }: { name: string }) => name).sort()).toEqual([...COMMANDS].sort())
  })

  it.runIf(isLarge)('has examples that work as they are written', async () => {
    project.file('.claude/settings.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    })
    const bin = project.file(
      'bin/carabiner',
      `#!/bin/sh\nexec "${process.execPath}" "${programFile()}" "$@"\n`,
      0o755,
    )
    // The others look at what `remove` removes.
    const removeLast = [...COMMANDS.filter((name) => name !== 'remove'), 'remove']
    for (const command of [undefined, ...removeLast]) {
      const { stdout } = await project.call([...(command ? ['help', command] : ['help']), '--json'])
      const examples = JSON.parse(stdout).examples as Example[]
      for (const { line, exits = 0 } of examples.filter(({ needs }) => needs === undefined)) {
        const env = { PATH: `${dirname(bin)}:${process.env.PATH}` }
        const run = await project.run('sh', ['-c', line], { env })
        expect([line, run.code, run.stderr !== '']).toEqual([line, exits, exits !== 0])
      }
    }
  })
})

it('a current directory that is gone is no bug of ours', async () => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
  const run = (...args: string[]) =>
    project.run('sh', ['-c', script, process.execPath, programFile(), ...args])
  expect(await run('list')).toMatchObject({ code: 1, stderr: expect.stringContaining('directory is gone') })
  expect((await run('list', '--project', project.folder)).code).toBe(0)
})

describe('the version', () => {
  it('is that of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect((await project.carabiner(['--version'])).stdout).toBe(`${version}\n`)
    expect(JSON.parse((await project.carabiner(['-v', '--json'])).stdout)).toEqual({ version })
  })
})

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}
