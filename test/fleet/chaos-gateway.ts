// A gateway in the chaos, on a port that stays the same when it is started again.

import { openDatabase } from '../../src/fleet/database/connection.js'
import { Bells } from '../../src/fleet/gateway/bells.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { listen } from '../../src/fleet/gateway/listener.js'

const [url = '', org = '', port = '0'] = process.argv.slice(2)
const database = await openDatabase({ url, org })
const bells = new Bells()
void bells.listen(database, 1, new AbortController().signal)
const listening = await listen({ host: '127.0.0.1', port: Number(port) }, gateway({ database, bells }))
console.log(listening.url)
