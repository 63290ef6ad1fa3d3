// The text of a patch, as Codex and others send it to `apply_patch`: which files it writes, changes, moves and deletes.

import { type Data, isObject, type Json } from '../core/base/json.js'
import type { ToolCall } from './host.js'

const BEGIN = '*** Begin Patch'
const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/s
const MOVE = /^\*\*\* Move to: (.+)$/s
/** Other lines that are no part of a file. */
const MARKS: ReadonlySet<string> = new Set([BEGIN, '*** End Patch', '*** End of File'])
/** Looks like a header. In a file that a patch changes, `***` alone is a rule in Markdown. */
const LIKE_HEADER = /^\*\*\*\s+(?:add|update|delete|remove|move|rename|copy|create|link|begin|end)\b.*:/is
/** Where some agents begin a line, and others do not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python takes them for ends of lines
const MAYBE_BREAK = /[\r\v\f\x1c-\x1e\x85\u2028\u2029]/

/**
 * Each file as a call of Write or Edit. A file that is deleted or moved is an Edit with `deleted` or `moved_to`. Throws Error if the
 * input has no patch, or one that is not understood as a whole.
 */
export function callsOfPatch(input: Data): readonly ToolCall[] {
  const patches = textsIn(input).filter(hasPatch)
  if (!patches.some((text) => text.includes(BEGIN)))
    throw new Error(`its input has no text with ${JSON.stringify(BEGIN)}`)
  const files = patches.flatMap(filesIn)
  if (files.length === 0) throw new Error('its patch names no file')
  return files.flatMap(callsOf)
}

/** Every text in it: nobody knows which one the tool reads. */
function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isObject(value) ? Object.values(value as Data).flatMap(textsIn) : []
}

function hasPatch(text: string): boolean {
  return (
    text.includes(BEGIN) ||
    linesOf(text)
      .flatMap(startsIn)
      .some((one) => HEADER.test(one.trim()))
  )
}

interface PatchedFile {
  readonly kind: 'Add' | 'Update' | 'Delete'
  readonly path: string
  movedTo?: string
  readonly lines: string[]
}

/** Every line counts for so many files at most. */
const MOST_DOUBTS = 16

/** Agents trim some headers and not others. Lines after one that may be a header count for both files. */
function filesIn(patch: string): readonly PatchedFile[] {
  const files: PatchedFile[] = []
  let open: readonly PatchedFile[] = []
  for (const line of linesOf(patch)) {
    let isContent = true
    for (const text of startsIn(line)) {
      const said = text.trim()
      const isSure = text === line && said === text.trimEnd()
      const [, kind, path = ''] = HEADER.exec(said) ?? []
      const [, movedTo] = MOVE.exec(said) ?? []
      if (kind !== undefined) {
        const file: PatchedFile = { kind: kind as PatchedFile['kind'], path: path.trim(), lines: [] }
        files.push(file)
        open = isSure ? [file] : [...open, file]
        if (open.length > MOST_DOUBTS) throw new Error('too many lines of its patch may begin a file')
      } else if (movedTo !== undefined) {
        for (const file of open) file.movedTo = movedTo.trim()
      } else if (said.startsWith('***') && !MARKS.has(said) && (isSure || LIKE_HEADER.test(said)))
        throw new Error(`its patch has a line that is not understood: ${JSON.stringify(said.slice(0, 80))}`)
      if (isSure && said.startsWith('***')) isContent = false
    }
    if (isContent) for (const file of open) file.lines.push(line)
  }
  return files
}

function linesOf(patch: string): readonly string[] {
  return patch.split(/\r?\n/)
}

/** The line, and what some agents take for more lines in it. */
function startsIn(line: string): readonly string[] {
  return MAYBE_BREAK.test(line) ? [line, ...line.split(MAYBE_BREAK)] : [line]
}

function callsOf({ kind, path, movedTo, lines }: PatchedFile): readonly ToolCall[] {
  const added = textOf(lines, '+')
  if (kind === 'Add') return [{ tool: 'Write', input: { file_path: path, content: added } }]
  const edit = { file_path: path, old_string: textOf(lines, ' -'), new_string: textOf(lines, ' +') }
  const change = kind === 'Delete' ? { file_path: path, deleted: true } : edit
  if (movedTo === undefined) return [{ tool: 'Edit', input: change }]
  const moved: ToolCall = { tool: 'Edit', input: { ...change, moved_to: movedTo } }
  return [moved, { tool: 'Write', input: { file_path: movedTo, content: textOf(lines, ' +') } }]
}

/** The lines that begin with one of these marks, without it. */
function textOf(lines: readonly string[], marks: string): string {
  const kept = lines.filter((line) => line !== '' && marks.includes(line.charAt(0)))
  return kept.map((line) => `${line.slice(1)}\n`).join('')
}
