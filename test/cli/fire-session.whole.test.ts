// A session whose every event is a process of its own: what one `fire` leaves, and what the next finds.

import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { isLarge } from '../property/runs.js'
import { until } from '../runners/until.js'
import {
  BASH,
  ended,
  GUARD,
  isRunning,
  Project,
  programFile,
  type Run,
  type RunOptions,
  withProgram,
} from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

interface Fired {
  readonly code: number
  readonly outcome: Outcome
  readonly stderr: string
}

/** One event of the session `s1`. */
function fire(event: string, data: object = {}, more: RunOptions = {}): Promise<Fired> {
  return fired(project.call(...typed(event, data, more)))
}

/** The same in a process of its own. */
function fireAlone(event: string, data: object = {}, more: RunOptions = {}): Promise<Fired> {
  return fired(project.carabiner(...typed(event, data, more)))
}

function typed(event: string, data: object, more: RunOptions): [readonly string[], RunOptions] {
  return [['fire', event, '--trust-all', '--json'], { input: { session_id: 's1', ...data }, ...more }]
}

async function fired(run: Promise<Run>): Promise<Fired> {
  const { code, stdout, stderr } = await run
  return { code, outcome: JSON.parse(stdout) as Outcome, stderr }
}

type Groups = Readonly<Record<string, readonly (string | object)[]>>

/** Hooks of the project: by event, commands or handlers. */
function hooks(events: Groups, where = '.amplifier/hooks/hooks.json'): void {
  project.file(where, { hooks: grouped(events) })
}

function grouped(events: Groups): object {
  const handler = (one: string | object) => ({
    type: 'command',
    ...(typeof one === 'string' ? { command: one } : one),
  })
  return Object.fromEntries(
    Object.entries(events).map(([event, list]) => [event, [{ hooks: list.map(handler) }]]),
  )
}

/** The user's: a project could only tighten them. */
function settings(given: object): void {
  project.file('../home/.amplifier/settings.json', { hooks: given })
}

const texts = (items: readonly { readonly text: string }[]) => items.map(({ text }) => text)
const codes = ({ diagnostics }: Outcome) => diagnostics.map(({ code }) => code)
const context = (text: string, event: string) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })}'`
/** What the program keeps of sessions: every file below the home folder, hooks and the audit aside. */
function kept(folder = project.home): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/[/\\](?:\.amplifier|audit|calls)\b/.test(entry.parentPath))
    .map(({ name }) => name)
}

const end = (more: RunOptions = {}) => fire('SessionEnd', { reason: 'exit' }, more)

