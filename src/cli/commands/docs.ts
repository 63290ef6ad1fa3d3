// `carabiner docs`: the documentation in the terminal, by page, by heading or by word.

import { didYouMean } from '../../core/base/text.js'
import type { Command } from '../command.js'
import { type Found, knownWords, lookUp, type Page, type Passage, type Row, readPages } from '../manual.js'
import type { Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { columns, counted, grouped, labelled, nextLines, oneLine, placeOf } from '../print/lines.js'
import { type Paint, painter, width } from '../print/terminal.js'
import { EXIT, Refusal } from '../refusal.js'

/** More are counted, not listed. */
const MOST_PASSAGES = 12

export const command: Command = {
  name: 'docs',
  summary: 'Read the documentation, by page or by word.',
  positionals: ['[WORD…]'],
  completes: ['pages'],
  about:
    'Without a word it lists the pages. A page name prints that page, a heading (such as an event or an error code) ' +
    'prints that section, a finding of doctor or a setting prints its row of a table, and any other words list the ' +
    'sections that contain all of them. The pages come with the package, so this works offline.',
  options: {},
  exits: [[EXIT.failed, 'nothing was found']],
  examples: [
    { does: 'Which pages are there?', line: 'carabiner docs' },
    { does: 'One page.', line: 'carabiner docs first-hook' },
    { does: 'What does this error mean?', line: 'carabiner docs HOOK_TIMEOUT' },
    { does: 'What does this finding mean?', line: 'carabiner docs not-executable' },
    { does: 'What does this event carry?', line: 'carabiner docs PreToolUse' },
    { does: 'Where is something explained?', line: 'carabiner docs exit code' },
  ],
  async run({ positionals }, output) {
    const pages = readPages()
    if (positionals.length === 0) return output.result({ pages }, (paint) => indexLines(pages, paint))
    const word = positionals.join(' ')
    const found = lookUp(word, pages)
    if (found.kind === 'passages' && found.passages.length === 0) {
      throw new Refusal(
        'NOT_DOCUMENTED',
        `The documentation does not mention ${JSON.stringify(word)}${didYouMean(word, knownWords(pages))}`,
        {
          hint: 'carabiner docs lists the pages.',
        },
      )
    }
    if (output.json) return output.result(found, () => [])
    await show(found, word, output)
    return EXIT.ok
  },
}

function indexLines(pages: readonly Page[], paint: Paint): readonly string[] {
  const cells = columns(pages.map(({ name, gives }) => [`  ${name}`, gives]))
  const rows = pages.map((page, i) => ({ page, line: (cells[i] as readonly string[]).join('  ') }))
  const hang = (cells[0]?.[0]?.length ?? 0) + 2
  return [
    ...[...grouped(rows, ({ page }) => page.shelf)].flatMap(([shelf, of]) => [
      paint.bold(shelf.toLowerCase()),
      ...fitted(
        of.map(({ line }) => line),
        width(),
        hang,
      ),
    ]),
    ...nextLines(['carabiner docs PAGE'], paint),
  ]
}

async function show(found: Found, word: string, output: Output): Promise<void> {
  const paint = painter(1)
  if (found.kind === 'page') return output.page(pageLines(found.text, paint))
  if (found.kind === 'sections') {
    const lines = found.sections.flatMap(({ page, line, text }) => [
      ...pageLines(text, paint),
      paint.dim(`(${placeOf({ file: page.file, line })})`),
      '',
    ])
    return output.page(lines.slice(0, -1))
  }
  await output.print(
    found.kind === 'rows' ? rowLines(found.rows, word, paint) : passageLines(found.passages, word, paint),
  )
}

function rowLines(rows: readonly Row[], word: string, paint: Paint): readonly string[] {
  return [
    ...rows.flatMap(({ page, line, text }) => [
      ...labelled(`${word}:`, plainMarkdown(text), paint.bold),
      paint.dim(`(${placeOf({ file: page.file, line })})`),
    ]),
    ...nextLines([...new Set(rows.map(({ page }) => `carabiner docs ${page.name}`))].slice(0, 1), paint),
  ]
}

function passageLines(passages: readonly Passage[], word: string, paint: Paint): readonly string[] {
  const shown = passages.slice(0, MOST_PASSAGES)
  const rest = passages.length - shown.length
  return [
    ...shown.flatMap(({ page, title, quote }) => [
      `${paint.bold(page.name)}  ${plainMarkdown(title)}`,
      `    ${paint.dim(around(word, plainMarkdown(quote), Math.min(100, width() - 4)))}`,
    ]),
    ...(rest > 0 ? [`${counted(rest, 'more section')} with ${JSON.stringify(word)}`] : []),
    ...nextLines([`carabiner docs ${passages[0]?.page.name}`], paint),
  ]
}

/** One line of this length, with the word in it. */
function around(word: string, text: string, longest: number): string {
  const [first = ''] = word.toLowerCase().split(' ')
  const line = oneLine(text)
  const lower = line.toLowerCase()
  const at = Math.max(lower.indexOf(word.toLowerCase()), lower.indexOf(first), 0)
  const from = line.length <= longest ? 0 : Math.max(0, Math.min(at - longest / 4, line.length - longest))
  return oneLine(from === 0 ? line : `…${line.slice(Math.ceil(from) + 1)}`, longest)
}

/** Markdown as a terminal shows it best. Into a pipe it goes unchanged. */
function pageLines(text: string, paint: Paint): readonly string[] {
  const lines = text.trimEnd().split('\n')
  if (width() === Infinity) return lines
  let isCode = false
  return lines.flatMap((line) => {
    if (line.startsWith('<!--')) return []
    if (line.startsWith('```')) {
      isCode = !isCode
      return []
    }
    if (isCode) return [`    ${paint.cyan(line)}`]
    if (/^#+ /.test(line)) return [paint.bold(plainMarkdown(line.replace(/^#+ /, '')))]
    return fitted([plainMarkdown(line)], Math.min(100, width()), /^\s*[-*] /.test(line) ? 2 : 0)
  })
}

/** Without link targets and bold marks. */
function plainMarkdown(line: string): string {
  return line.replace(/\[([^\]]+)\]\([^)\s]+\)/g, '$1').replaceAll('**', '')
}
