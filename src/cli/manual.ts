// The documentation that comes with the package, as data: pages on shelves, and what a word leads to.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Refusal } from './refusal.js'

export interface Page {
  /** Unique across the shelves: `events`. */
  readonly name: string
  readonly shelf: string
  /** What the reader gets, in a line. */
  readonly gives: string
  readonly file: string
}

/** Part of a page: a heading, and the text up to the next heading. */
export interface Section {
  readonly page: Page
  readonly title: string
  /** From 1. */
  readonly line: number
  readonly text: string
}

/** A row of a table that is about a word: the word is in backticks in its first cell. */
export interface Row {
  readonly page: Page
  readonly line: number
  /** The other cells. */
  readonly text: string
}

/** The first that applies: a page by name, sections by heading, rows by their first cell, sections that contain every word. */
export type Found =
  | { readonly kind: 'page'; readonly page: Page; readonly text: string }
  | { readonly kind: 'sections'; readonly sections: readonly Section[] }
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | { readonly kind: 'passages'; readonly passages: readonly Passage[] }

/** A section, and the line of it that fits best. */
export interface Passage {
  readonly page: Page
  readonly title: string
  readonly line: number
  readonly quote: string
}

/** Every page, in the order of the index. docs/README.md is the one list of pages. */
export function readPages(docs = docsFolder()): readonly Page[] {
  let shelf = ''
  return readFileSync(join(docs, 'README.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      shelf = /^## (.+)/.exec(line)?.[1] ?? shelf
      const [, name, path, gives] = /^- \[([\w-]+)\]\(([^)]+)\): (.+)/.exec(line) ?? []
      if (name === undefined || path === undefined || gives === undefined) return []
      return [{ name, shelf, gives, file: join(docs, path) }]
    })
}

export function lookUp(word: string, pages: readonly Page[]): Found {
  const wanted = word.trim().toLowerCase()
  const named = pages.find(({ name }) => name === basename(wanted, '.md'))
  if (named) return { kind: 'page', page: named, text: textOf(named) }
  const all = pages.flatMap(sectionsOf)
  const sections = all.filter(({ title }) => plainTitle(title) === wanted)
  if (sections.length > 0) return { kind: 'sections', sections }
  const rows = pages.flatMap(namedRows).filter(({ names }) => names.includes(wanted))
  return rows.length > 0
    ? { kind: 'rows', rows: rows.map(({ names: _, ...row }) => row) }
    : { kind: 'passages', passages: passagesWith(wanted.split(/\s+/), all) }
}

/** Words that lead to a page, a section or a row: names of pages, events, codes and settings. */
export function knownWords(pages: readonly Page[]): readonly string[] {
  const titles = pages.flatMap(sectionsOf).map(({ title }) => title.replaceAll('`', ''))
  return [
    ...pages.map(({ name }) => name),
    ...titles.filter((title) => !title.includes(' ')),
    ...pages.flatMap(namedRows).flatMap(({ names }) => names),
  ]
}

/** Rows whose first cell is one or more names in backticks: `a`, or `a`, `b`. */
function namedRows(page: Page): readonly (Row & { readonly names: readonly string[] })[] {
  return textOf(page)
    .split('\n')
    .flatMap((line, at) => {
      const [, first = '', rest = ''] = /^\| *(`[^`]+`(?:, `[^`]+`)*) *\|(.+)\|\s*$/.exec(line) ?? []
      if (first === '') return []
      const cells = rest.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
      const names = first.toLowerCase().replaceAll('`', '').split(', ')
      return [{ page, line: at + 1, names, text: cells.filter((cell) => cell !== '').join('; ') }]
    })
}

/** The best come first: all words in the heading, then the words side by side, then some of them in the heading. */
function passagesWith(words: readonly string[], sections: readonly Section[]): readonly Passage[] {
  const phrase = words.join(' ')
  const ranked = sections.flatMap((section) => {
    const [title, text] = [section.title.toLowerCase(), section.text.toLowerCase()]
    if (!words.every((word) => text.includes(word))) return []
    const inTitle = words.filter((word) => title.includes(word)).length
    const rank = (inTitle === words.length ? 4 : 0) + (text.includes(phrase) ? 2 : 0) + (inTitle > 0 ? 1 : 0)
    return [{ passage: passageOf(section, words), rank }]
  })
  return ranked.sort((a, b) => b.rank - a.rank).map(({ passage }) => passage)
}

/** Quotes the line with the most of the words; the heading is shown anyway. */
function passageOf({ page, title, line, text }: Section, words: readonly string[]): Passage {
  const [, ...lines] = text.toLowerCase().split('\n')
  const ranks = lines.map((one) => {
    const found = words.filter((word) => one.includes(word)).length
    return one.includes(words.join(' ')) ? found + 1 : found
  })
  const best = Math.max(0, ...ranks)
  const at = best === 0 ? 0 : ranks.indexOf(best) + 1
  return { page, title, line: line + at, quote: text.split('\n')[at]?.trim() ?? '' }
}

/** The sections of a page without their subsections, so that a word is found once. */
function sectionsOf(page: Page): readonly Section[] {
  const lines = textOf(page).split('\n')
  const starts = headings(lines)
  return starts.map(({ at, title }, i) => {
    const end = starts[i + 1]?.at ?? lines.length
    return { page, title, line: at + 1, text: lines.slice(at, end).join('\n').trimEnd() }
  })
}

/** A `#` inside a block of code begins a comment. */
function headings(lines: readonly string[]): readonly { readonly at: number; readonly title: string }[] {
  let isCode = false
  return lines.flatMap((line, at) => {
    if (line.startsWith('```')) isCode = !isCode
    const title = isCode ? undefined : /^#+ (.+)/.exec(line)?.[1]
    return title === undefined ? [] : [{ at, title }]
  })
}

function plainTitle(title: string): string {
  return title.replaceAll('`', '').toLowerCase()
}

function textOf({ file }: Page): string {
  return readFileSync(file, 'utf8')
}

/** Beside the program, as the package is laid out. */
function docsFolder(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  for (const up of ['..', '../..', '../../..']) {
    const docs = join(start, up, 'docs')
    if (existsSync(join(docs, 'README.md'))) return docs
  }
  throw new Refusal('DOCS_MISSING', `The documentation is not beside the program in ${start}`, {
    hint: 'Install Carabiner again.',
  })
}
