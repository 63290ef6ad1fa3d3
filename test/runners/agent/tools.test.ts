// What the model of an agent hook can see of a real folder, and what it cannot.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProjectFolder } from '../../../src/runners/agent/project-folder.js'
import { Tools } from '../../../src/runners/agent/tools.js'
import { isLarge } from '../../property/runs.js'

let outer: string
let project: string
let tools: Tools
const SECRET = 'the secret outside'

beforeEach(async () => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-tools-')))
  project = join(outer, 'project')
  mkdirSync(project)
  file('../secret.txt', SECRET)
  mkdirSync(join(outer, 'project-evil'))
  file('../project-evil/secret.txt', SECRET)
  tools = await made()
})

afterEach(() => rmSync(outer, { recursive: true, force: true }))

const made = async (signal = new AbortController().signal) =>
  new Tools(await ProjectFolder.at(project), signal)

function file(name: string, text: string | Buffer): void {
  mkdirSync(join(project, name, '..'), { recursive: true })
  writeFileSync(join(project, name), text)
}

let ids = 0
const use = (name: string, input: unknown, with_ = tools) =>
  with_.use({ id: `${++ids}`, name, input: typeof input === 'string' ? input : JSON.stringify(input) })
const text = async (name: string, input: unknown) => {
  const { type, value } = await use(name, input)
  expect(type, value).toBe('text')
  return value
}
const refusal = async (name: string, input: unknown) => {
  const { type, value } = await use(name, input)
  expect(type, value).toBe('error-text')
  return value
}

