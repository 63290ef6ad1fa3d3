// Whom a server at an https address must be signed by, whatever the environment says.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HttpFetch } from '../../../src/runners/mcp-tool/http-link.js'
import { has } from '../../conformance/shell-project.js'
import { certified } from '../http/certificate.js'

describe.skipIf(!has('openssl'))('a server whose certificate nobody known has signed', () => {
  let folder: string
  let server: Server
  let requests: number

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-mcp-'))
    requests = 0
    server = createServer(certified(folder, 'localhost'), (_, response) => {
      requests++
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })

  afterEach(async () => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true })
  })

  it.each(['1', '0'])('is asked nothing, with NODE_TLS_REJECT_UNAUTHORIZED=%s', async (value) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', value)
    const { port } = server.address() as AddressInfo
    const fetch = new HttpFetch()
    const answer = fetch.request(`https://localhost:${port}/`, { method: 'POST', body: '{}' }, () => {})
    await expect(answer).rejects.toMatchObject({ code: expect.stringMatching(/SELF_SIGNED/) })
    fetch.close()
    expect(requests).toBe(0)
  })
})
