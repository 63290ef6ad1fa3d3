// Settings of agents that keep them from running what setup registered: each is told, with the file.

import { describe, expect, it } from 'vitest'
import { isOurs, packEntries } from '../../src/hosts/entries.js'
import type { HostProblem } from '../../src/hosts/host-setup.js'
import { allSetups, type KnownSetup } from '../../src/hosts/setups.js'

const SETUPS = new Map<string, KnownSetup>((await allSetups()).map((known) => [known.host.name, known]))

function told(
  agent: string,
  files: Readonly<Record<string, unknown>>,
  more: { folder?: string; env?: NodeJS.ProcessEnv } = {},
): readonly HostProblem[] {
  const { setup } = SETUPS.get(agent) ?? {}
  const read = (path: string) => {
    const value = files[path]
    return value === undefined || typeof value === 'string' ? value : JSON.stringify(value)
  }
  const { folder = `/h/${setup?.folder}`, env = {} } = more
  return setup?.problems?.({ home: '/h', project: '/p', folder, env, read }) ?? []
}

const OFF = { disableAllHooks: true }
const LETTA = { hooks: { disabled: false } }

describe.each<[agent: string, file: string, value: unknown, where: string]>([
  ['gemini', '/h/.gemini/settings.json', { hooksConfig: { enabled: false } }, 'at all'],
  ['gemini', '/h/.gemini/settings.json', { hooksConfig: { disabled: ['x', 'carabiner'] } }, 'at all'],
  ['gemini', '/p/.gemini/settings.json', { hooksConfig: { enabled: false } }, 'in this project'],
  ['gemini', '/p/.gemini/settings.json', { hooksConfig: { disabled: ['carabiner'] } }, 'in this project'],
  ['gemini', '/etc/gemini-cli/settings.json', { hooksConfig: { enabled: false } }, 'at all'],
  ['qwen', '/h/.qwen/settings.json', OFF, 'at all'],
  ['qwen', '/p/.qwen/settings.json', OFF, 'in this project'],
  ['copilot', '/h/.copilot/hooks/carabiner.json', OFF, 'at all'],
  ['letta', '/h/.letta/settings.json', { hooks: { disabled: true } }, 'at all'],
  ['vscode', '/h/.config/Code/User/settings.json', { 'chat.useHooks': false }, 'at all'],
  ['vscode', '/p/.vscode/settings.json', { 'chat.useHooks': false }, 'in this project'],
])('%s by %s', (agent, file, value, where) => {
  it.skipIf(process.platform === 'darwin' && agent === 'vscode')('is told', () => {
    const found = told(agent, { [file]: value })
    expect(found).toEqual([expect.objectContaining({ severity: 'broken', file })])
    expect(found[0]?.text).toMatch(new RegExp(`, so .* runs no(?:ne of its)? hooks? ${where}$`))
    expect(found[0]?.fix).toMatch(/remove/i)
  })
})

describe('the file that decides', () => {
  it('is the one of the project in Gemini CLI and Qwen Code', () => {
    const user = { hooksConfig: { enabled: false } }
    const local = { hooksConfig: { enabled: true } }
    expect(told('gemini', { '/h/.gemini/settings.json': user, '/p/.gemini/settings.json': local })).toEqual(
      [],
    )
    expect(
      told('qwen', { '/h/.qwen/settings.json': OFF, '/p/.qwen/settings.json': { disableAllHooks: false } }),
    ).toEqual([])
  })

  it('is the one of the user in Letta Code', () => {
    const local = { '/p/.letta/settings.local.json': { hooks: { disabled: true } } }
    expect(told('letta', { ...local, '/h/.letta/settings.json': LETTA })).toEqual([])
    expect(
      told('letta', { ...local, '/h/.letta/settings.json': {} }).map(({ severity }) => severity),
    ).toEqual(['broken', 'note'])
  })
})

