// Tool calls of every agent in Claude Code's terms: one hook on `command` or `file_path` holds under all of them.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Data, Json } from '../../src/core/base/json.js'
import { answerOf, verdictOfResult } from '../../src/hosts/answer.js'
import { HOSTS, type HostName, hostNamed, type KnownHost } from '../../src/hosts/hosts.js'
import { eventOf, InvalidHookInput, readEnvelope } from '../../src/hosts/payload.js'
import { runs } from '../property/runs.js'

const named = (host: HostName) => hostNamed(host) as KnownHost

function read(host: HostName, tool: string, input: Data, cwd = '/proj') {
  const payload = { hook_event_name: 'PreToolUse', session_id: 's', cwd, tool_name: tool, tool_input: input }
  return eventOf(payload, readEnvelope(payload, { host }), true)
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

const patched = (...lines: readonly string[]) => `*** Begin Patch\n${lines.join('\n')}\n*** End Patch`
const FIRST = ['*** Add File: a', '+x']

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
    ['cline', 'read_files', { files: [{ path: 'a' }] }, [['Read', { file_path: '/proj/a' }]]],
    [
      'codex',
      'apply_patch',
      { command: PATCH },
      [
        ['Write', { file_path: '/proj/a.txt', content: 'hello\nworld\n' }],
        [
          'Edit',
          {
            file_path: '/proj/src/b.ts',
            moved_to: '/proj/src/c.ts',
            old_string: 'kept\nold\n',
            new_string: 'kept\nnew\n',
          },
        ],
        ['Write', { file_path: '/proj/src/c.ts', content: 'kept\nnew\n' }],
        ['Edit', { file_path: '/etc/d', deleted: true }],
      ],
    ],
    ['claude-code', 'Write', { file_path: 'a' }, []],
    ['codex', 'Bash', { command: 'ls' }, [['Bash', { command: 'ls' }]]],
  ])('%s: %s', (host, tool, input, expected) => {
    expect(calls(host, tool, input)).toEqual(expected)
  })

  const paths = (input: Data) =>
    calls('codex', 'apply_patch', input).map(([, one]) => (one as Data | undefined)?.file_path)

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

  it('takes Markdown for lines of the file: bold words with a colon', () => {
    const command = patched('*** Update File: a', '@@', ' ***Note:*** x', ' *** Author: x', '+b')
    expect(calls('codex', 'apply_patch', { command })).toHaveLength(1)
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
    ['no command', 'cline', 'run_commands', { commands: {} }],
    ['an empty list', 'cline', 'run_commands', { commands: [] }],
    ['a list with something else', 'cline', 'run_commands', { commands: ['ls', 5] }],
    ['a list with nothing in one', 'cline', 'run_commands', { commands: ['ls', { timeout: 5 }] }],
    ['no path', 'gemini', 'read_file', { limit: 5 }],
    ['an empty path', 'gemini', 'write_file', { file_path: '' }],
    ['two names for a field', 'copilot', 'create', { path: '/a', file_path: '/b' }],
  ])('is refused if it cannot be read: %s', (_, host, tool, input) => {
    expect(() => read(host, tool, input)).toThrow(`PreToolUse: a call of ${tool} cannot be read: `)
  })
})

