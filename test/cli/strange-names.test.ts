// Folders with names that would make up lines, or hide what they are: every command shows them as they are.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASH, Project, withProgram } from './program.js'

withProgram()

const NAME = 'x\nFORGED\u001b[31m\u202edcba'
const PATH = '.amplifier/hooks/x⟨U+000A⟩FORGED⟨U+001B⟩[31m⟨U+202E⟩dcba'

let project: Project
beforeAll(() => {
  project = new Project()
  const hooks = [{ type: 'command', command: './none.sh' }]
  project.file(`.amplifier/hooks/${NAME}/hooks.json`, {
    hooks: { PreToolUse: [{ hooks }], Stopp: [{ hooks }] },
  })
})
afterAll(() => project.remove())

describe.each([
  ['list', ['list']],
  ['explain', ['explain', 'PreToolUse', '--tool', 'Bash']],
  ['doctor', ['doctor']],
  ['the bare carabiner', []],
  ['fire', ['fire', 'PreToolUse']],
])('%s', (_, args) => {
  it.each([[[]], [['--trust-all']]])('%j shows the path, and no line of its own', async (more) => {
    const { stdout } = await project.call([...args, ...more], { input: BASH, env: { COLUMNS: '400' } })
    expect(stdout).toContain(PATH)
    expect(stdout).not.toMatch(/^\s*FORGED/m)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })
})
