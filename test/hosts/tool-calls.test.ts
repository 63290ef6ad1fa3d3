// Tool calls of every agent in Claude Code's terms: one hook on `command` or `file_path` holds under all of them.

import { describe, expect, it } from 'vitest'
import type { Data } from '../../src/core/base/json.js'
import { answerOf, verdictOfResult } from '../../src/hosts/answer.js'
import { type HostName, hostNamed, type KnownHost } from '../../src/hosts/hosts.js'
import { readHostPayload } from '../../src/hosts/payload.js'

const named = (host: HostName) => hostNamed(host) as KnownHost

function read(host: HostName, tool: string, input: Data, cwd = '/proj') {
  const payload = { hook_event_name: 'PreToolUse', session_id: 's', cwd, tool_name: tool, tool_input: input }
  return readHostPayload(payload, { host }).event
}
const calls = (host: HostName, tool: string, input: Data) =>
  (read(host, tool, input).calls ?? []).map(({ names, data }) => [names[0], data.tool_input])

const PATCH = `*** Begin Patch
*** Add File: a.txt
+hello
+world
*** Update File: src/b.ts
*** Move to: src/c.ts
@@ class X
 kept
-old
+new
*** Delete File: /etc/d
*** End Patch`

describe('what a tool call does', () => {
  it.each<[HostName, string, Data, readonly (readonly [string, Data])[]]>([
    ['copilot', 'create', { path: 'a', file_text: 'x' }, [['Write', { file_path: '/proj/a', content: 'x' }]]],
    ['copilot', 'Write', { path: '/a', file_text: 'x' }, [['Write', { file_path: '/a', content: 'x' }]]],
    [
      'copilot',
      'edit',
      { path: '/a', old_str: 'x', new_str: 'y' },
      [['Edit', { file_path: '/a', old_string: 'x', new_string: 'y' }]],
    ],
    ['kimi', 'Write', { path: '/a', content: 'x' }, [['Write', { file_path: '/a', content: 'x' }]]],
    [
      'gemini',
      'write_file',
      { file_path: '/a', content: 'x' },
      [['Write', { file_path: '/a', content: 'x' }]],
    ],
    ['gemini', 'run_shell_command', { command: 'ls' }, [['Bash', { command: 'ls' }]]],
    [
      'vscode',
      'create_file',
      { filePath: '/a', content: 'x' },
      [['Write', { file_path: '/a', content: 'x' }]],
    ],
    ['letta', 'exec_command', { cmd: 'ls' }, [['Bash', { command: 'ls' }]]],
    [
      'cline',
      'run_commands',
      { commands: ['ls', 'pwd'] },
      [
        ['Bash', { command: 'ls' }],
        ['Bash', { command: 'pwd' }],
      ],
    ],
    ['cline', 'read_files', { files: [{ path: 'a' }] }, [['Read', { path: 'a', file_path: '/proj/a' }]]],
    [
      'codex',
      'apply_patch',
      { command: PATCH },
      [
        ['Write', { file_path: '/proj/a.txt', content: 'hello\nworld\n' }],
        ['Edit', { file_path: '/proj/src/b.ts', old_string: 'kept\nold\n', new_string: 'kept\nnew\n' }],
        ['Write', { file_path: '/proj/src/c.ts', content: 'kept\nnew\n' }],
        ['Edit', { file_path: '/etc/d' }],
      ],
    ],
    ['claude-code', 'Write', { file_path: 'a' }, []],
    ['codex', 'Bash', { command: 'ls' }, []],
  ])('%s: %s', (host, tool, input, expected) => {
    expect(calls(host, tool, input)).toEqual(expected)
  })

  const patched = (...lines: readonly string[]) => `*** Begin Patch\n${lines.join('\n')}\n*** End Patch`
  const paths = (input: Data) =>
    calls('codex', 'apply_patch', input).map(([, one]) => (one as Data | undefined)?.file_path)
  const FIRST = ['*** Add File: a', '+x']

  it.each<[string, string]>([
    ['is indented', '  *** Update File: secret'],
    ['is indented by a tab', '\t*** Update File: secret'],
    ['follows a carriage return', '+x\r*** Update File: secret'],
    ['follows a separator of lines in Unicode', '+x\u2028*** Update File: secret'],
    ['moves to it', ' *** Move to: secret'],
  ])('finds every file of a patch, also if its header %s', (_, header) => {
    const kind = header.includes('Move') ? ['*** Update File: a'] : FIRST
    expect(paths({ command: patched(...kind, header, '@@', '-a', '+b') })).toEqual([
      '/proj/a',
      '/proj/secret',
    ])
  })

  it('finds the files of every patch in the input', () => {
    const input = { note: patched(...FIRST), more: [{ command: patched('*** Delete File: secret') }] }
    expect(paths(input)).toEqual(['/proj/a', '/proj/secret'])
  })

  it('counts lines after a header that may be a line of the file for both files', () => {
    const command = patched('*** Update File: a', '@@', ' *** Add File: b', '+evil')
    expect(calls('codex', 'apply_patch', { command })).toEqual([
      [
        'Edit',
        { file_path: '/proj/a', old_string: '*** Add File: b\n', new_string: '*** Add File: b\nevil\n' },
      ],
      ['Write', { file_path: '/proj/b', content: 'evil\n' }],
    ])
  })

  it('takes a rule in Markdown for a line of the file, and drops nothing of a line', () => {
    const command = patched('*** Update File: a', '@@', ' ***', '+b\fc', '*** End of File')
    expect(calls('codex', 'apply_patch', { command })).toEqual([
      ['Edit', { file_path: '/proj/a', old_string: '***\n', new_string: '***\nb\fc\n' }],
    ])
  })

  it('stays readable as the agent sent it', () => {
    const input = { path: '/a', file_text: 'x' }
    expect(read('copilot', 'create', input).data).toMatchObject({
      tool_name: 'create',
      tool_input: { file_path: '/a', content: 'x' },
      host_tool_input: input,
    })
    expect(read('codex', 'apply_patch', { command: PATCH }).data.tool_input).toEqual({ command: PATCH })
    expect(read('gemini', 'write_file', { file_path: '/a' }).data).not.toHaveProperty('host_tool_input')
  })

  it.each<[string, HostName, string, Data]>([
    ['no patch', 'codex', 'apply_patch', { command: 'ls' }],
    ['a patch of nothing', 'codex', 'apply_patch', { command: '*** Begin Patch\n*** End Patch' }],
    ['an unknown header', 'codex', 'apply_patch', { command: patched(...FIRST, '*** Rename File: b') }],
    ['one that is indented', 'codex', 'apply_patch', { command: patched(...FIRST, ' *** Link: b') }],
    ['a header in small letters', 'codex', 'apply_patch', { command: patched(...FIRST, '*** add file: b') }],
    ['no list', 'cline', 'run_commands', { commands: 'ls' }],
    ['an empty list', 'cline', 'run_commands', { commands: [] }],
    ['a list of something else', 'cline', 'run_commands', { commands: [['ls']] }],
    ['two names for a field', 'copilot', 'create', { path: '/a', file_path: '/b' }],
  ])('is refused if it cannot be read: %s', (_, host, tool, input) => {
    expect(() => read(host, tool, input)).toThrow(`PreToolUse: a call of ${tool} cannot be read: `)
  })
})

