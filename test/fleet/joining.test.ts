// What an earlier fleet left on a machine does not outlive the next one.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { userPlace } from '../../src/files/fleet-places.js'
import { lstatIfThere } from '../../src/files/if-there.js'
import { joinFleet } from '../../src/fleet/machine/joining.js'
import { readMember, removeMember } from '../../src/fleet/machine/membership.js'
import { makeFolder, readAccepted, writeAccepted } from '../../src/fleet/machine/policy-files.js'

const [ONE, TWO] = [newKeyPair().publicKey, newKeyPair().publicKey]
const ROOT_FILE = JSON.stringify({ signed: { version: 1 } })

describe('a machine that joins', () => {
  const folder = mkdtempSync(join(tmpdir(), 'joining-'))
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ machine: '11111111-2222-4333-8444-555555555555' }))
  })
  let url: string
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const left = (name: string) => {
    const place = userPlace(join(folder, name))
    makeFolder(place.policy)
    writeAccepted(place.policy, ONE.toString('base64url'), { root: ROOT_FILE })
    return place
  }
  const joined = (place: ReturnType<typeof left>, rootKey: Buffer) =>
    joinFleet({ url, token: { id: 'id', secret: 'secret', rootKey }, name: 'm', place })

  it('discards the policy of another fleet, and keeps that of its own', async () => {
    const [own, others] = [left('own'), left('others')]
    await joined(own, ONE)
    expect(readAccepted(own.policy, ONE.toString('base64url'))).toEqual({ root: ROOT_FILE })
    await joined(others, TWO)
    expect(lstatIfThere(others.policy)).toBeUndefined()
  })

  it('leaves a marker as long as there is a policy', async () => {
    const place = left('leaving')
    await joined(place, ONE)
    // The folder cannot be renamed, as if the process were killed there.
    const stuck = { ...place, policy: join(place.marker, 'policy') }
    expect(() => removeMember(stuck)).toThrow('ENOTDIR')
    expect(readMember(place)?.name).toBe('m')
    removeMember(place)
    expect([readMember(place), lstatIfThere(place.policy)]).toEqual([undefined, undefined])
  })
})
