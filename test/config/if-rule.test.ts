import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'unbash'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { compileIf } from '../../src/config/if-rule.js'
import type { Data } from '../../src/core/base/json.js'
import { resolveEvent } from '../../src/core/events/events.js'
import { command, hooksFile, loadPlugin, only } from './temp-tree.js'

vi.mock('unbash', async (original) => {
  const unbash = await original<typeof import('unbash')>()
  return { ...unbash, parse: vi.fn(unbash.parse) }
})

const PRE = resolveEvent('PreToolUse')

function runs(rule: string, tool: string, event = PRE): boolean | string {
  const { condition } = compileIf(rule, event)
  return (
    condition?.({ name: event.name, data: { tool_name: tool, tool_input: {} }, session: undefined }) ?? true
  )
}

/** Whether the hook runs for this call, in /p. */
function runsFor(rule: string, tool: string, input: object): boolean {
  const data = { tool_name: tool, tool_input: input, cwd: '/p' } as Data
  return compileIf(rule, PRE).condition?.({ name: 'PreToolUse', data, session: undefined }) === true
}

describe('a pattern', () => {
  it.each([
    ['Bash(git *)', 'Bash', { command: 'git status' }, true],
    ['Bash(git *)', 'Bash', { command: 'ls' }, false],
    ['Bash(*)', 'Bash', { command: 'ls' }, true],
    ['Bash()', 'Bash', { command: 'ls' }, true],
    ['Bash(rm:*)', 'Bash', { command: 'rmdir x' }, false],
    ['Bash(npm test)', 'Bash', { command: 'npm test -s' }, false],
    ['Bash(rm *)', 'Bash', { command: "sudo sh -c '/bin/rm x'" }, true],
    ['Bash(rm *)', 'Bash', { command: 'echo "' }, true],
    ['Bash(rm *)', 'Bash', { command: 7 }, true],
    ['Bash(rm *)', 'Bash', {}, true],
    ['Bash(rm *)', 'Bash', { command: 'x'.repeat(10_000_000) }, true],
    ['Write(src/**)', 'Write', { file_path: '/p/src/a' }, true],
    ['Write(src/**)', 'Write', { file_path: '/p/lib/../src/a' }, true],
    ['Write(src/**)', 'Write', { file_path: '/p/lib/a' }, false],
    ['Read(*.env)', 'Read', { file_path: '/p/x/.env' }, true],
    ['Edit(src/**)', 'Edit', { file_path: '/q/src/a' }, false],
    ['Edit(**/src/**)', 'Edit', { file_path: '/q/src/a' }, true],
    ['Edit(src/**)', 'Write', { file_path: '/p/src/a' }, false],
    ['MultiEdit(src/**)', 'MultiEdit', { file_path: '/p/a' }, false],
    ['NotebookEdit(*.ipynb)', 'NotebookEdit', { notebook_path: '/p/a.ipynb' }, true],
    ['NotebookEdit(src/**)', 'NotebookEdit', { notebook_path: '/p/a.ipynb' }, false],
    ['Write(src/**)', 'Write', {}, true],
    ['WebFetch(domain:example.com)', 'WebFetch', { url: 'https://EXAMPLE.com:8/x' }, true],
    ['WebFetch(domain:example.com)', 'WebFetch', { url: 'https://example.com.evil.net' }, false],
    ['WebFetch(domain:*.example.com)', 'WebFetch', { url: 'https://a.example.com./' }, true],
    ['WebFetch(domain:example.com)', 'WebFetch', { url: 'no url' }, true],
    ['mcp__x__y(anything)', 'mcp__x__y', { a: 1 }, true],
    ['Agent(explore)', 'Agent', { subagent_type: 'other' }, true],
  ])('%s on %s %j: %s', (rule, tool, input, expected) => {
    expect(runsFor(rule, tool, input)).toBe(expected)
    expect(compileIf(rule, PRE).problem).toBeUndefined()
  })

  it.each(['Write(!src/**)', 'WebFetch(example.com)', 'Bash(a) || Write(b)', 'Bash(a), Bash(b)'])(
    '%j that cannot be read leaves the hook running, and that is said',
    (rule) => {
      const { condition, problem } = compileIf(rule, PRE)
      const tool = rule.slice(0, rule.indexOf('('))
      const data = {
        tool_name: tool,
        tool_input: { file_path: '/p/x', command: 'ls', url: 'http://y' },
        cwd: '/p',
      }
      expect(condition?.({ name: 'PreToolUse', data, session: undefined }) ?? true).toBe(true)
      expect(problem).toContain('"if": ')
    },
  )

  it('has the home that is given', () => {
    const data = { tool_name: 'Write', tool_input: { file_path: '/h/x.md' }, cwd: '/p' }
    const runsAt = (home?: string) =>
      compileIf('Write(~/*.md)', PRE, { home }).condition?.({ name: 'PreToolUse', data, session: undefined })
    expect([runsAt('/h'), runsAt('/other') === true, runsAt() === true]).toEqual([true, false, false])
  })

  it('that does not match says so', () => {
    const data = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    expect(compileIf('Bash(git *)', PRE).condition?.({ name: 'PreToolUse', data, session: undefined })).toBe(
      '"if": "Bash(git *)" is not for this call of Bash',
    )
  })
})

