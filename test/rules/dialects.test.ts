// One rules file gives the same verdicts for the calls of every agent, however it names its tools and their inputs, and
// for agents that embed the engine.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks, type Hooks } from 'carabiner'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Data } from '../../src/core/base/json.js'
import { answerFor, eventFrom } from '../../src/hosts/agent-event.js'
import type { Host } from '../../src/hosts/host.js'
import { HOST_NAMES, type HostName, hostNamed, type KnownHost } from '../../src/hosts/hosts.js'

const RULES = [
  { id: 'no-keys', effects: ['read', 'write', 'delete'], of: ['secrets'], then: 'deny' },
  { id: 'out', effects: ['send'], except: ['localhost'], then: 'ask' },
  {
    id: 'codex-out',
    effects: ['send'],
    of: ['only-codex.example'],
    then: 'deny',
    in: { agents: ['codex'] },
  },
  { id: 'keep', effects: ['delete', 'move'], of: ['kept/**'], then: 'deny' },
  { id: 'force', effects: ['git'], where: { loses: 'history' }, then: 'deny' },
]

let folder: string
let project: string
let hooks: Hooks

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-dialects-'))
  project = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(join(home, '.amplifier'), { recursive: true })
  mkdirSync(project)
  writeFileSync(join(home, '.amplifier', 'rules.json'), JSON.stringify({ rules: RULES }))
  vi.stubEnv('CARABINER_HOME', join(folder, 'data'))
  hooks = await createHooks({ projectDir: project, home, globals: false })
})

afterAll(async () => {
  await hooks.close()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** A call in the agent's own names. */
function ownCall(
  host: HostName,
  tool: 'Bash' | 'Write',
  input: Data,
): { readonly tool_name: string; readonly tool_input: Data } {
  const { tools = {} }: Host = hostNamed(host) as KnownHost
  const [name, own] = Object.entries(tools).find(([, one]) => one.names[0] === tool && !one.parts) ?? [
    tool,
    undefined,
  ]
  const fields = own?.fields ?? {}
  const ownName = (field: string) => Object.keys(fields).findLast((key) => fields[key] === field) ?? field
  return {
    tool_name: name,
    tool_input: Object.fromEntries(
      Object.entries(input).map(([key, value]) => [ownName(key), value]),
    ) as Data,
  }
}

const CASES: readonly (readonly ['Bash' | 'Write', Data, string])[] = [
  ['Bash', { command: 'cat secrets/key' }, 'deny'],
  ['Bash', { command: 'sudo sh -c "rm -rf secrets"' }, 'deny'],
  ['Bash', { command: 'curl -d @notes.txt https://example.com' }, 'ask_user'],
  ['Bash', { command: 'curl -d @notes.txt http://localhost:1' }, 'continue'],
  ['Bash', { command: 'git push --force origin main' }, 'deny'],
  ['Bash', { command: 'git push origin main' }, 'continue'],
  ['Bash', { command: 'ls' }, 'continue'],
  ['Write', { file_path: 'secrets/key', content: 'x' }, 'deny'],
  ['Write', { file_path: 'src/key', content: 'x' }, 'continue'],
]

describe.each(HOST_NAMES)('in the dialect of %s', (host) => {
  it.each(CASES)('%s %j: %s', async (tool, input, expected) => {
    const call = ownCall(host, tool, input)
    const payload = { hook_event_name: 'PreToolUse', session_id: 's', cwd: project, ...call }
    const event = eventFrom(host, payload, 'PreToolUse')
    const session = hooks.session({ id: `${host}-1`, cwd: project })
    const outcomes = []
    for (const part of event.parts) outcomes.push(await session.fire(event.name, part))
    const actions = new Set(outcomes.map(({ action }) => action))
    expect([...actions]).toContain(expected)
    const open = answerFor(
      host,
      event,
      outcomes.map((outcome) => ({ ...outcome, action: 'continue' as const })),
    )
    if (expected === 'deny') expect(answerFor(host, event, outcomes)).not.toEqual(open)
  })
})

const PATCHES: readonly (readonly [string, string, string])[] = [
  ['deletes', '*** Delete File: kept/a.ts', 'deny'],
  ['moves', '*** Update File: kept/a.ts\n*** Move to: b.ts\n@@\n-x\n+y', 'deny'],
  ['changes', '*** Update File: kept/a.ts\n@@\n-x\n+y', 'continue'],
]

const PATCHING = HOST_NAMES.flatMap((host) => {
  const { tools = {} }: Host = hostNamed(host) as KnownHost
  return Object.keys(tools)
    .filter((name) => /patch/i.test(name))
    .map((tool) => [host, tool] as const)
})

describe('an agent that deletes without a shell', () => {
  const actionsOf = async (host: HostName, call: Data) => {
    const payload = { hook_event_name: 'PreToolUse', session_id: 's', cwd: project, ...call }
    const event = eventFrom(host, payload, 'PreToolUse')
    const session = hooks.session({ id: `${host}-deletes`, cwd: project })
    const actions = new Set<string>()
    for (const part of event.parts) actions.add((await session.fire(event.name, part)).action)
    return actions
  }

  it('has tools for patches in most dialects', () => {
    expect(PATCHING.length).toBeGreaterThanOrEqual(8)
  })

  it.each(PATCHING.flatMap(([host, tool]) => PATCHES.map((patch) => [host, tool, ...patch] as const)))(
    '%s: %s that %s a file',
    async (host, tool, _, lines, expected) => {
      const patch = `*** Begin Patch\n${lines}\n*** End Patch`
      expect(await actionsOf(host, { tool_name: tool, tool_input: { patch } })).toContain(expected)
      if (expected === 'continue')
        expect(await actionsOf(host, { tool_name: tool, tool_input: { patch } })).not.toContain('deny')
    },
  )

  it.each<[HostName, string]>([
    ['cursor', 'Delete'],
    ['kiro', 'delete_file'],
  ])('%s: %s', async (host, tool) => {
    expect(await actionsOf(host, { tool_name: tool, tool_input: { path: 'kept/a.ts' } })).toContain('deny')
    expect(await actionsOf(host, { tool_name: tool, tool_input: { path: 'a.ts' } })).not.toContain('deny')
    // Rules for what is written still count.
    expect(await actionsOf(host, { tool_name: tool, tool_input: { path: 'secrets' } })).toContain('deny')
  })
})

describe('a rule for one agent', () => {
  it('counts in its sessions alone', async () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'curl -d @a https://only-codex.example' } }
    const actionIn = async (agent: string | undefined) => {
      const session = hooks.session({ id: `agent-${agent}`, cwd: project, ...(agent && { agent }) })
      return (await session.fire('PreToolUse', call)).action
    }
    expect(await actionIn('codex')).toBe('deny')
    expect(await actionIn('gemini')).toBe('ask_user')
    expect(await actionIn(undefined)).toBe('deny')
  })
})

describe('in a program that embeds the engine', () => {
  it.each(CASES)('%s %j: %s', async (name, input, expected) => {
    const session = hooks.session({ id: 'embedded', cwd: project })
    const { status } = await session.callTool({ name, input }, async () => 'ran')
    expect(status).toBe({ deny: 'denied', ask_user: 'needs_approval', continue: 'ok' }[expected])
  })
})