describe('a call that says in several places what to do', () => {
  const LISTS = ['commands', 'paths', 'files', 'include', 'operations', 'replacements']
  const CASES = HOSTS.flatMap((host) =>
    Object.entries(host.tools ?? {})
      .filter(([, tool]) => tool.parts === undefined)
      .map(([name, tool]) => ({ host: host.name, name, tool })),
  )

  it.each(CASES)('hides none of them from hooks: $host $name', ({ host, name, tool }) => {
    const field = tool.names.includes('Bash') ? 'command' : 'file_path'
    const own = Object.entries(tool.fields ?? {}).find(([, canonical]) => canonical === field)?.[0] ?? field
    for (const list of LISTS.filter((one) => (one === 'commands') === (field === 'command'))) {
      for (const item of ['/secret', { [own]: '/secret' }]) {
        const seen = calls(host, name, { [own]: '/harmless', [list]: [item] }).map(
          ([, input]) => (input as Data)[field],
        )
        expect(seen).toEqual(['/harmless', '/secret'])
      }
    }
  })

  it.each<[Data, readonly string[]]>([
    [{ cmd: ['rm', '-r', 'x'] }, ['rm -r x']],
    [{ cmd: 'rm', args: ['-r', 'x'] }, ['rm -r x']],
    [{ command: 'rm', args: '-r x' }, ['rm -r x']],
    [{ command: { command: 'rm x' }, cmd: 'ls' }, ['ls', 'rm x']],
  ])('is judged in words, with arguments and inside an object: %j', (input, commands) => {
    const seen = calls('gemini', 'run_shell_command', input).map(([, one]) => (one as Data).command)
    expect(seen).toEqual(commands)
  })

  it.each<[Data, readonly string[]]>([
    [{ file: { path: '/secret' }, file_path: '/a' }, ['/a', '/secret']],
    [{ file_path: { path: '/secret' }, path: '/a' }, ['/a', '/secret']],
    [{ absolute_path: '/a', file_path: '/a' }, ['/a']],
  ])('is judged inside an object, and once if two names say the same: %j', (input, paths) => {
    const seen = calls('gemini', 'read_file', input).map(([, one]) => (one as Data).file_path)
    expect([...new Set(seen)].sort()).toEqual(paths)
  })

  it('is refused if a part of a command hides beside another command', () => {
    const input = { command: ['rm', '-r', 'x', ''], cmd: 'ls' }
    expect(() => read('gemini', 'run_shell_command', input)).toThrow('cannot be read')
  })

  it('is one call if what is listed names no file of its own', () => {
    const input = { file_path: '/a', edits: [{ old_string: 'x', new_string: 'y' }] }
    expect(calls('gemini', 'replace', input)).toEqual([['Edit', input]])
  })

  it.each<[string, HostName, string, Data]>([
    ['a list', 'cline-core', 'run_commands', { commands: Array(1001).fill('ls') }],
    [
      'a list beside many fields',
      'cline-core',
      'run_commands',
      {
        ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at])),
        commands: Array(200).fill('ls'),
      },
    ],
    [
      'a patch',
      'codex',
      'apply_patch',
      { command: patched(...FIRST, ...Array<string>(1001).fill('*** Delete File: b')) },
    ],
    [
      'lines that may begin a file',
      'codex',
      'apply_patch',
      { command: patched(...FIRST, ...Array<string>(20).fill(' *** Add File: b')) },
    ],
  ])('is refused if it is too much to judge: %s', (_, host, tool, input) => {
    expect(() => read(host, tool, input)).toThrow(`a call of ${tool} cannot be read: `)
  })

  it('is read in a time that grows with its size', () => {
    const input = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`key${at}`, at]))
    expect(calls('codex', 'Bash', { ...input, command: 'ls' })).toHaveLength(1)
  })
})

describe('a path', () => {
  const path = (host: HostName, tool: string, input: Data) =>
    (calls(host, tool, input)[0]?.[1] as Data | undefined)?.file_path
  const home = process.env.HOME ?? ''

  it.each<[string, string]>([
    ['~/.ssh/keys', `${home}/.ssh/keys`],
    ['~', home],
    ['$HOME/.ssh/keys', `${home}/.ssh/keys`],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell writes it
    ['${HOME}/a', `${home}/a`],
    ['$NO_SUCH_VARIABLE/a', '/proj/$NO_SUCH_VARIABLE/a'],
    ['file:///etc/x', '/etc/x'],
    ['a~b', '/proj/a~b'],
    ['~other/a', '/proj/~other/a'],
  ])('is where a shell would find it: %s', (text, found) => {
    for (const [host, tool] of [
      ['kimi', 'Write'],
      ['letta', 'Write'],
      ['gemini', 'write_file'],
    ] as const)
      expect(path(host, tool, { path: text, content: 'x' } as Data)).toBe(found)
  })

  it.each(['~/../x', '$HOME/../x', 'file:///../x', '/proj/$HOME/../x'])(
    'is refused if an agent that does not expand it finds another file: %s',
    (text) => {
      expect(() => path('gemini', 'write_file', { file_path: text })).toThrow('read in two ways')
    },
  )

  it('of pi may begin with @', () => {
    expect(path('pi', 'write', { path: '@/etc/x' })).toBe('/etc/x')
    expect(path('pi', 'write', { path: '@~/x' })).toBe(`${home}/x`)
    expect(path('pi', 'write', { path: '@src/x' })).toBe('/proj/src/x')
    expect(path('copilot', 'create', { path: '@src/x' })).toBe('/proj/@src/x')
  })
})

