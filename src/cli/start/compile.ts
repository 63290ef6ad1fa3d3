// Compiles the programs that a host starts for every event, for the Node that runs here: each is run once, and what was used is kept.

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { PackName } from '../../pack/names.js'
import { cacheFile, evaluated, scriptOf, sealed } from './compiled.js'
import { HOOK_PROGRAMS, type HookProgram, programOf } from './hook-programs.js'

/** What hosts ask most: commands, files, and what comes after them. What is rare would only make the others wait. */
const EVENTS: readonly (readonly [PackName, object])[] = [
  ['pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'cd src && git status | head -20' } }],
  ['pre-tool-use', { tool_name: 'Write', tool_input: { file_path: 'a.txt', content: 'a' } }],
  ['post-tool-use', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { stdout: 'a' } }],
  ['user-prompt-submit', { prompt: 'Ask the reviewer again.' }],
  ['workflow-classification-reminder', { prompt: 'Ask the reviewer again.' }],
]

/**
 * For a process of its own: it gets another home, so that nothing of the user's is read or written. Answers the file of
 * the program given; those of the programs beside it are beside it.
 */
export async function compileHooks(filename: string): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-compile-'))
  Object.assign(process.env, { HOME: home, CARABINER_HOME: join(home, 'carabiner') })
  try {
    for (const program of HOOK_PROGRAMS) await compile(join(dirname(filename), program), program, home)
    return cacheFile(filename)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function compile(filename: string, program: string, home: string): Promise<void> {
  const source = readFileSync(filename)
  const script = scriptOf(filename, source)
  const { runPackHook } = evaluated<HookProgram>(script, filename, createRequire(filename))
  for (const [name, event] of EVENTS.filter(([name]) => programOf(name) === program)) {
    const stdin = JSON.stringify({ session_id: 's', cwd: home, ...event })
    await runPackHook(name, { script: filename, version: '' }, { stdin, answered: () => undefined })
  }
  write(cacheFile(filename), sealed(script.createCachedData(), source))
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
