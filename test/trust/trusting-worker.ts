// A separate process: `worker PROJECT` trusts everything in the project.

import { loadConfig } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import { trustStore } from '../../src/trust/trust-store.js'

const [projectDir = ''] = process.argv.slice(2)
const { specs } = await loadConfig({ projectDir })
const store = trustStore()
console.log('begins')
for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
