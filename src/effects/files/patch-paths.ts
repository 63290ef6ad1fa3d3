// The files that a patch changes, read from its text: an apply_patch envelope or a diff.

import { isAbsolute, join } from 'node:path'
import { lstatIfThere } from '../../files/if-there.js'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import type { Call } from '../script/shell-script.js'
import { ITS_INPUT, type Word } from '../script/word.js'
import { type FileEffect, inFolder, literalWord } from './file-effect.js'

const HEADERS = [
  /^\*\*\* (?:\w+ File|Move to):(.+)$/,
  // Headers of context diffs and of Subversion.
  /^\*\*\* (?!\w+ File:|Move to:|Begin |End |\d+(?:,\d+)? \*)(?:[ab]\/)?([^\t]+)/,
  /^Index: (.+)$/,
  /^(?:---|\+\+\+) (?:[ab]\/)?([^\t]+)/,
  /^(?:rename|copy) (?:from|to) (.+)$/,
]
const GIT_HEADER = 'diff --git '

export function pathsInPatch(text: string): readonly string[] {
  const paths = new Set<string>()
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    if (!/^[*\-+rcdI]/.test(line)) continue
    for (const header of HEADERS) {
      const path = unquoted(header.exec(line)?.[1]?.trim())
      if (path !== undefined && path !== '/dev/null') paths.add(path)
    }
    // Contains the same name twice. If the names differ, other lines give them.
    if (line.startsWith(GIT_HEADER)) {
      const names = line.slice(GIT_HEADER.length)
      paths.add(names.slice(0, names.length / 2).replace(/^"?a\/|"$/g, ''))
    }
  }
  return [...paths]
}

/** The files that a patch deletes, and those that it moves, with their new paths. */
export function lossesInPatch(texts: readonly string[]): {
  readonly deleted: readonly string[]
  readonly moved: ReadonlyMap<string, string>
} {
  const deleted = new Set<string>()
  const moved = new Map<string, string>()
  for (const text of texts) {
    // The last path that a line names as the old one.
    let old: string | undefined
    for (const raw of text.split('\n')) {
      const line = raw.trim()
      if (!/^[*\-+r]/.test(line)) continue
      const [, kind, path] = LOSS.exec(line) ?? []
      const name = unquoted(path?.trim())
      if (kind === undefined || name === undefined) continue
      if (kind === '*** Delete File:') deleted.add(name)
      else if (kind === '*** Move to:' || kind === 'rename to') {
        if (old !== undefined) moved.set(old, name)
      } else if (kind !== '+++') old = name.replace(/^a\//, '')
      else if (name === '/dev/null' && old !== undefined) deleted.add(old)
    }
  }
  return { deleted: [...deleted], moved }
}

const LOSS = /^(\*\*\* (?:Delete File|Update File|Move to):|rename (?:from|to)|---|\+\+\+) ?([^\t]+)/

/** git quotes names with special characters and writes their bytes as numbers. */
function unquoted(name: string | undefined): string | undefined {
  const [, inner] = /^"(?:[ab]\/)?(.*)"$/.exec(name ?? '') ?? []
  return inner === undefined
    ? name
    : inner
        .replace(/\\([0-3][0-7]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
        .replace(/\\(.)/g, '$1')
}

const MAX_BYTES = 1024 * 1024
const UNKNOWN: Word = { text: ITS_INPUT, known: false, glob: false }

/** The files that a call changes through the patches that it reads. A patch that does not exist yet tells nothing. */
export function patched(
  { input, folders, readsFrom: [source] }: Call,
  given: readonly Word[],
  into: readonly Word[] = [],
): readonly FileEffect[] {
  const made = (target: Word): FileEffect => ({ deed: 'write', target, deep: false })
  const texts = [...input]
  const effects: FileEffect[] = []
  // Output of git itself is treated like one of its branches.
  const isFed = source !== undefined && given.length === 0 && input.length === 0 && source.name !== 'git'
  const piped = isFed && source.name === 'cat' ? source.args : isFed ? [UNKNOWN] : []
  for (const file of [...given, ...piped]) {
    const text = folders.map((folder) => textOf(file, folder)).find((one) => one !== undefined)
    if (text !== undefined) {
      texts.push(text)
      continue
    }
    const isMissing = file.known && folders.every((folder) => !isThere(pathOf(file, folder)))
    const unread = made({ text: `the files of ${file.text}`, known: false, glob: false })
    effects.push(isMissing ? { ...unread, isMissing } : unread)
  }
  const paths = texts.flatMap(pathsInPatch)
  const placed = into.flatMap((folder) => paths.map((path) => made(inFolder(folder, path))))
  return [...effects, ...paths.map((path) => made(literalWord(path))), ...placed]
}

function pathOf({ text }: Word, folder: string): string {
  return isAbsolute(text) ? text : join(folder, text)
}

/** Also true where nobody may look. */
function isThere(path: string): boolean {
  try {
    return lstatIfThere(path) !== undefined
  } catch {
    return true
  }
}

function textOf(file: Word, folder: string): string | undefined {
  if (!file.known) return undefined
  try {
    const found = readPlain(realOf(pathOf(file, folder)), MAX_BYTES)
    return 'text' in found ? found.text : undefined
  } catch {
    // A person has to look at it then.
    return undefined
  }
}
