// Hooks that a skill brings along: from when to when they run, in whose sessions, where their commands are, who trusts them.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHooks, type HooksOptions, MemoryStore, type Outcome, type Session } from 'carabiner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine, SkillHooks } from '../../src/core/session/engine.js'
import type { Skill } from '../../src/core/session/session-store.js'
import { SkillLayer } from '../../src/core/session/skills.js'
import {
  codes,
  group,
  matching,
  NO_HANG,
  printing,
  ShellProject,
  texts,
} from '../conformance/shell-project.js'
import { madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const GATE = { PreToolUse: [matching('Bash', 'echo no >&2; exit 2')] }

let project: ShellProject
let skill: string
beforeEach(() => {
  project = new ShellProject()
  skill = folder('skills/mine')
})
afterEach(() => project.remove())

/** A folder of the project. */
function folder(path: string): string {
  mkdirSync(project.path(path), { recursive: true })
  return project.path(path)
}

async function opened(options: HooksOptions = {}): Promise<Session> {
  return (await project.open(options)).session({ id: 's1', cwd: project.dir })
}

const load = (session: Session, hooks: unknown, more: object = {}) =>
  session.fire('skill:loaded', { skill_name: 'mine', hooks, skill_directory: skill, ...more })
const unload = (session: Session, skill_name = 'mine') => session.fire('skill:unloaded', { skill_name })
const call = (session: Session) => session.fire('PreToolUse', BASH)
const reasonOf = async (session: Session) => (await call(session)).reason
const names = ({ hooks }: Outcome) => hooks.map(({ name }) => name)

describe('a skill with hooks', NO_HANG, () => {
  it('guards from when it is loaded to when it is unloaded', async () => {
    const session = await opened()
    expect((await call(session)).action).toBe('continue')
    expect(await load(session, GATE)).toMatchObject({ action: 'continue', diagnostics: [] })
    const guarded = await call(session)
    expect([guarded.action, guarded.reason]).toEqual(['deny', 'no'])
    expect(guarded.hooks).toMatchObject([{ name: 'skill mine:PreToolUse#1', source: 'skill mine' }])
    await unload(session)
    expect((await call(session)).action).toBe('continue')
  })

  it('loaded again replaces what it brought before', async () => {
    const session = await opened()
    await load(session, { PreToolUse: [group('echo old >&2; exit 2')], Stop: [group('exit 2')] })
    await load(session, { PreToolUse: [group('echo new >&2; exit 2')] })
    expect(await reasonOf(session)).toBe('new')
    expect(names(await session.fire('Stop'))).toEqual([])
  })

  it('of the same name from elsewhere is kept beside it, and removes no gate', async () => {
    const session = await opened()
    await load(session, GATE)
    await load(session, { Stop: [group('exit 0')] }, { skill_directory: folder('elsewhere/mine') })
    expect(await reasonOf(session)).toBe('no')
    await session.fire('skill:unloaded', {
      skill_name: 'mine',
      skill_directory: project.path('elsewhere/mine'),
    })
    expect(await reasonOf(session)).toBe('no')
  })

  it('that the store cannot keep is refused: its gate would be gone with the next event', async () => {
    const store = new MemoryStore()
    store.update = () => {
      throw new Error('full')
    }
    const session = await opened({ store })
    await expect(load(session, GATE)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('full'),
    })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
  ])('loaded again with %s for hooks brings none any more', async (_what, hooks) => {
    const session = await opened()
    await load(session, GATE)
    await load(session, hooks)
    expect((await call(session)).action).toBe('continue')
  })

  it('without hooks needs no folder', async () => {
    const session = await opened()
    const outcome = await session.fire('skill:loaded', { skill_name: 'mine' })
    expect([outcome.action, outcome.diagnostics]).toEqual(['continue', []])
  })

  it.each([{}, { hooks: null }, { skill_directory: null }, { skill_directory: '', hooks: null }])(
    'stays when its name is loaded with %j, which says nothing about its folder',
    async (more) => {
      const session = await opened()
      await load(session, GATE)
      await session.fire('skill:loaded', { skill_name: 'mine', ...more })
      expect(await reasonOf(session)).toBe('no')
    },
  )

  it('goes alone: others stay, and run in the order they were loaded', async () => {
    const session = await opened()
    for (const skill_name of ['b', 'a', 'c']) await load(session, GATE, { skill_name })
    expect(names(await call(session))).toEqual(['b', 'a', 'c'].map((name) => `skill ${name}:PreToolUse#1`))
    await unload(session, 'a')
    expect(names(await call(session))).toEqual(['b', 'c'].map((name) => `skill ${name}:PreToolUse#1`))
    await unload(session, 'never loaded')
    expect(names(await call(session))).toHaveLength(2)
  })

  it('runs after the hooks of files, in their step', async () => {
    project.root({ PreToolUse: [group('exit 0')] })
    const session = await opened()
    await load(session, GATE)
    expect(names(await call(session))).toEqual(['project:PreToolUse#1', 'skill mine:PreToolUse#1'])
  })

  it('hears of itself: skill:loaded is an event like any other, with its own data', async () => {
    const hooks = await project.open()
    const seen: unknown[] = []
    hooks.register('skill:loaded', (_event, data) => void seen.push(data.skill_name))
    await load(hooks.session(), GATE)
    expect(seen).toEqual(['mine'])
  })

  it('is there in its session alone', async () => {
    const hooks = await project.open()
    const [one, other] = [hooks.session({ id: 'one' }), hooks.session({ id: 'other' })]
    await load(one, GATE)
    expect((await call(other)).action).toBe('continue')
    expect((await call(one)).action).toBe('deny')
  })

  it('is there in subagents, also in those that began before it', async () => {
    const session = await opened()
    const before = session.child({ agentId: 'a1' })
    await load(session, GATE)
    const after = session.child({ agentId: 'a2' })
    expect([(await call(before)).action, (await call(after)).action]).toEqual(['deny', 'deny'])
    await unload(session)
    expect([(await call(before)).action, (await call(after)).action]).toEqual(['continue', 'continue'])
  })

  it('loaded by a subagent is there in its session', async () => {
    const session = await opened()
    await load(session.child({ agentId: 'a1' }), GATE)
    expect((await call(session)).action).toBe('deny')
  })

  it('is there for whoever goes on with the session', async () => {
    const store = new MemoryStore()
    const session = await opened({ store })
    await load(session, GATE)
    await session.leave()
    expect((await call(await opened({ store }))).action).toBe('deny')
  })

  it('goes with its session', async () => {
    const store = new MemoryStore()
    const session = await opened({ store })
    await load(session, GATE)
    await session.close()
    expect((await call(await opened({ store }))).action).toBe('continue')
  })

  it('stays when the files are read again', async () => {
    const hooks = await project.open()
    const session = hooks.session({ cwd: project.dir })
    await load(session, GATE)
    project.root({ PreToolUse: [group('exit 0')] })
    await hooks.reload()
    const outcome = await call(session)
    expect(names(outcome)).toEqual(['project:PreToolUse#1', 'skill mine:PreToolUse#1'])
    expect(outcome.action).toBe('deny')
  })

  it('many events at once see it from when it is loaded', async () => {
    const session = await opened()
    await load(session, { Stop: [group('exit 0')] }, { skill_name: 'other' })
    const early = Array.from({ length: 5 }, () => call(session))
    await load(session, GATE)
    const all = await Promise.all(Array.from({ length: 10 }, () => call(session)))
    expect(all.map(({ action }) => action)).toEqual(Array(10).fill('deny'))
    await Promise.all(early)
  })

  it('has its matchers and conditions obeyed', async () => {
    const session = await opened()
    const denies = (reason: string, more: object) => ({
      ...group({ command: `echo ${reason} >&2; exit 2`, ...more }),
      matcher: 'Bash|Write',
    })
    await load(session, {
      PreToolUse: [denies('rm', { if: 'Bash(rm *)' }), denies('write', { if: 'Write(*)' })],
    })
    expect((await call(session)).action).toBe('continue')
    const rm = await session.fire('PreToolUse', { ...BASH, tool_input: { command: 'rm -r x' } })
    expect(rm.reason).toBe('rm')
  })

  it('runs a hook with "once" once in the session, and again where it failed', async () => {
    const session = await opened()
    const counts = 'echo x >> "$CLAUDE_PROJECT_DIR/ran"; test -f "$CLAUDE_PROJECT_DIR/works"'
    await load(session, { PreToolUse: [group({ command: counts, once: true })] })
    await call(session)
    expect(project.lines('ran')).toHaveLength(1)
    project.file('works', '')
    await call(session)
    const spent = await call(session)
    expect(project.lines('ran')).toHaveLength(2)
    expect(spent.hooks).toMatchObject([{ status: 'skipped', why: 'once' }])
  })

  it('may be async: what it brings goes out with the next event', async () => {
    const hooks = await project.open()
    const session = hooks.session({ id: 's1' })
    const context = { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'by the way' } }
    await load(session, { Stop: [group({ command: printing(context), async: true })] })
    expect((await session.fire('Stop')).hooks).toMatchObject([{ status: 'detached' }])
    await session.leave()
    expect(texts((await hooks.session({ id: 's1' }).fire('PreToolUse', BASH)).injections)).toEqual([
      'by the way',
    ])
  })
})

