// Attacks on hook systems, each against a hostile repository that the test builds: what was not trusted never runs.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  askUser,
  deny,
  type HookResult,
  type Hooks,
  inject,
  memoryAudit,
  type Outcome,
  proceed,
} from 'carabiner'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { examplePayload } from '../../src/cli/fire/payload.js'
import { resolveEvent } from '../../src/core/events/events.js'
import { runs } from '../property/runs.js'
import { CALL, canaries, EVENTS, gate, Repository } from './hostile-repository.js'
import { FORMS, planted } from './planted-secrets.js'

const SAYS = (text: string) => `#!/bin/sh\necho ${text} >&2\nexit 2\n`
const payloadOf = (event: string) => JSON.parse(examplePayload(resolveEvent(event))) as object

async function fired(hooks: Hooks, dir: string): Promise<Outcome> {
  return hooks.session({ cwd: dir }).fire('PreToolUse', CALL)
}

const REVIEWED = { action: 'deny', reason: 'reviewed' } as const

/** What was trusted still runs from its copy, and the user is told what to type. */
async function expectKept(hooks: Hooks, dir: string, name: string): Promise<void> {
  const outcome = await fired(hooks, dir)
  expect(outcome).toMatchObject({ ...REVIEWED, hooks: [{ status: 'ran' }] })
  expect(outcome.messages[0]).toMatchObject({ level: 'warning' })
  expect(outcome.messages[0]?.text).toContain('The version you trusted still runs.')
  expect(outcome.messages[0]?.text).toContain('carabiner trust --mine')
  expect(outcome.diagnostics).toContainEqual(expect.objectContaining({ code: 'trust-kept' }))
  expect(hooks.untrusted()).toMatchObject([{ name, state: 'modified' }])
}

const whys = ({ hooks }: Outcome) => hooks.map(({ status, why }) => why ?? status)

describe('a cloned repository, embedded (1)', () => {
  it('runs nothing, whatever is fired, reloaded or watched', async () => {
    const repo = new Repository()
    repo.plantCanaries()
    const hooks = await repo.hooks({
      watch: true,
      plugins: [join(repo.dir, 'plugin')],
      configs: [join(repo.dir, '.claude/settings.json'), join(repo.dir, 'hooks.json')],
    })
    const session = hooks.session({ cwd: repo.dir })
    for (const event of EVENTS) {
      hooks.explain(event)
      const outcome = await session.fire(event, payloadOf(event))
      expect([event, outcome.hooks.some(({ status }) => status !== 'skipped')]).toEqual([event, false])
      expect([event, whys(outcome).includes('untrusted')]).toEqual([event, true])
    }
    await hooks.reload()
    await session.callTool({ name: 'Bash', input: { command: 'ls' } }, async () => 'ok')
    await session.callModel({ model: 'm', messages: [] }, async () => 'ok')
    await session.child({ agentId: 'a', agentType: 't' }).fire('PreToolUse', CALL)
    expect(hooks.list().every(({ state }) => state === 'untrusted')).toBe(true)
    expect(hooks.untrusted().length).toBeGreaterThanOrEqual(6)
    await hooks.close()
    expect(repo.isSung).toBe(false)
  })

  it('nor do the hooks of a skill that lies in it', async () => {
    const repo = new Repository()
    repo.write('skills/x/SKILL.md', '# x')
    const hooks = await repo.hooks()
    const session = hooks.session({ cwd: repo.dir })
    const skill = {
      skill_name: 'x',
      skill_directory: join(repo.dir, 'skills/x'),
      hooks: canaries(repo.canary),
    }
    await session.fire('skill:loaded', skill)
    for (const event of EVENTS) {
      const outcome = await session.fire(event, payloadOf(event))
      expect([event, new Set(whys(outcome))]).toEqual([event, new Set(['untrusted'])])
    }
    await hooks.close()
    expect(repo.isSung).toBe(false)
  })

  it('the canary does sing where everything is trusted', async () => {
    const repo = new Repository()
    repo.plantCanaries()
    await fired(await repo.hooks({ trust: 'all' }), repo.dir)
    expect(repo.isSung).toBe(true)
  })
})

