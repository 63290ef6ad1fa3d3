// How long servers live, what they find, and what is loaded for them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withoutSecrets } from '../../../src/core/base/secrets.js'
import { withoutProject } from '../../../src/effects/shell/own-environment.js'
import { failureOf } from '../process/hall.js'
import { isThere, until } from '../until.js'
import { Lobby } from './lobby.js'

const repository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

let lobby: Lobby
beforeEach(() => {
  lobby = new Lobby()
})
afterEach(() => lobby.close())

describe('a server', () => {
  it('is started when it is first asked, and then shared', async () => {
    lobby.hook('pid')
    expect(lobby.workshop.running()).toEqual([])
    const pids = await Promise.all([lobby.reason('pid'), lobby.reason('pid'), lobby.reason('pid')])
    expect(new Set([...pids, await lobby.reason('pid')]).size).toBe(1)
  })

  it('gets what programs need and what the settings give it', async () => {
    process.env.TEST_MCP_TOKEN = 's3cret-of-the-user'
    process.env.TEST_MCP_UNRELATED = 'not for servers'
    const own = {
      ...lobby.settings.tests,
      env: { CARABINER_TEST_MARK: lobby.workshop.mark, MY_TOKEN: '<${TEST_MCP_TOKEN}>' },
    }
    lobby.settings = { tests: own as never }
    const { env, cwd } = JSON.parse(await lobby.reason('environment')) as {
      env: Record<string, string>
      cwd: string
    }
    delete process.env.TEST_MCP_TOKEN
    delete process.env.TEST_MCP_UNRELATED
    expect(env).toMatchObject({ MY_TOKEN: '<s3cret-of-the-user>', PATH: withoutProject().PATH })
    expect(env).not.toHaveProperty('TEST_MCP_UNRELATED')
    expect(cwd).toBe(lobby.workshop.folder)
    expect(withoutSecrets('<s3cret-of-the-user>')).toBe('[redacted]')
  })

  it('is at home where the settings name no folder', async () => {
    const { cwd: _, ...own } = lobby.settings.tests as { cwd: string }
    lobby.settings = { tests: own as never }
    expect(JSON.parse(await lobby.reason('environment'))).toMatchObject({ cwd: homedir() })
  })

  it('has what it writes to standard error in the trace', async () => {
    await lobby.reason('echo')
    const prints: unknown[] = []
    const asked = async (tool: string) => {
      const { answer, prints: printed } = lobby.ask(tool)
      await answer
      prints.push(...printed)
    }
    await asked('log')
    // It comes by another pipe than the answer, and so perhaps with a later one.
    for (let i = 0; i < 1000 && prints.length === 0; i++) await asked('pid')
    expect(prints).toEqual([{ stderr: 'a line for people' }])
  })

  it('is another one when its settings change, and the old one ends', async () => {
    const old = await lobby.reason('pid')
    lobby.settings = { tests: lobby.process('stdio', 'changed') }
    expect(await lobby.reason('pid')).not.toBe(old)
    await until('the old one is gone', () => !isThere(Number(old)))
  })

  it('ends when its settings are gone', async () => {
    const old = await lobby.reason('pid')
    lobby.settings = {}
    expect((await failureOf(lobby.ask('pid'))).code).toBe('HOOK_NOT_STARTED')
    await until('it is gone', () => !isThere(Number(old)))
  })
})

describe('close', () => {
  it('ends servers and everything they started, even during a call', async () => {
    const child = await lobby.reason('breed')
    expect(isThere(Number(child))).toBe(true)
    const hanging = lobby.ask('hang')
    const failed = failureOf(hanging)
    await lobby.reason('pid')
    await lobby.servers.close()
    expect(lobby.workshop.running()).toEqual([])
    expect(await failed).toMatchObject({
      code: 'HOOK_FAILED',
      message: expect.stringContaining('were closed'),
    })
  })

  it('starts nothing any more', async () => {
    await lobby.servers.close()
    expect((await failureOf(lobby.ask('pid'))).code).toBe('HOOK_NOT_STARTED')
    expect(lobby.workshop.running()).toEqual([])
  })

  it('ends what is being started', async () => {
    const asked = failureOf(lobby.ask('pid'))
    await lobby.servers.close()
    expect((await asked).code).toBe('HOOK_NOT_STARTED')
    expect(lobby.workshop.running()).toEqual([])
  })
})

describe('the library', () => {
  /** Says on standard error what is resolved of it. */
  const WATCH = `data:text/javascript,${encodeURIComponent(`
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(\`
      import { writeSync } from 'node:fs'
      export function resolve(specifier, context, next) {
        if (specifier.startsWith('@modelcontextprotocol/')) writeSync(2, 'LOADS ' + specifier + '\\\\n')
        return next(specifier, context)
      }\`))`)}`

  const ASK = `
    import { McpServers } from './servers.mjs'
    const [, , name, tool, settings] = process.argv
    const servers = new McpServers()
    const context = { signal: new AbortController().signal, onAbort() {}, note() {}, printed() {} }
    const said = await servers.call(JSON.parse(settings), { server: name, tool, input: {} }, context).then(
      (result) => ({ result }),
      ({ code, message, hint }) => ({ code, message, hint }),
    )
    console.log(JSON.stringify(said))`

  /** In a process of its own, which nobody closes. */
  async function asked(
    name: string,
    tool: string,
  ): Promise<{ said: Record<string, unknown>; loads: readonly string[] }> {
    const { workshop } = lobby
    await build({
      entryPoints: [repository('src/runners/mcp-tool/mcp-servers.ts')],
      outfile: workshop.path('servers.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['@modelcontextprotocol/sdk'],
      logLevel: 'error',
    })
    const script = workshop.file('ask.mjs', ASK)
    const args = ['--import', WATCH, script, name, tool, JSON.stringify(lobby.settings)]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
    return { said: JSON.parse(stdout), loads: stderr.split('\n').filter((line) => line.startsWith('LOADS ')) }
  }

  it('is loaded for a server that is asked, which does not keep the process', async () => {
    symlinkSync(repository('node_modules'), lobby.workshop.path('node_modules'))
    const { said, loads } = await asked('tests', 'pid')
    expect(said).toHaveProperty('result.content')
    expect(loads).not.toEqual([])
    await lobby.workshop.noneRunning()
  })

  it('is not loaded before', async () => {
    symlinkSync(repository('node_modules'), lobby.workshop.path('node_modules'))
    const { said, loads } = await asked('nobody', 'pid')
    expect(said).toMatchObject({ code: 'HOOK_NOT_STARTED', message: expect.stringContaining('"nobody"') })
    expect(loads).toEqual([])
  })

  it('is named if it is not installed', async () => {
    const { said } = await asked('tests', 'pid')
    expect(said).toEqual({
      code: 'HOOK_NOT_STARTED',
      message: 'The library @modelcontextprotocol/sdk is not installed; hooks of type mcp_tool need it',
      hint: 'npm install @modelcontextprotocol/sdk@1',
    })
  })
})