describe('read', () => {
  it('shows lines with their numbers', async () => {
    file('src/a.ts', 'one\ntwo\nthree\n')
    expect(await text('read', { path: 'src/a.ts' })).toBe('1\tone\n2\ttwo\n3\tthree')
    expect(await text('read', { path: join(project, 'src/a.ts') })).toContain('one')
    expect(await text('read', { path: 'src/../src/./a.ts', from_line: 2, lines: 1 })).toBe(
      '2\ttwo\n[1 more lines]',
    )
    expect(await text('read', { path: 'src/a.ts', from_line: 9 })).toBe('[it has 3 lines]')
  })

  it('is bounded: lines, bytes, and all results together', async () => {
    file('wide.txt', 'x'.repeat(50_000))
    expect((await text('read', { path: 'wide.txt' })).length).toBeLessThan(1100)
    file('long.txt', `${'y'.repeat(99)}\n`.repeat(100_000))
    const first = await text('read', { path: 'long.txt' })
    expect(Buffer.byteLength(first)).toBe(32 * 1024)
    expect(first).toMatch(/\[cut here\]$/)
    let total = Buffer.byteLength(first)
    for (let i = 0; i < 30; i++) {
      const { type, value } = await use('read', { path: 'long.txt' })
      if (type === 'error-text') break
      total += Buffer.byteLength(value)
    }
    expect(total).toBeLessThanOrEqual(512 * 1024)
    expect(await refusal('read', { path: 'wide.txt' })).toContain('you cannot read any more')
  })

  it('does not show binary files', async () => {
    file('image.png', Buffer.from([0x89, 0x50, 0, 1, 2]))
    expect(await refusal('read', { path: 'image.png' })).toBe('it is not a text file (5 bytes)')
  })

  it.each([
    '../secret.txt',
    'src/../../secret.txt',
    '../project-evil/secret.txt',
    '/etc/passwd',
    '/proc/self/environ',
    '/no/such/file',
  ])('does not leave the project, nor tell what is there: %s', async (path) => {
    expect(await refusal('read', { path })).toBe(`${path} is outside the project, or leads out of it`)
  })

  it('does not follow a link out, of a file or of a folder', async () => {
    symlinkSync(join(outer, 'secret.txt'), join(project, 'link.txt'))
    symlinkSync('../secret.txt', join(project, 'relative.txt'))
    symlinkSync(outer, join(project, 'folder'))
    symlinkSync('link.txt', join(project, 'twice.txt'))
    symlinkSync('/proc/self/environ', join(project, 'environ'))
    for (const path of ['link.txt', 'relative.txt', 'folder/secret.txt', 'twice.txt', 'environ']) {
      expect(await refusal('read', { path })).toContain('outside the project')
    }
  })

  it('follows a link inside', async () => {
    file('real.txt', 'here')
    symlinkSync('real.txt', join(project, 'link.txt'))
    expect(await text('read', { path: 'link.txt' })).toBe('1\there')
  })

  it('opens neither folders nor pipes nor devices', async () => {
    execFileSync('mkfifo', [join(project, 'pipe')])
    symlinkSync('/dev/zero', join(project, 'zero'))
    expect(await refusal('read', { path: 'pipe' })).toBe('pipe is not a regular file')
    expect(await refusal('read', { path: '.' })).toBe('. is not a regular file')
    // To open a socket would fail otherwise.
    const server = createServer().listen(join(project, 'socket'))
    await once(server, 'listening')
    expect(await refusal('read', { path: 'socket' })).toBe('socket is not a regular file')
    server.close()
    expect(await refusal('read', { path: 'zero' })).toContain('outside the project')
  })

  it.each([
    [{}, '"path" must be a string'],
    [{ path: 7 }, '"path" must be a string'],
    [{ path: '' }, '"path" must be a string'],
    [{ path: 'a\0b' }, 'may not contain a NUL'],
    [{ path: 'gone.txt' }, 'there is no gone.txt'],
    [{ path: 'x', from_line: -1 }, '"from_line" must be a whole number of at least 1'],
    [{ path: 'x', lines: 1.5 }, '"lines" must be a whole number of at least 1'],
    ['[1]', 'must be a JSON object'],
    ['{"path": ', 'must be a JSON object'],
    ['', '"path" must be a string'],
  ])('refuses %j', async (input, words) => {
    expect(await refusal('read', input)).toContain(words)
  })

  it.runIf(isLarge)('is not led out by a folder that is exchanged for a link meanwhile', async () => {
    mkdirSync(join(project, 'inner'))
    file('inner/secret.txt', 'harmless')
    symlinkSync(outer, join(project, 'trap'))
    let over = false
    const swapping = (async () => {
      while (!over) {
        renameSync(join(project, 'inner'), join(project, 'aside'))
        renameSync(join(project, 'trap'), join(project, 'inner'))
        await new Promise(setImmediate)
        renameSync(join(project, 'inner'), join(project, 'trap'))
        renameSync(join(project, 'aside'), join(project, 'inner'))
        await new Promise(setImmediate)
      }
    })()
    const values: string[] = []
    for (let i = 0; i < 300; i++)
      values.push((await use('read', { path: 'inner/secret.txt' }, await made())).value)
    over = true
    await swapping
    expect(values.filter((value) => value.includes(SECRET))).toEqual([])
  })
})

