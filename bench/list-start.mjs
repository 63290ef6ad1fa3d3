// What does somebody wait for `carabiner list`, from spawn to exit, over starting node for nothing?

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { race } from './measure.mjs'

const CARABINER = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const project = join(folder, 'project')
  addPlugin(join(project, '.amplifier', 'hooks', 'guard'), 'PreToolUse')
  addPlugin(join(project, '.amplifier', 'hooks', 'notes'), 'PostToolUse')
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const env = { ...rest, HOME: folder, CARABINER_HOME: join(folder, 'carabiner') }
  const run = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: project,
      env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${args.join(' ')}: exit ${status}: ${stderr}`)
    return stdout
  }
  const untrusted = run(CARABINER, 'list')
  if (!untrusted.includes('2 hooks: 2 untrusted')) throw new Error(untrusted)
  run(CARABINER, 'trust', '--yes')
  const trusted = run(CARABINER, 'list')
  if (!trusted.includes('2 hooks: 2 ready')) throw new Error(trusted)
  const us = await race(
    {
      node: () => run('-e', '0'),
      list: () => run(CARABINER, 'list'),
      explain: () => run(CARABINER, 'explain', 'Stop'),
    },
    { calls: 1 },
  )
  rmSync(folder, { recursive: true })
  return [
    row('carabiner list / node -e 0', us.list, us.node, 2),
    row('carabiner explain / node -e 0', us.explain, us.node),
  ]
}

function addPlugin(folder, event) {
  const command = `\${CLAUDE_PLUGIN_ROOT}/check.sh`
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'check.sh'), '#!/bin/sh\nexit 0\n')
  chmodSync(join(folder, 'check.sh'), 0o755)
  const hooks = { [event]: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] }
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks }))
}

function row(name, value, baseline, limit) {
  return { name, unit: 'ms', value: value / 1000, baseline: baseline / 1000, limit }
}
