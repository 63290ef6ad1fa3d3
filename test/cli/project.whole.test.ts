// The project of a command that is typed anywhere in it.

import { chownSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, GUARD, Project, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const folder = (name: string) => {
  mkdirSync(project.path(name), { recursive: true })
  return project.path(name)
}
const below = (args: readonly string[], options: RunOptions = {}) =>
  project.call(args, { cwd: folder('src/deep'), ...options })
/** Which project a command takes. */
const found = async (cwd: string, env: Readonly<Record<string, string>> = {}) =>
  JSON.parse((await project.call(['list', '--json'], { cwd, env })).stdout).project

const HOOK = { type: 'command', command: GUARD }
const HOOKS = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [HOOK] }] } }
const CASE = { event: 'PreToolUse', payload: BASH, expect: { action: 'deny' } }

describe('from a folder of the project', () => {
  beforeEach(async () => {
    project.file('.amplifier/hooks/guard/hooks.json', HOOKS)
    project.file('.amplifier/hooks/guard/hooks.test.json', { cases: [CASE] })
    await project.call(['trust', 'guard', '--yes'])
  })

  const named = () => `project ${project.folder}\n`

  it.each([
    ['list', ['list'], '1 hook: 1 ready'],
    ['explain', ['explain', 'PreToolUse', '--tool', 'Bash'], 'would run'],
    ['explain of one', ['explain', '--hook', 'guard:PreToolUse#1', '--tool', 'Bash'], 'it would run'],
    ['doctor', ['doctor'], 'nothing is'],
    ['trust', ['trust'], 'everything here is trusted already'],
  ])('%s names it, and sees its hooks', async (_, args, said) => {
    const { code, stdout, stderr } = await below(args)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(said)
    expect(stdout.startsWith(named())).toBe(true)
    expect(JSON.parse((await below([...args, '--json'])).stdout).project).toBe(project.folder)
    expect((await project.call(args)).stdout).not.toContain(named())
  })

  it('the bare carabiner names it where it always does', async () => {
    const { stdout } = await below([])
    expect(stdout).toMatch(new RegExp(`^carabiner [\\w.-]+ {2}${project.folder}\n {2}1 hook ready\n`))
  })

  it('fire asks its hooks', async () => {
    expect((await below(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
    const entries = await below(['audit', '--json'])
    expect(JSON.parse(entries.stdout).entries).toHaveLength(1)
  })

  it.each([
    ['test', ['test'], '1 case: 1 passed'],
    ['test of one', ['test', '../../.amplifier/hooks/guard'], '1 case: 1 passed'],
    ['disable', ['disable', 'guard'], 'switched off all of guard'],
    ['untrust', ['untrust', 'guard'], 'untrusted guard'],
    ['uninstall', ['uninstall', 'guard', '--yes'], 'uninstalled guard'],
    ['approvals grants', ['approvals', 'grants'], 'no grants in this project'],
    ['completion', ['completion', '--names', 'plugins'], 'guard'],
  ])('%s is about it', async (_, args, said) => {
    const { code, stdout } = await below(args)
    expect(stdout).toContain(said)
    expect(code).toBe(0)
  })

  it('enable switches on what was switched off at the top', async () => {
    await project.call(['disable', 'guard'])
    expect((await below(['enable', 'guard'])).stdout).toContain('switched on all of guard')
  })

  it('new, install, update, migrate and setup write into it, and say where', async () => {
    expect((await below(['new', 'other'])).stdout).toContain('created ../../.amplifier/hooks/other:')
    project.file('../third/hooks.json', HOOKS)
    const third = await below(['install', `${project.base}/third`, '--here', '--yes'])
    expect(third.stdout).toContain(
      `installed third and trusted it  ${project.path('.amplifier/hooks/third')}`,
    )
    expect((await below(['update', 'third', '--here', '--yes'])).code).toBe(0)
    project.file('.claude/settings.json', { hooks: { Stop: [{ hooks: [HOOK] }] } })
    expect((await below(['migrate', '--write'])).code).toBe(0)
    expect((await below(['setup', 'claude-code', '--project'])).code).toBe(0)
    expect(readdirSync(project.path('.amplifier/hooks')).sort()).toEqual([
      'guard',
      'hooks.json',
      'other',
      'third',
    ])
    expect(project.read('.claude/settings.json')).toContain('carabiner')
    expect(readdirSync(project.path('src/deep'))).toEqual([])
  })

  it('setup is for the folder that has settings of Claude Code', async () => {
    project.file('src/deep/.claude/settings.json', {})
    expect((await below(['setup', 'claude-code', '--project'])).code).toBe(0)
    expect(project.read('src/deep/.claude/settings.json')).toContain('carabiner')
    expect(project.has('.claude')).toBe(false)
  })
})

describe('which folder it is', () => {
  it('the nearest that has .amplifier, before any that has only settings of Claude Code', async () => {
    folder('.amplifier/hooks')
    folder('packages/a/.amplifier/hooks')
    project.file('packages/b/.claude/settings.json', {})
    expect(await found(folder('packages/a/src'))).toBe(project.path('packages/a'))
    expect(await found(folder('packages/b/src'))).toBe(project.folder)
  })

  it.each(['.claude/settings.json', '.claude/settings.local.json', '.claude/hooks/guard.sh'])(
    'else the nearest that has %s',
    async (file) => {
      project.file(file, '{}')
      expect(await found(folder('src'))).toBe(project.folder)
    },
  )

  it('a folder .claude without those marks nothing', async () => {
    folder('.claude/commands')
    expect(await found(folder('src'))).toBe(project.path('src'))
  })

  it('not beyond a repository, which is still looked at', async () => {
    folder('.amplifier/hooks')
    project.file('inner/.git/HEAD', '')
    expect(await found(folder('inner/src'))).toBe(project.path('inner'))
    folder('inner/.amplifier/hooks')
    expect(await found(folder('inner/src'))).toBe(project.path('inner'))
  })

  it('not where .amplifier, or .git, is an empty folder or file', async () => {
    project.file('.amplifier/pack.json', {})
    folder('a/.amplifier')
    folder('b/.git')
    project.file('c/.git', '')
    project.file('d/.git', 'gitdir: ../elsewhere')
    for (const name of ['a', 'b', 'c']) expect(await found(folder(name))).toBe(project.folder)
    expect(await found(folder('d/src'))).toBe(project.path('d'))
  })

  it('says that there is one beyond', async () => {
    folder('.amplifier/hooks')
    project.file('inner/.git/HEAD', '')
    const { stdout } = await project.call(['list'], { cwd: project.path('inner') })
    expect(stdout).toContain(`next carabiner list --project ..   # ${project.folder} has .amplifier\n`)
  })

  it('never the home, nor what is above it', async () => {
    folder('.amplifier/hooks')
    folder('home/.amplifier/hooks')
    const env = { HOME: project.path('home') }
    expect(await found(folder('home/work'), env)).toBe(project.path('home/work'))
    expect(await found(project.path('home'), env)).toBe(project.path('home'))
    expect(await found(folder('other'), env)).toBe(project.folder)
  })

  it.skipIf(process.getuid?.() !== 0)('none that somebody else owns, or has put there', async () => {
    folder('.amplifier/hooks')
    folder('shared/.amplifier/hooks')
    chownSync(project.path('shared/.amplifier'), 12345, 12345)
    expect(await found(folder('shared/src'))).toBe(project.folder)
    chownSync(project.path('shared/.amplifier'), 0, 0)
    chownSync(project.path('shared'), 12345, 12345)
    expect(await found(folder('shared/src'))).toBe(project.folder)
    expect(await found(project.path('shared'))).toBe(project.path('shared'))
  })

  it('is named so that it cannot say more', async () => {
    folder('a\u001b[2Jb/.amplifier/hooks')
    const { stdout } = await project.call(['list'], { cwd: folder('a\u001b[2Jb/src') })
    expect(stdout.split('\n')[0]).toBe(`project ${project.folder}/a⟨U+001B⟩[2Jb`)
    expect(stdout).not.toContain('\u001b')
  })

  it('the one that was named, as it is', async () => {
    folder('.amplifier/hooks')
    const { stdout } = await project.call(['list', '--json', '--project', '.'], { cwd: folder('src') })
    expect(JSON.parse(stdout).project).toBe(project.path('src'))
  })
})

describe('a project in another', () => {
  const PAYLOAD = { hook_event_name: 'PreToolUse', session_id: 's', ...BASH }
  const inner = (args: readonly string[], options: RunOptions = {}) =>
    project.call(args, { cwd: project.path('inner'), ...options })

  beforeEach(async () => {
    project.file('.amplifier/hooks/guard/hooks.json', HOOKS)
    await project.call(['trust', 'guard', '--yes'])
    project.file('inner/.git/HEAD', '')
  })

  it('G5: does not switch off the gates around it, whoever names the project', async () => {
    const fired = JSON.parse((await inner(['fire', 'PreToolUse', '--json'], { input: BASH })).stdout)
    expect(fired.action).toBe('deny')
    const input = { ...PAYLOAD, cwd: project.path('inner') }
    const as = ['fire', '--as', 'claude-code']
    expect((await inner(as, { input })).stdout).toContain('"deny"')
    const named = { CLAUDE_PROJECT_DIR: project.path('inner') }
    expect((await inner(as, { input, env: named })).stdout).toContain('"deny"')
    expect((await inner([...as, '--project', '.'], { input })).stdout).toContain('"deny"')
    const { hooks } = JSON.parse((await inner(['list', '--json'])).stdout)
    expect(hooks).toMatchObject([{ source: 'guard', state: 'ready' }])
  })

  it('G5: with hooks of its own keeps the gates around it, also those that are gone', async () => {
    project.file('inner/.amplifier/hooks/hooks.json', { hooks: {} })
    project.file('inner/.amplifier/settings.json', { hooks: { allow_project_hooks: false } })
    const input = { ...PAYLOAD, cwd: project.path('inner') }
    const fire = async () => (await inner(['fire', '--as', 'claude-code'], { input })).stdout
    expect(await fire()).toContain('"deny"')
    rmSync(project.path('.amplifier'), { recursive: true })
    expect(await fire()).toContain('"deny"')
  })

  it('that nobody trusts is only told about the hooks around it', async () => {
    await project.call(['untrust', 'guard'])
    const fired = JSON.parse((await inner(['fire', 'PreToolUse', '--json'], { input: BASH })).stdout)
    expect(fired).toMatchObject({ action: 'continue', hooks: [{ why: 'untrusted' }] })
  })

  it('an empty .git or .amplifier takes no gate away', async () => {
    folder('a/.git')
    folder('b/.amplifier')
    project.file('c/.git', '')
    for (const name of ['a', 'b', 'c']) {
      const input = { ...PAYLOAD, cwd: project.path(name) }
      const { stdout } = await project.call(['fire', '--as', 'claude-code'], { cwd: input.cwd, input })
      expect(stdout).toContain('"deny"')
    }
  })
})
