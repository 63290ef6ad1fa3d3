// createHooks() with files: what is trusted, what is switched off, what a change of files does.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type AuditRecord, createHooks, type Hooks, type HooksOptions, type Outcome } from 'carabiner'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Configuration } from '../src/configuration.js'
import type { Hook } from '../src/core/hooks/hook.js'
import { keeperFor } from '../src/runners/keeper.js'
import { livingMembers } from '../src/runners/program/process-group.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

let folder: string
let project: string
let home: string
const open: Hooks[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-configuration-'))
  project = join(folder, 'project')
  home = join(folder, 'home')
  mkdirSync(project)
  mkdirSync(home)
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((hooks) => hooks.close()))
  rmSync(folder, { recursive: true })
})

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
}

const gate = (command: string, more: object = {}) => ({
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command, ...more }] }] },
})
const DENIES = 'echo no >&2; exit 2'
const rootFile = (base: string) => join(base, '.amplifier', 'hooks', 'hooks.json')

async function hooksHere(options: HooksOptions = {}): Promise<Hooks> {
  const hooks = await createHooks({ projectDir: project, home, globals: false, ...options })
  open.push(hooks)
  return hooks
}

const fired = (hooks: Hooks) => hooks.session({ cwd: project }).fire('PreToolUse', CALL)

