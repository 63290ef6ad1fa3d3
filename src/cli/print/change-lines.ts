// What would change in a file of somebody else, as `diff -u` shows it, under the name of the file.

import { visible, visibleLines } from '../../core/base/text.js'
import type { SettingsFile } from '../../hosts/settings-file.js'
import { lineDiff } from './line-diff.js'
import { shortPath } from './lines.js'
import type { Paint } from './paint.js'

/** `after`: what it is to say; undefined: there is to be none. */
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

/** The ends of lines stay as they are, and are not shown. */
export function diffOf({ file, after }: TextChange): readonly string[] {
  const lines = (text = '') => text.replaceAll('\r\n', '\n')
  return lineDiff(lines(file.text), lines(after))
}
