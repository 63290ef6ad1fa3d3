import { compileMatcher, deny, HookRegistry, hook, type MatcherSpec } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import type { MatcherOptions } from '../../src/core/hooks/matcher.js'

/** Whether the matcher takes the value, and what it says about itself. */
function match(pattern: MatcherSpec, value: string, options: MatcherOptions = {}) {
  const codes: string[] = []
  const texts: string[] = []
  const matcher = compileMatcher(pattern, {
    ...options,
    note: (d) => {
      codes.push(d.code)
      texts.push(d.text)
    },
  })
  return { takes: matcher === null || matcher.test(value), codes, texts }
}

const takes = (pattern: MatcherSpec, value: string, options?: MatcherOptions) =>
  match(pattern, value, options).takes

describe('matching everything', () => {
  it.each<[MatcherSpec | null | undefined]>([[undefined], [null], [''], ['*'], [{}], [{ tool_name: '*' }]])(
    '%j',
    (spec) => {
      expect(compileMatcher(spec)).toBeNull()
    },
  )

  it('in fullmatch mode as well', () => {
    expect(compileMatcher('*', { matching: 'fullmatch' })).toBeNull()
    expect(compileMatcher('', { matching: 'fullmatch' })).toBeNull()
  })
})

describe('exact lists', () => {
  it.each([
    ['Bash', 'Bash'],
    ['Edit|Write', 'Edit'],
    ['Edit|Write', 'Write'],
    ['Edit, Write', 'Write'],
    ['Edit,Write|Read', 'Read'],
    [' Edit | Write ', 'Edit'],
    ['mcp__memory__create_entities', 'mcp__memory__create_entities'],
    ['general-purpose', 'general-purpose'],
    ['two words', 'two words'],
  ])('%j takes %s', (pattern, value) => {
    expect(match(pattern, value)).toEqual({ takes: true, codes: [], texts: [] })
  })

  it.each([
    ['Edit|Write', 'MultiEdit'],
    ['Edit|Write', 'Edit|Write'],
    ['Bash', 'BashOutput'],
    ['Bash', 'bash'],
    ['Bash', ''],
    ['mcp__memory', 'mcp__memory__create_entities'],
    ['general-purpose', 'general'],
    ['two words', 'words'],
  ])('%j does not take %s', (pattern, value) => {
    expect(takes(pattern, value)).toBe(false)
  })

  it('keeps the pattern as written', () => {
    expect(compileMatcher(' Edit | Write ')?.pattern).toBe(' Edit | Write ')
    expect(compileMatcher({ tool_name: '^Bash$' })?.pattern).toBe('^Bash$')
  })
})

describe('patterns', () => {
  it.each([
    ['(Write|Edit)', 'MultiEdit'],
    ['^(Write|Edit)$', 'Edit'],
    ['mcp__.*', 'mcp__memory__create'],
    ['mcp__memory__.*', 'mcp__memory__create'],
    ['Bash.', 'BashOutput'],
    ['Notebook.*', 'NotebookEdit'],
    ['Edi[ts]', 'MultiEdit'],
    ['[Bb]ash', 'bash'],
    ['.*', ''],
    ['^$', ''],
    ['\\bEdit\\b', 'Edit'],
    ['Write\\(', 'Write(x)'],
    ['a/b', 'a/b/c'],
    ['^mcp__[a-z]+__(read|list)_\\w+$', 'mcp__files__read_file'],
    ['plugin:name', 'my plugin:name'],
    ['Bash*', 'Bas'],
    ['(?<tool>Edit)', 'MultiEdit'],
    ['(?:Edit){1,2}', 'EditEdit'],
  ])('%j takes %s', (pattern, value) => {
    expect(match(pattern, value)).toEqual({ takes: true, codes: [], texts: [] })
  })

  it.each([
    ['^(Write|Edit)$', 'MultiEdit'],
    ['^Bash$', 'BashOutput'],
    ['^Bash$', 'Bash\n'],
    ['[Bb]ash', 'BASH'],
    ['mcp__.*', 'Bash'],
    ['.+', ''],
  ])('%j does not take %j', (pattern, value) => {
    expect(takes(pattern, value)).toBe(false)
  })

  it.each([
    ['^\\Agent$', 'Agent'],
    ['^\\anthropic$', 'anthropic'],
    ['^\\Quit$', 'Quit'],
    ['^\\zed$', 'zed'],
    ['^\\pLan$', 'pLan'],
    ['^a\\sb$', 'a\u00a0b'],
    ['^a\\sb$', 'a\u000bb'],
  ])('%j means what it means in JavaScript: it takes %j', (pattern, value) => {
    expect(new RegExp(pattern).test(value)).toBe(true)
    expect(takes(pattern, value)).toBe(true)
  })

  it.each([
    ...[
      '(',
      '[',
      'a{2,1}',
      '*a',
      '+',
      '?',
      'a)',
      '\\',
      '(?i)bash',
      '(?x:a)',
      '(?ii:a)',
      '(?-:a)',
      '(?P<n>a)',
    ],
    ...[
      '(?<n>a)(?<n>b)',
      '(?<n>(?<n>a))',
      '(?:(?<n>a)|b)(?<n>c)',
      '(?<n>a)(?:b|(?<n>c))',
      '(?<1>a)',
      '(?<n>a)\\k<m>',
    ],
  ])('the invalid %j throws', (pattern) => {
    expect(() => compileMatcher(pattern)).toThrow(
      expect.objectContaining({
        code: 'MATCHER_INVALID',
        message: expect.stringContaining(`The matcher ${JSON.stringify(pattern)} is not valid: `),
      }),
    )
  })

  it.each([[5], [true], [['Bash']], [{ tool_name: 5 }], [{ tool_name: ['Bash'] }]])(
    '%j is no pattern at all',
    (spec) => {
      expect(() => compileMatcher(spec as never)).toThrow(
        expect.objectContaining({
          code: 'MATCHER_INVALID',
          message: expect.stringContaining('A matcher must be a string or { tool_name }, got '),
        }),
      )
    },
  )
})

