// Hooks carried over between agents: nothing is lost without a word, and events, seconds and tools stay the same.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveEvent } from '../../src/core/events/events.js'
import { tomlOf } from '../../src/files/toml-out.js'
import { type AgentHook, fileOf, hookIn } from '../../src/hosts/hook-files/agent-hook.js'
import { whenOf } from '../../src/hosts/hook-files/agent-matcher.js'
import type { AgentSystem } from '../../src/hosts/hook-files/agent-system.js'
import { foundIn } from '../../src/hosts/hook-files/layout.js'
import { formatNamed as load } from '../../src/hosts/hook-files/own-formats.js'
import { FORMAT_NAMES, planAgentMigration } from '../../src/plugins/migrate/agent-migration.js'
import { tree } from '../config/temp-tree.js'

const FORMATS = (await Promise.all(FORMAT_NAMES.map(load))) as AgentSystem[]
const formatNamed = (name: string) => FORMATS.find((format) => format.name === name) as AgentSystem

function hook(agent: AgentSystem, event: string, more: Partial<AgentHook> = {}): AgentHook {
  const timeout = agent.hasNoTimeout ? {} : { timeout: 7 }
  return { event, type: 'command', command: `./${event}.sh`, ...timeout, more: {}, strange: [], ...more }
}

function write(project: string, agent: AgentSystem, hooks: readonly AgentHook[]): void {
  const path = join(project, agent.file)
  mkdirSync(dirname(path), { recursive: true })
  const file = fileOf(agent, hooks)
  writeFileSync(path, agent.layout === 'toml' ? tomlOf(file) : JSON.stringify(file, null, 2))
}

function migrate(project: string, from: string, to: string) {
  return planAgentMigration({
    from: formatNamed(from),
    to: formatNamed(to),
    projectDir: project,
    source: undefined,
    target: undefined,
  })
}

const pairs = FORMATS.flatMap((from) =>
  FORMATS.filter((to) => to !== from).map((to) => [from.name, to.name] as const),
)

describe('every pair of agents', () => {
  it.each(pairs)('%s to %s: each hook moves with its event and seconds, or is said to stay', (from, to) => {
    const [source, target] = [formatNamed(from), formatNamed(to)]
    const project = tree()
    const hooks = Object.keys(source.events).map((event) => hook(source, event))
    write(project, source, hooks)
    const plan = migrate(project, from, to)
    expect(plan.moved.length + plan.left.length).toBe(hooks.length)
    const after = plan.changes[0]?.after ?? '{}'
    // Carabiner gets another agent's hooks in that agent's own format.
    const format = to === 'carabiner' && from !== 'claude-code' ? source : target
    const isToml = target.layout === 'toml'
    const written = isToml
      ? after.split('[[hooks]]').length - 1
      : foundIn(format, JSON.parse(after)).entries.length
    expect(written).toBeGreaterThanOrEqual(plan.moved.length > 0 ? 1 : 0)
    if (isToml) return
    for (const entry of foundIn(format, JSON.parse(after)).entries) {
      const read = hookIn(format, entry, 'linux')
      const name = /\.\/(\w*)\.sh$/.exec(read.command ?? '')?.[1] ?? ''
      expect(source.events[name]?.to).toBe(format.events[read.event]?.to)
      if (format === source) {
        expect(read).toMatchObject(hook(source, name))
        continue
      }
      if (!target.hasNoTimeout)
        expect(read.timeout).toBe(
          source.hasNoTimeout ? (source.timeout === target.timeout ? undefined : source.timeout) : 7,
        )
    }
  })

  const gates = pairs.filter(([from, to]) =>
    [from, to].every((name) =>
      Object.values(formatNamed(name).events).some((one) => one.to === 'PreToolUse'),
    ),
  )

  it.each(gates)('%s to %s: a gate for the shell stays one for the shell', (from, to) => {
    const [source, target] = [formatNamed(from), formatNamed(to)]
    const project = tree()
    const [event, row] = Object.entries(source.events).find(
      ([, one]) => one.to === 'PreToolUse' && (!one.tools || one.tools.includes('Bash')),
    ) ?? ['']
    const matcher = row?.tools ? {} : { matcher: source.tools.Bash?.[0] ?? 'Bash' }
    write(project, source, [hook(source, event, matcher)])
    const { changes } = migrate(project, from, to)
    if (target.layout === 'toml') return expect(changes[0]?.after).toContain('Bash')
    const format = to === 'carabiner' && from !== 'claude-code' ? source : target
    const found = foundIn(format, JSON.parse(changes[0]?.after ?? '{}')).entries.map((entry) =>
      hookIn(format, entry, 'linux'),
    )
    const matches = (tool: string) =>
      found.some((one) => whenOf(format, one, resolveEvent('PreToolUse')).matcher?.test(tool) ?? true)
    expect(matches('Bash')).toBe(true)
    expect(matches('WebFetch')).toBe(false)
  })
})

