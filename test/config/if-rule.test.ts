import { describe, expect, it } from 'vitest'
import { compileIf } from '../../src/config/if-rule.js'
import { resolveEvent } from '../../src/core/events.js'
import { command, hooksFile, loadPlugin, only } from './temp-tree.js'

const PRE = resolveEvent('PreToolUse')

function runs(rule: string, tool: string, event = PRE): boolean | string {
  const { condition } = compileIf(rule, event)
  return (
    condition?.({ name: event.name, data: { tool_name: tool, tool_input: {} }, session: undefined }) ?? true
  )
}

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
