// The same attacks on the command line: what was not trusted never runs, whatever is typed.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { examplePayload } from '../../src/cli/fire/payload.js'
import { resolveEvent } from '../../src/core/events/events.js'
import { BASH, Project, programFile, withProgram } from '../cli/program.js'
import { canaries, EVENTS } from './hostile-repository.js'
import { FORMS, planted } from './planted-secrets.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const canary = () => join(project.base, 'canary')

function plantCanaries(): void {
  const hooks = canaries(canary())
  project.file('.amplifier/hooks/hooks.json', { hooks, trust: 'all' })
  project.file('.amplifier/settings.json', { hooks: { ...hooks, trust: 'all' } })
  project.file('.amplifier/hooks/evil/hooks.json', { hooks })
  project.file('.claude/settings.json', { hooks })
  project.file('plugin/hooks/hooks.json', { hooks })
}

const ALSO = ['--plugin', 'plugin', '--config', '.claude/settings.json']

describe('a cloned repository on the command line (1)', () => {
  it('no command runs anything of it', async () => {
    plantCanaries()
    const commands = [
      [],
      ['list'],
      ['explain', 'PreToolUse', '--tool', 'Bash'],
      ['trust'],
      ['trust', '--show'],
      ['trust', '--json'],
      ['trust', 'evil'],
      ['untrust', 'evil'],
      ['untrust', '--all'],
    ]
    for (const args of commands) {
      const more = args[0] === 'untrust' ? [] : ALSO
      expect((await project.call([...args, ...more])).code).toBeLessThan(2)
      await project.call([...args, ...more, '--json'])
    }
    for (const args of [
      ['help'],
      ['help', 'trust'],
      ['--version'],
      ['trust', '--help'],
      ['fire', '--help'],
    ]) {
      expect((await project.call(args)).code).toBe(0)
    }
    expect(existsSync(canary())).toBe(false)
  })

  it.each(EVENTS)('nor does %s', async (event) => {
    plantCanaries()
    const input = examplePayload(resolveEvent(event))
    const { stdout } = await project.call(['fire', event, ...ALSO, '--json'], { input })
    const whys = JSON.parse(stdout).hooks.map(({ why }: { why?: string }) => why)
    expect([whys.length > 0, whys.every((why?: string) => why === 'untrusted')]).toEqual([true, true])
    expect(existsSync(canary())).toBe(false)
  })

  it('trusting one of them, and taking it back, runs nothing either', async () => {
    plantCanaries()
    expect((await project.call(['trust', 'evil', '--yes'])).code).toBe(0)
    expect((await project.call(['list'])).stdout).toContain('ready  evil:PreToolUse#1')
    await project.call(['untrust', 'evil'])
    expect(existsSync(canary())).toBe(false)
  })
})

describe('values that look like options (12)', () => {
  const VALUES = [
    '--trust-all',
    '--yes',
    '--trust-all=true',
    '-h',
    '--config=evil.json',
    '--pre-trusted=x',
    '--',
  ]

  it.each(VALUES)('%s is a value wherever one stands', async (value) => {
    project.hooks({ PreToolUse: [['', `touch '${canary()}'`]], Stop: [['', `touch '${canary()}'`]] })
    const given: readonly (readonly string[])[] = [
      ['fire', 'PreToolUse', `--payload=${value}`],
      ['fire', `--timeout=${value}`, 'PreToolUse'],
      ['fire', 'PreToolUse', `--plugin=${value}`],
      ['fire', 'PreToolUse', `--config=${value}`],
      ['fire', 'PreToolUse', `--project=${value}`],
      ['fire', '--', value],
      ['explain', 'PreToolUse', `--tool=${value}`],
      ['explain', '--', value],
      ['trust', '--', value],
      ['untrust', '--', value],
    ]
    const input = { ...BASH, session_id: value, cwd: value, tool_name: value, hook_event_name: 'PreToolUse' }
    for (const args of given) await project.call(args, { input })
    const { stdout } = await project.call(['list', '--json'])
    expect(JSON.parse(stdout).hooks.map(({ state }: { state: string }) => state)).toEqual([
      'untrusted',
      'untrusted',
    ])
    expect(existsSync(canary())).toBe(false)
  })

  it.each(VALUES)('%s as a value with a blank before it is refused, not obeyed', async (value) => {
    project.hooks({ PreToolUse: [['', `touch '${canary()}'`]] })
    for (const option of ['--payload', '--plugin', '--config', '--project', '--pre-trusted']) {
      await project.call(['fire', 'PreToolUse', option, value], { input: BASH })
    }
    await project.call(['trust', '--project', value])
    expect(existsSync(canary())).toBe(false)
  })

  it('what is offered to type keeps them values', async () => {
    project.file('--trust-all/.amplifier/hooks/hooks.json', {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }] },
    })
    for (const args of [['list'], ['explain', 'PreToolUse', '--tool', 'Bash'], []]) {
      const { stdout } = await project.call([...args, '--project=--trust-all'])
      expect(stdout).toContain('next carabiner trust project --project=--trust-all')
    }
  })
})

