// A separate process that installs, replaces or removes a plugin, and ends itself at a given step as kill -9 does.

import { appendFileSync, readFileSync } from 'node:fs'
import { resolveSource } from '../../src/plugins/catalog/resolve.js'
import {
  installPrepared,
  type PreparedPlugin,
  preparePlugin,
  trustInstalled,
} from '../../src/plugins/install-plugin.js'
import { uninstallPlugin } from '../../src/plugins/placing.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { prepareUpdate } from '../../src/plugins/update-plugin.js'
import { trustStore } from '../../src/trust/trust-store.js'

const [what, base, source = '', at = '', name = 'guard'] = process.argv.slice(2)
const target = { scope: 'project' as const, base: base as string }
const log = process.env.STEPS
const steps: string[] = []
const step = (one: string) => {
  steps.push(one)
  if (log !== undefined) appendFileSync(log, `${name} ${one}\n`)
  if (one === at) process.kill(process.pid, 'SIGKILL')
  if (one === process.env.LINGER) linger()
}

/** Gives another process time to interfere. */
function linger(): void {
  const until = Date.now() + 1000
  const isAlone = () =>
    readFileSync(log as string, 'utf8')
      .split('\n')
      .every((line) => line === '' || line.startsWith(`${name} `))
  while (Date.now() < until && isAlone()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
}

/** Acts for somebody who has seen it and agrees. */
async function finish(prepared: PreparedPlugin, replaces: string | undefined): Promise<void> {
  const { digest } = trustStore().look(prepared.staged.unit)
  prepared.staged.remove()
  await installPrepared(prepared, target, { replaces, step })
  await trustInstalled(prepared.name, target, digest)
  step('trusted')
}

if (what === 'install') {
  const prepared = await preparePlugin(await resolveSource(parseSource(source)), target, name)
  await finish(prepared, undefined)
} else if (what === 'update') {
  const { prepared, current } = await prepareUpdate('guard', target)
  await finish(prepared, current)
} else await uninstallPlugin('guard', target, step)
process.stdout.write(JSON.stringify(steps))
