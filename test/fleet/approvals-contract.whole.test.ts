// Approvals that come through the fleet keep the same contract as those in files.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { type SignedPeople, signedPeople } from '../../src/files/fleet/people.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addPeople } from '../../src/fleet/database/people.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { contract, START } from '../store/contracts/approvals.js'
import { type Fleet, joined, madeFleet, opened, ROOT } from './fleet-scene.js'
import { mirroredApprovals } from './mirrored-approvals.js'
import { hasPostgres, Postgres } from './postgres.js'

describe.runIf(hasPostgres)('through a fleet', () => {
  const people = new Map(['ann', 'ben', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, newKeyPair()]))
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let folder: string
  let made = 0

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-contract-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    const admin = await opened(fleet.admin)
    const list = [...people].map(([name, key]) => ({
      ...{ name, role: 'approver' as const },
      keys: [{ kind: 'ed25519' as const, publicKey: key.publicKey.toString('base64url') }],
    }))
    await addPeople(admin, 1, signedPeople({ version: 1, people: list }, ROOT, START))
    await admin.close()
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database }))
  })
  afterAll(async () => {
    await listening?.close()
    await database?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  contract('the mirror of a fleet', async () => {
    const home = join(folder, `home-${made++}`)
    const { url } = listening
    const member = await joined(fleet, url, home, `m${made}`)
    const client = clientOf(member)
    const learnPeople = (sent?: SignedPeople) =>
      fetchPeople(client, member, { dataDir: home, sent, now: () => START })
    await learnPeople()
    const clock = { now: START }
    const open = () => {
      const queue = new FileApprovals({
        ...{ stateDir: join(home, 'state'), dataDir: home, approversFile: join(home, 'none') },
        now: () => clock.now,
        onTrouble: () => {},
      })
      const mirror = new Mirror({ client, queue, learnPeople, dataDir: home, now: () => clock.now })
      return mirroredApprovals({ queue, mirror, url, people })
    }
    return { queue: open(), open, clock, isSigned: true }
  })
})