describe('from one fire to the next', () => {
  it('refused stops are counted: the ninth in a row is allowed, loudly', async () => {
    hooks({ Stop: ['echo go on >&2; exit 2'] })
    for (let i = 0; i < 8; i++) expect((await fire('Stop')).code).toBe(2)
    const { code, outcome } = await fire('Stop')
    expect([code, outcome.action, codes(outcome)]).toEqual([0, 'continue', ['stop-cap']])
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
  })

  it('a tool call between ends the row, but not the total', async () => {
    settings({ stop_block_cap: 2, stop_block_total: 3 })
    hooks({ Stop: ['exit 2'] })
    const stops: number[] = []
    for (const event of ['Stop', 'Stop', 'PreToolUse', 'Stop', 'PreToolUse', 'Stop']) {
      const { code } = await fire(event, event === 'PreToolUse' ? BASH : {})
      if (event === 'Stop') stops.push(code)
    }
    expect(stops).toEqual([2, 2, 2, 0])
    await fire('UserPromptSubmit', { prompt: 'again' })
    expect((await fire('Stop')).code).toBe(2)
  })

  it('what is injected is charged to the turn, and a prompt begins a new one', async () => {
    settings({ injection_budget_per_turn: 3 })
    hooks({ PreToolUse: [context('12345678', 'PreToolUse')] })
    expect(texts((await fire('PreToolUse', BASH)).outcome.injections)).toEqual(['12345678'])
    const over = (await fire('PreToolUse', BASH)).outcome
    expect([over.injections, codes(over)]).toEqual([[], ['injection-over-budget']])
    await fire('UserPromptSubmit', { prompt: 'next' })
    expect(texts((await fire('PreToolUse', BASH)).outcome.injections)).toEqual(['12345678'])
  })

  it('what an async hook brings goes out with the next event that can carry it, once', async () => {
    const says = JSON.stringify({ systemMessage: 'all done' })
    hooks({
      PostToolUse: [
        { command: context('found', 'PostToolUse'), async: true },
        `echo '{"async":true}'; echo '${says}'`,
        { command: 'echo broken >&2; exit 7', async: true },
      ],
    })
    const first = (await fire('PostToolUse', { ...BASH, tool_response: 'ok' })).outcome
    expect([first.injections, first.messages]).toEqual([[], []])
    expect((await fire('Notification', { message: 'x' })).outcome.messages).toEqual([])
    const next = (await fire('PreToolUse', BASH)).outcome
    expect(texts(next.injections)).toEqual(['found'])
    expect([...texts(next.messages)].sort()).toEqual([expect.stringContaining('broken'), 'all done'])
    expect(codes(next)).toEqual(['late-failed'])
    const after = (await fire('PreToolUse', BASH)).outcome
    expect([after.injections, after.messages, after.diagnostics]).toEqual([[], [], []])
  })

  it('what should wake the model waits for the next event, and that is said', async () => {
    hooks({ Stop: [{ command: 'echo tests fail >&2; exit 2', asyncRewake: true }] })
    const stopped = await fire('Stop')
    expect([stopped.code, stopped.stderr]).toEqual([0, expect.stringMatching(/^note wake-waits /)])
    expect(texts((await fire('UserPromptSubmit', { prompt: 'x' })).outcome.injections)).toEqual([
      'tests fail',
    ])
  })

  it('variables of an environment file are there for later hooks, until the session ends', async () => {
    hooks({
      SessionStart: ['echo \'export A="set at the start"\' >> "$CLAUDE_ENV_FILE"'],
      PreToolUse: ['echo "[$A]" >&2; exit 2'],
    })
    await fire('SessionStart', { source: 'startup' })
    expect((await fire('PreToolUse', BASH)).outcome.reason).toBe('[set at the start]')
    await end()
    expect((await fire('PreToolUse', BASH)).outcome.reason).toBe('[]')
  })

  it('a skill guards from skill:loaded to skill:unloaded', async () => {
    project.file('skills/my skill/gate.sh', '#!/bin/sh\necho "by the skill" >&2\nexit 2\n', 0o755)
    const loaded = {
      skill_name: 'mine',
      skill_directory: project.path('skills/my skill'),
      hooks: grouped({ PreToolUse: ['./gate.sh'] }),
    }
    expect((await fire('skill:loaded', loaded)).outcome.diagnostics).toEqual([])
    expect((await fire('PreToolUse', BASH)).outcome.reason).toBe('by the skill')
    // Also for an agent that works in the session.
    expect((await fire('PreToolUse', { ...BASH, agent_id: 'a1' })).outcome.reason).toBe('by the skill')
    await fire('skill:unloaded', { skill_name: 'mine' })
    expect((await fire('PreToolUse', BASH)).code).toBe(0)
  })

  it.each<readonly [string, (file: string) => void]>([
    ['emptied', (file) => writeFileSync(file, '')],
    ['cut', (file) => truncateSync(file, 20)],
    ['another file', (file) => writeFileSync(file, '{"a":1}')],
    ['no valid state', (file) => writeFileSync(file, '{"format":1,"value":{"skills":{}}}')],
    ['of a newer version', (file) => writeFileSync(file, '{"format":99,"value":{}}')],
    ['a folder', (file) => [rmSync(file), mkdirSync(file)]],
    ['a link', (file) => [rmSync(file), symlinkSync('nowhere', file)]],
  ])('a skill guards on if the state of its session is %s', async (_, damage) => {
    const loaded = {
      skill_name: 'mine',
      skill_directory: project.path('skills/mine'),
      hooks: grouped({ PreToolUse: ['exit 2'] }),
    }
    await fire('skill:loaded', loaded)
    const states = readdirSync(join(project.home, '.local/state/carabiner/sessions'), {
      recursive: true,
      withFileTypes: true,
    }).filter(({ name }) => /^\d+\.json$/.test(name))
    for (const { parentPath, name } of states) damage(join(parentPath, name))
    for (let i = 0; i < 2; i++) {
      const { code, outcome } = await fire('PreToolUse', { ...BASH, ...(i > 0 && { agent_id: 'a1' }) })
      expect([code, outcome.reason]).toEqual([2, expect.stringContaining('Start a new session')])
      // It is written: what was found broken is out of the way.
      await fire('UserPromptSubmit', { prompt: 'go on' })
    }
    expect((await fire('Stop')).code).toBe(0)
    expect((await fire('PreToolUse', { ...BASH, session_id: 'new' })).code).toBe(0)
  })

  it('a skill that is not trusted does not run', async () => {
    const loaded = {
      skill_name: 'mine',
      skill_directory: project.path('skills/mine'),
      hooks: grouped({ PreToolUse: ['touch ran; exit 2'] }),
    }
    const distrusting = (event: string, data: object) =>
      project.call(['fire', event, '--json'], { input: { session_id: 's1', ...data } })
    await distrusting('skill:loaded', loaded)
    const { code, stdout } = await distrusting('PreToolUse', BASH)
    expect([code, JSON.parse(stdout).hooks[0].why, project.has('ran')]).toEqual([0, 'untrusted', false])
  })

  it('a hook of a skill with "once" runs once; one that failed runs again', async () => {
    const loaded = {
      skill_name: 'mine',
      skill_directory: project.folder,
      hooks: grouped({ PreToolUse: [{ command: 'echo x >> ran; test -e works', once: true }] }),
    }
    await fire('skill:loaded', loaded)
    await fire('PreToolUse', BASH)
    project.file('works', '')
    await fire('PreToolUse', BASH)
    const { outcome } = await fire('PreToolUse', BASH)
    expect(project.read('ran')).toBe('x\nx\n')
    expect(outcome.hooks).toMatchObject([{ status: 'skipped', why: 'once' }])
  })

  it.each(['resume', 'compact'])(
    'a SessionStart by %s matches as such, and keeps what there is',
    async (source) => {
      project.file('.amplifier/hooks/hooks.json', {
        hooks: {
          SessionStart: [
            { matcher: source, hooks: [{ type: 'command', command: `echo matched` }] },
            { matcher: 'startup', hooks: [{ type: 'command', command: 'echo A=1 >> "$CLAUDE_ENV_FILE"' }] },
          ],
          Stop: [{ hooks: [{ type: 'command', command: context('left', 'Stop'), async: true }] }],
          PreToolUse: [{ hooks: [{ type: 'command', command: 'echo "[$A]" >&2; exit 2' }] }],
        },
      })
      await fire('SessionStart', { source: 'startup' })
      await fire('Stop')
      const { outcome } = await fire('SessionStart', { source })
      expect(texts(outcome.injections)).toEqual(['left', 'matched'])
      expect((await fire('PreToolUse', BASH)).outcome.reason).toBe('[1]')
    },
  )
})

