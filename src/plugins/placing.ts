// Putting a plugin in its place, replacing and removing it: whenever it is interrupted, what is found later is the old or the new.

import { existsSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { visibleName } from '../core/base/visible.js'
import { namesIn } from '../files/folder.js'
import { type LockEntry, readLock, writeLock } from './lock-file.js'
import { PluginProblem } from './plugin-problem.js'
import { collisionKey } from './sources/entry-path.js'
import type { FileTree } from './sources/file-tree.js'
import { readFolderTree } from './sources/folder-source.js'
import { writeTree } from './sources/tree-files.js'
import { lockPath, makeFolder, pluginsDir, type Target } from './target.js'
import { clearAway, isLeft, type Kind, noteDown, type UnderWay, underWay } from './under-way.js'

/*
 * All in the folder of plugins itself, in folders whose names begin with a dot, which nobody looks into for hooks:
 *
 *   .staging-N/NAME   the new files. The lock file is written when they are whole: from then on they are what is to be.
 *   .old-N/NAME       what was there before.
 *   .gone-N/NAME      what is being removed. It is gone from the moment it has its place here.
 *
 * So the lock file decides between old and new, and `recover` does what is left to do: in folders that under-way.ts has
 * a note of, and in no other, whatever its name is.
 */

/** Between the steps, for tests that end the process there. */
export type Step = (name: string) => void

const NO_STEP: Step = () => undefined

/** What belongs to a plugin elsewhere: trust, data, switches. `folder` is where its files are now. */
export type Forget = (name: string, folder: string) => void

export interface Placing {
  readonly name: string
  readonly tree: FileTree
  readonly entry: LockEntry
  /** The integrity of what it replaces, as it was shown; undefined: nothing may be there. */
  readonly replaces?: string | undefined
}

/** Call it alone (see target.ts), after `recover`. */
export function place(target: Target, { name, tree, entry, replaces }: Placing, step = NO_STEP): void {
  const folder = pluginsDir(target)
  checkPlace(folder, name, replaces)
  const staging = staged(folder, name, tree, step, (one) => {
    const lock = new Map([...readLock(lockPath(target)), [name, entry] as const])
    writeLock(lockPath(target), lock, draftOf(target, one))
    step('decided')
  })
  swapIn(folder, staging, step)
  clearAway(staging)
  step('done')
}

/** One that comes from no source: the rename decides, and no lock file. Nothing may be there. Call it alone. */
export function placeNew(folder: string, name: string, tree: FileTree, step = NO_STEP): void {
  checkPlace(folder, name, undefined)
  const staging = staged(folder, name, tree, step, ({ path }) => {
    renameSync(join(path, name), join(folder, name))
    step('placed')
  })
  clearAway(staging)
  step('done')
}

/** The files beside their place, whole, and what decides that they are to be. Where that fails, nothing is left of them. */
function staged(
  folder: string,
  name: string,
  tree: FileTree,
  step: Step,
  decide: (staging: UnderWay) => void,
): UnderWay {
  makeFolder(folder)
  const staging = noteDown(folder, 'staging', name)
  try {
    mkdirSync(staging.path)
    step('begun')
    writeTree(tree, join(staging.path, name))
    step('staged')
    decide(staging)
    return staging
  } catch (error) {
    clearAway(staging)
    throw notWritten(join(folder, name), error)
  }
}

function notWritten(path: string, error: unknown): PluginProblem {
  if (error instanceof PluginProblem) return error
  const what = `${visibleName(path)} cannot be written: ${textOf(error)}`
  return new PluginProblem('NOT_WRITTEN', what, 'Nothing was changed.')
}

/** The new files in, the old ones out of the way first. */
function swapIn(folder: string, { path, name }: UnderWay, step: Step): void {
  const inPlace = join(folder, name)
  const old = isThere(inPlace) ? noteDown(folder, 'old', name) : undefined
  if (old) {
    mkdirSync(old.path)
    step('room')
    renameSync(inPlace, join(old.path, name))
    step('aside')
  }
  renameSync(join(path, name), inPlace)
  step('placed')
  if (old) clearAway(old)
}

/** Throws where something is that is not to be replaced, or is not any more what was shown. */
export function checkPlace(folder: string, name: string, replaces: string | undefined): void {
  const taken = pluginEntries(folder).find((one) => collisionKey(one) === collisionKey(name))
  if (replaces === undefined) {
    if (taken === undefined) return
    throw new PluginProblem(
      'ALREADY_INSTALLED',
      `${visibleName(taken)} is there already, in ${visibleName(folder)}`,
      `Type carabiner update ${name} for a newer version, carabiner uninstall ${name} first, or give another name with --name NAME.`,
    )
  }
  if (integrityAt(join(folder, name)) === replaces) return
  throw new PluginProblem(
    'MISMATCH',
    `${name} was changed meanwhile, and was left as it is`,
    'Look at it again: carabiner update',
  )
}

/** Removes it whole. Answers false if there was nothing. Call it alone, after `recover`. */
export function unplace(target: Target, name: string, forget: Forget, step = NO_STEP): boolean {
  const folder = pluginsDir(target)
  const [isHere, isLocked] = [isThere(join(folder, name)), readLock(lockPath(target)).has(name)]
  if (isHere) {
    const gone = noteDown(folder, 'gone', name)
    mkdirSync(gone.path)
    step('begun')
    renameSync(join(folder, name), join(gone.path, name))
    step('aside')
    finish(target, gone, forget, step)
  } else {
    forget(name, join(folder, name))
    if (isLocked) unlock(target, name)
  }
  removeEmpty(folder)
  return isHere || isLocked
}

function finish(target: Target, gone: UnderWay, forget: Forget, step: Step): void {
  const { name, path } = gone
  forget(name, join(path, name))
  step('forgotten')
  unlock(target, name, draftOf(target, gone))
  step('unlocked')
  clearAway(gone)
  step('done')
}

function unlock(target: Target, name: string, draft?: string): void {
  const path = lockPath(target)
  const lock = readLock(path)
  if (lock.has(name)) writeLock(path, new Map([...lock].filter(([one]) => one !== name)), draft)
}

/** Of the lock file, while it is written. */
function draftOf(target: Target, { id }: UnderWay): string {
  return `${lockPath(target)}.${id}.tmp`
}

/** As if there never was a plugin. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
    rmdirSync(dirname(folder))
  } catch {
    // something is in there
  }
}

// ---- afterwards -----------------------------------------------------------------------------------------------

/** Finishes what a process that was ended left half done, and answers what it removed by that. Call it alone. */
export function recover(target: Target, forget: Forget): readonly string[] {
  const folder = pluginsDir(target)
  const left = underWay(folder)
  if (left.length === 0) return []
  const lock = readLock(lockPath(target))
  const each = (kind: Kind, work: (one: UnderWay, inPlace: string) => void) => {
    for (const one of left.filter((some) => some.kind === kind)) {
      rmSync(draftOf(target, one), { force: true })
      if (isThere(join(one.path, one.name))) work(one, join(folder, one.name))
      clearAway(one)
    }
  }
  each('staging', (one, inPlace) => {
    const wanted = lock.get(one.name)?.integrity
    if (wanted === undefined || integrityAt(join(one.path, one.name)) !== wanted) return
    if (integrityAt(inPlace) !== wanted) swapIn(folder, one, NO_STEP)
  })
  each('old', ({ name, path }, inPlace) => {
    if (!isThere(inPlace)) renameSync(join(path, name), inPlace)
  })
  const removed: string[] = []
  each('gone', (one, inPlace) => {
    if (isThere(inPlace)) return
    finish(target, one, forget, NO_STEP)
    removed.push(one.name)
  })
  removeEmpty(folder)
  return removed
}

/** Where no lock file is, what was interrupted never came to be. Call it alone. */
export function clearLeft(folder: string): void {
  for (const one of underWay(folder)) clearAway(one)
}

/** Names of what looks like half done work and is not ours: somebody brought it along. */
export function strangeLeftovers(folder: string): readonly string[] {
  const own = new Set(underWay(folder).map(({ path }) => path))
  return namesIn(folder).filter((name) => isLeft(name) && !own.has(join(folder, name)))
}

/** What may be a plugin in there: what discovery looks at. */
export function pluginEntries(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => !name.startsWith('.') && name !== 'hooks.json')
}

/** Also a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Undefined where nothing is, or nothing that could have been installed. */
export function integrityAt(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined
  try {
    return readFolderTree(folder).integrity()
  } catch (error) {
    if (error instanceof PluginProblem) return undefined
    throw error
  }
}