describe('commands of a skill', NO_HANG, () => {
  const HELLO = '#!/bin/sh\nprintf "hello from %s %s" "$0" "$*" >&2\nexit 2\n'

  it.each([
    ['plain', 'mine'],
    ['with spaces', 'my own skill'],
    ['with quotes', `it's "mine"`],
    ['with a dollar and a backtick', '$HOME `id` $(id)'],
    ['with a backslash and a star', 'a\\b *'],
    ['with an end of line', 'a\nb'],
    ['that begins with a dash', '-rf'],
    ['in another script', 'äöü 日本 💥'],
  ])('"./x" is in the folder of the skill, also one %s', async (_what, name) => {
    skill = folder(`skills/${name}`)
    project.script(`skills/${name}/check.sh`, HELLO)
    const session = await opened()
    await load(session, { PreToolUse: [group('./check.sh a "b c"')] })
    expect(await reasonOf(session)).toBe(`hello from ${skill}/./check.sh a b c`)
    await load(session, { PreToolUse: [group({ command: './check.sh', args: ['a', 'b c'] })] })
    expect(await reasonOf(session)).toBe(`hello from ${skill}/check.sh a b c`)
  })

  it('"../x" is beside it', async () => {
    project.script('skills/shared.sh', HELLO)
    const session = await opened()
    await load(session, { PreToolUse: [group('../shared.sh')] })
    expect(await reasonOf(session)).toBe(`hello from ${skill}/../shared.sh`)
    await load(session, { PreToolUse: [group({ command: '../shared.sh', args: [] })] })
    expect(await reasonOf(session)).toBe(`hello from ${project.path('skills/shared.sh')}`)
  })

  it('all run in the folder of the session, and know that of the skill by two names', async () => {
    const session = await opened()
    const tell = 'echo "$PWD|$AMPLIFIER_SKILL_DIR|$CLAUDE_SKILL_DIR|$AMPLIFIER_HOOKS_DIR" >&2; exit 2'
    await load(session, { PreToolUse: [group(tell)] })
    expect(await reasonOf(session)).toBe([project.dir, skill, skill, skill].join('|'))
  })

  it.each(['AMPLIFIER_SKILL_DIR', 'CLAUDE_SKILL_DIR'])('%s may stand in an argument', async (name) => {
    const session = await opened()
    const args = ['-c', 'echo "$1" >&2; exit 2', 'sh', `\${${name}}/x`]
    await load(session, { PreToolUse: [group({ command: 'sh', args })] })
    expect(await reasonOf(session)).toBe(`${skill}/x`)
  })

  it('other hooks know no folder of a skill, nor that of an agent around us', async () => {
    const tell = 'echo "[$AMPLIFIER_SKILL_DIR$CLAUDE_SKILL_DIR]" >&2; exit 2'
    project.root({ PreToolUse: [group(tell)] })
    process.env.CLAUDE_SKILL_DIR = '/somewhere'
    try {
      expect(await reasonOf(await opened())).toBe('[]')
    } finally {
      delete process.env.CLAUDE_SKILL_DIR
    }
  })

  it('a command that only has "./" inside stays as it is', async () => {
    project.script('check.sh', HELLO)
    const session = await opened()
    await load(session, { PreToolUse: [group('sh ./check.sh')] })
    expect(await reasonOf(session)).toBe('hello from ./check.sh')
  })

  it('a script that is not there is a failure that names it', async () => {
    const session = await opened()
    await load(session, { PreToolUse: [group('./gone.sh')] })
    const outcome = await call(session)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'failed' }] })
    expect(texts(outcome.messages)[0]).toContain('gone.sh')
  })
})