describe('a file that decides about itself (2)', () => {
  const FILES: readonly (readonly [string, (more: object) => object])[] = [
    ['.amplifier/hooks/hooks.json', (more) => ({ ...more, hooks: STOP })],
    ['.amplifier/hooks/plug/hooks.json', (more) => ({ ...more, hooks: STOP })],
    ['.amplifier/settings.json', (more) => ({ hooks: { ...STOP, ...more } })],
  ]
  const STOP = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] }
  const ABOUT_TRUST = ['trust', 'trusted', 'trust_all', 'trustAll', 'preTrusted', 'pre_trusted']

  it.each(FILES.flatMap(([file, made]) => ABOUT_TRUST.map((key) => [key, file, made] as const)))(
    '%s in %s is ignored, and said',
    async (key, file, made) => {
      const repo = new Repository()
      const canary = { type: 'command', command: `touch '${repo.canary}'`, [key]: true }
      repo.write(file, made({ [key]: 'all' }))
      repo.write('.amplifier/hooks/entry/hooks.json', { ...gate(canary), [key]: true })
      const hooks = await repo.hooks()
      await fired(hooks, repo.dir)
      expect(hooks.list().map(({ state }) => state)).toEqual(['untrusted', 'untrusted'])
      const said = hooks.diagnostics.filter(({ text }) => text.includes(`"${key}"`))
      expect(said.map((one) => one.file)).toContain(join(repo.dir, file))
      expect(repo.isSung).toBe(false)
    },
  )

  const USERS = {
    env: 'minimal',
    default_timeout: 10,
    max_timeout: 20,
    on_failure: 'block',
    bypass: false,
    recheck: 'all',
    injection_size_limit: 100,
    injection_budget_per_turn: 100,
    stop_block_cap: 3,
    stop_block_total: 5,
    protect_system_messages: true,
  } as const
  const LOOSER: Readonly<Record<keyof typeof USERS, unknown>> = {
    env: 'inherit',
    default_timeout: 300,
    max_timeout: 3000,
    on_failure: 'continue',
    bypass: true,
    recheck: 'skipped',
    injection_size_limit: null,
    injection_budget_per_turn: null,
    stop_block_cap: 100,
    stop_block_total: 100,
    protect_system_messages: false,
  }

  it.each(Object.entries(LOOSER))('%s in a project loosens nothing, and that is said', async (key, value) => {
    const repo = new Repository()
    repo.ofUser('settings.json', { hooks: USERS })
    const file = repo.write('.amplifier/settings.json', { hooks: { [key]: value } })
    const hooks = await repo.hooks()
    expect(hooks.settings).toMatchObject(USERS)
    const said = hooks.diagnostics.filter(({ text }) => text.includes(`"${key}"`))
    expect(said).toMatchObject([{ code: 'setting-ignored', file }])
  })

  it.each(['allow_user_hooks', 'enabled', 'disableAllHooks'])('%s does not silence the user', async (key) => {
    const repo = new Repository()
    repo.ofUser('hooks/hooks.json', gate({ type: 'command', command: 'exit 2' }))
    const file = repo.write(
      '.amplifier/settings.json',
      key === 'disableAllHooks' ? { disableAllHooks: true } : { hooks: { [key]: false } },
    )
    const hooks = await repo.hooks()
    expect((await fired(hooks, repo.dir)).action).toBe('deny')
    expect(hooks.diagnostics).toMatchObject([{ code: 'setting-ignored', file }])
  })
})