describe('a path that leads to a file', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(realpathSync(tmpdir()), 'carabiner-if-'))
    for (const folder of ['proj/secret/a', 'proj/sub/deep', 'home/.ssh', 'other'])
      mkdirSync(join(base, folder), { recursive: true })
    writeFileSync(join(base, 'proj/secret/k'), '')
    const links = [
      ['proj', 'pl'],
      ['proj/secret', 'proj/ln'],
      ['proj/secret/k', 'proj/kln'],
      ['home', 'hl'],
      ['proj/sub/deep', 'other/far'],
    ] as const
    for (const [to, from] of links) symlinkSync(join(base, to), join(base, from))
  })
  afterEach(() => rmSync(base, { recursive: true }))

  /** `@` is the folder around the project. */
  const at = (text: string) => text.replaceAll('@', base)
  const isMeant = (rule: string, path: string, cwd: string, project = '@/proj') => {
    const { condition } = compileIf(at(rule), PRE, { home: at('@/home'), projectDir: at(project) })
    const data = { tool_name: 'Write', tool_input: { file_path: at(path) }, cwd: at(cwd) }
    return condition?.({ name: 'PreToolUse', data, session: undefined }) === true
  }

  const RULES = [
    'Write(secret/**)',
    'Write(./secret/*)',
    'Write(/secret/**)',
    'Write(/@/proj/secret/**)',
    'Write(/@/pl/secret/**)',
    'Write(ln/**)',
    'Write(/ln)',
    'Write(sub/../secret/**)',
  ]
  const WRITTEN = [
    ...[
      '@/proj/secret/k',
      '@/proj//secret/./k',
      '@/proj/sub/../secret/k',
      '@/pl/secret/k',
      '@/proj/ln/k',
      '@/proj/kln',
    ],
    ...[
      '@/proj/secret/new/deep/x',
      '@/proj/ln/new/x',
      '@/proj/ln/../secret/k',
      '@/other/far/../../secret/k',
      '@/pl/ln/k',
    ],
    ...[
      'secret/k',
      '../secret/k',
      '/proc/self/cwd/secret/k',
      '/proc//self/./cwd/x',
      '/dev/fd/3',
      '@/proj/SECRET/k',
    ],
  ]
  it.each(RULES)('is meant by %s, however it is written and wherever the agent works', (rule) => {
    const missed = WRITTEN.flatMap((path) =>
      ['@/proj', '@/proj/sub', '@/pl', '@/pl/sub', '@/proj/secret'].flatMap((cwd) =>
        ['@/proj', '@/pl']
          .filter((project) => {
            // From there it is another file.
            const isOther = path === '../secret/k' && !cwd.endsWith('/sub') && !cwd.endsWith('/secret')
            return !isOther && !isMeant(rule, path, cwd, project)
          })
          .map((project) => [path, cwd, project]),
      ),
    )
    expect(missed).toEqual([])
  })

  it.each([
    ['Write(~/.ssh/**)', '@/home/.ssh/id'],
    ['Write(~/.ssh/**)', '@/hl/.ssh/id'],
    ['Write(~/.ssh/**)', '~/.ssh/id'],
    ['Write(/@/hl/**)', '@/home/x'],
  ])('is meant by %s in the home: %s', (rule, path) => expect(isMeant(rule, path, '@/proj')).toBe(true))

  it.each([
    ['Write(secret/**)', '@/proj/secret/k', true],
    ['Write(/@/other/**)', '@/other/x', true],
    ['Write(/@/other/**)', '@/other/far/x', false],
    ['Write(/@/other/**)', '@/other/far', false],
  ])('lets an allow with %s count for %s only if every link stays inside: %s', (rule, path, expected) => {
    const data = { tool_name: 'Write', tool_input: { file_path: at(path) }, cwd: at('@/proj') }
    const { isSure } = compileIf(at(rule), PRE, { projectDir: at('@/proj') })
    expect(isSure?.({ name: 'PreToolUse', data, session: undefined })).toBe(expected)
  })

  it.each([
    ['@/proj/secrets/k', '@/proj'],
    ['@/proj/sub/k', '@/proj'],
    ['@/other/secret/k', '@/proj'],
    ['secret/../sub/k', '@/proj'],
    ['@/proj/ln/../sub/k', '@/proj'],
  ])('is not meant if it is elsewhere: %s', (path, cwd) =>
    expect(isMeant('Write(secret/**)', path, cwd)).toBe(false),
  )
})