describe('a changed input goes back in the terms of the agent', () => {
  const answer = (host: HostName, tool: string, input: Data, changed: Data) => {
    const event = read(host, tool, input)
    return answerOf(named(host), event, verdictOfResult({ action: 'modify', data: { tool_input: changed } }))
  }

  it('with its names, and unchanged where no hook changed anything', () => {
    const { stdout } = answer(
      'copilot',
      'create',
      { path: 'a', file_text: 'x', mode: 1 },
      { file_path: '/proj/a', content: 'y', mode: 1 },
    )
    expect(JSON.parse(stdout).hookSpecificOutput.updatedInput).toEqual({ path: 'a', file_text: 'y', mode: 1 })
  })

  it('in its list, if it is the only part', () => {
    const { stdout } = answer('cline-core', 'run_commands', { commands: ['ls'], t: 1 }, { command: 'pwd' })
    expect(JSON.parse(stdout).overrideInput).toEqual({ t: 1, commands: ['pwd'] })
    const several = answer('cline-core', 'run_commands', { commands: ['ls', 'id'] }, { command: 'pwd' })
    expect(JSON.parse(several.stdout)).toMatchObject({ cancel: true })
  })

  it('or not at all, if it is one part of several', () => {
    const { stdout, stderr, exit } = answer('codex', 'apply_patch', { command: PATCH }, { file_path: '/x' })
    expect(`${exit} ${stdout}${stderr}`).toContain('Codex cannot apply the change')
  })
})
