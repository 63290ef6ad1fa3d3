// Slips in settings: a restriction that is misspelt does not open, one bad part leaves the others, and what was meant is said.

import { describe, expect, it } from 'vitest'
import { DEFAULT_MERGED } from '../../src/config/merged-settings.js'
import { checkOptions, isFlag } from '../../src/core/base/options.js'
import { load, only } from './temp-tree.js'

const USER = 'home/.amplifier/settings.json'
const PROJECT = 'project/.amplifier/settings.json'
const user = (hooks: object, beside: object = {}) => load({ [USER]: { ...beside, hooks } })
const project = (hooks: object) => load({ [PROJECT]: { hooks } })

describe('a restriction that is no value of its setting', () => {
  it.each([
    ['allowed_http_urls', 'https://policy.example.com/*'],
    ['allowed_http_urls', { 'https://policy.example.com/*': true }],
    ['allowed_http_urls', false],
    ['http_allowed_env_vars', 'POLICY_TOKEN'],
    ['allowed_private_hosts', 'localhost:8787'],
  ] as const)('%s: %j allows nothing, which is said', async (key, value) => {
    const config = await user({ [key]: value })
    expect(config.settings).toEqual({ ...DEFAULT_MERGED, [key]: [] })
    expect(only(config)).toMatchObject({ code: 'setting-invalid', line: 3 })
    expect(only(config).text).toMatch(new RegExp(`^"${key}" must be a list .*; nothing is allowed until`))
  })

  it.each([
    ['allowed_http_urls', ['https://a.example/*', 5, 'a.example', 'https://b.example/*'], [0, 3]],
    ['http_allowed_env_vars', ['A', 'B=C', null, 'D'], [0, 3]],
    ['allowed_private_hosts', ['localhost', 'http://x/', [], '10.0.0.0/8'], [0, 3]],
  ] as const)('%s: of a list every entry counts that is one', async (key, value, right) => {
    const config = await user({ [key]: value })
    expect(config.settings[key]).toEqual(right.map((i) => value[i]))
    expect(config.diagnostics).toMatchObject([
      { code: 'setting-invalid', line: 5, text: expect.stringContaining('allows nothing: ') },
      { code: 'setting-invalid', text: expect.stringContaining('allows nothing: ') },
    ])
  })

  it.each([
    ['on_failure', 'deny', 'block'],
    ['audit_on_failure', 'deny', 'block'],
    ['bypass', 'false', false],
    ['recheck', true, 'all'],
  ])('%s: %j is the strictest that there is', async (key, value, strictest) => {
    const config = await user({ [key]: value })
    expect(config.settings).toEqual({ ...DEFAULT_MERGED, [key]: strictest })
    expect(only(config).text).toContain(`; ${JSON.stringify(strictest)} is in force`)
  })
})

describe('mcp_servers', () => {
  const good = { command: 'node', args: ['policy.mjs'] }

  it.each([
    [{ command: 'node', args: 'policy.mjs' }, 'mcp_servers.policy.args must be a list of strings'],
    [{ command: 'node', env: { TOKEN: 5 } }, 'mcp_servers.policy.env must be an object of strings'],
    [{ command: ['node'] }, 'mcp_servers.policy.command must be a string, the program'],
    [{ command: 'node', agrs: [] }, 'mcp_servers.policy has no key "agrs"; did you mean args?'],
    [{ comand: 'node' }, 'mcp_servers.policy has no key "comand"; did you mean command?'],
    [{ url: 'mcp.example.com' }, 'mcp_servers.policy.url must be a URL that begins with http:// or https://'],
    [{ url: 'https://x/', headers: [] }, 'mcp_servers.policy.headers must be an object of strings'],
    [{ type: 'sse', url: 'https://x/' }, 'mcp_servers.policy.type must be "http"'],
    [{}, 'mcp_servers.policy needs a "command" or a "url"'],
    ['node policy.mjs', 'mcp_servers.policy must be an object with a "command" or a "url"'],
  ])('of which one is %j names the field, and keeps the others', async (policy, text) => {
    const config = await user({ mcp_servers: { policy, good } })
    expect(config.settings.mcp_servers).toEqual({ good })
    expect(only(config)).toMatchObject({
      code: 'setting-invalid',
      text: `${text}; this server is left out`,
      line: 4,
    })
  })

  it('never shows what a field holds: it may be a secret', async () => {
    const config = await user({ mcp_servers: { policy: { command: 'node', env: 'TOKEN=hunter2' } } })
    expect(JSON.stringify(config.diagnostics)).not.toContain('hunter2')
  })

  it('of another kind are none', async () => {
    const config = await user({ mcp_servers: [good] })
    expect(config.settings.mcp_servers).toEqual({})
    expect(only(config).text).toMatch(/^"mcp_servers" must be an object of servers.*it is ignored$/)
  })
})

