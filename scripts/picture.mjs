// npm run picture: draws docs/tour.svg, a terminal that shows a real run of npm start. CI draws it again and compares.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { painter } from '../examples/play/print.mjs'
import { playTour } from '../examples/play/tour.mjs'

/** Widths and heights in pixels. */
const CELL = { width: 7.8, height: 19 }
const EDGE = 22
const BAR = 34

const BACKGROUND = '#15181e'
const TEXT = '#d5dae3'
/** Styles by the escape code that starts a colour. */
const STYLES = new Map([
  ['1', 'fill="#ffffff" font-weight="bold"'],
  ['2', 'fill="#7d8694"'],
  ['31', 'fill="#ff7b72"'],
  ['32', 'fill="#6fdc8c"'],
])

/** @typedef {{ column: number, text: string, style: string }} Piece */

/** Runs the tour and draws it. */
export async function picture() {
  /** @type {string[]} */
  const lines = [`${painter(true).dim('$')} npm start`, '']
  await playTour(painter(true), (more) => lines.push(...more.flatMap((line) => line.split('\n'))))
  return drawn(lines)
}

/** @param {readonly string[]} lines with colours as a terminal gets them */
function drawn(lines) {
  const rows = lines.map(piecesOf)
  const columns = Math.max(...rows.flat().map(({ column, text }) => column + text.length))
  const width = Math.ceil(columns * CELL.width + 2 * EDGE)
  const height = Math.ceil(BAR + rows.length * CELL.height + EDGE)
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, i) => `<circle cx="${EDGE + i * 18}" cy="20" r="5.5" fill="${fill}"/>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>npm start: hooks deny, rewrite, ask and answer an agent’s calls</title>',
    `<rect width="${width}" height="${height}" rx="9" fill="${BACKGROUND}"/>`,
    ...dots,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" fill="${TEXT}" xml:space="preserve">`,
    ...rows.flatMap((row, i) => textOf(row, BAR + (i + 1) * CELL.height)),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Every piece has its own length, so that columns line up in any font. @param {readonly Piece[]} row @param {number} y */
function textOf(row, y) {
  return row.map(({ column, text, style }) => {
    const x = (EDGE + column * CELL.width).toFixed(1)
    const length = (text.length * CELL.width).toFixed(1)
    return `<text x="${x}" y="${y}" textLength="${length}"${style && ` ${style}`}>${escaped(text)}</text>`
  })
}

/** @param {string} line @returns {readonly Piece[]} without blanks at the edges */
function piecesOf(line) {
  let [column, style] = [0, '']
  const [first = '', ...coloured] = line.split('\x1b[')
  return [`m${first}`, ...coloured].flatMap((part) => {
    const end = part.indexOf('m')
    style = STYLES.get(part.slice(0, end)) ?? ''
    const text = part.slice(end + 1)
    const piece = { column: column + text.length - text.trimStart().length, text: text.trim(), style }
    column += text.length
    return piece.text === '' ? [] : [piece]
  })
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('../docs/tour.svg', import.meta.url), await picture())
}
