import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { casesIn } from '../../src/cli/test-cases/case-file.js'
import { recordCase, recordedLines } from '../../src/cli/test-cases/record-case.js'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { createHooks } from '../../src/runtime.js'
import { Project } from './program.js'

let project: Project
let file: string
beforeEach(() => {
  project = new Project()
  file = project.path('.amplifier/hooks/gate/hooks.test.json')
})
afterEach(() => project.remove())

/** What a hook with this command makes of the call. */
async function fired(command: string, event: string, payload: object): Promise<Outcome> {
  project.file('.amplifier/hooks/gate/hooks.json', {
    hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] },
  })
  const plugins = [project.path('.amplifier/hooks/gate')]
  await using hooks = await createHooks({ plugins, trust: 'all', globals: false })
  return hooks.session({ cwd: project.folder }).fire(event, payload)
}

const record = async (command: string, payload: Record<string, unknown>, event = 'PreToolUse') =>
  recordCase(file, { event, payload, outcome: await fired(command, event, payload), project: project.folder })

const read = () => JSON.parse(project.read('.amplifier/hooks/gate/hooks.test.json')) as { cases: object[] }

const BASH = { tool_name: 'Bash', tool_input: { command: 'git push --force' } }

describe('a case of a call', () => {
  it('says what was sent and what was decided, and can be read again', async () => {
    expect(await record('echo Never >&2; exit 2', BASH)).toEqual({
      file,
      name: 'deny Bash: git push --force',
      line: 4,
      isNew: true,
    })
    expect(read()).toEqual({
      $schema: expect.stringMatching(/hooks\.test\.json$/),
      cases: [
        {
          name: 'deny Bash: git push --force',
          event: 'PreToolUse',
          payload: BASH,
          expect: { action: 'deny', reason: 'Never' },
        },
      ],
    })
    expect(casesIn(file, project.read('.amplifier/hooks/gate/hooks.test.json')).problems).toEqual([])
  })

  it('holds no secret, nothing of the session, and no folder of this machine', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    const input = {
      command: `cat ${project.folder}/src/a ${project.folder}s ${homedir()}/notes; export TOKEN=${secret}`,
      file: `${project.path('.amplifier/hooks/gate')}/x`,
    }
    await record(`echo "not in $CLAUDE_PLUGIN_ROOT with ${secret}" >&2; exit 2`, {
      session_id: 's1',
      transcript_path: '/t',
      tool_use_id: 'toolu_1',
      cwd: project.folder,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: input,
    })
    const [{ payload, expect: expected }] = read().cases as [{ payload: object; expect: object }]
    expect(payload).toEqual({
      tool_name: 'Bash',
      tool_input: {
        command: `cat {{project}}/src/a ${project.folder}s {{home}}/notes; export TOKEN=[redacted]`,
        file: '{{plugin}}/x',
      },
    })
    expect(expected).toEqual({ action: 'deny', reason: 'not in {{plugin}} with [redacted]' })
  })

  it.each([
    ['a short password', 'mysql -u root -phunter2x db', 'hunter2x'],
    ['a header', 'curl -H "X-Api-Key: 9f8e7d6c5b4a39281706" x', '9f8e7d6c5b4a39281706'],
    ['a login', 'curl -u ada:correcthorse https://x', 'correcthorse'],
    ['one at the end of a name', `echo ${'x'.repeat(35)} ghp_0123456789abcdefghijABCDEFGHIJ012345`, 'ghp_01'],
  ])('holds no secret that the audit would hide: %s', async (_, command, secret) => {
    const reason = `printf '%s' "${'x'.repeat(185)} ghp_0123456789abcdefghijABCDEFGHIJ012345" >&2; exit 2`
    await record(reason, { tool_name: 'Bash', tool_input: { command } })
    const text = project.read('.amplifier/hooks/gate/hooks.test.json')
    expect(text).toContain('[redacted]')
    expect(text).not.toContain(secret)
    expect(text).not.toContain('ghp_')
  })

  it('of a change, of context, of a failure', async () => {
    const specific = (more: object) =>
      `printf '%s' '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } })}'`
    await record(specific({ permissionDecision: 'allow', updatedInput: { command: 'ls' } }), BASH)
    await record(specific({ additionalContext: 'x'.repeat(300) }), { ...BASH, tool_name: 'Read' })
    await record('exit 9', { ...BASH, tool_name: 'Write' })
    expect(read().cases.map((one) => (one as { expect: object }).expect)).toEqual([
      { action: 'continue', permission: 'allow', modified: { tool_input: { command: 'ls' } } },
      { action: 'continue', context: ['x'.repeat(200)] },
      { action: 'continue', failed: ['gate:PreToolUse#1'] },
    ])
  })
})

