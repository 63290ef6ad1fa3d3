// A reviewer's decision on its way to a machine: trusted once, it runs there without a review; revoked, it never runs.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newKeyPair, pemOf } from '../../src/files/ed25519.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { Project, withProgram } from '../cli/program.js'
import { type Fleet, joined, madeFleet, ORG, opened, ROOT } from './fleet-scene.js'
import { hasPostgres, Postgres } from './postgres.js'

withProgram()

describe.runIf(hasPostgres)('a decision of a reviewer', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let project: Project

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database }))
    project = new Project()
    await joined(fleet, listening.url, data(), 'laptop-7')
    writeFileSync(join(project.home, 'fleet.key'), pemOf(ROOT))
    writeFileSync(join(project.home, 'other.key'), pemOf(newKeyPair()))
    const denies = { type: 'command', command: 'echo no >&2; exit 2' }
    project.file('.amplifier/hooks/guard/hooks.json', { hooks: { PreToolUse: [{ hooks: [denies] }] } })
  })
  afterAll(async () => {
    project?.remove()
    await listening?.close()
    await database?.close()
    server?.stop()
  })

  const data = () => join(project.home, 'data')
  const type = (...args: string[]) => project.call(args, { env: { CARABINER_HOME: data() } })
  const decide = (words: readonly string[], key = 'fleet.key') =>
    type(
      ...['fleet', 'trust', ...words, '--database', fleet.admin, '--org', ORG],
      ...['--key', join(project.home, key), '--root-key', ROOT.publicKey.toString('base64url')],
    )
  const hooks = async () => {
    expect(await type('fleet', 'policy', 'fetch')).toMatchObject({ code: 0 })
    return JSON.parse((await type('list', '--json')).stdout).hooks
  }

  it('counts on a machine that has fetched it, with who and when, until it is revoked', async () => {
    expect(JSON.parse((await type('list', '--json')).stdout).hooks).toMatchObject([{ state: 'untrusted' }])
    expect(await decide(['add', 'guard'])).toMatchObject({ code: 0, stderr: '' })
    expect(await hooks()).toMatchObject([{ state: 'ready', reviewer: { by: expect.any(String) } }])
    expect((await decide(['list'])).stdout).toMatch(/^trusted {2}[0-9a-f]{64} {2}by /)
    expect(await decide(['revoke', 'guard', '--reason', 'it sends secrets away'])).toMatchObject({ code: 0 })
    expect(await hooks()).toMatchObject([
      { state: 'untrusted', why: expect.stringContaining('it sends secrets away') },
    ])
    expect((await decide(['list'])).stdout).toMatch(/^revoked .*it sends secrets away$/m)
    const own = await type('trust', 'guard', '--yes')
    expect(own.code).not.toBe(0)
    expect(own.stdout + own.stderr).toContain('revoked it for the whole fleet')
  })

  it('needs the key of a reviewer, and something to decide about', async () => {
    expect(await decide(['add', 'guard'], 'other.key')).toMatchObject({ code: 1 })
    expect(await decide(['add', 'nothing'])).toMatchObject({ code: 64 })
    expect(await decide(['add'])).toMatchObject({ code: 64 })
    expect(await decide(['list', 'guard'])).toMatchObject({ code: 64 })
    expect(await decide(['list', '--reason', 'x'])).toMatchObject({ code: 64 })
  })

  it('is told in JSON as what was done, and the list says until when it counts', async () => {
    const digest = 'c'.repeat(64)
    for (const [verb, done] of [
      ['add', 'added'],
      ['revoke', 'revoked'],
      ['forget', 'forgotten'],
    ] as const)
      expect(JSON.parse((await decide([verb, digest, '--json'])).stdout)).toEqual({ [done]: digest })
    expect((await decide(['list'])).stdout).toMatch(/^ {2}machines count what is trusted until /m)
    expect(JSON.parse((await decide(['list', '--json'])).stdout).expires).toMatch(/Z$/)
  })
})
