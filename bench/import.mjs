// What does importing each entry of the library cost, over an empty module? Processor time counts.

import { fileURLToPath } from 'node:url'
import { childClock, race, timedSpawn } from './measure.mjs'

/** Entry by the milliseconds that it may cost. */
const LIMITS = { carabiner: 60, 'carabiner/core': 30, 'carabiner/author': 12 }
/** Node 20 reads it at every start, which is no part of the question. */
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
const cwd = fileURLToPath(new URL('..', import.meta.url))

export async function bench() {
  const rounds = await race(
    {
      empty: () => run("import './bench/programs/empty.mjs'"),
      ...Object.fromEntries(Object.keys(LIMITS).map((entry) => [entry, () => run(`import '${entry}'`)])),
    },
    { calls: 1, clock: childClock },
  )
  return Object.entries(LIMITS).map(([entry, ms]) =>
    rounds.row(`import '${entry}', over an empty module / ${ms} ms`, entry, ms * 1000, {
      over: 'empty',
      limit: 1,
    }),
  )
}

function run(code) {
  const { status, stderr } = timedSpawn(process.execPath, ['--input-type=module', '-e', code], { cwd, env })
  if (status !== 0) throw new Error(`it does not run: ${stderr}`)
}