describe('the end of a session', () => {
  it('removes everything, and says what was never delivered', async () => {
    hooks({
      SessionStart: ['echo A=1 >> "$CLAUDE_ENV_FILE"'],
      Stop: [
        { command: context('for the model', 'Stop'), async: true },
        { command: 'echo broken >&2; exit 7', async: true },
      ],
    })
    await fire('SessionStart', { source: 'startup' })
    await fire('Stop')
    expect(kept()).not.toEqual([])
    const { outcome } = await end()
    expect(outcome.injections).toEqual([])
    const said = texts(outcome.messages)
    expect(said.some((text) => text.includes('for the model'))).toBe(true)
    expect(said.some((text) => text.includes('broken'))).toBe(true)
    expect([...codes(outcome)].sort()).toEqual(['late-failed', 'late-undelivered'])
    expect(kept()).toEqual([])
  })

  it('says what hooks of a subagent left that never stopped', async () => {
    hooks({ PostToolUse: [{ command: context('left', 'PostToolUse'), async: true }] })
    await fire('PostToolUse', { ...BASH, tool_response: 'ok', agent_id: 'a1' })
    const { outcome } = await fire('SessionEnd', { reason: 'other', agent_id: 'a1' })
    expect(codes(outcome)).toEqual(['late-undelivered'])
    expect(kept()).toEqual([])
  })

  it('says what its own async hooks bring, which nobody will ask for', async () => {
    hooks({ SessionEnd: [{ command: 'echo broken >&2; exit 7', async: true }] })
    expect((await end()).stderr).toMatch(/^broken late-failed .*broken/)
    expect(kept()).toEqual([])
  })

  it('of a session that nobody knows is quiet, and leaves nothing', async () => {
    hooks({ SessionEnd: ['exit 0'] })
    const { code, outcome } = await end()
    expect([code, outcome.diagnostics, kept()]).toEqual([0, [], []])
  })

  it('a session of the same name afterwards is a new one', async () => {
    settings({ stop_block_cap: 1 })
    hooks({ Stop: ['exit 2'] })
    expect([(await fire('Stop')).code, (await fire('Stop')).code]).toEqual([2, 0])
    await end()
    expect((await fire('Stop')).code).toBe(2)
  })
})

