// runHook: in a process of its own, bundled from the sources, and in this one with everything handed in.

import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  askUser,
  deny,
  type HookHandlers,
  type HostAnswer,
  modify,
  type RunHookOptions,
  runHook,
} from '../../src/author/index.js'
import { isLarge, sample } from '../property/runs.js'
import { BASH, read } from '../systems/claude-code/reply.js'

let dir: string
let metafile: Metafile

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'author-test-'))
  const built = await build({
    entryPoints: [fileURLToPath(new URL('./one-shot-hook.ts', import.meta.url))],
    outfile: join(dir, 'hook.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Loaded late, and never by a hook.
    external: ['./setup.js', './proof.js', './hook-file.js'],
    metafile: true,
  })
  metafile = built.metafile
})
afterAll(() => rmSync(dir, { recursive: true }))

interface Said {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly telemetry: Readonly<Record<string, unknown>>
}

async function run(
  input: string | Buffer,
  policy: 'open' | 'closed' = 'open',
  more: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const { AMPLIFIER_HOOKS_DIR: _, ...env } = process.env
  const child = spawn(process.execPath, [join(dir, 'hook.mjs'), policy], {
    cwd: dir,
    env: { ...env, ...more },
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const exit = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { code, stdout, stderr, telemetry: telemetryIn(stderr) }
}

function telemetryIn(stderr: string): Said['telemetry'] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{"hook":'))
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0] as string)
}

const call = (toolName: string) =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    tool_name: toolName,
    tool_input: { key: 'sk-ant-0123456789abcdef' },
  })
/** Copilot’s own: refused by JSON alone, with exit code 0. */
const NATIVE = '{"sessionId":"s","timestamp":1,"hookName":"preToolUse","toolName":"bash","toolArgs":"{}"}'
const reasonIn = ({ stdout }: Said) => JSON.parse(stdout).hookSpecificOutput.permissionDecisionReason

describe('a hook in a process of its own', { concurrent: true, timeout: 60_000 }, () => {
  it('answers, and leaves one line of telemetry', async () => {
    const said = await run(call('Bash'))
    expect(said.code).toBe(2)
    expect(reasonIn(said)).toBe('no Bash')
    expect(said.telemetry).toEqual({
      hook: 'one-shot',
      event: 'PreToolUse',
      duration_us: expect.any(Number),
      result: 'ok',
    })
    expect(said.stderr).toBe(`no Bash\n${JSON.stringify(said.telemetry)}\n`)
  })

  it('says nothing if it has no opinion, no handler, or does not know the event', async () => {
    for (const input of [call('allow'), '{"hook_event_name":"Setup"}', '{"hook_event_name":"FutureEvent"}']) {
      expect(await run(input)).toMatchObject({ code: 0, stdout: '', telemetry: { result: 'ok' } })
    }
  })

  it('keeps its standard output for the answer', async () => {
    const said = await run(call('print'))
    expect(reasonIn(said)).toBe('quietly')
    expect(said.stderr).toContain('more noise')
    const { stdout } = await run(call('print'), 'open', { EARLY: '1' })
    expect(stdout).toBe(`early\n${said.stdout}`)
  })

  it('does not repeat the name of an event that it does not know', async () => {
    expect((await run('{"hook_event_name":"FutureEvent"}')).telemetry.event).toBe('Unknown')
  })

  it('recognizes our own engine by its environment if the payload is ambiguous', async () => {
    const payload = JSON.stringify({ ...JSON.parse(call('Bash')), timestamp: '2026-11-15T00:00:00.000Z' })
    expect((await run(payload)).code).toBe(0)
    expect((await run(payload, 'open', { AMPLIFIER_HOOKS_DIR: '/hooks' })).code).toBe(2)
  })

  it('answers in the shape of who asks', async () => {
    expect(await run(NATIVE)).toMatchObject({
      code: 0,
      stdout: '{"permissionDecision":"deny","permissionDecisionReason":"no bash"}\n',
    })
    const letta = { event_type: 'PreToolUse', working_directory: '/', tool_name: 'x', tool_input: {} }
    expect(await run(JSON.stringify(letta))).toMatchObject({ code: 2, stdout: '' })
  })

  it.each(['throw', 'throw-later', 'reject', 'exit', 'never', 'nonsense'])(
    'open: %s lets it go on, loudly',
    async (how) => {
      const said = await run(call(how))
      expect(said.code).toBe(0)
      expect(Object.keys(JSON.parse(said.stdout))).toEqual(['systemMessage'])
      expect(JSON.parse(said.stdout).systemMessage).toMatch(/^Hook one-shot failed: /)
      expect(said.telemetry).toMatchObject({ result: 'error', error: expect.any(String) })
      expect(`${said.stdout}${said.stderr}`).not.toMatch(/\n\s+at |sk-ant-0/)
    },
  )

  it.each(['throw', 'throw-later', 'reject', 'exit', 'never', 'nonsense'])(
    'closed: %s refuses',
    async (how) => {
      const said = await run(call(how), 'closed')
      expect(said.code).toBe(2)
      expect(reasonIn(said)).toMatch(/^Hook one-shot failed: /)
      expect(said.telemetry).toMatchObject({ result: 'error' })
      expect(`${said.stdout}${said.stderr}`).not.toMatch(/\n\s+at /)
    },
  )

  it('closed: an agent that wants to stop may stop', async () => {
    expect(await run('{"hook_event_name":"Stop"}', 'closed')).toMatchObject({
      code: 0,
      stdout: '{"systemMessage":"Hook one-shot failed: it broke. This event was not checked."}\n',
    })
  })

  it('what it leaves open does not keep the agent waiting', async () => {
    expect(reasonIn(await run(call('stay')))).toBe('and stays')
  })

  it('a long answer is written whole', async () => {
    expect(reasonIn(await run(call('large')))).toHaveLength(1_000_000)
  })

  it('a reader that has gone away is no failure', async () => {
    const child = spawn(process.execPath, [join(dir, 'hook.mjs')], { stdio: ['pipe', 'pipe', 'pipe'] })
    const closed = new Promise((resolve) => child.stdout.on('close', resolve))
    child.stdout.destroy()
    await closed
    child.stdin.end(NATIVE)
    const exit = new Promise((resolve) => child.on('close', resolve))
    const stderr = await text(child.stderr)
    expect([await exit, telemetryIn(stderr).result, stderr.split('\n')]).toEqual([
      0,
      'ok',
      [expect.any(String), ''],
    ])
  })

  it('a refusal that cannot be written is one by its exit code', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [join(dir, 'hook.mjs')], { stdio: ['pipe', full, 'pipe'] })
    closeSync(full)
    child.stdin?.end(NATIVE)
    const exit = new Promise((resolve) => child.on('close', resolve))
    const stderr = await text(child.stderr as NonNullable<typeof child.stderr>)
    expect([await exit, stderr]).toEqual([2, expect.stringContaining('could not be written: ENOSPC')])
  })
})

