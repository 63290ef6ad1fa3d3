// The text of a patch, as Codex and others send it to `apply_patch`: which files it writes, changes, moves and deletes.

import type { Data } from '../core/base/json.js'
import type { ToolCall } from './host.js'

const BEGIN = '*** Begin Patch'
const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/
const MOVE = /^\*\*\* Move to: (.+)$/

/** Each file as a call of Write or Edit. Throws Error if the input has no patch, or the patch names no file. */
export function callsOfPatch(input: Data): readonly ToolCall[] {
  const patch = Object.values(input).find((value) => typeof value === 'string' && value.includes(BEGIN))
  if (typeof patch !== 'string') throw new Error(`its input has no text with ${JSON.stringify(BEGIN)}`)
  const files = filesIn(patch.split(/\r?\n/))
  if (files.length === 0) throw new Error('its patch names no file')
  return files.flatMap(callsOf)
}

interface PatchedFile {
  readonly kind: 'Add' | 'Update' | 'Delete'
  readonly path: string
  movedTo?: string
  readonly lines: string[]
}

function filesIn(lines: readonly string[]): readonly PatchedFile[] {
  const files: PatchedFile[] = []
  for (const line of lines) {
    const header = HEADER.exec(line)
    const last = files.at(-1)
    const moved = MOVE.exec(line)
    if (header) files.push({ kind: header[1] as PatchedFile['kind'], path: trimmed(header[2]), lines: [] })
    else if (moved && last) last.movedTo = trimmed(moved[1])
    else last?.lines.push(line)
  }
  return files
}

function trimmed(path = ''): string {
  return path.trim()
}

function callsOf({ kind, path, movedTo, lines }: PatchedFile): readonly ToolCall[] {
  const added = textOf(lines, '+')
  if (kind === 'Add') return [{ tool: 'Write', input: { file_path: path, content: added } }]
  const edit = { file_path: path, old_string: textOf(lines, ' -'), new_string: textOf(lines, ' +') }
  const change: ToolCall = { tool: 'Edit', input: kind === 'Delete' ? { file_path: path } : edit }
  if (movedTo === undefined) return [change]
  return [change, { tool: 'Write', input: { file_path: movedTo, content: textOf(lines, ' +') } }]
}

/** The lines that begin with one of these marks, without it. */
function textOf(lines: readonly string[], marks: string): string {
  const kept = lines.filter((line) => line !== '' && marks.includes(line.charAt(0)))
  return kept.map((line) => `${line.slice(1)}\n`).join('')
}
