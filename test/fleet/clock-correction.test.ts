// A gateway may correct the clock of a machine a little, and never gets a request that is signed for a later day.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import { claimIn, SIGNATURE_HEADER } from '../../src/fleet/signed-request.js'

const NOW = Date.parse('2026-11-18T12:00:00Z')
const HOUR = 3_600_000
const machine = '11111111-2222-4333-8444-555555555555'
let server: Server

afterEach(() => new Promise((resolve) => server.close(resolve)))

/** A gateway that says that it is `time`, as JSON, until a request is signed for that time. Returns the times that it got. */
async function asked(
  time: string,
): Promise<{ readonly times: readonly number[]; readonly problem?: string }> {
  const times: number[] = []
  server = createServer((request, response) => {
    times.push(claimIn(request.headers[SIGNATURE_HEADER])?.time ?? Number.NaN)
    const isRight = times.at(-1) === Number(time)
    response.writeHead(isRight ? 200 : 401)
    response.end(isRight ? '{}' : `{"error":{"code":"CLOCK","message":"wrong","time":${time}}}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const client = new GatewayClient({ url, sender: { machine, key: newKeyPair() }, now: () => NOW })
  try {
    await client.ask('machine')
    return { times }
  } catch (error) {
    return { times, problem: String(error) }
  } finally {
    client.close()
  }
}

it.each([HOUR, -HOUR, 1])('is corrected by %d ms', async (off) => {
  expect(await asked(String(NOW + off))).toEqual({ times: [NOW, NOW + off] })
})

it.each([
  String(NOW + HOUR + 1),
  String(NOW - HOUR - 1),
  String(NOW + 365 * 24 * HOUR),
  '1e999',
  '-1e999',
  '0',
])('is not corrected to %s, and the machine says what is wrong', async (time) => {
  const { times, problem } = await asked(time)
  expect(times).toEqual([NOW])
  expect(problem).toMatch(/differ by more than 60 minutes; set the one that is wrong/)
})