describe('who sees what', () => {
  const SET = 'echo "A=$(cat "$CLAUDE_PROJECT_DIR/value")" >> "$CLAUDE_ENV_FILE"'
  const TELL = 'echo "[$A]" >&2; exit 2'

  it('two sessions do not see each other', async () => {
    hooks({
      SessionStart: [SET],
      PreToolUse: [TELL],
      Stop: [{ command: context('left', 'Stop'), async: true }],
    })
    project.file('value', '1')
    await fire('SessionStart', { source: 'startup' })
    await fire('Stop')
    const other = await fire('PreToolUse', { ...BASH, session_id: 's2' })
    expect([other.outcome.reason, other.outcome.injections]).toEqual(['[]', []])
    await fire('SessionEnd', { reason: 'exit', session_id: 's2' })
    const own = await fire('PreToolUse', BASH)
    expect([own.outcome.reason, texts(own.outcome.injections)]).toEqual(['[1]', ['left']])
  })

  it('two projects do not see each other, whatever their sessions are called', async () => {
    hooks({ SessionStart: [SET], PreToolUse: [TELL] })
    hooks({ SessionStart: [SET], PreToolUse: [TELL] }, '../other/.amplifier/hooks/hooks.json')
    const inOther = { cwd: join(project.base, 'other') }
    project.file('value', '1')
    await fire('SessionStart', { source: 'startup' })
    expect((await fire('PreToolUse', BASH, inOther)).outcome.reason).toBe('[]')
    await end(inOther)
    expect((await fire('PreToolUse', BASH)).outcome.reason).toBe('[1]')
  })

  it('what a hook of an agent leaves waits for the agent, not for its session', async () => {
    hooks({ PostToolUse: [{ command: context('for the agent', 'PostToolUse'), async: true }] })
    await fire('PostToolUse', { ...BASH, tool_response: '', agent_id: 'a1' })
    expect((await fire('PreToolUse', BASH)).outcome.injections).toEqual([])
    const { outcome } = await fire('PreToolUse', { ...BASH, agent_id: 'a1' })
    expect(texts(outcome.injections)).toEqual(['for the agent'])
  })

  it.each([
    ['with dots and slashes', '../../../../etc/passwd'],
    ['that is long', 'x'.repeat(4096)],
    ['of one dot', '.'],
    ['in any script', '日本 💥\n\t"'],
    ['like that of a property', '__proto__'],
  ])('an id %s is an id like any other', async (_what, session_id) => {
    settings({ stop_block_cap: 1 })
    hooks({ Stop: ['exit 2'] })
    expect((await fire('Stop', { session_id })).code).toBe(2)
    expect((await fire('Stop', { session_id })).code).toBe(0)
    await fire('SessionEnd', { reason: 'exit', session_id })
    expect(kept()).toEqual([])
  })

  it.each([
    ['no session_id', {}],
    ['an empty one', { session_id: '' }],
  ])('%s: nothing is remembered, and nothing is written', async (_what, more) => {
    settings({ stop_block_cap: 1 })
    hooks({
      SessionStart: ['echo A=1 >> "$CLAUDE_ENV_FILE"'],
      Stop: ['exit 2', { command: context('left', 'Stop'), async: true }],
    })
    const anonymous = (event: string) =>
      project.call(['fire', event, '--trust-all', '--json'], { input: more })
    await anonymous('SessionStart')
    expect([(await anonymous('Stop')).code, (await anonymous('Stop')).code]).toEqual([2, 2])
    expect(kept()).toEqual([])
    expect(readdirSync(project.base).sort()).toEqual(['home', 'my project'])
  })

  it('only the user may read what is kept', async () => {
    hooks({ SessionStart: ['echo SECRET=1 >> "$CLAUDE_ENV_FILE"'], Stop: ['exit 2'] })
    await fire('SessionStart', { source: 'startup' })
    await fire('Stop')
    const files = readdirSync(project.home, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    )
    expect(files.length).toBeGreaterThan(1)
    for (const { parentPath, name } of files) {
      expect(statSync(join(parentPath, name)).mode & 0o077).toBe(0)
      expect(statSync(parentPath).mode & 0o077).toBe(0)
    }
  })

  it.each(['CARABINER_HOME', 'XDG_STATE_HOME'])('%s says where it is kept', async (name) => {
    hooks({ Stop: ['exit 2'] })
    await fire('Stop', {}, { env: { [name]: join(project.base, 'there') } })
    expect(kept(join(project.base, 'there'))).not.toEqual([])
    expect(kept()).toEqual([])
  })
})