describe('trust and settings', NO_HANG, () => {
  it('a skill in the project came with it: its hooks do not run until it is trusted, and a gate says so', async () => {
    const session = await opened({ trust: 'enforce' })
    await load(session, GATE)
    const outcome = await call(session)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ status: 'skipped', why: 'untrusted' }] })
    expect(texts(outcome.messages)).toEqual([expect.stringContaining('went on without its gate')])
    expect(outcome.hooks[0]?.detail).toContain(join(skill, 'SKILL.md'))
  })

  it.each(['.claude/skills/mine', '.amplifier/skills/mine'])(
    'one in ~/%s is the user’s, and runs',
    async (path) => {
      skill = join(project.home, path)
      mkdirSync(skill, { recursive: true })
      const session = await opened({ trust: 'enforce' })
      await load(session, GATE)
      expect((await call(session)).action).toBe('deny')
    },
  )

  it('one elsewhere is nobody’s, and does not run', async () => {
    skill = join(project.folder, 'elsewhere')
    mkdirSync(skill)
    const session = await opened({ trust: 'enforce' })
    await load(session, GATE)
    expect((await call(session)).hooks).toMatchObject([{ why: 'untrusted' }])
  })

  it('a link in the user’s folder that leads into the project makes nothing the user’s', async () => {
    mkdirSync(join(project.home, '.claude/skills'), { recursive: true })
    symlinkSync(skill, join(project.home, '.claude/skills/mine'))
    skill = join(project.home, '.claude/skills/mine')
    const session = await opened({ trust: 'enforce' })
    await load(session, GATE)
    expect((await call(session)).hooks).toMatchObject([{ why: 'untrusted' }])
  })

  it('what the host admits decides as for any other hook', async () => {
    const admit = () => ({ why: 'disabled', detail: 'not here' }) as const
    const session = await opened({ admit })
    await load(session, GATE)
    expect((await call(session)).hooks).toMatchObject([{ status: 'skipped', why: 'disabled' }])
  })

  it('on_failure: "block" closes its gates, too', async () => {
    const session = await opened({ settings: { on_failure: 'block' } })
    await load(session, { PreToolUse: [group('exit 1')] })
    expect((await call(session)).action).toBe('deny')
  })

  it('max_timeout bounds its hooks, and that is said', async () => {
    const session = await opened({ settings: { max_timeout: 0.2 } })
    const outcome = await load(session, { PreToolUse: [group({ command: 'sleep 300', timeout: 100 })] })
    expect(codes(outcome.diagnostics)).toEqual(['timeout-clamped'])
    expect((await call(session)).hooks).toMatchObject([{ why: 'HOOK_TIMEOUT' }])
  })

  it('hooks that are switched off as a whole are off in skills as well', async () => {
    project.json('../home/.amplifier/settings.json', { disableAllHooks: true })
    const session = await opened()
    await load(session, GATE)
    expect((await call(session)).hooks).toMatchObject([{ status: 'skipped', why: 'disabled' }])
  })

  it('a change of the settings reaches those that are loaded', async () => {
    const hooks = await project.open()
    const session = hooks.session({ cwd: project.dir })
    await load(session, GATE)
    project.json('../home/.amplifier/settings.json', { disableAllHooks: true })
    await hooks.reload()
    expect((await call(session)).action).toBe('continue')
  })

  it('variables that a skill of the project hands on do not reach hooks of the user', async () => {
    const tell = 'printf %s "$GREETING" > "$CLAUDE_PROJECT_DIR"'
    project.json('../home/.amplifier/hooks/hooks.json', { hooks: { Stop: [group(`${tell}/user`)] } })
    const session = await opened()
    await load(session, {
      SessionStart: [group('echo GREETING=hi >> "$CLAUDE_ENV_FILE"')],
      Stop: [group(`${tell}/skill`)],
    })
    await session.fire('SessionStart', { source: 'resume' })
    await session.fire('Stop')
    expect([project.read('user'), project.read('skill')]).toEqual(['', 'hi'])
  })
})

