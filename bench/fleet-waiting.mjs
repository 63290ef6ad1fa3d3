// How large is a gateway in which a thousand machines wait for the answers of people, over TLS and behind a proxy that ends it?

import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { setTimeout } from 'node:timers/promises'
import { source } from '../scripts/source.mjs'
import { cpuOf, ORG, run, withFleet } from './fleet-scene.mjs'
import { figure, quick } from './measure.mjs'

const { newKeyPair } = await source('files/ed25519.ts')
const { MOST_WAIT_S, ROUTES } = await source('fleet/protocol.ts')
const { signedHeader } = await source('fleet/signed-request.ts')

const MACHINES = quick ? 50 : 1000
const MOST_MB = 100
const MOST_CONNECTIONS = 4
const MB = 1e6

export async function bench() {
  return [...(await measured(true)), ...(await measured(false))]
}

function measured(tls) {
  return withFleet({ tls }, async ({ fleet, gateway }) => {
    const machines = await added(fleet, MACHINES)
    const waiting = new Waiting(gateway)
    try {
      for (const one of machines) waiting.add(one)
      let connections = 0
      await quiet(gateway.pid, async () => {
        const sql = `select count(*)::int as n from pg_stat_activity where usename = 'a_gateway'`
        connections = Math.max(connections, (await run(fleet.owner, [sql]))[0].n)
      })
      if (waiting.answers.length > 0) throw new Error(`a machine did not wait: ${waiting.answers[0]}`)
      const name = `a gateway with ${MACHINES} waiting machines${tls ? ', over TLS' : ', without TLS'}`
      return [
        figure(`most memory of ${name} / ${MOST_MB} MB`, 'MB', peakOf(gateway.pid) / MB, MOST_MB, 1),
        figure(`connections of ${name} / ${MOST_CONNECTIONS}`, '', connections, MOST_CONNECTIONS, 1),
      ]
    } finally {
      waiting.end()
    }
  })
}

/** Each with a question that is open. */
async function added(fleet, count) {
  const machines = Array.from({ length: count }, (_, i) => ({
    key: newKeyPair(),
    machine: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    question: `wait-${String(i).padStart(4, '0')}`,
  }))
  const org = `(select org from fleet.org where name = '${ORG}')`
  const values = (one) => machines.map(one).join(', ')
  await run(fleet.owner, [
    `insert into fleet.machine (org, machine, name, key, token) values ${values(
      ({ machine, key }) =>
        `(${org}, '${machine}', '${machine}', '\\x${key.publicKey.toString('hex')}', 't')`,
    )}`,
    `insert into fleet.question (org, id, machine, body, people, expires) values ${values(
      ({ machine, question }) => `(${org}, '${question}', '${machine}', '{}', 1, now() + interval '1 hour')`,
    )}`,
  ])
  return machines
}

/** Machines that ask for answers, each on a connection of its own. */
class Waiting {
  /** What the gateway said although there is no news. */
  answers = []
  #agents = []
  #gateway

  constructor(gateway) {
    this.#gateway = gateway
  }

  add({ machine, key, question }) {
    const { method, path: route } = ROUTES.sync
    const path = `${route}?wait=${MOST_WAIT_S}`
    const body = Buffer.from(JSON.stringify({ waiting: { [question]: 0 } }))
    const { url, ca } = this.#gateway
    const agent = ca ? new SecureAgent({ ca }) : new Agent()
    const asking = (ca ? secureRequest : request)(`${url}${path}`, {
      ...{ method, agent },
      headers: {
        authorization: signedHeader({ method, path, body }, { machine, key }, Date.now()),
        'content-length': body.length,
      },
    })
    asking.on('error', (error) => this.answers.push(error.message))
    asking.on('response', (response) => this.answers.push(`status ${response.statusCode}`))
    asking.end(body)
    this.#agents.push(agent)
  }

  end() {
    for (const agent of this.#agents) agent.destroy()
  }
}

/** Until the process has computed nothing for a while: then all of its requests wait. */
async function quiet(pid, meanwhile) {
  for (let [still, before] = [0, -1]; still < 5; ) {
    await meanwhile()
    await setTimeout(200)
    const now = cpuOf(pid)
    still = now === before ? still + 1 : 0
    before = now
  }
}

function peakOf(pid) {
  const [, kib = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}
