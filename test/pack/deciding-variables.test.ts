// Variables that a project sets for hooks do not decide for the user.

import { readdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { HostAnswer } from '../../src/author/index.js'
import { bypassOf } from '../../src/pack/bypass.js'
// Loaded before the first test, which does not measure loading.
import '../../src/pack/pre-tool-use/pre-tool-use.js'
import { envProblems, movedDecisions, projectEnvOf, takeBack } from '../../src/pack/deciding-variables.js'
import { runPackHook } from '../../src/pack/run-pack-hook.js'
import { Workplace } from './workplace.js'

afterEach(() => vi.unstubAllEnvs())

/** Runs a hook as Claude Code does: the project's variables on top of the user's environment. */
async function guarded(
  place: Workplace,
  set: Readonly<Record<string, string>>,
  command = 'git commit --no-verify',
) {
  for (const [name, value] of Object.entries({ ...place.env, CLAUDE_PROJECT_DIR: place.project, ...set }))
    vi.stubEnv(name, value)
  let said: HostAnswer | undefined
  const stdin = JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 's',
    cwd: place.project,
    tool_name: 'Bash',
    tool_input: { command },
  })
  const program = { script: '/x/carabiner.js', version: '1' }
  await runPackHook('pre-tool-use', program, { stdin, answered: (answer) => (said = answer) })
  const answer = JSON.parse(said?.stdout || '{}')
  return {
    decision: answer.hookSpecificOutput?.permissionDecision as string | undefined,
    reason: String(answer.hookSpecificOutput?.permissionDecisionReason),
    message: String(answer.systemMessage),
  }
}

describe("a project's settings.json", () => {
  it.each(['settings.json', 'settings.local.json'])('in %s does not switch the guard off', async (name) => {
    const place = new Workplace()
    const env = { CARABINER_OFF: '1' }
    const file = place.file(`.claude/${name}`, { env })
    const { decision, message } = await guarded(place, env)
    expect(decision).toBe('deny')
    expect(message).toContain(`CARABINER_OFF=1 is set but has no effect: it may come from ${file}`)
    expect(message).toContain(`${file} sets CARABINER_OFF for hooks`)
  })

  it('cannot do so from a folder around it, nor from a file that cannot be read', async () => {
    const place = new Workplace()
    place.file(join(place.root, '.claude/settings.json'), { env: { CARABINER_OFF: '1' } })
    expect((await guarded(place, { CARABINER_OFF: '1' })).decision).toBe('deny')
    const other = new Workplace()
    other.file('.claude/settings.json', Buffer.alloc(5 * 1024 * 1024, ' ').toString())
    expect((await guarded(other, { CARABINER_OFF: '1' })).decision).toBe('deny')
  })

  it('of the user themselves does', async () => {
    const place = new Workplace()
    place.file(join(place.home, '.claude/settings.json'), { env: { CARABINER_OFF: '1' } })
    const { decision, message } = await guarded(place, { CARABINER_OFF: '1' })
    expect([decision, message]).toEqual([undefined, expect.stringContaining('nothing is guarded')])
  })

  it.each([
    ['{ // mine\n "hooks": { "bypass": false, }, /* x */ }', 'says "bypass": false'],
    ['{ "hooks": { "note": "// no remark, }" } }', 'nothing is guarded'],
    ['{ "hooks": ', 'could not be read'],
  ])('of the user may have remarks: %s', (text, says) => {
    const place = new Workplace()
    place.file(join(place.home, '.amplifier/settings.json'), text)
    expect(bypassOf({ CARABINER_OFF: '1' }, place.home, { found: [], company: [] })?.message).toContain(says)
  })

  it('does not bring along a home in which other rules hold', async () => {
    const place = new Workplace()
    const env = { HOME: join(place.project, 'home') }
    place.file('home/.amplifier/pack.json', { bash: { denyList: false }, selfProtection: false })
    place.file('.claude/settings.json', { env })
    expect((await guarded(place, env)).decision).toBe('deny')
    const harmless = await guarded(place, env, 'ls')
    expect([harmless.decision, harmless.reason]).toEqual([
      'ask',
      expect.stringContaining('sets HOME for hooks'),
    ])
  })

  it('does not name another project, whose rules would hold', async () => {
    const place = new Workplace()
    const env = { AMPLIFIER_PROJECT_DIR: place.root }
    place.file('.claude/settings.json', { env })
    const { decision, reason } = await guarded(place, env, 'ls')
    expect([decision, reason]).toEqual([
      'ask',
      expect.stringContaining('sets AMPLIFIER_PROJECT_DIR for hooks'),
    ])
  })

  it('does not say where memory is kept', () => {
    const place = new Workplace()
    const set = { CARABINER_HOME: '/planted', XDG_STATE_HOME: '/planted', HOME: '/planted' }
    place.file('.claude/settings.json', { env: set })
    const env: NodeJS.ProcessEnv = { ...set, XDG_DATA_HOME: '/mine' }
    takeBack(env, projectEnvOf(place.project, env, place.home))
    expect(env).toEqual({ HOME: userInfo().homedir, XDG_DATA_HOME: '/mine' })
  })

  it('is not that of the user where the project says that it is their home', async () => {
    const place = new Workplace()
    const env = { HOME: place.project, CARABINER_OFF: '1' }
    place.file('.claude/settings.json', { env })
    expect((await guarded(place, env)).decision).toBe('deny')
  })
})

