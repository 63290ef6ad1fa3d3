import { execFileSync, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LANGUAGES, type Language, newPlugin } from '../../src/cli/templates/plugin.js'
import { WITHOUT_SAMPLE } from '../../src/cli/templates/sample.js'
import { type EventName, knownEvents } from '../../src/core/events/events.js'
import { Project, withProgram } from './program.js'
import { isInstalled } from './script.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const ALL = Object.keys(LANGUAGES) as Language[]
const EVERY_EVENT = knownEvents()
  .map(({ name }) => name as EventName)
  .filter((name) => !Object.hasOwn(WITHOUT_SAMPLE, name))
const MAIN: readonly EventName[] = [
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'SubagentStop',
  'PreCompact',
  'Notification',
]
const NEEDS = { bash: 'bash', python: 'python3', node: 'node', ts: 'node', module: 'node' } as const
/** Languages in which it is a program. */
const SCRIPTS = ['bash', 'python', 'node', 'ts'] as const

/** The files of a new plugin, as `new` writes them. */
function write(language: Language, event: EventName, matcher?: string): string {
  const name = event.toLowerCase()
  for (const { path, text, isExecutable } of newPlugin({ name, event, matcher }, language)) {
    project.file(`.amplifier/hooks/${name}/${path}`, text, isExecutable ? 0o755 : 0o644)
  }
  return `.amplifier/hooks/${name}`
}

describe('what it makes passes its own tests', () => {
  it.for(ALL)('in %s', async (language, { skip }) => {
    skip(!isInstalled(NEEDS[language]), `needs ${NEEDS[language]}`)
    for (const event of language === 'bash' ? EVERY_EVENT : MAIN) write(language, event)
    await project.call(['trust', '--yes'])
    const { code, stdout, stderr } = await project.call(['test'])
    expect(stdout).not.toMatch(/FAIL|skip|no hook ran/)
    expect([code, stderr]).toEqual([0, ''])
  })

  it.each([
    ['Write|Edit', 'Write'],
    ['mcp__.*', 'mcp__server__tool'],
    ['^(?:Bash|Read)$', 'Bash'],
    ['Bash', 'Bash'],
  ])('with the matcher %j', async (matcher, tool) => {
    write('bash', 'PreToolUse', matcher)
    const { stdout } = await project.call(['test', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 2,
      cases: [{ outcome: { data: { tool_name: tool } } }, {}],
    })
  })

  it('with a matcher for which no value is known: the case says what is missing', async () => {
    write('bash', 'PreToolUse', '^z\\d{3}$')
    const { code, stdout } = await project.call(['test'])
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/add a value to the payload that \^z\\d\{3\}\$ matches/),
    ])
  })
})