describe('what only some versions of Node know means the same in all', () => {
  it.each([
    ['^(?:(?<n>Edit)|(?<n>Write))$', 'Write', 'Bash'],
    ['(?<n>Edit)$|^(?<n>Bash)$', 'Bash', 'Write'],
    ['^(?:a(?<n>b)|(?:(?<n>c)|(?<n>d)))$', 'd', 'a'],
    ['^(?i:bash)$', 'BASH', 'BashOutput'],
    ['^(?i:ba(?-i:sh))$', 'BAsh', 'BASH'],
    ['^[(?<n>]$', '<', 'a'],
    ['^\\(?<n>$', '<n>', 'n'],
  ])('%j takes %s, and not %s', (pattern, value, other) => {
    expect(match(pattern, value)).toEqual({ takes: true, codes: [], texts: [] })
    expect(takes(pattern, other)).toBe(false)
  })

  it('a modifier that the linear engine does not know takes everything, and says so', () => {
    for (const pattern of ['^(?s:a.b)$', '(?m:^b$)', '(?i:(?!write).*)']) {
      expect(match(pattern, 'nothing of the kind')).toMatchObject({ takes: true, codes: ['matcher-unsafe'] })
    }
  })

  it('a modifier of other languages says how to write it', () => {
    expect(() => compileMatcher('(?i)bash')).toThrow('write (?i:...) instead of (?i)')
  })
})

describe('former tool names', () => {
  it.each([
    ['Task', 'Agent'],
    ['Edit|Task', 'Agent'],
    ['^Task$', 'Agent'],
    ['(Task|Edit)', 'Agent'],
    ['Agent', 'Agent'],
    ['^Agent$', 'Agent'],
    ['KillShell', 'TaskStop'],
    ['KillBash', 'TaskStop'],
    ['^Kill(Shell|Bash)$', 'TaskStop'],
    ['ListPeers', 'ListAgents'],
    ['Brief', 'SendUserMessage'],
    ['ListMcpResources', 'ListMcpResourcesTool'],
    ['ReadMcpResource', 'ReadMcpResourceTool'],
    ['ReadMcpResourceDir', 'ReadMcpResourceDirTool'],
  ])('%j still takes %s', (pattern, value) => {
    expect(takes(pattern, value)).toBe(true)
  })

  it('hold in fullmatch mode', () => {
    expect(takes('Task', 'Agent', { matching: 'fullmatch' })).toBe(true)
  })

  it.each([
    ['Agent', 'Task'],
    ['Task', 'Bash'],
    ['Task', 'constructor'],
    ['^Task$', 'TaskStop'],
  ])('%j does not take %s', (pattern, value) => {
    expect(takes(pattern, value)).toBe(false)
  })
})

