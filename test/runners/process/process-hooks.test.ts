// An entry as hooks: their roles, what the process is started with, and a hook as its author would write it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { existsSync, mkdirSync } from 'node:fs'
import type { Data } from 'carabiner'
import type { Hook } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ask, failureOf, Hall, reasonFrom } from './hall.js'

let hall: Hall

beforeEach(() => {
  hall = new Hall()
  vi.stubEnv('CARABINER_TEST_MARK', hall.workshop.mark)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await hall.close()
})

describe('the hooks of an entry', () => {
  const ALL = ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool'] as const

  test('are one for each role, with the events, the time-out and the failure of that role', () => {
    const spec = hall.spec({
      intercept: ALL,
      observe: ['*'],
      timeouts: { observe: 0.5, intercept: 5, approve: 60, hello: 7 },
    })
    const rows = hall
      .made(spec)
      .map(({ id, name, role, events, timeoutMs, startupMs, onFailure }) => [
        id,
        name,
        role,
        events === 'all' ? 'all' : [...events],
        timeoutMs,
        startupMs,
        onFailure,
      ])
    const intercepted = ['ModelRequest', 'ModelResponse', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure']
    const name = 'project:gate'
    expect(rows).toEqual([
      [`test:${name}/intercept`, name, 'intercept', intercepted, 5000, 7000, 'continue'],
      [`test:${name}/approve`, name, 'approve', ['PreToolUse'], 60_000, 7000, 'block'],
      [`test:${name}/observe`, name, 'observe', 'all', 500, 7000, 'continue'],
    ])
  })

  test('are only those that the entry asks for', () => {
    const roles = (more: object) => hall.made(hall.spec(more)).map(({ role }) => role)
    expect(roles({ intercept: ['approve_tool'] })).toEqual(['approve'])
    expect(roles({ intercept: [], observe: ['turn_end'] })).toEqual(['observe'])
  })

  test('fail as the entry says, if it does', () => {
    const { hook, ...spec } = hall.spec({ intercept: ALL })
    const policies = (onFailure: 'block' | 'continue') =>
      hall.made({ ...spec, hook: { ...hook, onFailure } }).map((one) => one.onFailure)
    expect(policies('block')).toEqual(['block', 'block'])
    expect(policies('continue')).toEqual(['continue', 'continue'])
  })

  test('share one process', async () => {
    const hooks = hall.hooks(
      `on['hook.approve_tool'] = (_, id) => reply(id, { approved: false, reason: String(process.pid) })`,
      { intercept: ['before_tool', 'approve_tool'] },
    )
    const [one, other] = await Promise.all(hooks.map((hook) => reasonFrom(hook)))
    expect(one).toBe(other)
  })
})

describe('the process', () => {
  /** Answers with what it finds. */
  const LOOKS = `on['hook.before_tool'] = (_, id) => {
    const { env } = process
    deny(id, JSON.stringify({ env, cwd: process.cwd(), args: process.argv.slice(2) }))
  }`

  async function found(hook: Hook | undefined): Promise<{ env: Data; cwd: string; args: string[] }> {
    return JSON.parse(await reasonFrom(hook as Hook))
  }

  test('starts in the project, with our places, what its entry adds, and no session', async () => {
    vi.stubEnv('AMPLIFIER_SESSION_ID', 'of another agent')
    hall.hook(LOOKS)
    const { folder } = hall.workshop
    const env = {
      MODE: 'strict',
      CARABINER_TEST_MARK: hall.workshop.mark,
      AMPLIFIER_PROJECT_DIR: '/elsewhere',
      CLAUDE_PLUGIN_ROOT: '/elsewhere',
    }
    const hook = hall.made(hall.spec({ env }))[0]
    const { env: its, cwd } = await found(hook)
    expect(cwd).toBe(folder)
    expect(its).toMatchObject({ MODE: 'strict', AMPLIFIER_PROJECT_DIR: folder, HOME: process.env.HOME })
    expect(Object.keys(its)).not.toContain('AMPLIFIER_SESSION_ID')
    expect(Object.keys(its)).not.toContain('CLAUDE_PLUGIN_ROOT')
  })

  test('keeps the path of a trusted hook, and little else where that is asked for', async () => {
    vi.stubEnv('API_KEY', 'secret')
    hall.hook(LOOKS)
    const env = { PATH: '/elsewhere', MODE: 'strict', CARABINER_TEST_MARK: hall.workshop.mark }
    const spec = { ...hall.spec({ env }, { path: '/usr/bin:/bin' }), env: 'minimal' as const }
    const { env: its } = await found(hall.made(spec)[0])
    expect(its).toMatchObject({ PATH: '/usr/bin:/bin', MODE: 'strict' })
    expect(Object.keys(its)).not.toContain('API_KEY')
  })

  test('of a plugin starts in a folder of it, with its placeholders', async () => {
    hall.hook(LOOKS)
    const root = hall.workshop.path('plugin')
    mkdirSync(`${root}/sub`, { recursive: true })
    const place = { plugin: { name: 'plugin', root, dataDir: hall.workshop.path('data') } }
    const command = [process.execPath, hall.workshop.path('hook.js'), '${CLAUDE_PLUGIN_ROOT}/a b', '$HOME']
    const { cwd, args } = await found(hall.made(hall.spec({ command, dir: 'sub' }, place))[0])
    expect(existsSync(place.plugin.dataDir)).toBe(true)
    expect([cwd, args]).toEqual([`${root}/sub`, [`${root}/a b`, '$HOME']])
  })

  test('is not started with a placeholder that it does not have', async () => {
    const command = ['${CLAUDE_PLUGIN_ROOT}/hook']
    for (const hook of hall.made(hall.spec({ command, observe: ['*'] }))) {
      const { code, message } = await failureOf(ask(hook))
      expect([code, message]).toEqual([
        'HOOK_NOT_STARTED',
        'Could not start: it uses ${CLAUDE_PLUGIN_ROOT}, which only hooks of a plugin have',
      ])
    }
  })

  test('is not started if it is not what was trusted, which is looked at before each start', async () => {
    hall.hook(LOOKS)
    const problem = vi.fn<() => string | undefined>(() => 'hook.js was changed')
    const hook = hall.made(hall.spec(), problem)[0] as Hook
    for (let i = 0; i < 2; i++) {
      const { code, message } = await failureOf(ask(hook))
      expect([code, message]).toEqual(['HOOK_NOT_TRUSTED', 'hook.js was changed'])
    }
    expect(hall.workshop.running()).toEqual([])
    problem.mockReturnValue(undefined)
    await found(hook)
    await found(hook)
    expect(problem).toHaveBeenCalledTimes(3)
  })
})

const PYTHON = '/usr/bin/python3'

/** As an author would write it, after the protocol. */
const REVIEW_GATE = `
import json, sys

def answer(method, params):
    if method == "hook.hello":
        return {"ok": True, "name": "python-review-gate"}
    if method == "hook.before_tool" and params["tool"] == "Bash":
        return {"action": "modify", "call": {"tool": "Bash", "arguments": {"command": "ls -l"}}}
    if method == "hook.approve_tool":
        approved = params["arguments"].get("command") == "ls -l"
        return {"approved": approved, "reason": "" if approved else "only ls -l"}
    return {"action": "continue"}

for line in sys.stdin:
    message = json.loads(line)
    if message.get("id"):
        result = answer(message["method"], message.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`

test.skipIf(!existsSync(PYTHON))(
  'a hook in Python changes a call and approves what it made of it',
  async () => {
    const command = [PYTHON, hall.workshop.file('review_gate.py', REVIEW_GATE)]
    const [gate, approver] = hall.made(hall.spec({ command, intercept: ['before_tool', 'approve_tool'] }))
    expect(await ask(gate as Hook).answer).toMatchObject({
      action: 'modify',
      data: { tool_input: { command: 'ls -l' } },
    })
    const final = { tool_input: { command: 'ls -l' } }
    expect(await ask(approver as Hook, final).answer).toMatchObject({ action: 'continue' })
    expect(await ask(approver as Hook).answer).toMatchObject({ action: 'deny', reason: 'only ls -l' })
  },
)
