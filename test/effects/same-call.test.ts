// Calls that differ only in spaces, quotes, comments or the order of fields are the same call.

import { describe, expect, it } from 'vitest'
import type { Data } from '../../src/core/base/json.js'
import { sameCallDigest } from '../../src/effects/tools/same-call.js'

const of = (tool_name: string, tool_input: Data | string) =>
  sameCallDigest('PreToolUse', { tool_name, tool_input, tool_use_id: String(Math.random()) })
const bash = (command: string, more: Data = {}) => of('Bash', { command, ...more })

describe('the same call', () => {
  it.each([
    'npm test -- a.ts',
    '  npm   test  -- a.ts ',
    'npm\ttest -- a.ts\n',
    "npm 'test' -- a.ts",
    'npm "test" -- "a.ts"',
    "n'p'm te\\st -- a.ts",
    'npm test \\\n -- a.ts',
    'npm test -- a.ts # again',
    'npm test -- a.ts;',
  ])('%j', (command) => {
    expect(bash(command)).toBe(bash('npm test -- a.ts'))
  })

  it('has its fields in any order, and its remarks in other words', () => {
    expect(of('Edit', { file_path: 'a', old_string: 'b' })).toBe(
      of('Edit', { old_string: 'b', file_path: 'a' }),
    )
    expect(of('Edit', '{ "old_string":"b", "file_path":"a" }')).toBe(
      of('Edit', { file_path: 'a', old_string: 'b' }),
    )
    expect(bash('ls', { description: 'one', timeout: 1 })).toBe(bash('ls', { description: 'two' }))
    expect(bash('a && b; c')).toBe(bash('a&&b\nc'))
  })
})

describe('another call', () => {
  it.each([
    ['echo a b', 'echo "a b"'],
    ['echo *', "echo '*'"],
    ['echo $X', "echo '$X'"],
    ['echo "$X"', 'echo $X'],
    ['a | b', "a '|' b"],
    ['a > b', 'a b'],
    ['a 2> b', 'a > b'],
    ['a && b', 'a || b'],
    ['a & b', 'a && b'],
    ['a # b', "a '#' b"],
    ["a ''", 'a'],
    ["echo 'x", 'echo x'],
    ['~/a', "'~/a'"],
  ])('%j is not %j', (one, other) => {
    expect(bash(one)).not.toBe(bash(other))
  })

  it('is in another folder, or changes another file', () => {
    expect(bash('ls', { cwd: 'a' })).not.toBe(bash('ls', { cwd: 'b' }))
    expect(of('Edit', { file_path: 'a' })).not.toBe(of('Edit', { file_path: 'b' }))
  })
})
