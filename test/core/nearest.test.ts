import { expect, it } from 'vitest'
import { didYouMean, nearest } from '../../src/core/base/text.js'

it.each([
  ['pretooluse', ['PostToolUse', 'PreToolUse'], 'PreToolUse'],
  ['pre-tool-use', ['PostToolUse', 'PreToolUse'], 'PreToolUse'],
  ['PreToolUs', ['PostToolUse', 'PreToolUse'], 'PreToolUse'],
  ['lsit', ['list', 'explain'], 'list'],
  ['claude', ['claude-code', 'carabiner'], 'claude-code'],
  ['comp', ['completion', 'compare'], undefined],
  ['cl', ['claude-code'], undefined],
  ['x', ['y'], undefined],
  ['word', ['nothing', 'alike'], undefined],
  ['a'.repeat(41), ['a'.repeat(42)], undefined],
])('%s of %j is %s', (word, words, meant) => {
  expect(nearest(word, words)).toBe(meant)
})

it("a stranger's name cannot control the terminal", () => {
  const said = didYouMean('gaurd', ['guar\u001bd'])
  expect(said).toMatch(/^; did you mean .*guar/)
  expect(said).not.toContain('\u001b')
})