describe.runIf(isLarge)('at once', () => {
  it('two fires of one session: no refused stop goes uncounted', async () => {
    settings({ stop_block_cap: 5 })
    hooks({ Stop: ['exit 2'] })
    const all = await Promise.all(Array.from({ length: 8 }, () => fireAlone('Stop')))
    expect(all.map(({ code }) => code).sort()).toEqual([0, 0, 0, 2, 2, 2, 2, 2])
  })

  it('of several fires one alone delivers what an async hook left', async () => {
    hooks({ Stop: [{ command: context('left', 'Stop'), async: true }] })
    await fireAlone('Stop')
    const all = await Promise.all(Array.from({ length: 6 }, () => fireAlone('PreToolUse', BASH)))
    expect(all.flatMap(({ outcome }) => texts(outcome.injections))).toEqual(['left'])
  })

  it('no effect of several async hooks is lost', async () => {
    const tell = `printf '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"%s"}}' "$$"`
    hooks({ Stop: [{ command: tell, async: true }] })
    await Promise.all(Array.from({ length: 6 }, () => fireAlone('Stop')))
    const { outcome } = await fireAlone('PreToolUse', BASH)
    expect(new Set(texts(outcome.injections)).size).toBe(6)
  })

  it('a hook with "once" runs in one of them', async () => {
    const loaded = {
      skill_name: 'mine',
      skill_directory: project.folder,
      hooks: grouped({ PreToolUse: [{ command: 'echo x >> ran', once: true }] }),
    }
    await fireAlone('skill:loaded', loaded)
    await Promise.all(Array.from({ length: 6 }, () => fireAlone('PreToolUse', BASH)))
    expect(project.read('ran')).toBe('x\n')
  })

  it('an end of the session beside other events leaves a session that works', async () => {
    hooks({ Stop: ['exit 2'], SessionStart: ['echo A=1 >> "$CLAUDE_ENV_FILE"'] })
    const events = ['Stop', 'SessionStart', 'SessionEnd', 'Stop', 'SessionEnd', 'SessionStart', 'Stop']
    const all = await Promise.all(
      events.map((event) => fireAlone(event, { reason: 'exit', source: 'resume' })),
    )
    expect(all.map(({ code }) => code)).toEqual([2, 0, 0, 2, 0, 0, 2])
    // A hook that is given an environment file may find it gone, and that is said; refused stops are not concerned.
    const stops = all.filter((_, i) => events[i] === 'Stop')
    expect(stops.flatMap(({ outcome }) => outcome.diagnostics)).toEqual([])
    expect((await fireAlone('Stop')).code).toBe(2)
  })
})

