// What people who used plugins for the first time lost without a word.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, GUARD, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

/** A plugin in a repository with a branch and two tags on one commit. */
async function repository(): Promise<void> {
  const hook = { type: 'command', command: GUARD }
  project.file('../guard/hooks.json', { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } })
  const git = ['-C', '../guard', '-c', 'user.name=t', '-c', 'user.email=t@example.com']
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-qm', 'x'],
    ['tag', 'v1'],
  ])
    expect((await project.run('git', [...git, ...args])).code).toBe(0)
}

const install = (source: string) => project.call(['install', source, '--here', '--yes'])
const lock = () => JSON.parse(project.read('.amplifier/hooks.lock.json')).plugins.guard

describe('a plugin that is installed', () => {
  beforeEach(repository)

  it('is pinned anew where the same content is named otherwise', async () => {
    await install('../guard#main')
    const { stdout } = await install('../guard#v1')
    expect(stdout).toContain('updates now come from the source you named')
    expect(lock()).toMatchObject({ kind: 'git', ref: 'v1', tag: true })
    expect((await install('../guard#v1')).stdout).toBe('guard is installed already, and has not changed\n')
  })

  it('comes back switched on, also where it was switched off for all projects', async () => {
    await install('../guard#v1')
    await project.call(['disable', 'guard', '--user'])
    await project.call(['uninstall', 'guard'])
    await install('../guard#v1')
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
  })

  it.each([
    [['uninstall', 'guard']],
    [['untrust', 'guard']],
    [['trust', '--yes']],
    [['update', '--here', '--yes']],
    [['install', '../guard#main', '--here', '--yes']],
    [['disable', 'guard']],
  ])('an agent cannot do %j', async (args) => {
    await install('../guard#v1')
    const { code, stderr } = await project.call(args, { env: { CLAUDECODE: '1' } })
    expect(code).toBe(1)
    expect(stderr).toContain('for a person')
    expect((await project.call(['fire', 'PreToolUse'], { input: BASH })).code).toBe(2)
  })
})

describe('fire --record', () => {
  const record = '.amplifier/hooks/guard/hooks.test.json'

  it('of an agent says what has to be trusted again; the trusted version is asked meanwhile', async () => {
    await repository()
    await install('../guard#v1')
    const fire = () =>
      project.call(['fire', 'PreToolUse', '--record', record], { input: BASH, env: { CLAUDECODE: '1' } })
    expect((await fire()).stderr).toContain('next carabiner trust guard')
    expect((await fire()).stderr).toContain('already recorded as')
  })
})
