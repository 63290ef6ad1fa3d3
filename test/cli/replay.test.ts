// Recorded calls that are played through other rules: what changes, what cannot be played, and that nothing runs.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const ASK = { id: 'deletes', effects: ['delete'], then: 'ask' }
const DENY = { ...ASK, then: 'deny' }

function ownRules(...rules: readonly object[]): void {
  project.file('../home/.amplifier/rules.json', { rules })
}

async function fire(command: string, more: object = {}): Promise<number> {
  const input = { session_id: 's', tool_name: 'Bash', tool_input: { command }, ...more }
  return (await project.call(['fire', 'PreToolUse'], { input })).code
}

interface Replay {
  readonly played: number
  readonly allowed: number
  readonly rules: readonly string[]
  readonly notes: readonly string[]
  readonly changed: readonly {
    readonly session: string
    readonly call: string
    readonly was: { readonly action: string; readonly by: readonly string[] }
    readonly would: { readonly action: string; readonly by: readonly object[] }
    readonly unasked: readonly string[]
  }[]
  readonly unplayable: readonly { readonly why: string }[]
}

async function replay(...args: readonly string[]): Promise<Replay> {
  const { code, stdout, stderr } = await project.call(['replay', ...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Replay
}

const changesOf = ({ changed }: Replay) =>
  changed.map(({ call, was, would }) => [call, was.action, would.action])

describe('replay', () => {
  it('compares with what all hooks decided then', async () => {
    ownRules(ASK)
    project.file('../home/.amplifier/hooks/hooks.json', {
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [{ type: 'command', command: '! grep -q forbidden || exit 2' }] },
        ],
      },
    })
    expect([await fire('rm a'), await fire('ls'), await fire('rm forbidden')]).toEqual([3, 0, 2])
    project.file('new.json', { rules: [DENY] })
    const denies = await replay('--rules', 'new.json')
    expect(changesOf(denies)).toEqual([['rm a', 'ask_user', 'deny']])
    expect(denies.played).toBe(3)
    expect(denies.changed[0]?.would.by).toEqual([
      {
        rule: 'deletes',
        file: project.path('new.json'),
        effect: `delete ${project.path('a')}`,
        words: 'rm a',
      },
    ])
    project.file('none.json', { rules: [] })
    const none = await replay('--rules', 'none.json')
    expect(changesOf(none), 'the other hook still denies').toEqual([['rm a', 'ask_user', 'continue']])
  })

  it('says which hooks were not asked, because a rule had denied', async () => {
    ownRules(DENY)
    const later = { type: 'command', command: 'exit 2', priority: 10 }
    project.file('../home/.amplifier/hooks/hooks.json', {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [later] }] },
    })
    expect(await fire('rm a')).toBe(2)
    project.file('none.json', { rules: [] })
    const { changed } = await replay('--rules', 'none.json')
    expect(changed).toMatchObject([{ would: { action: 'continue' }, unasked: ['user:PreToolUse#1'] }])
  })

  it('uses the rules in force without --rules, and keeps those of the project with it', async () => {
    ownRules({ ...ASK, mode: 'shadow' })
    await fire('rm a')
    project.file('.amplifier/rules.json', { rules: [DENY] })
    const first = await replay()
    expect(changesOf(first)).toEqual([['rm a', 'continue', 'deny']])
    expect(first.notes).toEqual([expect.stringContaining('is not trusted: its rules can only deny')])
    project.file('none.json', { rules: [] })
    expect(changesOf(await replay('--rules', 'none.json'))).toEqual([['rm a', 'continue', 'deny']])
  })

  it('counts calls that rules would allow', async () => {
    ownRules(ASK)
    await fire('ls')
    project.file('new.json', { rules: [{ id: 'all', effects: '*', then: 'allow' }] })
    expect(await replay('--rules', 'new.json')).toMatchObject({ played: 1, allowed: 1, changed: [] })
  })

  it('plays the calls of the time that was asked for', async () => {
    ownRules(ASK)
    await fire('rm a')
    expect((await replay('--since', '1h')).played).toBe(1)
    expect((await replay('--since', '2999-01-01')).played).toBe(0)
  })

  it('leaves shadow rules out of the decision', async () => {
    ownRules(ASK)
    await fire('ls')
    project.file('new.json', { rules: [{ id: 'x', effects: ['run'], then: 'deny', mode: 'shadow' }] })
    expect((await replay('--rules', 'new.json')).changed).toEqual([])
  })

  it('runs nothing', async () => {
    const mark = project.path('ran')
    ownRules(ASK)
    await fire(`touch '${mark}'`)
    project.file('../home/.amplifier/hooks/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `touch '${mark}'` }] }] },
    })
    expect((await replay()).played).toBe(1)
    expect(existsSync(mark)).toBe(false)
  })
})

