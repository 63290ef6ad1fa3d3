// amplihack's pre-tool-use, behaviour by behaviour: its own tests' list. ≠ marks where the rules here are others; the test then
// checks ours.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseHookInput } from '../../src/author/hook-input.js'
import { GuardedProject, verdictOf } from '../pack/pre-tool-use/guarded-project.js'

const project = new GuardedProject()
beforeAll(() => {
  project.git('feature')
  project.file('.claude/agents/reviewer.md')
  project.file('.claude/agents/both.md')
  project.file('.claude/skills/both/SKILL.md')
})
afterAll(() => project.remove())

const bash = (command: string) => ({
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command },
})
const judged = async (payload: object) =>
  verdictOf(await project.answer(parseHookInput(JSON.stringify({ cwd: project.folder, ...payload }))))

describe('commands', () => {
  test.each([
    'ls -la',
    'git status',
    'npm test',
    'cat README.md',
    'git commit -m "x"',
    'git push origin feature',
  ])('safe: %s', async (command) => {
    expect(await judged(bash(command))).toBe('none')
  })

  test.each(['commit', 'push', 'rebase', 'merge', 'cherry-pick', 'am'])(
    'git %s --no-verify',
    async (verb) => {
      expect(await judged(bash(`git ${verb} --no-verify x`))).toBe('deny')
      expect(await judged(bash(`GIT_DIR=.git git ${verb} --no-verify x`))).toBe('deny')
      expect(await judged(bash(`env A=1 B=2 git ${verb} --no-verify x`))).toBe('deny')
    },
  )

  test.each([
    'rm -rf .',
    'rm -r ..',
    'rmdir .',
    'mv . ../x',
    'rm -rf "$DIR"',
    'rm -rf $(cat x)',
    'rm -rf `cat x`',
  ])('%s', async (command) => {
    expect(await judged(bash(command))).toBe('deny')
  })

  test('a commit on a feature branch, and one on a protected branch', async () => {
    expect(await judged(bash('git commit -m x'))).toBe('none')
    project.run('git', ['branch', 'main'])
    project.run('git', ['symbolic-ref', 'HEAD', 'refs/heads/main'])
    expect(await judged(bash('git commit -m x'))).toBe('deny')
    project.run('git', ['symbolic-ref', 'HEAD', 'refs/heads/feature'])
  })
})

describe('payloads', () => {
  const command = 'git commit --no-verify -m x'

  test.each([
    { hookEventName: 'PreToolUse', toolName: 'Bash', toolInput: { command } },
    { hookEventName: 'preToolUse', toolName: 'Bash', toolArgs: { command } },
    { hookEventName: 'preToolUse', toolName: 'Bash', toolArgs: JSON.stringify({ command }) },
  ])('camelCase and toolArgs: %j', async (payload) => {
    expect(await judged(payload)).toBe('deny')
  })

  test('≠ the shell tool by any name: there only "Bash" is guarded, and Copilot calls it "bash"', async () => {
    const payload = { hookEventName: 'preToolUse', toolName: 'bash', toolArgs: JSON.stringify({ command }) }
    expect(await judged(payload)).toBe('deny')
  })

  test('another tool is none of its business', async () => {
    const read = { hook_event_name: 'PreToolUse', tool_name: 'Read', tool_input: { file_path: 'x' } }
    expect(await judged(read)).toBe('none')
  })

  test('an unknown event, and one of another kind', async () => {
    expect(await judged({ hook_event_name: 'FutureEvent', tool_input: { command } })).toBe('none')
    expect(await judged({ hook_event_name: 'Stop' })).toBe('none')
  })

  test('an empty input', async () => {
    expect(await judged({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {} })).toBe('none')
  })
})

describe('skills', () => {
  const skill = (input: unknown) =>
    judged({ hook_event_name: 'PreToolUse', tool_name: 'Skill', tool_input: input as object })

  test('one that is an agent is sent there', async () => {
    expect(await skill({ skill: 'reviewer' })).toBe('deny')
    const answer = await project.tool('Skill', { skill: 'reviewer' })
    expect(answer?.reason).toMatch(/is an agent, not a skill.*Task.*reviewer/)
  })

  test.each([
    ['that there is', { skill: 'both' }],
    ['that is neither', { skill: 'nothing' }],
    ['without a name', {}],
    ['with a number for a name', { skill: 7 }],
    ['with a path for a name', { skill: '../agents/reviewer' }],
    ['that is no object', ['reviewer']],
    ['that is null', null],
  ])('one %s is left alone', async (_, input) => {
    expect(await skill(input)).toBe('none')
  })
})

test('it changes no file', async () => {
  const before = picture(project.root)
  for (const command of [
    'rm -rf .',
    'echo x > .claude/settings.json',
    'git commit -m x',
    'find . -name a -delete',
  ]) {
    await judged(bash(command))
  }
  expect(picture(project.root)).toEqual(before)
})

function picture(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const stats = statSync(join(folder, name))
    return `${name} ${stats.mtimeMs} ${stats.isFile() ? readFileSync(join(folder, name), 'hex') : ''}`
  })
}
