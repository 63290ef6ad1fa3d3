// A separate process: `worker ROOT` trusts the plugin of the project in ROOT, and prints the result of each step.

import { textOf } from '../../src/core/base/errors.js'
import { trustStore } from '../../src/trust/trust-store.js'
import type { Unit } from '../../src/trust/unit.js'

const [root = ''] = process.argv.slice(2)
const projectDir = `${root}/project`
const unit: Unit = {
  kind: 'folder',
  path: `${projectDir}/plugins/guard`,
  name: 'guard',
  projectDir,
  hooks: [],
}
const store = trustStore({ dataDir: `${root}/data` })

const steps: Readonly<Record<string, () => unknown>> = {
  standing: () => store.standingOf(unit).state,
  look: () => store.look(unit).problems,
  trust: () => store.trust(unit, store.look(unit).digest).name,
  after: () => store.standingOf(unit).state,
  records: () => store.records().length,
  untrust: () => store.untrust(unit),
}

for (const [name, step] of Object.entries(steps)) {
  try {
    console.log(`${name}: ${JSON.stringify(step())}`)
  } catch (error) {
    console.log(`${name} failed: ${textOf(error)}`)
  }
}
