// A program of its own, beside the others: compiles them for the Node that runs it. Each is run once, and what was used is kept.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PackName } from '../../pack/names.js'
import { cacheFile, evaluated, scriptOf, sealed } from './compiled.js'
import {
  type CommandProgram,
  commandProgram,
  HOOK_PROGRAMS,
  type HookProgram,
  hookProgram,
} from './programs.js'

/** What hosts ask most: commands, files, and what comes after them. What is rare would only make the others wait. */
const EVENTS: readonly (readonly [PackName, object])[] = [
  ['pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'cd src && git status | head -20' } }],
  ['pre-tool-use', { tool_name: 'Write', tool_input: { file_path: 'a.txt', content: 'a' } }],
  ['post-tool-use', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { stdout: 'a' } }],
  ['user-prompt-submit', { prompt: 'Ask the reviewer again.' }],
  ['workflow-classification-reminder', { prompt: 'Ask the reviewer again.' }],
]

const HOOKS = JSON.stringify({
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh' }] }] },
})

const [, self = '', command] = process.argv
void (command === undefined ? compileAll() : keepWhatIsUsed(command))

/** With a home of its own, so that nothing of the user's is read or written. */
async function compileAll(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-compile-'))
  Object.assign(process.env, { HOME: home, CARABINER_HOME: join(home, 'carabiner') })
  try {
    for (const program of HOOK_PROGRAMS) await compileHooks(program, home)
    compileCommands(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function compileHooks(program: (typeof HOOK_PROGRAMS)[number], home: string): Promise<void> {
  const filename = join(__dirname, program)
  const source = readFileSync(filename)
  const script = scriptOf(filename, source)
  const { runPackHook } = evaluated<HookProgram>(script, filename, require)
  for (const [name, event] of EVENTS.filter(([name]) => hookProgram(name) === program)) {
    const stdin = JSON.stringify({ session_id: 's', cwd: home, ...event })
    await runPackHook(name, { script: filename, version: '' }, { stdin, answered: () => undefined })
  }
  write(cacheFile(filename), sealed(script.createCachedData(), source))
}

/** In a project with a plugin of its own that is trusted, and a hook of the user's. */
function compileCommands(home: string): void {
  const project = join(home, 'project')
  const payload = join(home, 'payload.json')
  for (const folder of [join(home, '.amplifier', 'hooks'), join(project, '.amplifier', 'hooks', 'check')]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'hooks.json'), HOOKS)
    writeFileSync(join(folder, 'check.sh'), '#!/bin/sh\n', { mode: 0o755 })
  }
  writeFileSync(
    payload,
    JSON.stringify({ session_id: 's', tool_name: 'Bash', tool_input: { command: 'ls' } }),
  )
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: project, stdio: 'ignore' })
  run(join(__dirname, 'carabiner.js'), 'trust', '--yes')
  run(self, 'fire', 'PreToolUse', '--payload', payload)
  run(self, 'list')
  run(self, 'explain', 'PreToolUse')
}

/** Runs the command line that this process was given, and ends it. */
async function keepWhatIsUsed(command: string): Promise<void> {
  const filename = join(__dirname, commandProgram(command))
  const source = readFileSync(filename)
  const script = scriptOf(filename, source)
  process.on('exit', () => write(cacheFile(filename), sealed(script.createCachedData(), source)))
  await evaluated<CommandProgram>(script, filename, require).start()
}

/** A hook may start at any moment: it finds all of it or nothing. */
function write(path: string, content: Buffer): void {
  const draft = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(draft, content)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
