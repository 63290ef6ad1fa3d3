// Notes for the next writer: losses and repairs that it records first, even if this process has ended by then.

import { hash as digestOf } from 'node:crypto'
import { readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { timestamp } from '../../core/base/time.js'
import { lstatIfThere } from '../../files/if-there.js'
import { nonce } from '../../files/nonce.js'
import type { GapEntry, OwnEntry } from '../audit-log.js'

/*
 * A note is a symbolic link whose target is its text. A short one is stored in the folder's own tables, so it can be
 * written on a full disk.
 */

const NOTE = /^note\.[0-9a-f]{16}$/
const TEXT = /^(?:gap\.(\d{1,15})\.(\d{1,15})\.([A-Z0-9_]{1,20})|torn\.(\d{1,15}))$/
const TORN = /^torn\.(\d{1,15})$/
/** The latest time that a Date can hold. */
const LATEST_TIME = 8.64e15

export interface Note {
  readonly path: string
  readonly entry: OwnEntry
}

/** Records that were lost, and since when. */
export interface Loss {
  readonly records: number
  readonly since: number
  readonly why: string
}

/** Returns the path of the note. Throws if it cannot be written. */
export function leaveNote(folder: string, what: Loss | { readonly torn: number }): string {
  const path = join(folder, `note.${nonce()}`)
  const text = 'torn' in what ? `torn.${what.torn}` : `gap.${what.records}.${what.since}.${codeOf(what.why)}`
  symlinkSync(text, path)
  markNoted(folder)
  return path
}

/** Marks that there are notes, because searching the folder for them takes longer than writing a record. */
const NOTED = 'noted'

/** Created after the note, because whoever removes the mark then looks for notes. Without the mark, the note is found later. */
function markNoted(folder: string): void {
  try {
    symlinkSync(NOTED, join(folder, NOTED))
  } catch {}
}

export function hasNotes(folder: string): boolean {
  return lstatIfThere(join(folder, NOTED)) !== undefined
}

/** Call it before the folder is listed. */
export function clearNoted(folder: string): void {
  removeNote(join(folder, NOTED))
}

function codeOf(why: string): string {
  return /^[A-Z0-9_]{1,20}$/.test(why) ? why : 'FAILED'
}

/** Ignores files that only look like notes. */
export function notesAmong(folder: string, names: readonly string[]): readonly Note[] {
  const paths = names.filter((name) => NOTE.test(name)).map((name) => join(folder, name))
  return paths.flatMap((path) => {
    const entry = entryOf(folder, path)
    return entry ? [{ path, entry }] : []
  })
}

function entryOf(folder: string, path: string): OwnEntry | undefined {
  let text: string
  try {
    text = readlinkSync(path)
  } catch {
    return undefined
  }
  const [, records, since, why, torn] = TEXT.exec(text) ?? []
  if (torn) return tornEntry(folder, Number(torn))
  if (!records || !why || Number(since) > LATEST_TIME) return undefined
  return gapEntry({ records: Number(records), since: Number(since), why })
}

export function gapEntry({ records, since, why }: Loss): GapEntry {
  return { kind: 'gap', time: timestamp(), records, since: new Date(since).toISOString(), why }
}

function tornEntry(folder: string, number: number): OwnEntry {
  const file = `torn.${number}`
  const entry = { kind: 'recovered', time: timestamp(), what: 'torn', file } as const
  try {
    const bytes = readFileSync(join(folder, file))
    return { ...entry, bytes: bytes.length, digest: digestOf('sha256', bytes) }
  } catch {
    // Somebody removed the file.
    return entry
  }
}

/** A note that cannot be removed will be recorded again. */
export function removeNotes(notes: readonly Note[]): void {
  for (const { path } of notes) removeNote(path)
}

/** Returns whether the note still existed. */
export function removeNote(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch {
    return false
  }
}

/** The number of the next file for an unfinished line that is moved out of the log. */
export function nextTorn(names: readonly string[]): number {
  return 1 + Math.max(0, ...names.flatMap((name) => TORN.exec(name)?.[1] ?? []).map(Number))
}
