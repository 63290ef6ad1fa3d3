// A separate process that updates a trusted plugin as often as it is told, and ends itself at a given step.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPrepared, trustInstalled } from '../../src/plugins/install-plugin.js'
import { prepareUpdate } from '../../src/plugins/update-plugin.js'
import { trustStore } from '../../src/trust/trust-store.js'

const [base = '', source = '', times = '1', at = ''] = process.argv.slice(2)
const HOOKS = join(source, 'hooks', 'hooks.json')
const written = readFileSync(HOOKS, 'utf8')
const target = { scope: 'project' as const, base }
const steps: string[] = []
const step = (one: string) => {
  steps.push(one)
  if (one === at) process.kill(process.pid, 'SIGKILL')
}
for (let i = 0; i < Number(times); i++) {
  writeFileSync(join(source, 'guard.sh'), `#!/bin/sh\necho version ${i}\n`)
  // Every other time the hook changes too.
  if (i % 2 === 0) writeFileSync(HOOKS, written.replace('"type"', `"timeout": ${i + 5}, "type"`))
  const { prepared, current: replaces } = await prepareUpdate('guard', target)
  const agreed = trustStore().look(prepared.staged.unit).digest
  await installPrepared(prepared, target, { replaces, agreed, step })
  await trustInstalled('guard', target, agreed)
  step('trusted')
  prepared.staged.remove()
}
process.stdout.write(JSON.stringify(steps))
