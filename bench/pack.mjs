// What does a host wait for a hook of the pack, from spawn to answer, over starting node for nothing?

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { race } from './measure.mjs'

const SCRIPT = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))
const BASH = { tool_name: 'Bash', tool_input: { command: 'cd src && git status --short | head -20' } }
const PAYLOADS = {
  'pre-tool-use': { hook_event_name: 'PreToolUse', ...BASH },
  'post-tool-use': { hook_event_name: 'PostToolUse', ...BASH, tool_response: { stdout: 'M a' } },
  'user-prompt-submit': { hook_event_name: 'UserPromptSubmit', prompt: 'Ask the reviewer again.' },
}

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const env = { ...rest, HOME: folder, CARABINER_HOME: join(folder, 'carabiner') }
  const started = (program, args, input) => () => answerOf(program, args, input, { cwd: folder, env })
  const hooks = Object.entries(PAYLOADS).map(([name, payload]) => [
    name,
    started(
      process.execPath,
      [SCRIPT, 'hook', name],
      JSON.stringify({ session_id: 's', cwd: folder, ...payload }),
    ),
  ])
  const us = await race(
    {
      node: started(process.execPath, ['-e', '0'], ''),
      bash: started('bash', ['-c', 'true'], ''),
      ...Object.fromEntries(hooks),
    },
    { calls: 1 },
  )
  rmSync(folder, { recursive: true })
  return [
    ...hooks.map(([name]) => row(`carabiner hook ${name} / node -e 0`, us[name], us.node, 1.6)),
    row('bash -c true / node -e 0', us.bash, us.node),
  ]
}

function answerOf(program, args, input, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdout.resume()
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${args.join(' ')}: exit ${code}`)),
    )
    // Who needs no input ends before it is written.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

function row(name, value, baseline, limit) {
  return { name, unit: 'ms', value: value / 1000, baseline: baseline / 1000, limit }
}
