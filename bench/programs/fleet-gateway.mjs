// The gateway of a fleet, as `carabiner fleet serve` runs it: node fleet-gateway.mjs DATABASE ORG. Prints its address.

import { source } from '../../scripts/source.mjs'

const { openDatabase } = await source('fleet/database/connection.ts')
const { Bells } = await source('fleet/gateway/bells.ts')
const { gateway } = await source('fleet/gateway/gateway.ts')
const { listen } = await source('fleet/gateway/listener.ts')

const [url, org] = process.argv.slice(2)
const database = await openDatabase({ url, org })
const [row] = await database.rows('select fleet.own_org() as org')
const bells = new Bells()
void bells.listen(database, row.org, new AbortController().signal)
const onTrouble = (text) => console.error(text)
const listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database, bells, onTrouble }))
console.log(listening.url)
