// The stamp of code: what changes it, and what leaves it unknown.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Code, CodeStamps, namedFiles } from '../../../src/runners/program/code-stamp.js'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner code ')))
  later()
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

/** So much that every file is old enough for a stamp. */
function later(): void {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + 60_000)
}

const at = (name: string) => join(folder, name)
function write(name: string, text = name): string {
  mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at(name), text)
  return at(name)
}
const stampOf = (code: Partial<Code>) => new CodeStamps().of({ files: [], ...code })

/** The script of a hook, and everything that its folder and its imports bring. */
function scripts(): Code {
  const files = [write('hooks/gate.mjs', `import '../lib/rules.mjs'`)]
  write('lib/rules.mjs', `export * from './deep/more.mjs'`)
  write('lib/deep/more.mjs')
  write('hooks/beside.py')
  write('hooks/below/beside.py')
  write('elsewhere/real.py')
  symlinkSync(at('elsewhere/real.py'), at('hooks/link.py'))
  symlinkSync(at('hooks'), at('hooks/circle'))
  return { files }
}

describe('a stamp changes', () => {
  test.each([
    'hooks/gate.mjs',
    'lib/rules.mjs',
    'lib/deep/more.mjs',
    'hooks/beside.py',
    'hooks/below/beside.py',
    'hooks/new.py',
    'elsewhere/real.py',
  ])('with %s', (name) => {
    const code = scripts()
    const before = stampOf(code)
    expect([before, stampOf(code)]).toEqual([expect.any(String), before])
    write(name, 'changed')
    expect(stampOf(code)).not.toBe(before)
  })

  test('with any file of a plugin, but not with its logs and caches', () => {
    write('plugin/a/b.txt')
    write('plugin/node_modules/.package-lock.json')
    const code = { folder: at('plugin') }
    const before = stampOf(code)
    for (const name of ['a/hook.log', 'a/__pycache__/b.pyc', '.git/index']) write(`plugin/${name}`)
    expect(stampOf(code)).toBe(before)
    write('plugin/node_modules/.package-lock.json', 'changed')
    const installed = stampOf(code)
    rmSync(at('plugin/a/b.txt'))
    expect(new Set([before, installed, stampOf(code)]).size).toBe(3)
  })

  test('but not with hidden files beside a script, which may be in the home folder', () => {
    const code = { files: [write('home/gate.py')] }
    const before = stampOf(code)
    write('home/.local/state/x')
    expect(stampOf(code)).toBe(before)
  })

  test('even if the time of a file is set back', () => {
    const code = { files: [write('hooks/gate.py', 'one')] }
    utimesSync(at('hooks/gate.py'), 1, 1)
    const before = stampOf(code)
    write('hooks/gate.py', 'two')
    utimesSync(at('hooks/gate.py'), 1, 1)
    expect(stampOf(code)).not.toBe(before)
  })
})

test('Node.js and carabiner are not packages', () => {
  const names = ['node:fs', 'fs/promises', 'carabiner', 'carabiner/author'].map((name) => `import '${name}'`)
  const files = [write('gate.mjs', names.join('\n'))]
  expect(stampOf({ files, withoutPackages: true })).toEqual(expect.any(String))
})

describe('it is unknown whether code changes', () => {
  test('that changed just now', () => {
    const code = scripts()
    vi.restoreAllMocks()
    expect(stampOf(code)).toBeUndefined()
  })

  test('that has too many files', () => {
    for (let i = 0; i <= 2000; i++) write(`plugin/${i}`)
    expect(stampOf({ folder: at('plugin') })).toBeUndefined()
  })

  test('that imports too many files', () => {
    const names = Array.from({ length: 501 }, (_, i) => `import './x${i}.mjs'`)
    expect(stampOf({ files: [write('a.mjs', names.join('\n'))] })).toBeUndefined()
  })

  test.each([
    `import 'policy'`,
    `import policy from "@our/policy"`,
    `export * from '/srv/x.mjs'`,
    'await import(name)',
  ])('that imports a package, where these do not count: %s', (text) => {
    write('lib/rules.mjs', text)
    const code = { files: [write('hooks/gate.mjs', `import '../lib/rules.mjs'`)] }
    expect(stampOf(code)).toEqual(expect.any(String))
    expect(stampOf({ ...code, withoutPackages: true })).toBeUndefined()
  })
})

test('a program in a folder of $PATH counts alone', () => {
  const files = [write('bin/gate')]
  vi.stubEnv('PATH', `/bin:${at('bin')}`)
  try {
    const before = stampOf({ files })
    write('bin/other')
    expect(stampOf({ files })).toBe(before)
    write('bin/gate', 'changed')
    expect(stampOf({ files })).not.toBe(before)
  } finally {
    vi.unstubAllEnvs()
  }
})

describe('the files that a command names', () => {
  test.each<[string, readonly string[]]>([
    ['./gate.py', []],
    ['python3', ['gate.py']],
    ['python3', ['-u', '/HERE/gate.py', '--fast']],
    ['sh', ['-c', 'cd / && exec python3 "/HERE/gate.py" --x']],
    ['sh', ['-c', 'exec ~/gate.py']],
    ['node', ['--require=/HERE/gate.py']],
    ['gate.py', []],
  ])('%s %j', (file, args) => {
    const script = write('gate.py')
    const own = args.map((one) => one.replace('/HERE', folder))
    expect(namedFiles({ file, args: own, cwd: folder, env: { HOME: folder, PATH: folder } })).toEqual([
      script,
    ])
  })

  test('are neither words, folders and logs nor names that no file can have', () => {
    write('out.log')
    const args = ['a\0b', 'x'.repeat(5000), '.', 'out.log', '']
    expect(namedFiles({ file: 'sh', args, cwd: folder, env: {} })).toEqual([])
  })
})
