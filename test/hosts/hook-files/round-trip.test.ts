// Whatever is written in an agent's format is read back as the same hooks.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tomlOf } from '../../../src/files/toml-out.js'
import { jsonOfToml } from '../../../src/files/toml-text.js'
import { type AgentHook, fileOf, hookIn } from '../../../src/hosts/hook-files/agent-hook.js'
import type { AgentSystem } from '../../../src/hosts/hook-files/agent-system.js'
import { agentAt, agentOf, hookFiles } from '../../../src/hosts/hook-files/hook-files.js'
import { foundIn } from '../../../src/hosts/hook-files/layout.js'
import { runs, seeded } from '../../property/runs.js'

const AGENTS = await hookFiles()

/** Hooks that the agent can have. */
function hooksOf(agent: AgentSystem): fc.Arbitrary<AgentHook> {
  const has = (key: string) => agent.keys?.includes(key) ?? false
  const text = fc.string({ minLength: 1, maxLength: 40 }).filter((one) => one.trim() !== '')
  const maybe = <T>(isIn: boolean, arbitrary: fc.Arbitrary<T>) =>
    fc.option(isIn ? arbitrary : fc.constant(undefined), { nil: undefined })
  const grouped = agent.layout === 'groups'
  return fc
    .record({
      event: fc.constantFrom(...Object.keys(agent.events)),
      command: text,
      windows: maybe(has('powershell'), text),
      matcher: maybe(
        agent.layout !== 'named' && !agent.hasNoMatcher,
        fc.constantFrom('Bash', 'Write|Edit', '.*', ''),
      ),
      timeout: maybe(!agent.hasNoTimeout, fc.integer({ min: 1, max: 600 })),
      dir: maybe(has('cwd') || has('working_directory'), text),
      env: maybe(has('env'), fc.dictionary(fc.constantFrom('A', 'B'), text)),
      failsClosed: maybe(has('failClosed'), fc.constant(true as const)),
      isSequential: maybe(grouped && agent.hasSequential === true, fc.constant(true as const)),
      isOff: maybe(agent.layout === 'triggers', fc.constant(true as const)),
      files: maybe(agent.layout === 'triggers', fc.array(text, { minLength: 1, maxLength: 2 })),
    })
    .map(({ windows, ...one }) => ({ ...one, windows: windows === one.command ? undefined : windows }))
    .map((one) => {
      const fields = Object.entries(one).filter(([, value]) => value !== undefined)
      return { ...Object.fromEntries(fields), type: 'command', more: {}, strange: [] } as unknown as AgentHook
    })
}

function readBack(agent: AgentSystem, text: string): readonly AgentHook[] {
  const json = agent.layout === 'toml' ? jsonOfToml(text)?.json : text
  const { entries, odd } = foundIn(agent, JSON.parse(json ?? ''))
  expect(odd).toEqual([])
  return entries.map((entry) => hookIn(agent, entry, 'linux'))
}

/** Events may change their places among each other, but not the hooks of one event. */
function byEvent(hooks: readonly AgentHook[]): Readonly<Record<string, readonly AgentHook[]>> {
  const events = [...new Set(hooks.map(({ event }) => event))].sort()
  return Object.fromEntries(events.map((event) => [event, hooks.filter((hook) => hook.event === event)]))
}

describe.each(AGENTS.map((agent) => [agent.name, agent] as const))('%s', (_, agent) => {
  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.array(hooksOf(agent), { maxLength: 6 }), (hooks) => {
        const file = fileOf(agent, hooks)
        const text = agent.layout === 'toml' ? tomlOf(file) : JSON.stringify(file)
        expect(byEvent(readBack(agent, text))).toEqual(byEvent(hooks))
      }),
      { numRuns: runs(300), ...seeded(22) },
    )
  })

  it('is recognised by the place of its file', () => {
    if (agent.file === 'hooks/hooks.json') return // a plugin of any agent
    expect(agentAt(AGENTS, `/home/me/project/${agent.file}`)?.name).toBe(agent.name)
    expect(agentOf(AGENTS, `/home/me/project/${agent.file}`, {})?.name).toBe(agent.name)
  })
})

it.each(['.claude/settings.json', '.amplifier/hooks/hooks.json', 'hooks/hooks.json', 'cursor.json'])(
  '%s is no other agent’s',
  (path) => {
    expect(
      agentOf(AGENTS, `/home/me/${path}`, {
        hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'x' }] }] },
      }),
    ).toBeUndefined()
  },
)

describe('a file of goose', () => {
  const file = (matcher: string) => ({
    hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command: 'x' }] }] },
  })

  it('is recognised where goose looks for plugins', () =>
    expect(agentOf(AGENTS, '/home/me/.agents/plugins/mine/hooks/hooks.json', file('shell'))?.name).toBe(
      'goose',
    ))

  it.each([
    ['developer__shell', 'goose'],
    ['^(developer__text_editor|developer__shell)$', 'goose'],
    ['mcp__developer__shell', undefined],
    ['mcp__github__push', undefined],
    ['Bash', undefined],
  ])('is recognised by the matcher %s: %s', (matcher, name) =>
    expect(agentOf(AGENTS, '/home/me/plugin/hooks/hooks.json', file(matcher))?.name).toBe(name),
  )
})