describe('secrets (13)', () => {
  it('are in nothing that people get to see', async () => {
    const secrets = [...Object.values(planted()), ...FORMS]
    const file = project.file('../secrets', secrets.map((one) => `have ${one} here`).join('\n'))
    const commands = [
      `cat '${file}' >&2; exit 2`,
      `cat '${file}'; cat '${file}' >&2; exit 7`,
      `echo '{'; cat '${file}'; echo '}'`,
    ]
    for (const command of commands) {
      project.file('../home/.amplifier/hooks/hooks.json', {
        hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] },
      })
      const run = await project.call(['fire', 'PreToolUse'], { input: BASH, env: planted() })
      const people = run.stdout + run.stderr
      expect(secrets.filter((one) => people.includes(one))).toEqual([])
      if (command.includes('>&2')) expect(people).toContain('[redacted]')
      const json = await project.call(['fire', 'PreToolUse', '--json'], { input: BASH, env: planted() })
      const { messages, hooks, diagnostics, reason } = JSON.parse(json.stdout)
      if (command.endsWith('exit 2')) expect(secrets.filter((one) => !reason.includes(one))).toEqual([])
      const told = JSON.stringify([messages, hooks, diagnostics]) + json.stderr
      expect(secrets.filter((one) => told.includes(one))).toEqual([])
    }
  })
})

describe('a store that is not as it should be', () => {
  const SAYS = '#!/bin/sh\necho reviewed >&2\nexit 2\n'
  beforeEach(() => {
    project.file('.amplifier/hooks/guard/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/check.sh' }] }] },
    })
    project.file('.amplifier/hooks/guard/check.sh', SAYS, 0o755)
  })
  const data = () => join(project.base, 'data')
  const env = () => ({ CARABINER_HOME: data() })
  const fire = async () => {
    const { code, stdout } = await project.call(['fire', 'PreToolUse', '--json'], {
      input: BASH,
      env: env(),
    })
    const { hooks, messages, reason } = JSON.parse(stdout)
    return { code, why: hooks[0].why, text: messages[0]?.text, reason }
  }
  const trust = () => project.call(['trust', '--yes'], { env: env() })

  it.skipIf(process.getuid?.() === 0)('read-only: nothing is trusted, and it says what to do', async () => {
    mkdirSync(data())
    chmodSync(data(), 0o555)
    const { code, stderr } = await trust()
    expect(code).toBe(1)
    expect(stderr).toMatch(/guard was not trusted: .*CARABINER_HOME/)
    expect(await fire()).toMatchObject({ code: 0, why: 'untrusted' })
  })

  it('a file in its place: nothing is trusted, every gate closes, and it says what to do', async () => {
    writeFileSync(data(), '')
    const { code, stderr } = await trust()
    expect(code).toBe(1)
    expect(stderr).toMatch(/guard was not trusted: .*CARABINER_HOME/)
    const closed = await fire()
    expect(closed).toMatchObject({ code: 2, why: 'HOOK_NOT_TRUSTED' })
    expect(closed.reason).toContain(data())
    expect(closed.reason).toContain('carabiner trust')
  })

  it('full: nothing is trusted, nothing is left half, and it says so', async () => {
    project.file('.amplifier/hooks/guard/large', 'x'.repeat(100_000))
    const script = 'ulimit -f 20 && exec "$0" "$@"'
    const { code, stderr } = await project.run(
      'bash',
      ['-c', script, process.execPath, programFile(), 'trust', '--yes'],
      { env: env() },
    )
    expect([code, stderr.includes('guard was not trusted')]).toEqual([1, true])
    expect(stderr).toContain('free some space')
    expect(await fire()).toMatchObject({ code: 0, why: 'untrusted' })
    expect((await trust()).code).toBe(0)
    expect(await fire()).toMatchObject({ code: 2 })
  })

  const records = () =>
    readdirSync(join(data(), 'trust'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(data(), 'trust', name))

  it.each([
    ['half-written', (text: string) => text.slice(0, text.length / 2)],
    ['empty', () => ''],
    ['no JSON', () => 'trusted'],
    ['with a field missing', (text: string) => text.replace('"digest"', '"digets"')],
    ['of another format', (text: string) => text.replace(/"format":\d+/, '"format":"x"')],
  ])('%s: every gate closes, which is said, and it can be trusted again', async (_, spoil) => {
    await trust()
    expect(await fire()).toMatchObject({ code: 2, reason: 'reviewed' })
    for (const file of records()) {
      const spoilt = spoil(readFileSync(file, 'utf8'))
      chmodSync(file, 0o600)
      writeFileSync(file, spoilt)
    }
    const first = await fire()
    expect(first).toMatchObject({ code: 2, why: 'HOOK_NOT_TRUSTED' })
    for (const text of [first.reason, first.text]) {
      expect(text).toMatch(/Your trust records cannot be read, .*: \S+\/1\.json is /)
      expect(text).toContain(join(data(), 'trust'))
      expect(text).toContain('carabiner trust')
    }
    expect((await project.call(['list'], { env: env() })).code).toBe(1)
    expect((await trust()).code).toBe(0)
    expect(await fire()).toMatchObject({ code: 2, reason: 'reviewed' })
    expect((await project.call(['list'], { env: env() })).code).toBe(0)
  })
})
