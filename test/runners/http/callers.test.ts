// Callers of one service who believe other authorities.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
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

test('each believes those that its own variable names, also over a connection that another one left', async () => {
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
  // Those who believe the same share it.
  expect(station.connections).toBe(5)
})
