// The margin: what strangers wrote stands behind a mark of ours, made visible and folded, so that no part of it begins a line.

import { columnsOf, folded, visible } from '../core/base/text.js'

/** What has no room on its line goes on behind the second. */
export const MARK = '  │ '
const FURTHER = '  ┆ '
/** A word of ours amid what strangers wrote. */
export const OURS = '  ⋯ '

/** Of a line, in characters. */
const LONGEST_LINE = 2000
/** So many blanks in a row are no indentation; at the end of a line nobody sees a single one. */
const BLANKS = / {41,}| +$/g

/** One line of text that was made visible before. */
export function behind(mark: string, text: string, columns: number): readonly string[] {
  const goesOn = further(mark)
  return folded(text, columns - columnsOf(mark)).map((line, i) => `${i === 0 ? mark : goesOn}${line}`)
}

/** A stranger's text line by line. Of more than so many lines the middle is left out, never the end. */
export function quoted(text: string, mark: string, columns: number, room: number): readonly string[] {
  const { head, left, tail } = withoutMiddle(text.split('\n'), room)
  const shown = (lines: readonly string[]) => lines.flatMap((line) => quotedLine(line, mark, columns))
  const bytes = left.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  const cut = left.length > 0 ? [remark(mark, `${left.length} more lines (${bytes} bytes)`)] : []
  return [...shown(head), ...cut, ...shown(tail)]
}

function quotedLine(line: string, mark: string, columns: number): readonly string[] {
  const { head, bytes, tail } = cutLine(line)
  if (bytes === 0) return behind(mark, plainToSee(line), columns)
  const cut = remark(mark, `${bytes} more bytes`)
  return [
    ...behind(mark, plainToSee(head), columns),
    cut,
    ...behind(further(mark), plainToSee(tail), columns),
  ]
}

/** On one line. `⟨` is ours alone: in a stranger's text it is a number. */
export function oneLine(line: string): string {
  const { head, bytes, tail } = cutLine(line)
  return bytes === 0 ? plainToSee(line) : `${plainToSee(head)}⟨${bytes} more bytes⟩${plainToSee(tail)}`
}

function cutLine(line: string): { readonly head: string; readonly bytes: number; readonly tail: string } {
  if (line.length <= LONGEST_LINE) return { head: line, bytes: 0, tail: '' }
  const half = LONGEST_LINE / 2
  return {
    head: line.slice(0, half),
    bytes: Buffer.byteLength(line.slice(half, -half)),
    tail: line.slice(-half),
  }
}

function further(mark: string): string {
  return `${mark.slice(0, -FURTHER.length)}${FURTHER}`
}

function remark(mark: string, text: string): string {
  return `${mark.slice(0, -OURS.length)}${OURS}${text}`
}

function plainToSee(text: string): string {
  return visible(text).replace(BLANKS, ({ length }) => `⟨${length} ${length === 1 ? 'blank' : 'blanks'}⟩`)
}

export function withoutMiddle<T>(list: readonly T[], most: number) {
  if (list.length <= most) return { head: list, left: [], tail: [] }
  const tail = Math.floor(most / 2)
  const head = most - tail
  return { head: list.slice(0, head), left: list.slice(head, -tail), tail: list.slice(-tail) }
}
