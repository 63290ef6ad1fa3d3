// When a hook of another agent runs, by the patterns in its file.

import { expect, it } from 'vitest'
import { resolveEvent } from '../../../src/core/events/events.js'
import type { AgentHook } from '../../../src/hosts/hook-files/agent-hook.js'
import { whenOf } from '../../../src/hosts/hook-files/agent-matcher.js'
import { hookFiles } from '../../../src/hosts/hook-files/hook-files.js'

const kiro = (await hookFiles()).find(({ name }) => name === 'kiro')

function when(more: Partial<AgentHook>) {
  if (!kiro) throw new Error('kiro has no hook file')
  const hook = { event: 'fileEdited', more: {}, strange: [], ...more } as unknown as AgentHook
  return whenOf(kiro, hook, resolveEvent('FileChanged'))
}

function fits(pattern: string, path: string): boolean {
  const { condition } = when({ files: [pattern] })
  return condition?.({ name: 'FileChanged', data: { file_path: path }, session: undefined } as never) === true
}

it.each([
  ['*.ts', '/p/src/a.ts', true],
  ['*.ts', '/p/src/a.tsx', false],
  ['src/*.ts', '/p/src/a.ts', true],
  ['src/*.ts', '/p/src/deep/a.ts', false],
  ['src/**/*.ts', '/p/src/deep/a.ts', true],
  ['*.{ts,js}', '/p/a.js', true],
  ['a?.ts', '/p/ab.ts', true],
  ['a+b.ts', '/p/aab.ts', false],
  ['./src/*.ts', '/p/src/a.ts', true],
  ['/p/src/*.ts', '/p/src/a.ts', true],
  ['app/(group)/*.ts', '/p/app/(group)/a.ts', true],
  ['app/(group)/*.ts', '/p/app/group/a.ts', false],
])('%s and %s: %s', (pattern, path, does) => {
  expect(fits(pattern, path)).toBe(does)
})

it('takes no time that grows beyond the length of a path', () => {
  expect(fits('*a*a*a*a*a*a*a*a*a*a*a*b', `/p/${'a'.repeat(5000)}`)).toBe(false)
})

it.each(['!*.ts', '[ab].ts', '*.{ts,{js,jsx}}', '*.{ts', '@(a|b).ts', 'src\\*.ts'])(
  'runs for every file if its pattern %s cannot be read, and says so',
  (pattern) => {
    expect(fits(pattern, '/p/some.where')).toBe(true)
    expect(when({ files: ['*.ts', pattern] }).problem).toBe(
      `its pattern ${JSON.stringify(pattern)} cannot be read; the hook runs for every file`,
    )
  },
)

it.each(['a)|(b', '('])(
  'runs for every command if its pattern %s cannot be read, and says so',
  (commandPattern) => {
    expect(when({ commandPattern }).problem).toMatch(/cannot be read; the hook runs for every command$/)
  },
)
