import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { version } from '../../src/cli/version.js'
import { digest } from '../../src/core/base/digest.js'
import { programStamp } from '../../src/verify/agents.js'
import { keepProof, type ProofRecord } from '../../src/verify/proof-record.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const bare = (...args: readonly string[]) => project.call(args)
const ofUser = (hooks: object) => project.file('../home/.amplifier/hooks/hooks.json', { hooks })
const STOP = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] }

it('how many hooks are ready and what they listen to, and what to type next', async () => {
  ofUser(STOP)
  const { code, stdout, stderr } = await bare()
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.split('\n').slice(1)).toEqual([
    '  1 hook ready',
    '  Stop 1',
    'next carabiner explain Stop',
    'next carabiner setup --engine   # no agent runs these hooks yet; then yours do',
    '',
  ])
})

it('what is not trusted, and what is broken', async () => {
  project.hooks({ PreToolUse: [['Bash', 'true']], Stopp: [['', 'true']] })
  const { stdout } = await bare()
  expect(stdout).toContain('0 hooks ready\n  1 untrusted')
  expect(stdout).toContain('broken unknown-event .amplifier/hooks/hooks.json:')
  expect(stdout).toContain('next Correct .amplifier/hooks/hooks.json:')
  expect(stdout).toContain(
    '1 waits for trust\n    untrusted project (.amplifier/hooks/hooks.json): It is waiting for',
  )
  expect(stdout).toContain('next carabiner trust project\n')
})

it('G7: a hook whose matcher takes no tool is not ready', async () => {
  const of = (matcher: string) => [{ matcher, hooks: [{ type: 'command', command: 'true' }] }]
  ofUser({ PreToolUse: of('bash'), PostToolUse: of('Bash|raed'), SessionStart: of('Bash') })
  const { code, stdout } = await bare()
  expect(code).toBe(0)
  expect(stdout).toContain('  1 hook ready\n  2 match nothing\n')
  expect(stdout).toContain('warning matcher-never ~/.amplifier/hooks/hooks.json:')
  expect(stdout).toContain('did you mean Bash? Case matters')
  expect(stdout).toContain('next Correct ~/.amplifier/hooks/hooks.json:')
  expect(JSON.parse((await bare('--json')).stdout)).toMatchObject({
    matchesNothing: ['user:PreToolUse#1', 'user:SessionStart#1'],
    diagnostics: [{ code: 'matcher-never' }, { code: 'matcher-never' }, { code: 'matcher-never' }],
  })
  expect((await bare('list')).stdout).toContain('warning matcher-never ~/.amplifier/hooks/hooks.json:')
  expect((await bare('list')).stdout).toContain('3 hooks: 2 match nothing, 1 ready')
})

/** What was said to be typed next. */
const typed = (next = '', cwd = project.folder) => {
  const line = next.replace('next ', '').replace('carabiner', '"$0" "$1"')
  return project.run('sh', ['-c', line, process.execPath, programFile()], { cwd })
}

it('where there is nothing: what to type for a first hook, and for an agent, and it works', async () => {
  const { code, stdout } = await bare()
  expect(code).toBe(0)
  const [said, agent, hook, attempt, ...rest] = stdout.split('\n').slice(1)
  expect([said, agent, hook, attempt, ...rest]).toEqual([
    '  Nothing is set up here yet.',
    'next carabiner setup   # finds your agents, and guards them',
    'next carabiner new my-guard --matcher Bash   # a first hook, with its tests',
    expect.stringMatching(/^next echo '.*' \| carabiner hook pre-tool-use {3}# see it block a call$/),
    '',
  ])
  expect(await typed(attempt)).toMatchObject({ code: 2, stdout: expect.stringContaining('"deny"') })
  // Somebody has to agree to it.
  const agreed = agent?.replace('setup', 'setup --yes')
  mkdirSync(join(project.home, '.claude'))
  for (const next of [hook, agreed]) expect(await typed(next)).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse((await bare('--json')).stdout)).toMatchObject({
    hooks: { ready: 1 },
    diagnostics: [],
    notAsked: '1 hook is ready, but no agent runs it: your agent is set up with the standard pack only',
    next: [
      'carabiner explain PreToolUse --tool Bash',
      'carabiner setup --engine   # no agent runs these hooks yet; then yours do',
    ],
  })
  const fire = (command: string) => {
    const input = { tool_name: 'Bash', tool_input: { command } }
    return project.call(['fire', 'PreToolUse'], { input })
  }
  expect([(await fire('echo forbidden')).code, (await fire('ls')).code]).toEqual([2, 0])
})

