// What does importing each entry of the library cost, over the bare start of Node?

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { race } from './measure.mjs'

/** Entry by the most that it may cost. */
const LIMITS = { carabiner: 3.5, 'carabiner/core': 2.2, 'carabiner/author': 1.8 }
/** Node 20 reads it at every start, which is no part of the question. */
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
const cwd = fileURLToPath(new URL('..', import.meta.url))

export async function bench() {
  const us = await race(
    {
      node: () => run('0'),
      ...Object.fromEntries(Object.keys(LIMITS).map((entry) => [entry, () => run(`import '${entry}'`)])),
    },
    { calls: 1 },
  )
  return Object.entries(LIMITS).map(([entry, limit]) => ({
    name: `import '${entry}' / node -e 0`,
    unit: 'ms',
    value: us[entry] / 1000,
    baseline: us.node / 1000,
    limit,
  }))
}

function run(code) {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd, env })
  if (status !== 0) throw new Error(`it does not run: ${stderr}`)
}
