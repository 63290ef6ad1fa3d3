// What does a hook written with runHook cost from spawn to answer, over the bare start of Node?

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { race } from './measure.mjs'

const HOOK = `
  import { deny, runHook } from 'carabiner/author'
  runHook({ PreToolUse: ({ toolInput }) => (toolInput.command === 'rm -rf /' ? deny('Not that') : undefined) })
`
const input = JSON.stringify({
  hook_event_name: 'PreToolUse',
  session_id: 'bench',
  cwd: process.cwd(),
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf /' },
})
/** It costs Node 20 more than all the rest, and is none of a hook's. */
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const hook = join(folder, 'hook.cjs')
  await build({
    stdin: { contents: HOOK, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    outfile: hook,
    bundle: true,
    platform: 'node',
    target: 'node20',
    minify: true,
  })
  const run = (file, ...args) => spawnSync(file, args, { env, input, encoding: 'utf8' })
  const { status, stdout } = run(process.execPath, hook)
  if (status !== 2 || !stdout.includes('Not that')) throw new Error(`the hook did not answer: ${stdout}`)
  const us = await race(
    {
      node: () => run(process.execPath, '-e', '0'),
      hook: () => run(process.execPath, hook),
      bash: () => run('bash', '-c', 'true'),
    },
    { calls: 1 },
  )
  rmSync(folder, { recursive: true })
  return [
    row('a hook on runHook, spawn to answer / node -e 0', us.hook, us.node, 1.35),
    row('bash -c true / node -e 0', us.bash, us.node),
  ]
}

function row(name, value, baseline, limit) {
  return { name, unit: 'ms', value: value / 1000, baseline: baseline / 1000, limit }
}