it('where there is nothing elsewhere: the same for there', async () => {
  const { stdout } = await project.call(['--project', project.folder], { cwd: project.base })
  const next = /^next carabiner new .*$/m.exec(stdout)?.[0]
  expect(next).toContain("carabiner new my-guard --matcher Bash --project '")
  expect((await typed(next, project.base)).code).toBe(0)
  expect(project.has('.amplifier/hooks/my-guard/hooks.json')).toBe(true)
})

it('where Claude Code has hooks: how they come over', async () => {
  const handler = { type: 'command', command: 'true' }
  project.file('.claude/settings.json', { hooks: { Stop: [{ hooks: [handler] }] } })
  const { next } = JSON.parse((await bare('--json')).stdout)
  expect(next).toEqual([
    'carabiner setup   # finds your agents, and guards them',
    'carabiner migrate   # .claude/settings.json has hooks of Claude Code',
    'carabiner new my-guard --matcher Bash   # a first hook, with its tests',
    expect.stringContaining('| carabiner hook pre-tool-use'),
  ])
  expect((await typed(next[1])).stdout).toContain('1 hook would be migrated')
})

it.each([
  ['plugin folder', 'hooks/hooks.json'],
  ['plugin with a manifest', '.claude-plugin/plugin.json'],
  ['repository below a project', '../.amplifier/hooks/hooks.json'],
])('a %s is not fresh, and is pointed to', async (_, file) => {
  project.file('.git/HEAD', '')
  project.file(file, { name: 'p', hooks: {} })
  const { stdout } = await bare()
  expect(stdout).toContain('  0 hooks ready\n')
  expect(stdout).toMatch(/^next carabiner list --(?:plugin|project) /m)
  expect(stdout).not.toContain('carabiner new')
})

it('a question that the matcher of a hook takes', async () => {
  ofUser({ PreToolUse: [{ matcher: '^(Edit|Write)$', hooks: [{ type: 'command', command: 'true' }] }] })
  expect((await bare()).stdout).toContain('next carabiner explain PreToolUse --tool Edit\n')
})

it('what is switched off', async () => {
  ofUser(STOP)
  project.file('../home/.amplifier/settings.json', { hooks: { enabled: false } })
  const { stdout } = await bare()
  expect(stdout).toContain('0 hooks ready\n  1 disabled')
  expect(stdout).toContain('next carabiner list\n')
})

it('as JSON', async () => {
  ofUser(STOP)
  const { stdout } = await bare('--json')
  expect(JSON.parse(stdout)).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    project: project.folder,
    hooks: { ready: 1, untrusted: 0, modified: 0, disabled: 0, closed: 0 },
    findings: [],
    notRun: [],
    pack: [],
    runs: [],
    cannotStart: [],
    matchesNothing: [],
    expectations: [],
    events: { Stop: 1 },
    untrusted: [],
    diagnostics: [],
    next: [
      'carabiner explain Stop',
      'carabiner setup --engine   # no agent runs these hooks yet; then yours do',
    ],
  })
})