describe('how it is reported', () => {
  const told = (env: object) => {
    const place = new Workplace()
    place.file('.claude/settings.json', { env })
    return envProblems(projectEnvOf(place.project, {}, place.home))
  }

  it.each([
    { CARABINER_HOME: '/x' },
    { XDG_DATA_HOME: '/x' },
    { XDG_STATE_HOME: '/x' },
    { HOME: '/x' },
    { AMPLIFIER_PROJECT_DIR: '/x' },
    { LD_PRELOAD: '/x.so' },
    { OPENSSL_CONF: '/x.cnf' },
    { NODE_COMPILE_CACHE: '/x' },
    { NODE_OPTIONS: '--max-old-space-size=99 --require ./x.js' },
  ])('names %o', (env) => {
    expect(told(env)).toEqual([
      expect.stringContaining(`settings.json sets ${Object.keys(env)[0]} for hooks`),
    ])
  })

  it('is nothing where the project only says how much memory Node may take, or whatever else', () => {
    expect(told({ NODE_OPTIONS: '--max-old-space-size=8192', EDITOR: 'vi' })).toEqual([])
  })

  it('moved decisions are those that are looked for elsewhere', () => {
    const moved = (...names: string[]) => movedDecisions([{ file: 'f', names }], {}).length > 0
    const names = ['HOME', 'CARABINER_HOME', 'GEMINI_PROJECT_DIR', 'CARABINER_PRE_TRUSTED', 'CARABINER_OFF']
    expect(names.filter((name) => !moved(name))).toEqual(['CARABINER_OFF'])
  })

  it('names every variable of ours that decides something', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    const texts = sources.map((name) => readFileSync(join('src', name), 'utf8'))
    const ours = new Set(texts.flatMap((text) => text.match(/\bCARABINER_[A-Z_]*[A-Z]\b/g) ?? []))
    // A constant of the build, the code of a warning, how fast or talkative a program is, marks of our own processes, and
    // what those who run a fleet and those who sign for it give their own commands.
    const names = ['VERSION', 'SPANS', 'DEBUG', 'SERVICE', 'SPAWNER', 'DETACHED', 'PROOF'].concat(
      ...['FLEET_DATABASE', 'FLEET_WEBHOOK_SECRET', 'KEY_PASSPHRASE'],
    )
    const others = names.map((name) => `CARABINER_${name}`)
    expect([...ours].filter((name) => told({ [name]: 'x' }).length === 0).sort()).toEqual(others.sort())
  })
})
