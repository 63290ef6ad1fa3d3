// What does it cost to ask somebody elsewhere, on top of the commits that make question, answer and use last?

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { source } from '../scripts/source.mjs'
import { joined, opened, ROOT, withFleet } from './fleet-scene.mjs'
import { race } from './measure.mjs'

const { madeQuestion } = await source('../test/approvals/made-question.ts')
const { newKeyPair } = await source('files/ed25519.ts')
const { addPeople } = await source('fleet/database/people.ts')
const { GatewayClient } = await source('fleet/machine/gateway-client.ts')
const { Mirror } = await source('fleet/machine/mirror.ts')
const { fetchPeople } = await source('fleet/machine/people.ts')
const { fileApprovals } = await source('store/approvals/file-approvals.ts')
const { challengeOf, signedWith } = await source('store/approvals/signature.ts')
const { signedPeople } = await source('files/fleet/people.ts')

/** What a commit takes on a disk that really writes. */
const SLOW_MS = 6.6
/** Nobody waits longer than this in the bench. */
const WAIT_S = 25

export function bench() {
  // On a disk, because a commit in memory costs nothing.
  return withFleet({ around: tmpdir() }, async ({ root, fleet, gateway }) => {
    const commits = await Commits.open(fleet.owner)
    const people = await Approver.added(fleet, gateway.url)
    const machine = await Machine.made(fleet, gateway.url, join(root, 'home'))
    try {
      const measured = async (name) => {
        const rounds = await race(
          { fleet: () => machine.ask(people), commits: () => commits.three() },
          { calls: 1, most: 25 },
        )
        return rounds.row(name, 'fleet', 'commits', { limit: 5 })
      }
      const name = 'ask, answer and use across machines / three bare commits'
      const here = await measured(name)
      await commits.slow()
      return [here, await measured(`${name}, of ${SLOW_MS} ms each`)]
    } finally {
      machine.end()
      people.end()
      await commits.close()
    }
  })
}

/** What somebody would do at least: a row each for the question, the answer and the use. */
class Commits {
  static async open(owner) {
    const commits = new Commits()
    commits.client = new pg.Client({ connectionString: owner })
    await commits.client.connect()
    await commits.client.query('create table bench (id bigint generated always as identity, what text)')
    return commits
  }

  async three() {
    for (const what of ['question', 'answer', 'use'])
      await this.client.query('insert into bench (what) values ($1)', [what])
  }

  /** From now on, every commit of the server takes so much longer. */
  async slow() {
    for (const [name, value] of [
      ['commit_siblings', 0],
      ['commit_delay', SLOW_MS * 1000],
    ])
      await this.client.query(`alter system set ${name} = ${value}`)
    await this.client.query('select pg_reload_conf()')
  }

  close() {
    return this.client.end()
  }
}

/** A machine that asks. Its mirror is the one that `carabiner fleet ship` runs. */
class Machine {
  static async made(fleet, url, home) {
    const machine = new Machine()
    const member = await joined(fleet, url, home, 'asks')
    const { key } = member
    machine.client = new GatewayClient({ url, sender: { machine: member.machine, key } })
    machine.member = member
    const place = { stateDir: join(home, 'state'), dataDir: home, approversFile: join(home, 'none') }
    machine.queue = fileApprovals({ ...place, onTrouble: refuse })
    const learnPeople = (sent) => fetchPeople(machine.client, member, { dataDir: home, sent })
    await learnPeople()
    const { client, queue } = machine
    machine.mirror = new Mirror({ client, queue, learnPeople, dataDir: home, onTrouble: refuse })
    return machine
  }

  async ask(people) {
    const question = madeQuestion({ session: `bench-${asked++}` })
    const pending = await this.queue.raise(question, { project: '/project' })
    await this.mirror.exchange(0)
    await Promise.all([this.mirror.exchange(WAIT_S), people.allow(pending, this.member)])
    if ((await this.queue.take(question))?.decision !== 'allow') throw new Error('it was not allowed')
    await this.mirror.exchange(0)
  }

  end() {
    this.client.close()
  }
}

let asked = 0

function refuse(text) {
  throw new Error(text)
}

class Approver {
  static async added(fleet, url) {
    const approver = new Approver()
    approver.key = newKeyPair()
    approver.client = new GatewayClient({ url, sender: { key: approver.key } })
    const publicKey = approver.key.publicKey.toString('base64url')
    const people = [{ name: 'ann', role: 'approver', keys: [{ kind: 'ed25519', publicKey }] }]
    const admin = await opened(fleet.admin)
    await addPeople(admin, 1, signedPeople({ version: 1, people }, ROOT))
    await admin.close()
    return approver
  }

  async allow(pending, asker) {
    const [option, nonce] = ['Allow', 'n1']
    const signature = signedWith(this.key, challengeOf(pending, { option, nonce, asker }), nonce)
    const { status } = await this.client.ask('answer', { body: { id: pending.id, option, signature } })
    if (status !== 'answered') throw new Error(`the answer was ${status}`)
  }

  end() {
    this.client.close()
  }
}
