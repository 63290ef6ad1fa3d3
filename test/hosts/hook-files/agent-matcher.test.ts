// When a hook of another agent runs, by the patterns in its file.

import { expect, it } from 'vitest'
import { resolveEvent } from '../../../src/core/events/events.js'
import type { AgentHook } from '../../../src/hosts/hook-files/agent-hook.js'
import { whenOf } from '../../../src/hosts/hook-files/agent-matcher.js'
import { hookFiles } from '../../../src/hosts/hook-files/hook-files.js'

const kiro = (await hookFiles()).find(({ name }) => name === 'kiro')

function fits(pattern: string, path: string): boolean {
  if (!kiro) throw new Error('kiro has no hook file')
  const hook = { event: 'fileEdited', files: [pattern], more: {}, strange: [] } as unknown as AgentHook
  const { condition } = whenOf(kiro, hook, resolveEvent('FileChanged'))
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
])('%s and %s: %s', (pattern, path, does) => {
  expect(fits(pattern, path)).toBe(does)
})

it('takes no time that grows beyond the length of a path', () => {
  expect(fits('*a*a*a*a*a*a*a*a*a*a*a*b', `/p/${'a'.repeat(5000)}`)).toBe(false)
})
