// `carabiner disable` and `enable`: seen by list and fire, here and everywhere, for a while, and never by an agent.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, GUARD, Project, type Run, withProgram } from './program.js'

withProgram()

let project: Project
let other: string
beforeEach(() => {
  project = new Project()
  other = join(project.base, 'other')
  mkdirSync(other)
  plugin(project.home, 'guard', [GUARD, 'exit 0'])
})
afterEach(() => project.remove())

/** A plugin with hooks on one event. */
function plugin(base: string, name: string, commands: readonly string[], event = 'PreToolUse'): void {
  const path = join(base, '.amplifier/hooks', name, 'hooks.json')
  mkdirSync(dirname(path), { recursive: true })
  const hooks = commands.map((command) => ({ type: 'command', command }))
  writeFileSync(path, JSON.stringify({ hooks: { [event]: [{ matcher: 'Bash', hooks }] } }))
}

const run = (line: string, cwd?: string, env?: Readonly<Record<string, string>>): Promise<Run> =>
  project.call(line.split(' '), { ...(cwd && { cwd }), ...(env && { env }) })

async function fired(cwd?: string): Promise<number> {
  const { code } = await project.call(['fire', 'PreToolUse'], { input: BASH, ...(cwd && { cwd }) })
  return code
}

interface Listed {
  readonly name: string
  readonly state: string
  readonly why?: string
}
async function states(cwd?: string): Promise<readonly string[]> {
  const { stdout } = await run('list --json', cwd)
  return (JSON.parse(stdout) as { readonly hooks: readonly Listed[] }).hooks.map(
    ({ name, state }) => `${name} ${state}`,
  )
}

describe('carabiner enable', () => {
  it.each([
    ['enable gard', 'You did not switch off gard for this project; did you mean guard?'],
    ['enable guard:PreTolUse#2', '; did you mean guard:PreToolUse#2?'],
    ['enable guard --hook PreTolUse#2', '; did you mean PreToolUse#2?'],
    ['enable frobnicate', 'You did not switch off frobnicate for this project\n'],
  ])('%s: says what was meant of what is switched off', async (line, said) => {
    if (line !== 'enable gard') await run('disable guard --hook PreToolUse#2')
    else await run('disable guard')
    const { code, stderr } = await run(line)
    expect(code).toBe(1)
    expect(stderr).toContain(said)
  })
})

describe('carabiner disable --shadow', () => {
  it('lets a plugin run without counting, until enable', async () => {
    const { code, stdout } = await run('disable guard --shadow --for 1w')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`in shadow mode: all of guard for ${project.folder}`),
    ])
    expect(await fired()).toBe(0)
    const { stdout: json } = await project.call(['fire', 'PreToolUse', '--json'], { input: BASH })
    expect(JSON.parse(json)).toMatchObject({
      action: 'continue',
      hooks: [{ mode: 'shadow', would: { action: 'deny' } }, { mode: 'shadow' }],
      diagnostics: [{ code: 'shadow', hook: 'guard:PreToolUse#1' }],
    })
    expect(await states()).toEqual(['guard:PreToolUse#1 ready', 'guard:PreToolUse#2 ready'])
    expect((await run('list')).stdout).toContain('in shadow mode: it runs, and only says')
    expect((await run('disable')).stdout).toContain('in shadow mode: all of guard')
    expect((await run('doctor')).stdout).toContain('all of guard is switched to shadow mode')
    await run('enable guard')
    expect(await fired()).toBe(2)
  })

  it('yields to a switch that keeps the plugin off', async () => {
    await run('disable guard --shadow --user')
    await run('disable guard')
    expect(await states()).toEqual(['guard:PreToolUse#1 disabled', 'guard:PreToolUse#2 disabled'])
  })

  it('is in the audit', async () => {
    await run('disable guard --shadow')
    await fired()
    const { stdout } = await run('audit --json')
    expect(stdout).toMatch(/"would":\s*\{\s*"action":\s*"deny"/)
    expect((await run('audit')).stdout).toContain(
      ' · guard:PreToolUse#1: it is in shadow mode; it would deny (rm -rf is not allowed here)',
    )
  })
})