describe('the file', () => {
  it('keeps all that stands in it', async () => {
    const before = `{
\t// cases of ours
\t"cases": [
\t\t{ "event": "Stop", "expect": { "action": "continue" } }, // the first
\t],
\t"description": "gate",
}
`
    project.file('.amplifier/hooks/gate/hooks.test.json', before)
    expect(await record('true', BASH)).toMatchObject({ line: 5, isNew: true })
    const after = project.read('.amplifier/hooks/gate/hooks.test.json')
    expect(after.split('\n').slice(0, 5)).toEqual([...before.split('\n').slice(0, 4), '\t\t{'])
    expect(after).toContain('// the first\n\t\t{\n\t\t\t"name": "continue Bash: git push --force",')
    expect(after.endsWith('\t\t},\n\t],\n\t"description": "gate",\n}\n')).toBe(true)
    expect(casesIn(file, after)).toMatchObject({
      problems: [],
      cases: [{ event: 'Stop' }, { event: 'PreToolUse' }],
    })
  })

  it.each([
    '{"cases":[]}',
    '{ "cases": [{"event":"Stop","expect":{"action":"deny"}}] }',
    '{\r\n  "cases": []\r\n}\r\n',
  ])('of any layout gets one more: %j', async (text) => {
    project.file('.amplifier/hooks/gate/hooks.test.json', text)
    await record('true', BASH)
    const { cases, problems } = casesIn(file, project.read('.amplifier/hooks/gate/hooks.test.json'))
    expect([problems, cases.at(-1)?.event]).toEqual([[], 'PreToolUse'])
  })

  it('has a call once', async () => {
    await record('true', BASH)
    const before = project.read('.amplifier/hooks/gate/hooks.test.json')
    const again = await record('true', { ...BASH, session_id: 'other' })
    expect(again).toEqual({ file, isNew: false, line: 4, name: 'continue Bash: git push --force' })
    expect(recordedLines(again)).toEqual([
      `already recorded as "continue Bash: git push --force" in ${file}:4, and nothing has changed`,
    ])
    expect(project.read('.amplifier/hooks/gate/hooks.test.json')).toBe(before)
  })

  it('says when the decision on a call is another one by now, and how to take it', async () => {
    await record('true', BASH)
    const before = project.read('.amplifier/hooks/gate/hooks.test.json')
    const again = await record('echo "not in $CLAUDE_PLUGIN_ROOT" >&2; exit 2', BASH)
    expect(recordedLines(again)).toEqual([
      `already recorded as "continue Bash: git push --force" in ${file}:4, which expects something else`,
      '  action: continue before, deny now',
      'next if that is right, change it there to "expect": {"action":"deny","reason":"not in {{plugin}}"}',
    ])
    expect(project.read('.amplifier/hooks/gate/hooks.test.json')).toBe(before)
  })

  it.each([
    ['{ "hooks": {} }', '"hooks" is not a key here'],
    ['{ "cases": [', ':1 this is not valid JSON'],
    ['[]', 'expected { "cases": [ … ] }'],
  ])('that holds something else is left alone: %j', async (text, why) => {
    project.file('.amplifier/hooks/gate/hooks.test.json', text)
    await expect(record('true', BASH)).rejects.toMatchObject({
      code: 'NOT_RECORDED',
      message: expect.stringContaining(why),
    })
    expect(project.read('.amplifier/hooks/gate/hooks.test.json')).toBe(text)
  })

  it('that cannot be written, or is a link, leaves nothing behind', async () => {
    mkdirSync(file, { recursive: true })
    await expect(record('true', BASH)).rejects.toMatchObject({ code: 'NOT_RECORDED' })
    file = project.path('.amplifier/hooks/gate/link.json')
    symlinkSync('elsewhere.json', file)
    await expect(record('true', BASH)).rejects.toMatchObject({ code: 'NOT_RECORDED' })
    expect(readdirSync(project.path('.amplifier/hooks/gate')).sort()).toEqual([
      'hooks.json',
      'hooks.test.json',
      'link.json',
    ])
  })
})
