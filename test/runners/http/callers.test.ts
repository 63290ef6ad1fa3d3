// Callers of one service: the authorities that each believes, and their connections.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { asCaller, serveCallers, serveNobody } from '../../callers.js'
import { certified } from './certificate.js'
import { DENY, Station } from './station.js'

let station: Station
let folder: string
beforeEach(() => {
  station = new Station()
  folder = mkdtempSync(join(tmpdir(), 'carabiner-tls-'))
  serveCallers()
})
afterEach(async () => {
  serveNobody()
  rmSync(folder, { recursive: true })
  await station.close()
})

test('each believes those that its own variable names', async () => {
  const { file, key, cert } = certified(folder, 'localhost')
  const port = await station.listen(createServer({ key, cert }, (_, response) => response.end(DENY)))
  const url = `https://localhost:${port}/`
  const ask = (NODE_EXTRA_CA_CERTS?: string): Promise<unknown> =>
    asCaller({ cwd: folder, env: { NODE_EXTRA_CA_CERTS } }, () =>
      station.ask(url).then(
        () => 'believed',
        ({ message }: Error) => (/not signed by a known authority/.test(message) ? 'unknown' : message),
      ),
    )
  const another = certified(folder, 'another').file
  const answers: unknown[] = []
  for (const trusted of [undefined, file, undefined, 'localhost.pem', another, 'gone.pem', file])
    answers.push(await ask(trusted))
  expect(answers).toEqual(['unknown', 'believed', 'unknown', 'believed', 'unknown', 'unknown', 'believed'])
})

test('none loses an answer to a server that resets connections on their second request', async () => {
  const answered = `HTTP/1.1 200 OK\r\nContent-Length: ${DENY.length}\r\n\r\n${DENY}`
  const asked = new Set<Socket>()
  const url = await station.raw((socket) => {
    if (asked.has(socket)) socket.resetAndDestroy()
    else socket.write(answered)
    asked.add(socket)
  })
  for (let i = 0; i < 3; i++) {
    expect(await asCaller({ cwd: folder }, () => station.ask(url))).toMatchObject({ action: 'deny' })
  }
  expect(station.connections).toBe(3)
})