describe('a migration', () => {
  it('keeps what the target has, and adds nothing twice', () => {
    const project = tree({
      '.cursor/hooks.json': {
        version: 1,
        hooks: { beforeSubmitPrompt: [{ command: './a.sh', timeout: 5 }] },
      },
      '.gemini/settings.json': '{\n  // mine\n  "theme": "dark",\n  "hooks": { "BeforeAgent": [] }\n}\n',
    })
    const { changes } = migrate(project, 'cursor', 'gemini')
    expect(changes[0]?.after).toContain('// mine')
    expect(changes[0]?.after).toContain('5000')
    writeFileSync(join(project, '.gemini/settings.json'), changes[0]?.after ?? '')
    const again = migrate(project, 'cursor', 'gemini')
    expect(again.changes).toEqual([])
    expect(again.moved).toMatchObject([{ isNew: false }])
    expect(readFileSync(join(project, '.cursor/hooks.json'), 'utf8')).toContain('./a.sh')
  })

  it('says what the other agent cannot do', () => {
    const project = tree({
      '.cursor/hooks.json': {
        version: 1,
        hooks: {
          beforeShellExecution: [
            { command: '"$CURSOR_PROJECT_DIR"/x', matcher: '^git', timeout: 5, failClosed: true },
          ],
          afterAgentThought: [{ command: 'y' }],
          stop: [{ type: 'prompt', prompt: 'done?' }],
        },
      },
    })
    const { left, notes } = migrate(project, 'cursor', 'windsurf')
    expect(left.map(({ why }) => why)).toEqual([
      'Windsurf has no event like afterAgentThought',
      'Windsurf runs no hooks of type prompt',
    ])
    expect(notes.map(({ why }) => why).join('\n')).toMatch(/timeout of 5 s/)
  })

  it('warns of a gate that nothing translates', () => {
    const project = tree({
      '.cursor/hooks.json': {
        version: 1,
        hooks: {
          beforeShellExecution: [
            { command: '"$CURSOR_PROJECT_DIR"/x', matcher: '^git', timeout: 5, failClosed: true },
          ],
          afterFileEdit: [{ command: './log.sh' }],
        },
      },
    })
    const { warnings, notes } = migrate(project, 'cursor', 'devin')
    expect(warnings).toMatchObject([{ line: 5, why: expect.stringContaining('does NOT block in Devin') }])
    expect(notes.map(({ why }) => why).join('\n')).toMatch(/text of the command[\s\S]*if the hook fails/)
  })

  it('keeps what a server of another agent answers where it is', () => {
    const project = tree({
      '.github/hooks/hooks.json': {
        version: 1,
        hooks: { preToolUse: [{ type: 'http', url: 'https://example.com/gate' }] },
      },
    })
    expect(migrate(project, 'copilot', 'qwen').left).toMatchObject([
      { why: expect.stringContaining('Copilot CLI’s words') },
    ])
  })

  it('copies another agent’s hooks to Carabiner, and adds new ones later', () => {
    const hooks = { beforeShellExecution: [{ command: './a.sh', matcher: '^git' }] }
    const project = tree({ '.cursor/hooks.json': { version: 1, hooks } })
    const { changes, target } = migrate(project, 'cursor', 'carabiner')
    expect(target.path).toBe(join(project, '.amplifier/hooks/cursor/hooks.json'))
    expect(JSON.parse(changes[0]?.after ?? '')).toMatchObject({ agent: 'cursor', hooks })
    mkdirSync(dirname(target.path), { recursive: true })
    writeFileSync(target.path, changes[0]?.after ?? '')
    expect(migrate(project, 'cursor', 'carabiner').changes).toEqual([])
    const more = { ...hooks, stop: [{ command: './b.sh' }] }
    writeFileSync(join(project, '.cursor/hooks.json'), JSON.stringify({ version: 1, hooks: more }))
    expect(JSON.parse(migrate(project, 'cursor', 'carabiner').changes[0]?.after ?? '')).toMatchObject({
      agent: 'cursor',
      hooks: more,
    })
    writeFileSync(target.path, '{"hooks":{}}')
    expect(() => migrate(project, 'cursor', 'carabiner')).toThrow('is not a copy of Cursor’s hooks')
  })

  it('does with a shell what the other agent has no key for', () => {
    const project = tree({
      '.github/hooks/hooks.json': {
        version: 1,
        hooks: { preToolUse: [{ type: 'command', bash: './x', cwd: 'sub dir', env: { A: 'b c' } }] },
      },
    })
    const { changes } = migrate(project, 'copilot', 'codex')
    expect(changes[0]?.after).toContain(String.raw`cd '\\''sub dir'\\'' && export A='\\''b c'\\''; ./x'`)
    expect(migrate(project, 'copilot', 'devin').changes[0]?.after).toContain(
      "cd 'sub dir' && export A='b c'; ./x",
    )
  })

  it('refuses a file that is not valid', () => {
    const project = tree({ '.cursor/hooks.json': '{' })
    expect(() => migrate(project, 'cursor', 'gemini')).toThrow('.cursor/hooks.json:1 is not valid JSON')
  })

  it('has nothing to do without a file', () => {
    expect(migrate(tree(), 'cursor', 'gemini')).toMatchObject({ changes: [], sources: [] })
  })
})
