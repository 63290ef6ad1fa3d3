import { afterEach, beforeEach, expect, it } from 'vitest'
import { inProcess } from './in-process.js'
import { BASH, GUARD, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

it.each([
  [['list']],
  [['list', '--json']],
  [['help']],
  [['fire', '--help']],
  [['lst', '--json']],
  [['audit', 'show', '7']],
])('%j says the same as in a process of its own', async (args) => {
  project.hooks({ PreToolUse: [['Bash', GUARD]] })
  expect(await inProcess(project, args)).toEqual(await project.carabiner(args))
})

it('a payload comes from the text that is given', async () => {
  project.hooks({ PreToolUse: [['Bash', GUARD]] })
  const { code, stdout } = await inProcess(project, ['fire', 'PreToolUse', '--trust-all', '--json'], {
    input: BASH,
  })
  expect([code, JSON.parse(stdout).action]).toEqual([2, 'deny'])
})

it('a hook of the pack answers, and the process goes on', async () => {
  const { code, stdout, stderr } = await inProcess(project, ['hook', 'workflow-classification-reminder'], {
    input: { prompt: 'Fix it' },
  })
  expect(code).toBe(0)
  expect(stdout).not.toBe('')
  expect(stderr).toContain('workflow-classification-reminder')
})