describe('patterns of strangers', () => {
  it.each(['^(a+)+$', '(a*)*b', '(a|a)+$', '([a-z]+)*\\d', '^(a|aa)+$'])(
    '%j is matched in linear time',
    (pattern) => {
      expect(match(pattern, `${'a'.repeat(50_000)}!`)).toEqual({ takes: false, codes: [], texts: [] })
    },
  )

  it.each([
    ['^(?!Write).*$', 'Write', false],
    ['^(?!Write).*$', 'Bash', true],
    ['^(?!Write).*$', 'WriteMore', false],
    ['Edit(?=Notebook)', 'EditNotebook', true],
    ['Edit(?=Notebook)', 'EditOther', false],
    ['(?<=mcp__)memory', 'mcp__memory', true],
    ['(?<!mcp__)memory', 'mcp__memory', false],
  ])('lookaround %j on the short %s runs natively: %s', (pattern, value, expected) => {
    const { takes: taken, codes, texts } = match(pattern, value)
    expect(taken).toBe(expected)
    expect(codes).toEqual(['matcher-unsafe'])
    expect(texts[0]).toBe(
      `the matcher ${JSON.stringify(pattern)} is only tried on values of up to 256 characters; longer values always match`,
    )
  })

  it('lookaround takes every value of more than 256 characters', () => {
    expect(takes('^(?!Write).*$', `Write${'x'.repeat(251)}`)).toBe(false)
    expect(takes('^(?!Write).*$', `Write${'x'.repeat(252)}`)).toBe(true)
  })

  it.each([
    '(?=x)(a+)+b',
    '(a)\\1',
    '(?<q>a)\\k<q>',
    '(?=(a+))+b',
    '(?!z)(a|aa)*b',
    '(?=x)((a+)b)*c',
    '(?!z)(?:a{1,9}){1,9}b',
  ])('%j takes everything, and says so', (pattern) => {
    const { takes: taken, codes, texts } = match(pattern, 'nothing of the kind')
    expect(taken).toBe(true)
    expect(codes).toEqual(['matcher-unsafe'])
    expect(texts[0]).toBe(
      `the matcher ${JSON.stringify(pattern)} cannot be matched in linear time, so the hook runs for every value`,
    )
  })

  it.each([
    ['optional parts in a row', `(?!z)${'a?'.repeat(28)}${'a'.repeat(28)}`],
    ['alternatives in a row', `(?!z)${'(a|a)'.repeat(28)}b`],
  ])('%s, which run away without nesting, take everything', (_what, pattern) => {
    expect(takes(pattern, 'nothing of the kind')).toBe(true)
  })

  it('says nothing about a pattern that is safe', () => {
    expect(match('^(a+)+$', 'a').codes).toEqual([])
    expect(match('Edit|Write', 'Edit').codes).toEqual([])
  })

  it('reports an unsafe pattern of register() where the user can see it', () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => undefined, { matcher: '(a)\\1' })
    expect(registry.diagnostics).toMatchObject([{ code: 'matcher-unsafe' }])
  })
})

describe('fullmatch', () => {
  const options: MatcherOptions = { matching: 'fullmatch' }

  it.each([
    ['Edit', 'Edit'],
    ['Edit|Write', 'Write'],
    ['.*Edit', 'MultiEdit'],
    ['mcp__.*', 'mcp__memory'],
    ['(Write|Edit)', 'Edit'],
    ['^Edit$', 'Edit'],
  ])('%j takes %s', (pattern, value) => {
    expect(takes(pattern, value, options)).toBe(true)
  })

  it.each([
    ['Edit', 'MultiEdit'],
    ['Edit|Write', 'MultiEdit'],
    ['Edit|Write', 'Writer'],
    ['(Write|Edit)', 'MultiEdit'],
    ['mcp__', 'mcp__memory'],
    ['Edit', 'Edit\n'],
  ])('%j does not take %j', (pattern, value) => {
    expect(takes(pattern, value, options)).toBe(false)
  })

  it('wants the whole value of lookaround, too', () => {
    expect(takes('(?!Write)\\w+', 'Bash', options)).toBe(true)
    expect(takes('(?!Write)\\w+', 'Bash!', options)).toBe(false)
  })

  it.each(['(', 'a)|(b'])('the invalid %j throws', (pattern) => {
    expect(() => compileMatcher(pattern, options)).toThrow(
      expect.objectContaining({ code: 'MATCHER_INVALID' }),
    )
  })
})

