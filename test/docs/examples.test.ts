// Every block of JavaScript or TypeScript in README and docs/ runs as it stands, and prints what the page says.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { transform } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { sample } from '../property/runs.js'
import { allPages, ROOT, readPage } from './markdown.js'

/** From stdin, in the project's folder: there the name `carabiner` is the project itself. */
async function run(code: string) {
  const env = { ...process.env, FORCE_COLOR: '0' }
  const child = spawn(process.execPath, ['--input-type=module'], { cwd: ROOT, env })
  child.stdin.end(code)
  const exit = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { status, stdout, stderr }
}

const examples = allPages().flatMap(({ path, blocks }) =>
  blocks.filter(({ language }) => /^[jt]s$/.test(language)).map((block) => ({ path, ...block })),
)

describe.concurrent('an example of', { timeout: 120_000 }, () => {
  it.for(sample(examples))('$path, line $line', async ({ language, text: given, output }, { expect }) => {
    const { code } = language === 'ts' ? await transform(given, { loader: 'ts' }) : { code: given }
    const { status, stdout, stderr } = await run(code)
    expect(status, stderr).toBe(0)
    if (output === undefined) expect(stdout).toBe('')
    else expect(stdout).toBe(output)
  })
})

describe('the pages', () => {
  it('write every language that runs as one of these', () => {
    // mjs is for parts of examples, which npm run docs copies and test/adapters runs.
    const languages = allPages().flatMap(({ blocks }) => blocks.map(({ language }) => language))
    expect([...new Set(languages)].sort()).toEqual(['', 'console', 'js', 'json', 'mjs', 'sh', 'text', 'ts'])
  })

  it('import only the public package and Node', () => {
    for (const { path, line, text: code } of examples) {
      for (const [, from] of code.matchAll(/^import .* from '(.*)'$/gm)) {
        expect(from, `${path}:${line}`).toMatch(/^(carabiner|carabiner\/(core|author)|node:.*)$/)
      }
    }
  })

  it('keep code within 110 columns', () => {
    const long = examples.flatMap(({ path, text: code }) =>
      code
        .split('\n')
        .filter((one) => one.length > 110)
        .map((one) => `${path}: ${one}`),
    )
    expect(long).toEqual([])
  })
})

describe('README', () => {
  const { blocks, text: readme } = readPage('README.md')

  it('embeds in five lines that end in a printed deny', () => {
    const [embed, ...others] = blocks.filter(({ language }) => language === 'ts')
    expect(others).toEqual([])
    expect(embed?.text.trimEnd().split('\n')).toHaveLength(5)
    expect(embed?.text).toContain("from 'carabiner'")
    expect(embed?.output).toMatch(/^denied /)
  })

  it('names the commands and fits a screen', () => {
    const [first] = blocks
    expect([first?.language, first?.text]).toEqual(['console', '$ npm install\n$ npm start\n'])
    for (const command of ['npm install && npm test', 'npm run bench']) expect(readme).toContain(command)
    expect(readme.split('\n').length).toBeLessThanOrEqual(80)
  })
})
