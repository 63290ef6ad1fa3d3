// What is printed fits the terminal, however narrow it is, and nothing of what a hook runs is lost by that.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'
import { isInstalled } from './script.js'

withProgram()

const LONG_NAME = `a-very-long-plugin-name-${'that-goes-on-'.repeat(3)}end`
const COMMAND = `printf '%s\\n' "${'漢字'.repeat(30)}" 🎉🎉 && node ./scripts/${'deeply/'.repeat(20)}check.js --flag=value --other one two three`
const WIDE_MATCHER = 'mcp__server__漢字漢字漢字|Bash'

let project: Project
beforeEach(async () => {
  project = new Project()
  project.hooks({ PreToolUse: [[WIDE_MATCHER, COMMAND]] })
  for (const name of [LONG_NAME, 'short']) {
    project.file(`.amplifier/hooks/${name}/hooks.json`, {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: COMMAND }] }] },
    })
  }
  project.file('../home/.amplifier/hooks/hooks.json', {
    hooks: {
      PreToolUse: [{ matcher: 'Bash|Edit|Write|MultiEdit', hooks: [{ type: 'command', command: ASKS }] }],
    },
  })
  project.file(`.amplifier/hooks/${LONG_NAME}/hooks.test.json`, {
    cases: [
      {
        name: '漢字'.repeat(20),
        event: 'PreToolUse',
        payload: { tool_name: 'Bash', tool_input: { command: COMMAND } },
        expect: { action: 'deny', reason: 'no '.repeat(40) },
      },
    ],
  })
  project.file('catalog/catalog.json', {
    carabiner: 1,
    name: 'a-catalogue-with-quite-a-long-name',
    plugins: [],
  })
})
afterEach(() => project.remove())

const ASKS = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"${'may it really do that? '.repeat(5)}"}}'`

async function scene(): Promise<void> {
  const done = [
    await project.call(['disable', LONG_NAME, '--reason', 'because '.repeat(20)]),
    await project.call(['catalog', 'add', './catalog']),
    await project.call(['fire', 'PreToolUse'], {
      input: { session_id: 's', tool_name: 'Bash', tool_input: { command: COMMAND } },
    }),
  ]
  expect(done.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
    [3, ''],
  ])
}

/** As terminals that take little room for what is beyond Latin count. */
function columnsOf(line: string): number {
  let columns = 0
  for (const char of line) {
    columns += /\p{Emoji_Presentation}|[\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60]/u.test(char) ? 2 : 1
  }
  return columns
}

/** What is to be copied is whole: the terminal folds it, and it is one line when it is pasted. So are complaints. */
const WHOLE = /^(?:carabiner: | *(?:next|fix) (?![A-Z][a-z]* )| {2}carabiner |[0-9a-f]{64} {2}# )/

const COMMANDS: readonly (readonly string[])[] = [
  [],
  ['list'],
  ['explain', 'PreToolUse', '--tool', 'Bash'],
  ['explain', 'PreToolUse', '--tool', 'Bash', '--hook', `${LONG_NAME}:PreToolUse#1`],
  ['disable'],
  ['doctor'],
  ['trust', '--show'],
  ['audit'],
  ['audit', 'show', '1'],
  ['catalog', 'list'],
  ['approvals'],
  ['help', 'audit'],
  ['test'],
]

/** How often a hook's command is there, whole. */
const SHOWN: Readonly<Record<string, number>> = { list: 3, trust: 3, explain: 3 }
const squeezed = (text: string) => text.replace(/[\s│┆]+/g, '')

describe.skipIf(!isInstalled('python3'))('on a terminal', () => {
  it.each([40, 60, 80, 120])('of %i columns every line fits', async (columns) => {
    await scene()
    for (const args of COMMANDS) {
      const { stdout } = await project.onTerminal(args, { columns, env: { NO_COLOR: '1', PAGER: 'cat' } })
      // A slow command shows its progress, and erases it.
      const lines = stdout
        .replaceAll('\x1b[K', '')
        .split('\r\n')
        .map((line) => line.slice(line.lastIndexOf('\r') + 1))
      const wide = lines.filter((line) => columnsOf(line) > columns && !WHOLE.test(line))
      expect(wide, args.join(' ')).toEqual([])
      const times = SHOWN[args[0] ?? '']
      if (times === undefined || args.includes('--hook')) continue
      expect(squeezed(stdout).split(squeezed(COMMAND)).length - 1, args.join(' ')).toBe(times)
    }
  })
})

it('into a pipe lines are whole', async () => {
  await scene()
  const { stdout } = await project.call(['list'])
  expect(stdout.split('\n').filter((line) => line === `      ${COMMAND}`)).toHaveLength(3)
  const off = await project.call(['disable'])
  expect(off.stdout).toContain(
    `all of ${LONG_NAME}  for ${project.folder}: ${'because '.repeat(20)}`.trimEnd(),
  )
})

it.skipIf(isInstalled('python3'))('python3 is missing: there was no terminal', () => {})
