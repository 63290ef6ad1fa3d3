// Which calls the service answers: only those that it answers as the cold path would, for the user it was started for.

import { describe, expect, it } from 'vitest'
import { servedCall } from '../../src/cli/service/served-call.js'
import { HOST_NAMES } from '../../src/hosts/hosts.js'
import { PACK_NAMES } from '../../src/hosts/pack-names.js'
import { type Call, PROTOCOL } from '../../src/rpc/frames.js'

const HOMES = { HOME: '/home/ann', XDG_DATA_HOME: '/data' }
const PAYLOAD = {
  hook_event_name: 'PreToolUse',
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
}
const FIRE = ['fire', '--as', 'claude-code']

const call = (change: Partial<Call> = {}): Call => ({
  kind: 'call',
  protocol: PROTOCOL,
  pid: 4711,
  cwd: '/project',
  args: FIRE,
  script: '/bin/carabiner.js',
  env: HOMES,
  stdin: Buffer.from(JSON.stringify(PAYLOAD)),
  ...change,
})
const ask = (change: Partial<Call> = {}) => servedCall(call(change), HOMES)
const served = { run: expect.any(Function), interrupted: expect.any(Object) }

describe('callers', () => {
  it.each([
    ['HOME', '/tmp/x'],
    ['HOME', undefined],
    ['HOME', 'ann'],
    ['CARABINER_HOME', '/tmp/x'],
    ['CARABINER_HOME', '.'],
    ['XDG_DATA_HOME', '/tmp/x'],
    ['XDG_DATA_HOME', undefined],
    ['XDG_STATE_HOME', '/tmp/x'],
  ])('with another %s go the cold path: %s', async (name, value) => {
    const { [name as keyof typeof HOMES]: _, ...rest } = HOMES
    const env = value === undefined ? rest : { ...rest, [name]: value }
    expect(await ask({ env })).toBe(`${name} is not that of the service`)
  })

  it.each(['NODE_OPTIONS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'SSL_CERT_FILE', 'OPENSSL_CONF', 'TZ'])(
    'with %s go the cold path, unless it is empty',
    async (name) => {
      expect(await ask({ env: { ...HOMES, [name]: 'x' } })).toBe(`${name} is set`)
      expect(await ask({ env: { ...HOMES, [name]: '' } })).toEqual(served)
    },
  )

  it.each<[string, Partial<Call>]>([
    ['speak another protocol', { protocol: PROTOCOL + 1 }],
    ['have no working folder', { cwd: '' }],
    ['send what is not UTF-8', { stdin: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['send a byte order mark', { stdin: Buffer.from('\uFEFF{}') }],
  ])('that %s go the cold path', async (_, change) => {
    expect(await ask(change)).toBeTypeOf('string')
  })
})

describe('commands', () => {
  it.each([
    ...HOST_NAMES.map((host) => ['fire', '--as', host]),
    ['fire', '--as', 'claude-code', 'PreToolUse'],
    ['hook', 'pre-tool-use'],
    ['hook', 'user-prompt-submit', '--memory'],
  ])('are served as setup writes them: %s %s %s', async (...args) => {
    expect(await ask({ args: args.filter((arg) => arg !== undefined) })).toEqual(served)
  })

  it.each([
    [[]],
    [['trust', '--yes']],
    [['approve', 'x']],
    [['fire']],
    [['fire', '--as']],
    [['fire', '--as', 'nobody']],
    [['fire', '--as', 'claude-code', '--trust-all']],
    [['fire', '--as', 'claude-code', 'PreToolUse', '--json']],
    [['fire', 'PreToolUse']],
    [['hook']],
    [['hook', 'nothing']],
    [['hook', 'pre-tool-use', '--unlock']],
    [['hook', 'pre-tool-use', '--memory', '--unlock']],
  ])('are not served otherwise: %j', async (args) => {
    expect(await ask({ args })).toBe('the service does not run this command')
  })

  /** Programs belong to the caller. */
  /** They start programs, or read a file that the caller names. */
  const COLD = ['session-start', 'stop', 'session-end', 'pre-compact']

  it('of the pack are served unless they start programs or read files that callers name', async () => {
    const answers = await Promise.all(PACK_NAMES.map((name) => ask({ args: ['hook', name] })))
    const cold = PACK_NAMES.filter((_, i) => typeof answers[i] === 'string')
    expect([...cold].sort()).toEqual([...COLD].sort())
  })
})

describe('a lost service', () => {
  const lost = async (change: Partial<Call>) => {
    const answer = await ask(change)
    if (typeof answer === 'string') throw new Error(answer)
    return answer.interrupted
  }
  const INTERRUPTED = 'judging was interrupted; try again'

  it.each(['claude-code', 'codex', 'gemini', 'cline', 'copilot', 'letta'])(
    'refuses a tool call of %s',
    async (host) => {
      const { exit, stdout, stderr } = await lost({ args: ['fire', '--as', host] })
      expect(`${stdout}${stderr}`).toContain(INTERRUPTED)
      expect(exit === 2 || /"(?:deny|block|cancel)"/.test(stdout)).toBe(true)
    },
  )

  it('closes the guard, and opens hooks that only inform', async () => {
    expect((await lost({ args: ['hook', 'pre-tool-use'] })).exit).toBe(2)
    const prompt = { hook_event_name: 'UserPromptSubmit', session_id: 's', prompt: 'x' }
    const stdin = Buffer.from(JSON.stringify(prompt))
    expect((await lost({ args: ['hook', 'user-prompt-submit'], stdin })).exit).toBe(0)
  })

  it('is noticed before the agent gives up', async () => {
    expect((await lost({})).deadline).toBe(0.95 * 600_000)
    expect((await lost({ args: ['hook', 'user-prompt-submit'] })).deadline).toBe(0.95 * 10_000)
    expect((await lost({ args: ['hook', 'pre-tool-use'] })).deadline).toBe(0.95 * 600_000)
  })
})
