// A program of which a file is missing or damaged: what guards is closed, what only helps is not in the way.

import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_PROGRAMS, HOOK_PROGRAMS } from '../../src/cli/start/programs.js'
import { BASH, Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
let bin: string
beforeEach(() => {
  project = new Project()
  bin = join(project.base, 'bin')
  cpSync(dirname(programFile()), bin, { recursive: true })
})
afterEach(() => project.remove())

const carabiner = (...args: readonly string[]) =>
  project.run(process.execPath, [join(bin, 'carabiner.js'), ...args], {
    input: { hook_event_name: 'PreToolUse', ...BASH },
  })

const ONE_LINE = /^carabiner cannot start: [^\n]+\n$/

describe.each<[string, (file: string) => void]>([
  ['missing', (file) => rmSync(file)],
  ['damaged', (file) => writeFileSync(file, '(function ( {')],
])('the hooks are %s', (_, breakIt) => {
  beforeEach(() => {
    for (const program of HOOK_PROGRAMS) breakIt(join(bin, program))
  })

  it('the guard refuses', async () => {
    const { code, stdout, stderr } = await carabiner('hook', 'pre-tool-use')
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(ONE_LINE)])
  })

  it.each(['stop', 'session-start'])('%s goes on, and says so', async (name) => {
    const { code, stdout, stderr } = await carabiner('hook', name)
    expect([code, stderr]).toEqual([0, expect.stringMatching(ONE_LINE)])
    expect(JSON.parse(stdout)).toEqual({ systemMessage: stderr.trim() })
  })
})

it('the guard refuses where it finds the file of the other hooks in place of its own', async () => {
  const [guard, others] = HOOK_PROGRAMS
  cpSync(join(bin, others), join(bin, guard))
  const { code, stdout, stderr } = await carabiner('hook', 'pre-tool-use')
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(ONE_LINE)])
})

it('the commands are missing: an agent is refused, a person is told', async () => {
  for (const program of COMMAND_PROGRAMS) rmSync(join(bin, program))
  const refused = await carabiner('fire', '--as', 'claude-code')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(ONE_LINE)])
  for (const command of ['fire', 'list', 'doctor'])
    expect(await carabiner(command)).toMatchObject({ code: 1, stderr: expect.stringMatching(ONE_LINE) })
})