describe('glob', () => {
  beforeEach(() => {
    for (const name of [
      'a.ts',
      'src/b.ts',
      'src/deep/c.tsx',
      'src/deep/d.js',
      '.env',
      'node_modules/x/e.ts',
      '.git/config',
    ])
      file(name, 'x')
  })

  it.each([
    ['*.ts', 'a.ts src/b.ts'],
    ['./a.ts', 'a.ts'],
    ['src/*.ts', 'src/b.ts'],
    ['src/**/*.js', 'src/deep/d.js'],
    ['**/*.{ts,tsx}', 'a.ts src/b.ts src/deep/c.tsx'],
    ['{a,{b,c}}.ts{,x}', 'a.ts src/b.ts src/deep/c.tsx'],
    ['{{a,b},{x,src/deep/c}}.ts*', 'a.ts src/deep/c.tsx'],
    ['{a.ts', '[none]'],
    ['src/**', 'src/b.ts src/deep/c.tsx src/deep/d.js'],
    ['[ab].ts', 'a.ts src/b.ts'],
    ['[!a].ts', 'src/b.ts'],
    ['?.ts', 'a.ts src/b.ts'],
    ['.env', '.env'],
    ['a+ts', '[none]'],
    ['(a', '[none]'],
  ])('%s', async (pattern, found) => {
    expect((await text('glob', { pattern })).split('\n').join(' ')).toBe(found)
  })

  it('sees folders that are otherwise left out if they are named', async () => {
    expect(await text('glob', { pattern: '*.ts', path: 'node_modules' })).toBe('node_modules/x/e.ts')
    expect(await text('glob', { pattern: '**', path: '.git' })).toBe('.git/config')
  })

  it('goes through no link, and starts nowhere outside', async () => {
    symlinkSync(outer, join(project, 'out'))
    symlinkSync('.', join(project, 'self'))
    expect(await text('glob', { pattern: 'secret.txt' })).toBe('[none]')
    for (const path of ['out', '..', '/']) {
      expect(await refusal('glob', { pattern: '*', path })).toContain('outside the project')
    }
  })

  it('ends when it is aborted', async () => {
    const controller = new AbortController()
    const answer = use('glob', { pattern: '*' }, await made(controller.signal))
    controller.abort(new Error('overdue'))
    await expect(answer).rejects.toThrow('overdue')
  })

  it('shows a name with a line end as one', async () => {
    file('x\na.ts', 'x')
    expect(await text('glob', { pattern: '**/x*' })).toBe('"x\\na.ts"')
  })

  it('shows at most 200', async () => {
    for (let i = 0; i < 230; i++) file(`many/${String(i).padStart(3, '0')}.txt`, '')
    const lines = (await text('glob', { pattern: 'many/*.txt' })).split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([201, '[30 more]'])
  })
})

describe('grep', () => {
  beforeEach(() => {
    file('a.ts', 'const token = 1\nconst other = 2\n')
    file('src/b.js', 'token()\n')
    file('binary', Buffer.from('token\0'))
  })

  it('shows where it is found', async () => {
    expect(await text('grep', { pattern: 'token' })).toBe('a.ts:1: const token = 1\nsrc/b.js:1: token()')
    expect(await text('grep', { pattern: 'token|other', glob: '*.ts' })).toBe(
      'a.ts:1: const token = 1\na.ts:2: const other = 2',
    )
    expect(await text('grep', { pattern: '^token\\(', path: 'src' })).toBe('src/b.js:1: token()')
    expect(await text('grep', { pattern: 'other', path: 'a.ts' })).toBe('a.ts:2: const other = 2')
    expect(await text('grep', { pattern: 'nowhere' })).toBe('[none]')
  })

  it.each(['(', '(?=x)', '(a)\\1', 'x{1,100000}', 'x'.repeat(400)])(
    'refuses the pattern %s',
    async (pattern) => {
      expect(await refusal('grep', { pattern })).toMatch(/not a valid regular expression|linear time|at most/)
    },
  )

  it('takes no longer for a pattern that runs away elsewhere', async () => {
    file('evil.txt', `${'a'.repeat(900)}!\n`.repeat(50))
    expect(await text('grep', { pattern: '^(a+)+$', path: 'evil.txt' })).toBe('[none]')
  })

  it('does not read through links', async () => {
    symlinkSync(join(outer, 'secret.txt'), join(project, 'link.txt'))
    expect(await text('grep', { pattern: 'secret' })).toBe('[none]')
    expect(await refusal('grep', { pattern: 'secret', path: 'link.txt' })).toContain('outside')
  })

  it('shows at most 200', async () => {
    file('many.txt', 'hit\n'.repeat(500))
    const lines = (await text('grep', { pattern: 'hit' })).split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([201, '[and maybe more]'])
  })

  it('ends when it is aborted', async () => {
    for (let i = 0; i < 50; i++) file(`big/${i}.txt`, 'line\n'.repeat(20_000))
    const controller = new AbortController()
    const answer = use('grep', { pattern: 'nowhere(x|y|z)*' }, await made(controller.signal))
    controller.abort(new Error('overdue'))
    await expect(answer).rejects.toThrow('overdue')
  })
})

it('there is no other tool', async () => {
  for (const name of ['bash', 'write', 'constructor', '__proto__', 'use']) {
    expect(await refusal(name, {})).toContain('use read, glob or grep')
  }
})
