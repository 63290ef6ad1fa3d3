import { describe, expect, it } from 'vitest'
import { projectOf } from './projects.js'

describe('a file of tests', () => {
  it.each([
    [`import { spawn } from 'node:child_process'`, 'shared'],
    [`import { vi } from 'vitest'\nvi.mock('unbash', () => ({}))`, 'isolated'],
    [`it('is', () => {\n  vi.doMock('unbash')\n})`, 'isolated'],
  ])('%j is %s', (source, project) => {
    expect(projectOf('test/a/one.test.ts', source)).toBe(project)
  })

  it('that says so in its name belongs to the whole', () => {
    expect(projectOf('test/cli/one.whole.test.ts', '')).toBe('whole')
  })
})