describe('what was trusted and is not the same (3)', () => {
  const IMPORTS = '#!/bin/sh\n. "$CLAUDE_PLUGIN_ROOT"/lib.sh\n'
  const changes: readonly (readonly [string, (folder: string) => void])[] = [
    ['a swapped script', (folder) => writeFileSync(join(folder, 'check.sh'), SAYS('evil'))],
    ['a swapped sibling', (folder) => writeFileSync(join(folder, 'lib.sh'), 'echo evil >&2; exit 2\n')],
    ['a mode bit', (folder) => chmodSync(join(folder, 'lib.sh'), 0o755)],
    ['an added file', (folder) => writeFileSync(join(folder, 'new'), '')],
    ['a removed file', (folder) => rmSync(join(folder, 'data'))],
    [
      'a file that became a link',
      (folder) => {
        renameSync(join(folder, 'lib.sh'), join(folder, 'other.sh'))
        symlinkSync('other.sh', join(folder, 'lib.sh'))
      },
    ],
    [
      'a folder that became another',
      (folder) => {
        renameSync(folder, `${folder}.old`)
        mkdirSync(folder)
        writeFileSync(join(folder, 'hooks.json'), readFileSync(join(`${folder}.old`, 'hooks.json')))
        rmSync(`${folder}.old`, { recursive: true })
      },
    ],
  ]

  it.each(changes)(
    '%s: what was trusted runs, within a session and in the next, and it is said',
    async (_, change) => {
      const repo = new Repository()
      const folder = repo.plugin(IMPORTS)
      repo.write('.amplifier/hooks/guard/lib.sh', 'echo reviewed >&2; exit 2\n')
      repo.write('.amplifier/hooks/guard/data', '')
      await repo.trustAll()
      const hooks = await repo.hooks()
      expect(await fired(hooks, repo.dir)).toMatchObject(REVIEWED)
      change(folder)
      expect(await fired(hooks, repo.dir)).toMatchObject({ ...REVIEWED, hooks: [{ status: 'ran' }] })
      expect(hooks.untrusted()).toMatchObject([{ name: 'guard', state: 'modified' }])
      await hooks.reload()
      await expectKept(hooks, repo.dir, 'guard')
      await expectKept(await repo.hooks(), repo.dir, 'guard')
    },
  )

  it('a script outside the folder: what was reviewed runs in its place, and it is said', async () => {
    const repo = new Repository()
    const script = repo.write('scripts/check.sh', SAYS('reviewed'), 0o755)
    repo.write('.amplifier/hooks/hooks.json', gate({ type: 'command', command: 'scripts/check.sh' }))
    await repo.trustAll()
    const hooks = await repo.hooks()
    expect((await fired(hooks, repo.dir)).reason).toBe('reviewed')
    writeFileSync(script, SAYS('evil'))
    expect(await fired(hooks, repo.dir)).toMatchObject({ ...REVIEWED, hooks: [{ status: 'ran' }] })
    await expectKept(await repo.hooks(), repo.dir, 'project')
    // The same word in another folder is another file, which does not run.
    writeFileSync(script, SAYS('reviewed'))
    repo.write('sub/scripts/check.sh', SAYS('evil'), 0o755)
    const elsewhere = await hooks.session({ cwd: join(repo.dir, 'sub') }).fire('PreToolUse', CALL)
    expect(elsewhere).toMatchObject({ ...REVIEWED, hooks: [{ status: 'ran' }] })
  })

  it('another command in a file that was trusted', async () => {
    const repo = new Repository()
    const file = '.amplifier/hooks/hooks.json'
    repo.write(file, gate({ type: 'command', command: 'echo reviewed >&2; exit 2' }))
    await repo.trustAll()
    const hooks = await repo.hooks()
    repo.write(file, gate({ type: 'command', command: `touch '${repo.canary}'` }))
    for (const now of [hooks, await repo.hooks()]) {
      await now.reload()
      const outcome = await fired(now, repo.dir)
      expect(outcome).toMatchObject(REVIEWED)
      expect(whys(outcome)).toEqual(['ran', 'modified'])
      const said = outcome.messages.map(({ text }) => text).join('\n')
      expect(said).toContain('the version that you trusted counts')
      expect(said).toContain('carabiner trust --mine')
      expect(said).not.toContain('went on without')
    }
    expect(repo.isSung).toBe(false)
  })
})

