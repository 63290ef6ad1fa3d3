// Places, replaces and removes plugins. After any interruption, either the old or the new version is in place.

import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hooksDirOf } from '../config/discovery.js'
import { textOf } from '../core/base/errors.js'
import { didYouMean, visibleName } from '../core/base/text.js'
import { userHome } from '../files/homes.js'
import { realOf } from '../files/within.js'
import { forgetPlugin } from './forget-plugin.js'
import { integrityAt } from './integrity.js'
import { type LockEntry, readLock, writeLock } from './lock-file.js'
import { PluginProblem } from './plugin-problem.js'
import { collisionKey, type FileTree } from './sources/file-tree.js'
import { writeTree } from './sources/folder-source.js'
import { alone, aloneIn, isThere, lockPath, pluginEntries, pluginsDir, type Target } from './target.js'
import { clearAway, type Kind, noteDown, type UnderWay, underWay } from './work-folder.js'

/*
 * All work happens inside the plugins folder, in folders whose names begin with a dot. Discovery skips those.
 *
 *   .staging-N/NAME   The new files. Once they are complete, the lock file is written, and from then on they count.
 *   .old-N/NAME       The files that were there before.
 *   .gone-N/NAME      The files of a plugin that is being removed. It counts as removed as soon as they are here.
 *
 * So the lock file decides between old and new, and `recover` finishes the rest. It only touches folders that
 * work-folder.ts has a note of, because a project may contain a folder with any name.
 */

/** Called between the steps. Tests kill the process there. */
export type Step = (name: string) => void

const NO_STEP: Step = () => undefined

interface Placing {
  readonly name: string
  readonly tree: FileTree
  readonly entry: LockEntry
  /** The integrity of the version it replaces, as it was shown. Undefined: the place must be empty. */
  readonly replaces?: string | undefined
}

/** Runs `work` on the plugins folder, after finishing interrupted work and while nobody else changes it. */
export function changing<T>(target: Target, work: () => T): Promise<T> {
  return alone(target, () => {
    recover(target)
    return work()
  })
}

/** Call it inside `changing`. */
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

/** Places a plugin without a source in any folder. The place must be empty, and the lock file does not change. */
export async function placeMade(folder: string, name: string, tree: FileTree, step = NO_STEP): Promise<void> {
  const target = targetAt(folder)
  const work = () => placeNew(folder, name, tree, step)
  if (target) return changing(target, work)
  await aloneIn(folder, () => {
    // There is no lock file here, so interrupted work never counted.
    for (const one of underWay(folder)) clearAway(one)
    work()
  })
}

/** Undefined if plugins are not installed into this folder. */
function targetAt(folder: string): Target | undefined {
  const base = dirname(dirname(folder))
  if (hooksDirOf(base) !== folder) return undefined
  return { scope: realOf(base) === realOf(userHome()) ? 'user' : 'project', base }
}

function placeNew(folder: string, name: string, tree: FileTree, step: Step): void {
  checkPlace(folder, name, undefined)
  const staging = staged(folder, name, tree, step, ({ path }) => {
    renameSync(join(path, name), join(folder, name))
    step('placed')
  })
  clearAway(staging)
  step('done')
}

/** Writes the files next to their place, then calls `decide`. If either fails, the files are removed again. */
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

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new PluginProblem('NOT_WRITTEN', `Cannot create ${visibleName(folder)}: ${textOf(error)}`)
  }
}

function notWritten(path: string, error: unknown): PluginProblem {
  if (error instanceof PluginProblem) return error
  const what = `Cannot write ${visibleName(path)}: ${textOf(error)}`
  return new PluginProblem('NOT_WRITTEN', what, 'Nothing was changed.')
}

/** Moves the old files out of the way and the new ones in. */
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

/** Throws if something is there that may not be replaced, or that has changed since it was shown. */
export function checkPlace(folder: string, name: string, replaces: string | undefined): void {
  const taken = pluginEntries(folder).find((one) => collisionKey(one) === collisionKey(name))
  if (replaces === undefined) {
    if (taken === undefined) return
    throw new PluginProblem(
      'ALREADY_INSTALLED',
      `${visibleName(taken)} already exists in ${visibleName(folder)}`,
      `Run carabiner update ${name} to get a newer version, carabiner uninstall ${name} to replace it, or pass --name NAME to install it under another name.`,
    )
  }
  if (integrityAt(join(folder, name)) === replaces) return
  throw new PluginProblem(
    'MISMATCH',
    `${name} was changed in the meantime, so it was left alone`,
    'Review it again with carabiner update.',
  )
}

// ---- removing -------------------------------------------------------------------------------------------------

/** Removes the plugin's folder and everything kept for it, even if Carabiner did not install it. */
export async function uninstallPlugin(name: string, target: Target, step = NO_STEP): Promise<void> {
  await changing(target, () => {
    const folder = pluginsDir(target)
    const names = new Set([...pluginEntries(folder), ...readLock(lockPath(target)).keys()])
    if (!names.has(name)) throw notInstalled(name, names)
    if (isThere(join(folder, name))) {
      const gone = noteDown(folder, 'gone', name)
      mkdirSync(gone.path)
      step('begun')
      renameSync(join(folder, name), join(gone.path, name))
      step('aside')
      finish(target, gone, step)
    } else {
      forgetPlugin(target, name, join(folder, name))
      unlock(target, name)
    }
    removeEmpty(folder)
  })
}

export function notInstalled(name: string, names: Iterable<string>): PluginProblem {
  const known = [...names].sort()
  const list =
    known.length === 0 ? 'Nothing is installed there.' : `Installed: ${known.map(visibleName).join(', ')}.`
  return new PluginProblem(
    'NOT_INSTALLED',
    `There is no plugin called ${visibleName(name)}${didYouMean(name, known)}`,
    list,
  )
}

function finish(target: Target, gone: UnderWay, step: Step): void {
  const { name, path } = gone
  forgetPlugin(target, name, join(path, name))
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

/** The lock file while it is being written. */
function draftOf(target: Target, { id }: UnderWay): string {
  return `${lockPath(target)}.${id}.tmp`
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
    rmdirSync(dirname(folder))
  } catch {
    // It is not empty.
  }
}

// ---- afterwards -----------------------------------------------------------------------------------------------

/** Finishes the work of a process that was killed halfway. Returns the plugins that this removed. Call it inside `alone`. */
export function recover(target: Target): readonly string[] {
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
    finish(target, one, NO_STEP)
    removed.push(one.name)
  })
  removeEmpty(folder)
  return removed
}
