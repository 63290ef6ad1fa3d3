// `carabiner docs`: what a word leads to, in the pages that ship and in made-up ones.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FINDING_CODES } from '../../src/cli/doctor/finding.js'
import { type Found, knownWords, lookUp, readPages } from '../../src/cli/manual.js'
import { DIAGNOSTIC_CODES, ERROR_CODES } from '../../src/core/base/errors.js'
import { knownEvents } from '../../src/core/events/events.js'
import { readPage } from '../docs/markdown.js'
import { sample } from '../property/runs.js'
import { Project, withProgram } from './program.js'

withProgram()

const pages = readPages()

/** Pages with these texts, on one shelf. */
function manual(texts: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-manual-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const index = Object.keys(texts).map((name) => `- [${name}](shelf/${name}.md): About ${name}.`)
  for (const [name, text] of Object.entries({ ...texts, '../README': `## Shelf\n\n${index.join('\n')}\n` })) {
    const file = join(folder, 'shelf', `${name}.md`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return readPages(folder)
}

function titlesIn(found: Found): readonly string[] {
  if (found.kind === 'page') return [found.page.name]
  if (found.kind === 'rows') return found.rows.map(({ text }) => text)
  return (found.kind === 'sections' ? found.sections : found.passages).map(({ title }) => title)
}

describe('the index', () => {
  it('has every page once, with what the reader gets', () => {
    const listed = pages.map(({ name }) => name)
    expect(new Set(listed).size).toBe(listed.length)
    expect(new Set(pages.map(({ shelf }) => shelf))).toEqual(new Set(['Start', 'Use', 'Write', 'Reference']))
    for (const { gives } of pages) expect(gives).toMatch(/^[A-Z].*\.$/)
  })
})

describe('a word', () => {
  it.for(pages)('$name leads to the page', ({ name, file }) => {
    const found = lookUp(name, pages)
    expect(found.kind).toBe('page')
    expect(found.kind === 'page' && found.page.file).toBe(file)
  })

  it('leads from every event to its section', () => {
    const lost = sample(knownEvents()).filter(({ name }) => lookUp(name, pages).kind !== 'sections')
    expect(lost.map(({ name }) => name)).toEqual([])
  })

  it('leads from every code to its section', () => {
    const codes = sample([...Object.keys(ERROR_CODES), ...Object.keys(DIAGNOSTIC_CODES)])
    const first = codes.map((code) => {
      const found = lookUp(code.toLowerCase(), pages)
      return found.kind === 'sections' ? found.sections[0]?.title : undefined
    })
    expect(first).toEqual(codes)
  })

  it('leads from every finding of doctor to a section or a row', () => {
    const lost = sample(FINDING_CODES).filter((code) => lookUp(code, pages).kind === 'passages')
    expect(lost).toEqual([])
  })

  it('leads to the rows of tables that it is the name of, before passages', () => {
    const page =
      '# One\n\nA pear.\n\n| what | |\n|---|---|\n| `pear` | a fruit | in `a \\| b` |\n| a `pear` | no |\n'
    const all = manual({ a: page, b: '# Two\n\n| `Apple`, `pear` | two fruits |\n' })
    expect(lookUp('Pear', all)).toMatchObject({
      kind: 'rows',
      rows: [
        { page: { name: 'a' }, line: 7, text: 'a fruit; in `a | b`' },
        { page: { name: 'b' }, line: 3, text: 'two fruits' },
      ],
    })
  })

  it('is known, if a heading or a row has it', () => {
    const known = knownWords(pages)
    for (const word of ['doctor', 'PreToolUse', 'HOOK_TIMEOUT', 'matcher-never', 'not-executable'])
      expect(known, word).toContain(word)
  })

  it('takes a name as people write it', () => {
    for (const word of ['Events', 'events.md', 'reference/events.md', ' events '])
      expect(titlesIn(lookUp(word, pages)), word).toEqual(['events'])
  })

  it('in a heading counts before a word in the text', () => {
    const found = lookUp('apple', manual({ a: '# One\n\nAn apple.\n', b: '# The apple tree\n\nText.\n' }))
    expect(titlesIn(found)).toEqual(['The apple tree', 'One'])
  })

  it('counts more beside the next word than alone in a heading', () => {
    const all = manual({ a: '# A tool\n\nIt has names.\n', b: '# Other\n\nAbout tool names.\n' })
    expect(titlesIn(lookUp('tool names', all))).toEqual(['Other', 'A tool'])
  })

  it('beside others: all of them must be in the section', () => {
    const all = manual({ a: '# One\n\nred apple\n\n## Two\n\nred pear\n\n## Three\n\na pear tree\n' })
    expect(titlesIn(lookUp('red pear', all))).toEqual(['Two'])
    expect(titlesIn(lookUp('blue', all))).toEqual([])
  })

  it('is quoted with the line it stands on', () => {
    const all = manual({ a: '# One\n\nnothing\n\n## Two\n\nhere is a pear\n' })
    const found = lookUp('pear', all)
    expect(found).toMatchObject({ passages: [{ title: 'Two', line: 7, quote: 'here is a pear' }] })
  })

  it('that begins a comment in code is no heading', () => {
    expect(titlesIn(lookUp('note', manual({ a: '# One\n\n```sh\n# note\nls\n```\n' })))).toEqual(['One'])
  })
})

describe('carabiner docs', () => {
  let project: Project
  beforeEach(() => {
    project = new Project()
  })
  afterEach(() => project.remove())

  const called = (args: readonly string[]) => project.call(args)

  it('lists the pages on their shelves', async () => {
    const { stdout, code } = await called(['docs'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^start\n {2}guard-claude-code +\S/)
    for (const { name, gives } of pages)
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +${escaped(gives)}$`, 'm'))
    expect(stdout).toMatch(/\nnext carabiner docs PAGE\n$/)
  })

  it('prints a page unchanged into a pipe', async () => {
    const { stdout } = await called(['docs', 'doctor'])
    expect(stdout).toBe(readPage('docs/use/doctor.md').text)
  })

  it('prints one section, and where it stands', async () => {
    const { stdout } = await called(['docs', 'HOOK_TIMEOUT'])
    expect(stdout).toMatch(/^### HOOK_TIMEOUT\n\n/)
    const [, line = ''] = /errors\.md:(\d+)\)\n$/.exec(stdout) ?? []
    const page = readFileSync(pages.find(({ name }) => name === 'errors')?.file ?? '', 'utf8')
    expect(page.split('\n')[Number(line) - 1]).toBe('### HOOK_TIMEOUT')
  })

  it('helps people who look up an option', async () => {
    const { code, stderr } = await called(['docs', '--mine'])
    expect([code, stderr]).toEqual([64, expect.stringContaining('To look it up: carabiner docs mine')])
  })

  it('prints a finding of doctor, and where it is explained', async () => {
    const { stdout } = await called(['docs', 'crlf'])
    expect(stdout).toMatch(
      /^crlf: Windows line endings .*\n\(\S*docs\/use\/doctor\.md:\d+\)\nnext carabiner docs doctor\n$/,
    )
  })

  it.each([
    ['not-executible', 'not-executable'],
    ['HOOK_TIMOUT', 'HOOK_TIMEOUT'],
    ['matcher-nevr', 'matcher-never'],
    ['SesionStart', 'SessionStart'],
  ])('guesses what %s means', async (word, meant) => {
    const { code, stderr } = await called(['docs', word])
    expect([code, stderr.split('\n')[0]]).toEqual([
      1,
      `carabiner: The documentation does not mention "${word}"; did you mean ${meant}?`,
    ])
  })

  it('gives programs what it found', async () => {
    const document = JSON.parse((await called(['docs', 'PreToolUse', '--json'])).stdout)
    expect(document).toMatchObject({
      kind: 'sections',
      sections: [{ title: 'PreToolUse', page: { name: 'events' } }],
    })
  })
})

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