describe('the narrow lists of FileChanged and StopFailure', () => {
  const options: MatcherOptions = { narrow: true }

  it('split at | alone', () => {
    expect(takes('rate_limit|overloaded', 'overloaded', options)).toBe(true)
    expect(takes('rate_limit|overloaded', 'not_overloaded', options)).toBe(false)
  })

  it.each([
    ['a-b', 'xa-by'],
    ['a,b', 'xa,by'],
    ['two words', 'the two words here'],
    ['.env', 'xenv'],
  ])('%j is a pattern there: it takes %j', (pattern, value) => {
    expect(takes(pattern, value, options)).toBe(true)
  })

  it.each([
    ['a,b', 'a'],
    ['a-b', 'a'],
  ])('%j is no list there: it does not take %j', (pattern, value) => {
    expect(takes(pattern, value, options)).toBe(false)
  })

  it('hold for hooks of these events and no other', async () => {
    const registry = new HookRegistry()
    for (const event of ['FileChanged', 'StopFailure', 'InstructionsLoaded']) {
      registry.register(event, () => undefined, { name: event, matcher: 'a-b' })
    }
    const status = async (event: string, data: object) =>
      (await registry.emit(event, data)).hooks.map((trace) => trace.status)
    expect(await status('FileChanged', { file_path: '/x/xa-by' })).toEqual(['ran'])
    expect(await status('StopFailure', { error: 'xa-by' })).toEqual(['ran'])
    expect(await status('InstructionsLoaded', { file_path: 'f', load_reason: 'xa-by' })).toEqual(['skipped'])
  })
})

describe('BeamAgent’s object form', () => {
  it('is the pattern it holds', () => {
    expect(takes({ tool_name: '^(Write|Edit)$' }, 'Write')).toBe(true)
    expect(takes({ tool_name: '^(Write|Edit)$' }, 'MultiEdit')).toBe(false)
    expect(takes({ tool_name: 'Bash' }, 'BashOutput')).toBe(false)
  })

  it('works in register() and hook()', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => deny('registered'), { matcher: { tool_name: 'Bash' } })
    registry.registerHooks([hook('pre_tool_use', () => ['deny', 'value'], { tool_name: '^Write$' })])
    const reason = async (tool_name: string) =>
      (await registry.emit('PreToolUse', { tool_name, tool_input: {} })).reason
    expect(await reason('Bash')).toBe('registered')
    expect(await reason('Write')).toBe('value')
    expect(await reason('Edit')).toBeUndefined()
  })
})

describe('an invalid pattern', () => {
  it('throws in register() and hook()', () => {
    const invalid = expect.objectContaining({ code: 'MATCHER_INVALID' })
    const registry = new HookRegistry()
    expect(() => registry.register('PreToolUse', () => undefined, { matcher: '(' })).toThrow(invalid)
    expect(() => hook('PreToolUse', () => 'ok', { tool_name: '(' })).toThrow(invalid)
    expect(registry.listHandlers()).toEqual({})
  })
})

describe('an event without a matcher field', () => {
  it.each(['UserPromptSubmit', 'Stop', 'my:event'])('%s ignores matchers', async (event) => {
    const registry = new HookRegistry()
    registry.register(event, () => undefined, { matcher: 'Bash' })
    const { hooks } = await registry.emit(event, { prompt: 'x' })
    expect(hooks).toMatchObject([{ status: 'ran' }])
  })

  it('a hook of all events heeds its matcher where there is a field', async () => {
    const registry = new HookRegistry()
    registry.register('*', () => undefined, { matcher: 'Bash' })
    const status = async (event: string, data: object) =>
      (await registry.emit(event, data)).hooks.map((trace) => trace.status)
    expect(await status('Stop', {})).toEqual(['ran'])
    expect(await status('PreToolUse', { tool_name: 'Bash', tool_input: {} })).toEqual(['ran'])
    expect(await status('PreToolUse', { tool_name: 'Edit', tool_input: {} })).toEqual(['skipped'])
  })
})

describe('a pattern that nobody can have meant', () => {
  it.each([
    ['too long to compile', 'a?'.repeat(500_000)],
    ['too deep for the engine', '(?!x)'.repeat(390)],
    ['short, but long when written out', '[a-z]{1,1000}N.'],
    ['short, and repeated inside a repeat', '([a-z]{1,100}){1,100}x'],
  ])('%s matches, and never throws', (_what, pattern) => {
    const noted: string[] = []
    const matcher = compileMatcher(pattern, { note: ({ code }) => noted.push(code) })
    expect([matcher?.test('Bash'), noted]).toEqual([true, ['matcher-unsafe']])
  })

  it('is no list, however long that is', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `mcp__server__tool_${i}`)
    const matcher = compileMatcher(names.join('|'))
    expect([matcher?.test('mcp__server__tool_999'), matcher?.test('Bash')]).toEqual([true, false])
  })
})