describe('calls that cannot be played', () => {
  const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'

  it('are counted with the reason, without their secrets', async () => {
    ownRules(ASK)
    await fire(`curl -H 'Authorization: Bearer ${SECRET}' https://example.org`)
    await fire(`echo ${'long '.repeat(4000)}`)
    await fire('rm a')
    const { stdout } = await project.call(['replay'])
    expect(stdout).toContain('2 more calls could not be played\n')
    expect(stdout).toContain('  1: a secret was removed from the record\n')
    expect(stdout).toContain('  1: the call is too long to be recorded in full\n')
    const found = await replay()
    expect([found.played, found.unplayable.map(({ why }) => why)]).toEqual([1, ['secret', 'cut']])
    expect(JSON.stringify(found)).not.toContain(SECRET)
  })

  it('were changed after they were recorded', async () => {
    ownRules(ASK)
    await fire('rm a')
    const folder = join(project.home, '.local/state/carabiner/calls')
    const [name = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
      one.endsWith('.jsonl'),
    )
    const file = join(folder, name)
    writeFileSync(file, `${readFileSync(file, 'utf8').replace('rm a', 'rm b')}\n{"id":1}\nnoise\n`)
    const found = await replay()
    expect([found.played, found.unplayable.map(({ why }) => why)]).toEqual([0, ['changed']])
  })

  it('were made in a permission mode that nobody recorded, if rules depend on it', async () => {
    ownRules(ASK)
    await fire('rm a')
    await fire('rm b', { permission_mode: 'bypassPermissions' })
    await fire('rm c', { permission_mode: 'default' })
    await fire('ls')
    project.file('new.json', { rules: [{ ...DENY, in: { modes: ['bypassPermissions'] } }] })
    const found = await replay('--rules', 'new.json')
    expect(found.unplayable.map(({ why }) => why)).toEqual(['where'])
    expect(changesOf(found)).toEqual([
      ['rm b', 'ask_user', 'deny'],
      ['rm c', 'ask_user', 'continue'],
    ])
  })

  it('were made by an agent that nobody recorded, if rules depend on it', async () => {
    ownRules(ASK)
    await fire('rm a')
    await fire('ls')
    project.file('new.json', { rules: [ASK, { ...DENY, id: 'codex', in: { agents: ['codex'] } }] })
    const found = await replay('--rules', 'new.json')
    expect([found.played, found.unplayable.map(({ why }) => why)]).toEqual([1, ['where']])
  })

  it('are none of those whose agent was recorded', async () => {
    ownRules(ASK)
    for (const agent of ['claude-code', 'codex']) {
      const input = {
        hook_event_name: 'PreToolUse',
        session_id: agent,
        tool_name: 'Bash',
        tool_input: { command: 'rm a' },
      }
      await project.call(['fire', '--as', agent], { input })
    }
    project.file('new.json', { rules: [ASK, { ...DENY, id: 'codex', in: { agents: ['codex'] } }] })
    const found = await replay('--rules', 'new.json')
    expect([found.played, found.unplayable]).toEqual([2, []])
    expect(found.changed).toMatchObject([{ session: 'codex', would: { action: 'deny' } }])
  })

  it('met a rule with a limit, whose counts nobody recorded', async () => {
    ownRules(ASK)
    await fire('rm a')
    await fire('ls')
    const limited = { ...DENY, id: 'few', at_most: 3, per: 'session' }
    project.file('new.json', { rules: [ASK, limited] })
    const found = await replay('--rules', 'new.json')
    expect([found.played, found.unplayable.map(({ why }) => why)]).toEqual([1, ['limit']])
    project.file('strict.json', { rules: [{ ...DENY, then: 'end_turn' }, limited] })
    expect(changesOf(await replay('--rules', 'strict.json'))).toEqual([['rm a', 'ask_user', 'abort_turn']])
  })
})

describe('rules that cannot be used', () => {
  it.each([
    ['{', /^carabiner: .*new\.json:1: the file is not valid JSON/],
    ['[]', /^carabiner: .*new\.json:1: the file must be a JSON object/],
    [
      '{"rules": [\n{"id": "a", "effects": ["x"], "then": "deny"}]}',
      /^carabiner: .*new\.json:2: the rule "a"/,
    ],
    [`// ${'x'.repeat(2_000_000)}\n{}`, /^carabiner: .*new\.json:1: /],
  ])('are refused: %.40s', async (text, message) => {
    project.file('new.json', text)
    const { code, stdout, stderr } = await project.call(['replay', '--rules', 'new.json'])
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)])
  })

  it('are refused in force, too', async () => {
    project.file('../home/.amplifier/rules.json', '{"rules": 1}')
    const { code, stderr } = await project.call(['replay'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('rules.json:1: "rules" must be a list')])
  })

  it('may have comments', async () => {
    ownRules(ASK)
    await fire('rm a')
    project.file('new.json', `// mine\n{ "rules": [${JSON.stringify(DENY)}] /* all */ }`)
    expect(changesOf(await replay('--rules', 'new.json'))).toEqual([['rm a', 'ask_user', 'deny']])
  })
})
