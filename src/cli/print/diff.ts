// Differences between two texts, as `diff -u` writes them.

import { visible, visibleLines } from '../../core/base/text.js'
import type { SettingsFile } from '../../hosts/settings-file.js'
import { shortPath } from './lines.js'
import type { Paint } from './terminal.js'

/** Unchanged lines around a change. */
const CONTEXT = 3
/** Lines before times lines after, without the common beginning and end. Beyond it everything counts as changed. */
const MOST_CELLS = 4_000_000

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Hunks with their headers; empty if nothing changed. Marks a last line without a newline. */
export function lineDiff(before: string, after: string): readonly string[] {
  const lines = compared(linesOf(before), linesOf(after))
  const near = new Set<number>()
  for (const [i, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    for (let at = i - CONTEXT; at <= i + CONTEXT; at++) near.add(at)
  }
  const printed: string[] = []
  let [old, fresh] = [1, 1]
  for (let i = 0; i < lines.length; ) {
    if (!near.has(i)) {
      // Only lines that are the same on both sides are left out.
      old++
      fresh++
      i++
      continue
    }
    let end = i
    while (end < lines.length && near.has(end)) end++
    const hunk = lines.slice(i, end)
    const [removed, added] = [hunk.filter(isOld).length, hunk.filter(isNew).length]
    printed.push(`@@ -${range(old, removed)} +${range(fresh, added)} @@`)
    printed.push(...hunk.map(({ sign, text }) => `${sign}${text}`))
    old += removed
    fresh += added
    i = end
  }
  return printed
}

function isOld({ sign }: Line): boolean {
  return sign !== '+'
}

function isNew({ sign }: Line): boolean {
  return sign !== '-'
}

function range(start: number, count: number): string {
  return count === 0 ? `${start - 1},0` : `${start},${count}`
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines.push(`${lines.pop()} (no newline at the end)`)
  return lines
}

function compared(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let same = 0
  const longest = Math.min(before.length, after.length) - start
  while (same < longest && before.at(-1 - same) === after.at(-1 - same)) same++
  const marked = (sign: Line['sign'], lines: readonly string[]) => lines.map((text) => ({ sign, text }))
  return [
    ...marked(' ', before.slice(0, start)),
    ...middle(before.slice(start, before.length - same), after.slice(start, after.length - same)),
    ...marked(' ', before.slice(before.length - same)),
  ]
}

/** Finds the longest common subsequence of lines. */
function middle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const [rows, columns] = [before.length, after.length]
  const lines: Line[] = []
  let [i, j] = [0, 0]
  if (rows * columns <= MOST_CELLS) {
    const width = columns + 1
    const common = new Uint32Array((rows + 1) * width)
    const at = (row: number, column: number) => common[row * width + column] as number
    for (let row = rows - 1; row >= 0; row--) {
      for (let column = columns - 1; column >= 0; column--) {
        common[row * width + column] =
          before[row] === after[column]
            ? at(row + 1, column + 1) + 1
            : Math.max(at(row + 1, column), at(row, column + 1))
      }
    }
    while (i < rows && j < columns) {
      if (before[i] === after[j]) {
        lines.push({ sign: ' ', text: before[i++] as string })
        j++
      } else if (at(i + 1, j) >= at(i, j + 1)) lines.push({ sign: '-', text: before[i++] as string })
      else lines.push({ sign: '+', text: after[j++] as string })
    }
  }
  while (i < rows) lines.push({ sign: '-', text: before[i++] as string })
  while (j < columns) lines.push({ sign: '+', text: after[j++] as string })
  return lines
}

// ---- a file of settings ----------------------------------------------------------------------------------------

/** `after`: the new text; undefined if the file is removed. */
interface TextChange {
  readonly file: SettingsFile
  readonly after: string | undefined
}

export function changeLines(change: TextChange, paint: Paint): readonly string[] {
  const { path, real, text } = change.file
  const name = visible(shortPath(path))
  const title = real === path ? name : `${name} -> ${visible(real)}`
  const coloured = (line: string) => {
    if (line.startsWith('+')) return paint.green(line)
    return line.startsWith('-') ? paint.red(line) : line
  }
  return [
    paint.bold(text === undefined ? `${title} (new)` : title),
    ...visibleLines(diffOf(change).join('\n')).map(coloured),
  ]
}

/** Line endings do not change, and are not shown. */
export function diffOf({ file, after }: TextChange): readonly string[] {
  const lines = (text = '') => text.replaceAll('\r\n', '\n')
  return lineDiff(lines(file.text), lines(after))
}