it('G7: what doctor would find, in a line each, and says to ask doctor', async () => {
  ofUser({ Stop: [{ hooks: [{ type: 'command', command: '/nowhere/check.sh' }] }] })
  project.file('../home/.claude/settings.json', '{ "hooks": { "PreTolUse": [{ "hooks": [] }] } }')
  const { code, stdout } = await bare()
  expect(code).toBe(0)
  expect(stdout).toContain('  0 hooks ready\n  1 cannot start\n')
  expect(stdout).toMatch(/\n {2}broken script-missing ~\S+json:\d+ user:Stop#1: it runs \/nowhere\/check\.sh/)
  expect(stdout).toMatch(
    /\n {2}broken unknown-event ~\/\.claude\/settings\.json:1: there is no event "PreTolUse"/,
  )
  expect(stdout).toContain('next carabiner doctor\n')
  const found = JSON.parse((await bare('doctor', '--json')).stdout).findings
  const { findings } = JSON.parse((await bare('--json')).stdout)
  expect(found.map(({ family: _, ...one }: { family: string }) => one)).toEqual(findings)
})

it('no more than five findings', async () => {
  const hook = (i: number) => ({ type: 'command', command: `/nowhere/${i}.sh` })
  ofUser({ Stop: [{ hooks: [1, 2, 3, 4, 5, 6, 7].map(hook) }] })
  const { stdout } = await bare()
  expect(stdout.match(/broken script-missing/g)).toHaveLength(5)
  expect(stdout).toContain('\n  and 2 more: carabiner doctor\n')
})

it('which hooks of the pack Claude Code runs', async () => {
  await bare('setup', 'claude-code', '--only', 'guard,stop')
  expect((await bare()).stdout).toContain('  Claude Code runs guard and stop of the standard pack\n')
})

it('does not say that Claude Code runs the guard where it does not', async () => {
  await bare('setup', 'claude-code', '--only', 'guard')
  project.file('.claude/settings.json', { disableAllHooks: true })
  const { stdout } = await bare()
  expect(stdout).toContain('broken hooks-off .claude/settings.json:2: "disableAllHooks" is true')
  expect(stdout).not.toContain('Claude Code runs the guard')
  project.file('.claude/settings.json', {})
  expect((await bare()).stdout).toContain('Claude Code runs the guard')
  const command = '"/nowhere/node" "/nowhere/carabiner.js" hook pre-tool-use'
  const hooks = [{ type: 'command', command, onFailure: 'block' }]
  project.file('../home/.claude/settings.json', { hooks: { PreToolUse: [{ matcher: '*', hooks }] } })
  const gone = (await bare()).stdout
  expect(gone).toContain('which does not exist, so Claude Code blocks every tool call until it is fixed')
  expect(gone).not.toContain('Claude Code runs')
  expect(gone).not.toContain('Nothing is set up')
})

it('leaves what keeps no hook from running to doctor', async () => {
  const env = { NODE_EXTRA_CA_CERTS: '/dev/null' }
  const { stdout } = await project.call([], { env })
  expect(stdout).toContain('Nothing is set up here yet.')
  expect(stdout).not.toContain('ca-certs')
})

describe('a trusted hook that was changed', () => {
  const change = async () => {
    project.hooks({ PreToolUse: [['Bash', 'true']] })
    await bare('trust', '--yes')
    project.hooks({ PreToolUse: [['Bash', 'false']] })
  }

  it('counts once, as it was trusted', async () => {
    await change()
    const { stdout } = await bare()
    expect(stdout).toContain('\n  1 hook ready\n  PreToolUse 1\n')
    expect(stdout).not.toContain('modified since')
  })

  it('is not ready if its gate is closed', async () => {
    await change()
    for (const name of ['copies', 'texts'])
      rmSync(join(project.home, '.local/share/carabiner', name), { recursive: true, force: true })
    const { stdout } = await bare()
    expect(stdout).toContain('\n  0 hooks ready\n  1 gate closed: what it would judge is refused\n')
    expect((await bare('list')).stdout).toMatch(
      /closed {2}project:PreToolUse#1 .*\n +refuses every call that it would judge/,
    )
  })
})

describe('a first run at a terminal', () => {
  const start = (typed: string, env = {}) =>
    project.onTerminal([], { input: typed, prompt: 'leave: ', columns: 150, env: { NO_COLOR: '1', ...env } })

  it('offers what to begin with, and does it', async () => {
    const { code, stdout } = await start('2\n')
    expect(stdout).toMatch(/ {2}1 {2}Guard Claude Code +carabiner setup claude-code\r?\n/)
    expect(code).toBe(0)
    expect(project.has('.amplifier/hooks/my-guard/hooks.json')).toBe(true)
    // There is something now, and nothing is asked any more.
    expect((await start('')).stdout).not.toContain('Type 1, 2 or 3')
  })

  it('shows a call that is blocked', async () => {
    const { code, stdout } = await start('3\n')
    expect(code).toBe(0)
    const after = stdout.slice(stdout.indexOf('carabiner hook pre-tool-use', stdout.indexOf('leave: ')))
    expect(after.replaceAll('\r', '')).toMatch(
      /^carabiner hook pre-tool-use\ndenied: This skips the checks of the repository\. .*\nThe call was denied, and nothing ran\.\nnext carabiner setup claude-code\n$/,
    )
  })

  it('is offered whatever is wrong besides, and answers what is not on the list', async () => {
    project.file('../home/.claude/settings.json', '{ "hooks": { "PreTolUse": [{ "hooks": [] }] } }')
    const { code, stdout } = await start('9\nq\n')
    expect(code).toBe(0)
    expect(stdout).toMatch(/ {2}3 {2}See the guard block a call.*\r?\n {2}broken unknown-event /)
    expect(stdout).toContain('"9" is not on the list.')
  })

  it('does nothing for Enter, and asks no agent', async () => {
    expect((await start('\n')).code).toBe(0)
    expect(readdirSync(project.home)).toEqual([])
    expect((await start('', { CLAUDECODE: '1' })).stdout).not.toContain('Type 1, 2 or 3')
  })
})

it('says when everything is bypassed', async () => {
  const { stdout } = await project.call([], { env: { CARABINER_OFF: '1' } })
  expect(stdout).toContain('broken bypassed')
  expect(stdout).toContain('next unset CARABINER_OFF')
})

describe('the last proof', () => {
  const proofOf = (circumstances: object, more: Partial<ProofRecord> = {}): ProofRecord => ({
    host: 'claude-code',
    title: 'Claude Code',
    version: '2.0.0',
    at: Date.UTC(2026, 1, 3),
    quick: false,
    network: 'none',
    facts: [{ name: 'command', state: 'held', text: 'with the hook, the command does not run' }],
    bypasses: [],
    circumstances: { ...now(), ...circumstances },
    ...more,
  })

  const claude = () => join(project.home, 'bin/claude')
  const now = () => ({
    program: programStamp(claude()) ?? '',
    configuration: digest([null]),
    hooks: digest([]),
    carabiner: version,
  })

  async function shown(circumstances: object, more: Partial<ProofRecord> = {}): Promise<string> {
    mkdirSync(join(project.home, 'bin'), { recursive: true })
    writeFileSync(claude(), '#!/bin/sh\n', { mode: 0o755 })
    vi.stubEnv('CARABINER_HOME', join(project.home, '.local/share/carabiner'))
    keepProof(proofOf(circumstances, more))
    vi.unstubAllEnvs()
    return (await project.call([], { env: { PATH: join(project.home, 'bin') } })).stdout
  }

  it('is shown with its date', async () => {
    expect(await shown({})).toContain('  proven: Claude Code 2.0.0, 2026-02-03, 1 fact held\n')
  })

  it('is said to be quick', async () => {
    expect(await shown({}, { quick: true })).toContain(
      '1 fact held; only a quick proof: carabiner verify claude-code shows the rest\n',
    )
  })

  it.each([
    ['program', 'the agent was updated'],
    ['configuration', "the agent's own hook settings changed"],
    ['hooks', 'your hooks changed'],
    ['carabiner', 'Carabiner was updated'],
  ])('is stale if the %s changed', async (what, why) => {
    expect(await shown({ [what]: 'other' })).toContain(
      `stale proof: Claude Code 2.0.0, 2026-02-03; since then ${why}: carabiner verify claude-code\n`,
    )
  })

  it('that did not hold is told first of all', async () => {
    const facts = [{ name: 'command', state: 'failed', text: 'it ran' }] as const
    expect(await shown({}, { facts })).toContain(
      'not proven: Claude Code 2.0.0, 2026-02-03; carabiner verify claude-code shows why\n',
    )
  })
})