describe('mistakes', NO_HANG, () => {
  it.each<[string, object]>([
    ['no name', { skill_name: undefined }],
    ['an empty name', { skill_name: '' }],
    ['a name that is a number', { skill_name: 7 }],
    ['a name that is too long', { skill_name: 'x'.repeat(201) }],
    ['hooks that are a list', { hooks: [GATE] }],
    ['hooks that are a text', { hooks: 'PreToolUse' }],
    ['hooks that are a number', { hooks: 1 }],
    ['hooks without a folder', { skill_directory: undefined }],
    ['a folder that is relative', { skill_directory: 'skills/mine' }],
    ['a folder that is empty', { skill_directory: '' }],
    ['a folder with a NUL in it', { skill_directory: '/a\0b' }],
    ['a folder that is no text', { skill_directory: ['/a'] }],
    ['hooks that are too large', { hooks: { PreToolUse: [group(`: ${'x'.repeat(130 * 1024)}`)] } }],
  ])('refuses a skill with %s, and keeps those that are loaded', async (_what, wrong) => {
    const session = await opened()
    await load(session, GATE)
    const refused = load(session, { Stop: [group('exit 2')] }, wrong)
    await expect(refused).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect((await call(session)).action).toBe('deny')
    expect((await session.fire('Stop')).hooks).toEqual([])
  })

  it('refuses an unload without a name', async () => {
    const session = await opened()
    await expect(session.fire('skill:unloaded', {})).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  it('refuses hooks that hold themselves', async () => {
    const hooks: Record<string, unknown> = {}
    hooks.PreToolUse = hooks
    await expect(load(await opened(), hooks)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  it('refuses the hundred and first skill, but not one that is loaded already', async () => {
    const session = await opened()
    for (let i = 0; i < 100; i++) await load(session, { Stop: [] }, { skill_name: `skill ${i}` })
    await expect(load(session, GATE)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    await load(session, GATE, { skill_name: 'skill 7' })
    expect((await call(session)).action).toBe('deny')
  })

  it('a malformed entry is left out and told, with a warning; its neighbours run', async () => {
    const session = await opened()
    const hooks = { PreToolUse: [group('echo no >&2; exit 2', { command: 7 })], Nonsense: [group('x')] }
    const outcome = await load(session, hooks)
    expect([...codes(outcome.diagnostics)].sort()).toEqual(['entry-invalid', 'unknown-event'])
    expect(outcome.diagnostics[0]?.file).toBe(join(skill, 'SKILL.md'))
    expect(outcome.messages).toMatchObject([{ level: 'warning' }, { level: 'warning' }])
    expect(await reasonOf(session)).toBe('no')
    expect((await call(session)).diagnostics).toEqual([])
  })

  it('an invalid matcher is reported, and matches by name', async () => {
    const session = await opened()
    const outcome = await load(session, { PreToolUse: [matching('(Bash', 'exit 2')] })
    expect(codes(outcome.diagnostics)).toContain('matcher-invalid')
    expect((await call(session)).action).toBe('continue')
  })

  it('a name that would draw on a terminal is cleaned', async () => {
    const session = await opened()
    await load(session, GATE, { skill_name: 'evil\u001b[31m\nname' })
    expect(names(await call(session))).toEqual(['skill evil name:PreToolUse#1'])
  })

  it('names like those of objects are names', async () => {
    const session = await opened()
    for (const skill_name of ['__proto__', 'constructor', 'toString'])
      await load(session, GATE, { skill_name })
    expect(names(await call(session))).toHaveLength(3)
    await unload(session, '__proto__')
    expect(names(await call(session))).toHaveLength(2)
  })

  it('a host without files is told that the hooks do not run', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    const outcome = await load(session, GATE)
    expect(outcome.diagnostics).toMatchObject([{ code: 'entry-unsupported' }])
    expect(texts(outcome.messages)[0]).toContain('projectDir')
    expect((await call(session)).action).toBe('continue')
  })

  it('a skill file that changes meanwhile has no effect: the hooks from the event count', async () => {
    const session = await opened()
    await load(session, GATE)
    writeFileSync(join(skill, 'SKILL.md'), '---\nhooks: {}\n---\n')
    expect((await call(session)).action).toBe('deny')
  })
})

describe('the layer of hooks', () => {
  it('is ready before an event goes on, even while a later event already loads other skills', async () => {
    const made: ((hooks: SkillHooks) => void)[] = []
    const skillHooks = () => new Promise<SkillHooks>((resolve) => made.push(resolve))
    const layer = new SkillLayer({ configured: { version: 1 }, skillHooks } as unknown as Engine)
    const one: Skill = { name: 'one', directory: '/one', hooks: {} }
    const first = layer.use({ skills: [one], lost: '' })
    const second = layer.use({ skills: [one, { ...one, name: 'two' }], lost: '' })
    await Promise.resolve()
    made[0]?.({ hooks: [madeHook('gate')], problems: [] })
    await first
    expect(layer.list.snapshot().all()).toHaveLength(1)
    await new Promise((resolve) => setImmediate(resolve))
    made[1]?.({ hooks: [madeHook('gate'), madeHook('other')], problems: [] })
    await second
    expect(layer.list.snapshot().all()).toHaveLength(2)
  })
})
