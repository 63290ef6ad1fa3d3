// HTTP hooks under the engine: as Claude Code 2.1.325 was observed to treat them, and what becomes of a failure.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks } from 'carabiner'
import { HookRegistry } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { corpusIsHere, readCorpus } from '../../systems/claude-code/replay.js'
import { DENY, type Setup, Station } from './station.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

let station: Station

beforeEach(() => {
  station = new Station()
})

afterEach(async () => {
  await station.close()
})

function fire(url: string, setup: Setup = {}, timeoutMs = 20_000) {
  const registry = new HookRegistry()
  registry.add({ ...station.hook(url, setup), timeoutMs })
  return registry.emit('PreToolUse', CALL)
}

interface Probe {
  readonly name: string
  readonly hooks: readonly { readonly handler?: { readonly url: string; readonly onFailure?: 'block' } }[]
  readonly observed: {
    readonly decision: 'deny' | 'continue' | 'inject'
    readonly reason?: string
    readonly context?: string
    readonly no_verdict?: boolean
  }
}

/** What the server of the probes answered, by path. */
const ANSWERS: Readonly<Record<string, readonly [status: number, body: string]>> = {
  '/deny': [200, DENY],
  '/empty': [200, ''],
  '/no204': [204, ''],
  '/e500deny': [500, DENY],
  '/array': [200, '[]'],
  '/ctx': [
    200,
    JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'HCTX' } }),
  ],
  '/badschema': [
    200,
    JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 5 } }),
  ],
  '/redirect': [302, ''],
  '/denytext': [200, 'plain text'],
}

const probes = corpusIsHere
  ? readCorpus<readonly Probe[]>('observed.json').filter(({ name }) => name.startsWith('http-'))
  : []

describe.skipIf(!corpusIsHere)('as observed', () => {
  it('there are probes', () => {
    expect(probes.length).toBeGreaterThan(8)
  })

  it.for(probes)('$name', async ({ hooks: [hook], observed }) => {
    const { url = '', onFailure = 'continue' } = hook?.handler ?? {}
    const { pathname } = new URL(url)
    const [status, body] = ANSWERS[pathname] ?? [0, '']
    const headers: Record<string, string> = pathname === '/redirect' ? { location: '/deny' } : {}
    const outcome = await fire(`${await station.says(body, status, headers)}${pathname}`, { onFailure })
    // A deny counts with any status (≠C).
    const closes = pathname === '/e500deny'
    expect(outcome.action).toBe(closes || observed.decision === 'deny' ? 'deny' : 'continue')
    expect(outcome.injections.map(({ text }) => text)).toEqual(observed.context ? [observed.context] : [])
    const failed = observed.no_verdict === true || observed.reason?.startsWith('failed') === true
    expect(outcome.hooks[0]?.status).toBe(failed && !closes ? 'failed' : 'ran')
    if (observed.reason === 'HD') expect(outcome.reason).toBe('HD')
  })
})

describe('a server that does not answer in time', () => {
  it('is a failure, and the connection is ended', async () => {
    const url = await station.serve(() => {})
    const outcome = await fire(url, { onFailure: 'block' }, 100)
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks).toMatchObject([{ status: 'failed', why: 'HOOK_TIMEOUT' }])
    await station.noneOpen()
  })

  it('lets the call pass if the hook says so, and reports it', async () => {
    const outcome = await fire(await station.serve(() => {}), {}, 100)
    expect(outcome.action).toBe('continue')
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
  })
})

it('a refused address closes a gate that is to close, and nothing was sent', async () => {
  const url = await station.says('{}')
  const outcome = await fire(url, { scope: 'project', onFailure: 'block' })
  expect(outcome.action).toBe('deny')
  expect(outcome.hooks).toMatchObject([{ status: 'failed', why: 'HOOK_REFUSED' }])
  expect(station.connections).toBe(0)
})

it.each([
  ['the file of the user', 'hooks.json', 'ran'],
  ['a plugin in the folder of the user', 'guest/hooks.json', 'failed'],
])('a hook of %s (%s) that asks this machine %s', async (_, file, status) => {
  const url = await station.says('{}')
  const home = mkdtempSync(join(tmpdir(), 'carabiner-home-'))
  const path = join(home, '.amplifier/hooks', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'http', url }] }] } }))
  const projectDir = join(home, 'project')
  mkdirSync(projectDir)
  const hooks = await createHooks({ projectDir, home })
  const outcome = await hooks.session({ id: 's1' }).fire('PreToolUse', CALL)
  await hooks.close()
  rmSync(home, { recursive: true })
  expect(outcome.hooks).toMatchObject([status === 'ran' ? { status } : { status, why: 'HOOK_REFUSED' }])
  expect(station.seen).toHaveLength(status === 'ran' ? 1 : 0)
})

it('secrets that a failing server repeats are never shown', async () => {
  vi.stubEnv('HT_KEY', 'zq-key-of-the-office-10')
  const url = await station.serve((request, response) =>
    response.writeHead(401).end(`bad key ${request.headers['x-key']}`),
  )
  const handler = { headers: { 'X-Key': '$HT_KEY' }, allowedEnvVars: ['HT_KEY'] }
  const outcome = await fire(url, { handler, onFailure: 'block' })
  vi.unstubAllEnvs()
  expect(JSON.stringify(outcome.messages)).toContain('bad key [redacted]')
  expect(JSON.stringify([outcome.messages, outcome.diagnostics, outcome.hooks])).not.toContain('zq-key')
})
