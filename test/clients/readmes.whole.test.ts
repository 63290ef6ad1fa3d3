// The README of each client: every block runs as it stands, in order, and prints what the page says.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { readPage } from '../docs/markdown.js'
import { newcomer, typed } from '../docs/newcomer.js'
import { isInstalled, LANGUAGES } from './languages.js'

withProgram()

const withReadme = LANGUAGES.filter(({ snippet }) => snippet)

describe.each(withReadme)('clients/$folder/README.md', { timeout: 300_000 }, (language) => {
  const { blocks } = readPage(`clients/${language.folder}/README.md`)
  const { block: name, extension, run } = language.snippet as NonNullable<typeof language.snippet>
  const ran = blocks.filter(({ language: one }) => one === 'sh' || one === name)

  it('runs as it stands', async ({ expect, skip }) => {
    skip(!isInstalled(language), `needs ${language.needs}`)
    expect(ran.filter(({ language: one }) => one === name).length).toBeGreaterThan(2)
    const someone = newcomer(language.env?.())
    for (const { language: one, text, output = '', line } of ran) {
      const file = `agent.${extension}`
      if (one === name) writeFileSync(join(someone.project, file), text)
      const printed = await typed(one === name ? run(file) : text, someone)
      expect(printed, `clients/${language.folder}/README.md:${line}`).toBe(output)
    }
    someone.remove()
  })
})
