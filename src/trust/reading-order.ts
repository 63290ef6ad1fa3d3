// In which order somebody should read the files of a unit: what commands name, what that names, other scripts, the rest.

import { basename, extname } from 'node:path'
import type { Review, ReviewedFile } from './review.js'
import { isExecutable } from './unit.js'

/** `named`: by a command, or by a file that is named itself. As far as texts tell: a name can be put together at run time. */
export type Part = 'named' | 'script' | 'other'

export interface RankedFile {
  readonly file: ReviewedFile
  readonly part: Part
}

/** Of one file, in characters: what names others stands early, and the rest is somebody's data. */
const LONGEST_TEXT = 256 * 1024

/** Files of the folder and scripts outside it, the first to read first. */
export function inReadingOrder({ unit, files, scripts }: Review): readonly RankedFile[] {
  const named = new Set<ReviewedFile>(scripts)
  const words = new Set(unit.hooks.flatMap(({ command, args = [] }) => [command, ...args].flatMap(wordsIn)))
  for (const { text = '' } of scripts) addWords(words, text)
  const waiting = new Set(files.filter(({ link }) => link === undefined))
  for (let size = -1; size !== named.size; ) {
    size = named.size
    for (const file of waiting) {
      if (!namesOf(file.path).some((name) => words.has(name))) continue
      named.add(file)
      waiting.delete(file)
      addWords(words, file.text ?? '')
    }
  }
  const others = files.filter((file) => !named.has(file))
  return [
    ...[...named].map((file) => ({ file, part: 'named' as const })),
    ...others.filter(isScript).map((file) => ({ file, part: 'script' as const })),
    ...others.filter((file) => !isScript(file)).map((file) => ({ file, part: 'other' as const })),
  ]
}

function addWords(words: Set<string>, text: string): void {
  for (const word of wordsIn(text.slice(0, LONGEST_TEXT))) words.add(word)
}

function wordsIn(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}_.@%+~-]+/u).map((word) => word.replace(/^\.+(?=.)|\.+$/g, ''))
}

/** `./check` may be check.js, and a folder its index or its __main__. */
function namesOf(path: string): readonly string[] {
  const name = basename(path).replace(/^\.+(?=.)/, '')
  return COMPLETED.test(name) ? [name, name.slice(0, -extname(name).length)] : [name]
}

const COMPLETED = /\.(?:[cm]?[jt]s|[jt]sx|py)$/
const SCRIPT = /\.(?:(?:ba|z|k|da|fi)?sh|[cm]?[jt]s|[jt]sx|py|rb|pl|php|ps1|lua|awk|go|rs)$/i

export function isScript(file: ReviewedFile): boolean {
  return (
    file.link === undefined && (isExecutable(file) || SCRIPT.test(file.path) || !!file.text?.startsWith('#!'))
  )
}
