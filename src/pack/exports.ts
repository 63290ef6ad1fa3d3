// Transcripts that were exported before a context was compacted: the newest, without secrets.

import { closeSync, lstatSync, openSync, readdirSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { redactedData, withoutSecrets } from '../core/base/secrets.js'
import { makePrivate } from '../files/folder.js'
import { removeFile } from './kept-file.js'
import type { PackState } from './state.js'
import type { Tail } from './transcript.js'

const MOST_EXPORTS = 10
const MAX_BYTES = 32 * 1024 * 1024
const NAME = /^\d{15}-[\w-]{0,64}\.jsonl$/

const FOLDER = 'transcripts'

/** Answers the path of the export, if there may be one. Throws where it cannot be written. */
export function exportTranscript(
  state: PackState,
  tail: Tail,
  session: string,
  now: number,
): string | undefined {
  const folder = state.place(FOLDER)
  if (folder === undefined) return undefined
  makePrivate(folder)
  // By age, and by a name that is one whatever the id is made of.
  const name = `${String(now).padStart(15, '0')}-${session.replace(/[^\w-]/g, '_').slice(0, 64)}.jsonl`
  const path = join(folder, name)
  const draft = `${path}.${process.pid}.tmp`
  try {
    write(draft, tail)
    renameSync(draft, path)
  } catch (error) {
    removeFile(draft)
    throw error
  }
  removeOldest(folder)
  return path
}

function write(path: string, { lines, cut }: Tail): void {
  const fd = openSync(path, 'wx', 0o600)
  try {
    if (cut) writeAll(fd, `${JSON.stringify({ type: 'cut', note: 'earlier lines were left out' })}\n`)
    for (const line of lines) writeAll(fd, `${withoutSecretsIn(line)}\n`)
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

/** As data, so that a key says what its text is, and no text is cut in the middle of an escape. */
function withoutSecretsIn(line: string): string {
  try {
    return JSON.stringify(redactedData(JSON.parse(line)))
  } catch {
    return JSON.stringify({ type: 'unreadable', text: withoutSecrets(line) })
  }
}

export function newestExport(state: PackState): string | undefined {
  const folder = state.place(FOLDER)
  const name = folder && exportsIn(folder).at(0)
  return folder && name ? join(folder, name) : undefined
}

/** Newest first. */
function exportsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => NAME.test(name))
      .sort()
      .reverse()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function removeOldest(folder: string): void {
  let bytes = 0
  for (const [i, name] of exportsIn(folder).entries()) {
    const path = join(folder, name)
    bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (i > 0 && (i >= MOST_EXPORTS || bytes > MAX_BYTES)) removeFile(path)
  }
}