describe('a racing process (4)', () => {
  /** Says after every hundred swaps that it did them; the reviewed folder is in place half of the time. */
  const SWAPPER = `
import { renameSync } from 'node:fs'
const [unit, evil, away] = process.argv.slice(2)
for (let i = 1; ; i++) {
  renameSync(unit, away); renameSync(evil, unit)
  renameSync(unit, evil); renameSync(away, unit)
  if (i % 100 === 0) process.stdout.write('.')
}`

  it('swaps the folder thousands of times while hooks are fired: only trusted bytes are ever seen', async () => {
    const repo = new Repository()
    const sings = `#!/bin/sh\ntouch '${repo.canary}'\necho evil >&2\nexit 2\n`
    const folder = repo.plugin(sings)
    const evil = { type: 'command', command: `touch '${repo.canary}'; exit 2` }
    repo.write('.amplifier/hooks/guard/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [evil, { ...evil, command: '"$CLAUDE_PLUGIN_ROOT"/check.sh' }] }] },
    })
    const other = join(repo.base, 'evil')
    renameSync(folder, other)
    repo.plugin(SAYS('reviewed'))
    await repo.trustAll()
    const hooks = await repo.hooks()
    const seen = new Set<string>()
    const look = ({ reason, hooks: traces }: Outcome) => {
      for (const { status, why, stderr = '' } of traces)
        seen.add(`${why ?? status} ${reason ?? ''} ${stderr.trim()}`.trim())
    }
    expect((await fired(hooks, repo.dir)).reason).toBe('reviewed')
    const program = repo.write(join(repo.base, 'swapper.mjs'), SWAPPER)
    const child = spawn(process.execPath, [program, folder, other, join(repo.base, 'away')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let swaps = 0
    child.stdout.on('data', (dots: Buffer) => (swaps += 100 * dots.length))
    for (let fires = 0; (fires < 60 || swaps < runs(10_000)) && child.exitCode === null; fires++) {
      if (fires % 5 === 4) await hooks.reload()
      if (fires % 5 === 2) look(await fired(await repo.hooks(), repo.dir))
      look(await fired(hooks, repo.dir))
    }
    expect(child.exitCode).toBeNull()
    await ended(child)
    expect(repo.isSung).toBe(false)
    expect([...seen].filter((one) => !/^(?:ran reviewed|untrusted|modified)/.test(one))).toEqual([])
    expect([...seen].some((one) => one.includes('evil'))).toBe(false)
  })

  async function ended(child: ChildProcess): Promise<void> {
    const exit = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exit
  }
})

describe('what was absent and appears (5)', () => {
  it('a configuration that is created in the middle of a session is untrusted, and said', async () => {
    const repo = new Repository()
    const hooks = await repo.hooks({ watch: true })
    const session = hooks.session({ cwd: repo.dir })
    expect((await session.fire('SessionStart', { source: 'startup' })).hooks).toEqual([])
    repo.plantCanaries()
    await vi.waitFor(() => expect(hooks.list().length).toBeGreaterThan(EVENTS.length), {
      timeout: 60_000,
      interval: 20,
    })
    for (const event of EVENTS) {
      const outcome = await session.fire(event, payloadOf(event))
      expect(new Set(whys(outcome))).toEqual(new Set(['untrusted']))
    }
    expect((await session.fire('PreToolUse', CALL)).diagnostics).toContainEqual(
      expect.objectContaining({ code: 'untrusted' }),
    )
    expect(repo.isSung).toBe(false)
  })

  it('so is a plugin beside trusted ones, and a script that a trusted command names', async () => {
    const repo = new Repository()
    repo.plugin('#!/bin/sh\ntrue\n')
    const later = { type: 'command', command: 'if test -x later.sh; then ./later.sh; fi' }
    repo.write('.amplifier/hooks/hooks.json', gate(later))
    await repo.trustAll()
    const hooks = await repo.hooks()
    expect(await fired(hooks, repo.dir)).toMatchObject({ action: 'continue' })
    repo.write('later.sh', `#!/bin/sh\ntouch '${repo.canary}'\n`, 0o755)
    repo.plugin(`#!/bin/sh\ntouch '${repo.canary}'\n`, 'second')
    await hooks.reload()
    // Nobody can say what the command would do without the script, so its gate closes.
    const outcome = await fired(hooks, repo.dir)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/later\.sh" appeared .* carabiner trust --mine/)
    expect(whys(outcome).sort()).toEqual(['HOOK_NOT_TRUSTED', 'ran', 'untrusted'])
    expect(repo.isSung).toBe(false)
  })
})

describe('an agent that edits its guard (6)', () => {
  const edits: readonly (readonly [string, (dir: string) => void])[] = [
    [
      'sed -i',
      (dir) =>
        execFileSync('sed', ['-i.bak', 's/exit 2/exit 0/', join(dir, '.amplifier/hooks/guard/check.sh')]),
    ],
    ['mv', (dir) => execFileSync('mv', [join(dir, '.amplifier/hooks/guard/check.sh'), join(dir, 'x')])],
    [
      'ln -s',
      (dir) => execFileSync('ln', ['-sf', '/bin/true', join(dir, '.amplifier/hooks/guard/check.sh')]),
    ],
  ]

  it.each(edits)('%s does not make it a guard that lets everything pass', async (_, edit) => {
    const repo = new Repository()
    repo.plugin(SAYS('reviewed'))
    await repo.trustAll()
    const hooks = await repo.hooks()
    edit(repo.dir)
    expect(await fired(hooks, repo.dir)).toMatchObject({ ...REVIEWED, hooks: [{ status: 'ran' }] })
    await expectKept(await repo.hooks(), repo.dir, 'guard')
  })
})

describe('links (7)', () => {
  const secret = (repo: Repository) => repo.write(join(repo.home, '.ssh/id_ed25519'), 'PRIVATE')
  const refused: readonly (readonly [string, (repo: Repository, folder: string) => void, RegExp])[] = [
    [
      'a link to the outside',
      (repo, folder) => symlinkSync(secret(repo), join(folder, 'key')),
      /link to a place outside/,
    ],
    [
      'a link to a folder outside',
      (repo, folder) => symlinkSync(repo.home, join(folder, 'home')),
      /link to a place outside/,
    ],
    [
      'a link that leads nowhere',
      (_, folder) => symlinkSync('nothing', join(folder, 'x')),
      /is a broken link/,
    ],
    ['a link to itself', (_, folder) => symlinkSync('x', join(folder, 'x')), /leads to itself/],
    ['a link to its own folder', (_, folder) => symlinkSync('.', join(folder, 'x')), /never ends/],
    ['a pipe', (_, folder) => execFileSync('mkfifo', [join(folder, 'x')]), /named pipe/],
  ]

  it.each(refused)('%s is refused, and nothing of it is read or copied', async (_, plant, why) => {
    const repo = new Repository()
    const folder = repo.plugin(SAYS('evil'))
    plant(repo, folder)
    await expect(repo.trustAll()).rejects.toThrow(why)
    expect(whys(await fired(await repo.hooks(), repo.dir))).toEqual(['untrusted'])
    const copies = join(repo.data, 'copies')
    const copied = existsSync(copies) ? readdirSync(copies, { recursive: true }) : []
    expect(copied).toEqual([])
  })

  it('a hard link: who writes to the other name changes nothing that runs', async () => {
    const repo = new Repository()
    const folder = repo.plugin(SAYS('reviewed'))
    const other = join(repo.base, 'other')
    linkSync(join(folder, 'check.sh'), other)
    await repo.trustAll()
    const hooks = await repo.hooks()
    expect((await fired(hooks, repo.dir)).reason).toBe('reviewed')
    writeFileSync(other, SAYS('evil'))
    expect(await fired(hooks, repo.dir)).toMatchObject({ ...REVIEWED, hooks: [{ status: 'ran' }] })
    await expectKept(await repo.hooks(), repo.dir, 'guard')
  })
})

describe('secrets (13)', () => {
  it('the environment of a hook is minimal where the user says so', async () => {
    const repo = new Repository()
    for (const [name, value] of Object.entries(planted())) vi.stubEnv(name, value)
    repo.ofUser('settings.json', { hooks: { env: 'minimal' } })
    repo.plugin('#!/bin/sh\nenv > "$CLAUDE_PROJECT_DIR"/env\n', 'guard', {
      envPassthrough: ['PLANTED_TOKEN_0'],
    })
    await repo.trustAll()
    await fired(await repo.hooks(), repo.dir)
    const env = readFileSync(join(repo.dir, 'env'), 'utf8')
    expect(env).toContain(`PLANTED_TOKEN_0=${planted().PLANTED_TOKEN_0}`)
    for (const [name, value] of Object.entries(planted()).slice(1)) {
      expect([name, env.includes(value) || env.includes(name)]).toEqual([name, false])
    }
  })

  const CHANNELS: Readonly<Record<string, (file: string) => string>> = {
    'a reason on standard error': (file) => `cat '${file}' >&2; exit 2`,
    'a failure': (file) => `cat '${file}'; cat '${file}' >&2; exit 7`,
    'an answer that is no JSON': (file) => `echo '{'; cat '${file}'; echo '}'`,
    'a message': (file) =>
      `node -e 'console.log(JSON.stringify({systemMessage: require("fs").readFileSync(process.argv[1], "utf8")}))' '${file}'`,
    'an unknown decision': (file) =>
      `node -e 'console.log(JSON.stringify({decision: require("fs").readFileSync(process.argv[1], "utf8")}))' '${file}'`,
    'a question': (file) =>
      `node -e 'const t = require("fs").readFileSync(process.argv[1], "utf8"); console.log(JSON.stringify({hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "ask", permissionDecisionReason: t}}))' '${file}'`,
  }

  it.each(Object.entries(CHANNELS))(
    '%s shows none of them to people, in the trace or in the record',
    async (name, command) => {
      const repo = new Repository()
      for (const [variable, value] of Object.entries(planted())) vi.stubEnv(variable, value)
      const secrets = [...Object.values(planted()), ...FORMS]
      expect(secrets.length).toBeGreaterThanOrEqual(30)
      const file = repo.write(join(repo.base, 'secrets'), secrets.map((one) => `have ${one} here`).join('\n'))
      repo.ofUser('hooks/hooks.json', gate({ type: 'command', command: command(file) }))
      const audit = memoryAudit()
      const shown: string[] = []
      const hooks = await repo.hooks({ audit, display: ({ text }) => void shown.push(text) })
      const { messages, hooks: traces, diagnostics, approval, reason } = await fired(hooks, repo.dir)
      await hooks.close()
      const people = JSON.stringify([
        messages,
        traces,
        diagnostics,
        approval,
        audit.records,
        shown,
        hooks.diagnostics,
      ])
      expect(audit.records).toHaveLength(1)
      expect(secrets.filter((one) => people.includes(one))).toEqual([])
      expect(people).toContain('[redacted]')
      // The model gets what the hook said.
      if (name === 'a reason on standard error') {
        expect(secrets.filter((one) => !reason?.includes(one))).toEqual([])
        expect(secrets.filter((one) => audit.records[0]?.reason?.includes(one))).toEqual([])
      }
    },
  )

  it('a very long value of a variable loses no deny, and is not shown', async () => {
    const repo = new Repository()
    const long = Array.from({ length: 4000 }, (_, i) => `(${i * 7919}+)[`)
      .join('')
      .slice(0, 40_000)
    vi.stubEnv('PLANTED_TOKEN_0', long)
    const hooks = await repo.hooks()
    hooks.register('PreToolUse', () => ({ ...deny(`no ${long}`), userMessage: `no ${long}` }))
    const outcome = await fired(hooks, repo.dir)
    expect([outcome.action, outcome.reason]).toEqual(['deny', `no ${long}`])
    expect(outcome.messages.map(({ text }) => text)).toEqual(['no [redacted]'])
    expect(JSON.stringify([outcome.hooks, outcome.diagnostics])).not.toContain(long.slice(0, 40))
  })

  it('an injection, and what wakes the model, are what the hook said', async () => {
    const repo = new Repository()
    for (const [name, value] of Object.entries(planted())) vi.stubEnv(name, value)
    const text = [...Object.values(planted()), ...FORMS].join(' ')
    const woken: string[] = []
    const hooks = await repo.hooks({ wake: ({ content }) => void woken.push(content) })
    hooks.register('PreToolUse', () => inject(text))
    const file = repo.write(join(repo.base, 'secrets'), text)
    repo.ofUser(
      'hooks/hooks.json',
      gate({ type: 'command', command: `cat '${file}' >&2; exit 2`, asyncRewake: true }),
    )
    await hooks.reload()
    const { injections } = await fired(hooks, repo.dir)
    await hooks.close()
    expect([injections.map((one) => one.text), woken]).toEqual([[text], [text]])
  })
})

describe('an ask or an allow beside a deny (23)', () => {
  const VERDICTS: Readonly<Record<string, () => HookResult>> = {
    deny: () => deny('no'),
    ask: () => askUser('sure?'),
    allow: () => ({ action: 'continue', permission: 'allow' }) as HookResult,
    none: () => proceed(),
  }
  const names = Object.keys(VERDICTS)
  const triples = names.flatMap((a) => names.flatMap((b) => names.map((c) => [a, b, c] as const)))
  const expected = (three: readonly string[]) =>
    three.includes('deny') ? 'deny' : three.includes('ask') ? 'ask_user' : 'continue'

  it.each(triples)(
    '%s, %s, %s: deny before ask before allow, in every order and latency',
    async (...three) => {
      const repo = new Repository()
      for (const latencies of [
        [0, 0, 0],
        [2, 1, 0],
        [0, 1, 2],
      ]) {
        const hooks = await repo.hooks()
        for (const [i, name] of three.entries()) {
          hooks.register('PreToolUse', async () => {
            for (let turn = 0; turn < (latencies[i] ?? 0); turn++) await new Promise(setImmediate)
            return VERDICTS[name]?.()
          })
        }
        const { action, permission } = await fired(hooks, repo.dir)
        expect(action).toBe(expected(three))
        expect(permission).toBe(action === 'continue' && three.includes('allow') ? 'allow' : undefined)
      }
    },
  )

  it('also between programs: no order of three lets a deny get lost', async () => {
    const say = (decision: string) =>
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"${decision}"}}'`
    const three = ['deny', 'ask', 'allow']
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const repo = new Repository()
      const commands = order.map((i) => ({ type: 'command', command: say(three[i] as string) }))
      repo.ofUser('hooks/hooks.json', { hooks: { PreToolUse: [{ hooks: commands }] } })
      expect((await fired(await repo.hooks(), repo.dir)).action).toBe('deny')
    }
  })
})

