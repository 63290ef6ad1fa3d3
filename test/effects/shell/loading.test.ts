// The command parser is loaded only when needed: these tests take it away.

import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { Project, programFile, withProgram } from '../../cli/program.js'

withProgram('own')

const returned: (() => void)[] = []
afterEach(() => {
  for (const giveBack of returned.splice(0)) giveBack()
})

/** Removes these files from the bundled program until the test ends. */
function without(...names: readonly string[]): void {
  for (const name of names) {
    const file = join(dirname(programFile()), name)
    renameSync(file, `${file}.away`)
    returned.push(() => renameSync(`${file}.away`, file))
  }
}

/** The output when a hook with this `if` denies a Bash call. */
async function fired(rule: string | undefined, text: string): Promise<string> {
  const project = new Project()
  returned.push(() => project.remove())
  const entry = { type: 'command', command: 'echo seen >&2; exit 2', if: rule }
  project.file('.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks: [entry] }] } })
  const input = { session_id: 's', cwd: project.folder, tool_name: 'Bash', tool_input: { command: text } }
  const { stdout, stderr } = await project.carabiner(['fire', 'PreToolUse', '--trust-all'], { input })
  return stdout + stderr
}

it('a program without an "if" needs no parser, and without a pattern no engine for it', async () => {
  without('unbash.cjs', 're2js.cjs')
  expect(await fired(undefined, 'git status')).toContain('denied: seen')
})

it('a program with an "if" for another tool needs no parser', async () => {
  without('unbash.cjs')
  expect(await fired('Write(src/**)', 'git status')).toContain('skipped: if')
})

it('a program with an "if" for a command has it', async () => {
  expect(await fired('Bash(git *)', 'git status')).toContain('denied: seen')
  expect(await fired('Bash(git *)', 'echo "git"')).toContain('skipped: if')
})
