// An agent that has a terminal of its own: it sees the review, and no answer of it counts.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()
let project: Project
beforeEach(() => {
  project = new Project()
  plugin('exit 0')
})
afterEach(() => project.remove())

function plugin(line: string): void {
  const command = `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"`
  project.file('../guard/hooks.json', { hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
  project.file('../guard/guard.sh', `#!/bin/sh\n${line}\n`, 0o755)
}

const env = { CLAUDECODE: '1', NO_COLOR: '1' }
const person = (...args: readonly string[]) => project.carabiner(args)
const HERE = '.amplifier/hooks/guard'

/** Whatever it types: the command is refused, and says why. */
async function refused(...args: readonly string[]): Promise<string> {
  const { code, stdout } = await project.onTerminal(args, { input: 'y\ny\n', env, columns: 200 })
  expect([code, stdout]).toEqual([1, expect.stringContaining('is for a person, but CLAUDECODE says')])
  expect(stdout).not.toContain('[y/N]')
  const sure = await project.carabiner([...args, '--yes'], { env })
  expect([sure.code, sure.stderr]).toEqual([1, expect.stringContaining('is for a person')])
  return stdout
}

it.each([[[]], [['--here']]])('install %j', async (scope) => {
  expect(await refused('install', '../guard', ...scope)).toContain('guard: 1 hook, 2 files')
  expect(project.has(HERE)).toBe(false)
  expect(existsSync(join(project.home, HERE))).toBe(false)
})

it('install of what is there, and is not trusted', async () => {
  await person('install', '../guard', '--here', '--no-trust', '--yes')
  await refused('install', '../guard', '--here')
  expect((await person('list')).stdout).toContain('untrusted')
})

it('update', async () => {
  await person('install', '../guard', '--yes')
  plugin('exit 2')
  expect(await refused('update')).toContain('+exit 2')
  expect((await person('update', '--check')).code).toBe(1)
})

it('update from a source that a project names', async () => {
  await person('install', '../guard', '--here', '--no-trust', '--yes')
  expect(await refused('update', '--here')).toContain('You do not trust it as it is in this project')
})

it('uninstall', async () => {
  project.file(`${HERE}/hooks.json`, { hooks: {} })
  await refused('uninstall', 'guard')
  expect(project.has(HERE)).toBe(true)
})

it.each([[[]], [['--user']]])('migrate PLUGIN %j', async (scope) => {
  expect(await refused('migrate', '../guard', '--write', ...scope)).toContain('guard: 1 hook, 2 files')
  expect(project.has(HERE)).toBe(false)
  expect(existsSync(join(project.home, HERE))).toBe(false)
})

it('trust', async () => {
  await person('install', '../guard', '--here', '--no-trust', '--yes')
  await refused('trust', 'guard')
  expect((await person('list')).stdout).toContain('untrusted')
})

it('migrate --remove-source, which takes gates out of the files that are read now', async () => {
  const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'exit 0' }] }] }
  project.file('.claude/settings.json', { hooks })
  const { code, stderr } = await project.carabiner(['migrate', '--write', '--remove-source'], { env })
  expect([code, stderr]).toEqual([1, expect.stringContaining('is for a person')])
  expect(JSON.parse(project.read('.claude/settings.json'))).toEqual({ hooks })
})
