// runHook and `carabiner hook` on tool calls that do several things: each part is judged, and one refusal refuses all.

import { describe, expect, it } from 'vitest'
import { type HookHandlers, type HookResult, runHook } from '../../src/author/index.js'
import type { Data } from '../../src/core/base/json.js'
import { askUser, deny, inject, modify, proceed } from '../../src/core/events/result.js'
import type { HostAnswer } from '../../src/hosts/host.js'
import { HOSTS, type HostName } from '../../src/hosts/hosts.js'
import { runPackHook } from '../../src/pack/run-pack-hook.js'

const PATCH = '*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-x\n+y\n*** End Patch'

/** An input with two parts for each tool that has them. */
const TWO: Readonly<Record<string, Data>> = {
  run_commands: { commands: ['one', 'two'] },
  read_files: { files: ['/one', '/two'] },
  read_multiple_files: { paths: ['/one', '/two'] },
  edit: {
    path: '/one',
    edits: [
      { oldText: 'a', newText: 'b' },
      { oldText: 'c', newText: 'd' },
    ],
  },
  multi_replace_file_content: {
    TargetFile: '/one',
    ReplacementChunks: [
      { TargetContent: 'a', ReplacementContent: 'b' },
      { TargetContent: 'c', ReplacementContent: 'd' },
    ],
  },
}
/** Tools whose input is a list, which is read in parts without a word in their row. */
const LISTS = ['run_commands', 'read_files', 'read_multiple_files']
/** Tools that always do one thing. */
const ONE = ['write_stdin', 'WriteStdin']
const inputOf = (tool: string): Data => (/patch/i.test(tool) ? { patch: PATCH } : (TWO[tool] as Data))

const CASES = HOSTS.flatMap(({ name, tools = {} }) =>
  Object.entries(tools).flatMap(([tool, { parts }]) =>
    (parts && !ONE.includes(tool)) || LISTS.includes(tool) ? [[name, tool] as const] : [],
  ),
)

async function answered(
  host: HostName,
  tool: string,
  handler: HookHandlers['PreToolUse'] & {},
): Promise<HostAnswer> {
  let answer: HostAnswer | undefined
  const payload = { hook_event_name: 'PreToolUse', cwd: '/proj', tool_name: tool, tool_input: inputOf(tool) }
  const options = { host, stdin: JSON.stringify(payload), answered: (given: HostAnswer) => (answer = given) }
  await runHook({ PreToolUse: handler }, options)
  return answer as HostAnswer
}

/** What the handler was asked about, and what it answers to the second. */
const second = (result: HookResult, first: HookResult = proceed()) => {
  const seen: (readonly [string, Data])[] = []
  const handler = ({ toolName, toolInput }: { toolName: string; toolInput: Data }) => {
    seen.push([toolName, toolInput])
    return seen.length === 2 ? result : first
  }
  return { seen, handler }
}
const said = ({ stdout, stderr = '' }: HostAnswer) => `${stdout}${stderr.replace(/^\{"hook.*$/m, '')}`

it('there are such tools', () => expect(CASES.length).toBeGreaterThan(15))

describe.each(CASES)('%s: %s', (host, tool) => {
  it('is judged part by part, in Claude Code’s terms', async () => {
    const { seen, handler } = second(proceed())
    await answered(host, tool, handler)
    expect(seen.length).toBe(2)
    for (const [name, input] of seen) {
      expect(name).toMatch(/^(?:Bash|Read|Write|Edit)$/)
      expect(input[name === 'Bash' ? 'command' : 'file_path']).toBeTypeOf('string')
    }
  })

  it('is refused if any part is', async () => {
    expect(said(await answered(host, tool, second(deny('not this')).handler))).toContain('not this')
  })

  it('is not allowed because one part is', async () => {
    const answer = await answered(host, tool, second(proceed({ permission: 'allow' })).handler)
    expect(said(answer)).not.toContain('"allow"')
  })

  it('cannot be changed in part', async () => {
    const answer = await answered(host, tool, second(modify({ tool_input: { command: 'safe' } })).handler)
    expect(said(answer)).toContain('cannot apply the change')
  })

  it('is refused also if somebody must be asked about another part', async () => {
    const answer = await answered(host, tool, second(deny('not this'), askUser('really?')).handler)
    expect(said(answer)).toContain('not this')
    expect(said(answer)).not.toContain('ask"')
    const changed = second(modify({ tool_input: { command: 'safe' } }), askUser('really?'))
    expect(said(await answered(host, tool, changed.handler))).toMatch(/cannot apply|must approve/)
  })

  it('fails closed in any part', async () => {
    let count = 0
    const handler = () => {
      if (++count === 2) throw new Error('broken')
    }
    let answer: HostAnswer | undefined
    const payload = {
      hook_event_name: 'PreToolUse',
      cwd: '/proj',
      tool_name: tool,
      tool_input: inputOf(tool),
    }
    await runHook(
      { PreToolUse: handler },
      { host, stdin: JSON.stringify(payload), onFailure: 'closed', answered: (given) => (answer = given) },
    )
    expect(said(answer as HostAnswer)).toContain('failed: broken')
  })
})

it('says everything that was said about the parts', async () => {
  const answer = await answered('copilot', 'apply_patch', second(inject('two'), inject('one')).handler)
  expect(said(answer)).toMatch(/one\\ntwo/)
})

describe('carabiner hook pre-tool-use', () => {
  it.each([
    ['cline-core', 'run_commands', { commands: ['ls', `rm ${'-rf'} /`] }],
    [
      'codex',
      'apply_patch',
      {
        command:
          '*** Begin Patch\n*** Add File: ok\n+x\n*** Add File: .claude/settings.json\n+{}\n*** End Patch',
      },
    ],
  ] as const)('%s: %s with one part that is dangerous', async (_host, tool, input) => {
    let answer: HostAnswer | undefined
    const payload = { hook_event_name: 'PreToolUse', cwd: process.cwd(), tool_name: tool, tool_input: input }
    const how = { stdin: JSON.stringify(payload), answered: (given: HostAnswer) => (answer = given) }
    await runPackHook('pre-tool-use', { script: '', version: '0' }, how)
    expect((answer as unknown as HostAnswer).stdout).toMatch(/"(?:deny|ask)"/)
  })
})
