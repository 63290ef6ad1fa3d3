// What does a fleet cost: records through the gateway over COPY into the same table, a new policy for all machines over one
// poll of each, and an event on a machine that is in a fleet?

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import { source } from '../scripts/source.mjs'
import { cpuOf, ORG, opened, PROGRAM, processesOf, run, withFleet } from './fleet-scene.mjs'
import { childClock, cpuClock, quick, race, timedSpawn } from './measure.mjs'
import { record } from './records.mjs'

const { chained, START, textOfEntry } = await source('store/audit/chain.ts')
/** With the key that signs the policy. */
const scene = await source('../test/fleet/policy-scene.ts')
const { addedMembers, joined, numbered, ONE_RING, publish, ROOT } = scene
const { newKeyPair } = await source('files/ed25519.ts')
const { signedPeople } = await source('files/fleet/people.ts')
const { addPeople } = await source('fleet/database/people.ts')
const { clientOf } = await source('fleet/machine/joining.ts')
const { fetchPeople } = await source('fleet/machine/people.ts')
const { fetchPolicy } = await source('fleet/machine/policy.ts')
const { signedHeader } = await source('fleet/signed-request.ts')
const { BATCH, ROUTES } = await source('fleet/protocol.ts')

/** As many as a gateway has. */
const CONNECTIONS = 4
const MACHINES = quick ? 2 : 8
/** A machine sends so many batches in one call. */
const BATCHES = 2

export function bench() {
  return withFleet({}, async ({ root, server, fleet, gateway }) => {
    const member = await joined(fleet, gateway.url, join(root, 'member'), 'bench')
    const clock = () => cpuClock() + cpuOf(gateway.pid) + cpuOfServer(server)
    return [
      ...(await audit(fleet, gateway.url, member, clock)),
      ...(await policies(root, fleet, gateway.url, clock)),
      ...(await firing(root, fleet, gateway.url)),
    ]
  })
}

function cpuOfServer(server) {
  const [first, ...backends] = processesOf(server)
  return backends.reduce((sum, pid) => sum + cpuOf(pid), cpuOf(first, true))
}

// ---- records --------------------------------------------------------------------------------------------------

/**
 * The same records on both ways, in the same batches, each a transaction, over as many connections. Processor time is that of
 * whoever sends, of the gateway and of the database: how many of them run at once is up to the administrator.
 */
async function audit(fleet, url, member, clock) {
  const batches = madeBatches()
  const copying = await Copying.open(fleet.owner, batches)
  const agent = new Agent({ keepAlive: true, maxSockets: MACHINES })
  const ship = async () => {
    const log = randomBytes(16).toString('hex')
    for (const body of batches) await sent(agent, url, member, `log=${log}&epoch=1`, body)
  }
  const ways = { gateway: () => times(MACHINES, ship), copy: () => times(MACHINES, () => copying.copy()) }
  try {
    const computed = await race(ways, { calls: 1, clock, most: 15 })
    const passed = await race(ways, { calls: 1, most: 15 })
    const name = 'of records through the gateway / COPY into the same table'
    return [
      computed.row(`processor time ${name}`, 'gateway', 'copy', { limit: 2.5 }),
      passed.row(`time ${name}`, 'gateway', 'copy', { limit: 2.5 }),
    ]
  } finally {
    agent.destroy()
    await copying.close()
  }
}

async function times(count, work) {
  await Promise.all(Array.from({ length: count }, work))
}

/** As large as a machine makes them. */
function madeBatches() {
  const batches = []
  let [before, next] = [START, 0]
  for (let batch = 0; batch < BATCHES; batch++) {
    const texts = []
    for (let bytes = 0; texts.length < BATCH.lines && bytes < BATCH.bytes; bytes += texts.at(-1).length + 160)
      texts.push(textOfEntry(record(next++)))
    const { bytes, last } = chained(texts, before)
    batches.push(Buffer.from(bytes))
    before = last
  }
  return batches
}

/** Rejects unless the gateway has added the records. */
function sent(agent, url, member, query, body) {
  const { method, path: route } = ROUTES.append
  const path = `${route}?${query}`
  const authorization = signedHeader({ method, path, body }, member, Date.now())
  return new Promise((resolve, reject) => {
    const asking = request(`${url}${path}`, {
      ...{ method, agent },
      headers: { authorization, 'content-length': body.length },
    })
    asking.on('error', reject)
    asking.on('response', async (response) => {
      let answer = ''
      for await (const part of response) answer += part
      if (JSON.parse(answer).status === 'added') resolve(undefined)
      else reject(new Error(answer))
    })
    asking.end(body)
  })
}

/** COPY of the rows that the gateway would make of these batches. The chain is a default, so that the text stays the same. */
class Copying {
  #pool
  #texts
  #chain = 1_000_000_000

  static async open(owner, batches) {
    await run(owner, [
      `alter table fleet.record alter chain set default nullif(current_setting('bench.chain', true), '')::bigint`,
    ])
    const [{ org }] = await run(owner, [`select org from fleet.org where name = '${ORG}'`])
    const copying = new Copying()
    copying.#pool = new pg.Pool({ connectionString: owner, max: CONNECTIONS })
    copying.#texts = batches.map((batch) => Buffer.from(rowsOf(batch, org)))
    return copying
  }

