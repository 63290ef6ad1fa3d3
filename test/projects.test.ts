import { describe, expect, it } from 'vitest'
import { projectOf } from './projects.js'

/** The project of a file among these files. */
function projectIn(files: Readonly<Record<string, string>>, file = 'test/a/one.test.ts'): string {
  return projectOf(
    file,
    (path) => files[path] ?? '',
    (path) => path in files,
  )
}

describe('a file of tests', () => {
  it.each([
    [`import { readFileSync } from 'node:fs'`, 'pure'],
    [`import { spawn } from 'node:child_process'`, 'process'],
    [`import {\n  execFileSync,\n  spawn,\n} from 'node:child_process'`, 'process'],
    [`const { spawn } = await import('node:child_process')`, 'process'],
    [`import type { ChildProcess } from 'node:child_process'`, 'pure'],
    [`import { build } from 'esbuild'`, 'process'],
    [`import { command } from '../../src/runners/command/command-hook.js'`, 'pure'],
    [`import { vi } from 'vitest'\nvi.mock('unbash', () => ({}))`, 'isolated'],
  ])('%j is %s', (text, project) => {
    expect(projectIn({ 'test/a/one.test.ts': text })).toBe(project)
  })

  it('that says so in its name belongs to the whole', () => {
    expect(projectIn({}, 'test/cli/one.whole.test.ts')).toBe('whole')
  })

  it('starts what its helpers start', () => {
    const files = {
      'test/a/one.test.ts': `import { place } from './place.js'`,
      'test/a/place.ts': `import { world } from '../b/world.js'\nimport { one } from './one.test.js'`,
      'test/b/world.ts': `import { spawn } from 'node:child_process'`,
    }
    expect(projectIn(files)).toBe('process')
    expect(projectIn({ ...files, 'test/b/world.ts': '' })).toBe('pure')
  })
})