it('what Letta types into an open shell is a command', () => {
  expect(calls('letta', 'write_stdin', { session_id: 1, chars: 'ls\n' })).toEqual([
    ['Bash', { session_id: 1, chars: 'ls\n', command: 'ls\n' }],
  ])
  expect(calls('letta', 'write_stdin', { session_id: 1, chars: '' })[0]?.[1]).toMatchObject({ command: ':' })
  expect(() => calls('letta', 'write_stdin', { chars: 5 })).toThrow('cannot be read')
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

describe('what hooks look at', () => {
  const bare = (host: HostName, tool: string, input: Json) =>
    calls(host, tool, input as Data).map(([name, data]) => {
      const { command, file_path: path } = data as Data
      return name === 'Bash' ? command : path
    })

  it.each<[HostName, string, Json, readonly string[]]>([
    ['cline-core', 'run_commands', ['rm x', 'ls'], ['rm x', 'ls']],
    ['cline-core', 'run_commands', { cmd: 'rm x' }, ['rm x']],
    ['cline-core', 'run_commands', { command: 'rm', args: ['-r', 'a b'] }, ["rm -r 'a b'"]],
    ['cline-core', 'run_commands', { commands: ['ls', { command: 'rm', args: ['x'] }] }, ['ls', 'rm x']],
    ['letta', 'shell', { command: ['bash', '-lc', 'rm x'] }, ["bash -lc 'rm x'"]],
    ['gemini', 'read_many_files', { include: ['.env', 'a'] }, ['/proj/.env', '/proj/a']],
    ['qwen', 'read_many_files', { paths: ['.env'] }, ['/proj/.env']],
    [
      'vscode',
      'apply_patch',
      { input: PATCH },
      ['/proj/a.txt', '/proj/src/b.ts', '/proj/src/c.ts', '/etc/d'],
    ],
    [
      'vscode',
      'multi_replace_string_in_file',
      { replacements: [{ filePath: '/a' }, { filePath: '/b' }] },
      ['/a', '/b'],
    ],
    ['vscode', 'insert_edit_into_file', { filePath: '/a', code: 'x' }, ['/a']],
    ['amazon-q', 'fs_read', { operations: [{ mode: 'Line', path: '/a' }] }, ['/a']],
    ['kiro', 'fs_read', { operations: [{ mode: 'Line', path: '/a' }] }, ['/a']],
    ['kiro', 'read_multiple_files', { paths: ['a'] }, ['/proj/a']],
    ['cursor', 'Read', { path: '/a' }, ['/a']],
    ['cursor', 'StrReplace', { path: '/a' }, ['/a']],
    ['goose', 'write', { path: '/a' }, ['/a']],
    ['goose', 'shell', { command: 'ls' }, ['ls']],
    ['opencode', 'multiedit', { filePath: '/a', edits: [] }, ['/a']],
    ['codex', 'Read', { path: '/a' }, ['/a']],
  ])('is found, wherever the agent puts it: %s %s %j', (host, tool, input, expected) => {
    expect(bare(host, tool, input)).toEqual(expected)
  })

  const names = [
    'command',
    'cmd',
    'commands',
    'args',
    'file_path',
    'path',
    'paths',
    'files',
    'edits',
    'input',
    'x',
  ]
  const json = fc.letrec<{ one: Json }>((tie) => ({
    one: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>('rm x', '', 5, null, true),
      fc.array(tie('one'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('one'), { maxKeys: 3 }),
    ),
  })).one
  const known = HOSTS.flatMap((host) =>
    Object.keys(host.tools ?? {}).map((tool) => [host.name, tool] as const),
  )

  it('is there, or the call is refused, whatever the agent sends', () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), json, ([host, tool], input) => {
        let seen: readonly (Json | undefined)[]
        try {
          seen = bare(host, tool, input)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidHookInput)
          return
        }
        expect(seen.length).toBeGreaterThan(0)
        for (const one of seen) expect(one).toMatch(/./s)
      }),
      { numRuns: runs(500) },
    )
  })

  it('hides no text of a list from them', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c d'), { minLength: 1 }), (list) => {
        expect(bare('cline-core', 'run_commands', list)).toEqual(list)
        expect(bare('gemini', 'read_many_files', { paths: list })).toEqual(list.map((one) => `/proj/${one}`))
      }),
    )
  })

  it('is not asked of events that only tell', () => {
    const payload = {
      hook_event_name: 'PostToolUse',
      session_id: 's',
      cwd: '/',
      tool_name: 'shell',
      tool_input: null,
    }
    expect(eventOf(payload, readEnvelope(payload, { host: 'letta' }), true).name).toBe('PostToolUse')
  })

  it('a change of what was put together cannot be put back, so the call is refused', () => {
    const event = read('cline-core', 'run_commands', ['rm x'] as unknown as Data)
    const verdict = verdictOfResult({ action: 'modify', data: { tool_input: { command: 'ls' } } })
    expect(JSON.parse(answerOf(named('cline-core'), event, verdict).stdout)).toMatchObject({ cancel: true })
  })
})
