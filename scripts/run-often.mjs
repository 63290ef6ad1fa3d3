// Runs every program in its most common way until its compiled code is cached (KEEPING_RUNS in src/cli/start/compiled.ts).

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const HOOKS = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh' }] }] }
const CALL = {
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'cd src && git status | head -20' },
}

const WRITE = { tool_name: 'Write', tool_input: { file_path: 'a.txt', content: 'a' } }
const AFTER = { tool_response: { stdout: 'a' }, prompt: 'Ask the reviewer again.' }

/** Uses a project with a trusted plugin, and a home with a user hook. @param {string} carabiner */
export function runOften(carabiner) {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-once-'))
  const project = join(home, 'project')
  for (const folder of [join(home, '.amplifier', 'hooks'), join(project, '.amplifier', 'hooks', 'check')]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks: HOOKS }))
    writeFileSync(join(folder, 'check.sh'), '#!/bin/sh\n', { mode: 0o755 })
  }
  // A clean environment: in an agent's shell, nothing can be trusted.
  const env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: join(home, 'carabiner') }
  const run = (/** @type {string[]} */ args, /** @type {object} */ more = {}) =>
    spawnSync(process.execPath, [carabiner, ...args], {
      cwd: project,
      env,
      input: JSON.stringify({ cwd: project, ...CALL, ...more }),
    })
  try {
    run(['trust', '--yes'])
    for (const tool of ['Bash', 'Write']) run(['explain', 'PreToolUse', '--tool', tool])
    for (let i = 0; i < 3; i++) {
      run(['list'])
      run(['service', 'run', home, 'none']) // It ends at once, because nobody holds its lock.
      run(i === 1 ? ['fire', 'PreToolUse'] : ['fire', '--as', 'claude-code'], {
        hook_event_name: 'PreToolUse',
      })
      run(['fleet', 'serve']) // It ends at once, because no database is named.
      run(['hook', 'pre-tool-use'], i === 1 ? WRITE : {})
      run(['hook', i === 1 ? 'user-prompt-submit' : 'post-tool-use'], AFTER)
    }
  } finally {
    spawnSync('chmod', ['-R', 'u+w', home]) // Trusted copies are read-only, which stops everybody but root.
    rmSync(home, { recursive: true, force: true })
  }
  const files = readdirSync(dirname(carabiner))
  for (const program of files.filter((name) => name.endsWith('-program.js'))) {
    if (!files.some((name) => name.startsWith(`${program}.`))) throw new Error(`${program} does not run`)
  }
}
