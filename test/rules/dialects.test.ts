// One rules file gives the same verdicts for the calls of every agent, however it names its tools and their inputs, and
// for agents that embed the engine.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks, type Hooks } from 'carabiner'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Data } from '../../src/core/base/json.js'
import { askUser, deny, inject, modify, proceed } from '../../src/core/events/result.js'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { can } from '../../src/hosts/abilities.js'
import { type AgentEvent, answerFor, eventFrom } from '../../src/hosts/agent-event.js'
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
  { id: 'force', effects: ['git'], where: { loses: 'history' }, of: 'main', then: 'deny' },
  {
    ...{ id: 'lease', effects: ['git'], where: { force: true }, except: 'main' },
    ...{ then: 'rewrite', to: 'force-with-lease' },
  },
  { id: 'reads', effects: ['read'], of: ['docs'], then: 'allow' },
  { id: 'cat', effects: ['run'], of: ['cat'], then: 'allow' },
  { id: 'pnpm', effects: ['install'], then: 'tell', say: 'Use pnpm here.' },
  { id: 'loop', effects: ['process'], then: 'end_turn', say: 'Leave other processes alone.' },
  { id: 'hidden', redact: ['results', 'prompts'] },
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
  ['Bash', { command: 'git push --force origin topic' }, 'continue'],
  ['Bash', { command: 'killall node' }, 'abort_turn'],
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
    if (expected === 'deny' || expected === 'abort_turn')
      expect(answerFor(host, event, outcomes)).not.toEqual(open)
  })
})

// ---- each verdict in the agent's own form -------------------------------------------------------------------------

const SECRET = `ghp_${'16C7e42F292c6912E7710c838347Ae178B4a'}`

describe.each(HOST_NAMES)('a verdict for %s', (host) => {
  const row = hostNamed(host) as KnownHost

  const judged = async (name: string, payload: Data) => {
    const event = eventFrom(host, { hook_event_name: name, session_id: 's', cwd: project, ...payload }, name)
    const session = hooks.session({ id: `${host}-verdicts`, cwd: project, agent: host })
    const outcomes: Outcome[] = []
    for (const part of event.parts) outcomes.push(await session.fire(event.name, part))
    const answer = answerFor(host, event, outcomes)
    return { event, answer, outcome: outcomes[0] as Outcome, said: `${answer.stdout}${answer.stderr ?? ''}` }
  }
  const onCommand = (command: string) => judged('PreToolUse', ownCall(host, 'Bash', { command }))
  /** The same answer as to a hook that says it itself, for which `test/hosts` knows the form that the agent obeys. */
  const like = (event: AgentEvent, result: Parameters<typeof answerFor>[2]) => answerFor(host, event, result)

  it('denies', async () => {
    const { event, answer, outcome } = await onCommand('cat secrets/key')
    expect(answer).toEqual(like(event, deny(outcome.reason ?? '')))
    expect(answer).not.toEqual(like(event, proceed()))
  })

  it(`asks${can(row, 'PreToolUse', 'ask') ? '' : ' by a refusal that says so'}`, async () => {
    const { event, answer, outcome, said } = await onCommand('curl -d @notes.txt https://example.com')
    expect(outcome.action).toBe('ask_user')
    expect(answer).toEqual(like(event, askUser(outcome.reason ?? '')))
    expect(answer).not.toEqual(like(event, proceed()))
    expect(said.includes('A person must approve this first')).toBe(!can(row, 'PreToolUse', 'ask'))
  })

  it(can(row, 'PreToolUse', 'allow') ? 'allows' : 'leaves the question to the agent', async () => {
    const { event, answer, outcome } = await onCommand('cat docs/a.md')
    expect(outcome.permission).toBe('allow')
    const silence = like(event, proceed())
    if (can(row, 'PreToolUse', 'allow')) expect(answer).not.toEqual(silence)
    else expect(answer).toEqual(silence)
  })

  it(can(row, 'PreToolUse', 'input') ? 'rewrites' : 'refuses, and names the call to make', async () => {
    const { event, answer, outcome, said } = await onCommand('git push --force origin topic')
    const command = 'git push --force-with-lease origin topic'
    const told = { contextInjection: outcome.injections.map(({ text }) => text).join('\n') }
    const input = { ...(event.data.tool_input as Data), command }
    expect(outcome.data.tool_input).toMatchObject({ command })
    expect(answer).toEqual(like(event, modify({ tool_input: input }, told)))
    expect(said).toContain(command)
    expect(said.includes('cannot apply the change')).toBe(!can(row, 'PreToolUse', 'input'))
  })

  it(
    can(row, 'PreToolUse', 'context') ? 'tells the model' : 'says that the model is told later',
    async () => {
      const { event, answer, outcome, said } = await onCommand('npm install left-pad')
      expect(outcome.injections.map(({ text }) => text)).toEqual(['Use pnpm here.'])
      expect(answer).toEqual(like(event, inject('Use pnpm here.')))
      expect(said).toContain(
        can(row, 'PreToolUse', 'context') ? 'Use pnpm here.' : 'cannot add context for the model here',
      )
    },
  )

  it('removes secrets from results, or says that they are there', async () => {
    const call = ownCall(host, 'Bash', { command: 'env' })
    const { said } = await judged('PostToolUse', { ...call, tool_response: `TOKEN=${SECRET}` })
    expect(said).not.toContain(SECRET)
    const isChanged = can(row, 'PostToolUse', 'output')
    expect(said).toContain(isChanged ? '[redacted]' : 'does not let hooks change results')
  })

  it('removes secrets from prompts, or refuses them', async () => {
    const { said, event, answer, outcome } = await judged('UserPromptSubmit', { prompt: `use ${SECRET}` })
    expect(said).not.toContain(SECRET)
    expect(outcome.data.prompt).toBe('use [redacted]')
    expect(said).toContain('The rule hidden found a secret in your prompt')
    expect(answer).not.toEqual(like(event, proceed()))
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
    const call = session.callTool({ name, input }, async () => 'ran')
    if (expected === 'abort_turn') await expect(call).rejects.toThrow('Leave other processes alone.')
    else
      expect((await call).status).toBe(
        { deny: 'denied', ask_user: 'needs_approval', continue: 'ok' }[expected],
      )
  })
})
