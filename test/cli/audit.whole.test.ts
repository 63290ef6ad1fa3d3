// `carabiner audit`: what the command line writes down, and what becomes of it when somebody changes it.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, ended, GUARD, Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

async function fires(...events: readonly object[]): Promise<void> {
  project.hooks({ PreToolUse: [['Bash', GUARD]] })
  expect((await project.call(['trust', '--yes'])).code).toBe(0)
  for (const input of events) await project.call(['fire', '--json'], { input })
}

const DENIED = { hook_event_name: 'PreToolUse', session_id: 's1', ...BASH }
const ALLOWED = {
  hook_event_name: 'PreToolUse',
  session_id: 's2',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
}
const STOP = { hook_event_name: 'Stop', session_id: 's1' }

async function entries(...args: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await project.call(['audit', '--json', ...args])
  return JSON.parse(stdout).entries
}

function logFile(): string {
  const folder = join(project.home, '.local/share/carabiner/audit')
  const [log = ''] = readdirSync(folder)
  return join(folder, log, '00000001.jsonl')
}

describe('what is on record', () => {
  it('every fire, with the hooks that ran and a hash of what they are', async () => {
    await fires(DENIED, ALLOWED, STOP)
    const found = await entries()
    expect(found).toMatchObject([
      { seq: 1, kind: 'fire', event: 'PreToolUse', tool: 'Bash', session: 's1', action: 'deny' },
      { seq: 2, session: 's2', action: 'continue' },
      { seq: 3, event: 'Stop', action: 'continue', hooks: [] },
    ])
    expect(found[0]?.hooks).toMatchObject([
      { status: 'ran', action: 'deny', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
  })

  it('the switch that turns everything off', async () => {
    await fires()
    await project.call(['fire'], { input: DENIED, env: { CARABINER_OFF: '1' } })
    await project.call(['fire', '--as', 'claude-code'], { input: DENIED, env: { CARABINER_OFF: '1' } })
    expect(await entries('--kind', 'bypass')).toMatchObject([
      { event: 'PreToolUse', session: 's1', action: 'continue' },
      { event: 'PreToolUse', session: 's1' },
    ])
  })

  it('nothing where the user switched it off', async () => {
    writeSettings({ audit: 'off' })
    await fires(DENIED)
    expect(await entries()).toEqual([])
  })

  it('what a project says about it has no effect', async () => {
    project.file('.amplifier/settings.json', { hooks: { audit: 'off' } })
    await fires(DENIED)
    expect(await entries()).toHaveLength(1)
  })
})

function writeSettings(hooks: object): void {
  project.file('../home/.amplifier/settings.json', { hooks })
}

describe('filters', () => {
  beforeEach(() => fires(DENIED, ALLOWED, STOP))

  it.each([
    [
      ['--session', 's1'],
      [1, 3],
    ],
    [['--decision', 'deny'], [1]],
    [
      ['--tool', 'Bash'],
      [1, 2],
    ],
    [['--event', 'Stop'], [3]],
    [
      ['--hook', 'project:PreToolUse#1'],
      [1, 2],
    ],
    [
      ['--since', '1h'],
      [1, 2, 3],
    ],
    [['--until', '1h'], []],
    [['-n', '1'], [3]],
  ])('%j', async (args, expected) => {
    expect((await entries(...args)).map(({ seq }) => seq)).toEqual(expected)
  })
})

describe('for people', () => {
  it('a line each, one whole, and that it is whole', async () => {
    await fires(DENIED, STOP)
    const { stdout: list } = await project.call(['audit'])
    expect(list).toMatch(
      /^ {3}1 {2}\d\d:\d\d:\d\d {2}PreToolUse Bash {2}deny {6}rm -rf \/ · rm -rf is not allowed here\n/,
    )
    const { stdout: one } = await project.call(['audit', 'show', '1'])
    expect(one).toContain('session s1')
    expect(one).toMatch(/project:PreToolUse#1 {2}deny {2}\S+ ms/)
    const { stdout: newest } = await project.call(['audit', 'show'])
    expect(newest).toBe((await project.call(['audit', 'show', '2'])).stdout)
    const { stdout: whole, code } = await project.call(['audit', 'verify'])
    expect(code).toBe(0)
    expect(whole).toMatch(/^whole: 2 entries in /)
    expect(whole).toMatch(/for --expect: 2:[0-9a-f]{64}\n/)
  })

  it('nothing yet', async () => {
    const { stdout, code } = await project.call(['audit'])
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'no entries for this project yet'])
  })

  it('what a hook says controls no terminal', async () => {
    project.hooks({ PreToolUse: [['Bash', `printf 'no\\033]52;c;aGk=\\007 \\342\\200\\256' >&2; exit 2`]] })
    await project.call(['trust', '--yes'])
    await project.call(['fire'], { input: DENIED })
    for (const args of [['audit'], ['audit', 'show', '1'], ['audit', '--json']]) {
      const { stdout } = await project.call(args)
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  it('an entry that somebody made is shown as it is', async () => {
    await fires(DENIED)
    const [line = ''] = readFileSync(logFile(), 'utf8').split('\n')
    writeFileSync(
      logFile(),
      `${line
        .replace('"tool":"Bash"', '"tool":[7]')
        .replace(/"hooks":\[.*?\],"inj/, '"hooks":7,"inj')
        .replace(/"reason":"[^"]*",/, '')}\n`,
    )
    for (const args of [['audit'], ['audit', 'show', '1']]) {
      const { code, stdout } = await project.call(args)
      expect(code).toBe(0)
      expect(stdout).toContain('damaged')
    }
  })
})

describe('U1: a call that a gate should have judged', () => {
  /** Fires one call that the gate refuses, under these circumstances, and reads it back. */
  async function unguarded(
    more: { readonly args?: readonly string[]; readonly env?: Record<string, string> } = {},
  ) {
    await project.call(['fire', '--json', ...(more.args ?? [])], { input: DENIED, ...more })
    const [found, ...rest] = await entries('--unguarded')
    expect(rest).toEqual([])
    return found
  }

  it('untrusted', async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    expect(await unguarded()).toMatchObject({ action: 'continue', unguarded: [{ why: 'untrusted' }] })
    const { stdout } = await project.call(['audit'])
    expect(stdout).toMatch(/PreToolUse Bash {2}unguarded {2}rm -rf \/ · project:PreToolUse#1: untrusted/)
    const { stdout: one } = await project.call(['audit', 'show', '1'])
    expect(one).toMatch(/unguarded: project:PreToolUse#1 did not judge it: untrusted/)
  })

  it('switched off', async () => {
    await fires()
    writeSettings({ allow_project_hooks: false })
    expect(await unguarded()).toMatchObject({ unguarded: [{ why: 'disabled' }] })
  })

  it('with a matcher that has a slip', async () => {
    project.hooks({ PreToolUse: [['bash', GUARD]] })
    await project.call(['trust', '--yes'])
    expect(await unguarded()).toMatchObject({ unguarded: [{ why: 'matcher' }] })
    const { stdout } = await project.call(['audit', '--unguarded'])
    expect(stdout).toMatch(/its matcher has a mistake\nnext carabiner audit show 1\n$/)
    const { stdout: one } = await project.call(['audit', 'show', '1'])
    expect(one.match(/matcher "bash" does not match/g)).toHaveLength(1)
  })

  it('by a gate that failed, which is told once', async () => {
    project.hooks({ PreToolUse: [['Bash', 'exit 1']] })
    await unguarded({ args: ['--trust-all'] })
    const { stdout } = await project.call(['audit', 'show', '1'])
    expect(stdout.match(/exited with 1/g)).toHaveLength(1)
    expect(stdout).toContain('did not judge it: its program ended with an error')
    expect(stdout).not.toContain('failed: ')
  })

  it.for(['PreTooluse', 'PreToolUsee', 'BeforeTool'])(
    'under %s, which is no event and most likely means this one',
    async (event) => {
      project.hooks({ [event]: [['Bash', GUARD]] })
      expect(await unguarded()).toMatchObject({ unguarded: [{ why: 'unknown-event' }] })
    },
  )

  it('is guarded although a name of another event is misspelt', async () => {
    project.hooks({ PostTooluse: [['Bash', GUARD]] })
    expect(await unguarded()).toBeUndefined()
  })

  it('failed, and let it go on', async () => {
    project.hooks({ PreToolUse: [['Bash', 'echo oh >&2; exit 7']] })
    await project.call(['trust', '--yes'])
    expect(await unguarded()).toMatchObject({
      unguarded: [{ hook: 'project:PreToolUse#1' }],
      kept: { failures: [{ stderr: 'oh\n' }] },
    })
  })

  it('timed out, and let it go on', async () => {
    const slow = { type: 'command', command: 'exec sleep 20', timeout: 0.3 }
    project.file('.amplifier/hooks/hooks.json', {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [slow] }] },
    })
    await project.call(['trust', '--yes'])
    expect(await unguarded()).toMatchObject({ unguarded: [{ why: 'HOOK_TIMEOUT' }] })
  })

  it('left out, because a file is broken', async () => {
    project.file('../home/.amplifier/hooks/gate/hooks.json', '{ "hooks": ')
    expect(await unguarded()).toMatchObject({ unguarded: [{ why: 'config-invalid' }] })
  })

  it('gone, where the user wants only to be told', async () => {
    await fires()
    writeSettings({ trust_missing: 'tell' })
    rmSync(join(project.folder, '.amplifier'), { recursive: true })
    expect(await unguarded()).toMatchObject({ unguarded: [{ why: 'trust-unguarded' }] })
  })

  it('bypassed', async () => {
    await fires()
    expect(await unguarded({ env: { CARABINER_OFF: '1' } })).toMatchObject({ kind: 'bypass' })
  })

  it('is guarded where the gate ran from its copy', async () => {
    await fires()
    project.hooks({ PreToolUse: [['Bash', 'exit 0']] })
    expect(await unguarded()).toBeUndefined()
    rmSync(join(project.folder, '.amplifier'), { recursive: true })
    expect(await unguarded()).toBeUndefined()
    expect(await entries()).toMatchObject([{ action: 'deny' }, { action: 'deny' }])
  })

  it('is guarded where the copy let it pass, and the file is changed, broken or gone', async () => {
    await fires()
    const file = join(project.folder, '.amplifier/hooks.json')
    const changes = [
      () => project.hooks({ PreToolUse: [['Bash', 'exit 0']] }),
      () => writeFileSync(file, '{ "hooks": '),
      () => rmSync(file),
    ]
    for (const change of changes) {
      change()
      await project.call(['fire', '--json'], { input: ALLOWED })
      const last = (await entries()).at(-1) as { action: string; hooks: readonly { status: string }[] }
      expect([last.action, last.hooks[0]?.status]).toEqual(['continue', 'ran'])
      expect(await entries('--unguarded')).toEqual([])
    }
  })

  it('is told apart from one that a gate judged', async () => {
    await fires(ALLOWED, STOP)
    expect(await entries('--unguarded')).toEqual([])
    const { stdout } = await project.call(['audit', '--unguarded'])
    expect(stdout).toBe('no entries match\n')
  })
})

describe('the call', () => {
  const state = () => join(project.home, '.local/state/carabiner')

  it('is shown with its record', async () => {
    await fires(ALLOWED)
    const { stdout } = await project.call(['audit', 'show', '1'])
    expect(stdout).toMatch(/\n {2}call [0-9a-f]{64}\n {4}ls\n/)
    expect(await entries()).toMatchObject([
      { kept: { call: { tool_input: { command: 'ls' } }, exact: true } },
    ])
  })

  it('is kept only of what gates judge', async () => {
    await fires(STOP, { hook_event_name: 'PreToolUse', session_id: 's1', tool_name: 'Read', tool_input: {} })
    for (const one of await entries()) expect(one).not.toHaveProperty('call')
    expect(existsSync(join(state(), 'calls'))).toBe(false)
  })

  it('is not kept with audit_calls: false', async () => {
    writeSettings({ audit_calls: false })
    await fires(DENIED)
    expect(existsSync(join(state(), 'calls'))).toBe(false)
    expect(await entries()).toHaveLength(1)
  })

  it('is kept although the project does not want it, and a project cannot turn it on', async () => {
    project.file('.amplifier/settings.json', { hooks: { audit_calls: false } })
    await fires(DENIED)
    expect(existsSync(join(state(), 'calls'))).toBe(true)
    rmSync(join(state(), 'calls'), { recursive: true })
    writeSettings({ audit_calls: false })
    project.file('.amplifier/settings.json', { hooks: { audit_calls: true } })
    await project.call(['fire'], { input: DENIED })
    expect(existsSync(join(state(), 'calls'))).toBe(false)
  })

  it('is not kept where there is no audit', async () => {
    writeSettings({ audit: 'off' })
    await fires(DENIED)
    expect(existsSync(join(state(), 'calls'))).toBe(false)
  })

  it('has no secret of the environment', async () => {
    await fires()
    const env = { MY_API_TOKEN: 'Zq8 vN2x/Lm4=planted' }
    const input = {
      ...ALLOWED,
      tool_input: { command: `curl -d '${env.MY_API_TOKEN}'`, more: [env.MY_API_TOKEN] },
    }
    await project.call(['fire'], { input, env })
    const [folder = ''] = readdirSync(join(state(), 'calls'))
    const [file = ''] = readdirSync(join(state(), 'calls', folder))
    expect(readFileSync(join(state(), 'calls', folder, file), 'utf8')).toContain('curl -d')
    expect(readFileSync(join(state(), 'calls', folder, file), 'utf8')).not.toContain(env.MY_API_TOKEN)
  })

  it('that cannot be kept is told after the answer, and changes nothing', async () => {
    await fires()
    project.file('../home/.local/state/carabiner/calls', 'in the way')
    const { code, stdout, stderr } = await project.call(['fire', '--json'], { input: DENIED })
    expect([code, JSON.parse(stdout).action]).toEqual([2, 'deny'])
    expect(stderr).toMatch(/the calls in .* cannot be written/)
    const { stdout: list, code: read } = await project.call(['audit'])
    expect([read, list]).toEqual([0, expect.stringContaining('rm -rf is not allowed here')])
  })

  it('that somebody changed controls no terminal and breaks nothing', async () => {
    await fires(DENIED)
    const [folder = ''] = readdirSync(join(state(), 'calls'))
    const [name = ''] = readdirSync(join(state(), 'calls', folder))
    const file = join(state(), 'calls', folder, name)
    const text = readFileSync(file, 'utf8')
    for (const one of [
      text.replace('rm -rf', 'rm\\u001b[2J'),
      text.replace('{"tool_name"', '[{"tool_name"'),
      'x',
    ]) {
      writeFileSync(file, one)
      for (const args of [['audit'], ['audit', 'show', '1'], ['audit', '--json']]) {
        const { code, stdout } = await project.call(args)
        expect(code).toBe(0)
        expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    }
  })
})

describe('verify', () => {
  const lines = () => readFileSync(logFile(), 'utf8').trimEnd().split('\n')
  const rewrite = (changed: readonly string[]) => writeFileSync(logFile(), `${changed.join('\n')}\n`)

  async function verdict(...more: readonly string[]) {
    const { code, stdout } = await project.call(['audit', 'verify', '--json', ...more])
    return { code, ...JSON.parse(stdout) }
  }

  beforeEach(() => fires(DENIED, ALLOWED, STOP))

  it.each([
    [
      'edited',
      (all: readonly string[]) => all.map((one, i) => (i === 1 ? one.replace('continue', 'deny') : one)),
      2,
    ],
    ['removed', (all: readonly string[]) => all.filter((_, i) => i !== 1), 2],
    ['added', (all: readonly string[]) => [...all.slice(0, 1), all[0] ?? '', ...all.slice(1)], 1],
    ['moved', (all: readonly string[]) => [all[1] ?? '', all[0] ?? '', all[2] ?? ''], 1],
    ['cut off at the end', (all: readonly string[]) => all.slice(0, 2), 3],
  ])('an entry that was %s is named', async (_, change, seq) => {
    rewrite(change(lines()))
    const { code, ok, problems } = await verdict()
    expect([code, ok]).toEqual([1, false])
    expect(problems[0].seq).toBe(seq)
    const { stdout } = await project.call(['audit', 'verify'])
    expect(stdout).toContain('not whole')
  })

  it('U2: a log that was removed as a whole is missed, also after more events', async () => {
    const { last } = await verdict()
    rmSync(join(logFile(), '..'), { recursive: true })
    expect(await verdict()).toMatchObject({ code: 1, ok: false })
    expect((await project.call(['audit', 'verify'])).stdout).toMatch(/^not whole: 0 entries/)
    expect((await project.call(['audit'])).stdout).toMatch(/entries are missing\nnext carabiner audit verify/)
    await project.call(['fire'], { input: STOP })
    expect(await verdict()).toMatchObject({ code: 1, ok: false })
    expect(await verdict('--expect', `${last.seq}:${last.hash}`)).toMatchObject({ code: 1, ok: false })
  })

  it('a log that was removed with its witness is missed by who noted where it stood', async () => {
    const { last } = await verdict()
    rmSync(join(logFile(), '..'), { recursive: true })
    rmSync(join(project.home, '.local/state/carabiner/audit'), { recursive: true })
    await project.call(['fire'], { input: STOP })
    expect(await verdict('--expect', `${last.seq}:${last.hash}`)).toMatchObject({ code: 1, ok: false })
    expect(await verdict()).toMatchObject({ code: 0, ok: true })
  })
})

describe('a log that cannot be written', () => {
  async function withoutLog(settings: object) {
    writeSettings(settings)
    await fires()
    // A file where the folder has to be: also root cannot write into it.
    project.file('../home/.local/share/carabiner/audit', 'in the way')
    return project.call(['fire', '--json'], { input: ALLOWED })
  }

  it('the fire answers, and the loss is loud', async () => {
    const { code, stdout } = await withoutLog({})
    expect(code).toBe(0)
    expect(JSON.parse(stdout).messages).toMatchObject([
      { level: 'error', text: expect.stringContaining('this event was not recorded') },
    ])
  })

  it('the switch has no effect, where the user asked for a record of everything', async () => {
    await withoutLog({ audit_on_failure: 'block' })
    const off = { input: ALLOWED, env: { CARABINER_OFF: '1' } }
    const plain = await project.call(['fire'], off)
    expect([plain.code, plain.stdout]).toEqual([1, ''])
    expect(plain.stderr).toContain('CARABINER_OFF=1 has no effect')
    expect((await project.call(['fire', '--as', 'claude-code'], off)).code).toBe(2)
  })

  it('or blocks, where the user asked for that', async () => {
    const { code, stdout } = await withoutLog({ audit_on_failure: 'block' })
    expect(code).toBe(2)
    expect(JSON.parse(stdout).reason).toContain('could not be recorded')
  })
})

describe('tail --follow', () => {
  it('goes on with what other processes write', async () => {
    await fires(DENIED)
    const follower = spawn(process.execPath, [programFile(), 'audit', 'tail', '-f'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let seen = ''
    const sees = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => seen.includes(text) && resolve()
        follower.stdout.on('data', look)
        look()
      })
    follower.stdout.on('data', (chunk: Buffer) => {
      seen += chunk
    })
    const over = ended(follower)
    await sees('not allowed here')
    await project.call(['fire'], { input: STOP })
    await sees('Stop')
    follower.kill('SIGINT')
    expect((await over).code).toBe(0)
  })
})

describe('list --stats', () => {
  it('counts runs, failures and denies of each hook', async () => {
    await fires(DENIED, ALLOWED, DENIED)
    const { stdout } = await project.call(['list', '--stats', '--json'])
    expect(JSON.parse(stdout).hooks).toMatchObject([
      {
        name: 'project:PreToolUse#1',
        stats: { runs: 3, failures: 0, denies: 2, medianMs: expect.any(Number) },
      },
    ])
    const { stdout: text } = await project.call(['list', '--stats'])
    expect(text).toMatch(/3 runs, 2 denies, median \S+ ms, last 20/)
  })

  it('says where nothing is known', async () => {
    await fires()
    expect((await project.call(['list', '--stats'])).stdout).toContain('no runs on record')
  })
})

describe('wrong usage', () => {
  it.each([
    [['verfy'], 'did you mean verify?'],
    [['show', 'x'], '"x" is not the number of an entry'],
    [['verify', '3'], 'does not accept "3"'],
    [['--decision', 'denyy'], 'did you mean deny?'],
    [['--since', 'yesterday'], 'since must be a time'],
    [['--lines', '-3'], '--lines'],
    [['verify', '--expect', '3'], '--expect must be'],
    [['tail', '--follow', '--json'], 'use one or the other'],
    [['verify', '--decision', 'deny'], '--decision does not work with carabiner audit verify'],
    [['verify', '--follow'], '--follow does not work with'],
    [['tail', '--expect', `1:${'0'.repeat(64)}`], '--expect does not work with'],
    [['3'], 'carabiner audit show 3 shows that entry'],
    [['--kind', 'aproval'], 'did you mean approval?'],
  ])('%j', async (args, expected) => {
    const { code, stdout, stderr } = await project.call(['audit', ...args])
    expect(code).toBe(64)
    expect(`${stdout}${stderr}`).toContain(expected)
  })
})

describe('programs that are killed', () => {
  it('leave a log that is whole, and calls that can be read', { timeout: 120_000 }, async () => {
    await fires()
    for (let round = 0; round < 8; round++) {
      const children = Array.from({ length: 3 }, (_, i) => {
        const child = spawn(process.execPath, [programFile(), 'fire', '--json'], {
          cwd: project.folder,
          env: project.env(),
          stdio: ['pipe', 'ignore', 'ignore'],
        })
        child.stdin.on('error', () => {})
        child.stdin.end(JSON.stringify({ ...DENIED, session_id: `k${i}` }))
        setTimeout(() => child.kill('SIGKILL'), 60 + 45 * round + 7 * i)
        return child
      })
      await Promise.all(children.map((child) => new Promise((done) => child.once('close', done))))
    }
    const { code } = await project.call(['fire'], { input: DENIED })
    expect(code).toBe(2)
    const { stdout } = await project.call(['audit', 'verify', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] })
    expect((await entries()).at(-1)).toMatchObject({ action: 'deny', kept: { exact: true } })
  })
})
