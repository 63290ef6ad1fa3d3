// A server that several callers share, as in the service.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withoutSecrets } from '../../../src/core/base/secrets.js'
import type { HookContext } from '../../../src/core/hooks/hook.js'
import { asCaller, isForCaller, serveCallers, serveNobody } from '../../callers.js'
import { until } from '../until.js'
import { Lobby } from './lobby.js'

let lobby: Lobby
beforeEach(() => {
  serveCallers()
  lobby = new Lobby()
})
afterEach(async () => {
  serveNobody()
  await lobby.close()
})

const TOKEN = 't0ken-of-the-user'
const env = { MY_TOKEN: TOKEN }

/** A server that gets the caller's token. */
function withToken(): void {
  const { tests } = lobby.settings
  const own = { CARABINER_TEST_MARK: lobby.workshop.mark, GIVEN_TOKEN: '${MY_TOKEN}' }
  lobby.settings = { tests: { ...tests, env: own } as never }
}

it('keeps its secrets from every caller, not only from the one that started it', async () => {
  withToken()
  const seen = async () => [await lobby.reason('pid'), withoutSecrets(`it is ${TOKEN}`)]
  const first = await asCaller({ env }, seen)
  expect(await asCaller({ env }, seen)).toEqual([first[0], 'it is [redacted]'])
  // A caller that has nothing to do with it.
  expect(asCaller({}, () => withoutSecrets(`it is ${TOKEN}`))).toBe(`it is ${TOKEN}`)
})

it('is not the server of a caller with another token', async () => {
  withToken()
  const pid = () => lobby.reason('pid')
  const first = await asCaller({ env }, pid)
  expect(await asCaller({ env: { MY_TOKEN: 'another-t0ken-1' } }, pid)).not.toBe(first)
})

it('is the same program, whatever PATH a caller has', async () => {
  const { tests } = lobby.settings
  const other = join(lobby.workshop.folder, 'bin')
  mkdirSync(other)
  writeFileSync(join(other, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const pid = (PATH: string) => {
    const own = { CARABINER_TEST_MARK: lobby.workshop.mark, PATH }
    lobby.settings = { tests: { ...tests, command: 'node', env: own } as never }
    return asCaller({ env: { PATH: other, MINE: other } }, () => lobby.reason('pid'))
  }
  expect(await pid('${PATH}')).toMatch(/^\d+$/)
  await expect(pid('${MINE}:${PATH}')).rejects.toThrow('names ${MINE}, which is not set in the service')
})

it('is found in the settings that each call brings', async () => {
  const { servers, settings } = lobby
  const context = { onAbort() {}, note() {}, printed() {} } as unknown as HookContext
  const call = (all: typeof settings) =>
    servers.call(all, { server: 'tests', tool: 'pid', input: {} }, context)
  await call(settings)
  await expect(call({})).rejects.toThrow('There is no MCP server "tests"')
  expect(await call(settings)).toHaveProperty('content')
})

it('belongs to nobody: what happens to it later is no work for the caller that started it', async () => {
  const pid = Number(await asCaller({}, () => lobby.reason('pid')))
  const kill = process.kill
  const seen: boolean[] = []
  // The last thing that is done about a process that has ended.
  process.kill = (...args) => {
    seen.push(isForCaller())
    return kill.apply(process, args)
  }
  try {
    kill(pid, 'SIGKILL')
    await until('its end is seen', () => seen.length > 0)
  } finally {
    process.kill = kill
  }
  expect(seen).not.toContain(true)
})
