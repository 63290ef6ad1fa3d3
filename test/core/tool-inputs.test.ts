// A matcher that lists tools gives a handler those tools' inputs. The types say what the matcher does.

import {
  compileMatcher,
  type Data,
  HookRegistry,
  hook,
  isTool,
  type Json,
  type ToolInputs,
} from 'carabiner/core'
import { describe, expect, expectTypeOf, it, test } from 'vitest'
import { KNOWN_TOOLS } from '../../src/config/matcher-slips.js'
import type { ToolsOf } from '../../src/core/events/tool-inputs.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

describe('a handler whose matcher names', () => {
  test('a well-known tool has its input', async () => {
    const registry = new HookRegistry()
    const seen: string[] = []
    registry.register(
      'PreToolUse',
      (_event, { tool_name, tool_input }) => {
        expectTypeOf(tool_name).toEqualTypeOf<'Bash'>()
        expectTypeOf(tool_input.command).toEqualTypeOf<string>()
        expectTypeOf(tool_input.timeout).toEqualTypeOf<number | undefined>()
        expectTypeOf(tool_input).toExtend<Data>()
        // @ts-expect-error a misspelt field would be a gate that never closes
        expect(tool_input.comand).toBeUndefined()
        seen.push(tool_input.command)
      },
      { matcher: 'Bash' },
    )
    await registry.emit('PreToolUse', CALL)
    expect(seen).toEqual(['ls'])
  })

  test('several has one of their inputs, told apart by the name', async () => {
    const registry = new HookRegistry()
    const seen: string[] = []
    registry.register(
      'tool:pre',
      (_event, { tool_name, tool_input }) => {
        expectTypeOf(tool_name).toEqualTypeOf<'Write' | 'Edit'>()
        expectTypeOf(tool_input.file_path).toEqualTypeOf<string>()
        // @ts-expect-error an Edit has no content
        expect(tool_input.content).toBeUndefined()
        seen.push(tool_name === 'Write' ? tool_input.content : tool_input.new_string)
      },
      { matcher: 'Write|Edit' },
    )
    const edit = { file_path: 'a', old_string: 'b', new_string: 'c' }
    await registry.emit('PreToolUse', { tool_name: 'Edit', tool_input: edit })
    expect(seen).toEqual(['c'])
  })

  test('a tool of your own, or a pattern, has data', async () => {
    const registry = new HookRegistry()
    const seen: (Json | undefined)[] = []
    registry.register(
      'PreToolUse',
      (_event, data) => {
        expectTypeOf(data.tool_name).toEqualTypeOf<'Bash' | 'deploy'>()
        if (data.tool_name === 'Bash') expectTypeOf(data.tool_input.command).toEqualTypeOf<string>()
        else expectTypeOf(data.tool_input).toEqualTypeOf<Data>()
      },
      { matcher: 'Bash,deploy' },
    )
    registry.register(
      'PreToolUse',
      (_event, { tool_name, tool_input }) => {
        expectTypeOf(tool_name).toEqualTypeOf<string>()
        expectTypeOf(tool_input).toEqualTypeOf<Data>()
        seen.push(tool_input.stage)
      },
      { matcher: 'Bash|dep.*' },
    )
    await registry.emit('PreToolUse', { tool_name: 'deploy', tool_input: { stage: 'test' } })
    expect(seen).toEqual(['test'])
  })

  test('anything on an event of another kind is not about tools', () => {
    const registry = new HookRegistry()
    const off = registry.register(
      'SessionStart',
      (_event, { source }) => void expectTypeOf(source).toEqualTypeOf<string>(),
      { matcher: 'Bash' },
    )
    expect(off).toBeTypeOf('function')
  })

  test('a tool whose input may be missing says so', () => {
    const registry = new HookRegistry()
    const off = registry.register(
      'PostToolUseFailure',
      (_event, { tool_input }) =>
        void expectTypeOf(tool_input).toEqualTypeOf<ToolInputs['Bash'] | null | undefined>(),
      { matcher: 'Bash' },
    )
    expect(off).toBeTypeOf('function')
  })

  test('a tool works the same in a hook value', async () => {
    const seen: string[] = []
    const value = hook(
      'pre_tool_use',
      ({ event, tool_input }) => {
        seen.push(event, tool_input.command)
        return 'ok'
      },
      { tool_name: 'Bash' },
    )
    const registry = new HookRegistry()
    registry.registerHooks([value])
    await registry.emit('PreToolUse', CALL)
    expect(seen).toEqual(['pre_tool_use', 'ls'])
  })
})

describe('an input that is not what the type says', () => {
  test.each([
    ['of another type', { command: 5 }],
    ['missing', {}],
  ])('%s: the handler throws, and the call is denied', async (_, tool_input) => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', (_event, data) => void data.tool_input.command.includes('rm'), {
      matcher: 'Bash',
      name: 'gate',
    })
    const outcome = await registry.emit('PreToolUse', { tool_name: 'Bash', tool_input })
    expect(outcome).toMatchObject({
      action: 'deny',
      hooks: [{ name: 'gate', status: 'failed', countsAs: 'deny' }],
    })
  })
})