describe.runIf(isLarge)('a fire that is killed', () => {
  /** Starts one, and kills it as soon as its hook runs. */
  async function kill(event: string, data: object, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const args = [programFile(), 'fire', event, '--trust-all', '--json']
    const child = spawn(process.execPath, args, {
      cwd: project.folder,
      env: project.env(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin?.end(JSON.stringify({ session_id: 's1', ...data }))
    const run = ended(child)
    await until('the hook runs', () => project.has('pid') && project.read('pid').endsWith('\n'))
    child.kill(signal)
    await run
    const pid = Number(project.read('pid'))
    if (isRunning(pid)) process.kill(-pid, 'SIGKILL') // nobody is left to end it after SIGKILL
  }

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s in the middle does not keep the next from working',
    async (signal) => {
      settings({ stop_block_cap: 2 })
      hooks({
        Stop: ['exit 2'],
        PreToolUse: ['test -e pid || { echo $$ > pid; sleep 300; }', GUARD],
      })
      expect((await fireAlone('Stop')).code).toBe(2)
      await kill('PreToolUse', BASH, signal)
      const { code, outcome } = await fireAlone('PreToolUse', BASH)
      expect([code, outcome.diagnostics]).toEqual([2, []])
      expect((await fireAlone('Stop')).code).toBe(2)
      await end()
      expect(kept()).toEqual([])
    },
  )

  it('while others of the session fire, costs them nothing', async () => {
    hooks({
      Notification: ['echo $$ > pid; sleep 300'],
      Stop: [{ command: context('left', 'Stop'), async: true }],
    })
    const [, ...others] = await Promise.all([
      kill('Notification', { message: 'x' }, 'SIGKILL'),
      ...Array.from({ length: 4 }, () => fireAlone('Stop')),
    ])
    expect(others.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect((await fireAlone('PreToolUse', BASH)).outcome.injections).toHaveLength(4)
  })

  it('by SIGTERM while an async hook works on ends that, too, and the next fire works', async () => {
    hooks({ PostToolUse: [`echo '{"async":true}'; echo $$ > pid; sleep 300`], PreToolUse: [GUARD] })
    await kill('PostToolUse', { ...BASH, tool_response: '' }, 'SIGTERM')
    expect(isRunning(Number(project.read('pid')))).toBe(false)
    expect((await fireAlone('PreToolUse', BASH)).code).toBe(2)
  })
})

describe('where nothing can be kept', () => {
  /** Both gates hold, whatever becomes of the memory. */
  async function stillGuards(more: RunOptions): Promise<Outcome> {
    hooks({ PreToolUse: [GUARD], Stop: ['echo go on >&2; exit 2'], SessionStart: ['exit 0'] })
    expect((await fire('SessionStart', { source: 'startup' }, more)).code).toBe(0)
    const denied = await fire('PreToolUse', BASH, more)
    expect([denied.code, denied.outcome.reason]).toEqual([2, 'rm -rf is not allowed here'])
    const { code, outcome } = await fire('Stop', {}, more)
    expect([code, outcome.action]).toEqual([2, 'deny'])
    expect((await end(more)).code).toBe(0)
    return outcome
  }

  it.each(['CARABINER_HOME', 'XDG_STATE_HOME'])(
    '%s that is a file: that is said, a deny stays a deny',
    async (name) => {
      writeFileSync(join(project.base, 'file'), '')
      const outcome = await stillGuards({ env: { [name]: join(project.base, 'file') } })
      expect(codes(outcome)).toContain('host-failed')
      expect(texts(outcome.diagnostics).join()).toContain(join(project.base, 'file'))
    },
  )

  it('a folder that nobody may write: that is said, a deny stays a deny', async ({ skip }) => {
    if (process.getuid?.() === 0) skip('the superuser may write anywhere')
    const folder = join(project.base, 'locked')
    mkdirSync(folder)
    chmodSync(folder, 0o500)
    const outcome = await stillGuards({ env: { CARABINER_HOME: folder } })
    expect(codes(outcome)).toContain('host-failed')
  })

  it('a disk that takes no byte: that is said, a deny stays a deny', async () => {
    hooks({ PreToolUse: [GUARD], Stop: ['exit 2'] })
    const limited = async (event: string, data: object) => {
      const script = `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`
      const args = ['-c', script, process.execPath, programFile(), 'fire', event, '--trust-all', '--json']
      const { code, stdout } = await project.run('sh', args, { input: { session_id: 's1', ...data } })
      return { code, outcome: JSON.parse(stdout) as Outcome }
    }
    const stopped = await limited('Stop', {})
    // Neither the session's state nor the audit.
    expect([stopped.code, codes(stopped.outcome)]).toEqual([2, ['host-failed', 'host-failed']])
    expect(texts(stopped.outcome.diagnostics)[0]).toContain('space')
    expect((await limited('PreToolUse', BASH)).code).toBe(2)
    // When there is room again, all is as it was.
    const { code, outcome } = await fire('Stop')
    expect([code, outcome.diagnostics]).toEqual([2, []])
  })

  it('state that is broken is said, and stops are counted anew', async () => {
    settings({ stop_block_cap: 1 })
    hooks({ Stop: ['exit 2'] })
    await fire('Stop')
    const states = readdirSync(join(project.home, '.local'), { recursive: true, withFileTypes: true })
    for (const { name, parentPath } of states.filter((one) => one.name.endsWith('.json')))
      writeFileSync(join(parentPath, name), '{oops')
    const broken = await fire('Stop')
    expect([broken.code, codes(broken.outcome)]).toEqual([2, expect.arrayContaining(['host-failed'])])
    expect((await fire('Stop')).code).toBe(0)
  })
})

it('what old sessions left is removed after the answer, and trouble with it is told then', async () => {
  hooks({ Stop: ['exit 2'] })
  await fire('Stop')
  const sessions = join(project.home, '.local/state/carabiner/sessions')
  const [own = ''] = readdirSync(sessions)
  const forgotten = join(sessions, own, 'f'.repeat(32))
  mkdirSync(forgotten)
  utimesSync(forgotten, 0, 0)
  writeFileSync(join(sessions, 'e'.repeat(32)), 'a file in the place of a project')
  const seen: boolean[] = []
  const { code, stderr } = await fire(
    'Stop',
    { session_id: 's2' },
    { onPrint: () => seen.push(existsSync(forgotten)) },
  )
  expect([code, seen[0], existsSync(forgotten)]).toEqual([2, true, false])
  expect(stderr).toMatch(/host-failed state of old sessions could not be removed: .*ENOTDIR/)
})
