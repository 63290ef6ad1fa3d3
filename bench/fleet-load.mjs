// What does loading the hooks of a fleet's policy cost, each file checked, over loading the same files of the user?

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { source } from '../scripts/source.mjs'
import { HOOKS, hooksOf, OF_AGE_MS } from './load.mjs'
import { cpuClock, race } from './measure.mjs'

const { hooksUnder } = await source('runtime.ts')
const { placeIn, putPolicy } = await source('../test/config/fleet-place.ts')

export async function bench() {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  try {
    const files = Object.fromEntries(
      Array.from({ length: HOOKS }, (_, i) => [`hooks/h${i}/hooks.json`, JSON.stringify(hooksOf(i))]),
    )
    for (const name of ['etc', 'none', 'project']) mkdirSync(join(root, name))
    putPolicy(root, { enforced: files })
    for (const [path, text] of Object.entries(files)) written(join(root, 'home', '.amplifier', path), text)
    const nothing = { path: join(root, 'none', 'policy'), owner: process.getuid?.() ?? 0 }
    const load = async (company, home) => {
      const options = { projectDir: join(root, 'project'), home: join(root, home), globals: false }
      const hooks = await hooksUnder(company, options)
      await hooks.close()
      return hooks
    }
    const ways = {
      fleet: () => load({ ...nothing, fleet: [placeIn(root)] }, 'none'),
      user: () => load(nothing, 'home'),
    }
    for (const [name, way] of Object.entries(ways)) {
      const { length } = (await way()).list()
      if (length < HOOKS) throw new Error(`${name}: only ${length} hooks were loaded`)
    }
    const young = await race(ways, { calls: 4, clock: cpuClock })
    await setTimeout(OF_AGE_MS)
    const known = await race(ways, { calls: 4, clock: cpuClock })
    const name = (when) => `load ${HOOKS} hooks of a fleet’s policy / the same files of the user, ${when}`
    return [
      young.row(name('just written'), 'fleet', 'user', { limit: 1.5 }),
      known.row(name('unchanged'), 'fleet', 'user', { limit: 1.5 }),
    ]
  } finally {
    rmSync(root, { recursive: true })
  }
}

function written(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
