// An hour without the gateway: events never touch the network, questions are denied, and afterwards everything arrives once.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queueApprover } from '../../src/asking/queue-approver.js'
import { newKeyPair } from '../../src/files/ed25519.js'
import { signedPeople } from '../../src/files/fleet/people.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addPeople } from '../../src/fleet/database/people.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import { ship } from '../../src/fleet/machine/shipper.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import { madeQuestion } from '../approvals/made-question.js'
import { type Fleet, joined, madeFleet, opened, ROOT } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const MINUTE = 60_000
const TIMES = [0, 10, 20, 30, 40, 50, 60]

describe.runIf(hasPostgres)('an hour offline', () => {
  const ann = newKeyPair()
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let home: string

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'carabiner-offline-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database }))
    const admin = await opened(fleet.admin)
    const key = { kind: 'ed25519' as const, publicKey: ann.publicKey.toString('base64url') }
    const people = [{ name: 'ann', role: 'approver' as const, keys: [key] }]
    await addPeople(admin, 1, signedPeople({ version: 1, people }, ROOT))
    await admin.close()
  })
  afterAll(async () => {
    await listening?.close()
    await database?.close()
    server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  it('denies, does not touch the network for events, and catches up exactly once', async () => {
    const began = Date.now()
    let now = began
    const project = join(home, 'project')
    mkdirSync(project)
    const member = await joined(fleet, listening.url, home, 'away')
    const log = new FileAuditLog({ projectDir: project, dataDir: home })
    const queue = new FileApprovals({
      ...{ stateDir: join(home, 'state'), dataDir: home, approversFile: join(home, 'none') },
      now: () => now,
    })
    const client = clientOf(member)
    const answers: string[] = []
    const mirror = new Mirror({
      ...{ client, queue, dataDir: home },
      learnPeople: () => fetchPeople(client, member, { dataDir: home }),
      onAnswer: async (pending, { by }) => void answers.push(`${pending.id} ${by}`),
    })
    const shipped = () => ship({ client, machine: member.machine, dataDir: home })
    const event = (session: string) => {
      log.append([{ kind: 'fire', time: new Date(now).toISOString(), ...{ session } }])
      return queueApprover({ queue, project })(madeQuestion({ session, cwd: project }), over.signal)
    }
    const over = new AbortController()
    await fetchPeople(client, member, { dataDir: home })
    await event('before')
    await mirror.exchange(0)
    expect(await shipped()).toMatchObject({ records: 1 })

    const { port } = new URL(listening.url)
    await listening.close()
    for (const minute of TIMES) {
      now = began + minute * MINUTE + 1
      // Whoever connects to this one waits for ever.
      let calls = 0
      const silent = createServer((socket) => {
        calls++
        socket.on('error', () => {})
      })
      await new Promise<void>((resolve) => silent.listen(Number(port), '127.0.0.1', resolve))
      expect(await event(`at-${minute}`)).toHaveProperty('unanswered')
      expect(calls).toBe(0)
      await new Promise((resolve) => silent.close(resolve))
      await expect(mirror.exchange(0)).rejects.toThrow(/cannot be reached/)
      await expect(shipped()).rejects.toThrow(/cannot be reached/)
      expect(await event(`at-${minute}`)).toHaveProperty('unanswered')
    }
    const open = queue.open()
    expect(open.map(({ question }) => question.session)).toEqual(TIMES.slice(1).map((at) => `at-${at}`))

    listening = await listen({ host: '127.0.0.1', port: Number(port) }, gateway({ database }))
    expect(await mirror.exchange(0)).toBe(open.length)
    const person = new GatewayClient({ url: listening.url, sender: { key: ann } })
    for (const pending of open) {
      const [option, nonce] = ['Allow', 'n1']
      const challenge = challengeOf(pending, { option, nonce, asker: member })
      const body = { id: pending.id, option, signature: signedWith(ann, challenge, nonce) }
      expect(await person.ask('answer', { body })).toEqual({ status: 'answered' })
    }
    person.close()
    await mirror.exchange(0)
    await mirror.exchange(0)
    expect(answers.sort()).toEqual(open.map(({ id }) => `${id} ann`).sort())
    for (const at of TIMES.slice(1)) {
      expect(await event(`at-${at}`)).toMatchObject({ option: 'Allow', by: 'ann' })
      expect(await event(`at-${at}`)).toHaveProperty('unanswered')
    }
    await mirror.exchange(0)
    const settled = await run(fleet.owner, [`select how, count(*)::int as n from fleet.settled group by how`])
    expect(settled).toContainEqual({ how: 'used', n: open.length })

    expect(await shipped()).toMatchObject({ breaks: [], failures: [] })
    expect(await shipped()).toMatchObject({ records: 0 })
    const rows = await run(fleet.owner, ['select seq::int, session from fleet.record order by seq'])
    const written = ['before', ...TIMES.flatMap((at) => [`at-${at}`, `at-${at}`])]
    const later = TIMES.slice(1).flatMap((at) => [`at-${at}`, `at-${at}`])
    expect(rows).toEqual([...written, ...later].map((session, i) => ({ seq: i + 1, session })))
    client.close()
  })
})
