// Runs every program once, as it is used most, so that each keeps its compiled code (src/cli/start/compiled.ts).

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const HOOKS = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh' }] }] }
const CALL = {
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'cd src && git status | head -20' },
}

/** In a project with a plugin that is trusted, and a home with a hook of the user's. @param {string} carabiner */
export function runOnce(carabiner) {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-once-'))
  const project = join(home, 'project')
  for (const folder of [join(home, '.amplifier', 'hooks'), join(project, '.amplifier', 'hooks', 'check')]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks: HOOKS }))
    writeFileSync(join(folder, 'check.sh'), '#!/bin/sh\n', { mode: 0o755 })
  }
  // Nothing of the shell that builds: an agent's may trust nothing.
  const env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: join(home, 'carabiner') }
  const run = (/** @type {string[]} */ args, /** @type {object} */ more = {}) =>
    spawnSync(process.execPath, [carabiner, ...args], {
      cwd: project,
      env,
      input: JSON.stringify({ cwd: project, ...CALL, ...more }),
    })
  try {
    run(['explain', 'PreToolUse', '--tool', 'Bash'])
    run(['trust', '--yes'])
    run(['list'])
    run(['fire', 'PreToolUse'])
    run(['hook', 'pre-tool-use'])
    run(['hook', 'post-tool-use'], { tool_response: { stdout: 'a' } })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
