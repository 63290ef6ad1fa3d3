// The preset that setup starts the user's rules with, and the presets as files to read.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const RULES = '../home/.amplifier/rules.json'
const setUp = (...args: readonly string[]) => project.call(['setup', 'claude-code', ...args])
const words = ({ stdout }: { readonly stdout: string }) => stdout.replace(/\s+/g, ' ')
const settings = () => project.read('../home/.claude/settings.json')

describe('setup --preset', () => {
  it('starts the rules, and has the agent ask the engine about them', async () => {
    const { code, stdout } = await setUp('--preset', 'relaxed')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('wrote ~/.amplifier/rules.json with the preset relaxed'),
    ])
    expect(settings()).toMatch(/carabiner\.js['"\\ ]+fire/)
    const input = { tool_name: 'Bash', tool_input: { command: 'git push --force' } }
    expect((await project.call(['fire', 'PreToolUse'], { input })).code).toBe(3)
    expect((await project.call(['doctor'])).stdout).not.toContain('rules.json')
  })

  it('lets people see every rule with its id, also those that they changed', async () => {
    await setUp('--preset', 'relaxed')
    const { stdout } = await project.call(['list'])
    expect(stdout).toMatch(/^ +ask +relaxed\/delete-held +delete, move$/m)
    expect(stdout).toMatch(/^ +redact +relaxed\/secrets-shown +secrets in results$/m)
    const rule = '{ "id": "relaxed/delete-held", "then": "deny", "mode": "shadow" }'
    project.file(RULES, `{ "preset": "relaxed", "rules": [${rule}] }`)
    const changed = (await project.call(['list'])).stdout
    expect(changed.match(/relaxed\/delete-held/g)).toHaveLength(1)
    expect(changed).toContain('deny relaxed/delete-held in shadow mode')
  })

  it('says that the guard is not registered, unless it is', async () => {
    const left = 'note the guard is not registered: the rules of the preset judge calls in its place.'
    expect(words(await setUp('--preset', 'relaxed', '--dry-run'))).toContain(left)
    expect(words(await setUp('--preset', 'relaxed', '--with', 'guard'))).not.toContain(left)
    const several = ['setup', 'codex', 'gemini', '--preset', 'relaxed']
    expect(words(await project.call(several)).split(left)).toHaveLength(2)
  })

  it('leaves a file alone that is there, comments and all', async () => {
    const mine = '// mine\n{ "rules": [] }\n'
    project.file(RULES, mine)
    const { code, stdout } = await setUp('--preset', 'careful')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('left alone ~/.amplifier/rules.json: it exists'),
    ])
    expect(project.read(RULES)).toBe(mine)
  })

  it('does not write through a link that leads nowhere', async () => {
    mkdirSync(join(project.home, '.amplifier'))
    symlinkSync(project.path('elsewhere.json'), join(project.home, '.amplifier/rules.json'))
    expect((await setUp('--preset', 'careful')).stdout).toContain('left alone')
    expect(project.has('elsewhere.json')).toBe(false)
  })

  it('says so if the file cannot be written', async () => {
    writeFileSync(join(project.home, '.amplifier'), 'a file')
    const { code, stderr } = await setUp('--preset', 'careful')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/rules\.json cannot be written/)])
  })

  it('writes nothing for none, for a dry run and without the option', async () => {
    expect((await setUp('--preset', 'standard', '--dry-run')).stdout).toContain(
      'would write ~/.amplifier/rules.json with the preset standard',
    )
    await setUp('--preset', 'none')
    await setUp()
    expect(project.has(RULES)).toBe(false)
    expect(settings()).not.toMatch(/carabiner\.js['"\\ ]+fire/)
  })

  it('tells programs', async () => {
    const { stdout } = await setUp('--preset', 'standard', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      agent: 'claude-code',
      rules: { file: join(project.home, '.amplifier/rules.json'), preset: 'standard', state: 'written' },
    })
  })

  it.each([
    [['--preset', 'strict'], 'There is no preset "strict"'],
    [['--preset', 'standrd'], 'did you mean standard?'],
    [['--preset', 'standard', '--remove'], '--preset adds rules'],
    [['--preset', 'standard', '--project'], '--preset is for your own rules'],
    [['--preset', 'standard', '--only', 'guard'], 'Give --only or --preset, not both'],
    [['--preset', 'none', '--mcp'], 'Give --mcp without --preset'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await setUp(...args)
    expect([code, stderr]).toEqual([64, expect.stringContaining(message)])
    expect(project.has(RULES)).toBe(false)
  })

  it('for several agents', async () => {
    const { code, stdout } = await project.call(['setup', 'codex', 'gemini', '--preset', 'relaxed', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ rules: { preset: 'relaxed', state: 'written' } })
  })
})

describe('setup without the engine', () => {
  const unasked = 'Claude Code does not ask the rules in'
  const fix = 'yet: carabiner setup claude-code --engine'

  it.each([
    [RULES, '~/.amplifier/rules.json'],
    ['.amplifier/rules.json', '.amplifier/rules.json'],
  ])('says that no rule of %s reaches the agent, also if there is nothing to do', async (file, shown) => {
    expect(words(await setUp('--only', 'guard'))).not.toContain(unasked)
    project.file(file, { rules: [] })
    const said = words(await setUp())
    expect(said).toContain('nothing to do')
    expect(said).toMatch(new RegExp(`note ${unasked} \\S*${shown} ${fix}`))
    expect(words(await setUp('--engine'))).not.toContain(unasked)
    expect(words(await setUp())).not.toContain(unasked)
  })

  it('does not say so if the settings of the project have the engine', async () => {
    project.file(RULES, { rules: [] })
    await setUp('--project', '--engine')
    expect(words(await setUp('--only', 'guard'))).not.toContain(unasked)
  })
})

describe('removal', () => {
  it('leaves the rules, and says so', async () => {
    await setUp('--preset', 'relaxed')
    const stays = /^stays ~\/\.amplifier\/rules\.json has your rules$/m
    expect((await project.call(['remove', '--dry-run'])).stdout).toMatch(stays)
    expect((await setUp('--remove')).stdout).toMatch(stays)
    expect((await project.call(['remove', '--yes'])).code).toBe(0)
    expect(project.has(RULES)).toBe(true)
  })
})

describe('carabiner rules', () => {
  it.each(['careful', 'standard', 'relaxed'])('prints %s as a file that can be used', async (name) => {
    const { code, stdout } = await project.call(['rules', name])
    expect(code).toBe(0)
    project.file('copy.json', stdout)
    expect((await project.call(['replay', '--rules', 'copy.json'])).code).toBe(0)
    expect(JSON.parse((await project.call(['rules', name, '--json'])).stdout)).toEqual(JSON.parse(stdout))
  })

  it('lists them', async () => {
    const { stdout } = await project.call(['rules', '--json'])
    const { presets } = JSON.parse(stdout) as { presets: { name: string; rules: number }[] }
    expect(presets.map(({ name }) => name)).toEqual(['careful', 'standard', 'relaxed'])
    expect(presets.every(({ rules }) => rules > 0)).toBe(true)
  })

  it('refuses other names', async () => {
    const { code, stderr } = await project.call(['rules', 'standart'])
    expect([code, stderr]).toEqual([64, expect.stringContaining('did you mean standard?')])
  })
})