describe('a name under "hooks" that does not exist', () => {
  it.each([
    ['modle', { provider: 'openai', name: 'x' }, 'there is no setting "modle"; did you mean model?'],
    ['mcpServers', {}, 'there is no setting "mcpServers"; did you mean mcp_servers?'],
    [
      'allowed_private_host',
      ['x'],
      'there is no setting "allowed_private_host"; did you mean allowed_private_hosts?',
    ],
    ['default_timout', 5, 'there is no setting "default_timout"; did you mean default_timeout?'],
    ['PreTolUse', [], 'there is no event "PreTolUse", so its hooks never run; did you mean PreToolUse?'],
    ['colour', 'red', 'there is no setting "colour"; it is ignored'],
    // What holds hooks is an event, whatever it is called.
    ['modl', [{ hooks: [] }], 'there is no event "modl", so its hooks never run'],
  ])('%s is told what was meant', async (name, value, text) => {
    expect(only(await user({ [name]: value })).text).toBe(text)
  })
})

describe('a setting beside "hooks"', () => {
  it.each([
    ['model', { provider: 'openai', name: 'x' }, 'model'],
    ['model', { provder: 'openai' }, 'model'],
    ['mcpServers', {}, 'mcp_servers'],
    ['mcp_servers', {}, 'mcp_servers'],
    ['allowed_private_hosts', 'localhost', 'allowed_private_hosts'],
    ['on_failure', 'block', 'on_failure'],
  ])('%s: %j is told where it belongs', async (key, value, right) => {
    const text = `"${key}" beside "hooks" is ignored: settings go under "hooks", as in {"hooks": {"${right}": …}}`
    for (const file of [{ [key]: value }, { [key]: value, hooks: {} }]) {
      const config = await load({ [USER]: file })
      expect(config.settings).toEqual(DEFAULT_MERGED)
      expect(only(config)).toMatchObject({ code: 'unknown-key', line: 2, text })
    }
  })

  it('of another agent is none of ours', async () => {
    const config = await user({}, { model: 'opus', env: { A: '1' }, permissions: {}, mcpServers: 'x' })
    expect(config.diagnostics).toEqual([])
  })
})

describe('what only the user may set', () => {
  it.each([
    ['model', { provider: 'openai', name: 'x' }],
    ['mcp_servers', { policy: { command: 'node' } }],
    ['allowed_private_hosts', ['localhost']],
  ])('%s of a project is ignored, and told where it counts', async (key, value) => {
    const config = await project({ [key]: value })
    expect(config.settings).toEqual(DEFAULT_MERGED)
    expect(only(config)).toMatchObject({
      code: 'setting-ignored',
      text: `"${key}" is ignored here: only ~/.amplifier/settings.json may set it`,
    })
  })
})

describe('an option in code', () => {
  it('that does not exist is told which one was meant', () => {
    const check = (given: object) => () =>
      checkOptions('createHooks', given, { approver: isFlag, watch: isFlag })
    expect(check({ aprover: true })).toThrow(
      'createHooks: unknown option aprover; did you mean approver? Choose from approver, watch',
    )
    expect(check({ colour: true })).toThrow('createHooks: unknown option colour; choose from approver, watch')
  })
})

describe('every setting', () => {
  const VALUES: Readonly<Record<string, unknown>> = {
    trust_missing: 'block',
    audit_calls: false,
    recheck: 'all',
    stop_block_total: 7,
  }

  it.each(Object.entries(VALUES))('%s stands under "hooks"', async (key, value) => {
    const config = await user({ [key]: value })
    expect(config.diagnostics).toEqual([])
    expect(config.settings).toMatchObject({ [key]: value })
  })

  it.each(Object.keys(DEFAULT_MERGED).filter((key) => key.includes('_')))(
    '%s beside "hooks" is told where it belongs',
    async (key) => {
      const value = DEFAULT_MERGED[key as keyof typeof DEFAULT_MERGED]
      const config = await user({}, { [key]: value })
      expect(config.diagnostics).toMatchObject([{ text: expect.stringContaining('hooks'), line: 2 }])
    },
  )
})