type Invalid = readonly [what: string, input: string | Buffer, says: string]

const INVALID: readonly Invalid[] = [
  ['nothing', '', 'the input is empty'],
  ['null', 'null', 'must be a JSON object'],
  ['a list', '[]', 'must be a JSON object'],
  ['two documents', '{"hook_event_name":"Stop"}{}', 'something follows'],
  ['half a document', '{"hook_event_name":"PreToolUse","hunter2', 'ends too early'],
  ['bytes', Buffer.from([0xff, 0xfe, 0x00, 0x80]), 'not UTF-8'],
  ['no event', '{"tool_name":"hunter2","tool_input":{}}', 'hook_event_name is missing'],
  ['no tool', '{"hook_event_name":"PreToolUse","tool_input":"hunter2"}', 'tool_input'],
  ['a deep one', '['.repeat(100_000), 'nested deeper'],
  ...(isLarge ? hugeInputs() : []),
]

function hugeInputs(): readonly Invalid[] {
  return [
    ['nothing but brackets, 50 MB of them', Buffer.alloc(50 * 1024 * 1024, '['), 'nested deeper'],
    ['more than anybody sends', Buffer.alloc(65 * 1024 * 1024, 'hunter2 '), 'larger than 64 MiB'],
  ]
}

describe('input that cannot be read', { concurrent: true, timeout: 60_000 }, () => {
  it.each(sample(INVALID))('open, %s: the user is told', async (_, input, says) => {
    const said = await run(input)
    expect(said.code).toBe(0)
    expect(JSON.parse(said.stdout).systemMessage).toContain(says)
    expect(said.telemetry).toMatchObject({ result: 'invalid_input', error: expect.stringContaining(says) })
    expect(`${said.stdout}${said.stderr}`).not.toMatch(/hunter2|\n\s+at /)
  })

  it.each(sample(INVALID))('closed, %s: it is refused', async (_, input, says) => {
    const said = await run(input, 'closed')
    expect(said.code).toBe(2)
    expect(said.stdout).toContain(says)
    expect(said.stderr).toContain(says)
    expect(said.telemetry).toMatchObject({ result: 'invalid_input' })
  })

  it('a sender that leaves the pipe open after the document gets its answer', async () => {
    const child = spawn(process.execPath, [join(dir, 'hook.mjs'), 'closed'], { cwd: dir })
    child.stdin.write(NATIVE)
    const said = text(child.stdout)
    await new Promise((resolve) => child.on('exit', resolve))
    child.stdin.end()
    expect(await said).toContain('"deny"')
  })

  it('is given up on if the sender never ends it and the hook has a timeout', async () => {
    const child = spawn(process.execPath, [join(dir, 'hook.mjs'), 'closed'], {
      cwd: dir,
      env: { ...process.env, TIMEOUT: '0.2' },
    })
    child.stdin.write(NATIVE.slice(0, -1))
    const said = text(child.stdout)
    const code = await new Promise((resolve) => child.on('exit', resolve))
    child.stdin.end()
    expect([code, await said]).toEqual([2, expect.stringContaining('was not complete after 0.2 seconds')])
  })

  it.runIf(isLarge)('50 MB that make sense are read', async () => {
    const prompt = 'x'.repeat(50 * 1024 * 1024)
    const said = await run(JSON.stringify({ hook_event_name: 'UserPromptSubmit', prompt }))
    expect(JSON.parse(said.stdout).hookSpecificOutput.additionalContext).toHaveLength(prompt.length + 9)
  })
})