describe('carabiner disable', () => {
  it('switches a plugin off in this project alone, until enable', async () => {
    const { code, stdout } = await run('disable guard')
    expect([code, stdout]).toEqual([
      0,
      `switched off all of guard for ${project.folder}\nnext carabiner enable guard --here\n`,
    ])
    expect([await fired(), await fired(other)]).toEqual([0, 2])
    expect(await states()).toEqual(['guard:PreToolUse#1 disabled', 'guard:PreToolUse#2 disabled'])
    expect((await run('enable guard')).stdout).toBe(
      `switched on all of guard for ${project.folder}\nnext carabiner list\n`,
    )
    expect(await fired()).toBe(2)
  })

  it('in all projects with --user', async () => {
    await run('disable guard --user')
    expect([await fired(), await fired(other)]).toEqual([0, 0])
    const { code, stderr } = await run('enable guard')
    expect(code).toBe(1)
    expect(stderr).toContain('carabiner enable guard --user switches it on')
    expect((await run('enable guard --user')).code).toBe(0)
    expect(await fired()).toBe(2)
  })

  it.each([
    ['by its name in list', 'disable guard:PreToolUse#1'],
    ['by its plugin and its name', 'disable guard --hook guard:PreToolUse#1'],
    ['by its plugin and the rest of its name', 'disable guard --hook PreToolUse#1'],
  ])('one hook, %s', async (_, line) => {
    expect((await run(line)).stdout).toContain('switched off the hook guard:PreToolUse#1 ')
    expect(await states()).toEqual(['guard:PreToolUse#1 disabled', 'guard:PreToolUse#2 ready'])
    expect(await fired()).toBe(0)
    expect((await run(line.replace('disable', 'enable'))).code).toBe(0)
    expect(await fired()).toBe(2)
  })

  it('one hook, by its id; enable of the plugin switches on all of its hooks', async () => {
    const { hooks } = JSON.parse((await run('list --json')).stdout)
    for (const { id } of hooks) expect((await run(`disable ${id}`)).code).toBe(0)
    expect(await fired()).toBe(0)
    expect((await run('enable guard')).stdout.match(/switched on the hook/g)).toHaveLength(2)
    expect(await fired()).toBe(2)
  })

  it('a hook that changed was never switched off', async () => {
    await run('disable guard:PreToolUse#1')
    plugin(project.home, 'guard', [`${GUARD} `, 'exit 0'])
    expect(await fired()).toBe(2)
  })

  it('for a while: list and the trace say until when, and why', async () => {
    await project.call(['disable', 'guard', '--for', '1h30m', '--reason', 'release day'])
    const [, until] = /until (.+?) \(release day\)/.exec((await run('list')).stdout) ?? expect.unreachable()
    const left = Date.parse(until as string) - Date.now()
    expect(left).toBeGreaterThan(80 * 60_000)
    expect(left).toBeLessThanOrEqual(90 * 60_000)
    const { stdout } = await project.call(['fire', 'PreToolUse', '--json'], { input: BASH })
    expect(JSON.parse(stdout).hooks).toMatchObject([
      { name: 'guard:PreToolUse#1', status: 'skipped', why: 'disabled' },
      { name: 'guard:PreToolUse#2', status: 'skipped', why: 'disabled' },
    ])
    expect(JSON.parse(stdout).hooks[0].detail).toContain(`until ${until}`)
  })

  it.each([
    ['PreToolUse', 0],
    ['PreToolUse', 2],
    ['PostToolUse', 0],
  ])('fire %s says once how to undo it, whatever the outcome (exit %i)', async (event, exit) => {
    plugin(project.home, 'guard', [GUARD, 'exit 0'], event)
    if (exit !== 0) plugin(project.home, 'other', [GUARD])
    await run('disable guard')
    const fired = await project.call(['fire', event], { input: { ...BASH, tool_response: '' } })
    expect(fired.code).toBe(exit)
    expect(
      fired.stdout.replace(/\s+/g, ' ').split('to undo it, run carabiner enable guard --here'),
    ).toHaveLength(2)
  })

  it('what is over is neither in force nor kept', async () => {
    await run('disable guard --for 1s')
    const { disabled } = JSON.parse((await run('disable guard --hook PreToolUse#2 --json')).stdout)
    expect(disabled.hook.name).toBe('guard:PreToolUse#2')
    await expect.poll(() => fired(), { timeout: 30_000 }).toBe(2)
    const { stdout } = await run('disable --json')
    expect(JSON.parse(stdout).disabled).toEqual([disabled])
  })

  it('without a name shows what is switched off, wherever', async () => {
    expect((await run('disable')).stdout).toBe('nothing is switched off\n')
    await run('disable guard --user')
    await run('disable guard', other)
    expect((await run('disable')).stdout).toBe(
      [
        'all of guard  for all projects',
        `all of guard  for ${other}`,
        'next carabiner enable guard --user',
        'next carabiner enable guard --here',
        '',
      ].join('\n'),
    )
  })

  it('keeps nothing in the project', async () => {
    await run('disable guard')
    expect(project.has('.amplifier')).toBe(false)
  })

  it('a name that two have is asked back', async () => {
    plugin(project.folder, 'guard', ['exit 0'])
    const { code, stderr } = await run('disable guard')
    expect(code).toBe(1)
    expect(stderr).toContain('Say which: user:guard, project:guard')
    expect((await run('disable user:guard')).code).toBe(0)
    expect(await states()).toContain('guard:PreToolUse#1 disabled')
    await run('disable project:guard')
    expect((await run('enable guard')).stderr).toContain('Say which: user:guard, project:guard')
    expect((await run('enable project:guard')).code).toBe(0)
    expect((await run('enable guard')).code).toBe(0)
  })

  it('an agent cannot switch its own gates off', async () => {
    const { code, stderr } = await run('disable guard', undefined, { CLAUDECODE: '1' })
    expect(code).toBe(1)
    expect(stderr).toContain('for a person')
    expect(await fired()).toBe(2)
  })

  it.each([
    ['disable gaurd', 1, 'did you mean guard?'],
    ['disable guard --hook PreToolUse#9', 1, 'It has '],
    ['disable guard --here --user', 64, 'not both'],
    ['disable guard --for soon', 64, 'a length of time'],
    ['disable guard --for 0h', 64, 'nothing off'],
    ['disable guard --for 9999d', 64, 'at most a year'],
    ['disable --for 1h', 64, 'Give the NAME'],
    ['enable', 64, 'Give the NAME'],
    ['enable guard', 1, 'You did not switch off guard for this project'],
    ['enable guard --user', 1, 'You did not switch off guard for all projects'],
  ])('%s is refused with %i', async (line, code, said) => {
    const ended = await run(line)
    expect(ended.stderr).toContain(said)
    expect(ended.code).toBe(code)
    expect(await fired()).toBe(2)
  })

  it('enable says what holds a hook off instead', async () => {
    await run('disable guard')
    const part = await run('enable guard --hook PreToolUse#1')
    expect(part.stderr).toContain('All of guard is switched off')
    plugin(project.folder, 'mine', ['exit 0'])
    expect((await run('enable mine')).stderr).toMatch(/You did not switch off mine .*, but it does not run: /)
  })

  it('enable works where the plugin is gone', async () => {
    await run('disable guard')
    plugin(project.home, 'guard', [])
    expect((await run('enable guard')).code).toBe(0)
  })
})

it('a plugin that calls itself like another does not switch the other off by its folder', async () => {
  for (const [folder, name] of [
    ['guard', 'guard'],
    ['lint', 'guard'],
  ]) {
    project.file(`.amplifier/hooks/${folder}/.claude-plugin/plugin.json`, { name })
    project.file(`.amplifier/hooks/${folder}/hooks.json`, {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: `echo ${folder}` }] }] },
    })
  }
  expect(await project.call(['disable', 'lint'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no plugin or hook lint'),
  })
  expect((await project.call(['disable'])).stdout).not.toContain('guard')
})