describe('the script', () => {
  const script = { bash: 'hook.sh', python: 'hook.py', node: 'hook.mjs', ts: 'hook.mjs' } as const

  it.for(SCRIPTS)('in %s is executable, and refuses what is no event', (language, { skip }) => {
    skip(!isInstalled(NEEDS[language]), `needs ${NEEDS[language]}`)
    for (const [event, exit] of [
      ['PreToolUse', 2],
      ['PermissionRequest', 1],
      ['Stop', 1],
      ['SessionStart', 1],
    ] as const) {
      const file = project.path(`${write(language, event)}/${script[language]}`)
      for (const input of ['', 'no JSON', '[]']) {
        const { status, stdout, stderr } = spawnSync(file, { input, encoding: 'utf8' })
        expect([status, stdout, stderr]).toEqual([
          exit,
          '',
          `${event.toLowerCase()}: there is no event on standard input\n`,
        ])
      }
    }
  })

  it.for(SCRIPTS)('in %s does not ask an agent to go on twice', (language, { skip }) => {
    skip(!isInstalled(NEEDS[language]), `needs ${NEEDS[language]}`)
    const file = project.path(`${write(language, 'Stop')}/${script[language]}`)
    const event = { hook_event_name: 'Stop', last_assistant_message: 'TODO' }
    const run = (more: object) => spawnSync(file, { input: JSON.stringify({ ...event, ...more }) }).status
    expect([run({ stop_hook_active: false }), run({ stop_hook_active: true })]).toEqual([2, 0])
  })

  it.for(SCRIPTS)('in %s looks at the call, not at what is around it', (language, { skip }) => {
    const needs = language === 'bash' ? 'jq' : NEEDS[language]
    skip(!isInstalled(needs), `needs ${needs}`)
    const file = project.path(`${write(language, 'PreToolUse')}/${script[language]}`)
    const run = (command: string) => {
      const event = { hook_event_name: 'PreToolUse', cwd: '/forbidden', tool_input: { command } }
      return spawnSync(file, { input: JSON.stringify(event) }).status
    }
    expect([run('ls'), run('echo forbidden')]).toEqual([0, 2])
  })

  it('in bash refuses rather more where there is no jq', () => {
    const file = project.path(`${write('bash', 'PreToolUse')}/hook.sh`)
    for (const name of ['bash', 'cat']) {
      const path = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
      mkdirSync(project.path('bin'), { recursive: true })
      symlinkSync(path, project.path(`bin/${name}`))
    }
    const run = (cwd: string, command: string) => {
      const input = JSON.stringify({ hook_event_name: 'PreToolUse', cwd, tool_input: { command } })
      return spawnSync(project.path('bin/bash'), [file], { input, env: { PATH: project.path('bin') } }).status
    }
    expect([run('/', 'ls'), run('/', 'echo forbidden'), run('/forbidden', 'ls')]).toEqual([0, 2, 2])
  })

  it.each(['PreToolUse', 'PermissionRequest', 'SessionStart', 'Stop'] as const)(
    'in TypeScript is what the compiler makes of its source: %s',
    (event) => {
      const folder = project.path(write('ts', event))
      const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))
      execFileSync(tsc, ['-p', folder, '--outDir', project.path('out')])
      expect(project.read('out/hook.mjs')).toBe(
        project.read(`.amplifier/hooks/${event.toLowerCase()}/hook.mjs`),
      )
    },
  )
})