describe('with everything handed in', () => {
  async function answerTo(
    payload: object,
    handlers: HookHandlers,
    options: RunHookOptions = {},
  ): Promise<HostAnswer> {
    const answers: HostAnswer[] = []
    const stdin = JSON.stringify(payload)
    await runHook(handlers, { name: 'h', stdin, answered: (answer) => void answers.push(answer), ...options })
    expect(answers).toHaveLength(1)
    return answers[0] as HostAnswer
  }

  it('the event of the caller is for a payload that names none', async () => {
    const handlers: HookHandlers = { Stop: () => deny('Stop'), SessionEnd: () => deny('SessionEnd') }
    expect((await answerTo({}, handlers, { event: 'Stop' })).stdout).toContain('"Stop"')
    const named = await answerTo({ hook_event_name: 'session_end' }, handlers, { event: 'Stop' })
    expect(named.stdout).toContain('"SessionEnd"')
  })

  it('a handler for an event that does not exist is refused, because it would let everything pass', async () => {
    const handlers = { PreTooluse: () => deny('no') } as HookHandlers
    const { stdout, exit } = await answerTo({ hook_event_name: 'Stop' }, handlers)
    expect([exit, stdout]).toEqual([0, expect.stringContaining('did you mean PreToolUse?')])
    const closed = await answerTo({ hook_event_name: 'PreToolUse' }, handlers, {
      event: 'PreToolUse',
      onFailure: 'closed',
    })
    expect(closed.exit).toBe(2)
  })

  it('what closes in other words closes', async () => {
    const payload = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }
    for (const given of [
      { decision: 'block', reason: 'no' },
      { approved: false, reason: 'no' },
    ]) {
      const handlers = { PreToolUse: () => given } as unknown as HookHandlers
      const { stdout, stderr } = await answerTo(payload, handlers)
      expect(read(BASH, { stdout }).result).toEqual({ action: 'deny', reason: 'no' })
      expect(stderr).toContain('return that')
    }
    const opened = { PreToolUse: () => ({ decision: 'approve' }) } as unknown as HookHandlers
    expect((await answerTo(payload, opened)).stdout).not.toContain('allow')
  })

  it('an alias is not a name for a handler, and the message gives the right name', async () => {
    const handlers = { SessionStop: () => deny('no') } as HookHandlers
    const { stdout } = await answerTo({ hook_event_name: 'Stop' }, handlers)
    expect(stdout).toContain('did you mean SessionEnd? Use canonical event names')
  })

  it("a change under a handler's own name is refused, and told what to write", async () => {
    const payload = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }
    const handlers: HookHandlers = { PreToolUse: () => modify({ toolInput: { command: 'ls' } }) }
    const { exit, stdout } = await answerTo(payload, handlers)
    expect([exit, stdout]).toEqual([2, expect.stringContaining('write tool_input, not toolInput')])
    expect(stdout).not.toContain('cannot apply the change')
    const right: HookHandlers = { PreToolUse: () => modify({ tool_input: { command: 'ls' } }) }
    expect(await answerTo(payload, right)).toMatchObject({ exit: 0 })
  })

  describe('a question with terms of its own', () => {
    const terms = {
      approvalOptions: ['Allow always', 'Deny'],
      approvalTimeout: 60,
      approvalDefault: 'deny',
    } as const
    const handlers: HookHandlers = { PreToolUse: () => askUser('push?', terms) }
    const payload = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      timestamp: '2026-11-15T00:00:00.000Z',
    }
    afterEach(() => void vi.unstubAllEnvs())

    it('is put with them by an engine of ours', async () => {
      vi.stubEnv('AMPLIFIER_HOOKS_DIR', '/hooks')
      const { stdout, exit } = await answerTo(payload, handlers)
      const { result, notes } = read(BASH, { stdout, code: exit })
      expect(result).toEqual({ action: 'ask_user', approvalPrompt: 'push?', reason: 'push?', ...terms })
      expect(notes).toEqual([])
    })

    it('is sent to agents without them, because some refuse unknown keys', async () => {
      vi.stubEnv('AMPLIFIER_HOOKS_DIR', undefined)
      const { timestamp: _, ...native } = payload
      expect(JSON.parse((await answerTo(native, handlers)).stdout)).toEqual({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'ask',
          permissionDecisionReason: 'push?',
        },
      })
    })
  })

  it('a gate gives up before its agent does', async () => {
    const never = () => new Promise<never>(() => undefined)
    const payload = { hook_event_name: 'PreToolUse', tool_name: 'x', tool_input: {} }
    const answer = await answerTo(payload, { PreToolUse: never }, { onFailure: 'closed', timeout: 0.001 })
    expect(answer).toMatchObject({ exit: 2, stdout: expect.stringContaining('did not answer within') })
  })

  const CALL = { hook_event_name: 'PreToolUse', tool_name: 'x', tool_input: {} }
  const { hook_event_name: _, ...UNNAMED } = CALL

  it.each<[string, object, object]>([
    ['a policy that does not exist', { onFailure: 'close' }, CALL],
    ['an agent that does not exist', { host: 'copilt' }, CALL],
    ['an option that does not exist', { onfailure: 'closed' }, CALL],
    ['no number of seconds', { timeout: Number.NaN }, CALL],
    ['an event that does not exist, where nobody else names one', { event: 'preToolUs' }, UNNAMED],
    ['a text that is none', { stdin: 7 }, CALL],
  ])('%s is a failure that closes, whatever else', async (_, options, payload) => {
    const given = { onFailure: 'open', ...options } as RunHookOptions
    const { exit, stdout, stderr } = await answerTo(payload, { PreToolUse: () => undefined }, given)
    expect([exit, stderr]).toEqual([2, expect.stringContaining('runHook()')])
    expect(stdout).toMatch(/deny|block/)
  })

  it('such an option does not keep an agent from stopping', async () => {
    const options = { onFailure: 'close' } as never
    const { exit, stdout } = await answerTo({ hook_event_name: 'Stop' }, {}, options)
    expect([exit, stdout]).toEqual([0, expect.stringContaining("must be 'open' or 'closed'")])
  })

  it('a policy goes by two names', async () => {
    const broken: HookHandlers = {
      PreToolUse() {
        throw new Error('it broke')
      },
    }
    expect((await answerTo(CALL, broken, { onFailure: 'block' })).exit).toBe(2)
    expect((await answerTo(CALL, broken, { onFailure: 'continue' })).exit).toBe(0)
  })

  it('what an answer has too much is noted', async () => {
    const handlers = { Stop: () => ({ ...deny('no'), decision: 'block' }) }
    const { stderr = '' } = await answerTo({ hook_event_name: 'Stop' }, handlers)
    expect(telemetryIn(stderr).notes).toEqual([expect.stringContaining('decision')])
  })
})

describe('what such a hook loads', () => {
  it('is small, and nothing of the engine', () => {
    const [bundle] = Object.values(metafile.outputs)
    const loaded = Object.entries(bundle?.inputs ?? {})
      .filter(([path, { bytesInOutput }]) => path.includes('src/') && bytesInOutput > 0)
      .map(([path]) => path.slice(path.indexOf('src/')))
    const allowed =
      /^src\/(?:author\/|files\/caller\.ts|effects\/shell\/shell-quoted\.ts|hosts\/(?:[\w-]+\.ts|[\w-]+\/host\.ts)|systems\/(?:amplifier|closing|claude-code\/honoured)\.ts|core\/(?:base|events)\/(?:abort|actions|caller|catalogue|content|errors|events|json|json-break|promise|result|secrets|strict-json|text)\.ts)/
    expect(loaded.filter((path) => !allowed.test(path))).toEqual([])
    expect(loaded).toContain('src/author/run-hook.ts')
  })
})
