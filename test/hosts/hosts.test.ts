// The table of hosts: every row is complete, and names only what there is.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { AGENT_VARIABLES } from '../../src/files/agent-shell.js'
import { HOST_NAMES, HOSTS, type HostName, hostNamed } from '../../src/hosts/hosts.js'

const EVENTS = Object.keys(CATALOGUE)

it('has every host once', () => {
  expect(new Set(HOST_NAMES).size).toBe(HOST_NAMES.length)
  expect(HOST_NAMES.map((name) => hostNamed(name)?.name)).toEqual(HOST_NAMES)
  expect(hostNamed('constructor')).toBeUndefined()
})

/** The variables by which each agent's shells are known. None: it is not known to set one. */
const SHELLS: Readonly<Record<HostName, readonly string[]>> = {
  'amazon-q': [],
  'claude-code': ['CLAUDECODE'],
  cline: ['CLINE_ACTIVE'],
  codex: ['CODEX_CI', 'CODEX_SANDBOX', 'CODEX_THREAD_ID'],
  copilot: ['COPILOT_CLI'],
  crush: ['CRUSH', 'AI_AGENT'],
  cursor: ['CURSOR_AGENT'],
  droid: [],
  gemini: ['GEMINI_CLI'],
  goose: ['GOOSE_TERMINAL'],
  kimi: [],
  letta: [],
  openhands: [],
  qwen: ['QWEN_CODE'],
  vscode: [],
  windsurf: [],
}
/** Agents that are no hosts. */
const OTHER_SHELLS = ['AUGMENT_AGENT', 'OPENCODE']

it('knows the shells of agents by their variables, each once', () => {
  const known = [...Object.values(SHELLS).flat(), ...OTHER_SHELLS]
  expect([...AGENT_VARIABLES].sort()).toEqual(known.sort())
})

describe.each(HOSTS)('$name', ({ title, events = {}, tools = {}, can, timeout, timeouts = {} }) => {
  it('is in the documentation', () => {
    expect(readFileSync('docs/write-a-hook.md', 'utf8')).toContain(title)
  })

  it('names events of the catalogue', () => {
    const honoured = typeof can === 'function' ? [] : Object.keys(can)
    const named = [...Object.values(events), ...honoured, ...Object.keys(timeouts)]
    expect(named.filter((name) => !EVENTS.includes(name))).toEqual([])
  })

  it("has Claude Code's names for tools", () => {
    expect(Object.values(tools).flat()).toEqual(
      Object.values(tools)
        .flat()
        .filter((name) => /^(?:Bash|Read|Write|Edit)$/.test(name)),
    )
  })

  it('waits for some time', () => {
    for (const seconds of [timeout, ...Object.values(timeouts)]) expect(seconds).toBeGreaterThan(0)
  })
})