describe('an allow', () => {
  const isSure = (rule: string, tool: string, input: object) => {
    const data = { tool_name: tool, tool_input: input, cwd: '/p' } as Data
    return compileIf(rule, PRE).isSure?.({ name: 'PreToolUse', data, session: undefined })
  }
  const bash = (rule: string, command: string) => isSure(rule, 'Bash', { command })

  it.each([
    ['Bash(git status *)', 'git status -s'],
    ['Bash(git status *)', 'git status && git status "a b"'],
    ['Bash(git:*)', 'git log'],
    ['Bash', 'ls'],
    ['Bash(*)', 'ls'],
  ])('counts with %s for %s', (rule, command) => expect(bash(rule, command)).toBe(true))

  it.each([
    ...[
      'git -c core.fsmonitor=x status',
      './git status',
      '/tmp/git status',
      'git.exe status',
      'sudo git status',
    ],
    ...[
      'PATH=. git status',
      'git status > x',
      'git status; ls',
      'git status $X',
      'git status $(ls)',
      'git stat*',
    ],
    ...[
      'sh -c "git status"',
      'alias git=ls; git status',
      '{ git status; }',
      'echo "',
      'xargs git status',
      '',
    ],
  ])('does not count with Bash(git status *) for %s', (command) =>
    expect(bash('Bash(git status *)', command)).toBe(false),
  )

  it.each([
    ['Write(src/**)', 'Write', { file_path: '/p/src/a' }, true],
    ['Write(src/**)', 'Write', { file_path: '/p/src/../a' }, false],
    ['Write(src/**)', 'Write', { file_path: '/proc/self/cwd/src/a' }, false],
    ['Write(src/**)', 'Write', {}, false],
    ['Write(!src/**)', 'Write', { file_path: '/p/a' }, false],
    ['WebFetch(domain:a.b)', 'WebFetch', { url: 'https://a.b/' }, true],
    ['WebFetch(domain:a.b)', 'WebFetch', { url: 'a.b' }, false],
    ['Agent(explore)', 'Agent', { subagent_type: 'other' }, false],
    ['Task', 'Agent', {}, true],
    ['Task(explore)', 'Agent', {}, false],
    ['A|B', 'A', {}, false],
    ['', 'Bash', {}, undefined],
  ])('counts with %s for %s %j: %s', (rule, tool, input, expected) =>
    expect(isSure(rule, tool, input)).toBe(expected),
  )
})