  async copy() {
    const chain = this.#chain++
    const client = await this.#pool.connect()
    try {
      await client.query(`set bench.chain = ${chain}`)
      for (const text of this.#texts) await copied(client, text)
    } finally {
      client.release()
    }
  }

  close() {
    return this.#pool.end()
  }
}

const COLUMNS = 'seq, org, at, received, kind, verdict, session, hash, line'

function rowsOf(batch, org) {
  const lines = batch.toString().trimEnd().split('\n')
  const rows = lines.map((line) => {
    const { seq, time, kind, action, session, hash } = JSON.parse(line)
    const cells = [seq, org, time, time, kind, action, session, `\\x${hash}`, line]
    return cells.map((cell) => String(cell).replaceAll('\\', '\\\\')).join('\t')
  })
  return `${rows.join('\n')}\n`
}

/** The package pg knows the messages of COPY, and leaves it to its callers to send them. */
function copied(client, text) {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection) => connection.query(`copy fleet.record (${COLUMNS}) from stdin`),
      handleCopyInResponse: (connection) => {
        connection.sendCopyFromChunk(text)
        connection.endCopyFrom()
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(undefined),
      handleError: reject,
    })
  })
}

// ---- policy ---------------------------------------------------------------------------------------------------

const POLICED = quick ? 20 : 1000

/** Every machine fetches a new policy, checks all signatures and unpacks it; or asks, and is told that nothing is new. */
async function policies(root, fleet, url, clock) {
  const admin = await opened(fleet.admin)
  const members = await addedMembers(fleet, { url, folder: join(root, 'policed'), count: POLICED })
  const clients = members.map((member) => clientOf(member))
  const all = async (wanted) => {
    const left = members.map((_, i) => i)
    await times(MACHINES, async () => {
      for (let i = left.pop(); i !== undefined; i = left.pop()) {
        const { status } = await fetchPolicy(clients[i], members[i])
        if (status !== wanted) throw new Error(`machine ${i}: ${status} instead of ${wanted}`)
      }
    })
  }
  let version = 0
  const published = async () => {
    await publish(admin, numbered(++version, ONE_RING))
    await all('changed')
  }
  try {
    await published()
    const rounds = await race(
      { publish: published, poll: () => all('same') },
      { calls: 1, clock, most: quick ? 2 : 3 },
    )
    const name = `processor time of a new policy on ${POLICED} machines, each verifying / one poll of each`
    return [rounds.row(name, 'publish', 'poll', { limit: 3 })]
  } finally {
    for (const client of clients) client.close()
    await admin.close()
  }
}

// ---- events ---------------------------------------------------------------------------------------------------

/** Nothing is asked on the way of an event. A machine in a fleet reads its policy and its list of people, and checks them. */
async function firing(root, fleet, url) {
  const [inFleet, alone] = ['fleet', 'alone'].map((name) => new Machine(join(root, name)))
  alone.addRules()
  await learned(fleet, await joined(fleet, url, inFleet.dataDir, 'fires'), inFleet.dataDir)
  const fires = await race(
    { inFleet: () => inFleet.fire(), alone: () => alone.fire() },
    { calls: 1, clock: childClock, most: quick ? 3 : 60 },
  )
  return [
    fires.row('processor time of fire, in a fleet / in none, with the same rules', 'inFleet', 'alone', {
      limit: 1.05,
    }),
  ]
}

/** Gives the fleet people and a policy, and this machine both. */
async function learned(fleet, member, dataDir) {
  const publicKey = newKeyPair().publicKey.toString('base64url')
  const people = [{ name: 'ann', role: 'approver', keys: [{ kind: 'ed25519', publicKey }] }]
  const admin = await opened(fleet.admin)
  await addPeople(admin, 1, signedPeople({ version: 1, people }, ROOT))
  await publish(admin, numbered(1, ONE_RING))
  await admin.close()
  const client = clientOf(member)
  const known = await fetchPeople(client, member, { dataDir })
  const { status } = await fetchPolicy(client, member)
  client.close()
  if (!known || status !== 'changed') throw new Error(`the machine has no people or no policy: ${status}`)
}

/** A project with a hook, and a home. */
class Machine {
  #folder
  #env

  constructor(folder) {
    const home = `${folder}-home`
    const plugin = join(home, '.amplifier', 'hooks', 'guard')
    for (const path of [folder, plugin]) mkdirSync(path, { recursive: true })
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }] }
    writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks }))
    this.#folder = folder
    this.dataDir = join(home, 'carabiner')
    this.#env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: this.dataDir }
  }

  /** Those of the fleet's policy. */
  addRules() {
    const rules = numbered(1).files.find(({ path }) => path === 'rules.json')
    writeFileSync(join(this.#env.HOME, '.amplifier', 'rules.json'), rules.bytes)
  }

  fire() {
    const call = { session_id: 'bench', tool_name: 'Bash', tool_input: { command: 'ls' } }
    const options = { cwd: this.#folder, env: this.#env, encoding: 'utf8', input: JSON.stringify(call) }
    timedSpawn(process.execPath, [PROGRAM, 'fire', 'PreToolUse'], options)
  }
}
