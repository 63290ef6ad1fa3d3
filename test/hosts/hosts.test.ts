// The table of hosts: every row is complete, and names only what there is.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CATALOGUE, toolNamesLike } from '../../src/core/events/catalogue.js'
import { AGENT_PROGRAMS, AGENT_VARIABLES, markAmong } from '../../src/files/agent-shell.js'
import { processesIn } from '../../src/files/process.js'
import { HOST_NAMES, HOSTS, type HostName, hostNamed } from '../../src/hosts/hosts.js'
import { allSetups } from '../../src/hosts/setups.js'

const EVENTS = Object.keys(CATALOGUE)

it('has every host once', () => {
  expect(new Set(HOST_NAMES).size).toBe(HOST_NAMES.length)
  expect(HOST_NAMES.map((name) => hostNamed(name)?.name)).toEqual(HOST_NAMES)
  expect(hostNamed('constructor')).toBeUndefined()
})

/** The variables by which each agent's shells are known. None: it is not known to set one. */
const SHELLS: Readonly<Record<HostName, readonly string[]>> = {
  'amazon-q': [],
  antigravity: [],
  'claude-code': ['CLAUDECODE'],
  cline: ['CLINE_ACTIVE'],
  'cline-core': [],
  codex: ['CODEX_CI', 'CODEX_SANDBOX', 'CODEX_THREAD_ID'],
  copilot: ['COPILOT_CLI'],
  crush: ['CRUSH', 'AI_AGENT'],
  cursor: ['CURSOR_AGENT'],
  droid: [],
  gemini: ['GEMINI_CLI'],
  goose: ['GOOSE_TERMINAL'],
  kimi: [],
  kiro: [],
  letta: [],
  opencode: ['OPENCODE'],
  openhands: [],
  pi: [],
  qwen: ['QWEN_CODE'],
  vscode: [],
  windsurf: [],
}
/** Agents that are no hosts. */
const OTHER_SHELLS = ['AUGMENT_AGENT']

it('knows the shells of agents by their variables, each once', () => {
  const known = [...Object.values(SHELLS).flat(), ...OTHER_SHELLS]
  expect([...AGENT_VARIABLES].sort()).toEqual(known.sort())
})

/** Editors, which have terminals for people; and `q`, which starts the agent as `qchat`. */
const NO_AGENTS = ['code', 'cursor', 'kiro', 'q', 'windsurf']

it('knows the programs of all agents that setup knows', async () => {
  const programs = (await allSetups()).flatMap(({ setup }) => setup.programs)
  expect(programs.filter((name) => ![...AGENT_PROGRAMS, ...NO_AGENTS].includes(name))).toEqual([])
})

describe('a process above that is an agent', () => {
  const shell = { pid: 0, name: 'bash', words: ['-bash'] }
  const run = (name: string, ...words: string[]) => markAmong([shell, { pid: 0, name, words }, shell])

  it.each(AGENT_PROGRAMS)('is known as %s, however it was started', (name) => {
    const mark = `process 0, which started this, is the agent ${name}`
    expect(run(name, name)).toBe(mark)
    expect(run('x', `/opt/bin/${name}`, '--flag')).toBe(mark)
    expect(run('node', '/usr/bin/node', '--no-warnings', `/usr/local/bin/${name}`)).toBe(mark)
    expect(run('python3.12', 'python3.12', `/home/me/.local/bin/${name}`)).toBe(mark)
    expect(run('sh', '/bin/sh', `./${name}`)).toBe(mark)
    expect(run('MainThread', `C:\\bin\\${name}.exe`)).toBe(mark)
    expect(markAmong(processesIn(`    1     0 /sbin/launchd\n  120   1 node /bin/${name} -c\n`))).toMatch(
      name,
    )
  })

  it.each([
    '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js',
    '/home/me/node_modules/@google/gemini-cli/dist/index.js',
    '/x/node_modules/opencode-ai/bin/main.js',
  ])('is known by its package: %s', (file) => expect(run('node', 'node', file)).toContain('is the agent'))

  it.each([
    ['nothing', ''],
    ['an editor with a file of that name', 'vim', '/home/me/claude'],
    ['a command that only mentions one', 'bash', '-c', 'echo claude'],
    ['a terminal', 'gnome-terminal-server', '--name', 'codex'],
    ['a folder of that name', '/home/claude/bin/zsh'],
    ['a script beside one', 'node', '/home/me/claude/server.js', 'gemini'],
  ])('is not %s', (_, ...words) => expect(run('x', ...words)).toBeUndefined())
})

describe.each(HOSTS)('$name', ({ title, events = {}, tools = {}, can, timeout, timeouts = {} }) => {
  it('is in the documentation', () => {
    expect(readFileSync('docs/hosts.md', 'utf8')).toContain(title)
  })

  it('names events of the catalogue', () => {
    const honoured = typeof can === 'function' ? [] : Object.keys(can)
    const named = [
      ...Object.values(events).filter((name) => name !== null),
      ...honoured,
      ...Object.keys(timeouts),
    ]
    expect(named.filter((name) => !EVENTS.includes(name))).toEqual([])
  })

  it("has Claude Code's names for tools", () => {
    const names = Object.values(tools).flatMap((tool) => tool.names)
    expect(names.filter((name) => !/^(?:Bash|Read|Write|Edit)$/.test(name))).toEqual([])
  })

  it('has tools that an embedder is warned of, should a gate have their other name', () => {
    const own = /^(?:Bash|Read|Write|Edit|MultiEdit|multiedit)$/
    for (const [tool, { names }] of Object.entries(tools))
      if (!own.test(tool))
        expect([tool, toolNamesLike(tool)]).toEqual([tool, expect.arrayContaining([...names])])
  })

  it('waits for some time', () => {
    for (const seconds of [timeout, ...Object.values(timeouts)]) expect(seconds).toBeGreaterThan(0)
  })
})