describe('a rule', () => {
  it.each([
    ['Bash(git *)', 'Bash', true],
    ['Bash', 'Bash', true],
    ['Bash()', 'Bash', true],
    [' Bash(git *) ', 'Bash', true],
    ['Write(src/**)', 'Write', true],
    ['Edit(src/**)', 'Write', false],
    ['Bash(rm *)', 'Write', false],
    ['Bash(echo "a)b" (c))', 'Bash', true],
    ['Bash(echo\nx)', 'Bash', true],
    ['mcp__github__create_issue', 'mcp__github__create_issue', true],
    ['mcp__github', 'mcp__github__create_issue', true],
    ['mcp__github', 'mcp__githubber__x', false],
    ['Bash', 'Bash__x', false],
    ['mcp__github__*', 'mcp__github__create_issue', true],
    ['mcp__github__*', 'mcp__gitlab__x', false],
    ['Task', 'Agent', true],
    ['Task(explore)', 'Agent', true],
    ['Agent', 'Task', false],
  ])('%j on %s: %s', (rule, tool, expected) => {
    const answer = runs(rule, tool)
    if (expected) expect(answer).toBe(true)
    else expect(answer).toMatch(/^"if": ".*" is for the tool \S+, not for "/)
    expect(compileIf(rule, PRE).problem).toBeUndefined()
  })

  it.each(['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionRequest', 'PermissionDenied'])(
    'works on %s',
    (event) => {
      expect(runs('Bash(x)', 'Bash', resolveEvent(event))).toBe(true)
      expect(runs('Bash(x)', 'Read', resolveEvent(event))).not.toBe(true)
    },
  )

  it('on another event means that the hook never runs, as in Claude Code, and that is said', async () => {
    expect(runs('Bash(x)', 'Bash', resolveEvent('Stop'))).toBe(
      '"if" is for tool events; on Stop a hook with "if" never runs',
    )
    const config = await loadPlugin(hooksFile([command('x', { if: 'Bash' })], {}, 'Stop'))
    expect(config.specs).toHaveLength(1)
    expect(only(config)).toMatchObject({ code: 'unknown-key', line: expect.any(Number) })
  })

  it.each(['not a rule (', 'A|B', 'Write || Edit', '(x)', 'Bash(x) or Write(y', 'Bash)('])(
    '%j, which is none, leaves the hook running (≠C), and that is said',
    async (rule) => {
      expect(compileIf(rule, PRE).condition).toBeUndefined()
      const config = await loadPlugin(hooksFile([command('x', { if: rule })]))
      expect(config.specs[0]?.hook.condition).toBeUndefined()
      const diagnostic = only(config)
      expect(diagnostic.code).toBe('unknown-key')
      expect(diagnostic.text).toContain('is not a rule')
    },
  )

  it('that is empty is no filter', () => {
    expect(compileIf('', PRE)).toEqual({})
    expect(compileIf('  ', resolveEvent('Stop'))).toEqual({})
  })

  it('sees the tool as it is called now', async () => {
    const { specs } = await loadPlugin(hooksFile([command('x', { if: 'Bash(git *)' })]))
    const condition = specs[0]?.hook.condition
    const event = (tool: string) => ({ name: 'PreToolUse', data: { tool_name: tool }, session: undefined })
    expect(condition?.(event('Bash'))).toBe(true)
    expect(condition?.(event('Read'))).toContain('not for "Read"')
  })
})

describe('a command is parsed', () => {
  /** How often, where hooks with these rules are asked about it. */
  function parses(rules: readonly string[], text: string): number {
    runsFor('Bash(x *)', 'Bash', { command: 'another "one"' })
    vi.mocked(parse).mockClear()
    for (const rule of rules) runsFor(rule, 'Bash', { command: text })
    return vi.mocked(parse).mock.calls.length
  }
  const TEXT = 'cd x && git "status"'

  it('once, however many rules there are', () => {
    const rules = Array.from({ length: 50 }, (_, i) => `Bash(program-${i} *)`)
    expect(parses(rules, TEXT)).toBe(1)
    expect(parses([...rules, 'Bash(git status)', 'Bash(* && *)'], TEXT)).toBe(1)
  })

  it('not for rules that do not look into it', () => {
    expect(parses(['Bash', 'Bash(*)', 'Write(x)', 'Read', 'mcp__x'], TEXT)).toBe(0)
  })

  it('not where it is too long, or nothing but words', () => {
    expect(parses(['Bash(git *)'], `echo "${'x'.repeat(10_000_000)}"`)).toBe(0)
    expect(parses(['Bash(git *)'], 'git status -s')).toBe(0)
  })
})

describe('garbage', () => {
  it.each([
    '\0',
    '\ud800',
    '(',
    ')',
    '()',
    'Bash(',
    'Bash)',
    'Bash((',
    'Bash()()',
    '*',
    '*(x)',
    'Bash(\0)',
    'Bash(\ud800 *)',
    `Bash(${'*'.repeat(1000)})`,
    `Bash(${'a*'.repeat(500)})`,
    `Bash(${'x'.repeat(1_000_000)})`,
    `${'('.repeat(100_000)}`,
    `Bash${'()'.repeat(100_000)}`,
    `Write(${'{a,'.repeat(5000)})`,
    `Write(${'**/'.repeat(2000)}x)`,
    `Write(${'['.repeat(4000)})`,
    `WebFetch(domain:${'*.'.repeat(5000)}x)`,
  ])('%#: a rule that is garbage is compiled and asked without trouble', (rule) => {
    const { condition } = compileIf(rule, PRE)
    for (const tool of ['Bash', 'Write', 'WebFetch', '', '\0', 'x'.repeat(100_000)]) {
      const input = { command: 'ls "x"', file_path: '/p/a/b', url: 'http://a.b' }
      const data = { tool_name: tool, tool_input: input, cwd: '/p' }
      const answer = condition?.({ name: 'PreToolUse', data, session: undefined }) ?? true
      expect(answer === true || typeof answer === 'string').toBe(true)
    }
  })

  it.each([undefined, null, 7, [], {}, { command: null }, { command: ['git'] }, 'git'])(
    'input that is garbage runs the hook: %j',
    (input) => {
      expect(runsFor('Bash(git *)', 'Bash', input as object)).toBe(true)
    },
  )
})