describe('trust', () => {
  test('a hook that came with the project does not run, and that is said', async () => {
    write(rootFile(project), gate(DENIES))
    const hooks = await hooksHere()
    const outcome = await fired(hooks)
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks).toMatchObject([{ status: 'skipped', why: 'untrusted' }])
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
    expect(outcome.messages[0]?.text).toContain('carabiner trust project (or --trust-all for one call)')
    expect(outcome.messages[0]?.text).toContain(`${rootFile(project)}:`)
    expect(outcome.diagnostics).toMatchObject([{ code: 'untrusted', file: rootFile(project) }])
    expect(hooks.list()).toMatchObject([
      { state: 'untrusted', why: expect.stringContaining('carabiner trust project') },
    ])
  })

  test('thousands of them are counted in a small outcome, and a gate of the user still judges', async () => {
    const groups = Array.from({ length: 3000 }, (_, i) => ({
      matcher: `Bash|A${i}`,
      hooks: [{ type: 'command', command: 'true' }],
    }))
    write(rootFile(project), { hooks: { PreToolUse: groups } })
    const records: AuditRecord[] = []
    const hooks = await hooksHere({ audit: (record) => void records.push(record) })
    const open = await fired(hooks)
    expect(open.hooks.length).toBeLessThan(400)
    expect(JSON.stringify(open).length).toBeLessThan(500_000)
    const last = open.hooks.at(-1)
    expect(last).toMatchObject({ name: 'project:PreToolUse#301 and 2699 more', why: 'untrusted' })
    expect(open.diagnostics.at(-1)?.text).toContain(
      'Hook project:PreToolUse#301 and 2699 more are untrusted and did not run; PreToolUse went on without their gates.',
    )
    expect(records[0]?.unguarded?.at(-1)).toMatchObject({ hook: last?.name, why: 'untrusted' })
    expect(hooks.list().at(-1)).toMatchObject({ name: last?.name, state: 'untrusted' })
    expect(hooks.untrusted()[0]?.hooks).toHaveLength(3000)
    write(rootFile(home), gate(DENIES))
    await hooks.reload()
    expect(await fired(hooks)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test('with trust: "all" it runs', async () => {
    write(rootFile(project), gate(DENIES))
    expect(await fired(await hooksHere({ trust: 'all' }))).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test('named plugins and files are not trusted by being named', async () => {
    write(join(folder, 'guard', 'hooks.json'), gate(DENIES))
    write(join(folder, 'own.json'), gate(`${DENIES} # own`))
    const named = { plugins: [join(folder, 'guard')], configs: [join(folder, 'own.json')] }
    const { action, hooks } = await fired(await hooksHere(named))
    expect(action).toBe('continue')
    expect(hooks.map(({ why }) => why)).toEqual(['untrusted', 'untrusted'])
  })

  test('the hooks of the user run', async () => {
    write(rootFile(home), gate(DENIES))
    expect((await fired(await hooksHere())).action).toBe('deny')
  })

  test('a copy of a user’s hook in the project runs once, as the user’s', async () => {
    write(rootFile(home), gate('echo ran'))
    write(rootFile(project), gate('echo ran'))
    const { hooks } = await fired(await hooksHere({ trust: 'all' }))
    expect(hooks.map(({ status, why }) => why ?? status).sort()).toEqual(['duplicate', 'ran'])
  })

  test('the host may refuse what files allow', async () => {
    write(rootFile(home), gate(DENIES))
    const admit = () => ({ why: 'disabled', detail: 'not today' }) as const
    const { action, hooks } = await fired(await hooksHere({ admit }))
    expect(action).toBe('continue')
    expect(hooks).toMatchObject([{ status: 'skipped', why: 'disabled', detail: 'not today' }])
  })
})

describe('what is read', () => {
  test('nothing without projectDir, plugins or configs', async () => {
    write(rootFile(home), gate(DENIES))
    const hooks = await createHooks({ home, globals: false })
    open.push(hooks)
    expect(hooks.list()).toEqual([])
  })

  test('plugins alone, without the files of the user', async () => {
    write(rootFile(home), gate(DENIES))
    write(join(folder, 'guard', 'hooks.json'), gate('true'))
    const hooks = await createHooks({ plugins: [join(folder, 'guard')], home, globals: false })
    open.push(hooks)
    expect(hooks.list().map(({ name }) => name)).toEqual(['guard:PreToolUse#1'])
  })

  test('a hook is listed with what it runs, where it stands and why it does not run', async () => {
    write(rootFile(project), gate('check.sh', { timeout: 5, onFailure: 'block' }))
    write(join(project, '.amplifier', 'settings.json'), { hooks: { allow_project_hooks: false } })
    const [hook] = (await hooksHere({ trust: 'all' })).list()
    expect(hook).toMatchObject({
      name: 'project:PreToolUse#1',
      kind: 'command',
      command: 'check.sh',
      timeout: 5,
      onFailure: 'block',
      file: rootFile(project),
      line: 7,
      state: 'disabled',
    })
    expect(hook?.why).toContain('settings.json:')
  })

  test('settings of the host win over those of the user, and a project tightens them', async () => {
    write(rootFile(home), gate('true'))
    write(join(home, '.amplifier', 'settings.json'), { hooks: { default_timeout: 10 } })
    const timeouts = async (options: HooksOptions) =>
      (await hooksHere(options)).list().map((one) => one.timeout)
    expect(await timeouts({})).toEqual([10])
    expect(await timeouts({ settings: { default_timeout: 20 } })).toEqual([20])
    write(rootFile(project), gate('true # project'))
    write(join(project, '.amplifier', 'settings.json'), { hooks: { default_timeout: 5 } })
    expect(await timeouts({ settings: { default_timeout: 20 } })).toEqual([20, 5])
  })

  test('on_failure: "block" in a project closes its gates', async () => {
    write(rootFile(home), gate('exit 7'))
    expect((await fired(await hooksHere())).action).toBe('continue')
    write(join(project, '.amplifier', 'settings.json'), { hooks: { on_failure: 'block' } })
    expect((await fired(await hooksHere())).action).toBe('deny')
  })

  test('on_failure: "block" closes a gate that exits oddly, whatever its JSON and its own onFailure say', async () => {
    write(rootFile(home), gate(`echo '{"decision":"approve"}'; exit 7`, { onFailure: 'continue' }))
    expect((await fired(await hooksHere())).action).toBe('continue')
    const outcome = await fired(await hooksHere({ settings: { on_failure: 'block' } }))
    expect(outcome).toMatchObject({ action: 'deny', hooks: [{ status: 'failed', why: 'HOOK_EXIT' }] })
  })

  test('G11: on_failure: "block" does to a command after the tool what it does to a function: the model is told nothing', async () => {
    const failing = { matcher: 'Bash', hooks: [{ type: 'command', command: 'exit 7' }] }
    write(rootFile(home), { hooks: { PostToolUse: [failing] } })
    const hooks = await hooksHere({ settings: { on_failure: 'block' } })
    hooks.register('PostToolUse', () => Promise.reject(new Error('broken')), { onFailure: 'continue' })
    const { after } = (await hooks
      .session({ cwd: project })
      .callTool({ name: 'Bash', input: {} }, () => 'done')) as { readonly after: Outcome }
    expect(after.hooks).toMatchObject([
      { kind: 'function', status: 'failed', countsAs: 'continue' },
      { kind: 'command', status: 'failed', countsAs: 'continue' },
    ])
    expect([after.action, after.injections, after.messages.length]).toEqual(['continue', [], 2])
  })

  test('wrong options are refused', async () => {
    await expect(createHooks({ trust: 'some' as never })).rejects.toThrow(/trust/)
    await expect(createHooks({ plugins: 'x' as never })).rejects.toThrow(/plugins/)
    await expect(createHooks({ settings: { default_timeout: -1 } })).rejects.toThrow(/default_timeout/)
    await expect(createHooks({ settings: { defaultTimeout: 1 } as never })).rejects.toThrow(/defaultTimeout/)
  })
})

describe('what a mistake in a file costs', () => {
  const broken = [
    ['a file that is no JSON', '{ "hooks": '],
    ['an entry that is malformed', gate('exit 2', { onFailure: 'deny' })],
    ['an event that does not exist', { hooks: { PreTolUse: gate('exit 2').hooks.PreToolUse } }],
  ] as const

  test.each(broken)('%s is told to the user of every session, once', async (_what, content) => {
    write(rootFile(project), content)
    const shown: string[] = []
    const hooks = await hooksHere({ trust: 'all', display: ({ text }) => void shown.push(text) })
    for (const session of [hooks.session(), hooks.session()]) {
      const first = await session.fire('PreToolUse', CALL)
      expect(first.messages).toMatchObject([{ level: 'warning', source: 'carabiner' }])
      expect(first.messages[0]?.text).toContain(`${rootFile(project)}:`)
      expect(first.diagnostics).toMatchObject([{ file: rootFile(project) }])
      expect((await session.fire('PreToolUse', CALL)).messages).toEqual([])
    }
    expect(shown).toHaveLength(2)
  })

  test('comes up again with what a reload found', async () => {
    write(rootFile(project), gate('true'))
    const hooks = await hooksHere({ trust: 'all' })
    const session = hooks.session({ cwd: project })
    expect((await session.fire('PreToolUse', CALL)).messages).toEqual([])
    write(rootFile(project), gate('true', { timeout: '5' }))
    await hooks.reload()
    expect((await session.fire('PreToolUse', CALL)).messages).toMatchObject([{ level: 'warning' }])
  })

  test('a failure names the place of the hook', async () => {
    write(rootFile(project), gate('exit 3'))
    const { messages } = await fired(await hooksHere({ trust: 'all' }))
    expect(messages[0]?.text).toContain(`Hook project:PreToolUse#1 (${rootFile(project)}:`)
  })

  test('a project that is no folder is refused', async () => {
    await expect(createHooks({ projectDir: join(folder, 'nowhere') })).rejects.toThrow(
      /nowhere.* is not a folder/,
    )
  })

  test('an async deny that nobody heard is told when the session ends', async () => {
    write(rootFile(project), gate(DENIES, { async: true }))
    const hooks = await hooksHere({ trust: 'all' })
    const session = hooks.session({ cwd: project })
    await session.fire('PreToolUse', CALL)
    await session.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'async-verdict-ignored' }])
  })
})

describe('a change of files', () => {
  test('is in force after reload, in sessions that are open, too', async () => {
    write(rootFile(project), gate('true'))
    const hooks = await hooksHere({ trust: 'all' })
    const session = hooks.session({ cwd: project })
    expect((await session.fire('PreToolUse', CALL)).action).toBe('continue')
    write(rootFile(project), gate(DENIES))
    await hooks.reload()
    expect((await session.fire('PreToolUse', CALL)).action).toBe('deny')
  })

  test('into something unreadable keeps what was said before, loudly', async () => {
    write(rootFile(project), gate(DENIES))
    const hooks = await hooksHere({ trust: 'all' })
    write(rootFile(project), '{ "hooks": ')
    await hooks.reload()
    expect((await fired(hooks)).action).toBe('deny')
    expect(hooks.diagnostics.map(({ code }) => code).sort()).toEqual(['config-invalid', 'config-kept'])
  })

  test('a file that is gone takes its hooks along', async () => {
    write(rootFile(project), gate(DENIES))
    const hooks = await hooksHere({ trust: 'all' })
    rmSync(rootFile(project))
    await hooks.reload()
    expect(hooks.list()).toEqual([])
  })

  test('is noticed by itself with watch', async () => {
    const hooks = await hooksHere({ trust: 'all', watch: true })
    expect(hooks.list()).toEqual([])
    write(rootFile(project), gate(DENIES))
    await vi.waitFor(() => expect(hooks.list()).toHaveLength(1), { timeout: 20_000, interval: 50 })
  })

  test('does not touch an event under way', async () => {
    write(rootFile(project), gate(`while [ ! -e '${folder}/go' ]; do sleep 0.02; done; ${DENIES}`))
    const hooks = await hooksHere({ trust: 'all' })
    const outcome = fired(hooks)
    rmSync(rootFile(project))
    await hooks.reload()
    writeFileSync(join(folder, 'go'), '')
    expect((await outcome).action).toBe('deny')
  })
})

test('a hook that a reload took away while its event was under way stays untrusted', async () => {
  write(rootFile(project), gate(`touch '${folder}/ran'; ${DENIES}`))
  const hooks = await hooksHere()
  hooks.register('PreToolUse', async () => {
    rmSync(rootFile(project))
    await hooks.reload()
    return undefined
  })
  const outcome = await fired(hooks)
  expect(outcome.hooks).toMatchObject([{ status: 'ran' }, { status: 'skipped', why: 'untrusted' }])
  expect(existsSync(join(folder, 'ran'))).toBe(false)
})

describe('close', () => {
  test('returns when every process of a hook is gone', async () => {
    const pidFile = join(folder, 'pid')
    write(rootFile(project), gate(`trap '' TERM; echo $$ > '${pidFile}'; sleep 60`, { timeout: 0.3 }))
    const hooks = await hooksHere({ trust: 'all' })
    const outcome = await fired(hooks)
    expect(outcome.hooks).toMatchObject([{ status: 'failed', why: 'HOOK_TIMEOUT' }])
    await hooks.close()
    expect(livingMembers(Number(readFileSync(pidFile, 'utf8')))).toEqual([])
  })

  test('waits for an async hook, or ends it with abort', async () => {
    const command = `touch '${folder}/started'; sleep 60`
    write(rootFile(project), gate(command, { async: true }))
    const hooks = await hooksHere({ trust: 'all' })
    expect((await fired(hooks)).hooks).toMatchObject([{ status: 'detached' }])
    await vi.waitFor(() => expect(existsSync(join(folder, 'started'))).toBe(true), { timeout: 20_000 })
    await hooks.close({ abort: true })
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-failed' }])
  })

  test('tells of a process that a hook left running in its group', async () => {
    write(rootFile(project), gate('sleep 60 >/dev/null 2>&1 &'))
    const hooks = await hooksHere({ trust: 'all' })
    expect((await fired(hooks)).action).toBe('continue')
    await hooks.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'left-running' }])
  })
})

