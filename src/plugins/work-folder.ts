// Temporary work: private folders to fetch and inspect plugins, and notes of unfinished work in a plugins folder.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { digest } from '../core/base/digest.js'
import { textOf } from '../core/base/errors.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { stateHome } from '../files/homes.js'
import { ifThere } from '../files/if-there.js'
import { nonce } from '../files/nonce.js'
import { realOf } from '../files/within.js'
import { PluginProblem } from './plugin-problem.js'

const NAME = /^work-[0-9a-f]{16}$/
/** Work folders older than this are removed. No review takes that long. */
const LEFT_MS = 24 * 3600_000

export function workHome(): string {
  return join(stateHome(), 'plugins')
}

export async function withWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = makeWorkFolder()
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The caller must remove it. */
export function makeWorkFolder(): string {
  const home = workHome()
  try {
    makePrivate(home)
    sweep(home)
    const folder = join(home, `work-${nonce()}`)
    mkdirSync(folder, 0o700)
    return folder
  } catch (error) {
    throw new PluginProblem(
      'NOT_WRITTEN',
      `Cannot write to ${home}: ${textOf(error)}`,
      'Free some space, or set CARABINER_HOME to a writable folder.',
    )
  }
}

function sweep(home: string): void {
  for (const name of readdirSync(home).filter((one) => NAME.test(one))) {
    const path = join(home, name)
    const made = ifThere(() => lstatSync(path))?.mtimeMs ?? Date.now()
    if (Date.now() - made > LEFT_MS) rmSync(path, { recursive: true, force: true })
  }
}

// ---- unfinished work in a folder of plugins -------------------------------------------------------------------

const KINDS = ['staging', 'old', 'gone'] as const

/** The kinds of folders in placing.ts. */
export type Kind = (typeof KINDS)[number]

export interface UnderWay {
  readonly kind: Kind
  /** The name of the plugin. */
  readonly name: string
  readonly id: string
  /** The folder. It may not exist yet. */
  readonly path: string
  readonly note: string
}

const LEFT = /^\.(?:staging|old|gone)-[0-9a-f]{16}$/
const NOTE = /^(staging|old|gone)-([0-9a-f]{16})$/

/** Whether a name in a folder of plugins looks like unfinished work. */
export function isLeft(name: string): boolean {
  return LEFT.test(name)
}

/**
 * Writes a note before the folder is created. Notes are kept outside the plugins folder, because a project may contain
 * folders that look like ours.
 */
export function noteDown(folder: string, kind: Kind, name: string): UnderWay {
  const one = underWayAs(folder, kind, name, nonce())
  makePrivate(dirname(one.note))
  writeFileSync(one.note, name, { flag: 'wx', mode: 0o600 })
  return one
}

function underWayAs(folder: string, kind: Kind, name: string, id: string): UnderWay {
  const [path, note] = [join(folder, `.${kind}-${id}`), join(notesOf(folder), `${kind}-${id}`)]
  return { kind, name, id, path, note }
}

/** The note goes last, so that an interrupted removal is finished later. */
export function clearAway({ path, note }: UnderWay): void {
  rmSync(path, { recursive: true, force: true })
  rmSync(note, { force: true })
  try {
    rmdirSync(dirname(note))
  } catch {
    // There are other notes.
  }
}

/** Sorted in the order in which they must be finished. */
export function underWay(folder: string): readonly UnderWay[] {
  const notes = notesOf(folder)
  const found = namesIn(notes).flatMap((file): UnderWay[] => {
    const [, said, id = ''] = NOTE.exec(file) ?? []
    const kind = KINDS.find((one) => one === said)
    const name = kind && nameIn(join(notes, file))
    return kind === undefined || name === undefined ? [] : [underWayAs(folder, kind, name, id)]
  })
  return found.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
}

/** Undefined if its owner has finished in the meantime: readers take no mutex. */
function nameIn(note: string): string | undefined {
  return ifThere(() => basename(readFileSync(note, 'utf8')))
}

function notesOf(folder: string): string {
  return join(workHome(), `under-way-${digest(realOf(folder)).slice(0, 32)}`)
}