describe('Letta Code', () => {
  const known = SETUPS.get('letta')
  const [form] = known?.setup.files.map((file) => file.form) ?? []
  const entries = known
    ? packEntries({ node: '/n/node', script: '/c/carabiner.js' }, undefined, {
        host: known.host,
        events: Object.keys(known.setup.events),
      })
    : []
  const put = (text?: string) => form?.put(text, entries, { file: 'f', earlier: new Map() }) ?? ''

  it.each([undefined, '{}', '{"hooks":{"Stop":[]}}', '{"x":1}'])(
    'is told that projects may not switch hooks off: %s',
    (text) => {
      const after = put(text)
      expect(told('letta', { '/h/.letta/settings.json': after })).toEqual([])
      expect(JSON.parse(after).hooks.disabled).toBe(false)
      expect(JSON.parse(form?.take(after, 'f', isOurs) ?? '')).toEqual(
        JSON.parse(text === undefined ? '{}' : text),
      )
    },
  )

  it('keeps what the user says', () => {
    const after = put('{"hooks":{"disabled":true}}')
    expect(JSON.parse(after).hooks.disabled).toBe(true)
    expect(form?.take(after, 'f', isOurs)).toBe('{"hooks":{"disabled":true}}')
  })

  it('keeps the switch as long as a hook of ours is there', () => {
    const after = put()
    const isGuard = (handler: unknown) => JSON.stringify(handler).includes('pre-tool-use')
    const rest = form?.take(after, 'f', isGuard) ?? ''
    if (JSON.parse(rest).hooks) expect(JSON.parse(rest).hooks.disabled).toBe(false)
  })
})

describe('a file that the agent cannot read', () => {
  it.each([
    [
      'gemini',
      '/h/.gemini/settings.json',
      '{"a":1,}',
      'it has a trailing comma, so Gemini CLI does not start',
    ],
    ['gemini', '/h/.gemini/settings.json', '\uFEFF{}', /byte order mark/],
    ['qwen', '/h/.qwen/settings.json', '{"a":1,}', 'it has a trailing comma, so Qwen Code does not start'],
    ['letta', '/h/.letta/settings.json', '// x\n{"hooks":{"disabled":false}}', /comments.*goes on without/],
    ['letta', '/h/.letta/settings.json', '{"hooks":{"disabled":false', /not valid JSON/],
  ])('%s: %s with %j', (agent, file, text, why) => {
    const [first] = told(agent, { [file]: text })
    expect(first).toMatchObject({ severity: 'broken', file, text: expect.stringMatching(why) })
  })

  it.each([
    ['gemini', '/h/.gemini/settings.json', '// x\n{"a":1 /* y */}'],
    ['qwen', '/h/.qwen/settings.json', '\uFEFF// x\n{"a":1}'],
    ['letta', '/h/.letta/settings.json', '{"hooks":{"disabled":false}}'],
  ])('is not one that it can: %s', (agent, file, text) => {
    expect(told(agent, { [file]: text })).toEqual([])
  })

  it('is emptied by Qwen Code in a project', () => {
    const found = told('qwen', { '/p/.qwen/settings.json': '{"a":1,}' }, { folder: '/p/.qwen' })
    expect(found[0]?.text).toContain('Qwen Code empties it')
  })
})

describe('other switches', () => {
  it('are told of Kiro, opencode and Copilot CLI', () => {
    const action = { command: 'carabiner hook pre-tool-use' }
    const hooks = [
      { enabled: false, action },
      { enabled: true, action },
      { enabled: false, action: {} },
    ]
    expect(told('kiro', { '/h/.kiro/hooks/carabiner.json': { hooks } })[0]?.text).toContain('1 of its hooks')
    expect(told('opencode', {}, { env: { OPENCODE_PURE: '1' } })[0]?.fix).toBe('unset OPENCODE_PURE')
    expect(told('opencode', {})).toEqual([])
    expect(told('copilot', { '/h/.copilot/settings.json': OFF })[0]).toMatchObject({ severity: 'note' })
  })
})
