// Every block of shell in README and docs/ runs as it stands, with the built program, and prints what the page says.

import { describe, expect, it } from 'vitest'
import { hasPython } from '../examples/plugin-project.js'
import { allPages } from './markdown.js'
import { newcomer, typed } from './newcomer.js'

const pages = allPages().flatMap(({ path, blocks }) => {
  const shell = blocks.filter(({ language }) => language === 'sh')
  return shell.length > 0 ? [{ path, shell }] : []
})

const NEED_PYTHON = [
  'docs/start/first-hook.md',
  'docs/write/resident-hooks.md',
  'docs/write/serve.md',
  'docs/write/shell-hooks.md',
  'docs/write/write-a-hook.md',
]

describe.concurrent('the shell blocks of', { timeout: 120_000 }, () => {
  it.for(pages)('$path', async ({ path, shell }, { expect, skip }) => {
    skip(NEED_PYTHON.includes(path) && !hasPython, 'needs python3')
    const someone = newcomer()
    for (const block of shell) {
      const printed = await typed(block.text, someone)
      const said = (block.output ?? '').replace(/ +\d+(?:\.\d+)? m?s\b/g, ' N ms')
      expect(printed, `${path}:${block.line}`).toBe(said)
    }
    someone.remove()
  })
})

it('there are some in most pages', () => {
  expect(pages.length).toBeGreaterThan(allPages().length / 2)
})