/** By the types. */
const LETS_THROUGH = {
  Bash: ['Bash'],
  'Write|Edit': ['Write', 'Edit'],
  'Write, Edit': ['Write', 'Edit'],
  Task: ['Task', 'Agent'],
  Agent: ['Agent'],
  KillShell: ['KillShell', 'TaskStop'],
  'Read|my-tool_1': ['Read', 'my-tool_1'],
} as const satisfies { readonly [M in string]: readonly ToolsOf<M>[] }

describe('the tools of a matcher', () => {
  it('are those that it lets through', () => {
    expectTypeOf<ToolsOf<'Bash'>>().toEqualTypeOf<'Bash'>()
    expectTypeOf<ToolsOf<'Write|Edit'>>().toEqualTypeOf<'Write' | 'Edit'>()
    expectTypeOf<ToolsOf<'Write, Edit'>>().toEqualTypeOf<'Write' | 'Edit'>()
    expectTypeOf<ToolsOf<'Task'>>().toEqualTypeOf<'Task' | 'Agent'>()
    expectTypeOf<ToolsOf<'Agent'>>().toEqualTypeOf<'Agent'>()
    expectTypeOf<ToolsOf<'KillShell'>>().toEqualTypeOf<'KillShell' | 'TaskStop'>()
    expectTypeOf<ToolsOf<'Read|my-tool_1'>>().toEqualTypeOf<'Read' | 'my-tool_1'>()
    const names = [...KNOWN_TOOLS, 'my-tool_1', 'bash', '']
    for (const [matcher, tools] of Object.entries(LETS_THROUGH)) {
      const passing = names.filter((name) => compileMatcher(matcher)?.test(name))
      expect(passing.sort(), matcher).toEqual([...tools].sort())
    }
  })

  it('can be any for a pattern, for everything, and for a text that only the program knows', () => {
    type Open = ToolsOf<'*'> &
      ToolsOf<''> &
      ToolsOf<'Edit|mcp__.*'> &
      ToolsOf<'^Bash$'> &
      ToolsOf<'Notebook.*'>
    expectTypeOf<Open>().toEqualTypeOf<string>()
    expectTypeOf<
      ToolsOf<string> & ToolsOf<undefined> & ToolsOf<{ tool_name?: string }>
    >().toEqualTypeOf<string>()
    for (const matcher of ['Edit|mcp__.*', 'Notebook.*']) {
      expect(compileMatcher(matcher)?.test('NotebookEdit'), matcher).toBe(true)
    }
  })

  it('that have a type of input are tools that matchers know', () => {
    const typed: Readonly<Record<keyof ToolInputs, true>> = {
      Agent: true,
      AskUserQuestion: true,
      Bash: true,
      BashOutput: true,
      Edit: true,
      ExitPlanMode: true,
      Glob: true,
      Grep: true,
      KillBash: true,
      KillShell: true,
      LS: true,
      MultiEdit: true,
      NotebookEdit: true,
      NotebookRead: true,
      Read: true,
      Skill: true,
      Task: true,
      TaskCreate: true,
      TaskGet: true,
      TaskStop: true,
      TaskUpdate: true,
      TodoWrite: true,
      WebFetch: true,
      WebSearch: true,
      Write: true,
    }
    expect(Object.keys(typed).filter((name) => !KNOWN_TOOLS.includes(name))).toEqual([])
    expectTypeOf<ToolInputs[keyof ToolInputs]>().toExtend<Data>()
  })
})

describe('isTool', () => {
  it('gives a call the input of its tool', async () => {
    const registry = new HookRegistry()
    const seen: string[] = []
    registry.register('PreToolUse', (_event, data) => {
      if (isTool(data, 'Bash')) {
        expectTypeOf(data.tool_name).toEqualTypeOf<'Bash'>()
        seen.push(data.tool_input.command)
      }
      if (isTool(data, 'Write', 'Edit')) seen.push(data.tool_input.file_path)
    })
    await registry.emit('PreToolUse', CALL)
    await registry.emit('PreToolUse', { tool_name: 'Write', tool_input: { file_path: 'a', content: '' } })
    await registry.emit('PreToolUse', { tool_name: 'Read', tool_input: { file_path: 'b' } })
    expect(seen).toEqual(['ls', 'a'])
  })

  it('knows a renamed tool by its former name, and calls of other kinds of hook', () => {
    expect(isTool({ toolName: 'Agent' }, 'Task')).toBe(true)
    expect(isTool({ toolName: 'Task' }, 'Agent')).toBe(false)
    expect(isTool({ tool: 'Bash' }, 'Read', 'Bash')).toBe(true)
    expect(isTool({ tool: 'bash' }, 'Bash')).toBe(false)
  })
})
