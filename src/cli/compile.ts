// Compiles the program that a host starts for every event, for the Node that runs here: it is run once, and what was used is kept.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Script } from 'node:vm'
import type { PackName } from '../pack/names.js'
import { cacheFile, evaluated, sealed, sourceOf } from './compiled.js'

/** What hosts ask most: commands, files, and what comes after them. */
const EVENTS: readonly (readonly [PackName, object])[] = [
  ['pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'cd src && git status | head -20' } }],
  ['pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'rm -rf "$HOME" && sudo sh -c "id > b"' } }],
  ['pre-tool-use', { tool_name: 'Write', tool_input: { file_path: 'a.txt', content: 'a' } }],
  ['post-tool-use', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { stdout: 'a' } }],
  ['user-prompt-submit', { prompt: 'Ask the reviewer again.' }],
  ['workflow-classification-reminder', { prompt: 'Ask the reviewer again.' }],
]

/** For a process of its own: it gets another home, so that nothing of the user's is read or written. Answers the file. */
export async function compileHooks(filename: string): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-compile-'))
  Object.assign(process.env, { HOME: home, CARABINER_HOME: join(home, 'carabiner') })
  try {
    const source = sourceOf(filename)
    const script = new Script(source, { filename })
    const { runPackHook } = evaluated<typeof import('./hook-program.js')>(
      script,
      filename,
      createRequire(filename),
    )
    for (const [name, event] of EVENTS) {
      const stdin = JSON.stringify({ session_id: 's', cwd: home, ...event })
      await runPackHook(name, { script: filename, version: '' }, { stdin, answered: () => undefined })
    }
    return written(cacheFile(filename), sealed(script.createCachedData(), source))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** A hook may start at any moment: it finds all of it or nothing. */
function written(path: string, content: Buffer): string {
  const draft = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(draft, content)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  return path
}