describe('carabiner new', () => {
  const state = async (...args: readonly string[]) => {
    const { stdout } = await project.call(['list', '--json', ...args])
    return JSON.parse(stdout) as { hooks: { name: string; state: string }[]; diagnostics: unknown[] }
  }

  it('makes it, sets $schema, and trusts it', async () => {
    const { code, stdout } = await project.call(['new', 'guard', '--lang=ts', '--matcher=Bash', '--json'])
    expect(code).toBe(0)
    const made = readdirSync(project.path('.amplifier/hooks/guard')).sort()
    expect(made).toContain('hook.mts')
    expect(JSON.parse(stdout)).toEqual({
      name: 'guard',
      path: project.path('.amplifier/hooks/guard'),
      lang: 'ts',
      event: 'PreToolUse',
      matcher: 'Bash',
      files: expect.toSatisfy((files: string[]) => files.toSorted().join() === made.join()),
      trusted: true,
    })
    for (const file of ['hooks.json', 'hooks.test.json']) {
      expect(JSON.parse(project.read(`.amplifier/hooks/guard/${file}`))).toMatchObject({
        $schema: expect.stringMatching(`/schema/${file}$`),
      })
    }
    expect(statSync(project.path('.amplifier/hooks/guard/hook.mjs')).mode & 0o777).toBe(0o755)
    expect(await state()).toMatchObject({
      hooks: [{ name: 'guard:PreToolUse#1', state: 'ready' }],
      diagnostics: [],
    })
    expect(readdirSync(project.path('.amplifier/hooks'))).toEqual(['guard'])
  })

  it('elsewhere: trusted, and run where it is named', async () => {
    const { code, stdout } = await project.call([
      'new',
      'guard',
      '--dir',
      'my plugins',
      '--event',
      'tool:post',
    ])
    expect(code).toBe(0)
    expect(stdout).toContain(
      `it runs with --plugin 'my plugins/guard'\nnext carabiner test 'my plugins/guard'\n`,
    )
    expect((await state()).hooks).toEqual([])
    expect((await state('--plugin', 'my plugins/guard')).hooks).toMatchObject([
      { name: 'guard:PostToolUse#1', state: 'ready' },
    ])
    expect((await project.call(['test', 'my plugins/guard'])).code).toBe(0)
  })

  it('in the home folder it is the user’s, which needs no trust', async () => {
    const { code } = await project.call(['new', 'mine'], { cwd: project.home })
    expect(code).toBe(0)
    expect((await state()).hooks).toMatchObject([{ name: 'mine:PreToolUse#1', state: 'ready' }])
  })

  it('changes nothing that is there', async () => {
    project.file('.amplifier/hooks/file', 'mine')
    symlinkSync('nowhere', project.path('.amplifier/hooks/link'))
    project.file('.amplifier/hooks/folder/mine', 'mine')
    for (const name of ['file', 'link', 'folder']) {
      const { code, stderr } = await project.call(['new', name])
      expect([code, stderr]).toEqual([1, expect.stringContaining(`.amplifier/hooks/${name} already exists`)])
    }
    expect(readdirSync(project.path('.amplifier/hooks')).sort()).toEqual(['file', 'folder', 'link'])
    expect(lstatSync(project.path('.amplifier/hooks/link')).isSymbolicLink()).toBe(true)
    expect(project.read('.amplifier/hooks/file')).toBe('mine')
  })

  it('never takes the place of a trusted gate, not even through a link', async () => {
    await project.call(['new', 'guard', '--matcher=Bash'])
    rmSync(project.path('.amplifier/hooks/guard'), { recursive: true })
    for (const args of [['guard'], ['guard', '--dir', '.amplifier/hooks']]) {
      const { code, stderr } = await project.call(['new', ...args])
      expect([code, stderr]).toEqual([1, expect.stringContaining('its trusted version still guards')])
    }
    symlinkSync('other', project.path('.amplifier/hooks/guard'))
    const { code, stderr } = await project.call(['new', 'other', '--event=Stop'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('other was not trusted: guard (trusted')])
    const ready = (await state()).hooks.filter((hook) => hook.state === 'ready')
    expect(new Set(ready.map(({ name }) => name))).toEqual(new Set(['guard:PreToolUse#1']))
  })

  it('makes nothing where the project leads elsewhere', async () => {
    for (const link of ['.amplifier', '.amplifier/hooks']) {
      rmSync(project.path('.amplifier'), { recursive: true, force: true })
      mkdirSync(project.path('../elsewhere/hooks'), { recursive: true })
      mkdirSync(dirname(project.path(link)), { recursive: true })
      symlinkSync(project.path('../elsewhere'), project.path(link))
      const { code, stderr } = await project.call(['new', 'guard'])
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${link}" is a link`)])
      expect(readdirSync(project.path('../elsewhere'))).toEqual(['hooks'])
      expect(readdirSync(project.path('../elsewhere/hooks'))).toEqual([])
    }
  })

  it('makes nothing that is the same folder on another system', async () => {
    project.file('.amplifier/hooks/Guard/mine', 'mine')
    const { code, stderr } = await project.call(['new', 'guard'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('Guard already exists')])
    expect(readdirSync(project.path('.amplifier/hooks'))).toEqual(['Guard'])
  })

  it.each([
    [['new'], 'Which name?'],
    [['new', '../out'], '../out is not a valid plugin name'],
    [['new', 'Upper'], 'Upper is not a valid plugin name'],
    [['new', 'a', '--event', 'Custom'], 'There is no event "Custom"'],
    [['new', 'a', '--event', 'WorktreeCreate'], 'There is no sample for WorktreeCreate'],
    [['new', 'a', '--event', 'Stop', '--matcher', 'x'], 'Stop has nothing to match'],
    [['new', 'a', '--matcher', '('], 'The matcher "(" is not valid'],
    [['new', 'a', '--lang', 'constructor'], '--lang does not accept "constructor"'],
  ])('%j exits 64, and makes nothing', async (args, expected) => {
    const { code, stderr } = await project.call(args)
    expect([code, stderr]).toEqual([64, expect.stringContaining(expected)])
    expect(readdirSync(project.folder)).toEqual([])
  })
})