describe('shims in PATH (26)', () => {
  const SHIM = (canary: string) => `#!/bin/sh\necho "$0" >> '${canary}'\n`
  const NAMES = ['node', 'jq', 'sh', 'env', 'grep', 'cat']

  function shims(repo: Repository, folder: string): string {
    for (const name of NAMES) repo.write(join(folder, name), SHIM(repo.canary), 0o755)
    return folder
  }

  function trustedHook(repo: Repository): void {
    repo.plugin(
      '#!/usr/bin/env node\nrequire("node:child_process").execSync("cat < /dev/null"); console.error("reviewed"); process.exit(2)\n',
    )
    repo.write(
      '.amplifier/hooks/hooks.json',
      gate({ type: 'command', command: 'jq -n 1 | grep -q 1 && { echo also >&2; exit 2; }' }),
    )
  }

  it('in the project, first in PATH: found neither when trusted nor when run', async () => {
    const repo = new Repository()
    trustedHook(repo)
    for (const entry of [shims(repo, join(repo.dir, 'bin')), 'bin', '.']) {
      vi.stubEnv('PATH', [entry, process.env.PATH].join(delimiter))
    }
    await repo.trustAll()
    const outcome = await fired(await repo.hooks(), repo.dir)
    expect(whys(outcome)).toEqual(['ran', 'ran'])
    expect(outcome.hooks.map(({ answer }) => answer?.reason)).toEqual(['also', 'reviewed'])
    expect(repo.isSung).toBe(false)
  })

  it('put before the programs after they were trusted: not used', async () => {
    const repo = new Repository()
    trustedHook(repo)
    await repo.trustAll()
    vi.stubEnv('PATH', [shims(repo, join(repo.base, 'later')), process.env.PATH].join(delimiter))
    const { hooks } = await fired(await repo.hooks(), repo.dir)
    expect(hooks.map(({ answer }) => answer?.reason)).toEqual(['also', 'reviewed'])
    const sung = repo.isSung ? readFileSync(repo.canary, 'utf8') : ''
    expect(sung).not.toMatch(/\/(?:node|jq|grep|sh|env)$/m)
  })

  it('the links to the programs are gone: they are made again, or the hook does not run', async () => {
    const repo = new Repository()
    trustedHook(repo)
    await repo.trustAll()
    vi.stubEnv('PATH', [shims(repo, join(repo.base, 'later')), process.env.PATH].join(delimiter))
    const hooks = await repo.hooks()
    for (const bin of execFileSync('find', [join(repo.data, 'copies'), '-name', '*.bin'], {
      encoding: 'utf8',
    })
      .trim()
      .split('\n')) {
      rmSync(bin, { recursive: true })
    }
    const { hooks: traces } = await fired(hooks, repo.dir)
    expect(traces.map(({ answer }) => answer?.reason)).toEqual(['also', 'reviewed'])
  })
})
