// The example plugins: each script run for real, in a project whose name a careless script takes apart.

import { accessSync, constants, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  EXAMPLES,
  hasPython,
  needsPython,
  PLUGINS,
  PluginProject,
  pathWith,
  type Ran,
  TOOLS,
} from './plugin-project.js'

let project: PluginProject
beforeAll(() => {
  project = new PluginProject()
})
afterAll(() => project.remove())

const SILENT: Ran = { code: 0, stdout: '', stderr: '', answer: undefined }
const ODD_NAME = `a "b" 'c' $(d) ünï 💥`

const bash = (command: unknown) => ({ tool_name: 'Bash', tool_input: { command } })
const write = (file_path: unknown, content: unknown = '') => ({
  tool_name: 'Write',
  tool_input: { file_path, content },
  cwd: project.dir,
})

/** Whatever an agent sends in place of what it should. */
const ODD = ['null', '"text"', '{}', '{"tool_input":null}', '{"tool_input":"x"}']
const ODD_FIELDS = ['null', '7', '{"a":1}']

/** Every test starts processes of its own, and none depends on how fast they are. */
const AT_ONCE = { concurrent: true, timeout: 120_000 }
const IN_ORDER = { timeout: 120_000 }

describe.for(PLUGINS)('%s', AT_ONCE, (plugin) => {
  const run = (payload: unknown) => project.run(plugin, payload)
  const runs = it.skipIf(needsPython(plugin) && !hasPython)

  it('is a folder with hooks.json, README.md and a program that may be run', () => {
    const files = readdirSync(join(EXAMPLES, plugin)).filter((name) => name !== 'hooks.test.json')
    expect(files).toHaveLength(3)
    expect(files).toEqual(expect.arrayContaining(['README.md', 'hooks.json']))
    const program = files.find((name) => !/^(README\.md|hooks\.json)$/.test(name)) ?? ''
    const path = join(EXAMPLES, plugin, program)
    expect(() => accessSync(path, constants.X_OK)).not.toThrow()
    expect(statSync(path).mode & 0o022).toBe(0)
    expect(project.handler(plugin)).toMatchObject({
      command: `"\${CLAUDE_PLUGIN_ROOT}/${program}"`,
      timeout: expect.any(Number),
      matcher: expect.any(String),
    })
  })

  runs.for(ODD)('has nothing to say about %s', async (payload) => {
    expect(await run(payload)).toEqual(SILENT)
  })

  runs.for(ODD_FIELDS)('has nothing to say about fields that are %s', async (json) => {
    const value = JSON.parse(json)
    expect(await run(write(value, value))).toEqual(SILENT)
  })

  runs.for(['', '{"tool_input":'])('fails, and does not block, where the event is %j', async (payload) => {
    const { code, stdout, stderr } = await run(payload)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^${plugin}: .+\n$`))
  })
})

describe('bash-validator', AT_ONCE, () => {
  const run = (command: unknown) => project.run('bash-validator', bash(command))

  it.for<[string, string]>([
    ['rm -rf /', 'deletes a top-level folder or a home folder'],
    ['rm -fr /*', 'deletes a top-level'],
    ['rm / -rf', 'deletes a top-level'],
    ['sudo rm -r -f /etc', 'deletes a top-level'],
    ['cd x && /bin/rm --recursive --force ~', 'deletes a top-level'],
    ['rm -rf "$HOME"', 'deletes a top-level'],
    [`rm -rf $\{HOME}/'*'`, 'deletes a top-level'],
    ['rm -rf --no-preserve-root -- /', 'deletes a top-level'],
    ['rm -rf \\\n  /', 'deletes a top-level'],
    ['ls\nrm -rf ~/', 'deletes a top-level'],
    ['bash -c "rm -rf /"', 'deletes a top-level'],
    ['echo $(rm -rf /usr)', 'deletes a top-level'],
    ['dd if=/dev/zero of=/dev/sda', 'copies raw data with dd'],
    ['mkfs.ext4 /dev/sdb1', 'makes a new file system'],
    ['yes > /dev/sda', 'writes straight onto a disk'],
    [':(){ :|:& };:', 'is a fork bomb'],
    [':() { : | : & } ; :', 'is a fork bomb'],
  ])('blocks %j', async ([command, what]) => {
    const { code, stderr, answer } = await run(command)
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(answer).toEqual({
      decision: 'block',
      reason: expect.stringContaining(`This command ${what}`),
      systemMessage: expect.stringContaining(what),
    })
  })

  it('blocks a command that is a list of words', async () => {
    expect((await run(['bash', '-lc', 'rm -rf /'])).code).toBe(2)
  })

  it.for([
    'ls -la',
    '',
    'rm -rf build',
    'rm -rf ./build /home/me/shop/build',
    'rm -rf build 2> /dev/null',
    'rm -rf build; ls /',
    'rm -rf build\nls /',
    'rm notes.txt',
    'grep -r rm /usr',
    'ls -r /',
    'add if=3',
    'npm run mkfs-test',
    'git commit -m "ünï 💥 `ls` $(ls)"',
    '-n -e "\\"',
  ])('lets %j pass', async (command) => {
    expect(await run(command)).toEqual(SILENT)
  })

  it('reads a long command to its end', async () => {
    expect(await run(`echo ${'y'.repeat(300_000)}`)).toEqual(SILENT)
    expect((await run(`echo ${'y'.repeat(300_000)}; rm -rf /`)).code).toBe(2)
  })

  it('runs nothing of the command', async () => {
    const marker = join(project.dir, 'marker')
    const command = ['$(touch marker)', '`touch marker`', '"; touch marker; "', "'; touch marker; '"].join(
      '\n',
    )
    expect((await run(command)).code).toBe(0)
    expect(() => statSync(marker)).toThrow('ENOENT')
  })
})

describe('command-logger', IN_ORDER, () => {
  const LOG = 'bash-commands.log'
  const run = (event: object) => project.run('command-logger', event)
  const entries = () =>
    project
      .read(LOG)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))

  it('appends a line for each command, whatever is in it, for its owner alone', async () => {
    rmSync(join(project.dir, LOG), { force: true })
    const commands = ['ls', 'echo "a\nb" > \'c\' # $(d) `e` ünï 💥', '-n', 'printf %s\\n']
    for (const command of commands) {
      const event = { ...bash(command), session_id: 's-1', timestamp: '2026-01-06T19:48:34Z' }
      expect(await run(event)).toEqual(SILENT)
    }
    expect(entries()).toEqual(
      commands.map((command) => ({ time: '2026-01-06T19:48:34Z', session: 's-1', command })),
    )
    expect(statSync(join(project.dir, LOG)).mode & 0o077).toBe(0)
  })

  it('knows the time by itself, and does without a session', async () => {
    await run(bash('pwd'))
    expect(entries().at(-1)).toEqual({ time: expect.stringMatching(/^\d{4}-.*Z$/), command: 'pwd' })
  })

  it('fails where it cannot write, and never with the code that blocks', async () => {
    const noFolder = await project.run('command-logger', bash('ls'), {
      AMPLIFIER_PROJECT_DIR: '/no/such/folder',
    })
    expect(noFolder.code).toBe(1)
    expect(noFolder.stderr).toContain('command-logger: could not write')
    const unset = await project.run('command-logger', bash('ls'), { AMPLIFIER_PROJECT_DIR: undefined })
    expect({ code: unset.code, stderr: unset.stderr }).toEqual({
      code: 1,
      stderr: 'command-logger: AMPLIFIER_PROJECT_DIR is not set\n',
    })
  })
})

describe('the shell scripts', AT_ONCE, () => {
  it('need node and what every system has, and no jq', async () => {
    const PATH = pathWith(project.dir, ['node', ...TOOLS])
    expect((await project.run('bash-validator', bash('rm -rf /'), { PATH })).code).toBe(2)
    expect(await project.run('bash-validator', bash('ls'), { PATH })).toEqual(SILENT)
    expect(await project.run('command-logger', bash('ls'), { PATH })).toEqual(SILENT)
  })

  it('fail without node: a guard that could not look must not look like one that approved', async () => {
    const PATH = pathWith(project.dir, TOOLS)
    for (const plugin of ['bash-validator', 'command-logger'] as const) {
      const { code, stderr } = await project.run(plugin, bash('rm -rf /'), { PATH })
      expect(code).toBe(1)
      expect(stderr).toMatch(new RegExp(`^${plugin}: .* node must be installed\n$`))
    }
    expect(project.handler('bash-validator').onFailure).toBe('block')
  })

  it('fail where grep fails', async () => {
    const PATH = pathWith(project.dir, ['node', 'tr'])
    const { code, stderr } = await project.run('bash-validator', bash('ls'), { PATH })
    expect(code).toBe(1)
    expect(stderr).toContain('bash-validator: could not run grep')
  })
})

describe('formatter', AT_ONCE, () => {
  const format = async (path: string, content: string | Uint8Array) => {
    project.file(path, content)
    const { code, stderr, answer } = await project.run('formatter', write(path))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return { said: answer?.systemMessage, now: project.read(path) }
  }

  it('formats and says what it did', async () => {
    expect(await format('a.ts', 'const a = 1  \nconst b = 2\t\nconst c = 3')).toEqual({
      said: 'Formatted a.ts: removed trailing whitespace from 2 lines, added a line break at the end',
      now: 'const a = 1\nconst b = 2\nconst c = 3\n',
    })
    expect(await format('b.js', 'a() \n\n \n')).toEqual({
      said: 'Formatted b.js: removed trailing whitespace from 2 lines, removed empty lines at the end',
      now: 'a()\n',
    })
  })

  it.for<[string, string]>([
    ['empty.js', ''],
    ['same.js', 'a()\n'],
    ['windows.js', 'a()\r\n'],
  ])('leaves %s as it is, and says nothing', async ([path, content]) => {
    expect(await format(path, content)).toEqual({ said: undefined, now: content })
  })

  it('keeps Windows line breaks', async () => {
    expect((await format('w.ts', 'a() \r\nb()')).now).toBe('a()\r\nb()\r\n')
  })

  it('keeps a byte order mark and every character', async () => {
    expect((await format('bom.ts', '\uFEFFa("ünï 💥") ')).now).toBe('\uFEFFa("ünï 💥")\n')
  })

  it('keeps what may belong to a template literal', async () => {
    const { now } = await format('t.ts', 'a() \nb(`x  \ny  \n`)  \nc() \n')
    expect(now).toBe('a()\nb(`x  \ny  \n`)\nc()\n')
  })

  it('keeps the line breaks of Markdown', async () => {
    expect((await format('m.md', 'one  \ntwo \n  \nthree\t\n')).now).toBe('one  \ntwo\n\nthree\n')
  })

  it('formats a file with an odd name', async () => {
    const { said, now } = await format(`${ODD_NAME}/${ODD_NAME}.js`, 'a() \n')
    expect(said).toContain(ODD_NAME)
    expect(now).toBe('a()\n')
  })

  it.for(['a.txt', 'a.py', 'Makefile', 'a.ts.bak'])('leaves %s alone', async (path) => {
    expect(await format(path, 'a  ')).toEqual({ said: undefined, now: 'a  ' })
  })

  it('finds a file by its absolute path, and without cwd', async () => {
    project.file('abs.js', 'a() ')
    const absolute = join(project.dir, 'abs.js')
    await project.run('formatter', { tool_input: { file_path: absolute } })
    expect(project.read('abs.js')).toBe('a()\n')
    project.file('rel.js', 'a() ')
    await project.run('formatter', { tool_input: { file_path: 'rel.js' } })
    expect(project.read('rel.js')).toBe('a()\n')
  })

  it('fails where the file cannot be read, or is no text', async () => {
    expect(await project.run('formatter', write('gone.js'))).toMatchObject({ code: 1, stdout: '' })
    const path = project.file('latin.js', Uint8Array.of(0x61, 0x20, 0xe9, 0x20))
    expect(await project.run('formatter', write(path))).toMatchObject({ code: 1, stdout: '' })
    expect(statSync(join(project.dir, path)).size).toBe(4)
  })
})

describe('format-check', AT_ONCE, () => {
  const check = (path: string, content: string) => project.run('format-check', write(path, content))

  it.for<[string, string, string]>([
    ['a.json', '{\n  "a": 1,\n}', 'line 3 is not valid JSON'],
    ['a.JSON', '{"a"', 'not valid JSON'],
    ['empty.json', '', 'it is not valid JSON (Unexpected end of JSON input)'],
    ['package.json', '// no\n{}', 'not valid JSON'],
    ['a.ipynb', "{'cells': []}", 'not valid JSON'],
    ['a.jsonl', '{"a":1}\n\n{"b":}\n', 'line 3 is not valid JSON'],
    [`${ODD_NAME}.json`, 'ünï 💥', 'not valid JSON'],
  ])('blocks %s with %j', async ([path, content, problem]) => {
    const { code, stderr, answer } = await check(path, content)
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(answer).toEqual({
      decision: 'block',
      reason: expect.stringContaining(problem),
      systemMessage: `Blocked a malformed file: ${path}`,
    })
    expect(answer?.reason).toMatch(/^.* was not written: .*\. Correct the content and write it again\.$/)
  })

  it.for<[string, string]>([
    ['a.json', '{"a": [1, "ünï 💥"]}\n'],
    ['bom.json', '\uFEFF{}'],
    ['a.jsonl', '{"a":1}\r\n[2]\n'],
    ['tsconfig.build.json', '// with comments\n{}'],
    ['.vscode/settings.json', '{ /* too */ }'],
    ['a.txt', '{'],
    ['json', '{'],
    ['a.constructor', '{'],
  ])('lets %s with %j be written', async ([path, content]) => {
    expect(await check(path, content)).toEqual(SILENT)
  })
})

describe.skipIf(!hasPython)('file-guard (needs python3)', AT_ONCE, () => {
  const guard = (tool_input: object, cwd: unknown = project.dir) =>
    project.run('file-guard', { tool_name: 'Write', tool_input, cwd })

  it.for([
    '.env.production',
    'config/.env.production',
    '.ENV.Production',
    'package-lock.json',
    '.git/hooks/pre-commit',
    'src/../.git/config',
    '/somewhere/else/.git/config',
    `${ODD_NAME}/.env.production`,
  ])('blocks %s', async (file_path) => {
    const { code, stderr, answer } = await guard({ file_path })
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(answer).toEqual({
      decision: 'block',
      reason: expect.stringContaining(`${file_path} is a protected file`),
      systemMessage: expect.stringContaining(file_path),
    })
  })

  it('blocks a link that leads to a protected file', async () => {
    project.file('deploy/.env.production', '')
    symlinkSync('deploy/.env.production', join(project.dir, 'harmless.txt'))
    expect((await guard({ file_path: 'harmless.txt' })).code).toBe(2)
  })

  it('blocks a notebook, and does without a good cwd', async () => {
    expect((await guard({ notebook_path: '.git/a.ipynb' })).code).toBe(2)
    expect((await guard({ file_path: '.env.production' }, 7)).code).toBe(2)
    expect((await project.run('file-guard', { tool_input: { file_path: '.git/config' } })).code).toBe(2)
  })

  it.for([
    'src/app.ts',
    '.env',
    '.gitignore',
    'my.git/config',
    'docs/package-lock.json.md',
    `${ODD_NAME}.txt`,
    'nul\0.txt',
    'half \ud83d.txt',
  ])('lets %j be changed', async (file_path) => {
    expect(await guard({ file_path })).toEqual(SILENT)
  })

  it('does not protect a project for the folder it lies in', async () => {
    const dir = join(project.dir, '.git', 'worktree')
    mkdirSync(dir, { recursive: true })
    const event = { tool_input: { file_path: 'src/app.ts' }, cwd: dir }
    expect(await project.run('file-guard', event, { AMPLIFIER_PROJECT_DIR: dir })).toEqual(SILENT)
  })

  it('stays closed if it fails', () => {
    expect(project.handler('file-guard').onFailure).toBe('block')
  })
})

describe.skipIf(!hasPython)('lint-feedback (needs python3)', AT_ONCE, () => {
  const lint = async (path: string, content: string | Uint8Array) => {
    project.file(path, content)
    const { code, stderr, answer } = await project.run('lint-feedback', write(path))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return answer
  }

  it('tells the agent what is wrong, line by line, and the user how much', async () => {
    const source = [
      'import os, sys',
      'from json import loads as read',
      'def f(a=[], *, b={}):',
      '    try:',
      '        return sys.argv',
      '    except:',
      '        pass',
      '',
    ]
    expect(await lint('a.py', source.join('\n'))).toEqual({
      contextInjection: [
        'lint-feedback found in a.py:',
        '- line 1: os is imported and not used',
        '- line 2: read is imported and not used',
        '- line 3: a mutable default value is shared by all calls',
        '- line 6: a bare except also catches KeyboardInterrupt and SystemExit',
      ].join('\n'),
      systemMessage: 'Found 4 lint issues in a.py',
    })
  })

  it('names the line of a syntax error', async () => {
    const answer = await lint('b.py', 'a = 1\nprint(a\n')
    expect(answer?.contextInjection).toMatch(/^lint-feedback found in b\.py:\n- line [23]: .+$/)
    expect(answer?.systemMessage).toBe('Found 1 lint issue in b.py')
  })

  it.for<[string, string | Uint8Array]>([
    ['clean.py', 'import os.path\nprint(os.path, "ünï 💥")\n'],
    ['strings.py', 'from a import B\nfrom c import D as D\n__all__ = ["B"]\n'],
    ['future.py', 'from __future__ import annotations\nfrom a import *\n'],
    ['pkg/__init__.py', 'from a import b\n'],
    ['empty.py', ''],
    ['latin.py', Uint8Array.from(Buffer.from('# -*- coding: latin-1 -*-\na = "\xe9"\n', 'latin1'))],
    ['notes.txt', 'import os\n'],
  ])('has nothing to say about %s', async ([path, content]) => {
    expect(await lint(path, content)).toBeUndefined()
  })

  it('looks at a file with an odd name', async () => {
    expect((await lint(`${ODD_NAME}.py`, 'import os\n'))?.contextInjection).toContain(ODD_NAME)
  })

  it('does not drown the agent', async () => {
    const answer = await lint('many.py', Array.from({ length: 50 }, (_, i) => `import m${i}\n`).join(''))
    const lines = String(answer?.contextInjection).split('\n')
    expect(lines).toHaveLength(22)
    expect(lines.at(-1)).toBe('- and 30 more')
    expect(answer?.systemMessage).toBe('Found 50 lint issues in many.py')
  })

  it.for<[string, string]>([
    ['a NUL', '\0'],
    ['deep nesting', '('.repeat(5000)],
    ['an escape that is none', 'x = "\\d"\n'],
  ])('survives %s', async ([name, content]) => {
    const path = project.file(`${name}.py`, content)
    expect((await project.run('lint-feedback', write(path))).code).toBe(0)
  })

  it('fails where the file cannot be read, which is not the same as clean', async () => {
    for (const path of ['gone.py', 'nul\0.py']) {
      const { code, stdout, stderr } = await project.run('lint-feedback', write(path))
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^lint-feedback: could not check: .+\n$/)
    }
  })
})
