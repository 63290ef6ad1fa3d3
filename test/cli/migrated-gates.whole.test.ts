// A gate that was migrated from one agent to another still refuses there, whatever words its program uses.

import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Data, isObject } from '../../src/core/base/json.js'
import { tomlOf } from '../../src/files/toml-out.js'
import { agentCall } from '../../src/hosts/hook-files/agent-call.js'
import { type AgentHook, fileOf, hookIn } from '../../src/hosts/hook-files/agent-hook.js'
import type { AgentSystem } from '../../src/hosts/hook-files/agent-system.js'
import { foundIn } from '../../src/hosts/hook-files/layout.js'
import { formatNamed as load } from '../../src/hosts/hook-files/own-formats.js'
import { hostNamed } from '../../src/hosts/hosts.js'
import { FORMAT_NAMES, planAgentMigration } from '../../src/plugins/migrate/agent-migration.js'
import { decode } from '../../src/systems/claude-code/decode.js'
import { encode } from '../../src/systems/claude-code/encode.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

const FORMATS = (await Promise.all(FORMAT_NAMES.map(load))) as AgentSystem[]
const formatNamed = (name: string) => FORMATS.find((format) => format.name === name) as AgentSystem

let project: Project
beforeAll(() => {
  project = new Project()
  project.file('bin/carabiner', `#!/bin/sh\nexec "${process.execPath}" "${programFile()}" "$@"\n`, 0o755)
})
afterAll(() => project.remove())

const IN_JSON: Readonly<Record<string, object>> = {
  cursor: { permission: 'deny', agent_message: 'why' },
  copilot: { permissionDecision: 'deny', permissionDecisionReason: 'why' },
  gemini: { decision: 'deny', reason: 'why' },
  openhands: { decision: 'deny', reason: 'why' },
  goose: { decision: 'block', reason: 'why' },
  crush: { decision: 'deny', reason: 'why' },
  antigravity: { decision: 'deny', reason: 'why' },
}
const LIKE_CLAUDE = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'why',
  },
}
const BY_CODE = new Set(['windsurf', 'kiro', 'amazon-q', 'letta', 'kimi'])

/** Refuses in the words of its agent, and keeps what it read. */
function gateOf({ name }: AgentSystem): string {
  if (BY_CODE.has(name)) return 'cat > seen.json; echo why >&2; exit 2'
  return `cat > seen.json; echo '${JSON.stringify(IN_JSON[name] ?? LIKE_CLAUDE)}'`
}

function shellEvent({ events }: AgentSystem): string {
  const found = Object.entries(events).filter(([, { to }]) => to === 'PreToolUse')
  const [name = ''] =
    found.find(([, { tools }]) => tools?.includes('Bash')) ?? found.find(([, { tools }]) => !tools) ?? []
  return name
}

function call() {
  const data: Data = {
    session_id: 's1',
    cwd: project.folder,
    transcript_path: '/t.jsonl',
    tool_name: 'Bash',
    tool_input: { command: 'git push --force' },
    tool_use_id: 'u1',
  }
  return { name: 'PreToolUse', data, session: undefined }
}

function callAs(agent: AgentSystem) {
  return agentCall({ agent: agent.name, event: shellEvent(agent) }, call(), project.folder)
}

function migrated(from: AgentSystem, to: AgentSystem): AgentHook {
  const event = shellEvent(from)
  const hook: AgentHook = { event, type: 'command', command: './gate.sh', more: {}, strange: [] }
  project.file('gate.sh', `#!/bin/sh\n${gateOf(from)}\n`, 0o755)
  const file = fileOf(from, [hook])
  const source = project.file(
    `from-${from.name}.${from.layout === 'toml' ? 'toml' : 'json'}`,
    from.layout === 'toml' ? tomlOf(file) : file,
  )
  const target = project.path(`to-${to.name}.json`)
  const plan = planAgentMigration({ from, to, projectDir: project.folder, source, target })
  expect(plan.warnings).toEqual([])
  const after = plan.changes[0]?.after ?? ''
  if (to.layout === 'toml') {
    const [, text = '""'] = /^command = (".*")$/m.exec(after) ?? []
    return { ...hook, command: JSON.parse(text) as string }
  }
  const [entry] = foundIn(to, JSON.parse(after)).entries
  if (!entry) throw new Error('nothing was migrated')
  return hookIn(to, entry, 'linux')
}

/** What the other agent makes of the hook's answer. */
async function answerIn(to: AgentSystem, command: string) {
  const sent = await callAs(to)
  const { status, signal, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: project.folder,
    input: sent?.payload ?? encode(call()),
    encoding: 'utf8',
    env: project.env({ PATH: `${project.path('bin')}${delimiter}${process.env.PATH}` }),
  })
  const reply = { code: status, signal, stdout, stderr, cut: false }
  return decode(call(), sent?.answer(reply) ?? reply, { name: 'x', onFailure: 'continue' }, () => {})
}

/** Some agents do not send it, so it cannot be passed on. */
const UNSENT: ReadonlySet<string> = new Set(['timestamp', 'transcript_path', 'tool_use_id'])

const HOSTS = FORMATS.filter(({ name, events }) => hostNamed(name) && shellEvent({ events } as AgentSystem))
const pairs = [
  ...FORMATS.map((from) => [from.name, 'gemini'] as const),
  ...HOSTS.map((to) => ['cursor', to.name] as const),
  ['claude-code', 'codex'] as const,
].filter(([from, to]) => from !== to)

describe('a gate', () => {
  it.each(pairs)('from %s refuses in %s, and reads what it was written for', async (source, target) => {
    const [from, to] = [formatNamed(source), formatNamed(target)]
    const { command = '' } = migrated(from, to)
    expect(await answerIn(to, command)).toMatchObject({
      action: 'deny',
      reason: expect.stringContaining('why'),
    })
    const seen: unknown = JSON.parse(project.read('seen.json'))
    const expected: unknown = JSON.parse((await callAs(from))?.payload ?? encode(call()))
    const keys = isObject(expected) ? Object.keys(expected).filter((key) => !UNSENT.has(key)) : []
    expect(Object.keys(seen as object)).toEqual(expect.arrayContaining(keys))
    if (isObject(expected) && 'tool_name' in expected)
      expect(seen).toMatchObject({ tool_name: expected.tool_name })
  })

  it('stays closed where Carabiner is not installed', () => {
    const { command = '' } = migrated(formatNamed('cursor'), formatNamed('gemini'))
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    })
    expect(status).toBe(2)
    expect(stderr).toContain('This hook needs Carabiner')
  })
})
