// The table of what hooks can do under each agent: as the agents were seen to do it, and as answers really are.

import { describe, expect, it } from 'vitest'
import { askUser, deny, inject, modify } from '../../src/core/events/result.js'
import { abilityFacts, contextCarrier, type Wish } from '../../src/hosts/abilities.js'
import { answerFor, eventFrom } from '../../src/hosts/agent-event.js'
import { HOSTS, type HostName, hostNamed, type KnownHost } from '../../src/hosts/hosts.js'

const factsOf = (host: HostName): Readonly<Record<Wish, string>> => {
  const facts = abilityFacts(hostNamed(host) as KnownHost).map(({ wish, how }) => [wish, how] as const)
  return Object.fromEntries(facts) as Record<Wish, string>
}

/** Change a call; context at a prompt, at the start, after and before a tool; refuse a stop. As eleven agents were seen to do it. */
const SEEN: Readonly<Partial<Record<HostName, string>>> = {
  'claude-code': 'yes yes yes yes yes yes',
  codex: 'yes yes yes yes yes yes',
  gemini: 'yes yes yes yes via yes',
  qwen: 'no yes yes yes via yes',
  copilot: 'yes yes yes yes yes yes',
  kimi: 'no yes via via via yes',
  letta: 'no no no no no no',
  cline: 'no yes via yes yes no',
  'cline-core': 'yes yes yes yes yes no',
  opencode: 'yes yes yes yes via no',
  pi: 'yes yes yes yes via yes',
}
const COLUMNS: readonly Wish[] = [
  'change a tool call',
  'context with a prompt',
  'context at the start',
  'context after a tool',
  'context before a tool',
  'refuse a stop',
]

it.each(Object.entries(SEEN))('%s does what it was seen to do: %s', (host, seen) => {
  const facts = factsOf(host as HostName)
  expect(COLUMNS.map((wish) => facts[wish]).join(' ')).toBe(seen)
})

const CALL = {
  session_id: 's',
  cwd: '/p',
  tool_name: 'Bash',
  tool_input: { command: 'ls', description: 'd' },
}
const asked = (agent: HostName, name: string) => eventFrom(agent, { ...CALL, hook_event_name: name })

describe.each(HOSTS)('$name', (host) => {
  const { name: agent } = host
  const facts = factsOf(agent)
  const said = (name: string, result: Parameters<typeof answerFor>[2]) => {
    const { stdout, stderr = '' } = answerFor(agent, asked(agent, name), result)
    return `${stdout}${stderr}`
  }

  it('has an entry for every wish, and can deny a call', () => {
    for (const { how, text } of abilityFacts(host)) expect(text.startsWith(how)).toBe(true)
    expect(facts['deny a tool call']).toBe('yes')
    expect(said('PreToolUse', deny('not so'))).toContain('not so')
  })

  it('applies a change exactly where the table says so', () => {
    const changed = { command: 'safe', description: 'd' }
    const isApplied = !said('PreToolUse', modify({ tool_input: changed })).includes('cannot apply the change')
    expect(isApplied).toBe(facts['change a tool call'] === 'yes')
  })

  it('asks exactly where the table says so', () => {
    const isAsked = /"(?:force_)?ask"/.test(
      said('PreToolUse', askUser('really?')).replace('"decision":"ask"', ''),
    )
    expect(isAsked).toBe(facts['ask a person'] === 'yes')
  })

  it.each([
    ['SessionStart', 'context at the start'],
    ['UserPromptSubmit', 'context with a prompt'],
    ['PreToolUse', 'context before a tool'],
    ['PostToolUse', 'context after a tool'],
  ] as const)('takes context on %s exactly where the table says so', (event, wish) => {
    expect(said(event, inject('remember')).includes('remember')).toBe(facts[wish] === 'yes')
    const carrier = contextCarrier(host, event)
    expect(carrier !== undefined).toBe(facts[wish] === 'via')
    if (carrier !== undefined) expect(said(carrier, inject('remember'))).toContain('remember')
  })
})