describe('a hostile project', () => {
  const guard = () => {
    write(join(folder, 'guard', 'hooks.json'), gate('[ -n "$PROTECTED" ] || exit 0; echo no >&2; exit 2'))
    return { plugins: [join(folder, 'guard')], trust: 'all' as const }
  }
  const settingsOf = (base: string, content: object) =>
    write(join(base, '.amplifier', 'settings.json'), content)

  test.each([
    { disableAllHooks: true },
    { hooks: { allow_project_hooks: false } },
    { hooks: { enabled: false } },
    { hooks: { max_timeout: 0.001, default_timeout: 0.001 } },
    { hooks: { env: 'minimal' } },
  ])('does not disarm a plugin that the host named, by %j', async (settings) => {
    vi.stubEnv('PROTECTED', 'yes')
    settingsOf(project, settings)
    expect((await fired(await hooksHere(guard()))).action).toBe('deny')
    vi.unstubAllEnvs()
  })

  test('does not disarm a hook of the user with a minimal environment', async () => {
    vi.stubEnv('PROTECTED', 'yes')
    write(rootFile(home), gate('[ -n "$PROTECTED" ] || exit 0; echo no >&2; exit 2'))
    settingsOf(project, { hooks: { env: 'minimal' } })
    expect((await fired(await hooksHere())).action).toBe('deny')
    vi.unstubAllEnvs()
  })

  const SETTINGS: readonly object[] = [
    { env: 'minimal' },
    { default_timeout: 0.001, max_timeout: 0.001 },
    { allowed_http_urls: [], http_allowed_env_vars: [] },
    { audit_calls: false, audit: 'off' },
    { stop_block_cap: 0, stop_block_total: 0 },
    { recheck: 'skipped', protect_system_messages: false, on_failure: 'continue' },
    { injection_size_limit: 0, injection_budget_per_turn: 0 },
    { trust_missing: 'tell', bypass: true },
    { enabled: false, allow_user_hooks: false, allow_project_hooks: false },
  ]
  const GATE = '[ -n "$PROTECTED" ] || exit 0; echo no >&2; exit 2'

  test.each(SETTINGS)(
    'opens neither gates of the user nor those that he trusted, by %j',
    async (settings) => {
      vi.stubEnv('PROTECTED', 'yes')
      for (const base of [home, project]) {
        write(rootFile(base), gate(GATE))
        const options = { trust: 'all' as const }
        settingsOf(project, { hooks: settings })
        const isItsOwn = base === project && 'enabled' in settings
        // With trust: 'all' nobody trusted its hooks, and it may switch them off.
        expect((await fired(await hooksHere(options))).action).toBe(isItsOwn ? 'continue' : 'deny')
        rmSync(rootFile(base))
      }
      vi.unstubAllEnvs()
    },
  )

  test.each(SETTINGS)('does not keep the user’s server from being asked, by %j', async (settings) => {
    vi.stubEnv('OFFICE_KEY', 'key-of-the-office')
    const server = createServer((request, response) =>
      response.end(request.headers['x-key'] === 'key-of-the-office' ? '{"decision":"block"}' : '{}'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const handler = {
      type: 'http',
      url: `http://127.0.0.1:${port}/`,
      headers: { 'x-key': '$OFFICE_KEY' },
      allowedEnvVars: ['OFFICE_KEY'],
    }
    write(rootFile(home), { hooks: { PreToolUse: [{ hooks: [handler] }] } })
    settingsOf(project, { hooks: settings })
    expect((await fired(await hooksHere())).action).toBe('deny')
    server.close()
    vi.unstubAllEnvs()
  })

  test.each(['', '.', '../project'])('is not the user’s where the home folder is %j', async (odd) => {
    write(rootFile(project), gate(DENIES))
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(project)
    const outcome = await fired(await hooksHere({ home: odd === '' ? './' : odd }))
    cwd.mockRestore()
    expect(outcome.hooks).toMatchObject([{ status: 'skipped', why: 'untrusted' }])
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('config-invalid')
  })
})

describe('answers under stress', () => {
  test('a deny on stdout stands, however much goes to stderr', async () => {
    const command = `head -c 1200000 /dev/zero | tr '\\0' x >&2; echo '{"decision":"block","reason":"no"}'`
    write(rootFile(home), gate(command))
    expect(await fired(await hooksHere())).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test('a plugin finds its data folder', async () => {
    const plugin = join(folder, 'counter')
    write(join(plugin, 'hooks.json'), gate('echo 1 >> "$CLAUDE_PLUGIN_DATA/count"'))
    vi.stubEnv('CARABINER_HOME', join(folder, 'data'))
    expect((await fired(await hooksHere({ plugins: [plugin], trust: 'all' }))).action).toBe('continue')
    vi.unstubAllEnvs()
  })

  test('a guard that stands twice judges a call that was rewritten into its second matcher', async () => {
    const check = `grep -q forbidden && { echo no >&2; exit 2; } || exit 0`
    write(rootFile(home), {
      hooks: {
        PreToolUse: ['Bash', 'Write'].map((matcher) => ({
          matcher,
          hooks: [{ type: 'command', command: check }],
        })),
      },
    })
    const hooks = await hooksHere()
    hooks.register(
      'PreToolUse',
      (_event, { tool_name }) => {
        if (tool_name === 'Bash')
          return { action: 'modify', data: { tool_name: 'Write', tool_input: { content: 'forbidden' } } }
        return undefined
      },
      { priority: 30 },
    )
    expect((await fired(hooks)).action).toBe('deny')
  })

  test('what a hook printed is not in the audit', async () => {
    write(rootFile(home), gate('echo token=s3cr3t >&2'))
    const records: unknown[] = []
    await fired(await hooksHere({ audit: (record) => void records.push(record) }))
    expect(records).toHaveLength(1)
    expect(JSON.stringify(records)).not.toContain('s3cr3t')
  })
})

test('a way to run hooks is loaded when a file names it, and once, whoever asks meanwhile', async () => {
  const loaded: string[] = []
  const load = async (type: string) => {
    loaded.push(type)
    return { hooks: ({ hook }: { readonly hook: object }) => [hook as Hook] }
  }
  const configuration = await Configuration.load({
    sources: { projectDir: project, homeDir: home },
    trust: 'all',
    load,
    keeper: keeperFor(''),
  })
  expect(loaded).toEqual([])
  write(rootFile(project), gate('true'))
  await Promise.all([configuration.reload(), configuration.reload(), configuration.reload()])
  expect([loaded, configuration.hooks.length]).toEqual([['command'], 1])
})

describe('G6: a misspelt event in a file', () => {
  test.each([
    ['PreTolUse', 'PreToolUse'],
    ['tool:prre', 'PreToolUse'],
    ['pretooluse', 'PreToolUse'],
  ])('%s is told with file, line and the right name, also to the user', async (event, meant) => {
    const entry = { matcher: 'Bash', hooks: [{ type: 'command', command: DENIES }] }
    write(rootFile(home), { hooks: { [event]: [entry] } })
    const hooks = await hooksHere()
    const said = expect.stringContaining(`did you mean ${meant}?`)
    expect(hooks.diagnostics).toMatchObject([
      { code: 'unknown-event', text: said, file: rootFile(home), line: 3 },
    ])
    expect((await fired(hooks)).messages).toMatchObject([{ level: 'warning', text: said }])
  })
})
