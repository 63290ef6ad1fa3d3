// The rules of `if` are loaded only when a hook has one.

import { expect, it, onTestFinished, vi } from 'vitest'
import { command, hooksFile, loadPlugin } from './temp-tree.js'

it('a library without an "if" imports no rules', async () => {
  const imported = vi.fn()
  vi.doMock('../../src/config/if-rule.js', () => {
    imported()
    return { compileIf: () => ({}) }
  })
  onTestFinished(() => vi.doUnmock('../../src/config/if-rule.js'))
  await loadPlugin(hooksFile([command('x')]))
  expect(imported).not.toHaveBeenCalled()
  await loadPlugin(hooksFile([command('x', { if: 'Bash(git *)' })]))
  expect(imported).toHaveBeenCalledOnce()
})
